"""What Talagala et al. print of their drives (1999, Tables 2 and 3, section 4.1.3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A row of Table 3; `None` where it has a question mark. `drive` is the library's name."""

    label: str
    drive: str
    rotation_ms: float
    mtm_ms: float
    sectors_per_track: float
    heads: int
    head_switch_ms: float
    cylinder_switch_ms: float
    outer_mib_per_s: float
    inner_mib_per_s: float
    seek_max_ms: float | None
    seek_min_ms: float | None

    @property
    def key(self) -> str:
        """The label in a row's id."""
        return self.label.lower().replace(" ", "-")


TABLE_3 = (
    Printed("Hawk", "seagate-st32430w", 11.22, 1.93, 142.37, 9, 1.16, 2.29, 5.51, 3.18, 19.72, 4.78),
    Printed("Barracuda", "seagate-st15150w", 8.43, 2.01, 123.35, 21, 0.76, 1.32, 6.70, 4.38, 15.64, 1.33),
    Printed("Micropolis", "micropolis-3391ss", 8.41, 3.78, 201.72, 22, 1.50, 2.62, 10.12, 5.65, 14.42, 0.76),
    Printed("UltraStar", "ibm-ultrastar-xp", 8.39, 2.10, 181.90, 18, 0.87, 2.19, 9.68, 6.29, 16.95, 2.33),
    Printed("9ZX", "ibm-9zx", 6.06, 1.40, 224.69, 12, 0.79, 1.91, 16.15, 10.06, 16.17, 1.37),
    Printed("Fireball", "quantum-fireball-ex", 11.40, 1.25, 356.35, 2, 2.19, 2.89, 1.98, 1.98, None, None),
    Printed("DTTA", "ibm-dtta-351010", 11.04, 1.02, 330.01, 6, 1.93, 3.81, 1.95, 1.95, 16.41, 3.24),
    Printed("97560", "hp-97560", 14.78, 3.12, 70.99, 19, 1.67, 3.75, 2.10, 2.10, 21.87, 4.38),
    Printed("RZ26", "dec-rz26-s2", 10.82, 3.09, 60.33, 14, 1.70, 5.13, 2.28, 2.28, 17.95, 2.12),
)

ULTRASTAR_ZONES = (187.36, 179.85, 167.66, 155.82, 147.76, 142.10, 134.14, 120.39)
"""Sectors per track by Skippy in each zone of the UltraStar, outermost first (section 4.1.3)."""
