"""How long candidates take to rebuild a failed drive while the load they were run under goes on."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from headstack import _core
from headstack.errors import HeadstackError, Interrupted
from headstack.overload import overload
from headstack.run import simulate
from headstack.sweeping.reading import toml_text
from headstack.threads import Pool
from headstack.unusual import told_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.sweeping.result import PointResult
    from headstack.sweeping.run import Record
    from headstack.sweeping.settings import Settings

LOOK_S = 20.0
"""So long a look is taken in each place under a load; its second half is past the caches that the first fills…"""
IDLE_LOOK_S = 8.0
"""…and so long where nothing else is to do, which is even."""
PLACES = 24
"""A rebuild is looked at where so many equal parts of it are half done…"""
PLACES_LOADED = 5
"""…and, while the load goes on, where so many are."""
ROWS = 40
"""So many rows of an array with spare room on all drives are seen in all places together…"""
MOST_LOOK_S = 60.0
"""…within so long at most in each."""
ROW_KIB = 16_384
"""A row, where the array does not say how large it is."""
STEP_KIB = 1024
"""A step, where the array does not say how large it is."""
STEPS = 50
"""So many steps are seen in the half of a look that counts, however slow they are…"""
FEWEST_STEPS = 10
"""…or nothing is told, if there are fewer than this."""
LONGEST_IDLE_S = 1e6
LONGEST_LOADED_S = 200.0
REQUESTS = 40_000
"""A look under a heavy load is shorter: so many requests come in it…"""
LEAST_LOOK_S = 5.0
"""…or this long."""
MOST_REQUESTS = 200_000
"""More than this are served in no look, whatever it tells then."""
SHORT_S = 1000.0
"""A rebuild that is so short is looked at to its end."""
LEAST_LOAD_S = 10.0
"""Of a load that is shorter nothing is told: a rebuild has hardly begun by then."""
_REDUNDANT = frozenset(["raid-1", "mirror", "raid-10", "raid-4", "raid-5", "raid-6", "declustered"])
_QUIET = "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n"


class Rebuild(NamedTuple):
    """How long a drive takes to be rebuilt, in hours."""

    hours: float | None
    """While the load goes on; none where that is too short to tell, or more than the array keeps up with."""
    idle_hours: float
    """Where nothing else is to do."""


def rebuild_times(points: Sequence[PointResult], threads: int | None = None) -> dict[int, Rebuild]:
    """Times by the number of the point; those from whose array nothing can be rebuilt are left out.

    The first drive has failed when the load begins. How fast it is rebuilt is looked at in several places of the rebuild, from its
    beginning to its end: media are slower further in, and a load is nearer to some places than to others.
    """
    with Pool(threads) as pool:
        found = list(pool.map(_times, points))
    return {point.point.number: times for point, times in zip(points, found, strict=True) if times is not None}


class _Seen(NamedTuple):
    """What a look at a rebuild tells."""

    mb_per_s: float
    held_mb: float
    is_over: bool
    """It was over by then."""


class _Looks(NamedTuple):
    """An array of which the first drive has failed, and what is asked of it meanwhile; none where nothing is."""

    settings: Settings
    seed: int
    is_loaded: bool
    longest_s: float
    """No look is longer."""

    @property
    def step_mb(self) -> float:
        """What a step brings, at most."""
        return self._rules.get("step_kib", STEP_KIB) * 1024 / 1e6

    @property
    def limit_mb_per_s(self) -> float:
        """No more than this is rebuilt."""
        return self._rules.get("rate_mb_per_s", math.inf)

    @property
    def _rules(self) -> dict[str, Any]:
        (volume,) = tomllib.loads(self.settings.system)["volume"].values()
        return volume.get("rebuild", {})

    def at(self, percent: float, until_s: float) -> _Seen | None:
        """The rate where so much is done, of steps enough to tell it."""
        seen = self.roughly(percent, until_s)
        steps = 0.0 if seen is None else seen.mb_per_s * until_s / 2 / self.step_mb
        if steps >= STEPS:
            return seen
        longer_s = min(until_s * STEPS / max(steps, 0.05), self.longest_s)
        seen = self.roughly(percent, longer_s)
        if seen is None or (seen.mb_per_s * longer_s / 2 / self.step_mb < FEWEST_STEPS and not seen.is_over):
            return None
        return seen

    def roughly(self, percent: float, until_s: float) -> _Seen | None:
        """The rate in the second half of a time: the first one fills caches."""
        before, after = (self._rebuild(percent, end_s) for end_s in (until_s / 2, until_s))
        if before is None or after is None:
            return None
        rebuilt_mb = after["rebuilt_mb"] - before["rebuilt_mb"]
        is_over = after["finished_s"] is not None
        # What is rebuilt to its end meanwhile has a rate of its own.
        rate = after["mb_per_s"] if rebuilt_mb <= 0 or is_over else rebuilt_mb / (until_s / 2)
        # Whole steps are counted: one more or less than fits is no reason to be faster or slower than the limit.
        if rate and rate + 2 * self.step_mb / until_s >= self.limit_mb_per_s:
            rate = self.limit_mb_per_s
        return _Seen(rate, after["held_mb"], is_over) if rate else None

    def to_the_end_s(self, until_s: float) -> float | None:
        """How long all of it takes, if it is over by then."""
        rebuild = self._rebuild(0.0, until_s)
        return None if rebuild is None or rebuild["hours"] is None else 3600 * rebuild["hours"]

    def in_places_s(self, count: int, look_s: float) -> float | None:
        """How long all of it takes, each of so many equal parts at the rate that is seen in its middle."""
        took_s = 0.0
        for part in range(count):
            seen = self.at(100 * (part + 0.5) / count, look_s)
            if seen is None:
                return None
            took_s += seen.held_mb / count / seen.mb_per_s
        return took_s

    def _rebuild(self, percent: float, until_s: float) -> dict[str, Any] | None:
        built = replace(self.settings, system=_done(self.settings.system, percent)).build()
        requests, options = (built.requests, dict(built.run)) if self.is_loaded else (_quiet(), {})
        options["until_s"] = until_s
        rebuilds = simulate(built.system, requests, seed=self.seed, keep=False, threads=1, **options).summary.get(
            "rebuilds"
        )
        return cast("dict[str, Any]", rebuilds[0]) if rebuilds else None


def _times(point: PointResult) -> Rebuild | None:
    text = _failed(point.point.settings.system)
    if text is None or not point.runs:
        return None
    settings = replace(point.point.settings, system=text)
    run = point.runs[0]
    # Of its drives the candidate's own run has told what is unusual.
    with told_before():
        return _hours(settings, run)


def _hours(settings: Settings, run: Record) -> Rebuild | None:
    try:
        idle_s = _idle_s(_Looks(settings, run.seed, is_loaded=False, longest_s=LONGEST_IDLE_S))
        if idle_s is None:
            return None
        if overload(run.summary):
            # Whatever waits goes before a rebuild, which has no end then.
            return Rebuild(None, idle_s / 3600)
        lasts_s = run.summary["simulated_s"]
        iops = run.summary["requests"] / lasts_s if lasts_s else 0.0
        longest_s = min(lasts_s, LONGEST_LOADED_S, max(MOST_REQUESTS / (iops or 1.0), LEAST_LOOK_S))
        loaded = _Looks(settings, run.seed, is_loaded=True, longest_s=longest_s)
        loaded_s = _loaded_s(loaded, lasts_s, min(LOOK_S, max(REQUESTS / (iops or 1.0), LEAST_LOOK_S)), idle_s)
    except Interrupted:
        raise
    except HeadstackError:
        # No place to rebuild onto, or a replay that knows no rebuilds.
        return None
    return Rebuild(None if loaded_s is None else max(loaded_s, idle_s) / 3600, idle_s / 3600)


def _idle_s(looks: _Looks) -> float | None:
    """How long all of it takes where nothing else is to do."""
    first = looks.roughly(0.0, IDLE_LOOK_S) or looks.roughly(0.0, 100 * IDLE_LOOK_S)
    if first is None:
        return None
    if first.held_mb / first.mb_per_s <= SHORT_S:
        took_s = looks.to_the_end_s(10 * SHORT_S)
        if took_s is not None:
            return took_s
    return looks.in_places_s(PLACES, _long_enough_s(looks.settings.system, first))


def _loaded_s(looks: _Looks, lasts_s: float, look_s: float, idle_s: float) -> float | None:
    """How long all of it takes while the load goes on, if that goes on long enough to tell."""
    if lasts_s < LEAST_LOAD_S:
        return None
    if idle_s <= SHORT_S:
        took_s = looks.to_the_end_s(min(lasts_s, 10 * SHORT_S))
        if took_s is not None:
            return took_s
    return looks.in_places_s(PLACES_LOADED, min(look_s, lasts_s))


def _long_enough_s(text: str, first: _Seen) -> float:
    """How long to look: where spare room lies on all drives each row goes to others, and a few rows tell little."""
    (volume,) = tomllib.loads(text)["volume"].values()
    layout = volume.get("declustered", {})
    if not layout.get("distributed_spares"):
        return IDLE_LOOK_S
    rows_mb = ROWS * layout.get("row_kib", ROW_KIB) * 1024 / 1e6
    # Of each look the second half counts.
    return min(max(2 * rows_mb / first.mb_per_s / PLACES, IDLE_LOOK_S), MOST_LOOK_S)


def _quiet() -> _core.Workload:
    return _core.Workload(toml=_QUIET)


def _done(text: str, percent: float) -> str:
    """The same system, with so much of the rebuild done when the run begins."""
    if percent == 0.0:
        return text
    table = tomllib.loads(text)
    (volume,) = table["volume"].values()
    volume.setdefault("rebuild", {})["done_percent"] = percent
    return _written(table)


def _failed(text: str) -> str | None:
    """The system with its first drive failed and room to rebuild it, if it survives that."""
    table = tomllib.loads(text) if "\n" in text else {}
    volumes: dict[str, Any] = table.get("volume", {})
    if len(volumes) != 1:
        return None
    (volume,) = volumes.values()
    if volume.get("level") not in _REDUNDANT or {"failed_drives", "failures"} & volume.keys():
        return None
    volume["failed_drives"] = [0]
    if not volume.get("spares") and not volume.get("declustered", {}).get("distributed_spares"):
        volume["spares"] = volume["drives"][:1]
    return _written(table)


def _written(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {toml_text(value)}\n" for key, value in table.items())
