"""Arrays of twelve drives that are rebuilt under a load: how long it takes, and what requests notice."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import headstack
from headstack.studies.rebuild.drive import LARGE_TB, write_small
from headstack.studies.repeats import each

DRIVES = 12
# Requests a second of the whole array, 8 KiB, two thirds of them reads; 0: nothing but the rebuild.
LOADS = (0, 100, 300)
# Most MB/s that are rebuilt; none: as many as can be.
LIMITS = (None, 50, 20)
UNITS_KIB = (64, 512)
# The load ends when this much of the rebuild has been seen.
LOADED_S = 20.0


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
    """Rebuild under a load, for as long as the load lasts."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "array.toml"
        path.write_text(array.toml(write_small(Path(name))), encoding="utf-8")
        system = headstack.System(str(path))
    summary = headstack.simulate(system, headstack.Workload(toml=workload(iops)), keep=False, until_s=LOADED_S).summary
    found: Any = summary["rebuilds"][0]
    return Loaded(
        found["mb_per_s"],
        found["response_ms"]["p50"],
        found["response_ms"]["p99"],
        found["response_ms"]["max"],
        found["requests"],
    )


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
