"""Starts the bundle as somebody without Python would: version, check, a run, a whole window."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
BUNDLE = REPO / "packaging" / "dist" / "sa-builder"
WINDOW_S = 60
QUESTION = "Triage issue 42 in acme/widgets"


def main() -> int:
    """Run every check; returns 0 when all hold."""
    with tempfile.TemporaryDirectory() as folder:
        # Moved away from the repo, so that nothing of it can be found beside the program.
        program = Path(folder, "bundle", "sa-builder")
        shutil.copytree(BUNDLE, program.parent, symlinks=True)
        home = Path(folder, "home")
        home.mkdir()
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "QT_QPA_PLATFORM": "offscreen",
        }
        project = Path(folder, "project")
        started = time.monotonic()
        said = run(program, environment, "--version")
        report("--version", said.strip(), started)

        started = time.monotonic()
        run(program, environment, "new", str(project))
        said = run(program, environment, "check", "--project", str(project))
        report("new and check", said.strip().split("\n")[-1], started)

        started = time.monotonic()
        said = run(
            program, environment, "run", "repo_assistant", "-m", QUESTION, "--test-mode",
            "--json", "--project", str(project),
        )  # fmt: skip
        answer = json.loads(said)["messages"][-1]["content"]
        assert "triaged" in answer, answer
        report("run, code host included", answer, started)

        started = time.monotonic()
        picture = Path(folder, "window.png")
        run(program, environment, "journey", "--picture", str(picture))
        assert picture.stat().st_size > 10_000, "the window's picture is empty"
        report("offscreen window", f"{picture.stat().st_size:,} bytes of picture", started)
    print("The bundle starts.")
    return 0


def run(program: Path, environment: dict[str, str], *words: str) -> str:
    """What the bundle says; ends the check when it fails."""
    ended = subprocess.run(
        [str(program), *words],
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        timeout=WINDOW_S,
        check=False,
    )
    if ended.returncode != 0:
        sys.exit(f"sa-builder {' '.join(words)} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout


def report(what: str, said: str, started: float) -> None:
    """One line a check."""
    print(f"{what:<24} {time.monotonic() - started:6.2f} s  {said}", flush=True)


if __name__ == "__main__":
    os.environ.pop("VIRTUAL_ENV", None)
    sys.exit(main())
