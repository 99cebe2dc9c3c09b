"""The sample project for services."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the sample."""
    root = tmp_path / "sample"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "agents", root / "agents", ignore=ignored)
    shutil.copy2(ROOT / ".env.test", root)
    return root
