"""Results of pairing events, and of ticks: `trace match`, `trace ticks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, TypedDict
from headstack.results.common import Notes


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
    late_cpus: list[int]
    """Processors that lost what they told before their first event, by its running number."""
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
