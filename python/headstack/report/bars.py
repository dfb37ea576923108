"""Bars: prices with their ranges, and sums of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from headstack.report import style
from headstack.report.curves import COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.report.charts import AnyChart


def ranges(bars: list[dict[str, Any]], title: str) -> AnyChart:
    """A bar to the mean of `low_usd` and `high_usd` for each `label`, and a line from one to the other."""
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


def stacked(bars: Mapping[str, Mapping[str, float]], title: str) -> AnyChart:
    """A bar for each name, made of its parts one after the other."""
    parts = list(dict.fromkeys(part for values in bars.values() for part in values))
    rows = [
        {"label": label, "part": part, "value": value, "order": parts.index(part)}
        for label, values in bars.items()
        for part, value in values.items()
    ]
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(parts))]
    return (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar(height={"band": 0.7})
        .encode(
            x=alt.X("value:Q", title=title, stack="zero"),
            y=alt.Y("label:N", title=None, sort=list(bars)),
            color=alt.Color("part:N", title=None, sort=parts, scale=alt.Scale(domain=parts, range=colours)),
            order=alt.Order("order:Q"),
            tooltip=["label:N", "part:N", alt.Tooltip("value:Q", format=".2f")],
        )
        .properties(width="container", height=26 * len(bars) + 10)
    )
