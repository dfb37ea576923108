"""DiskSim 4.0's validation: its eight measured drives and its functional tests, its figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import headstack
from headstack.report.page import Section
from headstack.shown import number
from headstack.studies.framework import Progress, Row, at_most, data_file, not_testable
from headstack.studies.functional import functional_rows
from headstack.studies.leaderboard import Scored, leaderboard, leaderboard_section, score_line
from headstack.studies.measured_drives import Measured
from headstack.studies.own_arrivals import own_arrival_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headstack.results.validations import ValidationSummary

TITLE = "Is headstack closer to eight measured drives than DiskSim?"
PAPER = "Bucy, Schindler, Schlosser, Ganger et al., The DiskSim Simulation Environment 4.0, CMU-PDL-08-101, 2008"

# Initial positions of the spindle in the closed replays.
PHASES = 20


DRIVES = (
    Measured("hp_c2247a", "hp-c2247a", "HP C2247A", 0.094, 0.149, 0.124, 3.7, is_late=False),
    Measured("dec_rz26", "dec-rz26", "DEC RZ26", 0.341, 0.273, 1.060, 10.3, is_late=False),
    Measured("hp_c3323a", "hp-c3323a", "HP C3323A", 0.289, None, None, 18.2, is_late=False, specs="hp_c3323a_validate"),
    Measured("barracuda", "seagate-st32171w", "Barracuda 4LP", 0.343, 0.497, 0.270, 19.9, is_late=True),
    Measured("cheetah4LP", "cheetah-4lp", "Cheetah 4LP", 0.318, None, None, 19.1, is_late=True),
    Measured("cheetah9LP", "cheetah-9lp", "Cheetah 9LP", 0.108, 0.123, 0.161, 24.9, is_late=True),
    Measured("atlas_III", "atlas-iii", "Atlas III", 0.345, 0.472, 0.069, 27.1, is_late=True),
    Measured("atlas10k", "atlas-10k", "Atlas 10K", 0.246, 0.385, 0.175, 25.0, is_late=True),
)

# What a late drive's error per request must stay below, and what is aimed at, in percent of the mean.
LATE_MAE_PERCENT = 10.0
AIM_PERCENT = 5.0


@dataclass(frozen=True)
class Replays:
    """The three replays of a drive as imported, and the phase-locked ones."""

    closed: list[ValidationSummary]
    measured: ValidationSummary
    open: ValidationSummary
    locked: Scored
    fitted: Scored | None

    def closed_median(self, of: str | None = None) -> float:
        """Median demerit over the initial phases, in ms, of all requests or of "reads" or "writes"."""
        return median(self._demerits(of))

    def closed_range(self, of: str | None = None) -> str:
        """The range of the same."""
        values = self._demerits(of)
        return f"{min(values):.3f} to {max(values):.3f} ms over {len(values)} initial phases"

    def _demerits(self, of: str | None) -> list[float]:
        return [(scores if of is None else scores[of])["demerit_ms"] for scores in self.closed]


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Replay the traces, and check every figure that can be checked."""
    say = progress or (lambda _: None)
    rows: list[Row] = []
    table: list[list[str]] = []
    ranks: list[list[str]] = []
    for each in DRIVES:
        trace = data_file(data, f"validate/{each.trace}.trace")
        if trace is None:
            rows += _absent(each)
            continue
        say(each.label)
        replays = _replay(each, trace)
        there = None if data is None else each.as_disksim_has_it(data)
        disksim = None if there is None else Scored.of(there, trace)
        rows += _rows(each, replays)
        table += _table(each, replays)
        ranks += leaderboard(each, {"imported": replays.locked, "--meaning disksim": disksim, "fitted": replays.fitted})
    ranks += _c2200a(data, say)
    rows += functional_rows(data, progress)
    rows += own_arrival_rows(data, progress)
    return rows, [leaderboard_section(ranks), _section(table)] if table else []


def _c2200a(data: Path | None, say: Progress) -> list[list[str]]:
    """The drive of the week's trace, which DiskSim's validation does not have."""
    week = data_file(data, "hp/ajw.1week.srt")
    if week is None:
        return []
    say("HP C2200A")
    scored = Scored.of("hp-c2200a", headstack.Trace(week, devices=[(0, None)]))
    return [score_line("HP C2200A", "library, its values from days 1-3", scored)]


def _replay(each: Measured, trace: Path) -> Replays:
    name = each.drive
    closed = [
        headstack.validate(
            name, trace, replay="closed", overrides={"spindle.initial_angle_revolutions": (phase + 0.5) / PHASES}
        ).summary
        for phase in range(PHASES)
    ]
    fitted = f"{name}-fitted"
    known = set(headstack.library_drives())
    return Replays(
        closed=closed,
        measured=headstack.validate(name, trace, replay="measured").summary,
        open=headstack.validate(name, trace, replay="open").summary,
        locked=Scored.of(name, trace),
        fitted=Scored.of(fitted, trace) if fitted in known else None,
    )


