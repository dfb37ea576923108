"""A scan of the surface: its map, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from headstack.report import style, vega
from headstack.report.page import Section
from headstack.report.vega import Chart
from headstack.shown import Part, Shown, grouped, number, several, shown

if TYPE_CHECKING:
    from headstack.results.measurements import Scan, ScanPart, SmartAttribute

COLUMNS = 50
"""Parts of the device in a row of the map."""
MARKS = {"unreadable": style.VERMILLION, "a long read": style.ORANGE}


def scan_chart(scan: Scan) -> Chart:
    """The parts of the device, row by row from the first sector on: the darker, the faster; marked where a read failed or took long."""
    parts = scan["parts"]
    frame = pl.DataFrame(
        {
            "column": [place % COLUMNS for place in range(len(parts))],
            "row": [place // COLUMNS for place in range(len(parts))],
            "from sector": [part["first_lba"] for part in parts],
            "MB/s": [part["mb_per_s"] for part in parts],
            "max (ms)": [part["longest_ms"] for part in parts],
            "found": [_found(part) for part in parts],
        },
        schema_overrides={"MB/s": pl.Float64},
    )
    x = vega.X("column:O", axis=None)
    y = vega.Y("row:O", axis=None)
    tooltip = [
        "from sector:Q",
        vega.Tooltip("MB/s:Q", format=".1f"),
        vega.Tooltip("max (ms):Q", format=".1f"),
        "found:N",
    ]
    base = Chart(frame)
    speed = vega.Color("MB/s:Q", scale=vega.Scale(scheme="blues", zero=False), title="MB/s")
    cells = base.mark("rect").encode(x=x, y=y, color=speed, tooltip=tooltip)
    marks = (
        base.filter("datum.found != ''")
        .mark("square", size=60, opacity=1)
        .encode(x=x, y=y, tooltip=tooltip,
                fill=vega.Fill("found:N", title="", scale=vega.Scale(domain=list(MARKS), range=list(MARKS.values()))))
    )  # fmt: skip
    layers = [cells, marks] if any(_found(part) for part in parts) else [cells]
    return vega.layer(*layers).properties(width="container", height=240)


def _found(part: ScanPart) -> str:
    if part["unreadable"]:
        return "unreadable"
    return "a long read" if part["long"] else ""


def scan_facts(scan: Scan) -> list[tuple[str, str]]:
    """What a scan found, in words and numbers."""
    return [
        ("scan", shown(grouped(scan["verdict"]), scan["verdict"])),
        ("reads", several("{} of {} sectors, median {}, max {}", scan["reads"], scan["sectors_per_read"],
                          *(number(scan["read_ms"][key], 2, "ms") for key in ("p50", "max")))),
        (f"reads over {scan['long_ms']:,.0f} ms", _list(scan["long"], scan["long_lbas"])),
        ("reads that failed", _list(scan["unreadable"], scan["unreadable_lbas"])),
    ]  # fmt: skip


def _list(count: int, lbas: list[int]) -> Shown:
    if count == 0:
        return shown("none", 0)
    first = ", ".join(number(lba) for lba in lbas[:5]) + (", …" if count > len(lbas[:5]) else "")
    return Shown(f"{number(count)}, from sector {first}", Part("", count), Part("from sector", first))


def smart_rows(attributes: list[SmartAttribute]) -> list[list[str]]:
    """SMART attributes as a table: name, raw value, normalized value, worst, threshold."""
    keys = ("name", "raw", "value", "worst", "threshold")
    return [["" if each[key] is None else str(each[key]) for key in keys] for each in attributes]


SMART_COLUMNS = ["attribute", "raw", "value", "worst", "threshold"]


def scan_sections(scan: Scan, attributes: list[SmartAttribute], *, is_answer: bool = False) -> list[Section]:
    """The sections of a page: the map, what was found, and the SMART attributes where the device tells them.

    Where the verdict is the answer of the page it is not said again.
    """
    verdict = "" if is_answer else f"{grouped(scan['verdict'][:1].upper() + scan['verdict'][1:])}. "
    text = f"{verdict}Each square is a part of the device, row by row from the first sector on; the darker, the faster."
    sections = [
        Section("The surface", text, scan_chart(scan)),
        Section(
            "What the scan found", columns=["", ""], rows=[list(fact) for fact in scan_facts(scan)[1:]], text_columns=2
        ),
    ]
    if attributes:
        text = "What the device says of itself, by `smartctl`, when this page was made."
        sections.append(Section("SMART", text, columns=SMART_COLUMNS, rows=smart_rows(attributes)))
    return sections
