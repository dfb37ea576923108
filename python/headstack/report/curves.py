"""Lines of a number against another one, a line for each of several names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from headstack.report import style

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
) -> alt.Chart:
    """A line with its points for each name; colours repeat with other dashes after eight names."""
    names = list(curves)
    points = pl.DataFrame(
        [{"curve": name, "x": float(a), "y": float(b)} for name in names for a, b in curves[name]],
        schema={"curve": pl.String, "x": pl.Float64, "y": pl.Float64},
    )
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
    # A row of the legend holds few enough for half a page.
    legend = alt.Legend(columns=5, symbolType="stroke", symbolSize=300)
    dashes = [DASHES[index // len(COLOURS) % len(DASHES)] for index in range(len(names))]
    return (
        alt.Chart(points)
        .mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.8)
        .encode(
            x=_x(x, is_log=log[0]),
            y=_y(y, is_log=log[1]),
            color=alt.Color("curve:N", sort=names, scale=alt.Scale(domain=names, range=colours), legend=legend),
            strokeDash=alt.StrokeDash(
                "curve:N", sort=names, scale=alt.Scale(domain=names, range=dashes), legend=legend
            ),
            order="x:Q",
            tooltip=["curve:N", alt.Tooltip("x:Q", format="~r"), alt.Tooltip("y:Q", format=".3f")],
        )
        .properties(width="container", height=height)
    )


def _scale(*, is_log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)


def _x(title: str, *, is_log: bool) -> alt.X:
    return alt.X("x:Q", title=title, scale=_scale(is_log=is_log), axis=alt.Axis(format="~r", tickCount=8))


def _y(title: str, *, is_log: bool) -> alt.Y:
    return alt.Y("y:Q", title=title, scale=_scale(is_log=is_log), axis=alt.Axis(format="~r", tickCount=6))
