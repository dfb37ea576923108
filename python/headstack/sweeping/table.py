"""The points of a sweep as a table: axes, how often each was run, whether it keeps up, metrics with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.sweeping import behind, cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.shown import Shown
    from headstack.sweeping.result import PointResult, Sweep


def columns(sweep: Sweep, points: Sequence[PointResult]) -> list[str]:
    """The heads; whether points keep up is a column where one of them does not."""
    axes = [axis.name for axis in sweep.definition.axes]
    marked = ["keeps up"] if any(point.point.number in sweep.behind for point in points) else []
    return ["point", *axes, "runs", *marked, *cells.columns(sweep.definition.metrics)]


def rows(sweep: Sweep, points: Sequence[PointResult], more: Sequence[Sequence[Shown]] = ()) -> list[list[str]]:
    """A row for each point; `more` are the cells of further columns."""
    told: list[Sequence[str]] = [
        cells.column([point.estimate(name) for point in points]) for name in sweep.definition.metrics
    ]
    if any(point.point.number in sweep.behind for point in points):
        told.insert(0, [behind.mark(sweep.behind.get(point.point.number)) for point in points])
    return [
        [str(point.point.number), *map(str, point.values.values()), str(len(point.runs)), *own]
        for point, *own in zip(points, *told, *more, strict=True)
    ]
