"""Results about traces: `trace info`, `convert`, `join`, `formats`, `iostat`, `capture`, `make`."""

from __future__ import annotations

from typing import Literal

from headstack.results.analyses import Analysis as Analysis  # noqa: PLC0414 (the stubs of what is compiled ask here)
from headstack.results.base import Figure, TypedDict
from headstack.results.common import Notes, Spread
from headstack.results.matching import Matching as Matching  # noqa: PLC0414
from headstack.results.matching import TickHistogram as TickHistogram  # noqa: PLC0414


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
    names_changed: int
    """Processes whose name the format cannot hold as it is."""
    requests_only: Literal["format", "options"] | None
    """Why a trace that knows processes, marks of waiting, merges, or instants of each layer was written as requests alone: the format
    holds no more, or options change requests; null where all was written."""
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
    is_alike: bool | None


class MakeOutput(TypedDict):
    """What `trace make --json` prints."""

    out: str
    model: str | None
    requests: int
    fitted_to: int | None
    seed: int
    likeness: list[Likeness] | None
