"""Results of probes: `measure`. A measurement has its values by name at the top, too (`rotation_ms`, `heads`, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, NotRequired, TypedDict


class MeasuredParameter(TypedDict):
    """One value that was measured."""

    name: str
    value: Figure
    unit: str
    ci95: Figure
    method: str
    observable: bool
    lower: Figure
    upper: Figure
    note: str


class DeviceFacts(TypedDict):
    """The device that was measured."""

    name: str
    kind: str
    sectors: int
    sector_bytes: int
    physical_sector_bytes: int
    writable: bool
    queue_depth: int
    rotational: bool | None
    overhead_ns: int


class MeasuredZone(TypedDict):
    """A zone that was found."""

    first_lba: int
    end_lba: int
    first_cylinder: int | None
    last_cylinder: int | None
    sectors_per_track: float
    sectors_per_track_by_head: NotRequired[list[int]]
    """Where heads differ in density; `sectors_per_track` is then their mean."""
    sectors_per_revolution: Figure
    track_skew_sectors: Figure
    cylinder_skew_sectors: Figure
    track_skew_ci95_sectors: Figure
    cylinder_skew_ci95_sectors: Figure
    skew_ci95_sectors: Figure
    heads: int | None


class RecordHead(TypedDict):
    """What is known of a record beside its samples."""

    device: DeviceFacts
    version: str
    finished: list[str]
    """The probes that came to their end."""
    writes: str
    sessions: int
    streams: NotRequired[StreamGrid | None]


class StreamGrid(TypedDict):
    """Sizes of files and records, and how often each file is read or written."""

    file_mb: list[float]
    record_kib: list[float]
    repeats: int


class Stopped(TypedDict):
    """Why a measurement did not come to its end."""

    kind: str
    """`stopped`, `gone`, `unreadable` or `other`."""
    message: str
    hint: str | None


class PlannedProbe(TypedDict):
    """A probe, and how long it is expected to take on the device's clock."""

    probe: str
    expected_s: float
    fits: bool
    for_drive_file: bool
    """Whether no drive file can be made without it."""


class SmartAttribute(TypedDict):
    """What a device says of itself."""

    name: str
    raw: str
    value: int | None
    worst: int | None
    threshold: int | None


class ReplayScore(TypedDict):
    """Accesses of one kind, size and depth, on the device and on the drive rebuilt from the values."""

    mode: str
    depth: int
    sectors: int
    accesses: int
    left_out: int
    measured_mean_ms: float
    model_mean_ms: float
    demerit_ms: float
    demerit_percent: float
    per_request_percent: Figure


if TYPE_CHECKING:
    # A checker does not ask for `is None` before each use.
    AnyReplay: TypeAlias = ReplayScore | Any
else:
    # Null where there are none.
    AnyReplay = ReplayScore | None


class ReplayScores(TypedDict):
    """How well the drive rebuilt from the values serves the accesses of the record."""

    reads: AnyReplay
    writes: AnyReplay
    queued: list[ReplayScore]
    sequential: list[ReplayScore]
    """Reads that continue each other, of each size; without those that miss most, one of 50 or at least one."""
    by_size: list[ReplayScore]
    """Reads anywhere, of each size; without those that miss most, one of 50 or at least one."""
    limit_percent: float
    limit_per_request_percent: float
    within_limit: bool


class SeekPoint(TypedDict):
    """How long a seek takes beyond an access to the same track."""

    cylinders: int
    ms: float
    ci95_ms: float


class TwoPiece(TypedDict):
    """a + b·√d below the boundary, c + e·d from it on."""

    boundary_cylinders: int
    short_ms: list[float]
    long_ms: list[float]
    worst_relative: float


class SeekerPoint(TypedDict):
    """A place of Seeker."""

    sectors: int
    least_ms: float
    seek_ms: float


class Seeks(TypedDict):
    """The seek curve."""

    write: list[SeekPoint]
    read: list[SeekPoint]
    inward_extra_ms: Figure
    inward_extra_ci95_ms: Figure
    write_minus_read_ms: Figure
    two_piece: TwoPiece | None
    seeker: list[SeekerPoint]


