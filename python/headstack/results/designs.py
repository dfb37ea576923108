"""Results without requests: `cost`, `power`, `coefficients`, `schedulers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, TypedDict


class ComponentCost(TypedDict):
    """One component of a bill."""

    name: str
    count: int
    low_usd: float
    high_usd: float


class Bill(TypedDict):
    """What a drive is made of and what that costs."""

    actuators: int
    platters: int
    low_usd: float
    high_usd: float
    components: list[ComponentCost]


class SystemCost(TypedDict):
    """Drives that together perform like the other systems."""

    drives: int
    actuators: int
    low_usd: float
    high_usd: float
    mean_usd: float
    saving_percent: float


class IsoPerformance(TypedDict):
    """Systems that perform alike, and who says so."""

    source: str
    systems: list[SystemCost]


class CostSummary(TypedDict):
    """Bills of materials."""

    design: str
    name: str
    source: str
    designs: list[Bill]
    iso_performance: IsoPerformance | None


class WattsByState(TypedDict):
    """What a drive draws at one speed, with one number of arms."""

    rpm: float
    actuators: int
    by_state_w: dict[str, float]
    all_seeking_w: float
    drag_w: Figure
    standby_w: Figure
    break_even_s: Figure
    """How long the disks must stand still before spinning them down saves energy."""


if TYPE_CHECKING:
    # A checker does not ask for `is None` before each use.
    Watts: TypeAlias = list[WattsByState] | Any
else:
    Watts = list[WattsByState] | None


class DrivePower(TypedDict):
    """What one drive draws; null where its file does not say."""

    name: str
    model: str
    power: Watts


class TotalPower(TypedDict):
    """All drives together."""

    idle_w: float
    all_seeking_w: float


class PowerSummary(TypedDict):
    """What the drives of a system draw."""

    system: str
    drives: list[DrivePower]
    totals: list[TotalPower]


class IocostModel(TypedDict):
    """Constants of the kernel's iocost."""

    rbps: float
    rseqiops: float
    rrandiops: float
    wbps: float
    wseqiops: float
    wrandiops: float


class MclockModel(TypedDict):
    """Constants of mClock."""

    read_iops: float
    write_iops: float
    read_bytes_per_s: float
    write_bytes_per_s: float


class HeadTimeModel(TypedDict):
    """Constants of a model of disk-head time."""

    read_ms: float
    write_ms: float
    read_mb_per_s: float
    write_mb_per_s: float


class ModelError(TypedDict):
    """How far a model is from the drive, at one size and depth."""

    op: str
    size_kib: int
    depth: int
    iops: float
    predicted_iops: float
    error_percent: float


class ConstantState(TypedDict):
    """What the requests are that a constant was taken from, and the drive's state meanwhile."""

    pattern: str
    """`random` or `sequential`."""
    queue_depth: int
    write_cache: str
    """`on` or `off`; both words, where drives of a volume differ."""


class CoefficientsSummary(TypedDict):
    """What simple cost models assume of a drive, and how far each is from it."""

    system: str
    volume: str
    """The one that was measured."""
    volumes: list[str]
    """All of the system."""
    iocost: IocostModel
    mclock: MclockModel
    head_time: HeadTimeModel
    iocost_line: str
    write_cache: str
    random_writes: str
    """What the drive does with them meanwhile: `write-through`, `media-cache` or `flash-cache`."""
    sequential_writes: str
    """Whether the write cache is on for them, as the drive is set."""
    taken_from: dict[str, ConstantState]
    """For each constant of any model."""
    errors: dict[str, list[ModelError]]
    """Of random requests."""
    sequential_errors: dict[str, list[ModelError]]
    """Of models that have a price of their own for sequential requests."""
    sentences: dict[str, str]


class SchedulerParameter(TypedDict):
    """The number in a scheduler's name."""

    what: str
    unit: str
    default: Figure
    least: float
    most: Figure


class SchedulerEntry(TypedDict):
    """A scheduling algorithm, or a modifier of one."""

    name: str
    what: str
    needs: str
    is_modifier: bool
    parameter: SchedulerParameter | None


class SchedulersOutput(TypedDict):
    """What `schedulers --json` prints."""

    schedulers: list[SchedulerEntry]
