"""The sweep file: what is run, over which grid, how often, and what is wanted of it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.counted import plural
from headstack.errors import HeadstackError, InputError
from headstack.remote import is_url, version
from headstack.sweeping import axis, constraint, paths, reading, settings
from headstack.sweeping.file_hints import in_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headstack.sweeping.settings import Settings

METRICS = ("response_ms.mean", "response_ms.p99", "iops", "power.average_w")
"""What is wanted where the file does not say."""
MOST_POINTS = 100_000
_MOST_REPEATS = 100_000
_LAST_SEED = 2**64 - 1
COLUMNS = ("point", "seed", "error", "summary", "cdf_ms", "cdf_share")
"""What the table of all runs calls what is neither an axis nor a metric."""


@dataclass(frozen=True)
class Point:
    """One place of the grid: its number, what each axis is there, and what is run."""

    number: int
    choices: tuple[axis.Choice, ...]
    values: dict[str, reading.Value]
    """The axes by name, as tables show them."""
    settings: Settings


@dataclass(frozen=True)
class Stop:
    """Until the 95 % interval of a metric's mean is within so many percent of it, or so many repeats are done."""

    metric: str
    within_percent: float
    most: int


@dataclass(frozen=True)
class Definition:
    """A sweep file that has been read."""

    path: Path
    text: str
    summary: str
    base: dict[str, Any]
    axes: list[axis.Axis]
    points: list[Point]
    seeds: list[int]
    stop: Stop | None
    metrics: list[str]
    usd: dict[str, float]
    """The price of a drive, by the name of its model."""
    is_from_file: bool = False
    """Whether somebody wrote it as a sweep file, and can change its keys."""

    def seed(self, repeat: int) -> int:
        """The seed of a repeat: the same at every point, so that all of them serve the same requests."""
        last = len(self.seeds) - 1
        return self.seeds[repeat] if repeat <= last else self.seeds[last] + repeat - last

    def hint(self, hint: str | None) -> str | None:
        """What to do about a run, as whoever made the sweep can do it: in its file, or with options of its command."""
        return in_keys(hint) if self.is_from_file else hint

    def identity(self) -> str:
        """What makes this sweep the same as another one: the file, the version, and what its systems and loads are."""
        known = {
            "version": _core.VERSION,
            "sweep": tomllib.loads(self.text),
            "systems": self._hashes(_hash_of_system, (p.settings.system for p in self.points)),
            "workloads": self._hashes(_hash_of_workload, (p.settings.workload for p in self.points)),
            "traces": self._hashes(_hash_of_trace, (p.settings.trace for p in self.points)),
        }
        return sha256(json.dumps(known, sort_keys=True, default=str).encode()).hexdigest()

    def _hashes(self, of: Callable[[str], str], names: Iterable[str | None]) -> dict[str, str]:
        """The hash of each by its name, that of a file as it is called beside the sweep file: wherever that is opened from."""
        return {self._beside(name): of(name) for name in sorted({name for name in names if name})}

    def _beside(self, name: str) -> str:
        if "\n" in name or is_url(name):
            return name
        try:
            return str(Path(name).relative_to(self.path.parent))
        except ValueError:
            return name


def load(path: Path) -> Definition:
    """Read and check a sweep file."""
    text = reading.file_text(path, "a sweep is")
    table = reading.toml_table(text, path)
    try:
        found = of_table(table, path, text)
        _check_systems(found.points)
    except InputError as problem:
        raise InputError(f"{path}: {problem}", problem.hint) from None
    return replace(found, is_from_file=True)


def _check_systems(points: Iterable[Point]) -> None:
    """Refuse names that the library does not have: each of their points would fail."""
    for name in dict.fromkeys(point.settings.system for point in points):
        if "\n" not in name and not Path(name).exists():
            _core.System(name)


def of_table(table: Mapping[str, Any], path: Path, text: str) -> Definition:
    """A sweep of what its file holds."""
    known = ("summary", "base", "axis", "constraints", "repeats", "stop", "metrics", "usd")
    reading.check_keys(table, known, "the sweep")
    base = _base(table.get("base"))
    axes = _axes(table.get("axis"))
    paths.check(base, axes)
    points = _points(base, axes, table.get("constraints", []), path.parent)
    seeds, stop = _repeats(table.get("repeats", {}), table.get("stop"))
    metrics = _metrics(table.get("metrics", list(METRICS)), stop)
    _check_names(axes, metrics)
    return Definition(
        path, text, _summary(table.get("summary", "")), base, axes, points, seeds, stop, metrics, prices(table.get("usd", {})),
    )  # fmt: skip


