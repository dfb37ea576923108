"""Throughput of streams by the sizes of file and record: the chart and its table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.counted import size
from headstack.report import style, vega
from headstack.report.curves import lines
from headstack.report.page import Number, Page, Section
from headstack.report.vega import Chart
from headstack.shown import Part, Shown, number, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.calibration.streams import StreamCalibration
    from headstack.results.measurements import StreamPoint

RECORD, RATE = "record (KiB)", "MB/s"
MOST_DRAWN = 1.25
"""So many times the highest throughput intervals are drawn: those of two files may go far beyond, and would flatten all lines."""


def stream_chart(streams: Mapping[str, Any], mode: str) -> Chart:
    """A line for each size of file, with 95 % intervals where files were repeated."""
    points = points_of(streams, mode)
    curves: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        curves.setdefault(f"{size(point['file_mb'])} MB", []).append((point["record_kib"], point["mb_per_s"]))
    chart = lines(curves, RECORD, RATE, log=(True, False))
    known = [point for point in points if point["ci95_mb_per_s"] is not None]
    if not known:
        return chart
    most = MOST_DRAWN * max(point["mb_per_s"] for point in points)
    frame = pl.DataFrame(
        {
            "x": [point["record_kib"] for point in known],
            "low": [max(point["mb_per_s"] - point["ci95_mb_per_s"], 0.0) for point in known],
            "high": [min(point["mb_per_s"] + point["ci95_mb_per_s"], most) for point in known],
        }
    )
    return vega.layer(
        chart, Chart(frame).mark("rule", color=style.GREY, opacity=0.7).encode(x="x:Q", y=vega.Y("low:Q"), y2="high:Q")
    )


def stream_columns(streams: Mapping[str, Any]) -> list[str]:
    """The heads of the table: the record, and each size of file."""
    return ["record (KiB)", *(f"{size(file_mb)} MB" for file_mb in streams["grid"]["file_mb"])]


def stream_rows(streams: Mapping[str, Any], mode: str) -> list[list[str]]:
    """A row for each size of record; none where nothing was read (written)."""
    points = {(point["record_kib"], point["file_mb"]): point for point in points_of(streams, mode)}
    if not points:
        return []
    grid = streams["grid"]
    return [
        [size(record), *(_cell(points.get((record, file_mb))) for file_mb in grid["file_mb"])]
        for record in grid["record_kib"]
    ]


def _cell(point: StreamPoint | None) -> Shown:
    if point is None:
        return Shown("×", Part("", None), Part("from a cache", None))
    text = f"{point['mb_per_s']:,.2f}" + ("*" if point["is_cached"] else "")
    return Shown(text, Part("", point["mb_per_s"], "MB/s"), Part("from a cache", "yes" if point["is_cached"] else "no"))


def stream_sections(streams: Mapping[str, Any]) -> list[Section]:
    """The sections of a page: for writes and for reads a chart and a table."""
    sections = []
    for mode in ("write", "read"):
        rows = stream_rows(streams, mode)
        if not rows:
            continue
        cached = [point for point in points_of(streams, mode) if point["is_cached"]]
        text = f"The mean of {streams['grid']['repeats']} files, one behind the other (from the start again where no more fit), with its 95 % interval."
        known = [point["mb_per_s"] for point in points_of(streams, mode)]
        ends = [point["mb_per_s"] + (point["ci95_mb_per_s"] or 0.0) for point in points_of(streams, mode)]
        if max(ends) > MOST_DRAWN * max(known):
            text += " Intervals are drawn up to a quarter above the highest throughput."
        if cached:
            fastest = max(point["mb_per_s"] for point in cached)
            text += (
                f" {len(cached)} of {len(points_of(streams, mode))} are faster than the largest files by a tenth or more, up to "
                f"{fastest:,.1f} MB/s: a cache answered (marked *)."
            )
        sections.append(Section(f"Streams: {mode}s by record and file", text, stream_chart(streams, mode)))
        title = f"Streams: {mode}s, MB/s by record (KiB) and file (MB)"
        longer = "×: the record is longer than the file." if any("×" in row for row in rows) else ""
        sections.append(Section(title, longer, columns=stream_columns(streams), rows=rows))
    return sections


def points_of(streams: Mapping[str, Any], mode: str) -> list[StreamPoint]:
    """The points of reads or of writes."""
    return [point for point in streams["points"] if point["mode"] == mode]


# ---- the page of a fit to throughputs ----


def stream_calibration_page(found: StreamCalibration) -> Page:
    """The page of a fit: throughputs before and after, the parameters, and what the table cannot tell."""
    from headstack.calibration.streams import law_words

    summary = found.summary
    train, test = summary["train"], summary["test"]
    scored, which = (test, "test") if test["throughputs"] else (train, "training")
    before, after = (scored[when] or {"mean_percent": 0.0, "max_percent": 0.0} for when in ("before", "after"))
    unknown = sum(not row["identifiable"] for row in summary["parameters"])
    cached = summary["left_out_cached"]
    return Page(
        title=f"Streams of {summary['system']} fitted to {Path(summary['source']).name}",
        subtitle=f"{train['throughputs']} training throughputs, {test['throughputs']} test throughputs; {law_words(summary)}"
        + (f"; {cached} left out, which a cache answered" if cached else ""),
        answer=f"On {which} throughputs{', to which nothing was fitted' if scored is test else ''}, the model is off by {number(after['mean_percent'])} % on average; before the "
        f"fit it was off by {number(before['mean_percent'])} %.",
        notices=[found.warning[0].upper() + found.warning[1:]] if found.warning else [],
        numbers=[
            Number("mean difference", f"{number(after['mean_percent'])} %", f"{number(before['mean_percent'])} % before"),
            Number("largest difference", f"{number(after['max_percent'])} %", f"{number(before['max_percent'])} % before"),
            Number("not identifiable", number(unknown), f"of {len(summary['parameters'])} parameters"),
        ],
        sections=[*_before_and_after(summary), _fitted_values(summary), _each_throughput(summary)],
        cite=[
            ("tool", f"headstack {summary['version']}"),
            ("system", summary["system"]),
            ("throughputs", summary["source"]),
            ("seed", str(summary["seed"])),
        ],
    )  # fmt: skip


def _before_and_after(summary: Mapping[str, Any]) -> list[Section]:
    sections = []
    for op in ("write", "read"):
        rows = [row for row in summary["rows"] if row["op"] == op]
        curves: dict[str, list[tuple[float, float]]] = {}
        for file_mb in sorted({row["file_mb"] for row in rows}):
            own = sorted((row for row in rows if row["file_mb"] == file_mb), key=lambda row: row["record_kib"])
            for name, percent in (("measured", None), ("before", "before_percent"), ("after", "after_percent")):
                curves[f"{size(file_mb)} MB, {name}"] = [
                    (row["record_kib"], row["mb_per_s"] * (1 + (row[percent] / 100 if percent else 0))) for row in own
                ]
        if curves:
            text = f"Throughput of {op}s over the size of the record."
            sections.append(Section(f"{op.capitalize()}s: measured, before and after", text,
                                    lines(curves, RECORD, RATE, log=(True, False))))  # fmt: skip
    return sections


def _fitted_values(summary: Mapping[str, Any]) -> Section:
    from headstack.calibration.table import told_values
    from headstack.report.calibration import interval

    rows = [[row["name"], row["unit"], *told_values(row), interval(row), row["why"]] for row in summary["parameters"]]
    text = "What the table cannot tell is left as it was or says why it was moved."
    return Section("Parameters", text, columns=["parameter", "unit", "before", "after", "95 % interval", "not identifiable because"],
                   rows=rows, text_columns=2, dense=True)  # fmt: skip


def _each_throughput(summary: Mapping[str, Any]) -> Section:
    rows = [
        [row["op"], "training" if row["fitted"] else "test", size(row["file_mb"]), size(row["record_kib"]),
         number(row["mb_per_s"]), signed(row["before_percent"], 2), signed(row["after_percent"], 2)]
        for row in summary["rows"]
    ]  # fmt: skip
    columns = ["op", "", "file (MB)", "record (KiB)", "measured (MB/s)", "before (%)", "after (%)"]
    return Section("Difference of each throughput", columns=columns, rows=rows, text_columns=2, dense=True)
