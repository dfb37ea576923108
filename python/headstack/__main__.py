"""`headstack` and `python -m headstack`: a beginning that Ctrl-C may end before anything else is loaded."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from headstack.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; nothing was left half written\n")
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
