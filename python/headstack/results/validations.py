"""Results that hold a model against measured times: `validate`, `calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headstack.results.base import Figure, NotRequired, TypedDict
from headstack.results.common import GapChoice, Origins, PhaseLock, SplitScore


class Rung(SplitScore):
    """One rung of the model ladder."""

    step: str
    content: str


class ResidualClass(TypedDict):
    """Requests of one kind, and their part of the error."""

    op: str
    guess: str
    """What the model predicted the cache would do."""
    after: str | None
    place: str | None
    requests: int
    requests_share: float
    measured_mean_ms: float
    bias_ms: float
    mae_ms: float
    error_share: float
    revolutions_early_share: Figure
    revolutions_late_share: Figure


class OverSeeds(TypedDict):
    """A score of a drive whose retries are drawn, over several seeds."""

    median: float
    range: list[float]


class ScoresOverSeeds(TypedDict):
    """Scores of a drive whose retries are drawn."""

    seeds: int
    demerit_ms: OverSeeds
    demerit_percent: OverSeeds
    mae_ms: OverSeeds
    mae_percent: OverSeeds


class RetriesScored(ScoresOverSeeds):
    """Scores of a drive with its retries, over several seeds, and without them."""

    without: SplitScore


class ValidationSummary(SplitScore):
    """How a model compares with measured times."""

    replay: str
    phase_lock: bool
    clamped: int
    unmeasured: int
    """Requests without measured times."""
    system: str
    workload: str
    seed: int
    config_hash: str
    version: str
    provenance: Origins
    wall_s: float
    gap: NotRequired[GapChoice]
    ladder: NotRequired[list[Rung]]
    without_phase_lock: NotRequired[SplitScore]
    phase: NotRequired[PhaseLock]
    retries: NotRequired[RetriesScored]


class ValidateOutput(ValidationSummary):
    """What `validate --json` prints."""

    answer: str
    """How far the simulated times are off, in a sentence."""
    residuals: list[ResidualClass] | None


class SplitOfTrace(TypedDict):
    """How a trace was divided into training requests, which chose the values, and test requests, which scored them."""

    share: NotRequired[float]
    folds: NotRequired[int]
    train_requests: int
    test_requests: int


class FittedParameter(TypedDict):
    """One parameter of a drive, before and after a fit."""

    name: str
    path: str
    before: Figure
    """Null where the file has none."""
    after: Figure
    """Null where the file gets none either."""
    by_default: Figure
    """What the drive goes by where the file has no value; null where it has one, or where another rule then decides."""
    wrong: bool
    gain_ms: float
    """How much larger the error of the training requests is when this one value goes back."""
    gain_percent: float
    t: Figure
    ci95: list[Figure] | None
    """What fits about as well, the other parameters free; null where the data set no bound, null alone where they set neither."""
    identifiable: bool
    ci95_others_held: list[Figure] | None
    bounds: list[Figure]
    """What physics allows."""
    at_cylinders: NotRequired[float]
    """Of a value by seek distance: the distance."""
    after_by_fold: NotRequired[list[float]]
    """With folds: what was fitted without each block."""


class FittedRule(TypedDict):
    """What a drive does, of the ways there are, before and after a fit."""

    name: str
    path: str
    before: str | bool | int | None
    """Null where the file has none."""
    after: str | bool | int | None
    """Null where the file gets none either."""
    by_default: str | bool | int | None
    """What the drive does where its file says nothing; null where the file says it."""
    wrong: bool
    gain_ms: float
    gain_percent: float
    t: Figure
    ci95: None
    identifiable: bool
    as_good: list[str | bool | int]
    """Other ways that fit about as well."""
    after_by_fold: NotRequired[list[str | bool | int]]
    """With folds: what was fitted without each block."""


class DemeritScore(TypedDict):
    """How far a distribution of modelled times is from the measured one."""

    measured_mean_ms: float
    model_mean_ms: float
    demerit_ms: float
    demerit_percent: float


class ScoreIntervals(TypedDict):
    """95 % intervals of scores."""

    demerit_ms: list[float]
    mae_percent: list[float]


class Intervals(TypedDict):
    """95 % intervals of the scores of a validation; null where there are no such requests."""

    all: ScoreIntervals
    reads: ScoreIntervals | None
    writes: ScoreIntervals | None


if TYPE_CHECKING:
    # A checker does not ask which of them it is.
    FittedRow: TypeAlias = FittedParameter | Any
else:
    FittedRow = FittedParameter | FittedRule


class BeforeAfter(TypedDict):
    """A score before and after a fit."""

    before: SplitScore
    after: SplitScore


class MeanScore(TypedDict):
    """A score over blocks of a trace, with its 95 % interval."""

    mean: float
    ci95: list[float] | None


class MeanScores(TypedDict):
    """Scores over blocks of a trace; null where a block has none."""

    mae_ms: MeanScore | None
    mae_percent: MeanScore | None
    demerit_ms: MeanScore | None
    demerit_percent: MeanScore | None


class SplitMeanScores(MeanScores):
    """The same, with those of reads and of writes alone."""

    reads: MeanScores
    writes: MeanScores


class MeanBeforeAfter(TypedDict):
    """Scores over blocks before and after a fit."""

    before: SplitMeanScores
    after: SplitMeanScores


class Folds(TypedDict):
    """Blocks of a trace, each scored by a drive that was fitted to the others."""

    scores: list[BeforeAfter]
    mean: MeanBeforeAfter


class PhaseBeforeAfter(TypedDict):
    """The phase lock before and after a fit."""

    before: PhaseLock | None
    after: PhaseLock | None


class LateRequests(TypedDict):
    """Requests of one direction whose completion waited for the media, in the part that was fitted."""

    on_media: int
    revolutions: list[int]
    """Of each that took two whole revolutions or more longer than the fitted drive: how many."""
    late_otherwise: int
    """How many were as late, and not by whole revolutions: no retries."""


class SureNumber(TypedDict):
    """A number with its 95 % interval."""

    value: float
    ci95: list[float]


class SoftErrorParameter(SureNumber):
    """A value of `[soft_errors]`."""

    name: str


class RetriesFound(TypedDict):
    """How often a drive retries, by the part that was fitted."""

    reads: LateRequests
    writes: LateRequests
    late_share: SureNumber | None
    """Of the requests on the media, how many are two whole revolutions late or more."""
    parameters: list[SoftErrorParameter]
    """What `[soft_errors]` would say; empty where the training requests cannot tell."""
    is_in_drive: bool
    test_with: ScoresOverSeeds | None
    """Scores of the corrected drive with its retries; all others are without."""


class CalibrationSummary(TypedDict):
    """Parameters fitted to training requests, and scored on test requests."""

    system: str
    workload: str
    objective: str
    split: SplitOfTrace
    parameters: list[FittedRow]
    train: BeforeAfter
    test: BeforeAfter
    folds: NotRequired[Folds]
    refuted: list[str]
    """Changes that went back: with them a score of reads or of writes got worse on the last third of the training requests."""
    retries: RetriesFound
    rounds: int
    evaluations: int
    phase: NotRequired[PhaseBeforeAfter | None]
    seed: int
    version: str
    gap: NotRequired[GapChoice]


class StreamParameter(TypedDict):
    """A parameter of a stream model, before and after a fit."""

    name: str
    unit: str
    before: Figure
    """Null of a delay that the model does not have."""
    after: Figure
    """Null of one that it does not get either."""
    law: str | None
    """Of a delay its form afterwards."""
    ci95: list[Figure] | None
    identifiable: bool
    why: str | None


class StreamError(TypedDict):
    """How far throughputs are from the measured ones."""

    mean_percent: float
    max_percent: float


class StreamScores(TypedDict):
    """A score before and after a fit."""

    throughputs: int
    before: StreamError | None
    after: StreamError | None


class StreamRow(TypedDict):
    """A measured throughput, and how far the model is from it."""

    op: str
    file_mb: float
    record_kib: float
    repeats: int
    mb_per_s: float
    """As measured."""
    fitted: bool
    """Whether it is a training throughput; the others are test throughputs."""
    before_percent: float
    after_percent: float


class StreamCalibrationSummary(TypedDict):
    """A stream model fitted to throughputs."""

    system: str
    source: str
    left_out_cached: int
    law: str
    """The form of the fitted delays; of several all, with commas."""
    is_law_asked: bool
    """Whether somebody asked for it; else delays of the model keep theirs, and new ones are normal."""
    seed: int
    version: str
    parameters: list[StreamParameter]
    train: StreamScores
    test: StreamScores
    rows: list[StreamRow]
    model: dict[str, Any]
    """The fitted model, as its file has it."""
