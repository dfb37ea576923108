"""How long candidates take to rebuild a failed drive while the load they were run under goes on."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from headstack import _core
from headstack.errors import HeadstackError, Interrupted
from headstack.run import simulate
from headstack.sweeping.reading import toml_text
from headstack.threads import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.sweeping.result import PointResult
    from headstack.sweeping.settings import Settings

LOOK_S = 60.0
"""So much of the load is looked at; a shorter one to its end."""
IDLE_LOOK_S = 20.0
"""So much of a rebuild without a load: its second half is past the caches that the first fills."""
ROWS = 40
"""So many rows of an array with spare room on all drives are to be seen…"""
MOST_LOOK_S = 200.0
"""…within so long at most."""
ROW_KIB = 16_384
"""A row, where the array does not say how large it is."""
SHORT_S = 5 * IDLE_LOOK_S
"""A rebuild that is so short is looked at to its end: the second half of the look is not its outermost tracks any more."""
AT_THE_MEDIA = 0.9
"""A rebuild without a load that has so much of the media's rate is slower where the media are."""
_REDUNDANT = frozenset(["raid-1", "mirror", "raid-10", "raid-4", "raid-5", "raid-6", "declustered"])
_QUIET = "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n"


class Rebuild(NamedTuple):
    """How long a drive takes to be rebuilt, in hours."""

    hours: float | None
    """While the load goes on; none where it was over before anything was rebuilt."""
    idle_hours: float
    """Where nothing else is to do."""


def rebuild_times(points: Sequence[PointResult], threads: int | None = None) -> dict[int, Rebuild]:
    """Times by the number of the point; those from whose array nothing can be rebuilt are left out.

    The first drive has failed when the load begins. What is rebuilt meanwhile is of the outermost tracks: the share that this is of
    what is rebuilt there without a load is taken to be the share everywhere.
    """
    with Pool(threads) as pool:
        found = list(pool.map(_times, points))
    return {point.point.number: times for point, times in zip(points, found, strict=True) if times is not None}


class _Seen(NamedTuple):
    """What a look at a rebuild tells."""

    mb_per_s: float
    held_mb: float
    whole_s: float | None
    """How long all of it took, if it was over by then."""


def _times(point: PointResult) -> Rebuild | None:
    text = _failed(point.point.settings.system)
    if text is None or not point.runs:
        return None
    settings = replace(point.point.settings, system=text)
    run = point.runs[0]
    until_s = min(LOOK_S, run.summary["simulated_s"])
    try:
        built = settings.build()
        loaded = _look(built.system, built.requests, run.seed, {**dict(built.run), "until_s": until_s})
        idle = _look(built.system, _quiet(), run.seed, {"until_s": IDLE_LOOK_S})
        idle_s = None if idle is None else _idle_s(settings, built.system, idle, run.seed)
    except Interrupted:
        raise
    except HeadstackError:
        # No place to rebuild onto, or a replay that knows no rebuilds.
        return None
    if idle is None or idle_s is None:
        return None
    hours = None
    if loaded is not None:
        hours = (loaded.whole_s or idle_s * max(idle.mb_per_s / loaded.mb_per_s, 1.0)) / 3600
    return Rebuild(hours, idle_s / 3600)


def _idle_s(settings: Settings, system: _core.System, idle: _Seen, seed: int) -> float:
    """How long all of it takes where nothing else is to do, of which the beginning has been looked at."""
    until_s, inwards = _long_enough_s(settings.system, idle), _inwards(settings.system)
    if inwards is not None:
        # It tells of the outermost tracks, and is as long as one that begins with the innermost.
        system = replace(settings, system=inwards).build().system
    if inwards is not None or until_s > IDLE_LOOK_S:
        idle = _look(system, _quiet(), seed, {"until_s": until_s}) or idle
    took_s = idle.whole_s or _surface_s(_core.Drive(system.drives[0][1]), idle, _held(settings.system))
    if took_s >= SHORT_S:
        return took_s
    to_its_end = _look(system, _quiet(), seed, {"until_s": 3 * took_s})
    return took_s if to_its_end is None else to_its_end.whole_s or took_s


