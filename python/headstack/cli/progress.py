"""What long work says on a terminal: what it does, how far it is, how long it will take. Nothing is said in a pipe."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
    # Rounded first: what is written as 120 s is 2 min.
    if round(seconds) < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if round(seconds / 60) < 120 else f"{seconds / 3600:.1f} h"


def about(seconds: float) -> str:
    """The same of an estimate."""
    return duration(seconds) if seconds < 1 else f"about {duration(seconds)}"


def how_far(done: int, total: int | None, unit: str, elapsed_s: float) -> list[str]:
    """How much of the work is done and how long the rest will take; its rate where nobody knows how much there is."""
    if total is not None:
        return [f"{done:,} of {total:,} {unit}", *remaining(done, total, elapsed_s)]
    parts = [f"{done:,} {unit}"]
    if done and elapsed_s >= SETTLED_S:
        rate = done / elapsed_s
        parts.append(f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s")
    return [*parts, f"{duration(elapsed_s)} so far"]


def remaining(done: float, total: float, elapsed_s: float) -> list[str]:
    """How long the rest will take, once there is a measure of it."""
    if not 0 < done < total or elapsed_s < SETTLED_S:
        return []
    return [f"{about(elapsed_s * (total - done) / done)} remaining"]


def remaining_between(done: float, span: tuple[float, float], elapsed_s: float) -> str:
    """The same where only the least and the most of the work are known."""
    if not done or elapsed_s < SETTLED_S or done >= span[1]:
        return ""
    soonest, latest = (duration(max(elapsed_s * (total - done) / done, 0)) for total in span)
    return f"at most {latest} remaining" if done >= span[0] or soonest == latest else f"{soonest} to {latest} remaining"


def fitting(parts: Iterable[str], room: int) -> str:
    """As many parts as a line has room for, the first ones first; nothing is cut."""
    said = ""
    for part in filter(None, parts):
        longer = f"{said}, {part}" if said else part
        if said and len(longer) > room:
            break
        said = longer
    return said


@contextmanager
def bar(
    what: str, total: int | None, unit: str = "requests", span: tuple[int, int] | None = None
) -> Iterator[Callable[..., None] | None]:
    """Show a bar on stderr while long work runs; nothing where stderr is not a terminal.

    The function handed out takes how many are done, the simulated time in seconds, and the total where that becomes known
    on the way. Where only the least and the most of it are known beforehand, `span` has them.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown = drawn()
    task = shown.add_task(what, total=total, detail="")
    begun, started = time.monotonic(), False

    def report(done: int, simulated_s: float = 0.0, total: int | None = total) -> None:
        nonlocal started
        elapsed_s = time.monotonic() - begun
        if not started and elapsed_s > SILENT_S:
            shown.start()
            started = True
        far, *more = how_far(done, total, unit, elapsed_s)
        rest = "" if span is None else remaining_between(done, span, elapsed_s)
        parts = [far, rest, *more, f"{simulated_s:,.0f} s simulated" if simulated_s else ""]
        shown.update(task, completed=done, total=total, detail=fitting(parts, room(shown, what)))

    try:
        yield report
    finally:
        shown.stop()


def drawn() -> Progress:
    """What draws a bar: words go before it where a terminal is narrow."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(file=sys.stderr)
    width = _bar_width(console.width)
    columns = [BarColumn(bar_width=width)] if width else []
    return Progress(
        TextColumn("{task.description}"), *columns, TextColumn("{task.fields[detail]}"), console=console, transient=True
    )


def room(shown: Progress, what: str) -> int:
    """The columns that are left for words behind what is done, and its bar."""
    width = _bar_width(shown.console.width)
    return shown.console.width - len(what) - 1 - (width + 1 if width else 0)


def _bar_width(columns: int) -> int:
    width = min(columns - 72, 40)
    return width if width >= 8 else 0


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
