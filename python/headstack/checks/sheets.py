"""What makers publish about a drive, beside what the model of it does."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, cast

from headstack.checks.deep import Bench, steady_rates
from headstack.shown import Part, Shown, percent, shown

if TYPE_CHECKING:
    from headstack.results.drives import SheetFigure

WITHIN = {"MB/s": 0.02, "IOPS": 0.10, "ms": 0.05, "W": 0.05}
"""How near the model has to come, as a share of the published figure."""

LONG_RUNS = {"read": 20_000, "write": 500_000}
"""Requests of each run of random requests. What is logged with the write cache off goes to its place in sweeps over the drive:
a run is several of them."""
SEEDS = range(1, 4)

WHAT = {
    "outer-rate": ("sequential reads, outer tracks", "MB/s"),
    "inner-rate": ("sequential reads, inner tracks", "MB/s"),
    "both-rate": ("sequential reads, all actuators at once", "MB/s"),
    "read-iops": ("random 4 KiB reads, queue depth 16", "IOPS"),
    "write-iops": ("random 4 KiB writes, queue depth 16, write cache off", "IOPS"),
    "sector-iops": ("random reads of one sector, one at a time", "IOPS"),
    "latency": ("half a revolution", "ms"),
    "read-seek": ("average seek", "ms"),
    "idle-power": ("power, idle", "W"),
    "operating-power": ("power, random reads", "W"),
}


@dataclass(frozen=True)
class SheetRow:
    """A published figure, and the model's."""

    drive: str
    sheet: str
    what: str
    published: float
    model: float | None
    unit: str
    kind: Literal["read", "remembered"]
    source: str
    lowest: float | None = None
    """Of several runs, each with its own seed."""
    highest: float | None = None
    is_input: bool = False
    """The drive file was made so that the figure comes out."""
    note: str = ""

    @property
    def difference(self) -> float | None:
        """The model's figure against the published one, as a share."""
        return None if self.model is None else self.model / self.published - 1

    @property
    def met(self) -> bool | None:
        """Whether the model comes near enough; nothing where it has no such figure."""
        return None if self.difference is None else abs(self.difference) <= WITHIN[self.unit]

    def json(self) -> SheetFigure:
        """The row as a JSON object."""
        return cast("SheetFigure", asdict(self) | {"difference": self.difference, "met": self.met})


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(files("headstack.checks").joinpath("data_sheets.toml").read_text(encoding="utf-8"))


def figures() -> tuple[dict[str, Any], ...]:
    """All published figures."""
    return tuple(_file()["figure"])


def published_drives(*, of_today: bool = False) -> list[str]:
    """The drives of the library that have published figures, in their order; all, or those of today."""
    past = _file()["past"] if of_today else ()
    return list(dict.fromkeys(figure["drive"] for figure in figures() if figure["drive"] not in past))


def sheet_rows(drive: str) -> list[SheetRow]:
    """The published figures of a drive of the library beside its model's."""
    bench = Bench(drive)
    rows = []
    for figure in figures():
        if figure["drive"] != drive:
            continue
        what, unit = WHAT[figure["what"]]
        values = _model(figure["what"], bench)
        row = SheetRow(
            drive,
            figure["sheet"],
            what,
            float(figure["value"]),
            None if values is None else fmean(values),
            unit,
            figure["kind"],
            figure["source"],
            lowest=min(values) if values and len(values) > 1 else None,
            highest=max(values) if values and len(values) > 1 else None,
            is_input=figure.get("input", False),
        )
        rows.append(_explained(row, figure["what"], bench))
    return rows


def _explained(row: SheetRow, what: str, bench: Bench) -> SheetRow:
    if row.met:
        note = "read back: the drive file was made from it" if row.is_input else ""
    elif row.model is None:
        note = "the drive file does not tell its watts"
    elif what == "write-iops":
        note = "what the drive does with its write cache off is assumed"
    elif what == "sector-iops":
        half = bench.model.rotation_ms / 2
        note = (
            f"half a revolution taken off, {row.published:g} leave {1e3 / row.published - half:.1f} ms for a seek, where the maker's "
            f"average is {bench.model.seek_averages()['distance_weighted_ms']:.1f}"
        )
    elif what.endswith("-power"):
        note = "watts of the class, from the data sheet of an 18 TB drive"
    elif what == "read-iops":
        note = "the seek curve and the scheduler are assumed, not the maker's"
    else:
        note = "layout and seek curve are assumed, not the maker's"
    return replace(row, note=note)


def _model(what: str, bench: Bench) -> list[float] | None:
    """The model's figure; of random requests one for each seed."""
    if what in {"outer-rate", "inner-rate"}:
        return [bench.sequential(what.removesuffix("-rate"), "read")["mb_per_s"]]
    if what == "both-rate":
        return [all_actuators_mb_per_s(bench)]
    if what in {"read-iops", "write-iops"}:
        op = what.removesuffix("-iops")
        return [bench.iops(op, 16, off=op == "write", requests=LONG_RUNS[op], seed=seed) for seed in SEEDS]
    if what == "sector-iops":
        return [bench.sector_iops()]
    if what == "latency":
        return [bench.model.rotation_ms / 2]
    if what == "read-seek":
        # Random seeks, as makers measure them.
        return [bench.model.seek_averages()["distance_weighted_ms"]]
    watts = bench.watts(idle=what == "idle-power")
    return None if watts is None else [watts]


COLUMNS = ["drive", "data sheet", "figure", "published", "model", "difference", "basis", "note"]


def table(rows: list[SheetRow]) -> list[list[str]]:
    """The cells of a table of rows, with [`COLUMNS`]."""
    return [
        [
            row.drive,
            row.sheet,
            row.what,
            shown(f"{row.published:g} {row.unit}", row.published, row.unit),
            Shown(
                "–" if row.model is None else f"{row.model:.4g}" + _spread(row),
                Part("", row.model, row.unit),
                Part("from", row.lowest, row.unit),
                Part("to", row.highest, row.unit),
            ),
            shown(
                "–" if row.difference is None else f"{100 * row.difference:+.1f} %",
                *percent(row.difference).parts[0][1:],
            ),
            row.kind,
            row.note,
        ]
        for row in rows
    ]


def _spread(row: SheetRow) -> str:
    return "" if row.lowest is None else f" ({row.lowest:.4g} to {row.highest:.4g})"


def all_actuators_mb_per_s(bench: Bench, kib: int = 1024) -> float:
    """Sequential reads at the beginning of every actuator's addresses at once."""
    part = bench.model.capacity_sectors // bench.actuators
    zone = bench.zones[0]["sectors"]
    streams = "".join(
        f"[[stream]]\nread_fraction = 1.0\nsequential_fraction = 1.0\nthink.constant_ms = 0\nsize.fixed_kib = {kib}\n"
        f"align_kib = {kib}\nrange_lba = [{arm * part}, {arm * part + zone - 1}]\n"
        for arm in range(bench.actuators)
    )
    requests = 400 * bench.actuators
    warmup = 8 * bench.actuators
    _, sectors = steady_rates(bench.run_streams(streams, requests + warmup, 0), warmup)
    return sectors * bench.sector_bytes / 1e6
