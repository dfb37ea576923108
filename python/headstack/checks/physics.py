"""Values that no drive was ever known to have, in words: they are simulated as they stand, and may be slips of the pen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Known:
    """From where to where a value goes in drives that were built, with room on both sides."""

    path: str
    low: float
    high: float
    unit: str


ROTATION = Known("rotation_rpm", 1_000, 20_000, "rpm")
"""The RAMAC of 1956 turned at 1,200 rpm, and the fastest drives sold at 15,000."""
MEDIA_RATE = Known("layout", 0.005, 600, "MB/s")
"""Of one head. The RAMAC read 8,800 characters a second; drives of 2025 read 300 MB/s."""
PHYSICAL_SECTOR = Known("physical_sector_bytes", 128, 4_224, "B")
"""4,096 and the protection information of some SAS drives."""
# Zero leaves a part out, which a question may want: `low` is 0 where that has a meaning.
TIMES = [
    Known("seek.constant.time_ms", 0, 1_000, "ms"),
    *(Known(f"seek.{curve}.single_cylinder_ms", 0, 100, "ms") for curve in ("linear", "three-point", "lee-katz")),
    *(Known(f"seek.{curve}.average_ms", 0.3, 600, "ms") for curve in ("three-point", "lee-katz")),
    *(Known(f"seek.{curve}.full_stroke_ms", 0.5, 1_000, "ms") for curve in ("linear", "three-point", "lee-katz")),
    Known("seek.kinematic.settle_ms", 0, 20, "ms"),
    Known("mechanics.head_switch_ms", 0, 20, "ms"),
    Known("mechanics.cylinder_switch_ms", 0, 100, "ms"),
    Known("mechanics.read_settle_ms", -20, 20, "ms"),
    Known("mechanics.write_settle_ms", -20, 20, "ms"),
    Known("controller.read_overhead_ms", 0, 50, "ms"),
    Known("controller.write_overhead_ms", 0, 50, "ms"),
    Known("controller.read_completion_ms", 0, 50, "ms"),
    Known("controller.write_completion_ms", 0, 50, "ms"),
    # A bus may be as fast as it likes, to leave it out.
    Known("bus.read_mb_per_s", 0.005, float("inf"), "MB/s"),
    Known("bus.write_mb_per_s", 0.005, float("inf"), "MB/s"),
]


def physics_sentences(spec: Mapping[str, Any]) -> list[str]:
    """Tell each value of a drive file that is far from every drive that was built."""
    rpm = spec["rotation_rpm"]
    found = [*_outside(ROTATION, rpm)]
    if not found and (rate := _media_mb_per_s(spec)) is not None:
        found += _outside(MEDIA_RATE, rate, where=" pass under a head on the densest track")
    for known in (PHYSICAL_SECTOR, *TIMES):
        value = _at(spec, known.path)
        if value is not None:
            found += _outside(known, value)
    return [*found, *_across_tracks(spec)]


def _across_tracks(spec: Mapping[str, Any]) -> Iterator[str]:
    """Tracks that do not hold a whole number of physical sectors: the rest of one would be on the next track."""
    physical = (spec.get("physical_sector_bytes") or spec["sector_bytes"]) // spec["sector_bytes"]
    odd = [(path, count) for path, count in _on_tracks(spec["layout"]) if count % physical]
    if not odd:
        return
    path, count = odd[0]
    more = f" (and {len(odd) - 1:,} more)" if len(odd) > 1 else ""
    below = count - count % physical
    would = " or ".join(f"{each:,}" for each in (below, below + physical) if each)
    yield (
        f"`{path}`{more}: {count:,} sectors are not a multiple of the {physical} in a physical one, so that some lie across the ends "
        f"of tracks, as on no drive: they take two passes; {would} would do; it is simulated as it stands"
    )


def _on_tracks(layout: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Sectors from one end of a track to the other, and what lies before the first."""
    for index, zone in enumerate(layout.get("zone", ())):
        path = f"layout.zone.{index}"
        by_head = zone.get("sectors_per_track_by_head", ())
        for head, count in enumerate(by_head):
            yield f"{path}.sectors_per_track_by_head.{head}", count
        if not by_head:
            yield f"{path}.sectors_per_track", zone["sectors_per_track"]
        yield f"{path}.empty_sectors_at_front", zone.get("empty_sectors_at_front", 0)
    for index, run in enumerate(layout.get("run", ())):
        held = run.get("data_sectors")
        yield f"layout.run.{index}", run["sectors_per_track"] - run.get("first_sector", 0) if held is None else held


def _outside(known: Known, value: float, where: str = "") -> Iterator[str]:
    if known.low <= value <= known.high:
        return
    bounds = f"at least {known.low:,g}" if known.high == float("inf") else f"{known.low:,g} to {known.high:,g}"
    sentence = f"`{known.path}`: {value:,.12g} {known.unit}{where}; known drives have {bounds} {known.unit}"
    # A digit too many, or too few.
    meant = value / 10 if value > known.high else value * 10
    guess = f"; did you mean {meant:,.12g}?" if not where and known.low < meant < known.high else ""
    yield f"{sentence}; it is simulated as it stands{guess}"


def _at(spec: Mapping[str, Any], path: str) -> float | None:
    value: Any = spec
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, (int, float)) else None


def _media_mb_per_s(spec: Mapping[str, Any]) -> float | None:
    """The rate at which the densest track passes under a head."""
    layout = spec["layout"]
    tracks = [*layout.get("zone", ()), *layout.get("run", ())]
    densest = max((track["sectors_per_track"] for track in tracks), default=0)
    return densest * spec["sector_bytes"] * spec["rotation_rpm"] / 60e6 if densest else None
