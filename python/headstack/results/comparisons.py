"""Results of many runs: `compare`, `sweep`, `explore`, `study`."""

from __future__ import annotations

from typing import Literal

from headstack.results.base import Any, Figure, NotRequired, TypedDict


class MetricChange(TypedDict):
    """A value in the first and in the other."""

    first: float
    second: float
    unit: str
    change: float
    """Of what is itself in percent: in points."""
    change_percent: Figure
    """Of the first; null where that is zero, and of what lies around zero or is itself in percent."""
    change_ci95: list[float] | None


class Compared(TypedDict):
    """One of the others against the first."""

    name: str
    requests_paired: NotRequired[int | None]
    demerit_ms: NotRequired[Figure]
    metrics: dict[str, MetricChange]
    words: NotRequired[dict[str, list[str]]]
    """Of drives: values that are words, of the first and of the other."""
    values_differ: NotRequired[list[str]]
    """Of drives: the values of their files that differ, by dotted path; `*` stands for the elements of a list."""
    point: NotRequired[int]
    values: NotRequired[dict[str, Any]]
    against: NotRequired[int]
    repeats_paired: NotRequired[int]


class PointFailure(TypedDict):
    """A point of a sweep whose run failed: where, under which seed, and why."""

    point: int
    values: dict[str, Any]
    seed: int
    error: str
    hint: str | None


class FrontSummary(TypedDict):
    """The points that no other one under the same load beats in both p99 and another metric."""

    against: str
    points: list[dict[str, Any]]
    """`point`, `values`, and the two metrics by name."""


class LoadLeftOut(TypedDict):
    """A load of a sweep at which nothing is compared, since points of its are lost."""

    values: dict[str, Any]
    """The axes that set it, by name."""
    points: list[int]
    """All its points, by number."""
    why: dict[str, int]
    """How many of them are lost for each reason: `failed`, `not complete`, or as `why` of `behind`."""


class ComparisonSummary(TypedDict):
    """Things of a kind side by side."""

    schema_version: int
    kind: str
    first: str
    answer: str
    compared: list[Compared]
    failed: list[str]
    """The limits that are broken, and by which."""
    time: NotRequired[str | None]
    points: NotRequired[int]
    """Of a sweep: the points that are complete, of its `grid_points`."""
    grid_points: NotRequired[int]
    loads: NotRequired[int]
    """Of a sweep: all loads of its grid."""
    loads_compared: NotRequired[int]
    """Of a sweep: those at which two points or more keep up, and so are compared."""
    loads_left_out: NotRequired[list[LoadLeftOut]]
    """Of a sweep: those at which nothing is compared, since points are lost; the rest have one point each."""
    fronts: NotRequired[list[FrontSummary]]
    untested: NotRequired[list[str]]
    """Of a sweep: the limits that could not be asked of a point, since its runs do not tell the metric, and of which."""
    failures: NotRequired[list[PointFailure]]
    """Of a sweep: the points that failed, which break every limit."""
    incomplete: NotRequired[list[int]]
    """Of a sweep: the points that lack runs, which break every limit."""
    behind: NotRequired[list[PointBehind]]
    """Of a sweep: as in `sweep --json`."""
    wide: NotRequired[list[int]]
    """Of a sweep: as in `sweep --json`."""
    ci95_note: NotRequired[str | None]
    """Of a sweep: as in `sweep --json`."""


class MeanAndInterval(TypedDict):
    """A metric over the repeats of a point."""

    mean: Figure
    ci95: Figure


class PointBehind(TypedDict):
    """A point of a grid that does not keep up with its load: what it costs buys nothing."""

    point: int
    why: Literal["overloaded", "lost data", "served nothing"]


class PointResult(TypedDict):
    """One point of a grid."""

    point: int
    values: dict[str, Any]
    repeats: int
    metrics: dict[str, MeanAndInterval | None]


class SweepSummary(TypedDict):
    """Many runs over a grid."""

    schema_version: int
    summary: str
    folder: str
    version: str
    identity: str
    points: int
    complete: int
    failed: int
    resumed: int
    cancelled: int
    """Runs that were given up because their cluster was lost; `--resume` makes them."""
    wide: list[int]
    """Points whose interval is wider than `[stop]` asks, after as many repeats as it allows, and those without its metric."""
    ci95_note: str | None
    """What is to be known of the intervals where `[stop]` ended repeats by them; null where it did not."""
    behind: list[PointBehind]
    """Points that do not keep up with their load, which are on no front and win nothing."""
    runs: int
    axes: list[str]
    metrics: list[str]
    results: list[PointResult]
    failures: list[PointFailure]


class CandidateTimes(TypedDict):
    """Responses under the trace, in ms; null where a run failed."""

    mean: Figure
    p99: Figure


class Candidate(TypedDict):
    """One system under the trace."""

    point: int
    system: str
    scheduler: NotRequired[str | None]
    response_ms: CandidateTimes
    watts: Figure
    usd: Figure
    iops: Figure
    rebuild_hours: Figure
    """To rebuild a failed drive under the load, about; null where nothing can be rebuilt."""
    rebuild_hours_idle: Figure
    """The same where nothing else is to do, below which no load brings it."""
    holds: bool
    why_not: Literal["overloaded", "lost data", "served nothing", "p99"] | None
    """Why it does not hold the load; null where it does. `p99`: it is above what is needed."""
    on_front: dict[str, bool]


class ExplorationSummary(TypedDict):
    """Which systems hold a load."""

    schema_version: int
    answer: str
    p99_needed_ms: Figure
    candidates: list[Candidate]
    failures: list[PointFailure]


class StudyRow(TypedDict):
    """A claim: the source's number, ours, and the verdict."""

    id: str
    claim: str
    source: Figure
    """What the source prints, or gives as an input."""
    target: Figure
    """An aim of ours."""
    ours: Figure
    unit: str
    tolerance: str
    verdict: str
    """`reproduced` or `not reproduced`, `met` or `missed` of an aim, `input read back`, `agrees after a fit` or `differs after a fit`, `not testable`."""
    note: str
    kind: str
    """`source`: the source prints the number; `aim`: it is an aim of ours; `input`: the model was given it; `fitted`: the source prints it, and a constant is fitted to another number."""


class StudyOutput(TypedDict):
    """What `study NAME --json` prints."""

    study: str
    title: str
    paper: str
    answer: str
    rows: list[StudyRow]


class AllStudiesOutput(TypedDict):
    """What `study all --json` prints."""

    studies: list[StudyOutput]


class StudyEntry(TypedDict):
    """A study that can be run."""

    name: str
    title: str
    paper: str


class StudiesOutput(TypedDict):
    """What `study list --json` prints."""

    studies: list[StudyEntry]
