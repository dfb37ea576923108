"""What a study is made of: claims, the paper's number, ours, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from headstack.report.page import Section

Verdict = Literal["holds", "differs", "not-testable"]
Progress = Callable[[str], None]
"""Told, in a few words, what a study is doing."""


@dataclass(frozen=True)
class Row:
    """A claim: the paper's number, ours, and the verdict; a row that differs is reported as differing."""

    id: str
    claim: str
    paper: float | None
    ours: float | None
    unit: str
    tolerance: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class StudyResult:
    """All rows of a study, and what its page shows besides."""

    name: str
    title: str
    paper: str
    rows: list[Row]
    sections: list[Section] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        """The rows as a JSON object."""
        return {
            "study": self.name,
            "title": self.title,
            "paper": self.paper,
            "rows": [asdict(row) for row in self.rows],
        }

    def count(self, verdict: Verdict) -> int:
        """How many rows have a verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def about(id_: str, claim: str, paper: float, ours: float, unit: str, *, within: float, note: str = "") -> Row:
    """Our number is the paper's, give or take `within`."""
    return _row(id_, claim, paper, ours, unit, f"± {within:.3g}", abs(ours - paper) <= within * (1 + 1e-12), note)


def at_most(id_: str, claim: str, paper: float, ours: float, unit: str, *, note: str = "") -> Row:
    """Our number is not above the paper's."""
    return _row(id_, claim, paper, ours, unit, "at most", ours <= paper, note)


def at_least(id_: str, claim: str, paper: float, ours: float, unit: str, *, note: str = "") -> Row:
    """Our number is not below the paper's."""
    return _row(id_, claim, paper, ours, unit, "at least", ours >= paper, note)


def not_testable(id_: str, claim: str, paper: float | None, unit: str, note: str) -> Row:
    """Nothing here can decide the claim; `note` says what is missing."""
    return Row(id_, claim, paper, None, unit, "", "not-testable", note)


def data_file(data: Path | None, name: str) -> Path | None:
    """A file of the study's real data, if it is there."""
    path = None if data is None else data / name
    return path if path is not None and path.is_file() else None


def _row(id_: str, claim: str, paper: float, ours: float, unit: str, tolerance: str, holds: bool, note: str) -> Row:
    return Row(id_, claim, paper, ours, unit, tolerance, "holds" if holds else "differs", note)
