"""What of a drive can be fitted: names, bounds, the steps a search begins with, and values where the file has none."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# What a search may try for the first time, in the parameter's own unit; later rounds begin with the smaller ones.
TIMES_MS = (0.05, 0.2, 0.5, 1.0)
SHARES = (0.01, 0.05, 0.15, 0.3)

# Where writes may need more settle, in cylinders; beyond the drive's last cylinder there is nothing to fit.
KNOTS = (1, 50, 100, 200, 300, 400, 500, 600, 700, 800, 1200, 2400)
KNOT_PATH = "mechanics.write_settle_by_distance_ms"


class Values:
    """The values of a drive file, some of them replaced.

    Nothing is ever changed in place: a search holds on to as many of these as it likes.
    """

    def __init__(self, file: Mapping[str, Any], replaced: Mapping[str, Any] | None = None) -> None:
        self.file = file
        self.replaced: dict[str, Any] = dict(replaced or {})

    @classmethod
    def of_toml(cls, text: str) -> Values:
        """The values of a drive file's text."""
        return cls(tomllib.loads(text))

    def get(self, path: str) -> Any:
        """The value at a dotted path, `None` where there is none."""
        if path in self.replaced:
            return self.replaced[path]
        node: Any = self.file
        for part in path.split("."):
            if not isinstance(node, dict) or part not in node:
                return None
            node = node[part]
        return node

    def has(self, path: str) -> bool:
        """Whether there is a value at a dotted path."""
        return self.get(path) is not None

    def with_(self, path: str, value: Any) -> Values:
        """A copy with one value replaced."""
        return Values(self.file, {**self.replaced, path: value})

    def without(self, path: str) -> Values:
        """A copy with the file's own value at a path."""
        return Values(self.file, {key: value for key, value in self.replaced.items() if key != path})

    def on(self, file: Mapping[str, Any]) -> Values:
        """The same values replaced in another file."""
        return Values(file, self.replaced)

    def overrides(self) -> list[tuple[str, str]]:
        """The replaced values, as a system takes them."""
        return [(path, toml_value(value)) for path, value in self.replaced.items()]


def toml_value(value: Any) -> str:
    """A value as TOML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items()) + " }"
    return repr(value)


@dataclass(frozen=True)
class Number:
    """A number that can be fitted: one key, or one element of a list."""

    path: str
    low: float
    high: float
    steps: tuple[float, ...] = TIMES_MS
    # Steps are shares of the value rather than amounts.
    relative: bool = False
    element: int | None = None
    # For a list of points: the distance this element belongs to.
    at_cylinders: int | None = None
    digits: int = 3
    # The value that the model uses where the file has none; a list for elements of lists.
    default: Callable[[Values], Any] = field(default=lambda _: 0.0, compare=False)

    @property
    def name(self) -> str:
        """The dotted path, the element's number included."""
        return self.path if self.element is None else f"{self.path}.{self.element}"

    def value(self, values: Values) -> float:
        """What it is in a drive."""
        found = self._whole(values)
        if self.element is not None:
            found = found[self.element]
        return float(found[1] if self.at_cylinders is not None else found)

    def moved(self, values: Values, steps: float) -> Values | None:
        """The drive with this value changed by an amount (or a share); `None` where physics forbids it."""
        old = self.value(values)
        new = old * (1.0 + steps) if self.relative else old + steps
        return self.put(values, new) if self.low <= new <= self.high else None

    def put(self, values: Values, new: float) -> Values:
        """The drive with another value, rounded to what can be told apart."""
        number: Any = round(new, self.digits)
        if self.element is None:
            return values.with_(self.path, number)
        whole = list(self._whole(values))
        whole[self.element] = number if self.at_cylinders is None else [float(self.at_cylinders), number]
        return values.with_(self.path, whole)

    def restored(self, values: Values, before: Values) -> Values:
        """The drive with this value as it was before; a key that then says nothing new is left out of the file again."""
        back = self._exactly(values, before)
        plain = back.without(self.path)
        return plain if self._whole(plain) == self._whole(back) else back

    def changed(self, values: Values, before: Values) -> bool:
        """Whether a fit has replaced this value, rather than another that it follows by default."""
        return self.path in values.replaced and self.value(values) != self.value(before)

    def _exactly(self, values: Values, before: Values) -> Values:
        old = self._whole(before)
        if self.element is None:
            return values.with_(self.path, old)
        whole = list(self._whole(values))
        whole[self.element] = old[self.element]
        return values.with_(self.path, whole)

    def _whole(self, values: Values) -> Any:
        found = values.get(self.path)
        return self.default(values) if found is None else found


