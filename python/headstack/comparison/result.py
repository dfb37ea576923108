"""Two or more of a kind side by side; the first is what the others are compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, overload

from headstack import _core
from headstack.arguments import checked
from headstack.comparison import resampling
from headstack.comparison.labels import label
from headstack.comparison.limits import Limit
from headstack.comparison.sources import Source, Value, read
from headstack.errors import InputError
from headstack.files import to_read
from headstack.sweeping.cells import figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from headstack.comparison.sources import Comparable
    from headstack.comparison.sweep import SweepComparison
    from headstack.results.comparisons import Compared, ComparisonSummary, MetricChange
    from headstack.sweeping.result import Sweep

SCHEMA_VERSION = 1


@overload
def compare(files: Sweep | str | Path, /, *, fail_if: Sequence[str] = ()) -> SweepComparison: ...
@overload
def compare(
    first: Comparable,
    second: Comparable,
    /,
    *others: Comparable,
    time: Literal["response", "service"] | None = None,
    fail_if: Sequence[str] = (),
    seed: int | None = None,
    open_trace: Callable[[Path], _core.Trace] = _core.Trace,
) -> Comparison: ...
@overload
def compare(
    files: Sequence[Comparable],
    *,
    time: Literal["response", "service"] | None = None,
    fail_if: Sequence[str] = (),
    seed: int | None = None,
    open_trace: Callable[[Path], _core.Trace] = _core.Trace,
) -> Comparison: ...
@checked(but=("files", "others"))
def compare(
    files: Sweep | Comparable | Sequence[Comparable],
    *others: Comparable,
    time: Literal["response", "service"] | None = None,
    fail_if: Sequence[str] = (),
    seed: int | None = None,
    open_trace: Callable[[Path], _core.Trace] = _core.Trace,
) -> Comparison | SweepComparison:
    """Compare runs, traces, validations, measurements or drives, or the points of a sweep; the first is what the others are compared with.

    Parameters
    ----------
    files, others
        Two or more of a kind, one by one or in a list: each a `Run`, a `Trace` with measured times, a `Validation`, a
        `Measurement` or a `Drive`, or a file of one: completions (Parquet), summaries, scores and measurements (JSON), drive
        files, names of drives in the library. Or one `Sweep`, or its folder.
    time
        Which time of runs and traces: the response (from arrival; if absent) or the service (from the start at the drive).
    fail_if
        Limits such as "p99 > +5%"; those that are broken are in `Comparison.failed`. Of a sweep, values are asked of every point.
    seed
        Seed of the resampling that the intervals come from; 1 if absent.
    open_trace
        How the file of a run or a trace is opened: `devices`, `op`, `from_s` and `to_s` choose which of its requests are
        compared.
    """
    if not others and (sweep := _sweep(files)) is not None:
        _check_choice("the points of a sweep have no times of requests", time, seed)
        return sweep.compare(fail_if=fail_if)
    if seed is not None and seed < 0:
        raise InputError(f"`compare` does not take `seed={seed}`", "seed: a whole number, at least 0")
    limits = [Limit.parse(text) for text in fail_if]
    given = _given(files, others)
    sources = [read(each, time or "response", open_trace) for each in given]
    first = sources[0]
    if first.kind not in ("run", "trace"):
        _check_choice(f"a {first.noun} has no times of requests", time, None)
    if first.times is None:
        _check_choice("without times of requests, nothing is resampled", None, seed)
    for each, other in zip(given[1:], sources[1:], strict=True):
        _check_kind(_called(given[0], first), first, _called(each, other), other)
    made = [replace(each, name=name) for name, each in zip(_apart(given, sources), sources, strict=True)]
    differences = [_difference(made[0], other, 1 if seed is None else seed) for other in made[1:]]
    return Comparison(made, time or "response", differences, broken_limits(limits, differences))


def _sweep(given: object) -> Sweep | None:
    """The sweep that is given, or is in the folder that is."""
    from headstack.sweeping.result import Sweep

    if isinstance(given, Sweep):
        return given
    return Sweep(given) if isinstance(given, (str, Path)) and to_read(given).is_dir() else None


def _given(files: object, others: Sequence[Comparable]) -> list[Comparable]:
    """What to compare, one by one: two or more."""
    listed = not isinstance(files, (str, Path)) and isinstance(files, Sequence)
    given: list[Comparable] = [
        *(cast("Sequence[Comparable]", files) if listed else [cast("Comparable", files)]),
        *others,
    ]
    alone = given[0] if len(given) == 1 else None
    if isinstance(alone, (str, Path)) and not to_read(alone).exists() and str(alone) not in _core.library_drives():
        # It may be the folder of a sweep, which is compared alone.
        raise InputError(f"there is no `{alone}`", "name the folder of a sweep, or two files or more")
    if len(given) < 2:
        what = "there is nothing to compare it with" if given else "there is nothing to compare"
        raise InputError(what, "name two or more: `headstack compare A B`, or `headstack.compare(a, b)`")
    return given


def _check_kind(name: str, first: Source, other_name: str, other: Source) -> None:
    if other.kind != first.kind:
        raise InputError(f"`{name}` is a {first.noun} and `{other_name}` a {other.noun}", "compare two of a kind")
    if (other.times is None) != (first.times is None):
        lacking = name if first.times is None else other_name
        raise InputError(
            f"`{name}` and `{other_name}`: one has times of requests, the other a summary only",
            f"compare two of a kind: `headstack simulate … --out {Path(lacking).stem}.parquet` runs that of `{lacking}` again and keeps its "
            "times (`keep=True` in Python); or compare the summaries of both (`simulate … --json`)",
        )


def _check_choice(why: str, time: str | None, seed: int | None) -> None:
    """Refuse what is said of times, and of drawing from them, where there are none."""
    for name, value in (("time", time), ("seed", seed)):
        if value is not None:
            raise InputError(f"`{name}` cannot be chosen: {why}", "leave it out")


def broken_limits(limits: Sequence[Limit], differences: Sequence[Difference]) -> list[str]:
    """The limits that are broken, and by which."""
    return [
        f"{limit.text}: {difference.name}, where {limit.metric} {_beyond(limit, difference.metrics[limit.metric])}"
        for limit in limits
        for difference in differences
        if _is_broken(limit, difference)
    ]


def _beyond(limit: Limit, metric: Metric) -> str:
    unit = f" {metric.unit}" if metric.unit else ""
    return _words(metric) if limit.is_change else f"is {figure(metric.second, 4)}{unit}"


@dataclass(frozen=True)
class Metric:
    """A value in the first and in the other, and the 95 % interval of the difference where it is known.

    `label` and `has_ratio` are those of the values.
    """

    first: float
    second: float
    unit: str
    ci95: tuple[float, float] | None
    label: str = ""
    has_ratio: bool = True

    @property
    def change(self) -> float:
        """How much larger the second is."""
        return self.second - self.first

    @property
    def change_percent(self) -> float | None:
        """The same in percent of the first; none of what lies around zero, or is in percent: its change is in points."""
        if self.is_in_points or not self.has_ratio or not self.first:
            return None
        return 100 * self.change / abs(self.first)

    @property
    def is_in_points(self) -> bool:
        """Whether the value is itself in percent, so that its change is told, and compared, in points."""
        return self.unit == "%"

    @property
    def is_rounding(self) -> bool:
        """Whether the change is below two nanoseconds, one for either value, or a millionth of the value."""
        least = 1e-6 * max(abs(self.first), abs(self.second))
        return abs(self.change) <= (max(least, 2e-6) if self.unit == "ms" else least)

    @property
    def is_clear(self) -> bool | None:
        """Whether the interval leaves out zero."""
        return None if self.ci95 is None else not self.ci95[0] <= 0 <= self.ci95[1]

    def as_dict(self) -> MetricChange:
        """As `headstack compare --json` prints it."""
        return {
            "first": self.first, "second": self.second, "unit": self.unit, "change": self.change,
            "change_percent": self.change_percent, "change_ci95": None if self.ci95 is None else list(self.ci95),
        }  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """One of the others against the first."""

    name: str
    metrics: dict[str, Metric]
    paired: pl.DataFrame | None
    demerit_ms: float | None
    # What to tell first, of values in different units; empty where the metrics' own order does.
    weighty: tuple[str, ...] = ()
    # Why changes without an interval have none; `None` where they cannot be chance.
    no_interval: str | None = None
    # Why single values have none.
    unknown: dict[str, str] = field(default_factory=dict)
    # Of two drives: values that are words, and the keys of their files that differ; `None` of others.
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    keys_differ: list[str] | None = None

    def is_unknown(self, metric: str) -> bool:
        """Whether nothing tells if a change is chance."""
        found = self.metrics[metric]
        has_none = self.no_interval is not None or metric in self.unknown
        return has_none and found.ci95 is None and not found.is_rounding

    def label(self, metric: str) -> str:
        """What a metric is called for readers."""
        return self.metrics[metric].label or label(metric)


class Comparison:
    """Things of a kind side by side.

    Attributes
    ----------
    sources
        What is compared; the first is what the others are compared with.
    time
        Which time of runs and traces.
    differences
        One for each of the others.
    failed
        The limits that are broken, and by which.
    """

    def __init__(self, sources: list[Source], time: str, differences: list[Difference], failed: list[str]) -> None:
        self.sources, self.time, self.differences, self.failed = sources, time, differences, failed

    @property
    def kind(self) -> str:
        """What is compared: run, trace, validation or measurement."""
        return self.sources[0].kind

    @property
    def summary(self) -> ComparisonSummary:
        """What `headstack compare --json` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": self.kind,
            "time": self.time if self.sources[0].times is not None else None,
            "first": self.sources[0].name,
            "answer": self.answer(),
            "compared": [_compared(each) for each in self.differences],
            "failed": self.failed,
        }  # fmt: skip

    def answer(self) -> str:
        """What differs most, in a sentence for each of the others."""
        said = [_sentence(self.sources[0].name, each) for each in self.differences]
        return " ".join([*said, *self._apart()])

    def _apart(self) -> list[str]:
        """That scores of other measured requests say nothing about which model is closer."""
        means = {each.values["measured_mean"].value for each in self.sources if "measured_mean" in each.values}
        return ["The scores are not of the same measured requests: a change may be that of the requests."] * (
            len(means) > 1
        )

    def report(self, path: str | Path) -> None:
        """Write the page: distributions over each other, differences, all values."""
        from headstack.files import to_write
        from headstack.report.comparison import comparison_page

        comparison_page(self).write(to_write(path))

    def __repr__(self) -> str:
        return f"Comparison({[source.name for source in self.sources]!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.answer())}</p>"


