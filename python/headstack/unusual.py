"""Values of drives that no drive was ever known to have: said of each system that is used, in one place for Python and all verbs."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from headstack import _core
from headstack.errors import HeadstackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headstack.run import Overrides

_HERE = str(Path(__file__).parent)


class UnusualValue(UserWarning):
    """A value of a drive that no known drive has; it is simulated as it stands."""


# Once for each value, wherever it is used, unless a program has a filter of its own.
warnings.filterwarnings("once", category=UnusualValue, append=True)

_say: ContextVar[Callable[[str], object] | None] = ContextVar("say", default=None)


@contextmanager
def told_by(say: Callable[[str], object]) -> Iterator[None]:
    """Until the end of the block each value is told by `say`, once, instead of a Python warning."""
    said: set[str] = set()

    def once(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            say(sentence)

    token = _say.set(once)
    try:
        yield
    finally:
        _say.reset(token)


@contextmanager
def told_before() -> Iterator[None]:
    """Until the end of the block nothing is looked at: whoever made the systems has told of them."""
    token = _say.set(_nothing)
    try:
        yield
    finally:
        _say.reset(token)


def _nothing(_: str) -> None:
    pass


def tell(system: _core.System) -> None:
    """Tell each value of a system's drives that no known drive has, and write caches larger than the memory."""
    say = _say.get()
    if say is _nothing:
        return
    from headstack.checks.memory import memory_sentences
    from headstack.checks.physics import physics_sentences

    # In the order of the drives, once however many have it.
    drives = system.config()["drives"]
    for sentence in dict.fromkeys(
        each for drive in drives for each in (*physics_sentences(drive["spec"]), *memory_sentences(drive["spec"]))
    ):
        if say is None:
            warnings.warn(sentence, UnusualValue, stacklevel=_depth_of_the_caller())
        else:
            say(sentence)


def tell_named(name: str, overrides: Overrides | None = None) -> None:
    """The same of a system that is opened elsewhere; what cannot be opened is refused there."""
    if not is_known(name, overrides):
        try:
            system = _core.System(name, overrides=overrides)
        except HeadstackError:
            return
        tell(system)


def is_known(name: str, overrides: Overrides | None = None) -> bool:
    """Whether it is of the library, as it stands there: then it is known to be sound."""
    return not overrides and name in {*_core.library_drives(), *_core.library_systems()}


def _depth_of_the_caller() -> int:
    """The `stacklevel` of the first frame outside headstack, for a warning given by the caller of this function."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        depth, frame = depth + 1, frame.f_back
    return depth
