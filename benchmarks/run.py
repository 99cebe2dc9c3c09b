"""make bench: runs every benchmark in a process of its own and writes benchmarks/results.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT_S = 900


def main() -> int:
    """Run them all; returns 1 when one of them failed."""
    names = sorted(path.stem for path in HERE.glob("p[0-9]*.py"))
    wanted = sys.argv[1:]
    parts = [
        f"# Measured\n\n{machine()}\n\nWritten by `make bench`; the targets say what is aimed at."
    ]
    failed: list[str] = []
    for name in names:
        if wanted and not any(name.startswith(word) for word in wanted):
            continue
        print(f"== {name}", flush=True)
        ended = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}"],
            cwd=HERE.parent,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        print(ended.stdout, flush=True)
        if ended.returncode != 0:
            failed.append(name)
            parts.append(f"## {name}\n\nIt failed with exit code {ended.returncode}.")
        else:
            parts.append(f"## {name}\n\n{ended.stdout.strip()}")
    if not wanted:
        (HERE / "results.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        print("Wrote benchmarks/results.md")
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def machine() -> str:
    """What it was measured on, in a sentence."""
    return (
        f"On {os.cpu_count()} cores ({platform.machine()}), {platform.system()}, "
        f"Python {platform.python_version()}, offscreen."
    )


if __name__ == "__main__":
    sys.exit(main())
