"""What `coefficients` runs: random and sequential requests on the first volume of a system."""

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
FILLED, COUNTED = 1.25, 4.0
"""Of the room of a cache that is written to: what comes before its writes are counted, and how many are. Until it is full they cost hardly anything."""
# Large ones fill a write cache of 512 MiB before they are counted.
STREAMED, STREAM_WARMUP = 300, 520
# Where the media rate is taken, in percent of the addresses: the middle of each fifth.
PLACES = (10, 30, 50, 70, 90)
WRITE_THROUGH = "write-through"


@dataclass(frozen=True)
class Bench:
    """A system as it is, the same with the drives' write caches off, and what is run on them."""

    system: _core.System
    uncached: _core.System
    policies: list[tuple[str, dict[str, Any], int]]
    """What each drive of the volume does with writes while its cache is off: kind, values, actuators."""
    seed: int

    @classmethod
    def of(cls, system: _core.System, seed: int) -> Bench:
        """Turns the write caches off as a host does (`write_cache.enabled = false`), whatever the system was made of."""
        config: dict[str, Any] = system.config()
        for drive in config["drives"]:
            spec = drive["spec"]
            spec.setdefault("write_cache", {})["enabled"] = False
            told = {"kind": "assumed", "source": "set to false: random writes are measured so"}
            spec["provenance"]["write_cache.enabled"] = told
        uncached = _core.System._restored(system.name, json.dumps(config))
        specs = [config["drives"][number]["spec"] for number in config["volumes"][0]["drives"]]
        policies = []
        for spec in specs:
            ((kind, values),) = spec["write_cache"].get("when_off", {WRITE_THROUGH: {}}).items()
            policies.append((kind, values, spec.get("actuators", 1)))
        return cls(system, uncached, policies, seed)

    @property
    def when_off(self) -> str:
        """The kinds of write policy that hold for random writes."""
        return ", ".join(dict.fromkeys(kind for kind, _, _ in self.policies))

    def random(self, op: Op, size_kib: int, depth: int) -> tuple[float, float]:
        """Random requests a second, `depth` of them outstanding, and how many arms they keep busy."""
        stream = f"users = {depth}\nsize.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n"
        held = self._held(size_kib) if op == "write" else 0
        if held:
            # Counted once the cache is full: so many that those outstanding at the end make no difference.
            before, counted = ceil(FILLED * held), ceil(COUNTED * held) + 100 * depth
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

    def sequential(self, op: Op, size_kib: int, place: float) -> float:
        """Requests a second, one behind the other."""
        _, sectors = self.system.volumes[0]
        # Where requests begin on a boundary of their own, so that no write covers a part of a physical sector.
        step = max(size_kib * KIB // self.system.sector_bytes, 1)
        first = int(sectors * place / 100) // step * step
        where = f"range_lba = [{first}, {min(first + max(sectors // 10, step), sectors) - 1}]"
        stream = f'sequential_fraction = 1.0\nrun_start = "first"\nsize.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n{where}\n'
        cut = {"warmup_requests": STREAM_WARMUP}
        return self._summary(self.system, op, stream, STREAMED + STREAM_WARMUP, cut)["iops"]

    def _summary(self, system: _core.System, op: Op, stream: str, requests: int, cut: dict[str, Any]) -> RunSummary:
        # Around a host's buffer cache: what the volume does is asked, not what its host remembers.
        text = (
            f"requests = {requests}\n[[stream]]\nthink.constant_ms = 0\nraw = true\n"
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
