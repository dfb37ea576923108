"""Lines of a number against another one, a line for each of several names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from headstack.report import style, vega
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = (
    style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.SKY, style.PURPLE, style.GREY, "#000000",
)  # fmt: skip
DASHES = ([1, 0], [5, 3], [2, 2])


def lines(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    x: str,
    y: str,
    *,
    log: tuple[bool, bool] = (False, False),
    height: int = 320,
) -> Chart:
    """A line with its points for each name; colours repeat with other dashes after eight names."""
    names = list(curves)
    points = pl.DataFrame(
        [{"curve": name, "x": float(a), "y": float(b)} for name in names for a, b in curves[name]],
        schema={"curve": pl.String, "x": pl.Float64, "y": pl.Float64},
    )
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
    # A row of the legend holds few enough for half a page.
    legend = vega.Legend(columns=5, symbolType="stroke", symbolSize=300)
    dashes = [DASHES[index // len(COLOURS) % len(DASHES)] for index in range(len(names))]
    return (
        Chart(points)
        .mark("line", point=vega.Marks(size=18), strokeWidth=1.8)
        .encode(
            x=_x(x, is_log=log[0]),
            y=_y(y, is_log=log[1]),
            color=vega.Color("curve:N", sort=names, scale=vega.Scale(domain=names, range=colours), legend=legend),
            strokeDash=vega.StrokeDash(
                "curve:N", sort=names, scale=vega.Scale(domain=names, range=dashes), legend=legend
            ),
            order="x:Q",
            tooltip=["curve:N", vega.Tooltip("x:Q", format=",~r"), vega.Tooltip("y:Q", format=",.3f")],
        )
        .properties(width="container", height=height)
    )


def _scale(*, is_log: bool) -> vega.Options:
    return vega.Scale(type="log", nice=False) if is_log else vega.Scale(zero=False)


def _x(title: str, *, is_log: bool) -> vega.Options:
    return vega.X("x:Q", title=title, scale=_scale(is_log=is_log), axis=vega.Axis(format=",~r", tickCount=8))


def _y(title: str, *, is_log: bool) -> vega.Options:
    return vega.Y("y:Q", title=title, scale=_scale(is_log=is_log), axis=vega.Axis(format=",~r", tickCount=6))
