"""Pools of many drives with declustered parity, one of which is rebuilt with nothing else to do."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import headstack
from headstack.studies.rebuild.drive import LARGE_TB, write_small

# One request, so that the run has one: it is complete long before the rebuild is.
NOTHING = "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n"

# How drives of this class order their commands, where a published curve tells (`study nearline`): an order by access time alone
# breaks streams of large commands apart.
SCHEDULER = ("drive.*.controller.scheduler", '"ncq"')

# Of each zone. The write caches of 90 drives take in 9 GB: most of what a drive of a few cylinders has lost, and next to nothing of a
# large one. Of this one it is 8 %, and taken in before the rate is first looked at.
CYLINDERS = 128

# The share of the rebuild at which its pace is first and last looked at: filling the window at the beginning and emptying it at the
# end weigh more on a small drive than on a large one.
FIRST, LAST = 0.1, 0.9


@dataclass(frozen=True)
class Pool:
    """A pool as dRAID makes it: rows of 16 MiB, copied in chunks of 1 MiB a drive, a window over all drives together."""

    drives: int
    data: int
    parity: int
    spares: int = 1
    window_mib: int = 32
    """Data in flight, times the number of drives."""
    is_distributed: bool = True
    write_efficiency: float = 1.0
    """The share of its own rate at which a drive takes what is rebuilt onto it."""

    def toml(self, drive: str) -> str:
        """The system file."""
        spare = f'spares = ["{drive}"]\n' if not self.is_distributed else ""
        slow = f"write_efficiency = {self.write_efficiency}\n" if self.write_efficiency < 1 else ""
        listed = ", ".join([f'"{drive}"'] * self.drives)
        return (
            f'[host]\nscheduler = "c-look"\n[volume.pool]\nlevel = "declustered"\nstripe_unit_kib = 1024\n'
            f"failed_drives = [0]\n{spare}drives = [{listed}]\n"
            f"[volume.pool.declustered]\ngroup_width = {self.data + self.parity}\nparities = {self.parity}\n"
            f"distributed_spares = {self.spares if self.is_distributed else 0}\nrow_kib = 16384\n"
            f'[volume.pool.rebuild]\nstep_kib = 1024\ncommands_per_drive = 3\nreads = "all"\n'
            f"window = {max(1, self.window_mib * self.drives // self.data)}\n{slow}"
        )


@dataclass(frozen=True)
class Rebuilt:
    """How a pool was rebuilt."""

    hours: float
    """Of a whole large drive, full."""
    mb_per_s: float
    utilisation: float
    """Mean over the drives that did anything."""


def rebuild(pool: Pool) -> Rebuilt:
    """Rebuild the first drive of a pool of small ones, and say how long a large one takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "pool.toml"
        path.write_text(pool.toml(write_small(folder, CYLINDERS)), encoding="utf-8")
        system = headstack.System(str(path), overrides=[SCHEDULER])
    summary = headstack.simulate(system, headstack.Workload(toml=NOTHING), keep=False).summary
    busy = [drive["utilisation"] for drive in summary["drives"] if drive["commands"] > 1]
    found: Any = summary["rebuilds"][0]
    seconds = whole_s([(share, at) for share, at in found["progress_s"] if FIRST <= share <= LAST])
    rate = found["rebuilt_mb"] / seconds
    return Rebuilt(LARGE_TB * 1e6 / rate / 3600, rate, sum(busy) / len(busy))


def whole_s(instants: list[tuple[float, float]]) -> float:
    """How long all of a rebuild takes, of which it is known when shares of it were done that lie evenly about the middle.

    Inner zones take longer than outer ones by more than the middle tells: the pace is taken to go on along its parabola.
    """
    pieces = list(pairwise(instants))
    paces = [(at - before) / (share - done) for (done, before), (share, at) in pieces]
    middles = [(done + share) / 2 - 0.5 for (done, _), (share, _) in pieces]
    # Of u² over a piece of width w the mean is that of its middle and w²/12; over all of it 1/12.
    squares = [u * u + (share - done) ** 2 / 12 for u, ((done, _), (share, _)) in zip(middles, pieces, strict=True)]
    mean_pace, mean_square = sum(paces) / len(paces), sum(squares) / len(squares)
    spread = sum((square - mean_square) ** 2 for square in squares)
    curve = sum(pace * (square - mean_square) for pace, square in zip(paces, squares, strict=True)) / spread
    return mean_pace + curve * (1 / 12 - mean_square)
