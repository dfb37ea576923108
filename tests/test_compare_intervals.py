"""The intervals of `compare`: they hold what chance makes of nothing, and are those of their definition."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import polars as pl
import pytest

from headstack.comparison import resampling


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_intervals_of_nothing_hold_zero(memory: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "DRAWS", 120)
    random = Random(11)

    def sample() -> pl.Series:
        level, times = 0.0, []
        for _ in range(1500):
            level = memory * level + random.gauss(0, 1)
            times.append(10 * math.exp(level / 2))
        return pl.Series(times)

    held = 0
    for number in range(12):
        low, high = resampling.intervals(sample(), sample(), paired=False, seed=number).intervals["mean"]
        held += low <= 0 <= high
    assert held >= 9


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.long
def test_intervals_of_busy_queues_hold_zero(paired: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue at 84 % load remembers some 300 requests, and a block has 47: of these intervals 54 in 100 held zero, paired 41."""
    monkeypatch.setattr(resampling, "DRAWS", 120)
    random = Random(5)

    def waits(services: list[float]) -> pl.Series:
        wait, times = 0.0, []
        for service in services:
            times.append(wait + service)
            wait = max(wait + service - random.expovariate(0.84), 0.0)
        return pl.Series(times[2000:])

    held = dict.fromkeys(("mean", "p50", "p90"), 0)
    told = dict.fromkeys(held, 0)
    for number in range(60):
        one, other = ([random.expovariate(1.0) for _ in range(5000)] for _ in range(2))
        # Paired: each request has its own service in both, and what comes between is chance.
        found = resampling.intervals(waits(one), waits(one if paired else other), paired=paired, seed=number).intervals
        for name in held.keys() & found.keys():
            low, high = found[name]
            told[name] += 1
            held[name] += low <= 0 <= high
    assert all(count >= 15 for count in told.values()), told
    assert all(held[name] >= 0.75 * told[name] for name in held), (held, told)


def test_a_change_that_all_requests_share_is_no_chance() -> None:
    """Times from 1 us to 100 s have steps of 0.6 %: a change of 0.06 in 10 ms had the interval 0 to 0, and was called chance."""
    times = pl.Series([0.001, 100_000.0, *([10.0] * 3000)])
    found = resampling.intervals(times, times + 0.06, paired=True)
    for name in ("mean", "p50", "p90", "p99"):
        assert found.intervals[name] == pytest.approx((0.06, 0.06)), name


def test_what_requests_do_not_tell_has_no_interval() -> None:
    random = Random(3)
    level, times = 0.0, []
    for _ in range(3000):
        level += random.gauss(0, 1)
        times.append(1000 + level)
    steps = pl.Series(times)
    even = pl.Series([random.expovariate(1.0) for _ in range(3000)])
    found = resampling.intervals(steps, even, paired=False)
    assert "depend on each other" in found.unknown["mean"]
    found = resampling.intervals(even, even, paired=False)
    assert found.unknown == {"p999": "fewer than 10 requests lie beyond it"}
    assert list(found.intervals) == ["mean", "p50", "p90", "p99"]
    assert resampling.intervals(even[:200], even[:200], paired=True).intervals == {}


def test_an_interval_finds_a_change_that_is_there() -> None:
    random = Random(3)
    times = pl.Series([random.expovariate(0.1) for _ in range(3000)])
    found = resampling.intervals(times, times * 1.1, paired=True).intervals
    assert found["mean"][0] > 0
    assert found["p99"][0] > 0
    assert resampling.intervals(times[:20], times[:20], paired=True).intervals == {}


