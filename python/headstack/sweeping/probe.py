"""A look at a sweep before it runs: whether any of it runs at all, and whether its runs have what is asked for."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from headstack import _core, unusual
from headstack.errors import HeadstackError, InputError
from headstack.sweeping import metrics
from headstack.sweeping import settings as of_points
from headstack.sweeping.definition import settings_without
from headstack.sweeping.reading import nearest, typed
from headstack.sweeping.run import Task, run_task
from headstack.sweeping.settings import Built

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headstack.sweeping.definition import Definition, Point

_TRIED = 1000
_OTHER_KIND = re.compile(r" is not (?:a number|a whole number|text\b)")
_NO_PARAMETER = re.compile("cannot set `([^`]*)`: unknown field")


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
            _check_paths(definition)
            _check_mixed(definition)
            _check_prices(definition)
            return
        first = first or InputError(record.error, record.hint)
    assert first is not None  # noqa: S101 (a sweep has a point)
    raise InputError(
        f"{definition.path}: {_culprit(definition, definition.points[0])}{first}", definition.hint(first.hint)
    )


def _check_paths(definition: Definition) -> None:
    """Refuse a path that names no parameter at any of the points that set it: all of them would fail."""
    for number, axis in enumerate(definition.axes):
        for path in axis.paths:
            if problem := _unknown(path, (p for p in definition.points if path in dict(p.choices[number].sets))):
                raise InputError(f"{definition.path}: axis.{number} (`{axis.name}`): {problem}", problem.hint)


def _unknown(path: str, points: Iterable[Point]) -> HeadstackError | None:
    """Why nothing has a parameter of this path, if nothing has one; each system is asked once with each load."""
    first: HeadstackError | None = None
    asked: set[object] = set()
    for point in points:
        asks = (point.settings.system, point.settings.workload)
        if asks in asked:
            continue
        asked.add(asks)
        try:
            point.settings.build()
        except HeadstackError as problem:
            # The path may be told from the drive or the workload on.
            told = _NO_PARAMETER.search(str(problem))
            if told is None or not f".{path}".endswith(f".{told[1]}"):
                return None
            first = first or problem
        else:
            return None
    return first


def _check_mixed(definition: Definition) -> None:
    """Refuse, on an axis of numbers and texts, the values of the kind that its parameter does not take."""
    for number, axis in enumerate(definition.axes):
        kinds = {isinstance(choice.label, str) for choice in axis.choices if len(choice.sets) == 1}
        for choice in axis.choices if len(kinds) == 2 else ():
            point = next((each for each in definition.points if choice in each.choices), None)
            try:
                if point is not None:
                    point.settings.build()
            except HeadstackError as problem:
                if _OTHER_KIND.search(str(problem)):
                    where = f"{definition.path}: axis.{number} (`{axis.name}`)"
                    raise InputError(f"{where}: {problem}", definition.hint(problem.hint)) from None


def _check_prices(definition: Definition) -> None:
    """Refuse the price of a drive that no system of the grid has, nor the library."""
    models: dict[str, None] = {}
    for name in dict.fromkeys(point.settings.system for point in definition.points if definition.usd):
        try:
            models |= dict.fromkeys(model for _, model in of_points.system(name, ()).drives)
        except HeadstackError:
            # It is made whole by an axis, or its points fail: nobody knows its drives here.
            return
    for name in definition.usd:
        try:
            known = name in models or _core.Drive(name)
        except HeadstackError:
            known = False
        if not known:
            raise InputError(f"{definition.path}: usd: there is no drive `{name}`", nearest(name, models))


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
    """The axis without which the point could be built, for the message: none where it can be, and only its run fails."""
    with suppress(HeadstackError):
        point.settings.build()
        return ""
    for number, axis in enumerate(definition.axes):
        try:
            settings_without(definition, point, axis).build()
        except HeadstackError:
            continue
        value = next((value for choice in axis.choices for _, value in choice.sets if choice in point.choices), None)
        # What is wrong with a list or a table is told without saying which.
        what = f" {typed(value)}:" if isinstance(value, (list, dict)) else ""
        return f"axis.{number} (`{axis.name}`):{what} "
    return ""
