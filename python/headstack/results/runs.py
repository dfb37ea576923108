"""Results of runs: `simulate`, `explain`."""

from __future__ import annotations

from headstack.results.base import Figure, NotRequired, TypedDict
from headstack.results.common import Busy, Mean, MeanAndMax, Origins, Phases, Quantiles, Watts


class CacheCounts(TypedDict):
    """What the drives' caches did, in commands."""

    read_hits: int
    read_partial_hits: int
    read_misses: int
    writes_reported_early: int


class PartTimes(TypedDict):
    """Times of some of the requests, in ms; every value is null where there were none."""

    mean: Figure
    p50: Figure
    p90: Figure
    p99: Figure
    p999: Figure
    max: Figure


class ByDirection(TypedDict):
    """Reads, or writes, alone."""

    requests: int
    response_ms: PartTimes
    service_ms: Mean
    phases_ms: Phases


class PowerCondition(TypedDict):
    """How long a drive was in one of its power conditions."""

    name: str
    entered: int
    """How often the drive began to enter it."""
    entering_s: float
    within_s: float
    recovering_s: float
    """On the way back, while commands waited."""


class WriteBack(TypedDict):
    """When a drive's buffered writes go to the media."""

    size_kib: float
    idle_before_destage_ms: float
    """After no read has needed the arm for so long."""
    high_water_percent: float
    """Above this fill…"""
    low_water_percent: float
    """…down to this."""
    age_limit_ms: float
    assumed: bool
    """No publication or measurement tells these rules of the drive."""


class DriveLoad(TypedDict):
    """How busy one drive was."""

    name: str
    model: str
    requests: int
    """Those whose last command it served."""
    commands: int
    utilisation: float
    """The share of the time in which its mechanism worked for commands; reading ahead behind a command's last sector is not in it."""
    queue_mean: float
    queue_max: int
    held_back: int
    """Requests in the driver's queue at the end of a run that was cut."""
    busy_s: dict[str, float]
    assumed_share: float
    """The share of the drive's values that nobody has published or measured."""
    power: NotRequired[Watts]
    conditions: NotRequired[list[PowerCondition]]
    """Of a drive whose file has power conditions."""
    write_back: NotRequired[WriteBack]
    """Of a drive with a write cache that loses its data with the power."""


class BusLoad(TypedDict):
    """How busy one bus was."""

    name: str
    utilisation: float
    data_utilisation: float
    queue_mean: float
    queue_max: int
    grants: int
    wait_ms: MeanAndMax


class BufferCacheCounts(TypedDict):
    """What the host's buffer cache did, in blocks."""

    read_hits: int
    read_misses: int
    write_hits: int
    write_misses: int
    shared_fetches: int
    dirtied: int
    written_by_sync: int
    written_by_trickle: int
    written_by_eviction: int
    written_by_limit: int
    written_through: int
    dirty_at_end: int
    writing_at_end: int
    dirty_max: int
    longest_dirty_s: float
    waits_for_room: int
    driver_reads: int
    driver_read_ms: Mean
    driver_writes: int
    driver_write_ms: Mean


class ArrayCacheCounts(TypedDict):
    """What the cache of a volume's controller did."""

    volume: str
    read_hits: int
    read_misses: int
    writes: int
    fetches: int
    """Commands that read what was missing."""
    destages: int
    """Commands that wrote what was dirty."""
    populations: int
    """Writes to the cache device of what had been read."""
    dirty_sectors_at_end: int


class Lateness(TypedDict):
    """Calls of the model that came after an effect it had announced."""

    count: int
    max: float


class FioTimes(TypedDict):
    """Responses that fio measured, in ms; its percentiles are those of its output."""

    mean: float
    std: float
    p50: NotRequired[float]
    p90: NotRequired[float]
    p99: NotRequired[float]
    p999: NotRequired[float]
    max: float


class MeasuredByFio(TypedDict):
    """What fio measured for one job and direction."""

    job: str
    op: str
    requests: int
    iops: float
    mib_per_s: float
    response_ms: FioTimes


class MeanwhileTimes(TypedDict):
    """Responses during a rebuild, in ms."""

    mean: float | None
    p50: float | None
    p99: float | None
    max: float | None


class Rebuild(TypedDict):
    """A failed drive, and how it was rebuilt."""

    volume: str
    drive: str
    onto: str | None
    """The spare that took its place; null where the room is distributed, or where there was none."""
    failed_s: float
    began_s: float | None
    finished_s: float | None
    hours: float | None
    held_mb: float
    """What of the volume lay on the drive; more than is written where room for it was on another drive that failed."""
    done_before_mb: float
    """What of that was rebuilt before the run."""
    rebuilt_mb: float
    mb_per_s: float | None
    progress: float
    """The share that was there again at the end of the run."""
    progress_s: list[list[float]]
    """Share, and seconds since it began, every twentieth."""
    requests: int
    """Those of the volume that completed meanwhile."""
    response_ms: MeanwhileTimes


class DataLoss(TypedDict):
    """Data of a volume that no drive tells any more."""

    volume: str
    at_s: float
    drives: list[str]
    """Those that were missing then."""
    lost_sectors: int
    lost_mb: float
    lost_share: float
    first_lba: int
    last_lba: int


class Parallel(TypedDict):
    """One drive's requests, served by several threads."""

    threads: int
    guessed_requests: int
    """Served from a guessed state of the drive."""
    proven_requests: int
    """Those whose guess proved right; the others were served again."""


