"""The page of an exploration: which candidate holds the load, what it costs, and all candidates with their verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headstack.comparison.sweep import P99, WATTS
from headstack.counted import plural
from headstack.report import sweep as points
from headstack.report.page import Number, Page, Section
from headstack.sweeping import cells
from headstack.sweeping.metrics import USD

if TYPE_CHECKING:
    from headstack.exploration import Exploration

NOUN = "candidate"


def exploration_page(found: Exploration) -> Page:
    """The page: the answer, candidates by p99 and cost, all of them in a table, distributions, phases."""
    comparison = found.comparison
    definition = comparison.sweep.definition
    drawn = points.chosen(comparison)
    names = points.names_of(comparison, drawn)
    fronts = [
        points.front_section(comparison, front, half=len(comparison.fronts) > 1, noun=NOUN, needed=found.p99_ms)
        for front in comparison.fronts
    ]
    return Page(
        title=definition.summary or definition.path.stem,
        subtitle=_subtitle(found),
        answer=found.answer(),
        notices=points.notices(comparison, NOUN),
        numbers=[
            Number("hold the load", f"{len(found.holding)} of {len(comparison.points)}", _needed(found)),
            *points.tiles(comparison),
        ],
        sections=[
            *fronts,
            _candidates(found),
            *points.effects(comparison, NOUN),
            points.distributions(comparison, drawn, names, NOUN),
            points.phases(comparison, drawn, names, NOUN),
            *points.failures(comparison, NOUN),
        ],
        cite=points.citation(comparison, _ran(found)),
    )


def _ran(found: Exploration) -> list[tuple[str, str]]:
    """What was run: which candidates, under which trace, and how."""
    summary = found.comparison.points[0].runs[0].summary
    return [
        ("candidates", found.comparison.sweep.definition.path.name),
        ("workload", summary["workload"]),
        ("replay", summary["replay"]),
        *([] if found.p99_ms is None else [("p99 needed", f"{found.p99_ms:,g} ms")]),
    ]


def _subtitle(found: Exploration) -> str:
    """Who ran what."""
    done, sweep = found.comparison.points, found.comparison.sweep
    first = done[0]
    trace = "" if first.point.settings.trace is None else f" on {Path(first.point.settings.trace).name}"
    each = " each" if len(done) > 1 else ""
    failed = f"; {len(sweep.failures):,} could not be run" if sweep.failures else ""
    return (
        f"{plural(len(done), 'candidate')}{trace}, {plural(first.runs[0].summary['requests'], 'request')}{each}{failed}"
    )


def _needed(found: Exploration) -> str:
    return "they keep up" if found.p99_ms is None else f"p99 of at most {found.p99_ms:,g} ms, and they keep up"


def _candidates(found: Exploration) -> Section:
    comparison = found.comparison
    axes = [axis.name for axis in comparison.sweep.definition.axes]
    metrics = (P99, "response_ms.mean", WATTS, USD)
    told = [cells.column([point.estimate(metric) for point in comparison.points]) for metric in metrics]
    hours, idle = (
        # An estimate, off by a few percent and more.
        cells.figures([known.get(point.point.number) for point in comparison.points], digits=2)
        for known in (found.rebuild_hours, found.rebuild_hours_idle)
    )
    rows = [
        [
            *map(str, point.values.values()),
            *costs,
            found.verdict(point),
        ]
        for point, *costs in zip(comparison.points, *told, hours, idle, strict=True)
    ]
    text = (
        f"A candidate holds the load if it keeps up with the trace{_limit(found)}. Rebuild: a drive has failed, and what it "
        "held is brought onto a spare while the load goes on, as in its first 20 s. Looked at in several places of the rebuild. Idle: nothing "
        "else is to do."
    )
    columns = [*axes, "p99 (ms)", "mean (ms)", "watts", "price (USD)", "rebuild (h)", "idle (h)", "holds the load"]
    return Section("All candidates", text, columns=columns, rows=rows, text_columns=len(axes), dense=True)


def _limit(found: Exploration) -> str:
    return "" if found.p99_ms is None else f" and its p99 is at most {found.p99_ms:,g} ms"
