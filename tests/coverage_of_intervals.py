"""Counts how often intervals hold the truth, those of `compare` and that of a run's mean: the tables of docs/guides/compare-runs.md.

    make coverage PAIRS=60

Runs with two seeds have a change of zero. Of the paired ones the truth is the change over all pairs together: what chance leaves in that is
an eighth of what it does to one pair, of 60.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

import headstack
from headstack.comparison.resampling import statistics

if TYPE_CHECKING:
    from headstack.run import Run

METRICS = ("mean", "p50", "p90", "p99")
FIRST_SEED = 7_000


def every(mean_ms: float, read_fraction: float = 0.6, *more: str) -> headstack.Workload:
    """4 KiB at random, as requests of their own come at such a mean interval."""
    lines = [
        "seed = 1",
        "requests = 1_000_000",
        "[[stream]]",
        f"read_fraction = {read_fraction}",
        "sequential_fraction = 0.0",
        "size.fixed_kib = 4",
        "align_kib = 4",
        f"inter_arrival.exponential_ms = {mean_ms}",
        *more,
    ]
    return headstack.Workload(toml="\n".join(lines))


@dataclass(frozen=True)
class Case:
    """A run, and what another differs from it by: its seed, or values of the drive."""

    title: str
    drive: str
    workload: str | headstack.Workload
    overrides: dict[str, object] | None = None


BURSTS = "burst = { every.exponential_ms = 2_000, requests.exponential = 40 }"
CASES = (
    Case("Cheetah 9LP, 4 KiB at random, every 30 ms, two seeds", "cheetah-9lp", every(30)),
    Case("HP 97560, `unix-like`, two seeds", "hp-97560", "unix-like"),
    Case("HP 97560, `unix-like`, 4,002 and 4,300 rpm, paired", "hp-97560", "unix-like", {"rotation_rpm": 4300}),
    Case("nearline-18tb, reads in bursts of some 40, two seeds", "nearline-18tb", every(5, 1.0, BURSTS)),
    Case("Cheetah 9LP, every 10.5 ms (84 % busy), two seeds", "cheetah-9lp", every(10.5)),
    Case("the same, 10,045 and 9,800 rpm, paired", "cheetah-9lp", every(10.5), {"rotation_rpm": 9800}),
)


def times_ms(run: Run) -> pl.Series:
    rows = pl.DataFrame(run.completions)
    return (rows["finish_ns"] - rows["arrival_ns"]) / 1e6


def pair(case: Case, number: int, requests: int) -> tuple[Run, Run]:
    seed = FIRST_SEED + 2 * number
    other = seed + 1 if case.overrides is None else seed
    return (
        headstack.simulate(case.drive, case.workload, seed=seed, requests=requests),
        headstack.simulate(case.drive, case.workload, seed=other, requests=requests, overrides=case.overrides),
    )


def row(case: Case, pairs: int, requests: int) -> str:
    """A row of the table: of those pairs that had an interval, how many hold the truth."""
    pooled: tuple[list[pl.Series], list[pl.Series]] = ([], [])
    intervals: dict[str, list[list[float]]] = {name: [] for name in METRICS}
    for number in range(pairs):
        runs = pair(case, number, requests)
        for times, run in zip(pooled, runs, strict=True):
            times.append(times_ms(run))
        metrics = headstack.compare(*runs).summary["compared"][0]["metrics"]
        for name, found in intervals.items():
            if (interval := metrics[name]["change_ci95"]) is not None:
                found.append(interval)
    before, after = (statistics(pl.concat(times)) for times in pooled)
    cells = []
    for name, found in intervals.items():
        truth = 0.0 if case.overrides is None else after[name] - before[name]
        held = sum(low <= truth <= high for low, high in found)
        share = f"{100 * held / len(found):.0f} %" if found else "none"
        cells.append(share if len(found) == pairs or not found else f"{share} ({len(found)})")
    return f"| {case.title} | {' | '.join(cells)} |"


def means(share: int, every_ms: float, runs: int) -> str:
    """A row of the other table: of those runs that had an interval for their mean, how many hold the truth."""
    load = every(every_ms)
    truth = fmean(headstack.simulate("cheetah-9lp", load, seed=900 + each, requests=300_000).summary["response_ms"]["mean"]
                  for each in range(3))  # fmt: skip
    cells = []
    for requests in (500, 3_000, 20_000):
        found = [
            headstack.simulate("cheetah-9lp", load, seed=seed, requests=requests).summary["response_ms"]
            for seed in range(runs)
        ]
        known = [(times["mean"], times["mean_ci95"]) for times in found if times["mean_ci95"] is not None]
        held = sum(abs(mean - truth) <= half for mean, half in known)
        cells.append(f"{100 * held / len(known):.0f} %" + (f" ({len(known)})" if len(known) < runs else ""))
    return f"| {share} % | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=60, help="pairs of runs of each kind (60)")
    parser.add_argument("--requests", type=int, default=3_000, help="requests of a run (3,000)")
    parser.add_argument("--only", default="", help="only the kinds whose title holds this text")
    asked = parser.parse_args()
    print(
        f"| runs of {asked.requests:,} requests | {' | '.join(METRICS)} |", "| --- | --- | --- | --- | --- |", sep="\n"
    )
    for case in CASES:
        if asked.only in case.title:
            print(row(case, asked.pairs, asked.requests), flush=True)
    if not asked.only:
        print("\n| the drive is busy | 500 requests | 3,000 | 20,000 |", "| --- | --- | --- | --- |", sep="\n")
        for share, every_ms in ((28, 30.0), (57, 15.0), (79, 11.2)):
            print(means(share, every_ms, asked.pairs), flush=True)


if __name__ == "__main__":
    main()
