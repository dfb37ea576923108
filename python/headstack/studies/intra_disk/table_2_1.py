"""The thesis' Table 2.1, column by column: three drives of the 1980s, the drive of its day, and that drive with four arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, log10

import headstack
from headstack.studies.framework import Row, about, at_most, not_testable

MB = 1e6
# The mix that makers call operating, and what the table has for the drive of its day.
OPERATING = {"seek": 0.4, "read": 0.4, "idle": 0.2}
UNSPLIT = "one figure, and the drive draws it whatever it does: no split into states is known"


@dataclass(frozen=True)
class Column:
    """A drive as the table prints it; `None` where it points to another place."""

    drive: str
    title: str
    diameter_in: float
    capacity_mb: float
    actuators: int
    watts: float
    mb_per_s: float | None
    usd_per_mb: tuple[float, float] | None
    density_is_printed: float | None = None
    """In Mb a square inch; the three old drives share one figure, told with the first."""
    arms: int = 1

    @cached_property
    def model(self) -> headstack.Drive:
        """The drive of the library."""
        return headstack.Drive(self.drive, overrides=[("arms.count", str(self.arms))] if self.arms > 1 else [])

    @property
    def id(self) -> str:
        """What its rows begin with."""
        return f"table-2.1-{self.drive}" + (f"-{self.arms}" if self.arms > 1 else "")

    @property
    def is_of_today(self) -> bool:
        """Whether the drive file was made from the drive's data sheet, the table's source."""
        return self.drive == "barracuda-es-750"


COLUMNS = (
    Column("ibm-3380-ak4", "IBM 3380 AK4", 14, 7_500, 4, 6_600, 3, (10, 18), 12),
    Column("fujitsu-m2361a", "Fujitsu M2361A", 10.5, 600, 1, 640, 2.5, (17, 20)),
    Column("conner-cp3100", "Conner CP3100", 3.5, 100, 1, 10, 1, (7, 10)),
    Column("barracuda-es-750", "Barracuda ES", 3.7, 750_000, 1, 13, 72, (0.00034, 0.00042), 128_000),
    Column("barracuda-es-750", "four-actuator projection", 3.7, 750_000, 4, 34, None, None, 128_000, arms=4),
)


def rows() -> list[Row]:
    """Every figure of the table, beside what the library's drive gives."""
    return [row for column in COLUMNS for row in _column(column)]


def half_a_digit(printed: float) -> float:
    """How precisely a table prints a figure: half of its last digit that is not zero, and a tenth of it at most."""
    place = floor(log10(printed))
    while abs(printed / 10**place - round(printed / 10**place)) > 1e-9:
        place -= 1
    return min(10.0**place / 2, printed / 10)


def _column(column: Column) -> list[Row]:
    found = [_capacity(column), _actuators(column), _diameter(column), _density(column), _rate(column),
             _watts(column), _dollars(column)]  # fmt: skip
    return [row for row in found if row is not None]


def _capacity(column: Column) -> Row:
    model = column.model
    ours = model.capacity_sectors * model.sector_bytes / MB
    note = (
        "" if column.is_of_today else "from cylinders, tracks and sectors, which are remembered and not from the table"
    )
    return about(f"{column.id}-capacity", f"Table 2.1, {column.title}: formatted capacity", column.capacity_mb, ours, "MB",
                 within=half_a_digit(column.capacity_mb), note=note, kind="input" if column.is_of_today else "source")  # fmt: skip


def _actuators(column: Column) -> Row:
    model = column.model
    count = (model.locate(model.capacity_sectors - 1).actuator + 1) * column.arms
    return about(f"{column.id}-actuators", f"Table 2.1, {column.title}: actuators", column.actuators, count, "", within=0,
                 kind="input")  # fmt: skip


def _diameter(column: Column) -> Row:
    ours = column.model.spec()["power"]["spindle"]["diameter_in"]
    return about(f"{column.id}-diameter", f"Table 2.1, {column.title}: disk diameter", column.diameter_in, ours, "in",
                 within=0, kind="input")  # fmt: skip


def _density(column: Column) -> Row | None:
    if column.density_is_printed is None or column.arms > 1:
        return None
    of = "drives of the 1980s" if not column.is_of_today else column.title
    note = "a drive file tells tracks and sectors, not how wide the band is that they fill"
    return not_testable(
        f"{column.id}-density", f"Table 2.1, {of}: areal density", column.density_is_printed, "Mb/in²", note
    )


def _rate(column: Column) -> Row | None:
    if column.mb_per_s is None:
        return None
    model, zone = column.model, column.model.zones()[0]
    passing = zone["sectors_per_track"] * model.sector_bytes / (model.rotation_ms / 1e3) / MB
    note = f"{passing:.3g} MB/s while a track passes; changes of track, whose times are assumed, take the rest"
    if passing < column.mb_per_s:
        note += f"; {column.mb_per_s:g} MB/s are the bits of the track, gaps and headers included"
    return about(f"{column.id}-rate", f"Table 2.1, {column.title}: transfer rate, sequential on the outermost tracks",
                 column.mb_per_s, zone["media_mb_per_s"], "MB/s", within=half_a_digit(column.mb_per_s), note=note)  # fmt: skip


def _watts(column: Column) -> Row:
    (budget,) = headstack.power_budget(column.model, actuators=[column.actuators]).drives[0]["power"] or ()
    states = budget["by_state_w"]
    if column.arms > 1:
        arm = states["seek"] - states["idle"]
        note = (
            f"{states['idle']:.1f} W idle and {arm:.1f} W for each arm in motion, as the data sheet has it; 34 W takes "
            "(34 − 13) / 3 = 7 W for each further arm"
        )
        claim = "Table 2.1: a Barracuda ES with four arms, all of them moving"
        return about("table-2.1", claim, column.watts, budget["all_seeking_w"], "W", within=3.4, note=note)
    drag = f"the drag of its disks is {budget['drag_w']:.3g} W of it, by the law for other speeds (diameter to the power of 4.6)"
    ours = sum(share * states[state] for state, share in OPERATING.items())
    note = f"40 % seeks, 40 % transfers, 20 % idle; {drag}" if column.is_of_today else f"{UNSPLIT}; {drag}"
    return about(f"{column.id}-watts", f"Table 2.1, {column.title}: power of a box", column.watts, ours, "W",
                 within=half_a_digit(column.watts), note=note, kind="input")  # fmt: skip


def _dollars(column: Column) -> Row | None:
    if column.usd_per_mb is None:
        return None
    low, high = column.usd_per_mb
    if not column.is_of_today:
        note = f"a price, controller included, of {low:g} to {high:g} USD; Table 5.1 is a bill for drives of 2007"
        return not_testable(f"{column.id}-dollars", f"Table 2.1, {column.title}: price", low, "USD/MB", note)
    (bill,) = headstack.cost().designs
    gigabytes = column.model.capacity_sectors * column.model.sector_bytes / 1e9
    note = f"materials {bill['low_usd'] / gigabytes:.3f} to {bill['high_usd'] / gigabytes:.3f}, shops {1e3 * low:g} to {1e3 * high:g}"
    claim = "Table 2.1, Barracuda ES: the materials of Table 5.1 cost no more than the drive in shops"
    return at_most(f"{column.id}-dollars", claim, 1e3 * low, bill["high_usd"] / gigabytes, "USD/GB", note=note)
