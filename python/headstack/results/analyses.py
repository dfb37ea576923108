"""Results of analysing a trace: `trace analyze`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, NotRequired, TypedDict
from headstack.results.common import MeanAndMax, Notes, Spread
from headstack.results.matching import Paired, TickCount


class TimeBin(TypedDict):
    """How many times lie in a bin, at least `from_ms` and below `to_ms`."""

    from_ms: float
    to_ms: float
    count: int


class ArrivalBin(TypedDict):
    """What arrived in a stretch of time."""

    from_ns: int
    width_ns: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int


class Group(TypedDict):
    """Requests that have something in common, which is their name."""

    name: str
    requests: int
    reads: int
    bytes: int
    response_ms: Spread | None


AxisBin = TypedDict("AxisBin", {"from": int, "width": int, "count": int, "mean": Figure, "max": float})
"""Requests in a stretch of an axis (sectors, or ns from the first arrival): response in ms, or queue depth."""


class AddressBins(TypedDict):
    """Responses over the addresses of a device."""

    device: str
    bins: list[AxisBin]


Cell = TypedDict("Cell", {"from": int, "width": int, "from_ms": float, "to_ms": float, "count": int})
"""How many responses lie in a cell of arrival and response."""


class Depth(TypedDict):
    """How many requests an arrival finds outstanding."""

    mean: float
    max: int
    idle_share: float
    over_time: list[AxisBin]


class Region(TypedDict):
    """A busy part of a device."""

    device: str
    first_lba: int
    sectors: int
    requests: int
    share: float
    response_ms: MeanAndMax | None


class Ratio(TypedDict):
    """How many times as long, with its 95 % interval."""

    times_as_long: float
    low: float
    high: float


class InPhases(TypedDict):
    """What others' reads take in the phases of a process, as they are."""

    inside_ms: float
    """Their geometric mean response in its phases."""
    outside_ms: float
    """And outside them."""
    whole: Ratio
    """The one over the other."""
    like_queue: Ratio
    """Against those shortly before and after that find as many requests outstanding."""
    beside: Ratio | None
    """Within its phases: beside one of its requests against not beside one; `None` where too few are not."""
    only_time: bool
    """That makes hardly a difference: something else may be slow at these times."""
    share_of_queue: float
    """The share of the requests that they find outstanding in its phases that are its own."""
    found_inside: float
    """How many they find outstanding in its phases, on average."""
    found_outside: float


class FilledBy(TypedDict):
    """Who fills the queue."""

    process: str
    share: float
    """The share of the requests that others' reads find outstanding that are its own."""


class Effect(TypedDict):
    """How many times as long reads take while something happens, with its 95 % interval."""

    cause: str
    name: str | None
    """The region or the process that it is, where it is one of many."""
    occurrences: int
    reads: int
    reads_around: int
    times_as_long: Figure
    low: Figure
    high: Figure
    found: bool
    """Whether it is named as a cause."""
    withheld: str | None
    """Why it is not named though the interval lies above 1: `small`, where it is not surely large enough; `arrivals`, of a queue that when
    requests came does not explain, as what is slow for a while makes a queue, too."""
    phases: InPhases | None
    """Of a process that is named by its phases."""
    filled_by: FilledBy | None
    """Of the queue: who has most of the requests that others' reads find outstanding."""


class Burst(TypedDict):
    """A burst of writes."""

    kind: str
    """`flush`, or `mixed`."""
    start_s: float
    length_ms: float
    writes: int
    bytes_written: int
    peak_outstanding: int
    reads: int
    read_response_ms: MeanAndMax | None


class Bursts(TypedDict):
    """Bursts of writes, and what they do to reads."""

    count: int
    flushes: int
    share_of_writes: float
    flush_period_s: Figure
    reads_inside_ms: Spread | None
    reads_outside_ms: Spread | None
    effects: list[Effect]
    largest: list[Burst]


