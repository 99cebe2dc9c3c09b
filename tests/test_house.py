"""The house's own rules: what a room may load, what a file may say, and that the guards bite."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
QT = ("PySide6", "shiboken6", "qasync")

ROOMS: dict[str, tuple[str, ...]] = {
    "errors": ("pydantic", "httpx", "apsw", "tree_sitter", "asyncio"),
    "util": ("pydantic", "httpx", "apsw", "tree_sitter", "asyncio"),
    "spec": ("apsw", "tree_sitter", "pygments", "watchfiles"),
    "project": ("apsw", "pygments", "sa_builder.runtime", "sa_builder.store"),
    "store": ("tree_sitter", "httpx", "pygments", "sa_builder.project"),
    "providers": ("tree_sitter", "apsw", "sa_builder.project"),
    "host": ("tree_sitter", "apsw", "watchfiles", "sa_builder.project"),
    "runtime": ("tree_sitter", "sa_builder.project"),
    "service": (),
    "client": (),
    "cli": (),
}
"""Room → what may not be loaded once all of its modules are; Qt is added to each."""

LEFT_OUT = {"sa_builder.host.__main__"}


def loaded_after(code: str) -> set[str]:
    """The modules in a fresh process that ran some code."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


def modules_of(room: str) -> list[str]:
    """All modules of a room by name."""
    place = ROOT / "sa_builder" / room
    if not place.is_dir():
        return [f"sa_builder.{room}"]
    found = [
        ".".join(("sa_builder", room, *path.relative_to(place).with_suffix("").parts))
        for path in sorted(place.rglob("*.py"))
    ]
    names = {name.removesuffix(".__init__") for name in found}
    return sorted(names - LEFT_OUT)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_loads_nothing_it_was_not_asked_for(room: str) -> None:
    loaded = loaded_after("\n".join(f"import {name}" for name in modules_of(room)))

    unwanted = {name for name in (*ROOMS[room], *QT) if name in loaded}
    assert not unwanted, f"sa_builder.{room} loads {sorted(unwanted)}"


def test_the_version_is_told_without_loading_anything() -> None:
    loaded = loaded_after("from sa_builder.cli.main import main\nmain(['--version'])")

    heavy = {"argparse", "asyncio", "httpx", "pydantic", "apsw", "tree_sitter", "json", *QT}
    assert not heavy & loaded


def test_package_files_are_empty_so_that_no_import_hides_in_them() -> None:
    filled = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "sa_builder").rglob("__init__.py"))
        if path.read_text(encoding="utf-8").strip()
    ]

    assert filled == ["sa_builder/spec/__init__.py"]


VIOLATIONS: dict[str, tuple[str, str]] = {
    "A room imports only what stands below it": ("spec", "sa_builder.store"),
    "The window knows the runtime through client.base alone": ("ui", "sa_builder.service"),
    "The runtime is handed a registry, never the project": ("runtime", "sa_builder.project.shapes"),
    "The code host sees the language only": ("host", "apsw"),
    "Qt is met in ui and cli.gui only": ("service", "PySide6.QtCore"),
    "util and errors need the standard library alone": ("util", "pydantic"),
}
"""Contract → a room, and an import in it that must break the contract."""


def test_each_contract_of_the_ladder_bites(tmp_path: Path) -> None:
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "sa_builder", tmp_path / "sa_builder", ignore=ignore)
    for room, unwanted in VIOLATIONS.values():
        (tmp_path / "sa_builder" / room / "planted.py").write_text(f"import {unwanted}\n")

    ended = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )

    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [entry["name"] for entry in config["tool"]["importlinter"]["contracts"]]
    assert sorted(contracts) == sorted(VIOLATIONS)
    for name in contracts:
        assert f"{name} BROKEN" in ended.stdout, ended.stdout + ended.stderr


def tracked_files() -> list[Path]:
    """Every text file that git keeps; skips where there is no git."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    pictures = {".png", ".svg", ".ico", ".icns", ".db"}
    return [path for path in paths if path.suffix not in pictures and path.is_file()]


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("a registry's host", r"p[y]pi\.org|pythonh[o]sted|registry\.np[m]js|deb\.d[e]bian"),
        ("a path of somebody's machine", r"(?<![\w.])/(w[o]rk|r[o]ot|h[o]me/\w+)/"),
        ("work left over", r"\bT[O]DO\b|\bF[I]XME\b|NotI[m]plementedError"),
    ],
)
def test_no_file_holds(what: str, pattern: str) -> None:
    search = re.compile(pattern)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1)
        if search.search(line)
    ]

    assert not found, f"{what} in {found}"


def test_every_pinned_version_is_a_name_and_a_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    pins = [line for line in lines if line and not line.startswith("#")]

    assert pins
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+]+", pin) for pin in pins)
