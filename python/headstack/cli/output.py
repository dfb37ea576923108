"""What the command line prints: data to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cyclopts import CycloptsError


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def error(message: str, hint: str | None = None) -> None:
    """Print `error: …` and, where there is something to do, `hint: …`."""
    _stderr("error", "red", message)
    if hint:
        _stderr("hint", "cyan", hint)


def warning(message: str) -> None:
    """Print `warning: …`."""
    _stderr("warning", "yellow", message)


def note(message: str) -> None:
    """Print a line about what was done."""
    _say(message)


_SGR = {"red": "31", "cyan": "36", "yellow": "33"}


def _stderr(label: str, colour: str, message: str) -> None:
    styled = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    shown = f"\x1b[1;{_SGR[colour]}m{label}\x1b[0m" if styled else label
    _say(f"{shown}: {message}")


def _say(line: str) -> None:
    # Who cannot be told is not told: the work goes on.
    with suppress(OSError):
        sys.stderr.write(line + "\n")


def usage_problem(problem: CycloptsError, arguments: list[str]) -> tuple[str, str]:
    """Put a command line that cannot be parsed into our words."""
    message = " ".join(str(problem).split())
    verb = [word for word in arguments[:2] if word.replace("-", "").isalpha() and not word.startswith("-")]
    chain = list(problem.command_chain or ()) or verb[:0]
    return message.rstrip(".").replace('"', "`"), f"`headstack {' '.join([*chain, '--help'])}` lists the options"


def defect(problem: BaseException) -> None:
    """Report a defect of headstack without a traceback, unless `HEADSTACK_TRACEBACK` is set."""
    if os.environ.get("HEADSTACK_TRACEBACK"):
        import traceback

        traceback.print_exception(problem)
    error(
        f"internal error: {type(problem).__name__}: {problem}",
        "this is a defect of headstack: please report it with the command; "
        "HEADSTACK_TRACEBACK=1 shows where it happened",
    )


def mend_streams() -> None:
    """Let a standard stream that is closed take what it gets to nowhere, before another file gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            try:
                os.fstat(number)
            except OSError:
                os.dup2(null, number)
            setattr(sys, name, os.fdopen(null, "w" if number else "r"))


@contextmanager
def stdout_told() -> Iterator[None]:
    """Hand on what is printed meanwhile; `InputError` where that is impossible."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        # An error about a file says which.
        if problem.filename is not None:
            raise
        silence_stdout()
        raise InputError(f"cannot write to stdout: {problem.strerror}") from None


def silence_stdout() -> None:
    """Keep the interpreter from complaining about a closed pipe when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def number(value: float | None, digits: int = 2) -> str:
    """Write a number for people: thousands separated, a fixed number of decimals, – where there is none."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{digits}f}"


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: Iterable[int] = (0,),
    caption: str | None = None,
) -> None:
    """Print a table: text columns on the left of their cells, numbers on the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    text = set(text_columns)
    shown = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        caption=caption,
        caption_justify="left",
    )
    for index, column in enumerate(columns):
        shown.add_column(
            column, justify="left" if index in text else "right", overflow="fold", no_wrap=index not in text
        )
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    _console().print(shown)


def facts(title: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for name, value in pairs:
        grid.add_row(Text(name, style="dim"), Text(value))
    if title:
        _console().print(Text(title, style="bold"))
    _console().print(grid)


def line(text: str = "") -> None:
    """Print a line of data."""
    sys.stdout.write(text + "\n")


def _console() -> Any:
    from rich.console import Console

    # A file or a pipe gets whole lines, whatever the width of a terminal that is not there.
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 120)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int, float], None] | None]:
    """Show a bar on stderr while long work runs; nothing where stderr is no terminal.

    The function handed out takes the number of requests done and the simulated time in seconds. The bar appears
    after half a second, so that short work stays silent.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[simulated]}"),
        TimeRemainingColumn(), console=Console(file=sys.stderr), transient=True,
    )  # fmt: skip
    task = bar.add_task(what, total=total, simulated="")
    begun = time.monotonic()
    shown = False

    def report(done: int, simulated_s: float) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun > 0.5:
            bar.start()
            shown = True
        bar.update(task, completed=done, simulated=f"{simulated_s:,.0f} s simulated" if simulated_s else "")

    try:
        yield report
    finally:
        bar.stop()
