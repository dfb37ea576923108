"""Which law fits a zone profile: the paper's comparison (section 5.2), on its drives and on real zone tables."""

from __future__ import annotations

from statistics import median
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


CLAIMS = {
    "all": ("linear over quadratic error, both fitted to all points", (2, 10)),
    "ends": ("linear over quadratic error, both through the two ends", (10, 20)),
    "mixed": ("linear error of all points over quadratic error of two", (2, 10)),
}


def rows(measured: dict[str, Measurement]) -> list[Row]:
    """The error ratios on the paper's drives, one by one, and over the real zone tables."""
    found = []
    for label, name in PAPERS:
        note = OURS if name == "ibm-ultrastar-xp" else CIRCULAR
        ratios = error_ratios(measured[name])
        found += [
            _within(f"fit-{label.lower()}-{key}", f"{label}: {claim}", bounds, ratios[key], note)
            for key, (claim, bounds) in CLAIMS.items()
        ]
    tables = {name: error_ratios(measured[name]) for name in ZONE_TABLES}
    for key, (claim, bounds) in CLAIMS.items():
        each = ", ".join(f"{name} {ratios[key]:.2f}" for name, ratios in tables.items())
        middle = median(ratios[key] for ratios in tables.values())
        note = f"zones as others read them from real drives, no law assumed: {each}"
        found.append(_within(f"fit-tables-{key}", f"eight real zone tables, median: {claim}", bounds, middle, note))
    return found


def error_ratios(measurement: Measurement) -> dict[str, float]:
    """How many times larger the linear law's error is than the quadratic law's, by what they are fitted to."""
    errors = {(fit["law"], fit["by"]): fit["rms_mib_per_s"] for fit in measurement.found["bandwidth"]["fits"]}
    return {
        "all": errors["linear", "regression"] / errors["quadratic", "regression"],
        "ends": errors["linear", "two-points"] / errors["quadratic", "two-points"],
        "mixed": errors["linear", "regression"] / errors["quadratic", "two-points"],
    }


def _within(id_: str, claim: str, bounds: tuple[float, float], ours: float, note: str) -> Row:
    low, high = bounds
    row = about(id_, claim, (low + high) / 2, ours, "times", within=(high - low) / 2, note=note)
    return Row(row.id, row.claim, row.paper, row.ours, row.unit, f"{low} to {high}", row.verdict, row.note)
