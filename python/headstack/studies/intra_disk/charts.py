"""The thesis' figures: distributions of the response, densities of rotational latency, watts by state, dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.report.page import Section
from headstack.report.tables import number
from headstack.studies.intra_disk.found import TITLES
from headstack.studies.intra_disk.runs import STEPS_MS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headstack.costing import Cost
    from headstack.studies.intra_disk.found import Found

DESIGNS = ("MD", "HC-SD")


def sections(found: Found) -> list[Section]:
    """All of them, one load after the other."""
    shown = [name for name in TITLES if found.has(name)]
    return [
        _loads(found),
        *(_cdf(found, load, "E1: array and one drive", DESIGNS) for load in shown),
        *(_watts(found, load) for load in shown),
    ]


def _loads(found: Found) -> Section:
    rows = [
        [load.title, load.origin, *(number(found(load.name, name).mean, 2) for name in DESIGNS)]
        for load in found.loads.values()
    ]
    text = (
        "Mean response (ms). Every drive takes all that waits and goes for the shortest positioning time. A mean of "
        "seconds means that the drive does not keep up: it grows with the length of the run."
    )
    columns = ["load", "where it comes from", *DESIGNS]
    return Section("The loads", text, columns=columns, rows=rows, text_columns=2)


def _cdf(found: Found, load: str, title: str, names: Iterable[str]) -> Section:
    from headstack.report.curves import lines

    curves = {
        name: [(ms, share) for ms, share in zip(STEPS_MS, found(load, name).cdf, strict=True) if ms <= 400] for name in names
    }  # fmt: skip
    chart = lines(curves, "response (ms)", "share of the requests", log=(True, False))
    return Section(f"{title}, {TITLES[load]}", "Share of the requests no longer than this.", chart, half=True)


def _watts(found: Found, load: str) -> Section:
    from headstack.report.bars import stacked

    bars = {name: found(load, name).watts for name in DESIGNS}
    md = found(load, "MD")
    text = f"Average watts by state. MD draws {md.average_w:.0f} W, {100 * md.watts['idle'] / md.average_w:.0f} % of it idle."
    return Section(f"E2: power, {TITLES[load]}", text, stacked(bars, "W"), half=True)


def cost_sections(found: Cost) -> list[Section]:
    """Bars of a drive's cost, and of systems that perform alike."""
    from headstack.costing_words import plural, system_name
    from headstack.report.bars import ranges

    drives = [{"label": plural(bill["actuators"], "actuator"), **bill} for bill in found.designs]
    sections = [Section("E9: what a drive costs", "Components only.", ranges(drives, "a drive (US$)"), half=True)]
    if found.iso_performance is not None:
        systems = [{"label": system_name(system), **system} for system in found.iso_performance["systems"]]
        text = found.iso_performance["source"]
        sections.append(Section("E9: at equal performance", text, ranges(systems, "all drives (US$)"), half=True))
    return sections
