"""Runs of a system under a workload, several seeds each, side by side on all cores; means with their 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypeVar

import headstack
from headstack.threads import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Found = TypeVar("Found")

# The lowest of the three bits of `flags` that number a duration limit.
LIMITED = 64

# Two-sided 95 % points of Student's t, by degrees of freedom.
STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


@dataclass(frozen=True)
class Case:
    """A system under a workload.

    The same workload with the same seed makes the same requests whatever the system: cases that share both can be
    compared request for request.
    """

    drive: str
    workload: str
    overrides: tuple[tuple[str, str], ...] = ()
    seed: int = 1
    warmup: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a run came to; times in ms, all of them of the response."""

    mean: float
    p95: float
    p99: float
    p999: float
    longest: float
    limited_p99: float
    """Of the requests under a duration limit; 0 if there are none."""
    others_p99: float
    std: float
    positioning: float
    """Seek and rotation of a request, its mean."""
    per_request: float
    """Simulated time over requests."""
    requests: int
    waiting: int
    """How many requests were not complete when the last one arrived."""

    @property
    def keeps_up(self) -> bool:
        """Whether the requests left at the end are no more than a passing burst leaves."""
        return self.waiting <= max(100, self.requests // 50)


def run_one(case: Case) -> Outcome:
    """Run a case."""
    import polars as pl

    result = headstack.simulate(
        headstack.System(case.drive, overrides=list(case.overrides)),
        headstack.Workload(toml=case.workload),
        seed=case.seed,
        warmup_requests=case.warmup,
    )
    summary = result.summary
    finish, arrival = pl.col("finish_ns"), pl.col("arrival_ns")
    rows = pl.DataFrame(result.completions).select(
        ms=(finish - arrival) / 1e6, is_limited=pl.col("flags") // LIMITED % 8 > 0
    )
    response = rows["ms"]
    limited, others = (rows.filter(pl.col("is_limited") == is_limited)["ms"] for is_limited in (True, False))
    times, busy = summary["response_ms"], summary["busy_ms"]
    return Outcome(
        mean=times["mean"],
        p95=response.quantile(0.95, "higher") or 0.0,
        p99=times["p99"],
        p999=times["p999"],
        longest=times["max"],
        limited_p99=limited.quantile(0.99, "higher") or 0.0,
        others_p99=others.quantile(0.99, "higher") or 0.0,
        std=times["std"],
        positioning=busy["seek"] + busy["rotation"],
        per_request=1000 / summary["iops"],
        requests=summary["requests"],
        waiting=summary["in_flight_drained"],
    )


def run_all(cases: Iterable[Case]) -> dict[Case, Outcome]:
    """Run the cases, as many at a time as there are cores."""
    ordered = list(dict.fromkeys(cases))
    with Pool() as pool:
        return dict(zip(ordered, pool.map(run_one, ordered), strict=True))


def each(function: Callable[..., Found], arguments: Iterable[tuple[object, ...]]) -> list[Found]:
    """Call a function that runs something, as many calls at a time as there are cores."""
    with Pool() as pool:
        return list(pool.map(lambda one: function(*one), arguments))


def estimate(values: Sequence[float]) -> tuple[float, float]:
    """Mean of independent values and the half-width of its 95 % interval (Student); they must be at least two."""
    return fmean(values), STUDENT_95[len(values) - 2] * stdev(values) / sqrt(len(values))


def next_value_within(values: Sequence[float]) -> float:
    """How far from their mean one more such value lies at most, 19 times in 20 (prediction interval)."""
    return STUDENT_95[len(values) - 2] * stdev(values) * sqrt(1 + 1 / len(values))
