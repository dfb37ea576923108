"""Bars: prices with their ranges, and sums of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.report import style, vega
from headstack.report.curves import COLOURS
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping


def ranges(bars: list[dict[str, Any]], title: str) -> Chart:
    """A bar to the mean of `low_usd` and `high_usd` for each `label`, and a line from one to the other."""
    rows = [
        {"label": bar["label"], "low": bar["low_usd"], "high": bar["high_usd"], "mean": (bar["low_usd"] + bar["high_usd"]) / 2}
        for bar in bars
    ]  # fmt: skip
    base = Chart(pl.DataFrame(rows)).encode(y=vega.Y("label:N", title=None, sort=[bar["label"] for bar in bars]))
    mean = base.mark("bar", height={"band": 0.6}, color=style.BLUE).encode(x=vega.X("mean:Q", title=title))
    span = base.mark("rule", strokeWidth=2).encode(
        x="low:Q", x2="high:Q", tooltip=["label:N", "low:Q", "mean:Q", "high:Q"]
    )
    return vega.layer(mean, span, width="container", height=42 * len(bars) + 10)


def stacked(bars: Mapping[str, Mapping[str, float]], title: str) -> Chart:
    """A bar for each name, made of its parts one after the other."""
    parts = list(dict.fromkeys(part for values in bars.values() for part in values))
    rows = [
        {"label": label, "part": part, "value": value, "order": parts.index(part)}
        for label, values in bars.items()
        for part, value in values.items()
    ]
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(parts))]
    return (
        Chart(pl.DataFrame(rows))
        .mark("bar", height={"band": 0.7})
        .encode(
            x=vega.X("value:Q", title=title, stack="zero"),
            y=vega.Y("label:N", title=None, sort=list(bars), axis=vega.Axis(labelLimit=320)),
            color=vega.Color("part:N", title=None, sort=parts, scale=vega.Scale(domain=parts, range=colours)),
            order=vega.Order("order:Q"),
            tooltip=["label:N", "part:N", vega.Tooltip("value:Q", format=",.2f")],
        )
        .properties(width="container", height=26 * len(bars) + 10)
    )
