"""What several results have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, NotRequired, TypedDict


class Quantiles(TypedDict):
    """A distribution of times in ms; every value is null where there were no requests."""

    mean: Figure
    mean_ci95: Figure
    """Half the 95 % interval of the mean; null where there are too few requests to tell."""
    std: Figure
    p50: Figure
    p90: Figure
    p99: Figure
    p999: Figure
    max: Figure


class Phases(TypedDict):
    """The mean time of each phase, in ms; they add up to the mean response."""

    queue: float
    """Waiting in the driver or the drive, or for a bus that others use."""
    overhead: float
    """Command processing."""
    seek: float
    """Arm and head movement, settle and head switch included."""
    rotation: float
    """Waiting for the sector."""
    transfer: float
    """Media transfer."""
    bus: float
    """Bus transfer, and waiting for its data."""
    other: float
    """Waiting for destage, read-ahead or recalibration."""


class Busy(TypedDict):
    """Gross work, in ms a request; it may overlap, and does not add up to the response."""

    seek: float
    rotation: float
    transfer: float
    bus: float


class Origins(TypedDict):
    """Where the values of the drives come from."""

    values: dict[str, int]
    """How many values are of each kind: `spec`, `measured`, `fitted`, `assumed`."""
    assumed_share: float


class Notes(TypedDict):
    """What was left out of a trace, or put into order."""

    bad_records: int
    out_of_order: int
    without_length: int
    """Requests that move nothing, left out."""
    doubled: int
    """Lines of events in text that tell the same as one before, left out."""
    first: list[str]
    """The first records that make no sense."""


class Spread(TypedDict):
    """A distribution of times in a trace, in ms."""

    count: int
    mean: float
    std: Figure
    min: float
    p50: float
    p90: float
    p95: NotRequired[float]
    p99: float
    p999: float
    max: float
    quantiles: str
    """`exact`, or `hdr`: within 0.05 %."""
    boxplot: NotRequired[BoxPlot]


class BoxPlot(TypedDict):
    """A box plot, in ms; points beyond the whiskers are counted, and a selection of them is listed."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: int
    shown: list[float]


class Mean(TypedDict):
    """A mean time, in ms; null where there were no requests."""

    mean: Figure


class MeanAndMax(TypedDict):
    """Times, in ms."""

    mean: float
    max: float


class PerRequest(TypedDict):
    """Errors of single requests: the model's service time less the measured one."""

    mae_ms: float
    """The error per request: the mean of the errors, all taken as positive."""
    mae_percent: float
    """The same, of the measured mean."""
    median_ms: float
    p90_ms: float
    rmse_ms: float
    bias_ms: float
    within_1_ms: float
    """The share of requests with an error of at most 1 ms."""
    correlation: Figure


class Score(TypedDict):
    """How far the model's times are from the measured ones, for some of the requests."""

    measured_mean_ms: float
    model_mean_ms: float
    demerit_ms: float
    """Root mean square of the horizontal distance between the two distributions."""
    demerit_percent: float
    """The same, of the measured mean."""
    requests: int
    per_request: PerRequest


class NoScore(TypedDict):
    """Where there are no such requests, nothing is scored."""

    requests: int
    """0."""


if TYPE_CHECKING:
    # A checker does not ask before each use whether there were any.
    PartScore: TypeAlias = Score | Any
else:
    PartScore = Score | NoScore


class SplitScore(Score):
    """A score, with that of reads and of writes alone."""

    reads: PartScore
    writes: PartScore


class GapChoice(TypedDict):
    """Which request the gap on a line of a DiskSim validation trace belongs to, as the measured times say."""

    gap: str
    coherence_after: float
    coherence_before: float
    pairs: int
    confidence: float
    decided: bool


Revolutions = TypedDict("Revolutions", {"revolutions": float, "from": str})
"""An angle in revolutions, and where it comes from."""


