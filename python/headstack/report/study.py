"""The page of a study."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from headstack import __version__
from headstack.report.page import Number, Page, Section
from headstack.shown import Shown, number

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
        rows=[_page_cells(row) for row in result.rows],
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


def value(amount: float | None) -> Shown:
    """Write a number of a row: as many digits as it needs."""
    return number(amount, 2 if amount is None or abs(amount) < 1000 else 1)


def row_cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, as `COLUMNS` names them."""
    source, target = (value(None), value(row.paper)) if row.kind == "aim" else (value(row.paper), value(None))
    return (row.id, row.claim, source, target, value(row.ours), row.unit, row.tolerance, row.word, row.note)


def _page_cells(row: Row) -> list[str]:
    cells = dict(zip(COLUMNS, row_cells(row), strict=True))
    return [cells[name] for name in PAGE_COLUMNS]