def _rows(each: Measured, replays: Replays) -> list[Row]:
    key = each.drive
    scores = replays.locked.summary
    gap = scores["gap"]
    read_as = f"gaps {gap['gap']} their requests (coherence {gap['coherence_after']:.2f} after, " \
              f"{gap['coherence_before']:.2f} before)"  # fmt: skip
    locked = scores["per_request"]
    rows = [
        at_most(f"{key}-demerit", f"{each.label}: demerit, closed replay, imported parameters", each.demerit_ms,
                replays.closed_median(), "ms", note=f"median; {replays.closed_range()}; {read_as}"),
        *(
            at_most(f"{key}-demerit-{of}", f"{each.label}: {of} alone", theirs, replays.closed_median(of), "ms",
                    note=replays.closed_range(of))
            for of, theirs in (("reads", each.reads_ms), ("writes", each.writes_ms)) if theirs is not None
        ),
        at_most(f"{key}-mae", f"{each.label}: error per request, phase-locked: half of DiskSim's",
                each.mae_percent / 2, locked["mae_percent"], "% of the mean", kind="aim",
                note=f"second half of the trace, the first fitted; {replays.locked.interval('mae_percent', 2)}; without the "
                     f"lock {scores['without_phase_lock']['per_request']['mae_percent']:.2f} %"),
    ]  # fmt: skip
    if each.is_late:
        rows.append(
            at_most(f"{key}-mae-late", f"{each.label}: error per request, phase-locked", LATE_MAE_PERCENT,
                    locked["mae_percent"], "% of the mean", kind="aim")
        )  # fmt: skip
    rows += _fitted_rows(each, replays.fitted)
    return rows


def _fitted_rows(each: Measured, fitted: Scored | None) -> list[Row]:
    key = each.drive
    if fitted is None:
        return []
    error = fitted.summary["per_request"]["mae_percent"]
    half = f"{key}-fitted: parameters fitted to the first half, scored on the second"
    note = f"{half}; {fitted.interval('mae_percent', 2)}"
    return [
        at_most(f"{key}-fitted-mae", f"{each.label}, fitted: error per request: half of DiskSim's",
                each.mae_percent / 2, error, "% of the mean", note=note, kind="aim"),
        at_most(f"{key}-fitted-aim", f"{each.label}, fitted: error per request, aim", AIM_PERCENT, error,
                "% of the mean", note=note, kind="aim"),
        at_most(f"{key}-fitted-demerit", f"{each.label}, fitted: half of DiskSim's demerit, aim", each.demerit_ms / 2,
                fitted.summary["demerit_ms"], "ms", note=f"{half}; {fitted.interval('demerit_ms', 3)}; measured clock",
                kind="aim"),
    ]  # fmt: skip


def _absent(each: Measured) -> list[Row]:
    note = f"needs validate/{each.trace}.trace, from DiskSim's distribution: give its directory with --data"
    return [
        not_testable(f"{each.drive}-demerit", f"{each.label}: demerit, closed replay", each.demerit_ms, "ms", note),
        not_testable(f"{each.drive}-mae", f"{each.label}: error per request, phase-locked", each.mae_percent / 2,
                     "% of the mean", note),
    ]  # fmt: skip


def _table(each: Measured, replays: Replays) -> list[list[str]]:
    def line(replay: str, scores: Mapping[str, Any], demerit_ms: float | None = None) -> list[str]:
        errors = scores["per_request"]
        return [
            each.label,
            replay,
            number(scores["measured_mean_ms"]),
            number(scores["model_mean_ms"]),
            f"{scores['demerit_ms'] if demerit_ms is None else demerit_ms:.3f}",
            f"{scores['reads']['demerit_ms']:.3f}",
            f"{scores['writes']['demerit_ms']:.3f}",
            f"{errors['mae_percent']:.2f} %",
            f"{errors['median_ms']:.3f}",
            f"{errors['correlation']:.3f}",
        ]

    lines = [
        line("closed", replays.closed[0], replays.closed_median()),
        line("measured clock", replays.measured),
        line("open", replays.open),
        line("phase-locked, second half", replays.locked.summary),
    ]
    if replays.fitted is not None:
        lines.append(line("fitted and phase-locked, second half", replays.fitted.summary))
    theirs = ["" if value is None else f"{value:.3f}" for value in (each.demerit_ms, each.reads_ms, each.writes_ms)]
    lines.append([each.label, "DiskSim 4.0, closed", "", "", *theirs, f"{each.mae_percent:.1f} %", "", ""])
    return lines


def _section(table: list[list[str]]) -> Section:
    return Section(
        "Eight measured drives, three replays",
        text="Closed: each request is issued when the simulated one before it is complete, plus the think time, as DiskSim "
        "does. Measured clock: issued when the trace says, the drive being as the measured completion left it. Open: issued "
        "when the trace says, whatever the drive is doing. Phase-locked: on the measured clock, with speed, skews and zone "
        "angles fitted to the first half of the trace and the spindle's phase followed from request to request; the second "
        "half is scored. Demerits are exact root mean squares between the sorted times, in ms.",
        columns=[
            "drive", "replay", "measured (ms)", "model (ms)", "demerit (ms)", "reads", "writes", "error per request",
            "median (ms)", "correlation",
        ],
        rows=table,
        text_columns=2,
    )  # fmt: skip


def finding(ours: dict[str, float]) -> str:
    """On how many drives the model is at least as close as DiskSim."""
    found = [(ours[f"{each.drive}-demerit"], each.demerit_ms) for each in DRIVES if f"{each.drive}-demerit" in ours]
    if not found:
        return ""
    closer = sum(error <= theirs for error, theirs in found)
    return f"As imported, headstack's demerit is no larger than DiskSim's on {closer} of {len(found)} measured drives."
