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

LOOK_S = 60.0
"""So much of the load is looked at; a shorter one to its end."""
IDLE_LOOK_S = 20.0
"""So much of a rebuild without a load: its second half is past the caches that the first fills."""
AT_THE_MEDIA = 0.9
"""A rebuild without a load that has so much of the media's rate is slower where the media are."""
_REDUNDANT = frozenset(["raid-1", "mirror", "raid-10", "raid-4", "raid-5", "raid-6", "declustered"])
_QUIET = "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n"


class Rebuild(NamedTuple):
    """How long a drive takes to be rebuilt, in hours."""

    hours: float
    """While the load goes on."""
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


def _times(point: PointResult) -> Rebuild | None:
    text = _failed(point.point.settings.system)
    if text is None or not point.runs:
        return None
    settings = replace(point.point.settings, system=text)
    run = point.runs[0]
    until_s = min(LOOK_S, run.summary["simulated_s"])
    try:
        built = settings.build()
        quiet = _core.Workload(toml=_QUIET)
        loaded = _rate(built.system, built.requests, run.seed, {**dict(built.run), "until_s": until_s})
        idle = _rate(built.system, quiet, run.seed, {"until_s": IDLE_LOOK_S})
    except Interrupted:
        raise
    except HeadstackError:
        # No place to rebuild onto, or a replay that knows no rebuilds.
        return None
    if not loaded or not idle:
        return None
    drive = _core.Drive(built.system.drives[0][1])
    idle_s = _surface_s(drive, idle) * _held(text)
    return Rebuild(idle_s * max(idle / loaded, 1.0) / 3600, idle_s / 3600)


def _rate(system: _core.System, requests: Any, seed: int, options: dict[str, Any]) -> float | None:
    """The rate of a rebuild, in MB/s, in the second half of a time: the first one fills caches."""
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
    return after["mb_per_s"] if rebuilt_mb <= 0 or after["finished_s"] else rebuilt_mb / (until_s / 2)


def _held(text: str) -> float:
    """The share of a drive that is rebuilt: spare room that lies on all drives held nothing."""
    (volume,) = tomllib.loads(text)["volume"].values()
    spares = volume.get("declustered", {}).get("distributed_spares", 0)
    return 1.0 - spares / len(volume["drives"])


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


def _surface_s(drive: _core.Drive, outermost_mb_per_s: float) -> float:
    """How long writing all of a drive takes that is written at this rate in its outermost zone, and nothing else to do.

    Near the rate of the media it is slower further in, as they are; a lower one, that of a limit, of a bus or of commands that
    wait for a revolution each, is the same everywhere until the media are slower still.
    """
    zones = drive.zones()
    share = outermost_mb_per_s / zones[0]["sequential_write_mb_per_s"]
    mb = drive.sector_bytes / 1e6 * drive.describe()["actuators"]

    def mb_per_s(zone: Any) -> float:
        media = zone["sequential_write_mb_per_s"]
        return share * media if share >= AT_THE_MEDIA else min(outermost_mb_per_s, media)

    return sum(mb * zone["sectors"] / mb_per_s(zone) for zone in zones)