def _check_names(axes: Iterable[axis.Axis], metrics: Iterable[str]) -> None:
    """Refuse axes that would take the place of another column in the table of all runs."""
    taken = dict.fromkeys(COLUMNS, "a column") | dict.fromkeys(metrics, "a metric")
    for number, each in enumerate(axes):
        if each.name in taken:
            raise InputError(
                f"axis.{number}: the axis is called `{each.name}`, as {taken[each.name]} of the results is",
                'name = "…" gives it another name',
            )


def _summary(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError("summary: must be a text", 'summary = "what the sweep asks"')
    return value


def _base(table: Any) -> dict[str, Any]:
    if table is None:
        raise InputError("`[base]` is missing", 'it says what is run: system = "…", workload = "…"')
    reading.check_table(table, (*settings.SOURCE_KEYS, *settings.RUN_KEYS, "set"), "base")
    below = table.get("set", {})
    if not isinstance(below, dict):
        raise InputError("base.set: must be a table", '"dotted.path" = value')
    return {**{key: value for key, value in table.items() if key != "set"}, **below}


def _axes(tables: Any) -> list[axis.Axis]:
    if not isinstance(tables, list) or not tables:
        raise InputError("there is no axis", 'a sweep has at least one: [[axis]], path = "…", values = […]')
    axes = [axis.read(table, f"axis.{number}") for number, table in enumerate(tables)]
    for number, each in enumerate(axes):
        for other in axes[:number]:
            if other.name == each.name:
                raise InputError(f"axis.{number}: two axes are called `{each.name}`", 'name = "…" tells them apart')
    return axes


def _points(base: dict[str, Any], axes: list[axis.Axis], conditions: Any, folder: Path) -> list[Point]:
    total = reduce(lambda count, each: count * len(each.choices), axes, 1)
    if total > MOST_POINTS:
        raise InputError(f"the grid has {total:,} points, more than {MOST_POINTS:,}", "give the axes fewer values")
    if not isinstance(conditions, list):
        raise InputError("constraints: must be a list", "constraints = [\"depth <= 4 or scheduler == 'sptf'\"]")
    names = [each.name for each in axes]
    limits = [constraint.read(text, f"constraints.{number}", names) for number, text in enumerate(conditions)]
    grid = [
        (dict(zip(names, (choice.label for choice in chosen), strict=True)), chosen)
        for chosen in product(*(each.choices for each in axes))
    ]
    kept = [(values, chosen) for values, chosen in grid if all(limit.holds(values) for limit in limits)]
    if not kept:
        alone = "; ".join(
            f"`{limit.source}` by itself leaves {sum(limit.holds(values) for values, _ in grid)}" for limit in limits
        )
        raise InputError(f"the constraints leave none of {plural(total, 'point')}: they contradict each other", alone)
    return [
        Point(number, chosen, values, _settings(base, chosen, folder)) for number, (values, chosen) in enumerate(kept)
    ]


def settings_without(definition: Definition, point: Point, left_out: axis.Axis) -> Settings:
    """What would be run at a point without one of the axes; `InputError` where that is nothing."""
    chosen = [choice for choice in point.choices if choice not in left_out.choices]
    return _settings(definition.base, chosen, definition.path.parent)


def _settings(base: dict[str, Any], chosen: Iterable[axis.Choice], folder: Path) -> Settings:
    values = {**base, **dict(pair for choice in chosen for pair in choice.sets)}
    if "system" not in values:
        raise InputError("base: `system` is missing", "name one there, or make it an axis")
    if ("workload" in values) == ("trace" in values):
        found = "both are given" if "trace" in values else "neither is given"
        raise InputError(f"base: requests come from a `workload` or a `trace`, and {found}", "name one of the two")
    for name in ("requests", "warmup_requests", "warmup_s", "until_s"):
        if name in values:
            _checked(name, values[name])
    if values.get("replay", "open") not in ("open", "closed", "measured"):
        raise InputError(f"`replay`: there is no replay `{values['replay']}`", "open, closed or measured")
    return settings.of(values, folder)


def _checked(name: str, value: Any) -> None:
    try:
        _core.check_number(name, value)
    except TypeError:
        raise InputError(f"`{name}`: {reading.typed(value)} is not a number of its kind") from None
    except InputError as problem:
        # The core tells a value as Python writes it.
        unquoted = reading.number_hint(name, value) if isinstance(value, str) and name != "seed" else ""
        hint = "; ".join(filter(None, [problem.hint, unquoted]))
        raise InputError(f"`{name}`: {reading.typed(value)} is not allowed", hint) from None


def _repeats(table: Any, stop: Any) -> tuple[list[int], Stop | None]:
    reading.check_table(table, ("count", "first_seed", "seeds"), "repeats")
    rule = None if stop is None else _stop(stop)
    if "seeds" in table:
        seeds = table["seeds"]
        if not isinstance(seeds, list) or not seeds or len(table) > 1:
            raise InputError(
                "repeats.seeds: must be a list of seeds, without `count` and `first_seed`", "seeds = [1, 2, 3]"
            )
        for seed in seeds:
            _checked("seed", seed)
        if twice := [seed for number, seed in enumerate(seeds) if seed in seeds[:number]]:
            raise InputError(f"repeats.seeds: the seed {twice[0]} is there twice", "the same seed gives the same run")
    else:
        count = reading.whole(table, "count", "repeats", 1, _MOST_REPEATS, 1 if rule is None else 3)
        first = reading.whole(table, "first_seed", "repeats", 0, 2**62, 1)
        seeds = list(range(first, first + count))
    if rule is not None and len(seeds) < 2:
        raise InputError("repeats.count: an interval needs at least 2 repeats", "count = 3")
    if rule is not None and rule.most < len(seeds):
        raise InputError(f"stop.most: {rule.most} is fewer than the {len(seeds)} repeats that every point gets")
    if rule is not None and max(seeds) != seeds[-1]:
        raise InputError(
            "repeats.seeds: with [stop] the last seed must be the largest", "further repeats count on from it"
        )
    if rule is not None and seeds[-1] + rule.most - len(seeds) > _LAST_SEED:
        raise InputError(
            f"repeats.seeds: with [stop] further repeats count on from {seeds[-1]}, beyond the last seed there is",
            f"{rule.most} repeats (stop.most) need seeds up to {_LAST_SEED}",
        )
    return seeds, rule


def _stop(table: Any) -> Stop:
    reading.check_table(table, ("metric", "within_percent", "most"), "stop")
    within = reading.number(table, "within_percent", "stop")
    if within <= 0:
        raise InputError(f"stop.within_percent: {within} is never reached", "give a positive share, such as 5")
    return Stop(
        reading.text(table, "metric", "stop"), within, reading.whole(table, "most", "stop", 2, _MOST_REPEATS, 30)
    )


def _metrics(names: Any, stop: Stop | None) -> list[str]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError("metrics: must be a list of names", 'metrics = ["response_ms.p99", "iops"]')
    return list(dict.fromkeys([*names, *([stop.metric] if stop else [])]))


def prices(table: Any) -> dict[str, float]:
    """The price of each drive by its name."""
    if not isinstance(table, dict):
        raise InputError("usd: must be a table", '"nearline-18tb" = 300')
    found = {name: reading.number(table, name, "usd") for name in table}
    for name, price in found.items():
        if price < 0:
            raise InputError(f"usd.{name}: {reading.typed(price)} is not a price", "give 0 or more")
    return {name: float(price) for name, price in found.items()}


def _hash_of_system(name: str) -> str:
    # What a configuration is made of is named in it, by its path.
    if "\n" not in name and Path(name).is_file():
        name = str(Path(name).resolve())
    try:
        return settings.system(name, ()).config_hash
    except HeadstackError as problem:
        return str(problem)


def _hash_of_workload(name: str) -> str:
    try:
        return json.dumps(_core.Workload(name).spec(), sort_keys=True)
    except HeadstackError as problem:
        return str(problem)


def _hash_of_trace(name: str) -> str:
    """Its size and its beginning: a trace may be larger than what one wants to read twice."""
    if is_url(name):
        return version(name)
    path = Path(name)
    try:
        with path.open("rb") as file:
            return f"{path.stat().st_size} {sha256(file.read(1 << 20)).hexdigest()}"
    except OSError as problem:
        return str(problem.strerror)
