"""A robust descent: one parameter, or one exchange between parameters, at a time.

The objective is piecewise: a request that just misses its sector costs a revolution more. So each line is first probed
at several distances, then narrowed, and a change is kept only where the paired errors say that it is more than noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack.calibration.objective import Errors, Objective, difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.calibration.parameters import Choice, Number, Values

# A change that gains less than this share of the error is not worth a value in a drive file.
LEAST_SHARE = 0.0003
# How far a line is narrowed, as a share of its smallest first step.
NARROWEST = 0.05


@dataclass(frozen=True)
class Line:
    """A direction to search: parameters, each with its share of the step."""

    parts: tuple[tuple[Number, float], ...]
    steps: tuple[float, ...]

    def at(self, values: Values, step: float) -> Values | None:
        """The drive a step away; `None` outside the bounds."""
        for number, share in self.parts:
            moved = number.moved(values, share * step)
            if moved is None:
                return None
            values = moved
        return values


def single(number: Number) -> Line:
    """The line of one parameter."""
    return Line(((number, 1.0),), number.steps)


@dataclass(frozen=True)
class Point:
    """A drive and how far it is from the measured times."""

    values: Values
    errors: Errors

    @property
    def mae_ms(self) -> float:
        """Mean absolute error per request, in ms."""
        return self.errors.mae_ms


def descend(objective: Objective, start: Point, line: Line, *, small: bool = False) -> Point:
    """Search one line; the start where nothing on it is clearly better. `small` leaves out the long first steps."""
    steps = line.steps[: 1 + len(line.steps) // 2] if small else line.steps
    best_step, best = 0.0, start
    seen: dict[float, float] = {0.0: start.mae_ms}

    def probe(step: float) -> None:
        nonlocal best_step, best
        if step in seen:
            return
        point = _point(objective, line.at(start.values, step))
        seen[step] = math.inf if point is None else point.mae_ms
        if point is not None and point.mae_ms < best.mae_ms:
            best_step, best = step, point

    for step in steps:
        probe(-step)
        probe(step)
    # Narrow from half the distance to the next probe down.
    width = 0.5 * min((abs(step - best_step) for step in seen if step != best_step), default=steps[0])
    while width >= NARROWEST * steps[0]:
        centre = best_step
        probe(centre - width)
        probe(centre + width)
        if best_step == centre:
            width *= 0.5
    return best if is_better(start, best) else start


def choose(objective: Objective, start: Point, choice: Choice) -> Point:
    """Try the other values of a choice; the start where none is clearly better."""
    best = start
    now = choice.value(start.values)
    for option in choice.options:
        if option == now and type(option) is type(now):
            continue
        point = _point(objective, start.values.with_(choice.path, option))
        if point is not None and point.mae_ms < best.mae_ms:
            best = point
    return best if is_better(start, best) else start


def descend_together(objective: Objective, start: Point, numbers: Sequence[Number], least_share: float) -> Point:
    """Fit the points of a curve, and keep all of them or none.

    Neighbours are moved together before each is moved alone: a curve is smooth unless the times say otherwise.
    """
    point = start
    for width in (len(numbers), 5, 4, 3, 2, 1, 3, 1):
        for first in range(len(numbers) - width + 1):
            parts = tuple((number, 1.0) for number in numbers[first : first + width])
            if parts:
                point = descend(objective, point, Line(parts, parts[0][0].steps))
    enough = start.mae_ms - point.mae_ms >= least_share * start.mae_ms
    return point if enough and is_better(start, point, t=3.0) else start


def prune(objective: Objective, fitted: Point, before: Values, parameters: Sequence[Number | Choice]) -> Point:
    """Take back, least first, the changes that the train part does not need."""
    point = fitted
    kept: set[str] = set()
    while True:
        reverted = []
        for parameter in parameters:
            if parameter.name in kept or not parameter.changed(point.values, before):
                continue
            without = _point(objective, parameter.restored(point.values, before))
            if without is None or is_better(without, point):
                # Clearly needed now, and more so when others are gone.
                kept.add(parameter.name)
            else:
                reverted.append((without.mae_ms, without))
        if not reverted:
            return point
        point = min(reverted, key=lambda it: it[0])[1]


def is_better(before: Point, after: Point, t: float = 2.0) -> bool:
    """Whether a drive is better by more than noise, and by enough to be worth it."""
    if before.mae_ms - after.mae_ms < LEAST_SHARE * before.mae_ms:
        return False
    return difference(before.errors, after.errors).is_clear(t)


def _point(objective: Objective, values: Values | None) -> Point | None:
    errors = None if values is None else objective.errors(values)
    return None if values is None or errors is None else Point(values, errors)