class Piece(TypedDict):
    """Addresses of a zone within which tracks follow each other evenly: one angle tells all others."""

    zone: int
    first_lba: int
    end_lba: int
    anchor_lba: int
    """Where a cylinder begins (along surfaces: a group of cylinders; with shared spares: those that share them)."""
    anchor_revolutions: float
    tracks: int
    """Tracks from there to where it begins anew."""
    period_revolutions: float
    period_sectors: int
    track_skew_sectors: float
    cylinder_skew_sectors: float
    cylinders: int
    """Cylinders that share spares."""
    range_skew_sectors: float
    slipped: list[list[int]]
    """Before which address sectors were slipped, and how many."""


class Sawtooth(TypedDict):
    """What one Skippy shows."""

    probe: str
    points: list[tuple[int, float]]
    """Steps in sectors, and latencies in ms."""
    kinds: list[str]
    drop_step: int
    rotation_ms: float
    slope_ms: float
    intercept_ms: float
    sectors_per_track: float
    mtm_ms: float
    head_switch_ms: Figure
    cylinder_switch_ms: Figure
    heads: int | None
    head_positioning_ms: Figure


class Naive(TypedDict):
    """What the papers' own extractor makes of a sawtooth."""

    rotation_ms: float
    mtm_ms: float
    sectors_per_track: float
    head_switch_ms: Figure
    cylinder_switch_ms: Figure
    heads: int | None


class PlaceRate(TypedDict):
    """Bandwidth at one place."""

    lba: int
    mib_per_s: float


class BandwidthFit(TypedDict):
    """A law fitted to the bandwidth over the device."""

    law: str
    by: str
    coefficients: list[float]
    rms_mib_per_s: float


class Bandwidth(TypedDict):
    """Bandwidth over the device."""

    profile: list[PlaceRate]
    outer_mib_per_s: float
    inner_mib_per_s: float
    fits: list[BandwidthFit]


class CacheFindings(TypedDict):
    """The read cache."""

    keeps_reads: bool
    hit_ms: Figure
    hit_after_write_ms: Figure
    hit_overhead_ms: Figure
    bus_mb_per_s: Figure
    bus_ci95_mb_per_s: Figure
    read_ahead: str
    ahead: list[list[float]]
    """For each distance in sectors, the share of reads so far ahead that hit."""
    ahead_sequential: list[list[float]]
    segment_sectors_at_least: int | None
    segment_sectors_at_most: int | None
    """Where a larger read showed it: the cache kept its end, and no more its beginning."""
    read_ahead_sectors_at_least: int | None
    read_ahead_sectors_at_most: int | None
    """Where that ends all at once, and the drive had the time to read farther."""
    segments: int | None
    segments_are_more: bool
    reads_sent_whole: bool | None
    """Whether all of a read is in the buffer before it is sent; null where that does not show."""
    reads_on_arrival: bool
    """Whether the sectors of a read are taken as they come, from wherever the head lands."""


class WriteCacheFindings(TypedDict):
    """The write cache."""

    policy: str
    quick_ms: Figure
    overhead_ms: Figure
    """A write of no sectors that the cache takes at once; null where no writes of several sizes showed it."""
    behind_write_ms: Figure
    """With immediate reporting, the same behind a write; null where that is as behind a read, or was not seen."""
    bus_mb_per_s: Figure
    bus_ci95_mb_per_s: Figure
    size_kib: Figure
    """What it holds; what was written to it where it never got full."""
    size_is_more: bool
    """Whether it never got full: it holds more, or was emptied as fast as it was filled."""
    runs: int | None
    destage_ms: Figure
    destage_mb_per_s: Figure


class LoadTimes(TypedDict):
    """Responses of random accesses, in ms."""

    mean: float
    p50: float
    p99: float


class LoadPoint(TypedDict):
    """Random accesses of one kind, so many at a time."""

    mode: str
    depth: int
    response_ms: LoadTimes
    iops: float
    iops_ci95: Figure
    out_of_order_percent: float
    accesses: int