def _compared(difference: Difference) -> Compared:
    """One of the others, as in the JSON."""
    told: Compared = {
        "name": difference.name,
        "requests_paired": None if difference.paired is None else len(difference.paired),
        "demerit_ms": difference.demerit_ms,
        "metrics": {name: metric.as_dict() for name, metric in difference.metrics.items()},
    }
    if difference.keys_differ is not None:
        told["words"] = _as_lists(difference.words)
        told["values_differ"] = difference.keys_differ
    return told


def _as_lists(words: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    return {name: list(both) for name, both in words.items()}


def _called(given: Comparable, source: Source) -> str:
    """A file by its path, an object by what it says of itself."""
    return str(given) if isinstance(given, (str, Path)) else source.name


def _apart(given: Sequence[Comparable], sources: Sequence[Source]) -> list[str]:
    """Names that tell apart what is compared: as short as that allows."""
    long = [_called(each, source) for each, source in zip(given, sources, strict=True)]
    is_file = [isinstance(each, (str, Path)) for each in given]
    short = [Path(name).stem if of_file else name for name, of_file in zip(long, is_file, strict=True)]
    if len(set(short)) == len(short):
        return short
    if all(is_file):
        return long
    return [f"{name} ({number})" if long.count(name) > 1 else name for number, name in enumerate(long, 1)]


def _difference(first: Source, other: Source, seed: int) -> Difference:
    if first.times is None or other.times is None:
        shared = [name for name in first.values if name in other.values]
        if not shared:
            raise InputError(f"`{first.name}` and `{other.name}` have no value in common")
        metrics = {name: _of_values(first.values[name], other.values[name]) for name in shared}
        if first.kind == "measurement":
            words = {name: (first.words[name], word) for name, word in other.words.items() if name in first.words}
            return Difference(
                other.name,
                metrics,
                None,
                None,
                _by_weight(metrics),
                words=words,
                keys_differ=_keys_differ(first, other),
            )
        why = _NO_TIMES if first.kind == "run" else ""
        return Difference(other.name, metrics, None, None, no_interval=why)
    joined = _paired(first.times, other.times)
    one, two = (first.times["ms"], other.times["ms"]) if joined is None else (joined["first_ms"], joined["second_ms"])
    found = resampling.intervals(one, two, paired=joined is not None, seed=seed)
    before, after = (resampling.statistics(source.times["ms"]) for source in (first, other) if source.times is not None)
    metrics = {name: Metric(before[name], after[name], "ms", found.intervals.get(name)) for name in before}
    distance = _core.demerit(first.times["ms"].to_list(), other.times["ms"].to_list())
    return Difference(other.name, metrics, joined, distance["demerit_ms"], unknown=found.unknown)


_NO_TIMES = "summaries hold no times of requests; completions (`simulate --out`) do"


def _of_values(first: Value, second: Value) -> Metric:
    change, interval = second.value - first.value, None
    if first.ci95 is not None and second.ci95 is not None:
        half = (first.ci95**2 + second.ci95**2) ** 0.5
        interval = (change - half, change + half)
    return Metric(first.value, second.value, first.unit, interval, first.label, first.has_ratio)


def _keys_differ(first: Source, other: Source) -> list[str] | None:
    """The values of two drive files that differ, by their paths."""
    if not (first.is_drive and other.is_drive):
        return None
    paths = dict.fromkeys([*first.keys, *other.keys])
    return [path for path in paths if first.keys.get(path) != other.keys.get(path)]


CHIEF = (
    "actuators", "rotation_rpm", "sectors_per_track", "zones", "heads_total", "heads", "cylinders", "capacity_sectors", "seek_mean_ms",
    "seek_longest_ms", "seek_single_ms",
)  # fmt: skip
"""What tells drives apart: told before anything else that differs by a percent."""


def _by_weight(metrics: Mapping[str, Metric]) -> tuple[str, ...]:
    """Values of a drive that differ: the chief ones first, then by percent, then those around zero."""

    def weight(name: str) -> tuple[int, float]:
        metric = metrics[name]
        percent = metric.change_percent
        if percent is None and metric.has_ratio and not metric.is_in_points and not metric.first:
            # From nothing to something is more than any percentage says.
            percent = 100.0
        # What may be chance comes behind what is none.
        if percent is None or metric.is_clear is False:
            return 3 + (metric.is_clear is False), -abs(metric.change)
        if name in CHIEF and abs(percent) >= 1:
            return 0, CHIEF.index(name)
        return 1 if name != "rotation_ms" else 2, -abs(percent)

    return tuple(sorted((name for name, metric in metrics.items() if not metric.is_rounding), key=weight))


def _paired(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame | None:
    """The times of the same requests in both, where nearly all requests are the same."""
    joined = first.join(second, on="key", maintain_order="left", suffix="_second")
    if len(joined) < 0.99 * max(len(first), len(second)):
        return None
    return joined.select("key", first_ms="ms", second_ms="ms_second")


def _is_broken(limit: Limit, difference: Difference) -> bool:
    limit.check(difference.metrics)
    metric = difference.metrics[limit.metric]
    return limit.is_broken(metric.first, metric.second, metric.unit)


def _sentence(first: str, each: Difference) -> str:
    names = [name for name in ("mean", "p99", "demerit", "mae") if name in each.metrics]
    if not names:
        names = list(each.weighty[:2])
    if each.keys_differ:
        return _of_drives(first, each, names, each.keys_differ)
    if all(each.metrics[name].change == 0 for name in names):
        return f"{each.name} is the same as {first} in all {len(each.metrics)} values."
    parts = [f"{each.label(name)} {_words(each.metrics[name], each.label(name))}" for name in names]
    how = "" if each.paired is None else f"; paired, same {len(each.paired):,} requests"
    return f"From {first} to {each.name}, {'; '.join(parts)}{how}{_unknown(each, names)}."


def _of_drives(first: str, each: Difference, names: Sequence[str], keys: Sequence[str]) -> str:
    """What differs most between two drives, and how much more does."""
    words = [f"{name} goes from {one} to {two}" for name, (one, two) in each.words.items() if one != two]
    told = [*(f"{each.label(name)} {_words(each.metrics[name], each.label(name))}" for name in names), *words]
    count = "1 value of the drive files differs" if len(keys) == 1 else f"{len(keys)} values of the drive files differ"
    if not told:
        some = ", ".join(f"`{key}`" for key in keys[:3])
        return f"From {first} to {each.name}, {count}: {some}{' and others' if len(keys) > 3 else ''}."
    return f"From {first} to {each.name}, {'; '.join(told)}; {count}."


def _unknown(each: Difference, names: Sequence[str]) -> str:
    """That nothing tells whether changes are chance, and why."""
    unknown = [name for name in names if each.is_unknown(name)]
    if not unknown:
        return ""
    which = "this" if len(unknown) == len(names) else f"that of {' and '.join(map(each.label, unknown))}"
    reasons = dict.fromkeys(each.unknown.get(name, each.no_interval) for name in unknown)
    why = " and ".join(reason for reason in reasons if reason)
    return f"; whether {which} is chance is not known{f' ({why})' if why else ''}"


def _figures(first: float, second: float) -> tuple[str, str]:
    """Both numbers with four digits that count, or as many more as tell them apart."""
    digits = next((digits for digits in range(4, 10) if figure(first, digits) != figure(second, digits)), 4)
    return figure(first, digits), figure(second, digits)


def _signed(change: float) -> str:
    """Three digits that count, and thousands apart."""
    return f"{change:+,.0f}" if abs(change) >= 1000 else f"{change:+.3g}"


def _words(metric: Metric, name: str = "") -> str:
    unit = f" {metric.unit}" if metric.unit else ""
    first, second = _figures(metric.first, metric.second)
    # Zones and heads go, sectors per track go; the mean and p99 go alone.
    goes = "go" if re.match(r"[a-z]+[^s ]s\b", name) else "goes"
    if metric.change == 0:
        return f"{goes.replace('go', 'stay', 1).replace('stayes', 'stays')} at {first}{unit}"
    text = f"{goes} from {first} to {second}{unit}"
    if metric.is_in_points:
        text += f" ({_signed(metric.change)} points)"
    elif metric.change_percent is not None:
        text += f" ({_signed(metric.change_percent)} %)"
    if metric.is_clear is False:
        text += ", which may be chance"
    return text
