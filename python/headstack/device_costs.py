"""`coefficients`: what other systems assume of a disk, measured on the model, and how far each assumption is from it.

Three forms are common. The kernel's *iocost* charges a request one of two fixed costs (sequential or random) and one for each
further page of 4 KiB. Ceph's *mClock* charges the larger of a request's bytes and the bytes that one random request is worth.
*Disk-head time* charges a fixed time to position and one for each byte. None of them knows the queue depth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, cast

from headstack import _core
from headstack.arguments import checked
from headstack.device_cost_causes import Case, Parts, Reasons, busy_arms
from headstack.run import as_system
from headstack.sweeping.executors.local import cores
from headstack.threads import Pool

if TYPE_CHECKING:
    from pathlib import Path

    from headstack.results.designs import CoefficientsSummary
    from headstack.results.runs import RunSummary
    from headstack.run import Overrides

Op = Literal["read", "write"]
Measured = dict[tuple[Op, int, int], float]

KIB, PAGE = 1024, 4096
SIZES_KIB = (4, 64, 256, 1024)
DEPTHS = (1, 2, 4, 8, 16, 32)
FULL = DEPTHS[-1]
"""The queue depth at which iocost and mClock are told what a disk can do."""
OPS: tuple[Op, ...] = ("read", "write")
WARMUP_S, UNTIL_S = 2.0, 32.0
"""What is counted of random requests: some thousands, while as many as ever are outstanding."""
MANY = 1_000_000
# Large ones fill a write cache of 512 MiB before they are counted.
STREAMED, STREAM_WARMUP = 300, 520
# Where the media rate is taken, in percent of the addresses: the middle of each fifth.
PLACES = (10, 30, 50, 70, 90)
WRITE_THROUGH = ("drive.*.write_policy", "{ write-through = {} }")
CLOSE_PERCENT = 10.0
"""An error within this is one that a form can carry."""


@dataclass(frozen=True)
class Error:
    """A form against the drive: random requests of a size at a queue depth."""

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
    reasons: Reasons | None = None
    """What its errors come from, as far as that was measured."""
    takes_larger: bool = False
    """Whether it charges the larger of positioning and transfer."""

    @property
    def worst(self) -> Error:
        """The largest error, either way: half as much and twice as much are as bad."""
        return max(self.errors, key=lambda error: abs(_ratio(error)))

    def by_depth(self) -> dict[int, Error]:
        """The largest error at each queue depth."""
        return {
            depth: max((e for e in self.errors if e.depth == depth), key=lambda error: abs(_ratio(error)))
            for depth in DEPTHS
        }

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
            **{name: form.constants for name, form in names.items()},
            "iocost_line": self.iocost_line,
            "write_cache": "off for random writes",
            "errors": {
                name: [{**asdict(error), "error_percent": error.percent} for error in form.errors]
                for name, form in names.items()
            },
            "sentences": {name: form.sentence() for name, form in names.items()},
        }
        return cast("CoefficientsSummary", found)

    def _repr_html_(self) -> str:
        from headstack import notebook

        return notebook.coefficients(self)


@checked(but=("system",))
def coefficients(
    system: str | Path | _core.Drive | _core.System,
    *,
    overrides: Overrides | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Coefficients:
    """Measure a drive as other systems describe disks: iocost, mClock and disk-head time, each with its errors.

    Random requests of 4 KiB to 1 MiB are run at queue depths 1 to 32, writes with the write cache off; sequential requests of
    4 KiB and 1 MiB at five places, with the cache as it is.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`; its first volume is measured.
    overrides
        Values to replace, by dotted path.
    seed
        Seed of the requests.
    threads
        How many runs at a time; one a core if absent.
    """
    built = as_system(system, overrides)
    bench = _Bench(built, _without_write_cache(system, built, overrides), seed)
    # Errors are those of other requests than the constants were taken from.
    scored = replace(bench, seed=(seed + 1) % 2**64)
    random: list[tuple[Op, int, int]] = list(product(OPS, SIZES_KIB, DEPTHS))
    at: list[tuple[Op, int, int]] = list(product(OPS, (4,), (1, FULL)))
    sequential: list[tuple[Op, int, float]] = list(product(OPS, (4, 1024), PLACES))
    with Pool(threads or cores()) as pool:
        taken: Measured = {
            case: rate for case, (rate, _) in zip(at, pool.map(lambda case: bench.random(*case), at), strict=True)
        }
        found = dict(zip(random, pool.map(lambda case: scored.random(*case), random), strict=True))
        rates = dict(zip(sequential, pool.map(lambda case: bench.sequential(*case), sequential), strict=True))

    def streamed(op: Op, size_kib: int) -> float:
        # The time for all places, not the mean of their rates.
        return len(PLACES) / sum(1 / rates[op, size_kib, place] for place in PLACES)

    bytes_per_s: dict[Op, float] = {op: streamed(op, 1024) * 1024 * KIB for op in OPS}
    sequential_iops: dict[Op, float] = {op: streamed(op, 4) for op in OPS}
    iops: Measured = {case: rate for case, (rate, _) in found.items()}
    reasons = Reasons(Parts.of(built), {case: busy for case, (_, busy) in found.items()}, bytes_per_s)
    forms = (
        _iocost(taken, iops, bytes_per_s, sequential_iops),
        _mclock(taken, iops, bytes_per_s),
        _head_time(taken, iops, bytes_per_s),
    )
    return Coefficients(built.name, *(replace(form, reasons=reasons) for form in forms))


def _without_write_cache(
    system: str | Path | _core.Drive | _core.System, built: _core.System, overrides: Overrides | None
) -> _core.System:
    """The same, writing through; a drive that was handed over built is taken as it is."""
    if isinstance(system, (_core.Drive, _core.System)):
        return built
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides or []
    return _core.System(str(system), overrides=[*pairs, WRITE_THROUGH])


@dataclass(frozen=True)
class _Bench:
    cached: _core.System
    through: _core.System
    seed: int

    def random(self, op: Op, size_kib: int, depth: int) -> tuple[float, float]:
        """Random requests a second, `depth` of them outstanding, and how many arms they keep busy."""
        stream = f"users = {depth}\nsize.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n"
        system = self.cached if op == "read" else self.through

        def until(until_s: float) -> RunSummary:
            return self._summary(system, op, stream, MANY, {"until_s": until_s})

        # Whatever is complete meanwhile: of those that a warm-up lets count, so many as are outstanding are missing at the end.
        whole, before = until(UNTIL_S), until(WARMUP_S)
        return (whole["requests"] - before["requests"]) / (UNTIL_S - WARMUP_S), busy_arms(whole)

    def sequential(self, op: Op, size_kib: int, place: float) -> float:
        """Requests a second, one behind the other."""
        _, sectors = self.cached.volumes[0]
        # Where requests begin on a boundary of their own, so that no write covers a part of a physical sector.
        step = max(size_kib * KIB // self.cached.sector_bytes, 1)
        first = int(sectors * place / 100) // step * step
        where = f"range_lba = [{first}, {min(first + max(sectors // 10, step), sectors) - 1}]"
        stream = f'sequential_fraction = 1.0\nrun_start = "first"\nsize.fixed_kib = {size_kib}\nalign_kib = {size_kib}\n{where}\n'
        cut = {"warmup_requests": STREAM_WARMUP}
        return self._summary(self.cached, op, stream, STREAMED + STREAM_WARMUP, cut)["iops"]

    def _summary(self, system: _core.System, op: Op, stream: str, requests: int, cut: dict[str, Any]) -> RunSummary:
        text = (
            f"requests = {requests}\n[[stream]]\nthink.constant_ms = 0\n"
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


# ---- the forms ----


def _iocost(taken: Measured, iops: Measured, bytes_per_s: dict[Op, float], sequential_iops: dict[Op, float]) -> Form:
    constants = {}
    for op in OPS:
        letter = op[0]
        constants |= {
            f"{letter}bps": bytes_per_s[op],
            f"{letter}seqiops": sequential_iops[op],
            f"{letter}randiops": taken[op, 4, FULL],
        }

    def cost(op: Op, size_kib: int) -> float:
        further = size_kib * KIB / PAGE - 1
        return 1 / taken[op, 4, FULL] + further * PAGE / bytes_per_s[op]

    return Form("iocost", constants, _errors(iops, cost))


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


def _ratio(error: Error) -> float:
    """Twice as much and half as much are as far from right."""
    low, high = sorted((error.predicted_iops, error.iops))
    return (high / low - 1) * (1 if error.predicted_iops > error.iops else -1)