def _long_enough_s(text: str, idle: _Seen) -> float:
    """How long to look: where spare room lies on all drives each row goes to others, and a few rows tell little."""
    (volume,) = tomllib.loads(text)["volume"].values()
    layout = volume.get("declustered", {})
    if not layout.get("distributed_spares"):
        return IDLE_LOOK_S
    rows_mb = ROWS * layout.get("row_kib", ROW_KIB) * 1024 / 1e6
    return min(max(rows_mb / idle.mb_per_s, IDLE_LOOK_S), MOST_LOOK_S)


def _quiet() -> _core.Workload:
    return _core.Workload(toml=_QUIET)


def _look(system: _core.System, requests: Any, seed: int, options: dict[str, Any]) -> _Seen | None:
    """The rate of a rebuild in the second half of a time: the first one fills caches."""
    until_s = options["until_s"]
    half, whole = (
        simulate(system, requests, seed=seed, keep=False, threads=1, **{**options, "until_s": end_s}).summary
        for end_s in (until_s / 2, until_s)
    )
    (before, *_), (after, *_) = (summary.get("rebuilds") or [None] for summary in (half, whole))
    if before is None or after is None:
        return None
    rebuilt_mb = after["rebuilt_mb"] - before["rebuilt_mb"]
    # What is rebuilt to its end meanwhile has a rate of its own.
    rate = after["mb_per_s"] if rebuilt_mb <= 0 or after["finished_s"] else rebuilt_mb / (until_s / 2)
    hours = after["hours"]
    return _Seen(rate, after["held_mb"], None if hours is None else 3600 * hours) if rate else None


def _inwards(text: str) -> str | None:
    """The same system, rebuilt from the outermost tracks on, where it was from the innermost."""
    table = tomllib.loads(text)
    (volume,) = table["volume"].values()
    rebuild = volume.get("rebuild", {})
    if rebuild.get("order") != "descending":
        return None
    rebuild["order"] = "ascending"
    return "".join(f"{key} = {toml_text(value)}\n" for key, value in table.items())


def _held(text: str) -> float:
    """The share of the rows in use that is rebuilt: spare room that lies on all drives held nothing."""
    (volume,) = tomllib.loads(text)["volume"].values()
    layout = volume.get("declustered", {})
    spares = layout.get("distributed_spares", 0)
    # A block of a design has its own room; else some of the drives have none of a slice.
    around = layout["group_width"] + spares if layout.get("design") == "block-design" else len(volume["drives"])
    return 1.0 - spares / around


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
    return "".join(f"{key} = {toml_text(value)}\n" for key, value in table.items())


def _surface_s(drive: _core.Drive, seen: _Seen, held: float) -> float:
    """How long writing what was on a drive takes that is written at this rate in its outermost zone, and nothing else to do.

    Near the rate of the media it is slower further in, as they are; a lower one, that of a limit, of a bus or of commands that
    wait for a revolution each, is the same everywhere until the media are slower still. `held` is the share of the sectors
    in use: a layout may leave rows at the end without any, and room for failed drives between.
    """
    zones = drive.zones()
    share = seen.mb_per_s / zones[0]["sequential_write_mb_per_s"]
    mb_per_sector = held * drive.sector_bytes / 1e6 * drive.describe()["actuators"]
    left_mb, took_s, rate = seen.held_mb, 0.0, seen.mb_per_s
    for zone in zones:
        media = zone["sequential_write_mb_per_s"]
        rate = share * media if share >= AT_THE_MEDIA else min(seen.mb_per_s, media)
        mb = min(left_mb, mb_per_sector * zone["sectors"])
        took_s += mb / rate
        left_mb -= mb
    return took_s + left_mb / rate
