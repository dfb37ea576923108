"""`headstack` and `python -m headstack`: a beginning that Ctrl-C may end before anything else is loaded."""

from __future__ import annotations

import sys

ENDED_BY_SIGNAL = 128
"""Exit codes above are this and a signal's number."""


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from headstack.cli import main as run

        return _left(run())
    except KeyboardInterrupt:
        return _interrupted()
    except RuntimeError as error:
        # What comes while a class is being made, Python wraps.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return _interrupted()


def _interrupted() -> int:
    sys.stderr.write("error: interrupted; nothing was left half written\n")
    return 130


def _left(code: int) -> int:
    """The exit code. After a signal nobody waits for threads that are still at work: all that was asked for is undone."""
    import threading

    if code > ENDED_BY_SIGNAL and threading.active_count() > 1:
        import os
        from contextlib import suppress

        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except KeyboardInterrupt:
        # Before the first line of `main`.
        raise SystemExit(_interrupted()) from None
