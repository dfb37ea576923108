"""The page of a design's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from headstack.costing_words import bill_rows, plural, price, system_name, system_rows
from headstack.report import style
from headstack.report.page import Number, Page, Section

if TYPE_CHECKING:
    from headstack.costing import Cost
    from headstack.report.charts import AnyChart


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
                _bars([{"label": system_name(system), **system} for system in systems], "all drives (US$)"),
                columns=names,
                rows=table,
            )
        )
    sections += [
        Section("One drive", "Bars: mean; lines: from the lowest to the highest price.", _bars(bars, "a drive (US$)")),
        Section("Bill of materials", "Count and price of all of a kind, US$.", columns=columns, rows=rows),
    ]
    return Page(
        f"What {found.name[:1].lower()}{found.name[1:]} costs to make",
        f"Components only; {found.source}",
        [Number(plural(bill["actuators"], "actuator"), f"$ {price(bill)}") for bill in found.designs],
        sections,
    )


def _bars(bars: list[dict[str, Any]], title: str) -> AnyChart:
    rows = [
        {"label": bar["label"], "low": bar["low_usd"], "high": bar["high_usd"], "mean": (bar["low_usd"] + bar["high_usd"]) / 2}
        for bar in bars
    ]  # fmt: skip
    base = alt.Chart(pl.DataFrame(rows)).encode(y=alt.Y("label:N", title=None, sort=[bar["label"] for bar in bars]))
    mean = base.mark_bar(height={"band": 0.6}, color=style.BLUE).encode(x=alt.X("mean:Q", title=title))
    span = base.mark_rule(strokeWidth=2).encode(
        x="low:Q", x2="high:Q", tooltip=["label:N", "low:Q", "mean:Q", "high:Q"]
    )
    return alt.layer(mean, span, width="container", height=42 * len(bars) + 10)
