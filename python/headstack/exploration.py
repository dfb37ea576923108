"""`explore`: which of the systems one could buy holds the load of a trace, at which 99th percentile, watts and price."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, cast

from headstack import _core
from headstack.arguments import checked
from headstack.comparison.sweep import P99, WATTS, SweepComparison
from headstack.counted import plural
from headstack.errors import InputError
from headstack.files import named, to_read
from headstack.kinds import check_volume
from headstack.overload import overload
from headstack.overrides import scheduler_override
from headstack.rebuild_times import rebuild_times
from headstack.results.names import Result
from headstack.sweeping import cells, definition, reading, run_definition
from headstack.sweeping.metrics import USD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from headstack.results.comparisons import Candidate, ExplorationSummary
    from headstack.sweeping.result import PointResult, Sweep

SCHEMA_VERSION = 1
WhyNot = Literal["overloaded", "lost data", "served nothing", "p99"]
"""Why a candidate does not hold the load: what its point's `behind` says, or a 99th percentile above what is needed."""
METRICS = (P99, "response_ms.mean", WATTS, USD, "iops")
_KEYS = ("summary", "drives", "arrays", "schedulers", "usd", "p99_ms")
_KNOWN_BY = {USD: "price", WATTS: "watts"}
MEAN = "response_ms.mean"
_TIED = {USD: "cost the same", WATTS: "draw as few watts"}
_WHY_NOT: dict[WhyNot, str] = {
    "overloaded": "does not keep up", "lost data": "loses data", "served nothing": "served nothing", "p99": "p99"
}  # fmt: skip
_DEFAULT_ARRAYS = ({"drives": 1},)


