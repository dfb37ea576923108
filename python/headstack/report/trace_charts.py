"""Charts of a trace's analysis; each takes a list out of `analyse_trace` and returns a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.report import style, vega
from headstack.report.charts import HEIGHT, op_colour, time_unit
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from headstack.results.analyses import ArrivalBin, AxisBin, Cell, Group, TimeBin

FEWEST = 0.7
"""Where a logarithmic axis of counts begins: a bin with one request still shows."""


def by_time(bins: list[TimeBin], title: str, counted: str) -> Chart | None:
    """Times counted in bins of equal ratio, both axes logarithmic; what is below the lowest bin stands at its left."""
    filled = [{**each, "floor": FEWEST} for each in bins if each["count"]]
    if not filled:
        return None
    for each in filled:
        each["from_ms"] = max(each["from_ms"], each["to_ms"] / 10**0.1)
    table = pl.DataFrame(filled)
    most = max(each["count"] for each in filled)
    return (
        Chart(table)
        .mark("rect", color=style.BLUE)
        .encode(
            x=vega.X(
                "from_ms:Q",
                title=title,
                scale=vega.Scale(type="log", nice=False),
                axis=vega.Axis(format=",~r", tickCount=8),
            ),
            x2="to_ms:Q",
            y=vega.Y(
                "count:Q",
                title=counted,
                scale=vega.Scale(type="log", nice=False, domain=[FEWEST, 1.3 * most]),
                axis=vega.Axis(format="~s", tickCount=6),
            ),
            y2="floor:Q",
            tooltip=[vega.Tooltip("from_ms:Q", format=".3g"), vega.Tooltip("to_ms:Q", format=".3g"), "count:Q"],
        )
        .properties(width="container", height=HEIGHT)
    )


_BOX = ("low", "q1", "median", "q3", "high")


def boxes(groups: list[Group]) -> Chart | None:
    """A box plot for each group."""
    names = [group["name"] for group in groups if group["response_ms"]]
    plots = [
        {"name": group["name"], "n": group["requests"], **group["response_ms"]["boxplot"]}
        for group in groups
        if group["response_ms"]
    ]
    if not plots:
        return None
    floor = 1e-4
    values = [
        {key: max(value, floor) if key in _BOX else value for key, value in plot.items() if key != "shown"}
        for plot in plots
    ]
    dots = [{"name": plot["name"], "ms": max(ms, floor)} for plot in plots for ms in plot["shown"]]
    low = min(plot["low"] for plot in values)
    high = max([plot["high"] for plot in values] + [dot["ms"] for dot in dots])
    scale = vega.Scale(type="log", nice=False, domain=[low / 1.3, high * 1.3])
    axis = vega.Axis(format=",~r", tickCount=5)
    y = vega.Y("name:N", title=None, sort=names)
    base = Chart(pl.DataFrame(values)).encode(y=y)
    x = vega.X("low:Q", title="response (ms)", scale=scale, axis=axis)
    tips = [vega.Tooltip(f"{key}:Q", format=".3g") for key in _BOX]
    layers: list[Any] = [
        base.mark("rule", color=style.GREY).encode(x=x, x2="high:Q"),
        base.mark("bar", color=style.SKY, height={"band": 0.6}).encode(
            x=vega.X("q1:Q", scale=scale), x2="q3:Q", tooltip=["name:N", "n:Q", *tips]
        ),
        base.mark("tick", color=style.BLUE, thickness=3, height={"band": 0.6}).encode(
            x=vega.X("median:Q", scale=scale)
        ),
    ]
    if dots:
        points = Chart(pl.DataFrame(dots)).mark("circle", size=14, color=style.VERMILLION, opacity=0.5)
        layers.append(points.encode(x=vega.X("ms:Q", scale=scale), y=y))
    return vega.layer(*layers, width="container", height=26 * len(names) + 24)


def by_address(bins: list[AxisBin], sector_bytes: int) -> Chart | None:
    """Mean and max response over the address."""
    rows = [{**each, "gib": (each["from"] + each["width"] / 2) * sector_bytes / 2**30} for each in bins]
    if not rows:
        return None
    return _mean_and_most(rows, "gib", "address (GiB)", "response (ms)")


def by_start(bins: list[AxisBin]) -> Chart | None:
    """Mean and max response over the arrival."""
    rows, title = _on_time(bins)
    return _mean_and_most(rows, "time", title, "response (ms)") if rows else None


def depth(bins: list[AxisBin]) -> Chart | None:
    """Mean and largest queue depth over time."""
    rows, title = _on_time(bins)
    return _mean_and_most(rows, "time", title, "queue depth", log=False) if rows else None


def arrivals(bins: list[ArrivalBin]) -> Chart | None:
    """Reads and writes per second over time."""
    if not bins:
        return None
    scale, unit = time_unit(pl.Series([bins[0]["from_ns"] / 1e9, (bins[-1]["from_ns"] + bins[-1]["width_ns"]) / 1e9]))
    rows = [
        {
            "time": at / 1e9 / scale,
            "per_s": 1e9 * each[f"{op}s"] / each["width_ns"],
            "op": op,
            "requests": each[f"{op}s"],
        }
        for each in bins
        for op in style.OPS
        if any(other[f"{op}s"] for other in bins)
        for at in (each["from_ns"], each["from_ns"] + each["width_ns"])
    ]
    table = pl.DataFrame(rows)
    return (
        Chart(table)
        .mark("line", strokeWidth=1.2)
        .encode(
            x=vega.X("time:Q", title=f"arrival ({unit})", scale=vega.Scale(nice=False)),
            y=vega.Y("per_s:Q", title="requests per s", axis=vega.Axis(format="~s", tickCount=6)),
            color=op_colour(table),
            tooltip=["op:N", "requests:Q", vega.Tooltip("per_s:Q", format=".4g")],
        )
        .properties(width="container", height=HEIGHT)
    )


def sizes(groups: list[Group]) -> Chart | None:
    """Reads and writes by size."""
    names = [group["name"] for group in groups]
    rows = [
        {"size": group["name"], "op": op, "requests": count}
        for group in groups
        for op, count in (("read", group["reads"]), ("write", group["requests"] - group["reads"]))
        if count
    ]
    if not rows:
        return None
    table = pl.DataFrame(rows)
    return (
        Chart(table)
        .mark("bar", height={"band": 0.7})
        .encode(
            y=vega.Y("size:N", title=None, sort=names),
            x=vega.X("requests:Q", title="requests", axis=vega.Axis(format="~s", tickCount=5)),
            color=op_colour(table),
            tooltip=["size:N", "op:N", vega.Tooltip("requests:Q", format=",")],
        )
        .properties(width="container", height=22 * len(names) + 24)
    )


def places(bins: list[AxisBin], sector_bytes: int) -> Chart | None:
    """How many requests begin in each part of a drive."""
    if not bins:
        return None
    gib = sector_bytes / 2**30
    table = pl.DataFrame(
        {
            "from": [each["from"] * gib for each in bins],
            "to": [(each["from"] + each["width"]) * gib for each in bins],
            "requests": [each["count"] for each in bins],
        }
    )
    most = max(each["count"] for each in bins)
    log = most > 50 * min(each["count"] for each in bins)
    scale = (
        vega.Scale(type="log", nice=False, domain=[FEWEST, 1.3 * most]) if log else vega.Scale(domain=[0, 1.05 * most])
    )
    return (
        Chart(table.with_columns(floor=FEWEST if log else 0.0))
        .mark("rect", color=style.BLUE)
        .encode(
            x=vega.X("from:Q", title="address (GiB)", scale=vega.Scale(nice=False), axis=vega.Axis(format=",~r")),
            x2="to:Q",
            y=vega.Y("requests:Q", title="requests", scale=scale, axis=vega.Axis(format="~s", tickCount=6)),
            y2="floor:Q",
            tooltip=[vega.Tooltip("from:Q", format=".4g", title="from (GiB)"), vega.Tooltip("requests:Q", format=",")],
        )
        .properties(width="container", height=HEIGHT)
    )


def heat(cells: list[Cell]) -> Chart:
    """Responses over time, counted in cells."""
    table = pl.DataFrame(cells)
    scale, unit = time_unit(table["from"] / 1e9)
    table = table.with_columns(begin=pl.col("from") / 1e9 / scale, end=(pl.col("from") + pl.col("width")) / 1e9 / scale)
    return (
        Chart(table)
        .mark("rect")
        .encode(
            x=vega.X("begin:Q", title=f"arrival ({unit})", scale=vega.Scale(nice=False)),
            x2="end:Q",
            y=vega.Y(
                "from_ms:Q",
                title="response (ms)",
                scale=vega.Scale(type="log", nice=False),
                axis=vega.Axis(format=",~r", tickCount=6),
            ),
            y2="to_ms:Q",
            color=vega.Color(
                "count:Q",
                scale=vega.Scale(type="log", scheme="blues"),
                legend=vega.Legend(title="responses", orient="right"),
            ),
            tooltip=["count:Q", vega.Tooltip("from_ms:Q", format=".3g"), vega.Tooltip("to_ms:Q", format=".3g")],
        )
        .properties(width="container", height=HEIGHT)
    )


def _on_time(bins: list[AxisBin]) -> tuple[list[dict[str, Any]], str]:
    if not bins:
        return [], ""
    seconds = pl.Series([each["from"] / 1e9 for each in bins])
    scale, unit = time_unit(seconds)
    rows = [{**each, "time": (each["from"] + each["width"] / 2) / 1e9 / scale} for each in bins]
    return rows, f"arrival ({unit})"


def _mean_and_most(rows: list[dict[str, Any]], x: str, x_title: str, y_title: str, *, log: bool = True) -> Chart:
    lines = [
        {x: row[x], "which": which, "value": row[key], "count": row["count"]}
        for row in rows
        for which, key in (("mean", "mean"), ("max", "max"))
        if row[key] is not None and (row[key] > 0 or not log)
    ]
    table = pl.DataFrame(lines, infer_schema_length=None)
    values = [line["value"] for line in lines]
    log = log and bool(values) and max(values) > 50 * min(values)
    scale = vega.Scale(type="log", nice=False) if log else vega.Scale(zero=True)
    axis = vega.X(f"{x}:Q", title=x_title, scale=vega.Scale(nice=False))
    y = vega.Y("value:Q", title=y_title, scale=scale, axis=vega.Axis(format=",~r", tickCount=6))
    colour = vega.Color("which:N", scale=vega.Scale(domain=["mean", "max"], range=[style.BLUE, style.PALE]))
    tips = ["which:N", vega.Tooltip("value:Q", format=".3g"), "count:Q"]
    dots = Chart(table).mark("circle", size=16, opacity=0.8).encode(x=axis, y=y, color=colour, tooltip=tips)
    return vega.layer(dots, width="container", height=HEIGHT)