class Choice(TypedDict):
    """How well an angle of the file, and a fitted one, explain the measured instants (1: exactly)."""

    pairs: int
    coherence_file: Figure
    coherence_one_value: Figure
    one_value_revolutions: Figure
    coherence_chosen: Figure
    chosen: str


class ZoneAngles(TypedDict):
    """The angles of one zone."""

    zone: int
    first_lba: int
    pairs: int
    track_skew: Revolutions | None
    cylinder_skew: Revolutions | None
    range_skew: Revolutions | None
    first_sector: Revolutions | None
    coherence_before: Figure
    coherence_after: Figure


class SkippedTrack(TypedDict):
    """A track that is passed over and that the file does not list."""

    zone: int
    cylinder: int
    head: int
    is_sure: bool
    between_lbas: list[int]


class ListedTrack(TypedDict):
    """A track that the file lists in `layout.slipped_tracks`."""

    cylinder: int
    head: int
    is_sure: bool


class SpareTracks(TypedDict):
    """The spare tracks of a zone, where they do not go with the file's list of skipped tracks."""

    zone: int
    file: int
    instead: int


class AngleFit(TypedDict):
    """What measured instants say about a drive's spindle and skews."""

    rotation_rpm: float
    rotation_ms: float
    period_found: bool
    observations: int
    pairs: int
    coherence: dict[str, Figure]
    track_skew: Choice
    cylinder_skew: Choice
    range_skew: Choice
    zone_offsets: Choice
    zones: list[ZoneAngles]
    skipped_tracks: list[SkippedTrack]
    listed_not_skipped: list[ListedTrack]
    """Tracks that the file lists and that are not passed over; the fitted drive leaves them out."""
    spare_tracks: list[SpareTracks]
    """Zones of which `spare_tracks_at_end` does not go with the list; the fitted drive has the number that does."""


class OutOfStep(TypedDict):
    """A range of addresses whose angles have nothing to do with those of the file."""

    begins_between_lbas: list[int]
    """The last address before it that was seen, and the first within it."""
    ends_between_lbas: list[int]
    observations: int
    agreeing: Figure
    """Share of the observations that agree with those elsewhere: about 0.1 by chance."""
    log_odds: Figure
    """Natural logarithm of the odds of any angle against half of them being as the file has them."""


class GeometryChange(TypedDict):
    """A number of the file's geometry, and the one that the angles speak for."""

    path: str
    file: int
    instead: int


class GeometryMend(TypedDict):
    """Numbers that belong together, and what they do."""

    changes: list[GeometryChange]
    from_lba: int
    """The first address that lies elsewhere with them."""
    coherence_before: Figure
    coherence_after: Figure
    standard_errors_ahead: Figure


class GeometryDoubts(TypedDict):
    """What the angles say against the file's geometry; lists are empty where they say nothing."""

    out_of_step: list[OutOfStep]
    mended_by: list[GeometryMend]
    """What would mend it, each on top of those before it; the fitted drive has none of it."""


class Tracking(TypedDict):
    """How well the spindle's angle was followed."""

    observations: int
    followed: int
    reacquisitions: int
    sigma_revolutions: Figure
    resultant: Figure


class DriveAngles(TypedDict):
    """One drive of a phase lock."""

    drive: str
    fit: AngleFit
    geometry: GeometryDoubts
    tracking: Tracking


class PhaseLock(TypedDict):
    """What a phase lock found and followed."""

    fitted_to_requests: int
    drives: list[DriveAngles]


class Watts(TypedDict):
    """Power over a run."""

    average_w: float
    energy_j: float
    per_request_j: NotRequired[float]
    """All energy over the requests, idle time between them included; absent without requests, and of single drives."""
    at_work_per_request_j: NotRequired[float]
    """The same of what was drawn while an arm sought, waited for a sector or transferred."""
    by_state_w: dict[str, float]
    """Watts of the average, by what they were drawn for."""
