"""The page of a design's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack import __version__
from headstack.costing_words import bill_rows, price, system_name, system_rows
from headstack.counted import plural
from headstack.report.bars import ranges
from headstack.report.page import Number, Page, Section

if TYPE_CHECKING:
    from headstack.costing import Cost


def cost_page(found: Cost) -> Page:
    """The page: key numbers, bars with their ranges, the bills."""
    columns, rows = bill_rows(found)
    bars = [{"label": plural(bill["actuators"], "actuator"), **bill} for bill in found.designs]
    sections = []
    if found.iso_performance is not None:
        systems = found.iso_performance["systems"]
        names, table = system_rows(found)
        sections.append(
            Section(
                "Equal performance",
                f"{found.iso_performance['source']}. Bars: mean of the lowest and the highest price; lines: the range.",
                ranges([{"label": system_name(system), **system} for system in systems], "all drives (USD)"),
                columns=names,
                rows=table,
            )
        )
    sections += [
        Section("One drive", "Bars: mean; lines: from the lowest to the highest price.", ranges(bars, "a drive (USD)")),
        Section("Bill of materials", "Count and price of all of a kind, USD.", columns=columns, rows=rows),
    ]
    return Page(
        f"{found.name}: what it costs to make",
        f"Components only; {found.source}",
        [Number(plural(bill["actuators"], "actuator"), f"{price(bill)} USD") for bill in found.designs],
        sections,
        answer=_answer(found),
        cite=[("tool", f"headstack {__version__}"), ("design", found.name), ("source", found.source)],
    )


def _answer(found: Cost) -> str:
    """What the cheapest of the systems that perform alike costs, or what a drive does."""
    if found.iso_performance is not None:
        first, *others = found.iso_performance["systems"]
        if others:
            best = min(others, key=lambda system: system["mean_usd"])
            change = f"{abs(best['saving_percent']):.1f} % {'less' if best['saving_percent'] >= 0 else 'more'}"
            costs = "costs" if best["drives"] == 1 else "cost"
            return f"At equal performance, {system_name(best)} {costs} {price(best)} USD: {change} than {system_name(first)}."
    bill = found.designs[0]
    return f"A drive with {plural(bill['actuators'], 'actuator')} costs {price(bill)} USD."
