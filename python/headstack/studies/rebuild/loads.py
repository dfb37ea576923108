"""Arrays of twelve drives that are rebuilt under a load: how long it takes, and what requests notice."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import headstack
from headstack.studies.rebuild.drive import LARGE_TB, write_full, write_small
from headstack.studies.repeats import each

if TYPE_CHECKING:
    from collections.abc import Callable

Zones: TypeAlias = list[tuple[int, float]]
"""Sectors of each, and the MB/s at which it is written by itself; the outermost first."""

DRIVES = 12
# Requests a second of the whole array, 8 KiB, two thirds of them reads; 0: nothing but the rebuild.
LOADS = (0, 100, 300)
# Most MB/s that are rebuilt; none: as many as can be.
LIMITS = (None, 50, 20)
UNITS_KIB = (64, 512)
# The load ends when this much of the rebuild has been seen, on the outermost tracks of drives of full size.
LOADED_S = 30.0


@dataclass(frozen=True)
class Array:
    """An array, and how its failed drive is rebuilt."""

    level: str
    options: str = ""
    unit_kib: int = 64
    limit: int | None = None
    priority: str = "below"

    def toml(self, drive: str) -> str:
        """The system file."""
        listed = ", ".join([f'"{drive}"'] * DRIVES)
        limit = "" if self.limit is None else f"rate_mb_per_s = {self.limit}\n"
        return (
            f'[host]\nscheduler = "c-look"\n[volume.array]\nlevel = "{self.level}"\nstripe_unit_kib = {self.unit_kib}\n'
            f'failed_drives = [0]\nspares = ["{drive}"]\ndrives = [{listed}]\n{self.options}'
            f'[volume.array.rebuild]\nstep_kib = 1024\nwindow = 16\npriority = "{self.priority}"\n{limit}'
        )


# What is compared: the name, the level, and its options.
KINDS = {
    "mirrors": ("raid-10", ""),
    "RAID 5": ("raid-5", ""),
    "RAID 6": ("raid-6", ""),
    "declustered, 4 + 1": ("declustered", "declustered = { group_width = 5, row_kib = 4096 }\n"),
    "declustered, 4 + 1, distributed spare": (
        "declustered",
        "declustered = { group_width = 5, row_kib = 4096, distributed_spares = 1 }\n",
    ),
}


@dataclass(frozen=True)
class Loaded:
    """How a rebuild went under a load. Times in ms."""

    mb_per_s: float
    """Over the whole surface."""
    p50: float | None
    p99: float | None
    longest: float | None
    requests: int

    @property
    def hours(self) -> float:
        """Of a whole large drive at this rate."""
        return LARGE_TB * 1e6 / self.mb_per_s / 3600


def workload(iops: int) -> str:
    """Small random requests."""
    if iops == 0:
        return "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n"
    return (
        f"requests = {round(iops * LOADED_S)}\n[[stream]]\nread_fraction = 0.67\nsize.fixed_kib = 8\nalign_kib = 8\n"
        f"inter_arrival.exponential_ms = {1000 / iops}\n"
    )


@cache
def rebuild(array: Array, iops: int) -> Loaded:
    """Rebuild to the end where nothing else is to do, or under a load for as long as that lasts."""
    if iops == 0:
        found, _ = _run(array, write_small, iops, None)
        return _loaded(found, found["mb_per_s"])
    found, zones = _run(array, write_full, iops, LOADED_S)
    most = free = found["mb_per_s"]
    if array.limit is not None:
        free, _ = _free(replace(array, limit=None), iops)
    return _loaded(found, whole_surface(zones, free, most))


def _loaded(found: Any, mb_per_s: float) -> Loaded:
    times = found["response_ms"]
    return Loaded(mb_per_s, times["p50"], times["p99"], times["max"], found["requests"])


@cache
def _free(array: Array, iops: int) -> tuple[float, Zones]:
    """The rate on the outermost tracks under a load."""
    found, zones = _run(array, write_full, iops, LOADED_S)
    return found["mb_per_s"], zones


def _run(array: Array, write: Callable[[Path], str], iops: int, until_s: float | None) -> tuple[Any, Zones]:
    """What the summary says of the rebuild of a drive so written, and the drive's zones."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "array.toml"
        drive = write(Path(name))
        path.write_text(array.toml(drive), encoding="utf-8")
        system = headstack.System(str(path))
        zones = headstack.Drive(str(Path(name) / drive)).zones()
    summary = headstack.simulate(system, headstack.Workload(toml=workload(iops)), keep=False, until_s=until_s).summary
    return summary["rebuilds"][0], [(zone["sectors"], zone["sequential_write_mb_per_s"]) for zone in zones]


def whole_surface(rates: Zones, free: float, most: float) -> float:
    """The rate over a whole surface, of zones of so many sectors and such rates of their own, the outermost first.

    What requests leave of the time is the same everywhere: `free`, the rate on the outermost tracks without a limit, is a share of
    theirs, and that is the share of every zone's. With a limit no more than `most` is rebuilt anywhere.
    """
    share = free / rates[0][1]
    return sum(sectors for sectors, _ in rates) / sum(sectors / min(most, share * rate) for sectors, rate in rates)


def grid() -> dict[tuple[str, int, int | None, int], Loaded]:
    """By kind of array, stripe unit, rate limit and load."""
    keys = [(kind, unit, limit, iops) for kind in KINDS for unit in UNITS_KIB for limit in LIMITS for iops in LOADS]
    runs = [(Array(*KINDS[kind], unit_kib=unit, limit=limit), iops) for kind, unit, limit, iops in keys]
    return dict(zip(keys, each(rebuild, runs), strict=True))


def rates_csv() -> str:
    """Load and limit against the rate of a rebuild, for simulators of durability."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(
        ["array", "drives", "stripe_unit_kib", "limit_mb_per_s", "foreground_iops", "rebuild_mb_per_s", "p99_ms"]
    )
    for (kind, unit, limit, iops), found in grid().items():
        p99 = "" if found.p99 is None or iops == 0 else round(found.p99, 3)
        limited = "" if limit is None else limit
        out.writerow([kind, DRIVES, unit, limited, iops, round(found.mb_per_s, 3), p99])
    return text.getvalue()
