"""What `coefficients` runs: random and sequential requests on a volume of a system."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from headstack import _core
from headstack.device_cost_causes import busy_arms
from headstack.errors import InputError

if TYPE_CHECKING:
    from headstack.results.runs import RunSummary

Op = Literal["read", "write"]

KIB = 1024
SIZES_KIB = (4, 64, 256, 1024)
DEPTHS = (1, 2, 4, 8, 16, 32)
FULL = DEPTHS[-1]
"""The queue depth at which iocost and mClock are told what a disk can do."""
OPS: tuple[Op, ...] = ("read", "write")
WARMUP_S, UNTIL_S = 2.0, 32.0
"""What is counted of random requests: some thousands, while as many as ever are outstanding."""
LEAST = 200
"""Fewer requests tell no rate: the time is doubled until so many are complete."""
MOST_S = UNTIL_S * 2**16
"""Some 24 days: nothing that is used as a disk is so slow."""
MANY = 1_000_000
FILLED = 1.25
"""Of the room of a cache that is written to: what comes before its writes are counted. Until it is full they cost hardly anything."""
SCORED, TAKEN = 4.0, 20.0
"""How often what a full cache holds is counted, where an error is told, and where a constant is taken.

The arm cleans its way over the drive and back, turns at random places, and is slow or fast for what it comes upon: once over
the drive is 1.5 to 6 times what the cache holds, and rates of so many writes each scatter by a tenth."""
STREAMED, STREAM_WARMUP = 300, 520
FILLING_KIB = 1040 * 1024
"""What is written in sequence before it is counted: a write cache of 512 MiB is full then, although it is emptied meanwhile."""
TRICKLES_KIB = 4
"""Sequential writes of this size come more slowly than the media take them: no cache fills."""
# Where the media rate is taken, in percent of the addresses: the middle of each fifth; and where errors are told: what two places tell best of all.
PLACES = (10, 30, 50, 70, 90)
SCORED_PLACES = (21, 79)
WRITE_THROUGH = "write-through"


def other_seed(seed: int) -> int:
    """The seed of requests that errors are told of: far from those that anybody counts up (the mixing of SplitMix64)."""
    mixed = (seed + 0x9E3779B97F4A7C15) % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> shift)) * factor % 2**64
    return mixed ^ (mixed >> 31)


@dataclass(frozen=True)
class Bench:
    """A system as it is, the same with the drives' write caches off, and what is run on them."""

    system: _core.System
    uncached: _core.System
    policies: list[tuple[str, dict[str, Any], int]]
    """What each drive of the volume does with writes while its cache is off: kind, values, actuators."""
    seed: int
    cache_as_set: str = "on"
    """Whether the drives' write caches are on where they are left as they are; of different drives both words."""
    device: int = 0
    """Which volume is measured: its place among those of the system."""

    @classmethod
    def of(cls, system: _core.System, seed: int, device: int = 0) -> Bench:
        """Turns the write caches off as a host does (`write_cache.enabled = false`), whatever the system was made of."""
        config: dict[str, Any] = system.config()
        drives = [config["drives"][number] for number in config["volumes"][device]["drives"]]
        as_set = dict.fromkeys(_cache_as_set(drive["spec"]) for drive in drives)
        for drive in config["drives"]:
            spec = drive["spec"]
            spec.setdefault("write_cache", {})["enabled"] = False
            told = {"kind": "assumed", "source": "set to false: random writes are measured so"}
            spec["provenance"]["write_cache.enabled"] = told
        uncached = _core.System._restored(system.name, json.dumps(config))
        policies = []
        for spec in (drive["spec"] for drive in drives):
            ((kind, values),) = spec["write_cache"].get("when_off", {WRITE_THROUGH: {}}).items()
            policies.append((kind, values, spec.get("actuators", 1)))
        return cls(system, uncached, policies, seed, ", ".join(as_set), device)

    @property
    def when_off(self) -> str:
        """The kinds of write policy that hold for random writes."""
        return ", ".join(dict.fromkeys(kind for kind, _, _ in self.policies))

    def random(self, op: Op, size_kib: int, depth: int, rounds: float = SCORED) -> tuple[float, float]:
        """Random requests a second, `depth` of them outstanding, and how many arms they keep busy.

        Writes into a full cache are counted `rounds` times what it holds.
        """
        stream = f"users = {depth}\nsize.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n"
        held = self._held(size_kib) if op == "write" else 0
        if held:
            # Counted once the cache is full: so many that those outstanding at the end make no difference.
            before, counted = ceil(FILLED * held), ceil(rounds * held) + 100 * depth
            whole = self._summary(self.uncached, op, stream, before + counted, {"warmup_requests": before})
            return whole["iops"], busy_arms(whole)
        system = self.system if op == "read" else self.uncached

        def until(until_s: float) -> RunSummary:
            return self._summary(system, op, stream, MANY, {"until_s": until_s})

        longer = 1
        while UNTIL_S * longer <= MOST_S:
            # Whatever is complete meanwhile: of those that a warm-up lets count, so many as are outstanding are missing at the end.
            whole = until(UNTIL_S * longer)
            complete = whole["requests"] - until(WARMUP_S * longer)["requests"]
            if complete >= LEAST:
                return complete / ((UNTIL_S - WARMUP_S) * longer), busy_arms(whole)
            longer *= 2
        raise InputError(
            f"{self.system.name} serves fewer than {LEAST} random {op}s of {size_kib:,} KiB in {MOST_S / 86400:.0f} days, too few to tell a rate",
            "look at the values of the drive that take time: `headstack drives show` lists them",
        )

    @property
    def straight_kib(self) -> frozenset[int]:
        """Sizes of which random writes go past the cache that those of 4 KiB go into."""
        return (
            frozenset(size for size in SIZES_KIB if not self._held(size)) if self._held(SIZES_KIB[0]) else frozenset()
        )

    def _held(self, size_kib: int) -> int:
        """How many writes of a size there is room for in the media or flash caches that are used while the write caches are off."""
        held = 0.0
        for _, values, actuators in self.policies:
            room_kib = values.get("size_kib", 0.0)
            if size_kib <= values.get("largest_write_kib", room_kib):
                held += actuators * room_kib
        return ceil(held / size_kib)

    def sequential(self, op: Op, size_kib: int, place: float, depth: int = FULL) -> float:
        """Requests a second, one behind the other, `depth` of them outstanding: one at a time, each that is written through loses a revolution."""
        _, sectors = self.system.volumes[self.device]
        # Where requests begin on a boundary of their own, so that no write covers a part of a physical sector.
        step = max(size_kib * KIB // self.system.sector_bytes, 1)
        first = int(sectors * place / 100) // step * step
        where = f"range_lba = [{first}, {min(first + max(sectors // 10, step), sectors) - 1}]"
        stream = (
            f'queue_depth = {depth}\nsequential_fraction = 1.0\nrun_start = "first"\n'
            f"size.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n{where}\n"
        )
        fills = op == "write" and size_kib > TRICKLES_KIB
        before = max(STREAM_WARMUP, ceil(FILLING_KIB / size_kib)) if fills else STREAM_WARMUP
        counted = self._summary(self.system, op, stream, STREAMED + before, {"warmup_requests": before})["iops"]
        # Those under way when counting begins are served in the same time, and not counted.
        return counted * (STREAMED + depth - 1) / STREAMED

    def _summary(self, system: _core.System, op: Op, stream: str, requests: int, cut: dict[str, Any]) -> RunSummary:
        # Around a host's buffer cache: what the volume does is asked, not what its host remembers.
        text = (
            f"requests = {requests}\n[[stream]]\ndevice = {self.device}\nthink.constant_ms = 0\nraw = true\n"
            f"read_fraction = {1.0 if op == 'read' else 0.0}\n{stream}"
        )
        run = _core.simulate(
            system,
            _core.Workload(toml=text),
            seed=self.seed,
            threads=1,
            **cut,
        )
        return run.summary()


def _cache_as_set(spec: dict[str, Any]) -> str:
    enabled = (spec.get("write_cache") or {}).get("enabled", True)
    return "off" if not enabled or WRITE_THROUGH in spec["write_policy"] else "on"
