"""E9 and the thesis' tables: what parallel drives cost, Table 2.1, and facts that are quoted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import headstack
from headstack.costing_words import system_name
from headstack.counted import plural
from headstack.studies.framework import Row, about, not_testable
from headstack.studies.intra_disk import table_2_1
from headstack.studies.intra_disk.charts import cost_sections
from headstack.studies.intra_disk.runs import parallel

if TYPE_CHECKING:
    from headstack.report.page import Section

    Alike = dict[int, dict[int, int]]
    """How many drives perform alike, by time between arrivals and number of arms."""
    Dollars = dict[int, dict[int, float]]

TOTALS = {1: (67.7, 80.8), 2: (100.4, 116.6), 4: (165.8, 188.2)}
SYSTEMS = ((297.0, 0), (217.0, 27), (177.0, 40))
CENT = 0.005
YEARS, HOURS_A_YEAR = (3, 5), 365.25 * 24


def study(alike: Alike | None = None) -> tuple[list[Row], list[Section]]:
    """Dollars, Table 2.1, and what is quoted; `alike`: how many drives perform alike by this study's own runs."""
    found = headstack.cost(actuators=list(TOTALS))
    own = {gap: _dollars(drives) for gap, drives in (alike or {}).items()}
    told = _told(alike or {}, own)
    return [*_cost(found, told, own), *table_2_1.rows(), *_quoted()], cost_sections(found, told)


def _dollars(drives: dict[int, int]) -> dict[int, float]:
    """Mean cost of so many drives, by number of arms."""
    costs = headstack.cost(systems=[(number, arms) for arms, number in drives.items()]).iso_performance
    return {} if costs is None else {system["actuators"]: system["mean_usd"] for system in costs["systems"]}


def _told(alike: Alike, own: Dollars) -> str:
    """What as many drives cost as perform alike here, since the thesis' numbers of drives are not those of E8."""
    parts = []
    for gap, drives in alike.items():
        costs = {arms: f"{own[gap][arms]:,.1f}".removesuffix(".0") for arms in drives}
        systems = ", ".join(f"{number} {parallel(arms).name} {costs[arms]}" for arms, number in drives.items())
        parts.append(f"at {gap} ms between arrivals {systems} USD")
    return (
        f"the numbers of drives are the thesis'; by this study's own break-even (E8) {'; '.join(parts)}"
        if parts
        else ""
    )


def _cost(found: headstack.Cost, told: str, own: Dollars) -> list[Row]:
    rows = []
    for bill in found.designs:
        arms = bill["actuators"]
        for end, key, printed in zip(("lowest", "highest"), ("low_usd", "high_usd"), TOTALS[arms], strict=True):
            claim = f"E9, Table 5.1: {end} cost of a drive with {plural(arms, 'actuator')}"
            rows.append(about(f"e9-{arms}-{end}", claim, printed, bill[key], "USD", within=CENT))
    systems = (found.iso_performance or {"systems": []})["systems"]
    for (price, saving), system in zip(SYSTEMS, systems, strict=True):
        name, arms = system_name(system), system["actuators"]
        claim = f"E9, Figure 5.1: mean cost of {name}"
        row = about(f"e9-system-{arms}", claim, price, system["mean_usd"], "USD", within=CENT, note=told)
        own_8 = own.get(8, {}).get(arms)
        rows.append(row if own_8 is None else replace(row, besides={f"own-{arms}-usd": own_8}))
        if saving:
            claim = f"E9: saving of {name}"
            note = "; ".join(filter(None, ("printed in whole percent", told)))
            rows.append(about(f"e9-saving-{arms}", claim, saving, system["saving_percent"], "%", within=0.5, note=note))
    return rows


def _quoted() -> list[Row]:
    note = "quoted by the thesis; a fact about data centres, which no model of a drive decides"
    return [
        not_testable("r3.14-storage", "Background: storage's share of a data centre's power", 37.0, "%", note),
        not_testable(
            "r3.14-tco", "Background: disk power's share of the cost of ownership, more than", 13.0, "%", note
        ),
        _powering(),
    ]


def _powering() -> Row:
    """Three to five years of electricity against the price of the drive, for the drive of Table 2.1."""
    (column,) = (each for each in table_2_1.COLUMNS if each.is_of_today and each.arms == 1)
    low, high = ((1e3 * price) * (column.capacity_mb / 1e3) for price in column.usd_per_mb or (0.0, 0.0))
    least, most = (column.watts * years * HOURS_A_YEAR / 1e3 for years in YEARS)
    note = (
        f"the thesis has no price of electricity: one drive at {column.watts:g} W draws {least:.0f} to {most:.0f} kWh, and costs "
        f"{low:.0f} to {high:.0f} USD (Table 2.1), which takes {low / most:.2f} to {high / least:.2f} USD a kWh, cooling included"
    )
    claim = "Background: powering an array for three to five years costs more than buying it"
    return not_testable("r3.14-powering", claim, None, "", note)
