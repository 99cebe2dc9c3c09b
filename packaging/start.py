"""Where the bundle starts: the command line, which also is the window and the code host."""

import sys

MULTIPROCESSING = "from multiprocessing."
"""How the code begins that multiprocessing has its helper processes run."""


def main() -> int:
    """Run the command line; or, as the interpreter of a tool's own processes, what they ask for."""
    if "-c" in sys.argv[:-1]:
        code = sys.argv[sys.argv.index("-c") + 1]
        if code.startswith(MULTIPROCESSING):
            exec(code, {})
            return 0
    from sa_builder.cli.main import main as command_line

    return command_line()


sys.exit(main())
