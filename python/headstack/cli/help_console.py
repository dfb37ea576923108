"""The console that help is printed on. Loaded only where help is asked for: what it needs takes a while to load."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console


class _Unpadded:
    """Standard output, without the spaces that fill a line up.

    A backslash with a space behind it does not continue a command.
    """

    def write(self, text: str) -> int:
        return sys.stdout.write(re.sub(r" +(?=\n)", "", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stdout, name)


def console() -> Console:
    """A console on standard output, as wide as it is now."""
    from rich.console import Console

    return Console(file=cast("TextIO", _Unpadded()))