@dataclass(frozen=True)
class Choice:
    """A word, a switch or a whole number, chosen among a few."""

    path: str
    options: tuple[Any, ...]
    default: Any = None

    @property
    def name(self) -> str:
        """The dotted path."""
        return self.path

    def value(self, values: Values) -> Any:
        """What it is in a drive."""
        found = values.get(self.path)
        return self.default if found is None else found

    def restored(self, values: Values, before: Values) -> Values:  # noqa: ARG002 (as a number's)
        """The drive with the file's own value."""
        return values.without(self.path)

    def changed(self, values: Values, before: Values) -> bool:
        """Whether a fit has replaced this value."""
        return self.path in values.replaced and self.value(values) != self.value(before)


_HISTORY = "controller.by_history"
_NEGATIVE_SETTLE_MS = -5.0
_LONGEST_OVERHEAD_MS = 20.0


def numbers(values: Values, cylinders: int) -> list[Number]:
    """Return the numbers that make sense for a drive, in the order in which they are best fitted."""
    return [*_overheads(values), *_mechanics(values, cylinders), *_transfers(values)]


def knots(values: Values, cylinders: int) -> list[Number]:
    """Return the settle of writes by distance: an element for each distance the drive has."""
    points = values.get(KNOT_PATH)
    distances = [int(point[0]) for point in points] if points else [at for at in KNOTS if at < cylinders]

    def level(_: Values) -> list[list[float]]:
        return [[float(at), 0.0] for at in distances]

    return [
        Number(KNOT_PATH, 0.0, 10.0, (0.3, 1.0, 3.0, 6.0), element=index, at_cylinders=at, digits=2, default=level)
        for index, at in enumerate(distances)
    ]


def _overheads(values: Values) -> list[Number]:
    found: list[Number] = []
    high = _LONGEST_OVERHEAD_MS
    if values.has(_HISTORY):
        for key in ("read_miss_ms", "write_miss_ms", "read_hit_ms", "write_hit_ms"):
            found += [Number(f"{_HISTORY}.{key}", 0.0, high, element=element) for element in (0, 1)]
        for operation in ("read", "write"):
            default = _seek_after(f"{_HISTORY}.{operation}_miss_ms")
            path = f"{_HISTORY}.{operation}_seek_after_ms"
            found += [Number(path, 0.0, high, element=element, default=default) for element in (0, 1)]
        if values.has("cache"):
            at_rest = f"{_HISTORY}.read_hit_at_rest_ms"
            found.append(Number(at_rest, 0.0, high, default=lambda drive: drive.get(f"{_HISTORY}.read_hit_ms")[0]))
    else:
        found += [Number(f"controller.{operation}_overhead_ms", 0.0, high) for operation in ("read", "write")]
        if values.has("cache"):
            read = "controller.read_overhead_ms"
            found.append(Number("controller.hit_overhead_ms", 0.0, high, default=lambda drive: drive.get(read) or 0.0))
    found += [Number(f"controller.{operation}_completion_ms", 0.0, high) for operation in ("read", "write")]
    if values.has("controller.seek_after_ms") or not values.has(_HISTORY):
        found.append(Number("controller.seek_after_ms", 0.0, high, default=_plain_seek_after))
    found.append(Number("controller.write_after_write_seek_delay_ms", 0.0, high))
    return found


def _seek_after(miss: str) -> Callable[[Values], list[float]]:
    # Without a value of its own, the seek of a miss starts when the rest of the drive says.
    def default(values: Values) -> list[float]:
        after = values.get("controller.seek_after_ms")
        beside = values.get("controller.overhead_beside_seek_ms") or 0.0
        if after is not None:
            return [after, after]
        return [max(0.0, overhead - beside) for overhead in values.get(miss)]

    return default


