"""Limits asked of the points of a sweep. What a limit cannot be asked of is told: a job that passes in silence is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.comparison.result import broken_limits
from headstack.errors import InputError
from headstack.sweeping import cells
from headstack.sweeping.metrics import USD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.comparison.limits import Limit
    from headstack.comparison.result import Difference
    from headstack.comparison.sweep import SweepComparison
    from headstack.sweeping.definition import Definition
    from headstack.sweeping.result import Sweep

NAMED = 5
"""So many points are named, and the others counted."""


def check(limits: Sequence[Limit], definition: Definition) -> None:
    """Refuse what no point could be asked, before anything runs: metrics that a sweep does not have, other units than theirs, changes without another point."""
    for limit in limits:
        limit.check(name for name in definition.metrics if name != USD or definition.usd)
        limit.check_unit(cells.unit(limit.metric))
        if limit.is_change and not _has_rivals(definition):
            raise InputError(
                f"--fail-if `{limit.text}`: no point has another under its load to be compared with",
                f"a value is asked of every point: `{limit.metric} > …` without a sign",
            )


def judge(found: SweepComparison, limits: Sequence[Limit]) -> tuple[list[str], list[str]]:
    """What breaks the limits, and what they could not be asked of and need not be."""
    check(limits, found.sweep.definition)
    broken: list[str] = []
    untested: list[str] = []
    for limit in limits:
        # A value is asked of every point, whether there is another under its load or not.
        growing = _growing(limit, found)
        of_points = found.differences if limit.is_change else found.alone()
        asked = {number: each for number, each in of_points.items() if number not in growing}
        without = _without_result(limit, found)
        _check_known(limit, list(asked.values()), found.sweep.definition, is_sure=not without)
        broken += broken_limits([limit], [each for each in asked.values() if limit.metric in each.metrics]) + without
        lacking = [number for number, each in asked.items() if limit.metric not in each.metrics]
        if rest := [number for number in lacking if not found.is_idle(number)]:
            untested.append(f"{limit.text}: {named(found.sweep, rest)}: no {_what(limit)}")
    return broken, untested


def _growing(limit: Limit, found: SweepComparison) -> list[int]:
    """The points whose value is one of a queue that grows: within the limit, it would not be after a longer run."""
    if not limit.metric.startswith(("response_ms.", "phases_ms.")):
        return []
    return [number for number, why in found.sweep.behind.items() if why == "overloaded"]


def _has_rivals(definition: Definition) -> bool:
    """Whether two points are under the same load."""
    loads = [axis.name for axis in definition.axes if axis.is_load]
    return len({tuple(point.values[name] for name in loads) for point in definition.points}) < len(definition.points)


def _what(limit: Limit) -> str:
    return f"change of {limit.metric}" if limit.is_change else limit.metric


def _check_known(limit: Limit, asked: Sequence[Difference], definition: Definition, *, is_sure: bool) -> None:
    """Refuse a metric that no point has; where some have no result at all, these are the answer."""
    known = [name for name in definition.metrics if any(name in each.metrics for each in asked)]
    if is_sure and limit.metric not in known:
        hint = f"known: {', '.join(known)}" if known else "no request was complete in time"
        raise InputError(f"--fail-if `{limit.text}`: no point has a {_what(limit)}", hint)


def _without_result(limit: Limit, found: SweepComparison) -> list[str]:
    """The points that have nothing to ask: they failed, were not run to the end, do not keep up, lost data or had no request that was complete."""
    failed = [point.point.number for point in found.sweep.failures]
    told = [f"{limit.text}: {named(found.sweep, failed)}: failed, so that there is no value"] if failed else []
    if rest := found.sweep.incomplete:
        told.append(f"{limit.text}: {named(found.sweep, rest)}: not complete (`headstack sweep … --resume` goes on)")
    if growing := _growing(limit, found):
        told.append(
            f"{limit.text}: {named(found.sweep, growing)}: not keeping up, so that times grow with the length of the run"
        )
    if found.without_data:
        told.append(
            f"{limit.text}: {named(found.sweep, found.without_data)}: lost data, so that its values do not count"
        )
    if idle := [point.point.number for point in found.points if found.is_idle(point.point.number)]:
        told.append(f"{limit.text}: {named(found.sweep, idle)}: no request was complete in time")
    return told


def named(sweep: Sweep, numbers: Sequence[int]) -> str:
    """Points by their numbers and labels, the first ones of many."""
    grid = sweep.definition.points
    text = "; ".join(f"point {number} ({cells.label(grid[number].values)})" for number in numbers[:NAMED])
    more = len(numbers) - NAMED
    return f"{text}; and {more:,} more" if more > 0 else text
