"""Results about traces: `trace info`, `convert`, `formats`, `match`, `ticks`, `analyze`, `iostat`, `capture`, `make`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, NotRequired, TypedDict
from headstack.results.common import MeanAndMax, Notes, Spread


class SizeCount(TypedDict):
    """How many requests have a size."""

    bytes: int
    requests: int


class Sizes(TypedDict):
    """The sizes of requests."""

    mean_bytes: Figure
    min_bytes: Figure
    max_bytes: Figure
    common: list[SizeCount]


class DeviceInTrace(TypedDict):
    """One device of a trace."""

    device: int
    requests: int
    reads: int
    bytes: int
    lowest_lba: int
    highest_lba: int
    footprint_sectors: int
    sequential_fraction: Figure
    """Requests that begin where the one before on the same device ended. `trace analyze` looks further back: `runs`."""
    max_in_service: int | None


class TraceInfo(TypedDict):
    """What is in a trace."""

    format: str
    sector_bytes: int
    requests: int
    reads: int
    writes: int
    read_fraction: Figure
    records_skipped: int
    in_order: bool
    first_arrival_s: Figure
    span_s: float
    requests_per_s: Figure
    bytes_read: int
    bytes_written: int
    sizes: Sizes
    footprint_sectors: int
    """Different sectors that were touched, counted in steps of `footprint_grid_sectors`."""
    footprint_grid_sectors: int
    highest_lba: int | None
    sequential_fraction: Figure
    """Requests that begin where the one before on the same device ended. `trace analyze` looks further back: `runs`."""
    inter_arrival_ms: Spread | None
    service_ms: Spread | None
    """Null where the trace has no measured start and completion."""
    response_ms: Spread | None
    max_outstanding: int | None
    devices: list[DeviceInTrace]
    notes: Notes


class InfoOutput(TraceInfo):
    """What `trace info --json` prints."""

    trace: str


class Converted(TypedDict):
    """What was written of a trace."""

    requests: int
    others: int
    """Rows that are not requests: flushes, discards."""
    left_out: int
    """Flushes, discards and others that the format does not hold."""
    merges_left_out: int
    """Requests that were merged into those written, of which the format tells nothing."""
    instants_left_out: int
    """Rows written without the instants of `G` and `I`."""
    notes: Notes


class ConvertOutput(Converted):
    """What `trace convert --json` prints."""

    trace: str
    out: str


class JoinOutput(TypedDict):
    """What `trace join --json` prints."""

    traces: list[str]
    out: str
    devices: str
    """`kept`, or numbered `apart`."""
    requests: int
    left_out: int
    """Flushes, discards and others, which are not joined."""
    clocks: str
    """How the clocks were read: `same`, `begin` or `follow`."""
    pauses_s: list[float]
    """Of traces that follow one another: from the end of each to the first arrival of the next. Chosen: the mean time between arrivals."""
    notes: Notes


class FormatEntry(TypedDict):
    """A format that is read."""

    name: str
    about: str


class FormatsOutput(TypedDict):
    """What `trace formats --json` prints."""

    formats: list[FormatEntry]
    written: list[str]


class TickCount(TypedDict):
    """How many responses took so many ticks."""

    ticks: int
    responses: int


class TickHistogram(TypedDict):
    """Responses by clock ticks."""

    responses: int
    counts: list[TickCount]
    mean_ticks: Figure
    mean_ms: Figure
    std_ms: Figure
    std_corrected_ms: Figure
    """Less what the clock itself adds."""
    within_5_ticks: Figure
    at_0_ticks: Figure
    text: str


class TicksOutput(TickHistogram):
    """What `trace ticks --json` prints."""

    histogram: str


class Loss(TypedDict):
    """Events that were lost before they were written."""

    missing_cpus: list[int]
    empty_cpus: list[int]
    short_cpus: list[int]
    lost_events: int
    damaged_places: int
    doubled_records: int
    """Records that were there before, by their running numbers; left out."""
    set_back_cpus: list[int]
    """Processors whose clock was set back, by the running numbers."""
    set_back_events: int
    """Events of these from there on; left out."""


class LayerTimes(TypedDict):
    """Times from one layer of the block layer to another, in s."""

    count: int
    min_s: float
    mean_s: float
    max_s: float


if TYPE_CHECKING:
    # A checker does not ask for `is None` before each use.
    AnyTicks: TypeAlias = TickHistogram | Any
else:
    AnyTicks = TickHistogram | None


class TickRecord(TypedDict):
    """One record of a trace of ticks."""

    device: list[int]
    """Major and minor number."""
    blocks: int
    op: str
    block: int
    tick: int


class TickPair(TickRecord):
    """A request that was sent and received; the record is that of the sending."""

    ticks: int
    """From sending to receiving."""


class UnpairedTick(TickRecord):
    """A record whose counterpart is missing."""

    event: str
    """`sent` or `received`."""
    record: int
    """Which record of the trace, from 1."""


class EventCount(TypedDict):
    """How many events of a kind there are, and of how many bytes."""

    reads: int
    writes: int
    read_bytes: int
    write_bytes: int


class EventCounts(TypedDict):
    """The events of a block trace, by kind."""

    entries: int
    by_action: dict[str, int]
    """By blktrace's letter."""
    queued: EventCount
    dispatched: EventCount
    requeued: EventCount
    completed: EventCount
    merged: EventCount


