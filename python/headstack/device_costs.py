"""`coefficients`: what other systems assume of a disk, measured on the model, and how far each assumption is from it.

Three forms are common. The kernel's *iocost* charges a request one of two fixed costs (sequential or random) and one for each
further page of 4 KiB. Ceph's *mClock* charges the larger of a request's bytes and the bytes that one random request is worth.
*Disk-head time* charges a fixed time to position and one for each byte. None of them knows the queue depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from headstack.arguments import checked
from headstack.device_cost_bench import (
    DEPTHS,
    FULL,
    KIB,
    OPS,
    PLACES,
    SCORED_PLACES,
    SIZES_KIB,
    TAKEN,
    Bench,
    Op,
    other_seed,
)
from headstack.device_cost_causes import Case, Parts, Reasons
from headstack.errors import InputError
from headstack.run import as_system, with_scheduler
from headstack.shown import Shown, number, shown
from headstack.sweeping.executors.local import cores
from headstack.sweeping.reading import nearest
from headstack.threads import Pool

if TYPE_CHECKING:
    from pathlib import Path

    from headstack import _core
    from headstack.results.designs import CoefficientsSummary, ConstantState
    from headstack.run import Overrides

Asked = TypeVar("Asked")
Made = TypeVar("Made")
Measured = dict[tuple[Op, int, int], float]

PAGE = 4096
CLOSE_PERCENT = 10.0
"""An error within this is one that a form can carry."""


@dataclass(frozen=True)
class Error:
    """A form against the drive: requests of a size at a queue depth."""

    op: Op
    size_kib: int
    depth: int
    iops: float
    """What the drive does."""
    predicted_iops: float

    @property
    def percent(self) -> float:
        """How much more the form promises than the drive does."""
        return 100 * (self.predicted_iops / self.iops - 1)


def _figure(iops: float) -> str:
    """With three digits: of slow drives the whole numbers would not agree with the percentage beside them."""
    return f"{iops:,.0f}" if iops >= 100 else f"{iops:.3g}"


@dataclass(frozen=True)
class Form:
    """A form of cost, its constants for a drive, and its errors."""

    name: str
    constants: dict[str, float]
    errors: list[Error]
    """Those of random requests, which every form has a price for."""
    reasons: Reasons | None = None
    """What its errors come from, as far as that was measured."""
    takes_larger: bool = False
    """Whether it charges the larger of positioning and transfer."""
    sequential: list[Error] = field(default_factory=list)
    """The errors of sequential requests, of a form that has a price of their own for them."""

    @property
    def worst(self) -> Error:
        """The largest error, either way: half as much and twice as much are as bad."""
        return max(self.errors, key=lambda error: abs(_ratio(error)))

    def by_depth(self) -> dict[int, Error]:
        """The largest error of random requests at each queue depth."""
        return largest_by_depth(self.errors)

    def sentence(self) -> str:
        """What the form cannot carry, or that it carries everything."""
        worst = self.worst
        if abs(worst.percent) <= CLOSE_PERCENT:
            return f"{self.name} is within {abs(worst.percent):.0f} % of the drive at all sizes and depths."
        where = f"{worst.size_kib:,} KiB {worst.op}s at queue depth {worst.depth}"
        return (
            f"{self.name} promises {_figure(worst.predicted_iops)} IOPS for {where}, where the drive does {_figure(worst.iops)} "
            f"({worst.percent:+,.0f} %){': ' if (cause := self._cause(worst)) else ''}{cause}."
        )

    def _cause(self, worst: Error) -> str:
        """Whether the queue depth or the size makes the larger difference to the error, or both do."""
        ratio = {(e.size_kib, e.depth): _ratio(e) for e in self.errors if e.op == worst.op}
        # From where the form is right to where it is not: the one first or the other, on average.
        size, depth = min(ratio, key=lambda at: abs(ratio[at]))
        farther, deeper = ratio[worst.size_kib, depth], ratio[size, worst.depth]
        of_size = abs(farther - ratio[size, depth] + ratio[worst.size_kib, worst.depth] - deeper)
        of_depth = abs(deeper - ratio[size, depth] + ratio[worst.size_kib, worst.depth] - farther)
        told = []
        if of_size <= 2 * of_depth:
            told.append(self._of_queue(worst, depth))
        if of_depth <= 2 * of_size:
            told.append(self._of_size(worst))
        return "; and ".join(filter(None, told))

    def _of_queue(self, worst: Error, right_depth: int) -> str:
        if self.reasons is None:
            return "it has no queue depth"
        cases = [
            Case(each.iops, each.depth, self.reasons.busy.get((each.op, each.size_kib, each.depth)))
            for each in self.errors
            if (each.op, each.size_kib) == (worst.op, worst.size_kib) and each.depth in (worst.depth, right_depth)
        ]
        if len(cases) < 2:
            return ""
        shallow, deep = sorted(cases, key=lambda case: case.depth)
        return self.reasons.of_queue(shallow, deep, promises_more=worst.percent > 0)

    def _of_size(self, worst: Error) -> str:
        if self.reasons is not None and worst.op == "write" and worst.size_kib in self.reasons.straight_kib:
            return f"writes of {worst.size_kib:,} KiB go straight to their place, those of 4 KiB into a cache that needs no power"
        if self.takes_larger:
            return "it charges the larger of positioning and transfer, not their sum" if worst.percent > 0 else ""
        small = [each for each in self.errors if (each.op, each.size_kib, each.depth) == (worst.op, 4, worst.depth)]
        if self.reasons is None or not small:
            return ""
        took_s = 1 / worst.iops - 1 / small[0].iops
        return self.reasons.of_size(worst.op, (worst.size_kib - 4) * KIB, took_s, promises_more=worst.percent > 0)


@dataclass(frozen=True)
class Coefficients:
    """What other systems assume of a disk."""

    system: str
    iocost: Form
    mclock: Form
    head_time: Form
    when_off: str = "write-through"
    """What the drives do with random writes while their write cache is off: `write-through`, `media-cache`, `flash-cache`."""
    cache_as_set: str = "on"
    """Whether the write cache is on for sequential writes, which are measured with it as it is set: `on`, `off`."""
    volume: str = ""
    """The volume that was measured."""
    volumes: tuple[str, ...] = ()
    """All volumes of the system."""

    @property
    def title(self) -> str:
        """What was measured, and how."""
        where = f", volume {self.volume}" if len(self.volumes) > 1 else ""
        return f"{self.system}{where}, {self.writes}"

    @property
    def choice(self) -> str:
        """That there are other volumes, where there are."""
        if len(self.volumes) < 2:
            return ""
        return f"{self.volume}, of {', '.join(self.volumes)}: `--volume NAME` measures another"

    @property
    def writes(self) -> str:
        """How writes were measured, in words."""
        return f"random writes with the write cache off ({self.when_off}), sequential ones with it {self.cache_as_set}"

    @property
    def forms(self) -> list[Form]:
        """All of them."""
        return [self.iocost, self.mclock, self.head_time]

    @property
    def iocost_line(self) -> str:
        """What goes into the kernel's `io.cost.model`, after the device's number."""
        values = " ".join(f"{name}={round(value)}" for name, value in self.iocost.constants.items())
        return f"ctrl=user model=linear {values}"

    def as_dict(self) -> CoefficientsSummary:
        """Everything, as `headstack coefficients --json` prints it."""
        names = {"iocost": self.iocost, "mclock": self.mclock, "head_time": self.head_time}
        found = {
            "system": self.system,
            "volume": self.volume,
            "volumes": list(self.volumes),
            **{name: form.constants for name, form in names.items()},
            "iocost_line": self.iocost_line,
            "write_cache": "off for random writes",
            "random_writes": self.when_off,
            "sequential_writes": f"write cache {self.cache_as_set}",
            "taken_from": {name: self._taken_from(name) for form in self.forms for name in form.constants},
            "errors": {name: _as_dicts(form.errors) for name, form in names.items()},
            "sequential_errors": {name: _as_dicts(form.sequential) for name, form in names.items() if form.sequential},
            "sentences": {name: form.sentence() for name, form in names.items()},
        }
        return cast("CoefficientsSummary", found)

    def _taken_from(self, name: str) -> ConstantState:
        """Which requests a constant is measured with, and whether the write cache is on meanwhile."""
        is_sequential = name.endswith(("bps", "seqiops", "bytes_per_s", "mb_per_s"))
        state = self.cache_as_set if is_sequential or name[0] == "r" else "off"
        pattern = "sequential" if is_sequential else "random"
        depth = 1 if name.endswith("_ms") else FULL
        return {"pattern": pattern, "queue_depth": depth, "write_cache": state}

    def _repr_html_(self) -> str:
        from headstack import notebook

        return notebook.coefficients(self)


_UNITS = {"iops": "IOPS", "bytes_per_s": "bytes/s", "ms": "ms", "mb_per_s": "MB/s"}
_OF = {"iops": "requests", "bytes_per_s": "bytes", "ms": "positioning", "mb_per_s": "bytes"}


def constant(form: Form, name: str, value: float) -> tuple[str, Shown]:
    """A constant with its form and what it is of: `read_iops` of mClock is `mClock, reads: requests`."""
    op, _, key = name.partition("_")
    unit = _UNITS[key]
    # A hundredth of a byte is no figure.
    text = number(round(value) if abs(value) >= 1000 else value)
    return f"{form.name}, {op}s: {_OF[key]}", shown(f"{text} {unit}", value, unit)


@checked(but=("system",))
def coefficients(
    system: str | Path | _core.Drive | _core.System,
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    volume: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Coefficients:
    """Measure a drive as other systems describe disks: iocost, mClock and disk-head time, each with its errors.

    Random requests of 4 KiB to 1 MiB are run at queue depths 1 to 32, writes as the drive serves them with its write cache
    turned off; sequential requests of 4 KiB and 1 MiB at five places, 32 outstanding, with the cache as it is. All go around a
    host's buffer cache.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`.
    overrides
        Values to replace, by dotted path.
    scheduler
        Scheduling algorithm: `NAME` in the host's driver, `drive:NAME` in the drives.
    volume
        The volume of the system that is measured; its first one if absent.
    seed
        Seed of the requests.
    threads
        How many runs at a time; one a core if absent.
    progress
        Called with how many runs are over, and of how many.
    """
    built = as_system(system, with_scheduler(overrides, scheduler))
    volumes = tuple(name for name, _ in built.volumes)
    bench = Bench.of(built, seed, _place(volume, volumes))
    # Errors are those of other requests than the constants were taken from.
    scored = replace(bench, seed=other_seed(seed))
    random: list[tuple[Op, int, int]] = list(product(OPS, SIZES_KIB, DEPTHS))
    at: list[tuple[Op, int, int]] = list(product(OPS[::-1], (4,), (1, FULL)))
    sequential: list[tuple[Op, int, float, int]] = list(product(OPS, (4, 1024), PLACES, (FULL,)))
    scored_streams: list[tuple[Op, int, float, int]] = list(product(OPS, SIZES_KIB, SCORED_PLACES, DEPTHS))
    sequential += scored_streams
    told = _Told(progress, len(at) + len(random) + len(sequential))
    with Pool(threads or cores()) as pool:
        # What takes longest first.
        once = zip(
            at, pool.map(told.each(lambda case: bench.random(case[0], case[1], case[2], TAKEN)), at), strict=True
        )
        taken: Measured = {case: rate for case, (rate, _) in once}
        found = dict(zip(random, pool.map(told.each(lambda case: scored.random(*case)), random), strict=True))
        rates = dict(
            zip(sequential, pool.map(told.each(lambda case: bench.sequential(*case)), sequential), strict=True)
        )

    def streamed(op: Op, size_kib: int, depth: int = FULL, places: tuple[int, ...] = PLACES) -> float:
        # The time for all places, not the mean of their rates.
        return len(places) / sum(1 / rates[op, size_kib, place, depth] for place in places)

    bytes_per_s: dict[Op, float] = {op: streamed(op, 1024) * 1024 * KIB for op in OPS}
    sequential_iops: dict[Op, float] = {op: streamed(op, 4) for op in OPS}
    scored_iops: Measured = {(op, kib, depth): streamed(op, kib, depth, SCORED_PLACES) for op, kib, depth in random}
    iops: Measured = {case: rate for case, (rate, _) in found.items()}
    busy: dict[tuple[str, int, int], float] = {case: arms for case, (_, arms) in found.items()}
    reasons = Reasons(Parts.of(built, bench.device), busy, bytes_per_s, bench.straight_kib)
    forms = (
        _iocost(taken, iops, bytes_per_s, sequential_iops, scored_iops),
        _mclock(taken, iops, bytes_per_s),
        _head_time(taken, iops, bytes_per_s),
    )
    iocost, mclock, head_time = (replace(form, reasons=reasons) for form in forms)
    return Coefficients(
        built.name, iocost, mclock, head_time, bench.when_off, bench.cache_as_set, volumes[bench.device], volumes
    )


def _place(volume: str | None, volumes: tuple[str, ...]) -> int:
    """The place of a volume that is named among those of the system."""
    if volume is None:
        return 0
    if volume not in volumes:
        raise InputError(f"volume: there is no volume `{volume}` in the system", nearest(volume, volumes))
    return volumes.index(volume)


class _Told:
    """Counts runs as they are over, whichever thread they are served by."""

    def __init__(self, progress: Callable[[int, int], object] | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = Lock()

    def each(self, measure: Callable[[Asked], Made]) -> Callable[[Asked], Made]:
        def measured(case: Asked) -> Made:
            made = measure(case)
            if self._progress is not None:
                with self._lock:
                    self._done += 1
                    self._progress(self._done, self._total)
            return made

        return measured


# ---- the forms ----


def _iocost(
    taken: Measured, iops: Measured, bytes_per_s: dict[Op, float], sequential_iops: dict[Op, float], streams: Measured
) -> Form:
    constants = {}
    for op in OPS:
        letter = op[0]
        constants |= {
            f"{letter}bps": bytes_per_s[op],
            f"{letter}seqiops": sequential_iops[op],
            f"{letter}randiops": taken[op, 4, FULL],
        }

    def pages(op: Op, size_kib: int) -> float:
        return (size_kib * KIB / PAGE - 1) * PAGE / bytes_per_s[op]

    errors = _errors(iops, lambda op, size: 1 / taken[op, 4, FULL] + pages(op, size))
    return Form(
        "iocost",
        constants,
        errors,
        sequential=_errors(streams, lambda op, size: 1 / sequential_iops[op] + pages(op, size)),
    )


def _mclock(taken: Measured, iops: Measured, bytes_per_s: dict[Op, float]) -> Form:
    constants: dict[str, float] = {f"{op}_iops": taken[op, 4, FULL] for op in OPS}
    constants |= {f"{op}_bytes_per_s": bytes_per_s[op] for op in OPS}

    def cost(op: Op, size_kib: int) -> float:
        worth = bytes_per_s[op] / taken[op, 4, FULL]
        return max(size_kib * KIB, worth) / bytes_per_s[op]

    return Form("mClock", constants, _errors(iops, cost), takes_larger=True)


def _head_time(taken: Measured, iops: Measured, bytes_per_s: dict[Op, float]) -> Form:
    positioning_s = {op: 1 / taken[op, 4, 1] - 4 * KIB / bytes_per_s[op] for op in OPS}
    constants: dict[str, float] = {f"{op}_ms": 1000 * positioning_s[op] for op in OPS}
    constants |= {f"{op}_mb_per_s": bytes_per_s[op] / 1e6 for op in OPS}

    def cost(op: Op, size_kib: int) -> float:
        return positioning_s[op] + size_kib * KIB / bytes_per_s[op]

    return Form("disk-head time", constants, _errors(iops, cost))


def _errors(iops: Measured, cost_s: Callable[[Op, int], float]) -> list[Error]:
    return [Error(op, size, depth, found, 1 / cost_s(op, size)) for (op, size, depth), found in iops.items()]


def _as_dicts(errors: list[Error]) -> list[dict[str, object]]:
    return [{**asdict(error), "error_percent": error.percent} for error in errors]


def largest_by_depth(errors: list[Error]) -> dict[int, Error]:
    """The largest error at each queue depth, either way."""
    return {
        depth: max((e for e in errors if e.depth == depth), key=lambda error: abs(_ratio(error))) for depth in DEPTHS
    }


def _ratio(error: Error) -> float:
    """Twice as much and half as much are as far from right."""
    low, high = sorted((error.predicted_iops, error.iops))
    return (high / low - 1) * (1 if error.predicted_iops > error.iops else -1)
