"""Which law fits a zone profile: the paper's comparison (section 5.2), on its drives and on real zone tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.studies.framework import Row, about

if TYPE_CHECKING:
    from headstack.measure import Measurement

PAPERS = (
    ("Hawk", "seagate-st32430w"),
    ("Barracuda", "seagate-st15150w"),
    ("Micropolis", "micropolis-3391ss"),
    ("UltraStar", "ibm-ultrastar-xp"),
    ("9ZX", "ibm-9zx"),
)
ZONE_TABLES = ("seagate-st41601n", "hp-c2247a", "hp-c3323a", "seagate-st32171w", "cheetah-4lp", "cheetah-9lp",
               "atlas-iii", "ibm-dnes-309170w")  # fmt: skip
"""Drives whose zones others have read from the drives themselves (DiskSim 4.0)."""

OURS = "the file's zone edges are assumed"
CIRCULAR = "the file's zone edges follow the quadratic law for want of better: this tests the fits, not the drive"


def rows(measured: dict[str, Measurement]) -> list[Row]:
    """The error ratios, drive by drive."""
    found = []
    for label, name in PAPERS:
        found += _of_drive(label, measured[name], OURS if name == "ibm-ultrastar-xp" else CIRCULAR)
    for name in ZONE_TABLES:
        found += _of_drive(name, measured[name], "zones as read from the real drive")
    return found


def _of_drive(label: str, measurement: Measurement, note: str) -> list[Row]:
    errors = {(fit["law"], fit["by"]): fit["rms_mib_per_s"] for fit in measurement.found["bandwidth"]["fits"]}
    key = label.lower()
    ratio = errors["linear", "regression"] / errors["quadratic", "regression"]
    ends = errors["linear", "two-points"] / errors["quadratic", "two-points"]
    mixed = errors["linear", "regression"] / errors["quadratic", "two-points"]
    density = errors["constant-density", "two-points"] / errors["quadratic", "two-points"]
    return [
        _within(f"fit-{key}-all", f"{label}: linear over quadratic error, both fitted to all points", (2, 10), ratio, note),
        _within(f"fit-{key}-ends", f"{label}: linear over quadratic error, both through the two ends", (10, 20), ends,
                f"{note}; constant density is {density:.1f} times as far off as the quadratic law"),
        _within(f"fit-{key}-mixed", f"{label}: linear error of all points over quadratic error of two", (2, 10), mixed, note),
    ]  # fmt: skip


def _within(id_: str, claim: str, bounds: tuple[float, float], ours: float, note: str) -> Row:
    low, high = bounds
    row = about(id_, claim, (low + high) / 2, ours, "times", within=(high - low) / 2, note=note)
    return Row(row.id, row.claim, row.paper, row.ours, row.unit, f"{low} to {high}", row.verdict, row.note)