class Runs(TypedDict):
    """Sequential runs, and strides."""

    sequential_fraction: float
    """Requests that continue one of the last 32 runs of their device and direction: streams that interleave are told apart.
    `trace info` asks whether a request begins where the one before ended, which is so of fewer."""
    strided_fraction: float
    """Requests as far from the one before as that one from its own predecessor, which continue no run."""
    runs: int
    """Of two requests or more."""
    mean_length: float
    longest: int
    by_log2_length: list[int]
    """How many runs have 2^k to 2^(k+1) − 1 requests, from k = 0 on."""


class RankedTimes(TypedDict):
    """Responses of a device in the rank, in ms."""

    mean: float
    p50: float
    p99: float


class Ranked(TypedDict):
    """A device among the others of a trace."""

    device: str
    responses: int
    response_ms: RankedTimes
    p99_to_others: float
    """Its p99 over the median of the others'."""


class Outlier(TypedDict):
    """A device that takes longer than the others explain."""

    device: str
    measure: str
    value_ms: float
    others_ms: float
    times_as_long: float
    deviations: float


class Apart(TypedDict):
    """The two groups of devices that differ most by their medians."""

    devices: list[str]
    """The smaller group: those that take longer, or less long, than the others."""
    others: int
    times_as_long: float
    low: float
    """Lower end of the 95 % interval, which allows for all ways to part the devices."""
    high: float
    graded: bool
    """Whether the devices of each group differ among themselves, too."""
    slowest_to_fastest: float
    found: bool
    """Whether more than chance parts them."""


class DeviceRank(TypedDict):
    """The devices of a trace, the slowest first."""

    ranked: list[Ranked]
    left_out: int
    outlier: Outlier | None
    apart: Apart | None
    """`None` with too few responses to know how far chance goes."""


class SeenTimes(TypedDict):
    """Responses, in ms."""

    mean: float
    std: float
    p50: float
    p99: float


class SeenBias(TypedDict):
    """How much longer responses seem, in ms."""

    mean: float
    p50: float


class Quantised(TypedDict):
    """What a clock of ticks would have seen of the responses."""

    ticks_per_s: int
    response_ms: SeenTimes
    seen_ms: SeenTimes
    bias_ms: SeenBias
    std_added_expected_ms: float
    at_0_ticks: float
    at_0_ticks_expected: float
    histogram: list[TickCount]


if TYPE_CHECKING:
    AnyBursts: TypeAlias = Bursts | Any
    AnyQuantised: TypeAlias = Quantised | Any
else:
    AnyBursts, AnyQuantised = Bursts | None, Quantised | None


class Analysis(Paired):
    """What is in a trace, in one pass; for a trace that was paired, the keys of `trace match` besides."""

    pairs: NotRequired[int]
    orphans: NotRequired[int]
    format: str
    sector_bytes: int
    requests: int
    reads: int
    writes: int
    flushes: int
    discards: int
    bytes_read: int
    bytes_written: int
    span_s: float
    late_arrivals: int
    response_ms: Spread | None
    service_ms: Spread | None
    wait_ms: Spread | None
    inter_arrival_ms: Spread | None
    inter_arrival_variation: Figure
    """Coefficient of variation of the times between arrivals; 1 for Poisson arrivals."""
    by_inter_arrival: list[TimeBin]
    arrivals: list[ArrivalBin]
    by_response: list[TimeBin]
    by_device: list[Group]
    fleet: DeviceRank | None
    """The devices side by side, where there are several with measured responses."""
    by_address: list[AddressBins]
    by_interface: list[Group]
    by_size: list[Group]
    by_kind: list[Group]
    by_start: list[AxisBin]
    by_process: list[Group]
    heat: list[Cell]
    depth: Depth
    """Queue depth at arrival, and over time."""
    hot_regions: list[Region]
    bursts: AnyBursts
    effects: list[Effect]
    """What reads wait for: each cause with an interval."""
    runs: Runs
    notes: Notes
    quantised: AnyQuantised
    """What a coarse clock (`--ticks`) would have seen."""


class AnalyzeOutput(Analysis):
    """What `trace analyze --json` prints."""

    trace: str
    pairing: str | None
    """By which rule events were paired; null where the trace is none of events."""
