"""Intervals for differences of means and quantiles between two samples of times, by a block bootstrap.

Requests that wait for each other are not independent: whole blocks of neighbours are drawn again, not single requests.
Where the same requests were served in both, the same blocks are drawn from both (common random numbers).

Under a heavy load requests depend on each other for longer than a block: what the draws are off by is stretched by how few independent
blocks so many are worth (`_core.independent_values`, as for the interval of a run's mean).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, fsum, sqrt
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING

from headstack import _core

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
LEAST_BEYOND = 10
"""Fewer requests beyond a quantile tell nothing about its interval."""
LEAST_INDEPENDENT = 4
"""Nor do blocks that are worth fewer independent ones, as of a run's own mean. Asking for more takes the wrong runs: those whose blocks
seem independent since the busy periods that make a mean or a quantile were not in them."""
BLOCKS_A_PEAK = 4
"""Independent blocks are on the same side of the sample's value a quarter of the times: so many of them make a peak."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
Interval = tuple[float, float]


def statistics(times: pl.Series) -> dict[str, float]:
    """Mean, quantiles and maximum, exactly; a quantile is the least time that so large a share does not exceed."""
    ordered = times.sort()
    found = {"mean": _real(times.mean())}
    for name, share in QUANTILES.items():
        found[name] = _real(ordered[max(ceil(share * len(ordered) - 1e-9), 1) - 1])
    return {**found, "max": _real(ordered[-1])}


@dataclass(frozen=True, slots=True)
class Found:
    """Intervals of some values, and why there is none of others."""

    intervals: dict[str, Interval]
    unknown: dict[str, str]


def intervals(first: pl.Series, second: pl.Series, *, paired: bool, seed: int = 1) -> Found:
    """95 % intervals of second − first: of the mean and of each quantile, where the samples tell any."""
    names = ("mean", *QUANTILES)
    least = min(len(first), len(second))
    if least < LEAST:
        return Found({}, dict.fromkeys(names, f"fewer than {LEAST} requests"))
    low, factor = _edges(first, second)
    one, other = (_blocks(times, low, factor) for times in (first, second))
    before, after = _drawn(one, other, paired=paired, seed=seed)
    exact = [list(statistics(times).values()) for times in (first, second)]
    found = Found({}, {})
    for at, name in enumerate(names):
        here, there = (
            _Value(drawn[at], each.whole()[at], each.influence(at)) for drawn, each in ((before, one), (after, other))
        )
        off = _of_pairs(here, there, is_mean=at == 0) if paired else _of_two(here, there)
        if name in QUANTILES and (1 - QUANTILES[name]) * least < LEAST_BEYOND:
            found.unknown[name] = f"fewer than {LEAST_BEYOND} requests lie beyond it"
        elif off is None:
            found.unknown[name] = "its requests depend on each other for too long"
        else:
            # What draws are off by is known to a bin; where they lie around is exact.
            low_end, high_end = _middle(off)
            change = exact[1][at] - exact[0][at]
            found.intervals[name] = (change + low_end, change + high_end)
    return found


def _drawn(one: _Blocks, other: _Blocks, *, paired: bool, seed: int) -> tuple[list[tuple[float, ...]], ...]:
    """The values of each draw, first of the one and then of the other."""
    random = Random(seed)  # noqa: S311 (statistics, not secrets)
    draws: tuple[list[list[float]], list[list[float]]] = ([], [])
    for _ in range(DRAWS):
        before = random.choices(range(BLOCKS), k=BLOCKS)
        after = before if paired else random.choices(range(BLOCKS), k=BLOCKS)
        draws[0].append(one.drawn(before))
        draws[1].append(other.drawn(after))
    return tuple(list(zip(*each, strict=True)) for each in draws)


@dataclass(frozen=True, slots=True)
class _Value:
    """A mean or a quantile of a sample."""

    drawn: Sequence[float]
    whole: float
    influence: Sequence[float]
    """How far each block pulls it, in a unit of its own."""


def _of_two(one: _Value, other: _Value) -> list[float] | None:
    """Of samples drawn apart from each other: what each is off by is stretched by its own dependence."""
    stretches = [_stretch(each.influence) for each in (one, other)]
    if None in stretches:
        return None
    here, there = (float(stretch or 1) for stretch in stretches)
    return [(b - other.whole) * there - (a - one.whole) * here for a, b in zip(one.drawn, other.drawn, strict=True)]


def _of_pairs(one: _Value, other: _Value, *, is_mean: bool) -> list[float] | None:
    """Of the same requests: what counts is how their differences depend on each other."""
    scales = [_spread(each.drawn) / (_spread(each.influence) or 1) for each in (one, other)]
    both = zip(one.influence, other.influence, strict=True)
    # The difference of means is the mean of differences. Of quantiles, where the same peaks are in both, either tells how many there are.
    peaks = BLOCKS if is_mean else min(_peaks(each.influence) for each in (one, other))
    pull = [there * scales[1] - here * scales[0] for here, there in both]
    stretch = _stretch(pull, peaks, size=scales[0] * max(map(abs, one.influence)))
    if stretch is None:
        return None
    change = other.whole - one.whole
    return [(there - here - change) * stretch for here, there in zip(one.drawn, other.drawn, strict=True)]


def _stretch(influence: Sequence[float], peaks: int = BLOCKS, size: float = 0.0) -> float | None:
    """By how much wider what is drawn from blocks is to be that depend on their neighbours; `None` where they tell too little.

    What is a billionth of `size` is rounding.
    """
    count = len(influence)
    mean = fsum(influence) / count
    off = [each - mean for each in influence]
    squares = fsum(each * each for each in off)
    # Of a value that is the same in all blocks nothing depends on anything.
    if squares <= count * (1e-9 * max(size, *map(abs, influence))) ** 2:
        return 1.0
    peaks = min(peaks, _peaks(influence))
    # A few busy periods make a high quantile: how many tells more than what neighbours have in common.
    worth = min(_core.independent_values(off), BLOCKS_A_PEAK * peaks)
    if worth < LEAST_INDEPENDENT:
        return None
    # Few degrees of freedom: Student's quantile over that of so many blocks.
    few, many = (_core.student_975(int(of) - 1) for of in (worth, count))
    return sqrt(count / worth) * (few or 1) / (many or 1)


def _peaks(influence: Sequence[float]) -> int:
    """How often neighbouring blocks pull the value up together: what a few busy periods made tells little of others."""
    if not any(influence):
        return BLOCKS
    above = [each > 0 for each in influence]
    return sum(now and not before for before, now in pairwise([False, *above]))


def _spread(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return sqrt(fsum((each - mean) ** 2 for each in values) / len(values))


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

    def whole(self) -> list[float]:
        """Mean and quantiles of the sample itself, a quantile to its bin."""
        return self.drawn(range(BLOCKS))

    def influence(self, at: int) -> list[float]:
        """How far each block pulls the mean (0), or has fewer requests up to a quantile than the sample (1, 2, …)."""
        total = sum(self.sizes)
        if at == 0:
            mean = fsum(self.sums) / total
            return [of - mean * size for of, size in zip(self.sums, self.sizes, strict=True)]
        share = list(QUANTILES.values())[at - 1]
        place = min(bisect_left(self.reached, share * total, key=sum), len(self.times) - 1)
        counts = self.reached[place]
        up_to = sum(counts) / total
        return [up_to * size - count for count, size in zip(counts, self.sizes, strict=True)]


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