def _plain_seek_after(values: Values) -> float:
    beside = values.get("controller.overhead_beside_seek_ms") or 0.0
    return max(0.0, (values.get("controller.read_overhead_ms") or 0.0) - beside)


def _mechanics(values: Values, cylinders: int) -> list[Number]:
    low = _NEGATIVE_SETTLE_MS
    return [
        Number("mechanics.inward_seek_extra_ms", low, 5.0),
        Number("mechanics.write_settle_ms", low, 10.0),
        Number("mechanics.read_settle_ms", low, 10.0),
        Number("mechanics.head_switch_ms", 0.0, 10.0),
        *knots(values, cylinders),
    ]


def _transfers(values: Values) -> list[Number]:
    found: list[Number] = []
    size_kib = values.get("buffer.size_kib")
    size_kib = 64.0 if size_kib is None else float(size_kib)
    if values.has("buffer.read_fence_fraction"):
        found.append(Number("buffer.read_fence_fraction", 0.0, 1.0, (0.02, 0.05, 0.1, 0.25)))
    elif size_kib > 0.0:
        fences = (0.5, 1.0, 2.0, 4.0, 8.0)
        found.append(Number("buffer.read_fence_kib", 0.0, size_kib, fences, digits=2))
    found.append(Number("buffer.write_start_ms", 0.0, 10.0))
    found += [
        Number(f"bus.{operation}_mb_per_s", 0.1, 10_000.0, SHARES, relative=True, digits=4)
        for operation in ("read", "write")
    ]
    segment_kib = values.get("cache.segment_kib")
    if segment_kib is not None:
        limit = "cache.read_ahead_limit_kib"
        high = float(segment_kib)
        found.append(Number(limit, 0.5, high, (0.1, 0.25, 0.5), True, digits=1, default=lambda _: segment_kib))
    return found


def choices(values: Values) -> list[Choice]:
    """Return the words and switches that make sense for a drive."""
    found = [
        Choice("buffer.write_overlaps_seek", (True, False), True),
        Choice("buffer.write_on_arrival", (True, False), False),
    ]
    if not values.has("cache"):
        return found
    ahead = "none to-track-end to-cylinder-end until-full aggressive sequential-aware once-sequential on-arrival"
    switch = (True, False)
    reads_on = values.get("cache.read_ahead") in {"aggressive", "sequential-aware", "once-sequential"}
    return [
        Choice("cache.read_ahead", tuple(ahead.split()), "none"),
        Choice("cache.read_ahead_over_requested", switch, False),
        Choice("cache.read_ahead_on_hit", switch, reads_on),
        Choice("cache.written_data", ("dropped", "shared", "own-segment"), "dropped"),
        Choice("cache.zero_latency", switch, False),
        Choice("cache.whole_track", switch, False),
        Choice("cache.write_overlap", ("keep-front", "drop-segment"), "keep-front"),
        Choice("cache.partial_hit", ("serve", "bypass"), "serve"),
        Choice("cache.segments", (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32), 1),
        *found,
    ]


def chosen(
    names: Iterable[str] | None, numbers: list[Number], choices: list[Choice]
) -> tuple[list[Number], list[Choice]]:
    """Keep the parameters that were asked for: names, paths of lists, or whole tables; all where nothing was.

    Raises `InputError` for a name that is none of the drive's, with those that are.
    """
    wanted = list(names or [])
    if not wanted:
        return numbers, choices
    known = [parameter.name for parameter in (*numbers, *choices)]

    def covers(word: str, name: str) -> bool:
        return name == word or name.startswith(f"{word}.")

    for word in wanted:
        if not any(covers(word, name) for name in known):
            # The elements of a list are told by the list's name: both can be asked for.
            lists = dict.fromkeys(parameter.path for parameter in (*numbers, *choices))
            raise InputError(f"`{word}` is no parameter that can be fitted in this drive", f"known: {', '.join(lists)}")
    keep = {name for name in known if any(covers(word, name) for word in wanted)}
    return [it for it in numbers if it.name in keep], [it for it in choices if it.name in keep]
