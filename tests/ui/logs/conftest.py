"""The page's desk, for tests of its right column."""

from __future__ import annotations

from tests.ui.threads.conftest import desk, make_desk

__all__ = ["desk", "make_desk"]
