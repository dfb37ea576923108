"""The charts. Each takes a table of completions as `headstack.report.tables` prepares it, and returns a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.report import style, vega
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKS = 3000
"""At most so many points are drawn; a page stays small whatever the run."""

HEIGHT = 280


def cdf(
    curves: Mapping[str, pl.Series],
    colours: Mapping[str, str],
    title: str,
    *,
    clip: float | None = None,
    wide: str | None = None,
) -> Chart:
    """Cumulative distributions: for every time, the share of requests that took no longer.

    `clip` ends the time axis where so large a share of each curve's requests is complete; the curve called `wide` is
    drawn as a broad band, so that another one can lie on it.
    """
    points = pl.concat([_cdf_points(values, label) for label, values in curves.items() if len(values)])
    if clip is not None:
        points = points.filter(pl.col("share") <= 100 * clip)
    return cdf_lines(points, colours, title, wide=wide)


def cdf_lines(points: pl.DataFrame, colours: Mapping[str, str], title: str, *, wide: str | None = None) -> Chart:
    """Cumulative distributions of which points are known: `curve`, `ms` and `share` in percent."""
    low, high = points["ms"].min(), points["ms"].max()
    is_log = isinstance(low, float) and isinstance(high, float) and low > 0 and high / low > 30
    labels = [label for label in colours if label in set(points["curve"])]
    base = Chart(points).encode(
        x=vega.X(
            "ms:Q",
            title=title,
            scale=vega.Scale(type="log", nice=False) if is_log else vega.Scale(zero=False, nice=False),
            axis=vega.Axis(tickCount=8, format=",~r"),
        ),
        y=vega.Y("share:Q", title="share of requests (%)", scale=vega.Scale(domain=[0, 100])),
        color=vega.Color(
            "curve:N",
            sort=labels,
            scale=vega.Scale(domain=labels, range=[colours[label] for label in labels]),
            legend=vega.Legend(labelLimit=0, columns=2 if sum(map(len, labels)) > 100 else 0),
        ),
        order="share:Q",
        tooltip=["curve:N", vega.Tooltip("ms:Q", format=",.3f"), vega.Tooltip("share:Q", title="%", format=",.2f")],
    )
    if wide is None:
        return base.mark("line", interpolate="step-after").properties(width="container", height=HEIGHT)
    lines = base.filter({"not": vega.is_equal("curve", wide)}).mark("line", interpolate="step-after")
    band = base.filter(vega.is_equal("curve", wide)).mark("line", interpolate="step-after", strokeWidth=7)
    return vega.layer(band, lines, width="container", height=HEIGHT)


def _cdf_points(values: pl.Series, label: str, points: int = 400) -> pl.DataFrame:
    # Even steps in rank, and the last percent again as finely, for the tail is what people look for.
    ordered = values.sort()
    last = len(ordered) - 1
    ranks = [round(last * step / points) for step in range(points + 1)]
    ranks += [round(last * (0.99 + 0.01 * step / 100)) for step in range(101)]
    chosen = pl.Series(sorted(set(ranks)), dtype=pl.UInt32)
    return pl.DataFrame({"ms": ordered.gather(chosen), "share": (chosen + 1) / len(ordered) * 100}).with_columns(
        curve=pl.lit(label)
    )


def phases(means: Mapping[str, Mapping[str, Any]]) -> Chart:
    """Where the time went: mean phases, stacked, a bar for each kind of request."""
    names = list(style.PHASES)
    rows = [
        {"kind": kind, "phase": phase, "ms": values.get(phase, 0.0), "order": names.index(phase)}
        for kind, values in means.items()
        for phase in names
    ]
    used = [phase for phase in names if any(row["ms"] > 0 for row in rows if row["phase"] == phase)]
    return (
        Chart(pl.DataFrame([row for row in rows if row["phase"] in used]))
        .mark("bar", height={"band": 0.7})
        .encode(
            x=vega.X("sum(ms):Q", title="mean time per request (ms)", axis=vega.Axis(tickCount=10)),
            y=vega.Y("kind:N", title=None, sort=list(means), axis=vega.Axis(labelLimit=320)),
            color=vega.Color(
                "phase:N",
                sort=used,
                scale=vega.Scale(domain=used, range=[style.PHASES[phase] for phase in used]),
            ),
            order="order:O",
            tooltip=["kind:N", "phase:N", vega.Tooltip("ms:Q", format=",.3f")],
        )
        .properties(width="container", height=42 * len(means) + 10)
    )


def over_time(table: pl.DataFrame) -> Chart:
    """Response against arrival: every request of a short run; median, p90 and max in windows of a long one."""
    scale, unit = time_unit(table["arrival_s"])
    x = vega.X("time:Q", title=f"arrival ({unit})", scale=vega.Scale(nice=False))
    if len(table) <= MARKS:
        return (
            Chart(table.select(time=pl.col("arrival_s") / scale, ms="response_ms", op="op"))
            .mark("circle", size=14, opacity=0.6)
            .encode(x=x, y=_response_axis(table), color=op_colour(table), tooltip=["op:N", "time:Q", "ms:Q"])
            .properties(width="container", height=HEIGHT)
        )
    low = real(table["arrival_s"].min())
    width = (real(table["arrival_s"].max()) - low) / 250 or 1.0
    names = {"median": pl.col("response_ms").median(), "p90": pl.col("response_ms").quantile(0.9)}
    names["max"] = pl.col("response_ms").max()
    windows = (
        table.group_by(window=((pl.col("arrival_s") - low) / width).floor())
        .agg(**names)
        .sort("window")
        .with_columns(time=(low + (pl.col("window") + 0.5) * width) / scale)
        .unpivot(list(names), index="time", variable_name="which", value_name="ms")
    )
    colours = {"median": style.BLUE, "p90": style.ORANGE, "max": style.GREY}
    alone = windows["time"].n_unique() == 1
    return (
        Chart(windows)
        .mark("line", strokeWidth=1.5, point=alone)  # of requests that all arrive at once there is no line
        .encode(
            x=x,
            y=_response_axis(table),
            color=vega.Color(
                "which:N",
                sort=list(names),
                scale=vega.Scale(domain=list(names), range=[colours[n] for n in names]),
            ),
            tooltip=["which:N", vega.Tooltip("time:Q", format=",.2f"), vega.Tooltip("ms:Q", format=",.3f")],
        )
        .properties(width="container", height=HEIGHT)
    )


def over_lba(table: pl.DataFrame) -> Chart:
    """Response against address, for a sample of the requests."""
    step = stride(len(table))
    sample = table.gather_every(step).select("lba", "op", ms="response_ms")
    return (
        Chart(sample)
        .mark("circle", size=12, opacity=0.45)
        .encode(
            x=vega.X(
                "lba:Q",
                title="first LBA",
                scale=vega.Scale(nice=False),
                axis=vega.Axis(format="~s", tickCount=8),
            ),
            y=_response_axis(table),
            color=op_colour(table),
            tooltip=["op:N", vega.Tooltip("lba:Q", format=","), vega.Tooltip("ms:Q", format=",.3f")],
        )
        .properties(width="container", height=HEIGHT)
    )


def stride(count: int) -> int:
    """Every how many-th request is drawn."""
    return -(-count // MARKS) or 1


def seek_curve(points: pl.DataFrame) -> Chart:
    """Seek time against distance."""
    return (
        Chart(points)
        .mark("line", color=style.BLUE)
        .encode(
            x=vega.X("cylinders:Q", title="distance (cylinders)", scale=vega.Scale(nice=False)),
            y=vega.Y("ms:Q", title="seek time (ms)"),
        )
        .properties(width="container", height=HEIGHT)
    )


def timeline(steps: pl.DataFrame) -> Chart:
    """The steps of a few requests on one time axis, a row each; steps at the same time lie in lanes below each other."""
    steps = _in_lanes(steps)
    lanes = int(real(steps["lane"].max())) + 1
    rows = steps["row"].unique(maintain_order=True).to_list()
    names = [name for name in style.STEPS if name in set(steps["label"])]
    return (
        Chart(steps)
        .mark("bar", height={"band": 0.85}, minBandSize=2)
        .encode(
            x=vega.X(
                "start_ms:Q", title="ms after the first request's arrival", scale=vega.Scale(zero=False, nice=False)
            ),
            x2="end_ms:Q",
            y=vega.Y("row:N", title=None, sort=rows, axis=vega.Axis(labelLimit=260)),
            yOffset=vega.YOffset("lane:O", sort=list(range(lanes))),
            color=vega.Color(
                "label:N",
                sort=names,
                scale=vega.Scale(domain=names, range=[style.STEPS[name] for name in names]),
            ),
            tooltip=[
                "label:N",
                vega.Tooltip("start_ms:Q", format=",.3f"),
                vega.Tooltip("end_ms:Q", format=",.3f"),
                "note:N",
            ],
        )
        .properties(width="container", height=(24 * lanes + 16) * len(rows) + 20)
    )


def _in_lanes(steps: pl.DataFrame) -> pl.DataFrame:
    """The steps with the lane that each lies in: the first of its row where no earlier step goes on."""
    free: dict[str, list[float]] = {}
    lanes = []
    for row, start, end in steps.select("row", "start_ms", "end_ms").iter_rows():
        ends = free.setdefault(row, [])
        lane = next((index for index, until in enumerate(ends) if until <= start + 1e-9), len(ends))
        ends[lane : lane + 1] = [end]
        lanes.append(lane)
    return steps.with_columns(lane=pl.Series(lanes, dtype=pl.Int64))


def real(value: Any) -> float:
    """A number that a column gave, 0 where it gave none."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def time_unit(times: pl.Series) -> tuple[float, str]:
    """The unit that suits an axis of times in s: how many seconds it has, and its name."""
    span = real(times.max()) - real(times.min())
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if span >= 2 * size:
            return size, unit
    return 1.0, "s"


def _response_axis(table: pl.DataFrame) -> vega.Options:
    low, high = real(table["response_ms"].quantile(0.001)), real(table["response_ms"].max())
    scale = vega.Scale(type="log", nice=False) if low > 0 and high / low > 50 else vega.Scale(zero=True)
    return vega.Y("ms:Q", title="response (ms)", scale=scale, axis=vega.Axis(format=",~r", tickCount=6))


def op_colour(table: pl.DataFrame) -> vega.Options:
    """Reads and writes in their colours."""
    ops = [op for op in style.OPS if op in set(table["op"].unique())]
    return vega.Color("op:N", sort=ops, scale=vega.Scale(domain=ops, range=[style.OPS[op] for op in ops]))