class Paired(TypedDict, total=False):
    """How events became requests: ticks, or events of a block trace."""

    records: int
    orphan_responses: int
    orphan_requests: int
    off_slice: int
    ticks: list[TickPair]
    orphan_records: list[UnpairedTick]
    histogram: AnyTicks
    orphan_dispatches: int
    orphan_completions: int
    orphan_queued: int
    undispatched: int
    doubtful: int
    """Pairs left out because lost events may have made them up."""
    without_queueing: int
    responses_from: str
    """`queueing`, or `dispatch` where no queueing is traced: responses are services then, and waits nothing."""
    merges: int
    splits: int
    requeues: int
    partial_completions: int
    double_flush_completions: int
    events: EventCounts
    btt: dict[str, LayerTimes]
    btt_overhead_percent: dict[str, float]
    loss: Loss | None


class Matching(Paired):
    """How events became requests, and how many stayed alone."""

    format: str
    pairs: int
    orphans: int
    """Events that stayed unpaired."""
    notes: Notes


class MatchOutput(Matching):
    """What `trace match --json` prints."""

    trace: str


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
    """Whether it is more than chance explains."""


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


class DeviceRank(TypedDict):
    """The devices of a trace, the slowest first."""

    ranked: list[Ranked]
    left_out: int
    outlier: Outlier | None


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


class IostatFields(TypedDict):
    """What `iostat -x` says of a device; null where the file has no such column, or nothing waited."""

    reads_per_s: Figure
    writes_per_s: Figure
    discards_per_s: Figure
    flushes_per_s: Figure
    read_kib_per_s: Figure
    write_kib_per_s: Figure
    discard_kib_per_s: Figure
    read_merges_per_s: Figure
    write_merges_per_s: Figure
    discard_merges_per_s: Figure
    read_wait_ms: Figure
    write_wait_ms: Figure
    discard_wait_ms: Figure
    flush_wait_ms: Figure
    wait_ms: Figure
    queue_mean: Figure
    utilisation_percent: Figure


class IostatReport(IostatFields):
    """One report on one device."""

    report: int
    device: str


class IostatDevice(TypedDict):
    """All reports on one device."""

    device: str
    reports: int
    mean: IostatFields
    """Means over the reports; waits are weighted by their rates."""
    most: IostatFields
    queue_by_little: Figure
    """What Little's law makes of rates and waits, to be held against `queue_mean`."""


class Iostat(TypedDict):
    """The reports of a file."""

    reports: int
    first_left_out: bool
    devices: list[IostatDevice]
    rows: list[IostatReport]
    notes: Notes


class IostatOutput(Iostat):
    """What `trace iostat --json` prints."""

    iostat: str


class CaptureOutput(TypedDict):
    """What `trace capture --json` prints."""

    out: str


class Likeness(TypedDict):
    """One property of a trace, and of the one made after it."""

    what: str
    original: Figure
    made: Figure
    ratio: Figure


class MakeOutput(TypedDict):
    """What `trace make --json` prints."""

    out: str
    model: str | None
    requests: int
    fitted_to: int | None
    seed: int
    likeness: list[Likeness] | None
