"""Bills and comparisons as tables of words, for the command line and for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.shown import Part, Shown, number, of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.costing import Cost

Table = tuple[list[str], list[list[str]]]


def price(entry: Mapping[str, Any]) -> Shown:
    """Write a range of dollars; one number where both ends are equal."""
    low, high = number(entry["low_usd"]), number(entry["high_usd"])
    return Shown(
        low if low == high else f"{low}–{high}",
        Part("least", entry["low_usd"], "USD"),
        Part("most", entry["high_usd"], "USD"),
    )


def system_name(system: Mapping[str, Any]) -> str:
    """Name a system by its drives."""
    return f"{plural(system['drives'], 'drive')} of {plural(system['actuators'], 'actuator')}"


def bill_rows(found: Cost) -> Table:
    """A row a component: how many, and the price of all of them, for each number of actuators; the total last."""
    columns = ["component"]
    for bill in found.designs:
        actuators = plural(bill["actuators"], "actuator")
        columns += [f"count, {actuators}", actuators]
    rows = []
    for index, component in enumerate(found.designs[0]["components"]):
        row = [component["name"]]
        for bill in found.designs:
            entry = bill["components"][index]
            row += [number(entry["count"]), price(entry)]
        rows.append(row)
    total = ["total"]
    for bill in found.designs:
        total += ["", price(bill)]
    return columns, [*rows, total]


def system_rows(found: Cost) -> Table:
    """A row a system: its price, the mean of the range, and what it saves against the first."""
    systems = [] if found.iso_performance is None else found.iso_performance["systems"]
    rows = [
        [
            system_name(system),
            price(system),
            of_unit(system["mean_usd"], "USD"),
            number(None if index == 0 else system["saving_percent"], 1, "%"),
        ]
        for index, system in enumerate(systems)
    ]
    return ["system", "price", "mean", "saving"], rows