def draw_by_draw(first: list[float], second: list[float], paired: bool, seed: int) -> dict[str, tuple[float, float]]:
    """The intervals by their definition: each draw is written out, request by request, and sorted."""
    low = min(first + second)
    factor = (max(first + second) / low) ** (1 / resampling.BINS)
    random = Random(seed)

    def drawn(times: list[float], blocks: list[int]) -> list[float]:
        members = [[] for _ in range(resampling.BLOCKS)]
        for place, ms in enumerate(times):
            members[place * resampling.BLOCKS // len(times)].append(ms)
        sample = sorted(ms for block in blocks for ms in members[block])
        at = [sample[max(math.ceil(share * len(sample)), 1) - 1] for share in resampling.QUANTILES.values()]
        steps = [min(math.floor(math.log(ms / low, factor)), resampling.BINS - 1) for ms in at]
        return [sum(sample) / len(sample), *(low * factor ** (step + 0.5) for step in steps)]

    def influence(times: list[float]) -> list[list[float]]:
        """Of each value, how far each block is from the sample: its sum, or its number of requests up to a quantile."""
        members = [[] for _ in range(resampling.BLOCKS)]
        for place, ms in enumerate(times):
            members[place * resampling.BLOCKS // len(times)].append(ms)
        found = [[sum(block) - sum(times) / len(times) * len(block) for block in members]]
        for middle in drawn(times, list(range(resampling.BLOCKS)))[1:]:
            last = middle * factor**0.5
            up_to = sum(ms < last for ms in times) / len(times)
            found.append([up_to * len(block) - sum(ms < last for ms in block) for block in members])
        return found

    def peaks(values: list[float]) -> int:
        signs = "".join("+" if value > 0 else "-" for value in values)
        return len([run for run in signs.split("-") if run]) if any(values) else 64

    def stretch(values: list[float], most: int) -> float:
        off = [value - sum(values) / len(values) for value in values]
        seen = sum(one * two for one, two in itertools.pairwise(off)) / sum(one * one for one in off)
        correlation = max(seen + (1 + 3 * seen) / len(off), 0)
        worth = min(len(off) * (1 - correlation) / (1 + correlation), 4 * most, 4 * peaks(values))
        return 0.0 if worth < 4 else (len(off) / worth) ** 0.5 * t975(worth - 1) / t975(len(off) - 1)

    befores, afters = [], []
    for _ in range(resampling.DRAWS):
        before = random.choices(range(resampling.BLOCKS), k=resampling.BLOCKS)
        after = before if paired else random.choices(range(resampling.BLOCKS), k=resampling.BLOCKS)
        befores.append(drawn(first, before))
        afters.append(drawn(second, after))
    found = {}
    wholes = [drawn(times, list(range(resampling.BLOCKS))) for times in (first, second)]
    exact = [list(resampling.statistics(pl.Series(times)).values()) for times in (first, second)]
    pulls = influence(first), influence(second)
    for at, name in enumerate(("mean", *resampling.QUANTILES)):
        if (1 - resampling.QUANTILES.get(name, 0)) * len(first) < 10:
            continue
        one, two = ([float(draw[at]) for draw in draws] for draws in (befores, afters))
        if paired:
            scales = [float(np.std(draws) / np.std(pull[at])) for draws, pull in zip((one, two), pulls, strict=True)]
            pull = [
                there * scales[1] - here * scales[0] for here, there in zip(pulls[0][at], pulls[1][at], strict=True)
            ]
            stretches = [stretch(pull, min(peaks(each[at]) for each in pulls) if at else 64)] * 2
        else:
            stretches = [stretch(pull[at], 64) for pull in pulls]
        if 0.0 in stretches:
            continue
        ordered = sorted(
            exact[1][at] + (b - wholes[1][at]) * stretches[1] - exact[0][at] - (a - wholes[0][at]) * stretches[0]
            for a, b in zip(one, two, strict=True)
        )
        cut = round(0.025 * len(ordered))
        found[name] = (ordered[cut], ordered[-1 - cut])
    return found


def t975(degrees: float) -> float:
    """Student's quantile, from a table in steps of one degree."""
    table = {3: 3.182, 5: 2.571, 8: 2.306, 12: 2.179, 20: 2.086, 30: 2.042, 40: 2.021, 63: 1.998, 80: 1.990}
    return float(np.interp(1 / degrees, [1 / each for each in reversed(table)], list(reversed(table.values()))))


@pytest.mark.parametrize(("requests", "paired"), [(256, True), (257, False), (1500, True), (1501, False)])
def test_an_interval_is_that_of_its_definition(requests: int, paired: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "DRAWS", 60)
    random = Random(requests)
    first = [random.expovariate(0.1) + 0.1 for _ in range(requests)]
    # Many are alike, as hits in a cache are.
    second = [random.choice((1.5, ms, 2 * ms)) for ms in first]
    found = resampling.intervals(pl.Series(first), pl.Series(second), paired=paired, seed=5).intervals
    expected = draw_by_draw(first, second, paired, seed=5)
    assert list(found) == list(expected)
    for name, interval in expected.items():
        assert found[name] == pytest.approx(interval, rel=0.01, abs=0.01), name
