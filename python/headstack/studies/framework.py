"""What a study is made of: claims, the paper's number, ours, and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from headstack.measure import Measurement
    from headstack.report.page import Section
    from headstack.results.comparisons import StudyOutput, StudyRow

Verdict = Literal["holds", "differs", "not-testable"]
Kind = Literal["source", "aim", "input", "fitted"]
"""Where the number beside ours comes from: the source prints it; it is our own aim or bound; the model was given it; the source prints
it, and a constant of the model is fitted to another number of that source."""
WORDS_OF: dict[Kind, tuple[str, str]] = {
    "source": ("reproduced", "not reproduced"),
    "aim": ("met", "missed"),
    "input": ("input read back", "not reproduced"),
    "fitted": ("agrees after a fit", "differs after a fit"),
}
"""What a row that holds is called, and one that differs. What agrees after a fit is not reproduced: the model was told part of it."""
Progress = Callable[[str], None]
"""Told, in a few words, what a study is doing."""


def whole(found: Measurement) -> Measurement:
    """A measurement that came to its end; `KeyboardInterrupt` where Ctrl-C ended it, which a measurement alone only notes."""
    if found.stopped is not None and found.stopped["kind"] == "stopped":
        raise KeyboardInterrupt
    return found


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
    kind: Kind = "source"
    besides: dict[str, float] = field(default_factory=dict)
    """Further numbers that the answer needs, by name; in no table, and in no JSON."""

    @property
    def word(self) -> str:
        """The verdict in words."""
        if self.verdict == "not-testable":
            return "not testable"
        return WORDS_OF[self.kind][self.verdict == "differs"]

    def json(self) -> StudyRow:
        """The row as a JSON object: what the source prints apart from what is an aim of ours."""
        is_aim = self.kind == "aim"
        return {
            "id": self.id, "claim": self.claim, "source": None if is_aim else self.paper,
            "target": self.paper if is_aim else None, "ours": self.ours, "unit": self.unit, "tolerance": self.tolerance,
            "verdict": self.word, "note": self.note, "kind": self.kind,
        }  # fmt: skip


@dataclass(frozen=True)
class StudyResult:
    """All rows of a study, and what its page shows besides."""

    name: str
    title: str
    paper: str
    rows: list[Row]
    sections: list[Section] = field(default_factory=list)
    finding: str = ""

    def answer(self) -> str:
        """The answer to the question in the title, and how much of the source is reproduced, in a few sentences."""
        words = Counter(row.word for row in self.rows)
        printed = words["reproduced"] + words["not reproduced"]
        parts = [f"{words['reproduced']} of {printed} printed numbers reproduced"] if printed else []
        if aims := words["met"] + words["missed"]:
            parts.append(f"{words['met']} of {aims} aims of ours met")
        if words["input read back"]:
            parts.append(f"inputs read back: {words['input read back']}")
        if fitted := words["agrees after a fit"] + words["differs after a fit"]:
            parts.append(f"after a fit to one number {words['agrees after a fit']} of {fitted} others agree")
        if words["not testable"]:
            parts.append(f"not testable here: {words['not testable']}")
        return " ".join(filter(None, (self.finding, "; ".join(parts) + ".")))

    def __repr__(self) -> str:
        return f"StudyResult({self.name!r}, {len(self.rows):,} rows)"

    def _repr_html_(self) -> str:
        from headstack.notebook import study

        return study(self)

    def json(self) -> StudyOutput:
        """The rows as a JSON object."""
        return {
            "study": self.name,
            "title": self.title,
            "paper": self.paper,
            "answer": self.answer(),
            "rows": [row.json() for row in self.rows],
        }

    def count(self, verdict: Verdict) -> int:
        """How many rows have a verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def about(
    id_: str,
    claim: str,
    paper: float,
    ours: float,
    unit: str,
    *,
    within: float,
    ci95: float = 0.0,
    note: str = "",
    kind: Kind = "source",
) -> Row:
    """Our number is the paper's, give or take `within`; so is all of its 95 % interval, where `ci95` gives its half-width."""
    room = within * (1 + 1e-12) - abs(ours - paper)
    return _row(id_, claim, paper, ours, unit, f"± {within:.3g}", room >= ci95, _sure(ours, ci95, note, room), kind)


def at_most(
    id_: str,
    claim: str,
    paper: float,
    ours: float,
    unit: str,
    *,
    ci95: float = 0.0,
    note: str = "",
    kind: Kind = "source",
) -> Row:
    """Our number is not above the paper's; nor is the upper end of its 95 % interval, where `ci95` gives its half-width."""
    return _row(
        id_, claim, paper, ours, unit, "at most", ours + ci95 <= paper, _sure(ours, ci95, note, paper - ours), kind
    )


def at_least(
    id_: str,
    claim: str,
    paper: float,
    ours: float,
    unit: str,
    *,
    ci95: float = 0.0,
    note: str = "",
    kind: Kind = "source",
) -> Row:
    """Our number is not below the paper's; nor is the lower end of its 95 % interval, where `ci95` gives its half-width."""
    return _row(
        id_, claim, paper, ours, unit, "at least", ours - ci95 >= paper, _sure(ours, ci95, note, ours - paper), kind
    )


def not_testable(id_: str, claim: str, paper: float | None, unit: str, note: str) -> Row:
    """Nothing here can decide the claim; `note` says what is missing."""
    return Row(id_, claim, paper, None, unit, "", "not-testable", note)


def data_file(data: Path | None, name: str) -> Path | None:
    """A file of the study's real data, if it is there."""
    path = None if data is None else data / name
    return path if path is not None and path.is_file() else None


def _sure(ours: float, ci95: float, note: str, room: float) -> str:
    """The note, after the interval that the verdict goes by; `room`: how far the number is from where it would differ."""
    if not ci95:
        return note
    digits = max(0, 1 - floor(log10(ci95)))
    sure = f"{ours:,.{digits}f} ± {ci95:,.{digits}f} (95 %)"
    sure += ", and all of it must hold" if 0 <= room < ci95 else ""
    return sure + (f"; {note}" if note else "")


def _row(
    id_: str, claim: str, paper: float, ours: float, unit: str, tolerance: str, holds: bool, note: str, kind: Kind
) -> Row:
    return Row(id_, claim, paper, ours, unit, tolerance, "holds" if holds else "differs", note, kind)
