# make run opens the window on the sample project; make test and make check are what CI runs.
# Everything lives in .venv, made when it is missing and refreshed when what it is made from changes.

.DEFAULT_GOAL := help
.PHONY: help setup run test check fix bench prove package

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# The first interpreter that is new enough and can make a venv; PYTHON=... on the command line wins.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$name -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$name; break; fi; done)

help:
	@echo "make setup    make the virtual environment (the others do it when it is missing)"
	@echo "make run      open the window on the sample project"
	@echo "make test     run the tests"
	@echo "make check    formatting, lint, types, room ladder, the sample's own problems"
	@echo "make fix      format and mend what can be mended"
	@echo "make bench    measure, beside peers; writes benchmarks/results.md"
	@echo "make prove    the kill -9 campaign; writes benchmarks/proof.md"
	@echo "make package  build the bundle in packaging/dist and check that it starts"

setup: $(READY)

$(READY): pyproject.toml constraints.txt setup.py
	@if [ ! -x $(BIN)/python ]; then \
	  if [ -z "$(PYTHON)" ]; then \
	    echo "Python 3.11 or newer with venv is needed; on Debian: apt-get install python3 python3-venv" >&2; exit 1; \
	  fi; \
	  $(PYTHON) -m venv $(VENV); \
	fi
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(BENCH_READY): $(READY)
	@$(INSTALL) --editable '.[dev,bench]'
	@# The canvas's peer brings stubs that would shadow Qt's own, so it comes without them.
	@$(INSTALL) --no-deps NodeGraphQt Qt.py
	@touch $@

run: $(READY)
	@$(BIN)/python -m sa_builder.cli.journey

test: $(READY)
	@$(BIN)/python -m pytest -q

check: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports
	@$(BIN)/sa-builder check --project .

fix: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(BENCH_READY)
	@$(BIN)/python -m benchmarks.run

prove: $(READY)
	@$(BIN)/python -m benchmarks.prove

package: $(READY)
	@$(BIN)/python packaging/build.py
	@$(BIN)/python packaging/check_bundle.py
