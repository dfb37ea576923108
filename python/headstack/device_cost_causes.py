"""Why a form of cost is off, in sentences that follow from what was measured; what does not follow is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headstack import _core
    from headstack.device_cost_bench import Op
    from headstack.results.runs import RunSummary

AT_THE_BUS = 0.95
"""A stream that takes so much of the bus's rate is held by the bus."""
OUTWEIGHS = 2.0
"""A cause that is so much larger than another is told alone."""

Busy = Mapping[tuple[str, int, int], float]


@dataclass(frozen=True)
class Parts:
    """What of a system bears on its costs."""

    drives: int
    arms: int
    chooses: bool
    """Whether a scheduler has a say in what goes next."""
    bus_bytes_per_s: Mapping[str, float]
    """Of the buses of the volume together, by direction."""

    @classmethod
    def of(cls, system: _core.System, device: int = 0) -> Parts:
        """Those of a volume."""
        config: dict[str, Any] = system.config()
        drives = [config["drives"][number] for number in config["volumes"][device]["drives"]]
        controllers = [each["spec"]["controller"] for each in drives]
        words = [config["host"]["scheduler"], *(each["scheduler"] for each in controllers if each["queue_depth"] > 1)]
        buses = [config["buses"][number]["spec"] for number in {each["bus"] for each in drives}]
        return cls(
            len(drives),
            sum(each["spec"].get("actuators", 1) for each in drives),
            any(word != "fcfs" for word in words),
            {op: 1e6 * sum(bus[f"{op}_mb_per_s"] for bus in buses) for op in ("read", "write")},
        )

    @property
    def them(self) -> str:
        """What may work at the same time."""
        return "drives" if self.arms == self.drives else "actuators"


def busy_arms(summary: RunSummary) -> float:
    """How many arms seek, wait for their sector or transfer, on average."""
    parts = ("seek", "rotation", "transfer")
    busy_s = sum(each["busy_s"][part] for each in summary["drives"] for part in parts)  # type: ignore[literal-required]
    return busy_s / summary["simulated_s"]


@dataclass(frozen=True)
class Case:
    """Requests of one direction and size at a queue depth, as they were measured."""

    iops: float
    depth: int
    busy: float | None


@dataclass(frozen=True)
class Reasons:
    """What was measured beside the errors of a form."""

    parts: Parts
    busy: Busy = field(default_factory=dict)
    bytes_per_s: Mapping[Op, float] = field(default_factory=dict)
    straight_kib: frozenset[int] = frozenset()
    """Sizes of which random writes go past the cache that small ones go into."""

    def of_queue(self, shallow: Case, deep: Case, *, promises_more: bool) -> str:
        """Why a deeper queue is served faster: more arms at once, and more to choose from."""
        begin = "it has no queue depth"
        gained = deep.iops / shallow.iops
        if gained <= 1:
            return begin
        at_once = self._gained_at_once(shallow, deep)
        chosen = log(gained) - (log(at_once) if at_once is not None else 0.0)
        told = []
        if at_once is not None and OUTWEIGHS * log(at_once) > chosen:
            told.append(self._at_once(shallow, deep))
        if self.parts.chooses and (at_once is None or OUTWEIGHS * chosen > log(at_once)):
            each = "the drive positions" if self.parts.arms == 1 else "each positions"
            more = ("less", "for longer") if promises_more else ("more", "in less time")
            told.append(f"with {more[0]} to choose from {each} {more[1]}")
        return "; ".join([", and ".join([begin, *told[:1]]), *told[1:]])

    def _gained_at_once(self, shallow: Case, deep: Case) -> float | None:
        """How many times as many arms are busy; `None` of a single one, and where a deeper queue keeps no more of them busy."""
        if self.parts.arms == 1 or not shallow.busy or not deep.busy or deep.busy <= shallow.busy:
            return None
        return deep.busy / shallow.busy

    def _at_once(self, shallow: Case, deep: Case) -> str:
        them, arms = self.parts.them, self.parts.arms
        return (
            f"of {arms} {them} {shallow.busy:.1f} are busy on average at depth {shallow.depth}, "
            f"and {deep.busy:.1f} at depth {deep.depth}"
        )

    def of_size(self, op: Op, further_bytes: int, took_s: float, *, promises_more: bool) -> str:
        """Why bytes are charged wrongly: those of random requests take another time than those of sequential ones."""
        rate = self.bytes_per_s.get(op)
        if rate is None or further_bytes <= 0:
            return ""
        charged_s = further_bytes / rate
        if (took_s > charged_s) != promises_more:
            return ""
        at_bus = rate >= AT_THE_BUS * self.parts.bus_bytes_per_s[op]
        whose = "the rate of the bus" if at_bus else "the rate of sequential requests"
        text = (
            f"it charges bytes at {whose}, {1000 * charged_s:.3g} ms for those beyond the first 4 KiB, "
            f"which take {1000 * took_s:.3g} ms here"
        )
        # One arm cannot position twice at once: what is hidden is the bus.
        return (
            f"{text}, since the drive positions meanwhile"
            if at_bus and not promises_more and self.parts.arms == 1
            else text
        )
