"""The page of a study."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from headstack import __version__
from headstack.report.page import Number, Page, Section
from headstack.shown import Shown, number, shown

if TYPE_CHECKING:
    from headstack.studies.framework import Row, StudyResult


COLUMNS = ("row", "claim", "source", "target", "ours", "unit", "tolerance", "verdict", "note")
PAGE_COLUMNS = ("verdict", "claim", "source", "target", "ours", "unit", "tolerance", "row")
"""On a page the verdict comes first, where a phone shows it, and the note stands below the claim."""
WORDS = (
    "reproduced", "not reproduced", "met", "missed", "input read back", "agrees after a fit", "differs after a fit", "not testable",
)  # fmt: skip


def study_page(result: StudyResult) -> Page:
    """The page: the answer, and every claim with the source's number beside ours."""
    table = Section(
        "The source's numbers beside ours",
        "Source: what the source prints. Target: our own aim or bound, where it prints none. An input read back was given "
        "to the model and proves nothing about it. After a fit: a constant of the model is fitted to another number of the source.",
        columns=list(PAGE_COLUMNS),
        rows=[page_cells(row) for row in result.rows],
        notes=[row.note for row in result.rows],
        dense=True,
    )
    words = Counter(row.word for row in result.rows)
    return Page(
        title=result.title,
        subtitle=result.paper,
        answer=result.answer(),
        numbers=[Number(word, str(words[word]), "rows") for word in WORDS if words[word] or word in WORDS[:2]],
        sections=[table, *result.sections],
        cite=[("tool", f"headstack {__version__}"), ("study", result.name), ("source", result.paper)],
    )


def _decimals(row: Row) -> int:
    """Decimals of a row's numbers, the same for all: none of a count, and enough to tell what its tolerance allows."""
    known = [amount for amount in (row.paper, row.ours) if amount is not None]
    if any(isinstance(amount, int) for amount in known) and all(amount == round(amount) for amount in known):
        return 0
    allowed = re.search(r"\.(\d+)", row.tolerance)
    least = 2 if max(map(abs, known), default=0) < 1000 else 1
    return max(least, len(allowed[1]) if allowed else 0)


def row_cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, as `COLUMNS` names them."""
    none, printed, ours = (_written(amount, _decimals(row)) for amount in (None, row.paper, row.ours))
    source, target = (none, printed) if row.kind == "aim" else (printed, none)
    return (row.id, row.claim, source, target, ours, row.unit, row.tolerance, row.word, row.note)


def _written(amount: float | None, decimals: int) -> Shown:
    return shown(number(round(amount), 0), amount) if amount is not None and decimals == 0 else number(amount, decimals)


def page_cells(row: Row) -> list[str]:
    """The same as `PAGE_COLUMNS` names them."""
    cells = dict(zip(COLUMNS, row_cells(row), strict=True))
    return [cells[name] for name in PAGE_COLUMNS]
