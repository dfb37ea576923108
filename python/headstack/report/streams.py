"""Throughput of streams by the sizes of file and record: the chart and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.counted import size
from headstack.report import style, vega
from headstack.report.curves import lines
from headstack.report.page import Section
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results.measurements import StreamPoint

RECORD, RATE = "record (KiB)", "MB/s"


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
    frame = pl.DataFrame(
        {
            "x": [point["record_kib"] for point in known],
            "low": [point["mb_per_s"] - point["ci95_mb_per_s"] for point in known],
            "high": [point["mb_per_s"] + point["ci95_mb_per_s"] for point in known],
        }
    )
    return vega.layer(
        chart, Chart(frame).mark("rule", color=style.GREY, opacity=0.7).encode(x="x:Q", y=vega.Y("low:Q"), y2="high:Q")
    )


def stream_columns(streams: Mapping[str, Any]) -> list[str]:
    """The heads of the table: the record, and each size of file."""
    return ["record", *map(size, streams["grid"]["file_mb"])]


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


def _cell(point: StreamPoint | None) -> str:
    if point is None:
        return "×"
    return f"{point['mb_per_s']:.2f}" + ("*" if point["is_cached"] else "")


def stream_sections(streams: Mapping[str, Any]) -> list[Section]:
    """The sections of a page: for writes and for reads a chart and a table."""
    sections = []
    for mode in ("write", "read"):
        rows = stream_rows(streams, mode)
        if not rows:
            continue
        cached = [point for point in points_of(streams, mode) if point["is_cached"]]
        text = f"The mean of {streams['grid']['repeats']} files, one behind the other, with its 95 % interval."
        if cached:
            fastest = max(point["mb_per_s"] for point in cached)
            text += (
                f" {len(cached)} of {len(points_of(streams, mode))} are faster than the largest files by a tenth or more, up to "
                f"{fastest:,.1f} MB/s: a cache answered (marked *)."
            )
        sections.append(Section(f"Streams: {mode}s by record and file", text, stream_chart(streams, mode)))
        title = f"Streams: {mode}s, MB/s by record (KiB) and file (MB)"
        sections.append(Section(title, columns=stream_columns(streams), rows=rows))
    return sections


def points_of(streams: Mapping[str, Any], mode: str) -> list[StreamPoint]:
    """The points of reads or of writes."""
    return [point for point in streams["points"] if point["mode"] == mode]
