"""The page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack import __version__
from headstack.report.page import Number, Page, Section
from headstack.report.tables import number

if TYPE_CHECKING:
    from headstack.studies.framework import Row, StudyResult


def study_page(result: StudyResult) -> Page:
    """The page: every claim with the paper's number beside ours."""
    rows = [
        [row.id, row.claim, value(row.paper), value(row.ours), row.unit, row.tolerance, row.verdict, row.note]
        for row in result.rows
    ]
    table = Section(
        "The paper's numbers beside ours",
        columns=["row", "claim", "paper", "ours", "unit", "tolerance", "verdict", "note"],
        rows=rows,
    )
    return Page(
        title=result.title,
        subtitle=result.paper,
        numbers=[
            Number("holds", str(result.count("holds")), "rows"),
            Number("differs", str(result.count("differs")), "rows"),
            Number("not testable", str(result.count("not-testable")), "rows"),
        ],
        sections=[table, *result.sections],
        cite=[("tool", f"headstack {__version__}"), ("study", result.name), ("paper", result.paper)],
    )


def value(amount: float | None) -> str:
    """Write a number of a row: as many digits as it needs."""
    if amount is None:
        return "–"
    if isinstance(amount, int):
        return number(amount)
    return f"{amount:,.2f}" if abs(amount) < 1000 else f"{amount:,.1f}"


def row_cells(row: Row) -> tuple[str, ...]:
    """The cells of a row in a terminal."""
    return (row.id, row.claim, value(row.paper), value(row.ours), row.unit, row.tolerance, row.verdict, row.note)
