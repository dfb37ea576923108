"""What is said of work that is interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from headstack.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def told(kept: Callable[[], str | None]) -> Iterator[None]:
    """Say, if the work is interrupted, what is kept of it by then."""
    try:
        yield
    except KeyboardInterrupt:
        if (said := kept()) is not None:
            output.note(said)
        raise
