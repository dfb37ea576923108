"""Skews that are shorter than their switch, in words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headstack import Drive
    from headstack.results.drives import SkewWarning

# The key of a zone that each warning is about, and the key of a run.
KEYS = {"track": "track_skew_sectors", "cylinder": "cylinder_skew_sectors"}


def skew_sentences(drive: Drive) -> list[str]:
    """Tell each skew that costs revolutions, zone by zone where there are few, with the value that would do."""
    spec = drive.spec()
    warnings = drive.skew_warnings()
    sentences = []
    for (op, skew), group in groupby(sorted(warnings, key=_group), key=_group):
        found = list(group)
        sentences.append(_sentence(op, skew, found, spec, drive.rotation_ms))
    return sentences


def _group(warning: SkewWarning) -> tuple[str, str]:
    return warning["op"], warning["skew"]


def _sentence(op: str, skew: str, found: list[SkewWarning], spec: dict[str, Any], rotation_ms: float) -> str:
    first = found[0]
    zones = (
        f"zone {first['zone']}" if len(found) == 1 else f"{len(found)} zones, the first of them zone {first['zone']}"
    )
    runs = bool(spec["layout"].get("run"))
    key = "layout.run.*.skew_sectors" if runs else f"layout.zone.N.{KEYS[skew]}"
    if runs:
        cure = "more: " + _few([f"{one['missing_sectors']} sectors in zone {one['zone']}" for one in found])
    else:
        cure = "at least " + _few([f"{_enough(spec, one, KEYS[skew]):g} in zone {one['zone']}" for one in found])
    return (
        f"`{key}`: {zones}: the {skew} skew gives {first['skew_ms']:.4f} ms for a {op} switch of {first['switch_ms']:.4f} ms; "
        f"sequential {op}s lose a revolution ({rotation_ms:.2f} ms) at {100 * first['share']:.0f} % of track changes, "
        f"{first['rate_mb_per_s']:.1f} of {first['possible_mb_per_s']:.1f} MB/s; {cure} would do"
    )


def _enough(spec: dict[str, Any], warning: SkewWarning, key: str) -> float:
    """The skew of a zone that leaves time enough."""
    return spec["layout"]["zone"][warning["zone"]][key] + warning["missing_sectors"]


def _few(parts: list[str], most: int = 3) -> str:
    """The first few of a list, and how many more there are."""
    more = len(parts) - most
    return ", ".join(parts[:most]) + (f" (and {more} more zones: --json lists them)" if more > 0 else "")
