"""Results about traces: `trace info`, `convert`, `formats`, `match`, `ticks`, `analyze`, `iostat`, `capture`, `make`."""

from __future__ import annotations

from headstack.results.base import Any, Figure, NotRequired, TypedDict
from headstack.results.common import Notes, Spread


class SizeCount(TypedDict):
    """How many requests have a size."""

    bytes: int
    requests: int


class Sizes(TypedDict):
    """The sizes of requests."""

    mean_bytes: Figure
    min_bytes: int | None
    max_bytes: int | None
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
    inter_arrival: Spread | None
    service: Spread | None
    """Null where the trace has no measured start and completion."""
    response: Spread | None
    max_outstanding: int | None
    devices: list[DeviceInTrace]
    notes: Notes


class InfoOutput(TraceInfo):
    """What `trace info --json` prints."""

    trace: str


class ConvertOutput(TypedDict):
    """What `trace convert --json` prints."""

    trace: str
    out: str
    requests: int
    others: int
    """Rows that are not requests: flushes, discards."""
    notes: Notes


class JoinOutput(TypedDict):
    """What `trace join --json` prints."""

    traces: list[str]
    out: str
    devices: str
    """`kept`, or numbered `apart`."""
    requests: int
    clocks: str
    """How the clocks were read: `same`, `begin` or `follow`."""
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


class Pairing(TypedDict):
    """How events became requests."""

    pairs: int
    orphans: int
    """Events that stayed unpaired."""
    records: NotRequired[int]
    orphan_responses: NotRequired[int]
    orphan_requests: NotRequired[int]
    off_slice: NotRequired[int]
    ticks: NotRequired[list[dict[str, Any]]]
    orphan_records: NotRequired[list[Any]]
    histogram: NotRequired[TickHistogram | None]
    orphan_dispatches: NotRequired[int]
    orphan_completions: NotRequired[int]
    orphan_queued: NotRequired[int]
    undispatched: NotRequired[int]
    doubtful: NotRequired[int]
    """Pairs left out because lost events may have made them up."""
    without_queueing: NotRequired[int]
    merges: NotRequired[int]
    splits: NotRequired[int]
    requeues: NotRequired[int]
    partial_completions: NotRequired[int]
    double_flush_completions: NotRequired[int]
    events: NotRequired[dict[str, Any]]
    btt: NotRequired[dict[str, Any]]
    btt_overhead_percent: NotRequired[dict[str, float]]
    loss: NotRequired[Loss | None]


class MatchOutput(Pairing):
    """What `trace match --json` prints."""

    trace: str
    notes: NotRequired[Notes]


class AnalyzeOutput(TypedDict):
    """What `trace analyze --json` prints; for a trace that was paired, the keys of `trace match` besides."""

    trace: str
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
    response: Spread | None
    service: Spread | None
    wait: Spread | None
    inter_arrival: Spread | None
    inter_arrival_variation: Figure
    """Coefficient of variation of the times between arrivals; 1 for Poisson arrivals."""
    by_inter_arrival: list[dict[str, Any]]
    arrivals: list[dict[str, Any]]
    by_response: list[dict[str, Any]]
    by_device: list[dict[str, Any]]
    by_address: list[dict[str, Any]]
    by_interface: list[dict[str, Any]]
    by_size: list[dict[str, Any]]
    by_kind: list[dict[str, Any]]
    by_start: list[dict[str, Any]]
    by_process: list[dict[str, Any]]
    heat: list[dict[str, Any]]
    depth: dict[str, Any] | None
    """Queue depth at arrival, and over time."""
    hot_regions: list[dict[str, Any]]
    bursts: dict[str, Any] | None
    effects: list[dict[str, Any]]
    """What reads wait for: each cause with an interval."""
    runs: dict[str, Any] | None
    notes: Notes
    quantised: dict[str, Any] | None
    """What a coarse clock (`--ticks`) would have seen."""


class IostatOutput(TypedDict):
    """What `trace iostat --json` prints."""

    iostat: str
    reports: int
    first_left_out: bool
    devices: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    notes: Notes


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
