"""Who is closest to the measured drives: scores of the second halves of their traces, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import headstack
from headstack.report.page import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headstack.results.validations import Intervals, ValidationSummary
    from headstack.studies.measured_drives import Measured

KINDS = ("all", "reads", "writes")


@dataclass(frozen=True)
class Scored:
    """The second half of a trace, phase-locked: the scores, and how sure they are."""

    summary: ValidationSummary
    intervals: Intervals

    @classmethod
    def of(cls, drive: str | headstack.Drive, trace: Path | headstack.Trace) -> Scored:
        """Score a drive, or one of the library by its name."""
        found = headstack.validate(drive, trace, replay="measured", phase_lock=True)
        return cls(found.summary, found.intervals())

    def interval(self, key: str, digits: int) -> str:
        """The 95 % interval of a score of all requests."""
        low, high = self.intervals["all"][key]
        return f"95 %: {low:.{digits}f} to {high:.{digits}f}"


def leaderboard(each: Measured, scored: Mapping[str, Scored | None]) -> list[list[str]]:
    """The lines of a drive: those scored, by what they are called, and DiskSim."""
    lines = [score_line(each.label, kind, found) for kind, found in scored.items() if found is not None]
    theirs = ["–" if ms is None else f"{ms:.3f}" for ms in (each.demerit_ms, each.reads_ms, each.writes_ms)]
    return [*lines, [each.label, "DiskSim 4.0, whole trace, closed", *theirs, f"{each.mae_percent:.1f} %", "–", "–"]]


def score_line(label: str, kind: str, found: Scored) -> list[str]:
    """The line of one model of a drive."""
    parts = {of: found.summary if of == "all" else found.summary[of] for of in KINDS}

    def cell(of: str, key: str, value: float, unit: str, digits: int) -> str:
        low, high = found.intervals[of][key]
        return f"{value:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f})"

    def cells(key: str, value: Callable[[Any], float], unit: str, digits: int) -> list[str]:
        return [cell(of, key, value(parts[of]), unit, digits) if parts[of]["requests"] else "–" for of in KINDS]

    return [
        label,
        f"{kind}, phase-locked, second half",
        *cells("demerit_ms", lambda scores: scores["demerit_ms"], "", 3),
        *cells("mae_percent", lambda scores: scores["per_request"]["mae_percent"], " %", 2),
    ]


def leaderboard_section(lines: list[list[str]]) -> Section:
    """The table of all drives."""
    return Section(
        "Leaderboard",
        "In brackets 95 % intervals: a bootstrap of 50 blocks of requests, shifted back by its bias. DiskSim's own replay has no phase "
        "to lock to; reads and writes apart are known of six of its runs. The C2200A is not among its drives.",
        columns=[
            "drive", "model", "demerit (ms)", "of reads", "of writes", "error per request", "of reads", "of writes",
        ],
        rows=lines,
        text_columns=2,
        dense=True,
    )  # fmt: skip
