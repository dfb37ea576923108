"""Results of probes: `measure`. A measurement has its values by name at the top, too (`rotation_ms`, `heads`, …)."""

from __future__ import annotations

from headstack.results.base import Any, NotRequired, TypedDict


class MeasuredParameter(TypedDict):
    """One value that was measured."""

    name: str
    value: float | None
    unit: str
    ci95: float | None
    method: str
    observable: bool
    lower: float | None
    upper: float | None
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
    sectors_per_turn: float | None
    track_skew_sectors: float | None
    cylinder_skew_sectors: float | None
    skew_ci95_sectors: float | None
    heads: int | None


class MeasurementSummary(TypedDict):
    """What a record of probes says about a device."""

    device: DeviceFacts
    rotating: bool | None
    parameters: list[MeasuredParameter]
    zones: list[MeasuredZone]
    order: str | None
    group_cylinders: float | None
    seek: dict[str, Any] | None
    skippy: list[dict[str, Any]]
    naive: dict[str, float | None] | None
    """What the papers' own extractor makes of the record."""
    bandwidth: dict[str, Any] | None
    cache: dict[str, Any] | None
    random: list[Any]
    stream: dict[str, Any] | None
    warnings: list[str]
    warning_kinds: list[str]
    samples: int
    failed: int
    failed_lbas: list[int]
    finished: list[str]
    """The probes that came to their end."""
    rotation_ms: NotRequired[float | None]
    rotation_rpm: NotRequired[float | None]
    sectors_per_track: NotRequired[float | None]
    heads: NotRequired[float | None]
    cylinders: NotRequired[float | None]
    mtm_ms: NotRequired[float | None]
    head_switch_ms: NotRequired[float | None]
    cylinder_switch_ms: NotRequired[float | None]
    track_skew_sectors: NotRequired[float | None]
    cylinder_skew_sectors: NotRequired[float | None]
    hit_overhead_ms: NotRequired[float | None]
    cache_segments: NotRequired[float | None]
    cache_segment_sectors: NotRequired[float | None]


class MeasureOutput(MeasurementSummary):
    """What `measure DEVICE --json` prints."""

    partial: bool
    """Whether something kept a probe from its end."""


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
