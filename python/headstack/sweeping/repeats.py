"""How sure a mean over seeds is, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.sweeping.definition import Definition, Stop


@dataclass(frozen=True)
class Estimate:
    """The mean over seeds and half the width of its 95 % interval, which a single run does not have."""

    mean: float
    ci95: float | None


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """The estimate from the runs of a point; `None` where a run lacks the number."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Estimate(*_core.mean_interval(known))


def wanted(definition: Definition, done: dict[int, float | None]) -> list[int]:
    """The seeds that a point needs, given the stopping metric of those that are done: a failed run has `None`."""
    count, stop = len(definition.seeds), definition.stop
    while stop is not None and count < stop.most:
        seeds = [definition.seed(repeat) for repeat in range(count)]
        if any(seed not in done for seed in seeds) or is_enough(stop, [done[seed] for seed in seeds]):
            break
        count += 1
    return [definition.seed(repeat) for repeat in range(count)]


def ci95_note(definition: Definition) -> str | None:
    """That intervals by which repeats were ended hold the mean less often, in the numbers of docs/guides/sweep-a-grid.md."""
    stop = definition.stop
    if stop is None or stop.most <= len(definition.seeds):
        return None
    return (
        f"[stop] ended the repeats by the interval of {stop.metric}, so that fewer than 95 % of the intervals hold the mean: "
        "in trials 87 to 91 % where points begin with 3 repeats, 93 to 95 % with 10, and less where `most` hardly suffices"
    )


def is_enough(stop: Stop, values: Sequence[float | None]) -> bool:
    """Whether the interval is narrow enough, or more runs would not make it so."""
    found = estimate(values)
    if found is None or found.ci95 is None:
        return True
    return found.ci95 <= stop.within_percent / 100 * abs(found.mean)
