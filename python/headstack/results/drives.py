"""Results about drive files: `drives list`, `show`, `check`, `sheet`, `import`; `Drive.describe()`."""

from __future__ import annotations

from headstack.results.base import Any, Figure, NotRequired, TypedDict


class SeekTimes(TypedDict):
    """Seek times in ms, by four definitions of an average."""

    third_stroke_ms: float
    full_stroke_third_ms: float
    unweighted_ms: float
    distance_weighted_ms: float
    single_cylinder_ms: float
    full_stroke_ms: float


class Shares(TypedDict):
    """Which share of a drive's values is of which kind; they add up to 1."""

    spec: float
    measured: float
    fitted: float
    assumed: float


class ShortProvenance(TypedDict):
    """How many values a drive file has, and their kinds."""

    values: int
    shares: Shares


class Source(TypedDict):
    """Where a value comes from."""

    kind: str
    source: str


class Provenance(ShortProvenance):
    """Where the values of a drive file come from, by dotted path."""

    entries: dict[str, Source]


class DriveFigures(TypedDict):
    """The key figures of a drive."""

    name: str
    summary: str
    capacity_sectors: int
    capacity_bytes: int
    sector_bytes: int
    physical_sector_bytes: int | None
    rotation_rpm: float
    rotation_ms: float
    actuators: int
    cylinders: int
    heads: int
    head_switch_ms: float
    seek: SeekTimes


class ListedDrive(DriveFigures):
    """A drive of the library."""

    id: str
    provenance: ShortProvenance


class ZoneFigures(TypedDict):
    """One zone."""

    first_lba: int
    sectors: int
    first_cylinder: int
    last_cylinder: int
    sectors_per_track: int
    sectors_per_track_by_head: list[int] | None
    media_mb_per_s: float
    sequential_read_mb_per_s: float
    sequential_write_mb_per_s: float


class SkewWarning(TypedDict):
    """A skew that is shorter than the switch it stands for, so that sequential work loses revolutions."""

    zone: int
    skew: str
    """`track`, or `cylinder`."""
    op: str
    skew_ms: float
    switch_ms: float
    share: float
    """Of the changes of track, how many lose a revolution."""
    missing_sectors: int
    rate_mb_per_s: float
    possible_mb_per_s: float


class DriveDescription(DriveFigures):
    """Everything about a drive. `bus`, `buffer`, `cache`, `write_policy` and `controller` are those of the drive file."""

    zones: list[ZoneFigures]
    bus: dict[str, Any]
    buffer: dict[str, Any]
    cache: dict[str, Any] | None
    write_policy: dict[str, Any]
    controller: dict[str, Any]
    provenance: Provenance


class ShowOutput(DriveDescription):
    """What `drives show --json` prints."""

    id: str
    arms: dict[str, Any]
    """The drive file's table of parallel arms; empty for an ordinary drive."""
    rules: dict[str, Any]
    """Choices of the drive file about what it does where drives differ, by dotted path."""


class ListOutput(TypedDict):
    """What `drives list --json` prints."""

    drives: list[ListedDrive]


class CheckedFile(TypedDict):
    """A drive file that was checked."""

    file: str
    ok: bool
    problem: NotRequired[str]
    name: NotRequired[str]
    shares: NotRequired[Shares]
    warnings: NotRequired[list[str]]
    skews: NotRequired[list[SkewWarning]]


class SequentialRate(TypedDict):
    """Sequential work at one place of a drive."""

    place: str
    """`outer`, `middle` or `inner`."""
    op: str
    zone: int
    geometry_mb_per_s: float
    """What the media give, or the bus and the command overhead if they are slower."""
    mb_per_s: float
    lost_per_track: float
    """Revolutions beyond what geometry asks for."""
    cause: str
    share: float
    """Of what the geometry allows."""


class DriveAim(TypedDict):
    """A bound that a drive of the description meets."""

    id: str
    what: str
    value: float
    aim: float
    unit: str
    met: bool
    cause: str


class FilledCache(TypedDict):
    """How full the write cache was kept."""

    size_kib: float
    held_kib: float
    """At the end: what had been acknowledged and was not on the media."""
    writes_that_waited: int
    """How many writes waited for room."""


class DeepCheck(TypedDict):
    """A drive, run and held against its own geometry and data sheet."""

    drive: str
    name: str
    ok: bool
    verdict: str
    sequential: list[SequentialRate]
    random_iops: dict[str, Figure]
    longest_ms: dict[str, Figure]
    flush_s: Figure
    write_cache: FilledCache | None
    """In the load that `longest_ms` and `flush_s` are of; null without a write cache that has a size."""
    skew_warnings: list[str]
    aims: list[DriveAim]


class CheckOutput(TypedDict):
    """What `drives check --json` prints."""

    files: list[CheckedFile]
    drives: NotRequired[list[DeepCheck]]
    missed: NotRequired[int]


class SheetFigure(TypedDict):
    """A published figure, and the model's."""

    drive: str
    sheet: str
    what: str
    published: float
    model: Figure
    """Of random requests the mean of several long runs."""
    lowest: Figure
    """Of those runs; null where there is one only, or nothing is drawn at random."""
    highest: Figure
    unit: str
    kind: str
    """`read` in the data sheet, or `remembered`: not checked against it."""
    source: str
    is_input: bool
    """The drive file was made so that the figure comes out."""
    note: str
    difference: Figure
    """The model's figure less the published one, as a share of that."""
    met: bool | None
    """Whether the model comes near enough; null where it has no such figure."""


class SheetOutput(TypedDict):
    """What `drives sheet --json` prints: data sheets beside the model."""

    rows: list[SheetFigure]


class Carried(TypedDict):
    """A parameter that was carried over."""

    parameter: str
    to: str


class NotCarried(TypedDict):
    """A parameter that was not carried over, and why."""

    parameter: str
    value: str
    reason: str
    matters: bool


class Doubt(TypedDict):
    """What is doubtful in a file."""

    place: str
    message: str


class ImportOutput(TypedDict):
    """What `drives import --json` prints: a drive, or a system with its drives and workload."""

    files: list[str]
    carried: list[Carried]
    not_carried: list[NotCarried]
    warnings: list[Doubt]
    file: NotRequired[str | None]
    toml: NotRequired[str]
    files_written: NotRequired[dict[str, str]]
    system: NotRequired[str]
    drives: NotRequired[list[list[str]]]
    workload: NotRequired[str | None]
    trace_options: NotRequired[list[str]]