@checked()
def explore(
    trace: str | Path | _core.Trace,
    candidates: str | Path,
    *,
    requests: int | None = None,
    replay: str | None = None,
    p99_ms: float | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Exploration:
    """Run a trace on every system that candidates can make, and weigh its 99th percentile against watts, price and rebuilding.

    Parameters
    ----------
    trace
        The trace, or its path.
    candidates
        A TOML file: `drives`, and optionally `arrays`, `schedulers`, the price of each drive (`usd`) and the 99th percentile
        that is needed (`p99_ms`).
    requests
        At most so many requests.
    replay
        Which instants requests are issued at: "open" (if absent), "closed" or "measured".
    p99_ms
        The 99th percentile that is needed, instead of the file's.
    out, resume
        A folder to keep the runs in, as `sweep` does, and whether to go on with what it holds.
    threads
        How many runs are served at a time; one a core if absent.
    progress
        Called with the number of runs that are done, and of those that are wanted.
    """
    opened = trace if isinstance(trace, _core.Trace) else _core.Trace(to_read(trace))
    file = to_read(candidates)
    table = _read(file)
    needed = _needed(
        table.get("p99_ms") if p99_ms is None else p99_ms, f"{file}: p99_ms" if p99_ms is None else "p99_ms"
    )
    text = _sweep_text(table, file, opened, requests, replay)
    grid = definition.of_table(tomllib.loads(text), file, text)
    if out is not None:
        done = run_definition(grid, out, resume=resume, threads=threads, progress=progress)
        return _weighed(done, needed, threads)
    with TemporaryDirectory(prefix="headstack-") as place:
        done = run_definition(grid, Path(place) / "runs", threads=threads, progress=progress)
        return _weighed(done, needed, threads)


def _needed(value: Any, where: str) -> float | None:
    """The 99th percentile that is needed, if one is."""
    if value is None or (reading.is_number(value) and value > 0):
        return value
    hint = reading.number_hint("p99_ms", value, "60")
    raise InputError(
        f"{where}: {reading.typed(value)} is not a time that can be kept: it must be a number of ms above 0", hint
    )


def _weighed(done: Sweep, needed: float | None, threads: int | None) -> Exploration:
    """The candidates side by side; where none could be run, mostly for what is wrong with the trace, why."""
    failures = [point.failure for point in done.failures if point.failure is not None]
    if failures and not done.complete:
        first = failures[0]
        none = f"none of the {len(failures):,} candidates could be run, the first for this"
        raise InputError(
            f"{none if len(failures) > 1 else 'the one candidate could not be run'}: {first.error}", first.hint
        )
    comparison = done.compare()
    times = rebuild_times(comparison.points, threads)
    return Exploration(
        comparison,
        needed,
        {number: found.hours for number, found in times.items() if found.hours is not None},
        {number: found.idle_hours for number, found in times.items()},
    )


def _alike(points: Sequence[PointResult], one: PointResult, metric: str) -> list[PointResult]:
    """The points that a table shows with the same figure as `one`."""
    return [point for point in points if cells.figure(_cost(point, metric)) == cells.figure(_cost(one, metric))]


def _among_ties(alike: Sequence[PointResult], one: PointResult, tied: str) -> str:
    """What place a point has among those that cost as much: the quickest of them, or one of several."""
    if len(alike) == 1:
        return ""
    as_quick = len(_alike(alike, one, P99))
    if as_quick == 1:
        return f", the quickest of {len(alike)} that {tied}"
    of = "" if as_quick == len(alike) else f" of {len(alike)}"
    return (
        f", one of the {as_quick} quickest{of} that {tied}"
        if of
        else f", one of {as_quick} that {tied} and are as quick"
    )


@dataclass(frozen=True)
class Exploration:
    """What candidates come to under a trace."""

    comparison: SweepComparison
    """All candidates side by side."""
    p99_ms: float | None
    """The 99th percentile that is needed."""
    rebuild_hours: dict[int, float]
    """How long rebuilding a failed drive takes under the load, by the number of the point; of arrays that can be rebuilt."""
    rebuild_hours_idle: dict[int, float] = field(default_factory=dict)
    """The same where nothing else is to do: under a load it takes longer."""

    @property
    def holding(self) -> list[PointResult]:
        """The candidates that keep up with the trace, lose no data of it, and stay within the 99th percentile that is needed."""
        return [point for point in self.comparison.points if self._holds(point)]

    def _holds(self, point: PointResult) -> bool:
        return self.why_not(point) is None

    def why_not(self, point: PointResult) -> WhyNot | None:
        """Why a candidate does not hold the load; `None` where it does."""
        if (why := self.comparison.sweep.behind.get(point.point.number)) is not None:
            return why
        return None if self.p99_ms is None or _cost(point, P99) <= self.p99_ms else "p99"

    def verdict(self, point: PointResult) -> str:
        """Whether it does, in words."""
        why = self.why_not(point)
        return "yes" if why is None else f"no: {_WHY_NOT[why]}"

    def answer(self) -> str:
        """What to buy, in three sentences: who holds the load, who holds it for least, and what more would bring."""
        points, holding = self.comparison.points, self.holding
        limit = "" if self.p99_ms is None else f" with a p99 of at most {self.p99_ms:,g} ms"
        failed = len(self.comparison.sweep.failures)
        hold = "holds" if len(holding) == 1 or len(points) == 1 else "hold"
        first = f"{len(holding):,} of {plural(len(points), 'candidate')} {hold} the load{limit}{f'; {failed} more could not be run' if failed else ''}."
        if not holding:
            return f"{first} {self._nearest(points)}"
        if len(holding) == 1:
            return f"{first} It is {holding[0].label}: {self._words(holding[0])}."
        words = {USD: "cheapest", WATTS: "most frugal"}
        known = (measure for measure in words if any(point.estimate(measure) is not None for point in holding))
        measure = next(known, None)
        if measure is None:
            quickest = min(holding, key=lambda point: _cost(point, P99))
            return f"{first} The quickest of them is {quickest.label}: {self._words(quickest)}."
        least = min(holding, key=lambda point: (_cost(point, measure), _cost(point, P99), _cost(point, MEAN)))
        quickest = min(holding, key=lambda point: (_cost(point, P99), _cost(point, measure), _cost(point, MEAN)))
        # Nobody knows whether one without a price is cheaper.
        known_of = (
            "them" if all(point.estimate(measure) for point in holding) else f"those of known {_KNOWN_BY[measure]}"
        )
        tied = _among_ties(_alike(holding, least, measure), least, _TIED[measure])
        second = f"The {words[measure]} of {known_of} is {least.label}{tied}: {self._words(least)}."
        as_quick = _alike(holding, quickest, P99)
        if least in as_quick:
            return f"{first} {second} None of them is quicker."
        also = "" if len(as_quick) == 1 else f", one of {len(as_quick)} with that p99"
        return f"{first} {second} The quickest is {quickest.label}{also}: {self._words(quickest)}."

    def _nearest(self, points: Sequence[PointResult]) -> str:
        """Of candidates that do not hold the load the nearest, and what it lacks."""
        serving = [point for point in points if point.point.number not in self.comparison.without_requests]
        if not serving:
            return "No request was served: choose a part of the trace that has some."
        lost = set(self.comparison.without_data)
        best = min(serving, key=lambda point: (point.point.number in lost, _cost(point, P99)))
        found = f"The nearest is {best.label}: {self._words(best)}"
        if best.point.number in lost:
            return f"{found}; but its array loses data."
        if any(overload(run.summary) for run in best.runs):
            found += "; it does not keep up, with many requests still waiting when the last one arrives"
        return f"{found}. More drives, or quicker ones, are needed."

    def _words(self, point: PointResult) -> str:
        costs = [(P99, "p99 {} ms"), (WATTS, "{} W"), (USD, "{} USD")]
        known = [(text, value) for metric, text in costs if (value := _known(point, metric)) is not None]
        if (hours := self.rebuild_hours.get(point.point.number)) is not None:
            known.append(("rebuilt in about {} h", hours))
        # Hours are an estimate, off by a few percent and more.
        digits = {text: 2 if text.startswith("rebuilt") else 4 for text, _ in known}
        return ", ".join(text.format(cells.figure(value, digits[text])) for text, value in known)

    @property
    def summary(self) -> ExplorationSummary:
        """What `headstack explore --json` prints."""
        fronts = {front.metric: {point.point.number for point in front.points} for front in self.comparison.fronts}
        return {
            "schema_version": SCHEMA_VERSION,
            "answer": self.answer(),
            "p99_needed_ms": self.p99_ms,
            "candidates": [
                cast(
                    "Candidate",
                    Result(
                        point=point.point.number,
                        **point.values,
                        response_ms={"mean": _known(point, "response_ms.mean"), "p99": _known(point, P99)},
                        watts=_known(point, WATTS),
                        usd=_known(point, USD),
                        iops=_known(point, "iops"),
                        rebuild_hours=self.rebuild_hours.get(point.point.number),
                        rebuild_hours_idle=self.rebuild_hours_idle.get(point.point.number),
                        holds=self.why_not(point) is None,
                        why_not=self.why_not(point),
                        on_front={metric: point.point.number in numbers for metric, numbers in fronts.items()},
                    ),
                )
                for point in self.comparison.points
            ],
            "failures": self.comparison.sweep.failure_rows,
        }

    def _repr_html_(self) -> str:
        from headstack.notebook import sentence

        return sentence(self.answer())

    def report(self, path: str | Path) -> None:
        """Write the page: the answer, Pareto fronts, all candidates, distributions, phases."""
        from headstack.files import to_write
        from headstack.report.exploration import exploration_page

        exploration_page(self).write(to_write(path))


def _known(point: PointResult, metric: str) -> float | None:
    found = point.estimate(metric)
    return None if found is None else found.mean


def _cost(point: PointResult, metric: str) -> float:
    """A metric to be small; what is not known is not small."""
    found = _known(point, metric)
    return float("inf") if found is None else found


# ---- the candidates ----


def _read(file: Path) -> dict[str, Any]:
    table = reading.toml_file(file, "candidates are")
    reading.check_keys(table, _KEYS, str(file))
    drives = table.get("drives")
    if not isinstance(drives, list) or not drives or not all(isinstance(name, str) for name in drives):
        raise InputError(f"{file}: drives: must be a list of names", 'drives = ["nearline-18tb", "dual-actuator-18tb"]')
    if twice := next((name for number, name in enumerate(drives) if name in drives[:number]), None):
        raise InputError(f"{file}: drives: `{twice}` is there twice", "leave one of them out")
    for name in drives:
        # What is misspelt would fail in every array.
        try:
            _core.Drive(_drive(name, file))
        except InputError as problem:
            raise InputError(f"{file}: drives: {problem}", problem.hint) from None
    _check_rest(table, file)
    for word in table.get("schedulers", ()):
        _check_scheduler(word, _drive(drives[0], file), file)
    return table


def _check_scheduler(word: str, drive: str, file: Path) -> None:
    """Refuse a scheduler that no run would know, before any is made."""
    override = scheduler_override(word, f"{file}: schedulers:")
    try:
        _core.System(drive, overrides=[override])
    except InputError as problem:
        known = [each["name"] for each in _core.schedulers()]
        if override[1].partition("(")[0] in known:
            raise InputError(f"{file}: schedulers: {problem}", problem.hint) from None
        if not override[1]:
            raise InputError(
                f'{file}: schedulers: "{word}" names no scheduler', f'schedulers = ["{word}sptf"]'
            ) from None
        near = reading.nearest(override[1], known)
        raise InputError(f"{file}: schedulers: there is no scheduler `{override[1]}`", near) from None


def _check_rest(table: Mapping[str, Any], file: Path) -> None:
    """Refuse schedulers that are no list of names, and prices of other drives."""
    schedulers = table.get("schedulers", [""])
    if not isinstance(schedulers, list) or not schedulers or not all(isinstance(name, str) for name in schedulers):
        raise InputError(f"{file}: schedulers: must be a list of names", 'schedulers = ["drive:fcfs", "drive:sptf"]')
    if not isinstance(table.get("summary", ""), str):
        raise InputError(f"{file}: summary: must be a text, not {reading.typed(table['summary'])}", 'summary = "…"')
    prices = table.get("usd", {})
    if not isinstance(prices, dict):
        raise InputError(f"{file}: usd: must be a table", '"nearline-18tb" = 300')
    for name in prices:
        if name not in table["drives"]:
            raise InputError(f"{file}: usd: `{name}` is none of the drives", reading.nearest(name, table["drives"]))
    try:
        definition.prices(prices)
    except InputError as problem:
        raise InputError(f"{file}: {problem}", problem.hint) from None


def _sweep_text(
    table: Mapping[str, Any], file: Path, trace: _core.Trace, requests: int | None, replay: str | None
) -> str:
    """The candidates as a sweep file: an axis of systems, and one of schedulers."""
    (path,), options = trace.__getnewargs_ex__()
    base: dict[str, Any] = {"trace": str(path)}
    base |= {key: value for key, value in (("requests", requests), ("replay", replay)) if value is not None}
    base["set"] = {f"trace.{key}": _plain(value) for key, value in options.items() if value not in (None, [])}
    axes: list[dict[str, Any]] = [
        {
            "name": "system",
            "cases": [{"name": name, "set": {"system": text}} for name, text in _systems(table, file)],
        }
    ]
    if "schedulers" in table:
        axes.append({"path": "scheduler", "values": table["schedulers"]})
    usd = {_drive(name, file): price for name, price in table.get("usd", {}).items()}
    about = table.get("summary") or f"{path.name} on {file.stem}"
    keys = {"summary": about, "metrics": list(METRICS), "base": base, "axis": axes, "usd": usd}
    return "".join(f"{key} = {reading.toml_text(value)}\n" for key, value in keys.items())


def _plain(value: Any) -> Any:
    """A value as TOML has it, which knows no `None`: a device alone stands for one without a volume of its own."""
    if isinstance(value, tuple) and len(value) == 2 and value[1] is None:
        return value[0]
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _systems(table: Mapping[str, Any], file: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the systems: each array of each drive."""
    arrays = table.get("arrays", list(_DEFAULT_ARRAYS))
    if not isinstance(arrays, list) or not arrays:
        raise InputError(f"{file}: arrays: must be a list of tables", '[[arrays]], level = "raid-5", drives = 4')
    for number, array in enumerate(arrays):
        if not isinstance(array, dict):
            raise InputError(f"{file}: arrays.{number}: must be a table", 'level = "raid-5", drives = 4')
        count = reading.whole(array, "drives", f"{file}: arrays.{number}", 1, 10_000, 1)
        rest = {key: value for key, value in array.items() if key != "drives"}
        check_volume({**rest, "drives": []}, f"{file}: arrays.{number}")
        for name in table["drives"]:
            volume = {**rest, "drives": [_drive(name, file)] * count}
            if "spares" in rest:
                volume["spares"] = [_drive(spare, file) for spare in rest["spares"]]
            words = [
                str(rest.get("level", "")),
                *(_in_words(key, value) for key, value in rest.items() if key != "level"),
            ]
            label = ", ".join(filter(None, [name if count == 1 else f"{count} × {name}", *words]))
            yield label, f"[volume]\ndata = {reading.toml_text(volume)}\n"


_UNITS = {"_mb_per_s": "MB/s", "_kib": "KiB", "_mib": "MiB", "_ms": "ms", "_s": "s", "_percent": "%"}


def _in_words(key: str, value: Any) -> str:
    """A value of an array as people say it: `stripe_unit_kib = 64` is a stripe unit of 64 KiB."""
    ending = next((ending for ending in _UNITS if key.endswith(ending)), "")
    name = key.removesuffix(ending).replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if isinstance(value, dict):
        return f"{name} ({_table_in_words(value)})"
    if isinstance(value, list):
        each = [_table_in_words(one) if isinstance(one, dict) else _amount(one) for one in value]
        return f"{name} ({'; '.join(each)})"
    amount = _amount(value)
    return f"{name} {amount}{' ' if ending else ''}{_UNITS.get(ending, '')}"


def _table_in_words(table: Mapping[str, Any]) -> str:
    return " ".join(_in_words(key, value) for key, value in table.items())


def _amount(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.15g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _drive(name: str, file: Path) -> str:
    """The drive file beside the candidates, if there is one; else the name as it stands."""
    beside = file.parent / name
    return str(beside.resolve()) if beside.is_file() else named(name)
