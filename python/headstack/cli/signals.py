"""Ctrl-C, SIGTERM and SIGHUP end a command within half a second, and leave nothing half written.

Each becomes an exception, so that what is under way is undone. Compiled code asks for signals about ten times a second;
where it does not (a page being drawn), a thread that waits for signals ends the process: outputs have no names yet.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from headstack.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
_AGAIN_S = 1.0
# The signals that are obeyed now, and what they did before.
_obeyed: dict[signal.Signals, Any] = {}
# The one that asked to end.
_heard: list[signal.Signals] = []
_HARMLESS = "nothing was left half written"


class Stopped(KeyboardInterrupt):
    """A signal asked to end; its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def report(problem: KeyboardInterrupt) -> int:
    """Say what ended the command, and return its exit code."""
    number = problem.number if isinstance(problem, Stopped) else signal.SIGINT
    output.error(_said(number))
    return 128 + number


def ending() -> tuple[str, int]:
    """Tell in a word what asked to end, and the exit code, for a command that ends by itself then."""
    number = _heard[0] if _heard else signal.SIGINT
    return _WORDS[number], 128 + number


@contextmanager
def obeyed() -> Iterator[None]:
    """Obey signals while this runs, as far as they are not ignored (`nohup`) or somebody else's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from headstack._core import SignalWatch

    defaults = (signal.SIG_DFL, signal.default_int_handler)
    handlers = {number: signal.getsignal(number) for number in _WORDS}
    taken = {number: handler for number, handler in handlers.items() if handler in defaults}
    alarm = signal.getsignal(signal.SIGALRM)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watch = SignalWatch(f"/proc/self/fd/{reading}", [(number, f"error: {_said(number)}") for number in taken])
    os.close(reading)

    def stop(number: int, _frame: FrameType | None) -> None:
        watch.heard()
        _heard.append(signal.Signals(number))
        # Once is enough: a second one would interrupt the clearing up.
        for each in taken:
            signal.signal(each, signal.SIG_IGN)
        # Some libraries swallow exceptions in their callbacks: until this one has come through, it is raised again.
        signal.signal(signal.SIGALRM, lambda *_: _raise(number))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)
        _raise(number)

    _obeyed.update(taken)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _obeyed.clear()
        _heard.clear()
        for number, handler in taken.items():
            signal.signal(number, handler)
        signal.signal(signal.SIGALRM, alarm)
        signal.set_wakeup_fd(before)
        os.close(writing)


def too_late() -> None:
    """From here on the command is through: its outputs get their names, and a signal changes nothing any more."""
    for number in _obeyed:
        signal.signal(number, signal.SIG_IGN)


def _raise(number: int) -> NoReturn:
    raise Stopped(number)


def _said(number: int) -> str:
    return f"{_WORDS[signal.Signals(number)]}; {_HARMLESS}"
