"""How long candidates take to rebuild a failed drive while the load they were run under goes on."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
_REDUNDANT = frozenset(["raid-1", "mirror", "raid-10", "raid-4", "raid-5", "raid-6", "declustered"])


def rebuild_hours(points: Sequence[PointResult], threads: int | None = None) -> dict[int, float]:
    """Hours by the number of the point; those from whose array nothing can be rebuilt are left out.

    The first drive has failed when the load begins. What is rebuilt meanwhile is of the outermost tracks: the share that this is of
    their rate is taken to be the share of every track's.
    """
    with Pool(threads) as pool:
        found = list(pool.map(_hours, points))
    return {point.point.number: hours for point, hours in zip(points, found, strict=True) if hours is not None}


def _hours(point: PointResult) -> float | None:
    text = _failed(point.point.settings.system)
    if text is None or not point.runs:
        return None
    settings = replace(point.point.settings, system=text)
    run = point.runs[0]
    until_s = min(LOOK_S, run.summary["simulated_s"])
    try:
        built = settings.build()
        options = {**dict(built.run), "until_s": until_s}
        summary = simulate(built.system, built.requests, seed=run.seed, keep=False, threads=1, **options).summary
    except Interrupted:
        raise
    except HeadstackError:
        # No place to rebuild onto, or a replay that knows no rebuilds.
        return None
    (rebuilt, *_) = summary.get("rebuilds") or [None]
    if rebuilt is None or not rebuilt["mb_per_s"]:
        return None
    return _surface_s(built.system.drives[0][1], rebuilt["mb_per_s"]) / 3600


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


def _surface_s(drive: str, outermost_mb_per_s: float) -> float:
    """How long writing all of a drive takes that is written at this rate in its outermost zone."""
    opened = _core.Drive(drive)
    zones = opened.zones()
    share = outermost_mb_per_s / zones[0]["sequential_write_mb_per_s"]
    mb = opened.sector_bytes / 1e6 * opened.describe()["actuators"]
    return sum(mb * zone["sectors"] / zone["sequential_write_mb_per_s"] for zone in zones) / share
