"""Charts of a model's error. Each takes the table of `headstack.residuals.residual_frame`.

Errors are drawn on an axis that is linear within 0.1 ms of zero and logarithmic beyond: a model that is right to some
hundredths of a ms and a whole revolution off in one request of fifty shows both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from headstack.report import charts, style, vega
from headstack.report.vega import Chart
from headstack.residuals import GUESSES, OPS, worst

EVEN, WORST = 1000, 200
"""A scatter has about so many requests at even steps, and so many of the largest errors."""

LEAST = 8
"""A bin of fewer requests has no 10 and 90 % to speak of, and is not drawn."""

LINEAR_MS = 0.1
"""Where the error's axis turns from linear to logarithmic."""

_QUANTILES = {"p1": 0.01, "p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99}
_BINS = 30
# Bins of the histogram on either side of zero.
_HALF = 90
_SIZE = 240


@dataclass(frozen=True)
class Against:
    """What an error is drawn against: a column of the table, divided by `unit`."""

    column: str
    title: str
    unit: float = 1.0
    scale: Literal["linear", "log"] = "linear"
    format: str = "~r"


def boxes(frame: pl.DataFrame) -> Chart:
    """The error by direction and the model's guess: median, quarters, 10 to 90 % and 1 to 99 %."""
    quantiles = {name: pl.col("error_ms").quantile(share, "linear") for name, share in _QUANTILES.items()}
    kinds = (
        frame.group_by("op", "guess")
        .agg(requests=pl.len(), **quantiles)
        .sort("op", "guess")
        .with_columns(
            kind=pl.concat_str(pl.col("op").replace_strict(OPS), pl.lit(" "), pl.col("guess").replace_strict(GUESSES))
        )
    )
    low, high = charts.real(kinds["p1"].min()), charts.real(kinds["p99"].max())
    base = Chart(kinds).encode(
        y=vega.Y("kind:N", title=None, sort=None, axis=vega.Axis(labelLimit=260)),
        color=charts.op_colour(frame),
        tooltip=["kind:N", vega.Tooltip("requests:Q", format=",")]
        + [vega.Tooltip(f"{name}:Q", title=f"{name} (ms)", format=",.3f") for name in _QUANTILES],
    )

    def span(start: str, end: str) -> Chart:
        axis = _error_axis(vega.X, start, low, high)
        return base.encode(x=axis, x2=f"{end}:Q")

    return vega.layer(
        Chart(kinds).mark("rule", color="#999").encode(x=vega.datum(0)),
        span("p1", "p99").mark("rule", strokeWidth=1),
        span("p10", "p90").mark("rule", strokeWidth=4, opacity=0.5),
        span("p25", "p75").mark("bar", height=16),
        base.encode(x=_error_axis(vega.X, "median", low, high), color=vega.value("black")).mark(
            "tick", thickness=2, height=22
        ),
        width="container",
        height=36 * len(kinds) + 20,
    )


def histogram(frame: pl.DataFrame, rotation_ms: float | None) -> Chart:
    """Error histogram; rules where it is one revolution."""
    low, high = (charts.real(frame["error_ms"].quantile(share)) for share in (0.001, 0.999))
    reach = 1.25 * rotation_ms if rotation_ms else max(-low, high, 0.1)
    width = reach / _HALF
    counts = (
        frame.filter(pl.col("error_ms").abs() < reach)
        .group_by("op", bin=(pl.col("error_ms") / width).round())
        .agg(requests=pl.len())
        .sort("op", "bin")
    )
    # Bins without a request count, too: the line goes down to 0 there.
    bins = pl.DataFrame({"bin": range(-_HALF, _HALF + 1)}, schema={"bin": pl.Float64})
    filled = (
        bins.join(counts.select("op").unique(), how="cross")
        .join(counts, on=["op", "bin"], how="left")
        .with_columns(pl.col("requests").fill_null(0), error_ms=(pl.col("bin") * width).round(4))
        .sort("op", "bin")
        .select("op", "error_ms", "requests")
    )
    lines = (
        Chart(filled)
        .mark("line", interpolate="step", strokeWidth=1.5)
        .encode(
            x=vega.X(
                "error_ms:Q",
                title="error, model − measured (ms)",
                scale=vega.Scale(domain=[-reach, reach], nice=False),
                axis=vega.Axis(tickCount=12),
            ),
            y=vega.Y(
                "requests:Q",
                title="requests",
                scale=vega.Scale(type="symlog", constant=1),
                axis=vega.Axis(values=_powers(charts.real(filled["requests"].max())), format=",d"),
            ),
            color=charts.op_colour(frame),
            tooltip=["op:N", vega.Tooltip("error_ms:Q", format=",.2f"), vega.Tooltip("requests:Q", format=",")],
        )
    )
    marks = [0.0] if rotation_ms is None else [-rotation_ms, 0.0, rotation_ms]
    rules = Chart(pl.DataFrame({"ms": marks})).mark("rule", color="#999", strokeDash=[4, 3]).encode(x="ms:Q")
    return vega.layer(rules, lines, width="container", height=_SIZE)


def against(frame: pl.DataFrame, what: Against) -> Chart:
    """The error against something: dots for some requests; median, and 10 to 90 % as a band, in bins."""
    table = frame.select("id", "op", "error_ms", x=pl.col(what.column) / what.unit)
    dots = table.gather_every(-(-len(table) // EVEN) or 1)
    dots = pl.concat([dots, worst(table, WORST)]).unique("id").sort("id")
    low, high = charts.real(dots["error_ms"].min()), charts.real(dots["error_ms"].max())
    x = _x_axis(table["x"], what)
    y = _error_axis(vega.Y, "error_ms", low, high)
    colour = charts.op_colour(frame)
    points = (
        Chart(dots.with_columns(pl.col("x", "error_ms").round_sig_figs(4)))
        .mark("circle", size=9, opacity=0.35)
        .encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[
                vega.Tooltip("id:Q", title="request", format="d"),
                "op:N",
                vega.Tooltip("x:Q", title=what.title, format=what.format),
                vega.Tooltip("error_ms:Q", title="error (ms)", format=",.3f"),
            ],
        )
    )
    binned = Chart(_bins(table, what.scale)).encode(x=x, color=colour)
    band = binned.mark("area", opacity=0.22).encode(y=_error_axis(vega.Y, "p10", low, high), y2="p90:Q")
    median = binned.mark("line", strokeWidth=2, point={"size": 16}).encode(
        y=_error_axis(vega.Y, "median", low, high),
        tooltip=[
            "op:N",
            vega.Tooltip("requests:Q", format=","),
            *(vega.Tooltip(f"{name}:Q", title=f"{name} (ms)", format=",.3f") for name in ("p10", "median", "p90")),
        ],
    )
    return vega.layer(points, band, median, width="container", height=_SIZE)


def _bins(table: pl.DataFrame, scale: str) -> pl.DataFrame:
    """Median, 10 and 90 % of the error in bins of x: single values where they are few, else powers of 2 or even steps."""
    x = pl.col("x")
    low, high = charts.real(table["x"].min()), charts.real(table["x"].max())
    if table["x"].n_unique() <= _BINS:
        bin_ = x
    elif scale == "log":
        bin_ = (x + 1).log(2).floor()
    else:
        bin_ = ((x - low) / (high - low) * _BINS).floor().clip(0, _BINS - 1)
    return (
        table.group_by("op", bin=bin_)
        .agg(
            requests=pl.len(),
            x=x.median(),
            **{name: pl.col("error_ms").quantile(_QUANTILES[name], "linear") for name in ("p10", "median", "p90")},
        )
        .filter(pl.col("requests") >= LEAST)
        .sort("op", "bin")
        .drop("bin")
        .with_columns(pl.col("x", "p10", "median", "p90").round_sig_figs(4))
    )


def _x_axis(values: pl.Series, what: Against) -> vega.Options:
    if what.scale == "linear":
        return vega.X(
            "x:Q",
            title=what.title,
            scale=vega.Scale(zero=False, nice=False),
            axis=vega.Axis(format=what.format, tickCount=6),
        )
    return vega.X(
        "x:Q",
        title=what.title,
        scale=vega.Scale(type="symlog", constant=1, zero=False, nice=False),
        axis=vega.Axis(values=_powers(charts.real(values.max())), format=",d"),
    )


def _powers(high: float) -> list[int]:
    """0 and the powers of 10 up to `high`."""
    return [0, *(10**power for power in range(8) if 10**power <= high)]


def _error_axis(channel: Any, field: str, low: float, high: float) -> Any:
    steps = [sign * mantissa * 10.0**power for power in range(-1, 5) for mantissa in (1, 3) for sign in (-1, 1)]
    # Room for the outermost dots.
    low, high = 1.2 * min(low, -LINEAR_MS), 1.2 * max(high, LINEAR_MS)
    ticks = [0.0, *(step for step in sorted(steps) if low <= step <= high)]
    return channel(
        f"{field}:Q",
        title="error, model − measured (ms)",
        scale=vega.Scale(type="symlog", constant=LINEAR_MS, domain=[low, high], nice=False),
        axis=vega.Axis(values=ticks, format=",.1~f"),
    )


def error_cdf(curves: dict[str, pl.Series]) -> Chart:
    """Cumulative distributions of the size of the error."""
    # The axis is logarithmic, and some errors are 0.
    sizes = {name: errors.abs().clip(0.001) for name, errors in curves.items()}
    colours = dict(zip(sizes, (style.BLUE, style.GREY), strict=False))
    return charts.cdf(sizes, colours, "size of the error, |model − measured| (ms)")