class WithoutData(TypedDict):
    """Requests that ended without their data because a duration limit of the drive had passed."""

    unavailable: int
    """Completed, with a word to the host that the data are not available (`complete-unavailable`)."""
    aborted: int
    """Ended with an error (`abort`)."""


class UnderLimit(TypedDict):
    """The reads or the writes for which one duration limit of the drives holds."""

    op: str
    """`read` or `write`."""
    duration_limit: int
    """Counted from 1; 0: none."""
    requests: int
    response_ms: PartTimes


class RunSummary(TypedDict):
    """What a simulation comes to."""

    requests: int
    """Requests that completed, after the warm-up, with their data."""
    simulated_s: float
    wall_s: float
    """What the run took here."""
    seed: int
    system: str
    workload: str
    replay: str | None
    config_hash: str
    """Names system, workload and options: two runs with the same hash, seed and version have the same results."""
    version: str
    quantiles: str
    """`exact`, or `hdr`: within 0.1 %."""
    response_ms: Quantiles
    """From the arrival of a request to its completion."""
    service_ms: Quantiles
    """From where a request is handed to the drive to its completion."""
    phases_ms: Phases
    busy_ms: Busy
    iops: Figure
    mib_per_s: Figure
    cache: CacheCounts
    reads: ByDirection
    writes: ByDirection
    by_duration_limit: NotRequired[list[UnderLimit]]
    """Where a drive knows duration limits; those without requests are left out."""
    drives: list[DriveLoad]
    buses: list[BusLoad]
    provenance: Origins
    without_data: NotRequired[WithoutData]
    """In no other figure of requests."""
    warmup_requests: int
    in_flight_drained: int
    in_flight_cut: int
    """Requests that were under way where the run was cut."""
    clamped: int
    """Requests whose measured instants overlap, so that they had to be moved."""
    lateness_ms: Lateness
    interrupted: bool
    power: NotRequired[Watts]
    buffer_cache: NotRequired[BufferCacheCounts]
    array_caches: NotRequired[list[ArrayCacheCounts]]
    fio: NotRequired[list[MeasuredByFio]]
    rebuilds: NotRequired[list[Rebuild]]
    data_loss: NotRequired[DataLoss]
    parallel: NotRequired[Parallel]


class DeviceTimes(TypedDict):
    """Responses of one device, in ms."""

    mean: float | None
    p50: float
    """Within 0.4 %, as the other two quantiles."""
    p99: float
    p999: float
    max: float


class FleetDevice(TypedDict):
    """One of the worst devices of a fleet."""

    device: int
    requests: int
    utilisation: float
    """Share of the simulated time its mechanisms worked."""
    response_ms: DeviceTimes


class PlotBin(TypedDict):
    """Requests that arrived within an interval."""

    start_s: float
    width_s: float
    requests: int
    mean_ms: float | None
    max_ms: float


class PlotAddresses(TypedDict):
    """Requests by address: first sector, requests, mean and longest response in ms of each bin."""

    device: str
    width_sectors: int
    bins: list[tuple[int, int, float, float]]


class Plots(TypedDict):
    """Curves over all requests, thinned."""

    response_cdf: list[tuple[float, float]]
    """Response in ms, and the share of requests that took no longer."""
    service_cdf: list[tuple[float, float]]
    response_over_time: list[PlotBin]
    response_over_lba: list[PlotAddresses]


class FleetSummary(TypedDict):
    """What a run of many devices, each on a system of its own, comes to."""

    devices: int
    """Those that had requests."""
    requests: int
    reads: int
    simulated_s: float
    quantiles: str
    response_ms: Quantiles
    iops: float
    mib_per_s: float
    utilisation_mean: float
    utilisation_max: float
    devices_behind: int
    """Those that did not keep up with their requests: 2 % of them, and more than 100, were left at the last arrival, by how long it took to serve them."""
    worst: list[FleetDevice]
    """Those with the longest p99, the worst first."""


class FleetOutput(FleetSummary):
    """What `fleet --json` prints."""

    wall_s: float
    """What the run took here."""


class PlaceOnDisk(TypedDict):
    """Where a sector is."""

    cylinder: int
    head: int
    sector: int
    angle_revolutions: float


class Step(TypedDict):
    """One step of a request."""

    label: str
    start_ms: float
    end_ms: float
    cylinder: int
    head: int
    start_revolutions: float
    end_revolutions: float
    note: str


class Timeline(TypedDict):
    """One request, step by step."""

    position: NotRequired[int]
    id: NotRequired[int]
    op: str
    lba: int
    sectors: int
    arrival_ms: float
    start_ms: float
    finish_ms: float
    response_ms: float
    phases_ms: Phases
    cache: str
    drive: str | None
    """The drive whose command was complete last; `None` where no drive got a command for it."""
    commands: int
    """How many commands the drives got for it by then."""
    place: PlaceOnDisk | None
    """Where that command begins."""
    rotation_ms: float
    steps: list[Step]
    queued_in_host_ms: float
    """From its arrival until a drive got it; part of `response_ms` and of the phase `queue`."""
    differs_ms: NotRequired[float]
    """How much later than in the run's record it finishes; 0 where the timeline is that of the run."""
    phases_differ_ms: NotRequired[float]
    """How far one of its phases is from the run's record at most."""


class ExplainOutput(TypedDict):
    """What `explain --json` prints."""

    system: str
    requests: list[Timeline]
