"""Intervals for differences of means and quantiles between two samples of times, by a block bootstrap.

Requests that wait for each other are not independent: whole blocks of neighbours are drawn again, not single requests.
Where the same requests were served in both, the same blocks are drawn from both (common random numbers).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, fsum
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    low, factor = _edges(first, second)
    one, other = (_blocks(times, low, factor) for times in (first, second))
    random = Random(seed)  # noqa: S311 (statistics, not secrets)
    differences: dict[str, list[float]] = {name: [] for name in ("mean", *QUANTILES)}
    for _ in range(DRAWS):
        before = random.choices(range(BLOCKS), k=BLOCKS)
        after = before if paired else random.choices(range(BLOCKS), k=BLOCKS)
        for values, here, there in zip(differences.values(), one.drawn(before), other.drawn(after), strict=True):
            values.append(there - here)
    return {name: _middle(values) for name, values in differences.items()}


def _real(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _edges(first: pl.Series, second: pl.Series) -> tuple[float, float]:
    """Where the bins begin, and the factor from one to the next."""
    low = max(min(_real(first.min()), _real(second.min())), 1e-6)
    high = max(_real(first.max()), _real(second.max()), low * 1.000001)
    return low, (high / low) ** (1 / BINS)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A sample cut into blocks of neighbours, in a form that tells fast what a draw of them comes to."""

    sums: Sequence[float]
    """Sum of the times of each block."""
    sizes: Sequence[int]
    """Number of requests of each block."""
    times: Sequence[float]
    """The middles of the bins that hold any request, in order."""
    reached: Sequence[Sequence[int]]
    """For each of those bins: how many requests of each block are in it or below."""

    def drawn(self, blocks: Sequence[int]) -> list[float]:
        """Mean and quantiles of the sample that these blocks make.

        The bin of a quantile is searched for by halving: a draw is counted in a dozen bins, and not in all.
        """
        pick = itemgetter(*blocks)
        total = sum(pick(self.sizes))
        places = (
            bisect_left(self.reached, share * total, key=lambda counts: sum(pick(counts)))
            for share in QUANTILES.values()
        )
        return [fsum(pick(self.sums)) / total, *(self.times[min(place, len(self.times) - 1)] for place in places)]


def _blocks(times: pl.Series, low: float, factor: float) -> _Blocks:
    import polars as pl

    starts = [ceil(block * len(times) / BLOCKS) for block in range(BLOCKS + 1)]
    sizes = [end - start for start, end in pairwise(starts)]
    frame = pl.DataFrame({"ms": times, "block": pl.Series(range(BLOCKS)).repeat_by(pl.Series(sizes)).explode()})
    bins = ((pl.col("ms").clip(low) / low).log(factor)).floor().clip(0, BINS - 1).cast(pl.Int32)
    counted = frame.group_by("block", bin=bins).len().pivot("block", index="bin", values="len").sort("bin").fill_null(0)
    reached = counted.select(pl.col(str(block)).cast(pl.Int64).cum_sum() for block in range(BLOCKS))
    return _Blocks(
        # Block by block: sums of groups depend on how threads share the rows, in the last digit.
        sums=[_real(times[start:end].sum()) for start, end in pairwise(starts)],
        sizes=sizes,
        times=[low * factor ** (number + 0.5) for number in counted["bin"]],
        reached=reached.rows(),
    )


def _middle(values: list[float]) -> Interval:
    """Where the middle 95 % lie."""
    ordered = sorted(values)
    cut = round(0.025 * len(ordered))
    return ordered[cut], ordered[-1 - cut]
