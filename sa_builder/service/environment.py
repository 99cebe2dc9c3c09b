"""Where variables and the test mode come from: files of the project and the process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sa_builder.errors import ProjectError

TEST_MODE = "SA_TEST_MODE"
_OFF = ("", "0", "false", "no", "off")


def read_env_file(path: Path) -> dict[str, str]:
    """NAME=value lines; blank lines and those that begin with # are passed over.

    Raises:
        ProjectError: there is something of this name, but no text that can be read.
    """
    try:
        if not path.exists():
            return {}
        if not path.is_file():
            raise _unreadable(path, "it is not a file")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8 text") from error
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, mark, value = line.strip().removeprefix("export ").partition("=")
        if mark and name and not name.startswith("#"):
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            found[name.strip()] = value
    return found


def _unreadable(path: Path, why: str) -> ProjectError:
    return ProjectError(
        f"The file {path.name} of the project cannot be read: {why}.",
        act="Write NAME=value lines into it, or remove it.",
        code="environment.unreadable",
    )


class ProjectEnvironment:
    """The levels below the thread's own: the project's files, then the process.

    `.env.test` and `.env.test.local` supply values only while the test mode is on.
    """

    def __init__(self, project_root: Path, process: Mapping[str, str] | None = None) -> None:
        self._root = project_root
        self._process = os.environ if process is None else process
        self._live = read_env_file(project_root / ".env")
        self._test = {
            **read_env_file(project_root / ".env.test"),
            **read_env_file(project_root / ".env.test.local"),
        }

    def wants_test_mode(self) -> bool:
        """What the environment says, when nobody said otherwise."""
        if TEST_MODE in self._process:
            return self._process[TEST_MODE].strip().lower() not in _OFF
        return self._test.get(TEST_MODE, "").strip().lower() not in _OFF

    def value(self, name: str, *, test_mode: bool) -> str | None:
        """A variable's value; None when nothing sets it."""
        levels = (self._test, self._live) if test_mode else (self._live,)
        for level in (*levels, self._process):
            if level.get(name):
                return level[name]
        return None

    def secrets(self, names: set[str], *, test_mode: bool) -> list[str]:
        """The values of variables whose names say they are secret, or that are declared so."""
        known = {*self._live, *self._test, *self._process}
        secret = names | {name for name in known if name.endswith(("_KEY", "_TOKEN", "_SECRET"))}
        values = (self.value(name, test_mode=test_mode) for name in sorted(secret))
        return [value for value in values if value]
