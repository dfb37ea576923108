"""The thesis' figures: distributions of the response, densities of rotational latency, watts by state, dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.report.page import Section
from headstack.shown import number
from headstack.studies.intra_disk.bottleneck import DESIGNS as BOTTLENECK
from headstack.studies.intra_disk.found import TITLES
from headstack.studies.intra_disk.parallel import OTHER_KINDS, SINGLE
from headstack.studies.intra_disk.runs import LATENCY_STEP_MS, STEPS_MS
from headstack.studies.intra_disk.watts import SLOW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headstack.costing import Cost
    from headstack.studies.intra_disk.found import Found

SCALED = tuple(design.name for design in BOTTLENECK)
ARMED = tuple(design.name for design in SINGLE)


def sections(found: Found) -> list[Section]:
    """All of them, one load after the other."""
    shown = [name for name in TITLES if found.has(name)]
    return [
        _loads(found),
        *(_cdf(found, load, "E3: what limits one drive", ("MD", "HC-SD", *SCALED)) for load in shown),
        *(_cdf(found, load, "E1, E4: array, one drive, parallel drives", ("MD", "HC-SD", *ARMED)) for load in shown),
        *(_latency(found, load) for load in shown),
        *(_watts(found, load) for load in shown),
        _kinds(found, shown),
        _speeds(found, shown),
    ]


def _loads(found: Found) -> Section:
    rows = [
        [load.title, load.origin, *(number(found(load.name, name).mean, 2) for name in ("MD", "HC-SD", *ARMED))]
        for load in found.loads.values()
    ]
    text = (
        "Mean response (ms). Every drive takes all that waits and goes for the shortest positioning time. A mean of "
        "seconds means that the drive does not keep up: it grows with the length of the run."
    )
    columns = ["load", "where it comes from", "MD", "HC-SD", *ARMED]
    return Section("The loads", text, columns=columns, rows=rows, text_columns=2)


def _cdf(found: Found, load: str, title: str, names: Iterable[str]) -> Section:
    from headstack.report.curves import lines

    curves = {
        name: [(ms, share) for ms, share in zip(STEPS_MS, found(load, name).cdf, strict=True) if ms <= 400] for name in names
    }  # fmt: skip
    chart = lines(curves, "response (ms)", "share of the requests", log=(True, False))
    return Section(f"{title}, {TITLES[load]}", "Share of the requests no longer than this.", chart, half=True)


def _latency(found: Found, load: str) -> Section:
    from headstack.report.curves import lines

    curves = {
        name: [((index + 0.5) * LATENCY_STEP_MS, density) for index, density in enumerate(found(load, name).latency)]
        for name in ("HC-SD", "(½)R", *ARMED)
    }
    chart = lines(curves, "rotational latency (ms)", "density (1/ms)")
    return Section(f"E4: rotational latency, {TITLES[load]}", "Of requests that went to the media.", chart, half=True)


def _watts(found: Found, load: str) -> Section:
    from headstack.report.bars import stacked

    names = ("HC-SD", *ARMED, *(design.name for design in SLOW))
    bars = {name: found(load, name).watts for name in names}
    md = found(load, "MD")
    text = f"Average watts by state. MD draws {md.average_w:.0f} W, {100 * md.watts['idle'] / md.average_w:.0f} % of it idle."
    return Section(f"E2, E6, E7: power, {TITLES[load]}", text, stacked(bars, "W"), half=True)


def _kinds(found: Found, shown: list[str]) -> Section:
    rows = [
        [name, *(number(found(load, name).mean, 2) for load in shown)]
        for name in (*ARMED, *(design.name for design in OTHER_KINDS))
    ]
    text = "Mean response (ms): one arm moving at a time (SA), several (MA), several transferring (MC); open arrivals."
    return Section("E5: more than one arm at work", text, columns=["", *(TITLES[load] for load in shown)], rows=rows)


def _speeds(found: Found, shown: list[str]) -> Section:
    def cell(load: str, name: str) -> str:
        outcome = found(load, name)
        mark = " *" if outcome.mean <= found(load, "MD").mean else ""
        return f"{number(outcome.mean, 1)} ms, {outcome.average_w:.1f} W{mark}"

    names = ("MD", "HC-SD", *ARMED, *(design.name for design in SLOW))
    rows = [[name, *(cell(load, name) for load in shown)] for name in names]
    text = "Mean response and average watts; * marks those that answer as fast as MD."
    return Section("E7: slower spindles", text, columns=["", *(TITLES[load] for load in shown)], rows=rows)


def cost_sections(found: Cost, told: str = "") -> list[Section]:
    """Bars of a drive's cost, and of systems that perform alike; `told`: what is to be said of those."""
    from headstack.costing_words import system_name
    from headstack.counted import plural
    from headstack.report.bars import ranges

    drives = [{"label": plural(bill["actuators"], "actuator"), **bill} for bill in found.designs]
    sections = [Section("E9: what a drive costs", "Components only.", ranges(drives, "a drive (USD)"), half=True)]
    if found.iso_performance is not None:
        systems = [{"label": system_name(system), **system} for system in found.iso_performance["systems"]]
        text = "; ".join(filter(None, (found.iso_performance["source"], told)))
        sections.append(Section("E9: at equal performance", text, ranges(systems, "all drives (USD)"), half=True))
    return sections
