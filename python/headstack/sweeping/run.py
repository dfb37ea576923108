"""One run of a sweep: a self-contained task in, a record out, on whatever machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headstack.errors import HeadstackError, Interrupted

if TYPE_CHECKING:
    from headstack.sweeping.settings import Built, Settings

GoesOn = Callable[[], bool]


@dataclass(frozen=True)
class Task:
    """A point with a seed."""

    point: int
    seed: int
    settings: Settings | Built

    def portable(self) -> Task:
        """The same with all files but the trace read, for another machine."""
        return Task(self.point, self.seed, self.settings.build())


@dataclass(frozen=True)
class Record:
    """What a task came to: the summary of its run and the distribution of its responses, or why there are none."""

    point: int
    seed: int
    summary: dict[str, Any] = field(default_factory=dict)
    cdf: list[tuple[float, float]] = field(default_factory=list)
    """Times in ms, and the share of requests that took no longer."""
    wall_s: float = 0.0
    error: str | None = None
    hint: str | None = None


def run_task(task: Task, goes_on: GoesOn | None = None) -> Record:
    """Run a task in this thread. What is wrong with the input becomes its record; `goes_on` may stop it."""
    from headstack.run import simulate
    from headstack.unusual import told_before

    begun = time.perf_counter()
    try:
        built = task.settings.build()
        with told_before():
            run = simulate(
                built.system,
                built.requests,
                seed=task.seed,
                keep=False,
                threads=1,
                progress=None if goes_on is None else lambda *_: goes_on(),
                **dict(built.run),
            )
    except Interrupted:
        raise
    except (HeadstackError, OSError, MemoryError) as problem:
        return failed(task, problem)
    # Without the one figure that is not the same in every run of the same thing.
    summary = {key: value for key, value in run.summary.items() if key != "wall_s"}
    cdf = [(ms, share) for ms, share in run.plots["response_cdf"]]
    return Record(task.point, task.seed, summary, cdf, time.perf_counter() - begun)


def failed(task: Task, problem: BaseException) -> Record:
    """The record of a task that came to nothing."""
    text = " ".join(str(problem).split()) or type(problem).__name__
    return Record(task.point, task.seed, error=text, hint=getattr(problem, "hint", None))
