"""Intervals for differences of means and quantiles between two samples of times, by a block bootstrap.

Requests that wait for each other are not independent: whole blocks of neighbours are drawn again, not single requests.
Where the same requests were served in both, the same blocks are drawn from both (common random numbers).
"""

from __future__ import annotations

from math import ceil
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

BLOCKS = 64
"""So many blocks of neighbours a sample is cut into."""
DRAWS = 400
"""So many times they are drawn again."""
BINS = 3000
"""Steps, evenly spaced in the logarithm, to which a time is rounded for the interval of a quantile."""
LEAST = 4 * BLOCKS
"""Fewer requests tell nothing about an interval."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
Interval = tuple[float, float]


def statistics(times: pl.Series) -> dict[str, float]:
    """Mean, quantiles and maximum, exactly; a quantile is the least time that so large a share does not exceed."""
    ordered = times.sort()
    found = {"mean": _real(times.mean())}
    for name, share in QUANTILES.items():
        found[name] = _real(ordered[max(ceil(share * len(ordered) - 1e-9), 1) - 1])
    return {**found, "max": _real(ordered[-1])}


def intervals(first: pl.Series, second: pl.Series, *, paired: bool, seed: int = 1) -> dict[str, Interval]:
    """95 % intervals of second − first: of the mean and of each quantile; empty for samples too small to tell."""
    if min(len(first), len(second)) < LEAST:
        return {}
    edges = _edges(first, second)
    counts, sums = zip(*(_blocks(times, edges) for times in (first, second)), strict=True)
    random = Random(seed)  # noqa: S311 (statistics, not secrets)
    differences: dict[str, list[float]] = {name: [] for name in ("mean", *QUANTILES)}
    for _ in range(DRAWS):
        drawn = [_weights(random) for _ in range(1 if paired else 2)] * (2 if paired else 1)
        one, other = (
            _drawn(counts[side], sums[side], drawn[side], edges) for side in (0, 1)
        )  # fmt: skip
        for name, values in differences.items():
            values.append(other[name] - one[name])
    return {name: _middle(values) for name, values in differences.items()}


def _real(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _edges(first: pl.Series, second: pl.Series) -> tuple[float, float]:
    """Where the bins begin, and the factor from one to the next."""
    low = max(min(_real(first.min()), _real(second.min())), 1e-6)
    high = max(_real(first.max()), _real(second.max()), low * 1.000001)
    return low, (high / low) ** (1 / BINS)


def _blocks(times: pl.Series, edges: tuple[float, float]) -> tuple[pl.DataFrame, list[tuple[float, int]]]:
    """How many requests of each block fall into each bin, a column a block; and sum and number of each."""
    import polars as pl

    low, factor = edges
    frame = pl.DataFrame({"ms": times}).with_columns(
        block=(pl.int_range(pl.len()) * BLOCKS // pl.len()).cast(pl.Int32),
        bin=((pl.col("ms").clip(low) / low).log(factor)).floor().clip(0, BINS - 1).cast(pl.Int32),
    )
    totals = frame.group_by("block").agg(pl.col("ms").sum(), n=pl.len()).sort("block")
    counted = frame.group_by("bin", "block").len().pivot("block", index="bin", values="len").sort("bin").fill_null(0)
    names = [str(block) for block in range(BLOCKS)]
    return counted.select("bin", *(pl.col(name).cast(pl.Int64) for name in names)), [
        (float(ms), int(n)) for ms, n in totals.select("ms", "n").iter_rows()
    ]


def _weights(random: Random) -> list[int]:
    """How often each block is drawn."""
    weights = [0] * BLOCKS
    for block in random.choices(range(BLOCKS), k=BLOCKS):
        weights[block] += 1
    return weights


def _drawn(
    counts: pl.DataFrame, sums: list[tuple[float, int]], weights: list[int], edges: tuple[float, float]
) -> dict[str, float]:
    """Mean and quantiles of a sample made of the blocks that were drawn."""
    import polars as pl

    total = sum(n * weight for (_, n), weight in zip(sums, weights, strict=True))
    found = {"mean": sum(ms * weight for (ms, _), weight in zip(sums, weights, strict=True)) / total}
    chosen = [pl.col(str(block)) * weight for block, weight in enumerate(weights) if weight]
    reached = counts.select("bin", reached=pl.sum_horizontal(chosen).cum_sum())
    low, factor = edges
    for name, share in QUANTILES.items():
        place = reached["reached"].search_sorted(share * total, side="left")
        found[name] = low * factor ** (float(reached["bin"][min(place, len(reached) - 1)]) + 0.5)
    return found


def _middle(values: list[float]) -> Interval:
    """Where the middle 95 % lie."""
    ordered = sorted(values)
    cut = round(0.025 * len(ordered))
    return ordered[cut], ordered[-1 - cut]
