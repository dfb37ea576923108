"""An axis of a grid: its name, and what each of its values sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError
from headstack.sweeping import reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.sweeping.reading import Value

_WAYS = ("values", "range", "log_range", "cases")
_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Choice:
    """One value of an axis: what tables call it, and what it sets, by path."""

    label: Value
    sets: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Axis:
    """A parameter, or a few that change together, with the values it takes."""

    name: str
    choices: tuple[Choice, ...]

    @property
    def paths(self) -> list[str]:
        """What it sets."""
        return list(dict.fromkeys(path for choice in self.choices for path, _ in choice.sets))

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, with others between them."""
        return all(type(choice.label) in (int, float) for choice in self.choices)

    @property
    def is_load(self) -> bool:
        """Whether it changes what is asked of a system and not the system: points are compared under the same load."""
        return all(path.partition(".")[0] in ("workload", "trace", "requests") for path in self.paths)


def read(table: Mapping[str, Any], where: str) -> Axis:
    """Read `[[axis]]`: a `path` with `values`, a `range` or a `log_range`; or `cases`."""
    reading.check_keys(table, (*_WAYS, "path", "name"), where)
    given = [way for way in _WAYS if way in table]
    if len(given) != 1:
        found = "none of them is given" if not given else f"{' and '.join(given)} are given"
        raise InputError(f"{where}: an axis has one of {', '.join(_WAYS)}, and {found}", "path = …, values = [1, 2, 4]")
    if given == ["cases"]:
        return _of_cases(table, where)
    path = reading.text(table, "path", where)
    name = _name(table, where, path)
    values = {"values": _list, "range": _range, "log_range": _log_range}[given[0]](
        table[given[0]], f"{where}.{given[0]}"
    )
    if not values:
        raise InputError(f"{where}.{given[0]}: the axis `{name}` has no values", "give at least one")
    return Axis(name, tuple(Choice(_label(value), ((path, value),)) for value in values))


def _of_cases(table: Mapping[str, Any], where: str) -> Axis:
    if "path" in table:
        raise InputError(f"{where}.path: the cases of an axis have paths of their own", "leave `path` out")
    cases, choices = table["cases"], []
    if not isinstance(cases, list) or not cases:
        raise InputError(f"{where}.cases: there is no case", 'cases = [{ name = "…", set = { "dotted.path" = 1 } }]')
    for number, case in enumerate(cases):
        place = f"{where}.cases.{number}"
        reading.check_table(case, ("name", "set"), place)
        sets = case.get("set")
        if not isinstance(sets, dict) or not sets:
            raise InputError(f"{place}.set: a case sets at least one value", 'set = { "dotted.path" = 1 }')
        choices.append(Choice(reading.text(case, "name", place), tuple(sets.items())))
    labels = [choice.label for choice in choices]
    if len(set(labels)) < len(labels):
        raise InputError(f"{where}.cases: two cases have the same name", "tables tell them apart by it")
    return Axis(_name(table, where, "case"), tuple(choices))


def _name(table: Mapping[str, Any], where: str, path: str) -> str:
    if "name" not in table:
        # The last word of a path: `drive.*.controller.queue_depth` is `queue_depth`.
        words = [part for part in path.split(".") if re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", part)]
        return words[-1].replace("-", "_") if words else "axis"
    name = reading.text(table, "name", where)
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name in {"and", "or", "not", "in"}:
        raise InputError(f"{where}.name: `{name}` is not a name", "letters, digits and _, a letter first")
    return name


def _label(value: Any) -> Value:
    return value if isinstance(value, (bool, int, float, str)) else reading.toml_text(value)


def _list(values: Any, where: str) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(f"{where}: must be a list", "values = [1, 2, 4]")
    for number, value in enumerate(values):
        if isinstance(value, float) and not isfinite(value):
            raise InputError(
                f"{where}.{number}: {reading.typed(value)} is not a number that a value can be", "give a finite number"
            )
        # 4000 and 4000.0 are one value; 1 and true are two.
        if any(other == value and isinstance(other, bool) == isinstance(value, bool) for other in values[:number]):
            raise InputError(f"{where}: {reading.typed(value)} is there twice", "leave one of them out")
    return values


def _range(table: Any, where: str) -> list[Any]:
    reading.check_table(table, ("from", "to", "step", "count"), where)
    low, high = _ends(table, where)
    if ("step" in table) == ("count" in table):
        raise InputError(f"{where}: a range has a `step` or a `count`", "range = { from = 1, to = 10, step = 1 }")
    if "count" in table:
        count = _count(table, where)
        return _rounded([low + (high - low) * part / max(count - 1, 1) for part in range(count)], low, high)
    step = reading.number(table, "step", where)
    if step <= 0:
        raise InputError(f"{where}.step: {reading.typed(step)} leads nowhere", "give a positive step")
    reached = (high - low) / step + 1e-9
    if reached >= _MOST_VALUES:
        raise InputError(f"{where}: that is more than {_MOST_VALUES:,} values", "choose a longer step")
    steps = int(reached)
    return [_digits(low + step * number, 12) for number in range(steps + 1)]


def _log_range(table: Any, where: str) -> list[Any]:
    reading.check_table(table, ("from", "to", "count"), where)
    low, high = _ends(table, where)
    if low <= 0:
        raise InputError(f"{where}.from: {reading.typed(low)} has no logarithm", "begin above 0")
    if not isfinite(ratio := high / low):
        raise InputError(
            f"{where}: from {reading.typed(low)} to {reading.typed(high)} is further than numbers reach",
            "give ends that are nearer",
        )
    count = _count(table, where)
    return _rounded([low * ratio ** (part / max(count - 1, 1)) for part in range(count)], low, high)


def _ends(table: Mapping[str, Any], where: str) -> tuple[float, float]:
    low, high = reading.number(table, "from", where), reading.number(table, "to", where)
    if high < low:
        raise InputError(
            f"{where}: it goes from {reading.typed(low)} to {reading.typed(high)}, which is empty",
            "`from` comes before `to`",
        )
    if not isfinite(high - low):
        raise InputError(
            f"{where}: from {reading.typed(low)} to {reading.typed(high)} is further than numbers reach",
            "give ends that are nearer",
        )
    return low, high


def _count(table: Mapping[str, Any], where: str) -> int:
    count = table.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_VALUES:
        found = f"{where}.count: {reading.typed(count)} is not a number of values from 1 to {_MOST_VALUES:,}"
        raise InputError(
            found if "count" in table else f"{where}: `count` is missing", reading.number_hint("count", count, "5")
        )
    return count


def _rounded(values: list[float], low: float, high: float) -> list[Any]:
    """Between whole ends the values are whole, and each is there once; 1.0 as an end keeps them real, of four digits."""
    if isinstance(low, int) and isinstance(high, int):
        return list(dict.fromkeys(round(value) for value in values))
    return list(dict.fromkeys(_digits(value, 4) for value in values))


def _digits(value: float, digits: int) -> float:
    """What tables show is what is run."""
    return value if isinstance(value, int) else float(f"{value:.{digits}g}")
