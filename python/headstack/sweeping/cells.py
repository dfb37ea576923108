"""Metrics in words: their units, the heads of their columns, a cell with its interval."""

from __future__ import annotations

import re
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from headstack.shown import Part, Shown
from headstack.sweeping.metrics import USD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headstack.sweeping.repeats import Estimate

_UNITS = {"_ms": "ms", "_w": "W", "_j": "J", "_s": "s", "_bytes": "bytes"}
_WHOLE = {USD: "USD", "iops": "IOPS", "mib_per_s": "MiB/s"}
_HEADS = {USD: "price (USD)", "iops": "IOPS", "mib_per_s": "MiB/s", "power.average_w": "average power (W)"}


def unit(metric: str) -> str:
    """The unit of a metric; empty for a count or a share."""
    if metric in _WHOLE:
        return _WHOLE[metric]
    for part in reversed(metric.split(".")):
        for ending, name in _UNITS.items():
            if part.endswith(ending):
                return name
    return ""


def columns(metrics: Sequence[str]) -> list[str]:
    """The heads of the metrics' columns: `response_ms.p99` is `response p99 (ms)`."""
    heads = []
    for metric in metrics:
        known = unit(metric)
        words = metric.replace("response_ms", "response").replace("service_ms", "service").replace("_ms", "")
        words = words.removesuffix("_w").replace(".", " ").replace("_", " ")
        heads.append(_HEADS.get(metric, words + (f" ({known})" if known else "")))
    return heads


def cell(estimate: Estimate | None) -> Shown:
    """A mean and its interval, as far as they are known, with the digits that the interval leaves."""
    if estimate is None:
        return Shown("–", Part("", None), Part("± 95 %", None))
    text = _with_interval(estimate.mean, estimate.ci95) if estimate.ci95 else figure(estimate.mean)
    return Shown(text, Part("", estimate.mean), Part("± 95 %", estimate.ci95))


def column(estimates: Sequence[Estimate | None]) -> list[Shown]:
    """The cells of one column: as `cell`; those without an interval, which alone says how many decimals stand, have as many as another."""
    cells = [cell(each) for each in estimates]
    alone = [
        (place, each.mean)
        for place, each in enumerate(estimates)
        if each is not None and isfinite(each.mean) and not each.ci95
    ]
    decimals = _of_column([mean for _, mean in alone], [cells[place] for place, _ in alone])
    for place, mean in alone:
        cells[place] = Shown(_fixed(mean, decimals), *cells[place].parts)
    return cells


def figures(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """The numbers of one column, as `figure`, all with as many decimals."""
    known = [value for value in values if value is not None and isfinite(value)]
    decimals = _of_column(known, [figure(value, digits) for value in known])
    return ["–" if value is None else _fixed(value, decimals, digits) for value in values]


def _of_column(means: Sequence[float], written: Sequence[str]) -> int:
    """How many decimals a column has: those of its cells, but no more digits than anybody reads in its largest number."""
    largest = max(map(abs, means), default=0.0)
    most = _decimals(largest, MOST_DIGITS) if largest and isfinite(largest) else MOST_DIGITS
    own = (len(found[1]) for text in written for found in re.finditer(r"\.(\d+)(?!\d|e)", text))
    return min(max(own, default=0), most)


def _fixed(value: float, decimals: int, digits: int = 4) -> str:
    """So many decimals; what would be nothing in them, and is not, is written out."""
    if not isfinite(value) or abs(value) >= MOST or (value and abs(value) < 0.5 * 10**-decimals):
        return figure(value, digits)
    return f"{value:,.{decimals}f}"


def label(values: Mapping[str, object]) -> str:
    """The values of axes in words; a word speaks for itself, a number needs its axis."""
    return ", ".join(value if isinstance(value, str) else f"{name} {value}" for name, value in values.items())


def figure(value: float, digits: int = 4) -> str:
    """A number for people: so many digits that count, all before the point, thousands separated."""
    if not isfinite(value) or abs(value) >= MOST:
        return f"{value:.{digits}g}"
    if value == round(value) or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    # A zero at the end is one of them: 17.10 ms stands below 16.86 ms.
    return f"{value:.{_decimals(value, digits)}f}" if abs(value) >= LEAST else f"{value:.{digits}g}"


MOST_DIGITS = 6
"""So many digits of the largest number of a column may be there for the sake of its smallest."""
LEAST = 1e-4
"""Below this a number is written with a power of ten…"""
MOST = 1e15
"""…and from this on."""


def _with_interval(mean: float, interval: float) -> str:
    """Two digits of the interval, and no more decimals of the mean, but for one that repeats hardly vary at all."""
    if not isfinite(interval):
        return f"{figure(mean)} ± {interval}"
    decimals = min(_decimals(interval, 2), _decimals(mean, 6) if mean else 6)
    return f"{mean:,.{decimals}f} ± {figure(interval, 2)}"


def _decimals(value: float, digits: int) -> int:
    """How many decimals a number has, of which so many digits count."""
    return max(digits - 1 - floor(log10(abs(value))), 0)
