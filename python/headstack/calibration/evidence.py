"""What the train part says about each parameter: what its change gained, and within what range it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack.calibration.objective import Objective, difference

if TYPE_CHECKING:
    from headstack.calibration.parameters import Number, Values
    from headstack.calibration.search import Point

# A value is out where the paired errors, by blocks, are worse by this many standard errors (two-sided 5 %, 23 degrees).
CLEARLY_WORSE = 2.07
BISECTIONS = 6


@dataclass(frozen=True)
class Range:
    """The values that fit as well as the fitted one; an end is `None` where nothing up to the farthest probe was worse."""

    low: float | None
    high: float | None

    @property
    def identifiable(self) -> bool:
        """Whether the measured times bound the value on both sides."""
        return self.low is not None and self.high is not None


def known_range(objective: Objective, fitted: Point, number: Number) -> Range:
    """Find the range within which the objective cannot be told from its best, the other parameters held."""
    return Range(_edge(objective, fitted, number, -1.0), _edge(objective, fitted, number, 1.0))


def _edge(objective: Objective, fitted: Point, number: Number, sign: float) -> float | None:
    best = number.value(fitted.values)

    def worse(step: float) -> bool | None:
        moved = number.moved(fitted.values, sign * step)
        errors = None if moved is None else objective.errors(moved)
        if errors is None:
            return None
        return difference(errors, fitted.errors).t >= CLEARLY_WORSE

    def place(step: float) -> float:
        away = best * step if number.relative else step
        return round(best + sign * away, number.digits + 1)

    room = (best - number.low) if sign < 0.0 else (number.high - best)
    if number.relative:
        room /= best
    inside, outside = 0.0, None
    for step in _ladder(number, room):
        verdict = worse(step)
        if verdict is None:
            return None
        if verdict:
            outside = step
            break
        inside = step
    if outside is None:
        return None
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        if worse(middle):
            outside = middle
        else:
            inside = middle
        if outside - inside < 0.02 * number.steps[0]:
            break
    return place(outside)


def _ladder(number: Number, room: float) -> list[float]:
    # Never past the bounds of physics, but up to them.
    step, last = 0.1 * number.steps[0], min(2.0 * number.steps[-1], room)
    steps = []
    while step < last:
        steps.append(step)
        step *= 3.0
    return [*steps, last] if last > 0.0 else steps


def gain(objective: Objective, fitted: Point, without: Values) -> dict[str, float | bool]:
    """What is lost when one value goes back to what it was: ms per request, percent, and standard errors of it."""
    errors = objective.errors(without)
    if errors is None:
        return {"gain_ms": 0.0, "gain_percent": 0.0, "t": 0.0}
    found = difference(errors, fitted.errors)
    return {
        "gain_ms": found.gain_ms,
        "gain_percent": 100.0 * found.gain_ms / errors.mae_ms if errors.mae_ms else 0.0,
        # Infinite where every block gains the same; JSON has no such number.
        "t": max(-1e6, min(found.t, 1e6)),
    }
