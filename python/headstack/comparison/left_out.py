"""The loads of a sweep at which nothing is compared, since points of theirs are lost: which, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack.counted import plural
from headstack.sweeping import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.results.comparisons import LoadLeftOut
    from headstack.sweeping.result import Sweep

NAMED = 5
"""So many loads are named, and the others counted."""
_WHY = {
    "failed": ("failed", "failed"),
    "not complete": ("is not complete", "are not complete"),
    "overloaded": ("does not keep up", "do not keep up"),
    "lost data": ("lost data", "lost data"),
    "served nothing": ("served no request", "served no request"),
}
"""What is said of one point that is lost, and of several."""


@dataclass(frozen=True)
class Load:
    """A load of the grid: what sets it, its points by number, and why some of them are not compared."""

    values: dict[str, object]
    points: list[int]
    lost: dict[int, str]

    @property
    def is_compared(self) -> bool:
        """Whether two points are left to be compared."""
        return len(self.points) - len(self.lost) > 1

    @property
    def is_left_out(self) -> bool:
        """Whether it would be compared, were all its points there, or has no point left at all."""
        return not self.is_compared and (len(self.points) > 1 or bool(self.lost))

    @property
    def why(self) -> dict[str, int]:
        """How many points are lost for each reason."""
        return dict(Counter(self.lost.values()))

    def words(self) -> str:
        """The load, and what became of its points."""
        of = len(self.points)
        told = [
            f"{count} of {plural(of, 'point')} {_WHY[reason][count > 1]}" if of > 1 else f"its point {_WHY[reason][0]}"
            for reason, count in self.why.items()
        ]
        return f"{cells.label(self.values)}, where {' and '.join(told)}"

    def row(self) -> LoadLeftOut:
        """The same for JSON."""
        return {"values": self.values, "points": self.points, "why": self.why}


def loads(sweep: Sweep, axes: Sequence[str]) -> list[Load]:
    """All loads of a grid, those of which nothing is left among them; `axes` are those that set a load."""
    lost: dict[int, str] = dict(sweep.behind)
    lost |= dict.fromkeys(sweep.incomplete, "not complete")
    lost |= {result.point.number: "failed" for result in sweep.failures}
    found: dict[tuple[object, ...], list[int]] = {}
    for point in sweep.definition.points:
        found.setdefault(tuple(point.values[name] for name in axes), []).append(point.number)
    return [
        Load(
            dict(zip(axes, values, strict=True)),
            numbers,
            {number: lost[number] for number in numbers if number in lost},
        )
        for values, numbers in found.items()
    ]


def sentences(sweep: Sweep, found: Sequence[Load]) -> list[str]:
    """What is lost of the grid beside the points that do not keep up: failed points, those without all runs, and loads."""
    of = plural(len(sweep.definition.points), "point")
    told = []
    if failed := len(sweep.failures):
        told.append(f"{failed:,} of {of} failed.")
    if missing := len(sweep.incomplete):
        told.append(f"{missing:,} of {of} {_WHY['not complete'][missing > 1]}.")
    left = [load for load in found if load.is_left_out]
    # Of loads with one point each nothing would be compared anyway.
    if left and len(found) > 1 and any(len(load.points) > 1 for load in found):
        more = f"; and {len(left) - NAMED:,} more" if len(left) > NAMED else ""
        which = "; ".join(load.words() for load in left[:NAMED])
        told.append(f"Nothing is compared at {len(left):,} of {plural(len(found), 'load')}: {which}{more}.")
    return told
