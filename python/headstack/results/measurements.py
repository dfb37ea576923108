"""Results of probes: `measure`. A measurement has its values by name at the top, too (`rotation_ms`, `heads`, …)."""

from __future__ import annotations

from headstack.results.base import Any, Figure, NotRequired, Part, TypedDict


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
    sectors_per_turn: Figure
    track_skew_sectors: Figure
    cylinder_skew_sectors: Figure
    track_skew_ci95_sectors: Figure
    cylinder_skew_ci95_sectors: Figure
    skew_ci95_sectors: Figure
    heads: int | None


class MeasurementSummary(TypedDict):
    """What a record of probes says about a device."""

    device: DeviceFacts
    rotating: bool | None
    parameters: list[MeasuredParameter]
    zones: list[MeasuredZone]
    order: str | None
    group_cylinders: Figure
    seek: Part
    skippy: list[dict[str, Any]]
    naive: Part
    """What the papers' own extractor makes of the record."""
    bandwidth: Part
    cache: Part
    random: list[Any]
    stream: Part
    scan: dict[str, Any] | None
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
    replay: dict[str, Any] | None
    """How well the drive rebuilt from the values serves the random accesses of the record."""
    smart: NotRequired[Any]


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
