"""E9 and the thesis' tables: what parallel drives cost, and what four arms in motion draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headstack
from headstack.costing_words import system_name
from headstack.counted import plural
from headstack.studies.framework import Row, about, not_testable
from headstack.studies.intra_disk.charts import cost_sections

if TYPE_CHECKING:
    from headstack.report.page import Section

TOTALS = {1: (67.7, 80.8), 2: (100.4, 116.6), 4: (165.8, 188.2)}
SYSTEMS = ((297.0, 0), (217.0, 27), (177.0, 40))
CENT = 0.005


def study() -> tuple[list[Row], list[Section]]:
    """Dollars, watts of Table 2.1, and what is quoted."""
    return [*_cost(found := headstack.cost(actuators=list(TOTALS))), *_table_2_1(), *_quoted()], cost_sections(found)


def _cost(found: headstack.Cost) -> list[Row]:
    rows = []
    for bill in found.designs:
        arms = bill["actuators"]
        for end, key, printed in zip(("lowest", "highest"), ("low_usd", "high_usd"), TOTALS[arms], strict=True):
            claim = f"E9, Table 5.1: {end} cost of a drive with {plural(arms, 'actuator')}"
            rows.append(about(f"e9-{arms}-{end}", claim, printed, bill[key], "US$", within=CENT))
    systems = (found.iso_performance or {"systems": []})["systems"]
    for (price, saving), system in zip(SYSTEMS, systems, strict=True):
        name = system_name(system)
        claim = f"E9, Figure 5.1: mean cost of {name}"
        rows.append(about(f"e9-system-{system['actuators']}", claim, price, system["mean_usd"], "US$", within=CENT))
        if saving:
            claim = f"E9: saving of {name}"
            id_ = f"e9-saving-{system['actuators']}"
            rows.append(
                about(id_, claim, saving, system["saving_percent"], "%", within=0.5, note="printed in whole percent")
            )
    return rows


def _table_2_1() -> list[Row]:
    budget = headstack.power_budget("barracuda-es-750", actuators=[4]).drives[0]["power"][0]
    arm = budget["by_state_w"]["seek"] - budget["by_state_w"]["idle"]
    note = (
        f"{budget['by_state_w']['idle']:.1f} W idle and {arm:.1f} W for each arm in motion, as the data sheet has it; 34 W takes "
        "(34 − 13) / 3 = 7 W for each further arm"
    )
    claim = "Table 2.1: a Barracuda ES with four arms, all of them moving"
    return [about("table-2.1", claim, 34.0, budget["all_seeking_w"], "W", within=3.4, note=note)]


def _quoted() -> list[Row]:
    note = "quoted by the thesis; a fact about data centres, which no model of a drive decides"
    return [
        not_testable("r3.14-storage", "Background: storage's share of a data centre's power", 37.0, "%", note),
        not_testable(
            "r3.14-tco", "Background: disk power's share of the cost of ownership, more than", 13.0, "%", note
        ),
    ]