class TransferTimes(TypedDict):
    """Times of records, in ms."""

    mean: float
    p50: float
    p99: float
    max: float


class StreamPoint(TypedDict):
    """Files of one size, in records of one size."""

    mode: str
    file_mb: float
    record_kib: float
    repeats: int
    mb_per_s: float
    ci95_mb_per_s: Figure
    files_mb_per_s: list[float]
    transfer_ms: TransferTimes
    is_cached: bool


class Streams(TypedDict):
    """Throughput by sizes of files and records."""

    grid: StreamGrid
    sustained_mb_per_s: Figure
    points: list[StreamPoint]


class ReadTimes(TypedDict):
    """Times of the reads of a scan, in ms."""

    p50: float
    max: float


class ScanPart(TypedDict):
    """A part of the device."""

    first_lba: int
    mb_per_s: Figure
    longest_ms: float
    unreadable: int
    long: int


class Scan(TypedDict):
    """What a scan of the surface shows."""

    verdict: str
    share: float
    reads: int
    sectors_per_read: int
    unreadable: int
    unreadable_lbas: list[int]
    long: int
    long_lbas: list[int]
    long_ms: float
    """Reads that take longer than this are long."""
    read_ms: ReadTimes
    parts: list[ScanPart]


if TYPE_CHECKING:
    # A checker does not ask for `is None` before each use.
    AnyNaive: TypeAlias = Naive | Any
    AnyBandwidth: TypeAlias = Bandwidth | Any
    AnyCache: TypeAlias = CacheFindings | Any
    AnyStreams: TypeAlias = Streams | Any
else:
    # Null where nothing was measured of it.
    AnyNaive, AnyBandwidth, AnyCache, AnyStreams = Naive | None, Bandwidth | None, CacheFindings | None, Streams | None


class MeasurementSummary(TypedDict):
    """What a record of probes says about a device."""

    device: DeviceFacts
    rotating: bool | None
    parameters: list[MeasuredParameter]
    zones: list[MeasuredZone]
    pieces: list[Piece]
    """Where tracks lie on the revolution, in the order of addresses; empty where that was not measured."""
    order: str | None
    group_cylinders: Figure
    seek: Seeks
    skippy: list[Sawtooth]
    naive: AnyNaive
    """What the papers' own extractor makes of the record."""
    bandwidth: AnyBandwidth
    cache: AnyCache
    write_cache: WriteCacheFindings | None
    random: list[LoadPoint]
    stream: AnyStreams
    scan: Scan | None
    """What the reads of the surface say: long and failed ones, by place."""
    warnings: list[str]
    warning_kinds: list[str]
    samples: int
    failed: int
    failed_lbas: list[int]
    finished: list[str]
    """The probes that came to their end."""
    rotation_ms: NotRequired[Figure]
    rotation_rpm: NotRequired[Figure]
    sectors_per_track: NotRequired[Figure]
    heads: NotRequired[Figure]
    cylinders: NotRequired[Figure]
    mtm_ms: NotRequired[Figure]
    head_switch_ms: NotRequired[Figure]
    cylinder_switch_ms: NotRequired[Figure]
    track_skew_sectors: NotRequired[Figure]
    cylinder_skew_sectors: NotRequired[Figure]
    hit_overhead_ms: NotRequired[Figure]
    cache_segments: NotRequired[Figure]
    cache_segment_sectors: NotRequired[Figure]


class MeasureOutput(MeasurementSummary):
    """What `measure DEVICE --json` prints."""

    partial: bool
    """Whether something kept a probe from its end."""
    replay: ReplayScores | None
    """How well the drive rebuilt from the values serves the random accesses of the record."""
    smart: NotRequired[list[SmartAttribute]]


class ProbeEntry(TypedDict):
    """A probe."""

    name: str
    about: str
    needs: list[str]
    writes: bool
    when_named: bool
    """Whether it runs only when it is named."""


class ProbesOutput(TypedDict):
    """What `measure --probes --json` prints."""

    probes: list[ProbeEntry]
