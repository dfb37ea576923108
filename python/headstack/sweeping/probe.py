"""A look at a sweep before it runs: whether any of it runs at all, and whether its runs have what is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack import unusual
from headstack.errors import HeadstackError, InputError
from headstack.sweeping import metrics
from headstack.sweeping import settings as of_points
from headstack.sweeping.definition import settings_without
from headstack.sweeping.run import Task, run_task
from headstack.sweeping.settings import Built

if TYPE_CHECKING:
    from headstack.sweeping.definition import Definition, Point

_TRIED = 1000


def check(definition: Definition) -> None:
    """Refuse a sweep of which no point can be run, and metrics that no run has."""
    first: HeadstackError | None = None
    for point in definition.points[:_TRIED]:
        try:
            built = point.settings.build()
        except HeadstackError as problem:
            first = first or problem
            continue
        replay = tuple(pair for pair in built.run if pair[0] == "replay")
        shortest = Built(built.system, built.requests, (("requests", 1), *replay))
        record = run_task(Task(point.number, definition.seeds[0], shortest))
        if record.error is None:
            metrics.check(definition.metrics, record.summary)
            return
        first = first or InputError(record.error, record.hint)
    assert first is not None  # noqa: S101 (a sweep has a point)
    raise InputError(f"{definition.path}: {_culprit(definition, definition.points[0])}{first}", first.hint)


def tell_unusual(definition: Definition) -> None:
    """Tell values that no known drive has: each value of each axis is looked at once, whatever the others are."""
    seen: set[object] = set()
    for point in definition.points:
        name, overrides = point.settings.system, point.settings.overrides
        new = {name, *((name, each) for each in overrides)} - seen
        seen |= new
        if new and not unusual.is_known(name, overrides):
            try:
                system = of_points.system(name, overrides)
            except HeadstackError:
                continue
            unusual.tell(system)


def _culprit(definition: Definition, point: Point) -> str:
    """The axis without which the point could be built, for the message."""
    for number, axis in enumerate(definition.axes):
        try:
            settings_without(definition, point, axis).build()
        except HeadstackError:
            continue
        return f"axis.{number} (`{axis.name}`): "
    return ""
