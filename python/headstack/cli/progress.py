"""What long work says on a terminal: what it does, how far it is, how long it will take. Nothing is said in a pipe."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

Item = TypeVar("Item")
Made = TypeVar("Made")
SILENT_S = 0.5
"""Work that is over sooner shows nothing."""
SETTLED_S = 2.0
"""No remaining time is told before: the first requests are no measure of those that follow."""


def duration(seconds: float) -> str:
    """A time for people, as coarse as an estimate of it is."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def about(seconds: float) -> str:
    """The same of an estimate."""
    return duration(seconds) if seconds < 1 else f"about {duration(seconds)}"


def how_far(done: int, total: int | None, unit: str, elapsed_s: float) -> str:
    """How much of the work is done and how long the rest will take; its rate where nobody knows how much there is."""
    if total is not None:
        text = f"{done:,} of {total:,} {unit}"
        if 0 < done < total and elapsed_s >= SETTLED_S:
            text += f", {about(elapsed_s * (total - done) / done)} remaining"
        return text
    text = f"{done:,} {unit}"
    if done and elapsed_s >= SETTLED_S:
        rate = done / elapsed_s
        text += f", {rate:,.0f} {unit}/s" if rate >= 10 else f", {rate:.2g} {unit}/s"
    return f"{text}, {duration(elapsed_s)} so far"


@contextmanager
def bar(what: str, total: int | None, unit: str = "requests", aside: str = "") -> Iterator[Callable[..., None] | None]:
    """Show a bar on stderr while long work runs; nothing where stderr is not a terminal.

    The function handed out takes how many are done, the simulated time in seconds, and the total where that becomes known
    on the way. What is known beforehand of how long it takes stands `aside`.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown = _bar()
    task = shown.add_task(what, total=total, detail="")
    begun, started = time.monotonic(), False

    def report(done: int, simulated_s: float = 0.0, total: int | None = total) -> None:
        nonlocal started
        elapsed_s = time.monotonic() - begun
        if not started and elapsed_s > SILENT_S:
            shown.start()
            started = True
        parts = [how_far(done, total, unit, elapsed_s), aside, f"{simulated_s:,.0f} s simulated" if simulated_s else ""]
        shown.update(task, completed=done, total=total, detail="; ".join(filter(None, parts)))

    try:
        yield report
    finally:
        shown.stop()


def _bar() -> Progress:
    """What draws it: words go before the bar where a terminal is narrow."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(file=sys.stderr)
    width = min(console.width - 72, 40)
    columns = [BarColumn(bar_width=width)] if width >= 8 else []
    return Progress(
        TextColumn("{task.description}"), *columns, TextColumn("{task.fields[detail]}"), console=console, transient=True
    )


@contextmanager
def each(what: str, work: Callable[[Item], Made], total: int, unit: str) -> Iterator[Callable[[Item], Made]]:
    """Show how many items are done: the function handed out does the work on one, from any thread, and counts it."""
    done, lock = 0, Lock()
    with bar(what, total, unit) as report:
        if report is not None:
            report(0)

        def counted(item: Item) -> Made:
            nonlocal done
            made = work(item)
            with lock:
                done += 1
                if report is not None:
                    report(done)
            return made

        yield counted


@contextmanager
def steps(what: str) -> Iterator[Callable[[str], None] | None]:
    """Show what work of an unknown number of steps is doing, and since when; the function handed out takes a step in words."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    task = shown.add_task(what)
    count = 0

    def report(step: str) -> None:
        nonlocal count
        count += 1
        shown.update(task, description=f"{what}, step {count}: {step}")

    with shown:
        yield report
