"""Throughputs that were measured: a table of them, or the record of a measurement."""

from __future__ import annotations

import codecs
import csv
import math
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from headstack import measure
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = tuple[str, float, float, int, float]
"""Operation, file in MB, record in KiB, files over which it is the mean, MB/s."""

# Columns of a table, by what they hold: names with their factor to MB, KiB and MB/s.
COLUMNS: dict[str, dict[str, float]] = {
    "file": {"file_mb": 1.0, "file_mib": 2**20 / 1e6, "file_gb": 1000.0},
    "record": {"record_kib": 1.0, "record_kb": 1000 / 1024, "record_mib": 1024.0},
    "throughput": {"mb_per_s": 1.0, "mib_per_s": 2**20 / 1e6},
}
OPS = ("read", "write")


@dataclass(frozen=True)
class Throughputs:
    """Throughputs, and how many were left out because a cache answered."""

    name: str
    rows: list[Row]
    cached: int = 0
    device: str = ""
    """What a record was measured on."""

    def apart(self) -> tuple[list[Row], list[Row]]:
        """What is fitted, and what is scored, of reads and of writes, in the order of their sizes.

        The largest files and the others, or every other row where all are as large.
        """
        train: list[Row] = []
        test: list[Row] = []
        for op in OPS:
            own = sorted((row for row in self.rows if row[0] == op), key=lambda row: row[1:3])
            largest = max((row[1] for row in own), default=0.0)
            of_largest = [row for row in own if row[1] == largest]
            is_one_size = len(of_largest) == len(own)
            train += of_largest[::2] if is_one_size else of_largest
            test += of_largest[1::2] if is_one_size else [row for row in own if row[1] != largest]
        return train, test


def from_record(path: str | Path) -> Throughputs:
    """The throughputs of a measurement that ran the probe `stream`; those that a cache answered are left out."""
    measured = measure.read(path)
    streams = measured.found["stream"]
    if streams is None:
        raise InputError(f"`{path}` holds no streams", "measure with the probe `stream`")
    points = streams["points"]
    rows = [
        (point["mode"], point["file_mb"], point["record_kib"], point["repeats"], point["mb_per_s"])
        for point in points
        if not point["is_cached"]
    ]
    return Throughputs(str(path), rows, len(points) - len(rows), measured.device)


def from_table(path: str | Path) -> Throughputs:
    """The throughputs of a table; the names of its columns say the units: `op`, `file_mb`, `record_kib`, `mb_per_s`.

    Cells are apart by commas, semicolons, tabs, bars or spaces: by what the head has. Lines that begin with `#` are remarks.
    """
    try:
        lines = _lines(_text(Path(path).read_bytes()))
        head = next((line for _, line in lines), "")
        mark = next((mark for mark in MARKS if mark in head), ",")
        names = _cells(head, mark)
        columns = _columns(path, names)
        rows = [_row(path, number, _named(names, _cells(line, mark)), columns) for number, line in lines]
    except (OSError, UnicodeError, csv.Error) as problem:
        raise InputError(f"cannot read `{path}`: {problem}", "name a table of throughputs, of text in UTF-8") from None
    if not rows:
        raise InputError(f"`{path}` holds no throughputs", "one row for each size of file and record")
    return Throughputs(str(path), rows)


MARKS = (",", ";", "\t", "|", " ")


def _text(data: bytes) -> str:
    """Some spreadsheets begin with a mark of the encoding; some write two bytes a letter, and then it is always there."""
    return data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers in the file."""
    lines = ((number, line.strip(" ")) for number, line in enumerate(text.splitlines(), 1))
    return ((number, line) for number, line in lines if line.strip() and not line.startswith("#"))


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]


def _named(names: Sequence[str], cells: Sequence[str]) -> dict[str | None, str]:
    """Cells by their columns' names; those beyond the last under none."""
    return {name: cell for name, cell in zip_longest(names, cells) if cell is not None}


def _columns(path: str | Path, names: Sequence[str]) -> dict[str, tuple[str, float]]:
    """For each quantity its column, and the factor to our unit."""
    found = {}
    for what, units in COLUMNS.items():
        known = [name for name in names if name in units]
        if not known:
            alike = next((name for name in names if name.split("_")[0] in {what, what[:4], "rate", "size"}), None)
            problem = f"column `{alike}` has no unit that is known" if alike else f"there is no column for the {what}"
            raise InputError(f"`{path}`: {problem}", f"name it by its unit: {', '.join(units)}")
        if len(known) > 1:
            raise InputError(f"`{path}`: two columns for the {what}: {', '.join(known)}", "leave one out")
        found[what] = (known[0], units[known[0]])
    if names.count("op") != 1:
        problem = "there is no column `op`" if "op" not in names else "two columns `op`"
        raise InputError(f"`{path}`: {problem}", "it says `read` or `write`")
    return found


def _row(path: str | Path, line: int, cells: dict[str | None, str], columns: dict[str, tuple[str, float]]) -> Row:
    def refused(problem: str, hint: str | None = None) -> InputError:
        return InputError(f"`{path}`, line {line}: {problem}", hint)

    def number(column: str, *, absent: str | None = None) -> float:
        text = cells.get(column) or absent
        if text is None:
            raise refused(f"there is no `{column}`", "each line has a cell for each column")
        try:
            found = float(text)
        except ValueError:
            raise refused(f"`{text}` in `{column}` cannot be read as a number", "digits, with a point: 24.5") from None
        if column != "repeats" and not (found > 0 and math.isfinite(found)):
            raise refused(f"{text} in `{column}` is impossible", "sizes and throughputs are numbers above 0")
        return found

    if None in cells:
        raise refused("it has more cells than the head has columns", "each line has a cell for each column")
    if cells.get("op") not in OPS:
        raise refused(f"`{cells.get('op')}` is not an operation", "use `read` or `write`")
    file_mb, record_kib, rate = (number(column) * factor for column, factor in columns.values())
    repeats = number("repeats", absent="1")
    if not repeats.is_integer():
        raise refused(f"{repeats} repeats are not a whole number")
    if repeats < 1:
        raise refused(f"{repeats:.0f} repeats are impossible", "`repeats` is a whole number of at least 1")
    return (cells.get("op") or "", file_mb, record_kib, int(repeats), rate)
