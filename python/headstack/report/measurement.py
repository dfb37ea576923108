"""The page of a measurement."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from headstack import __version__
from headstack.counted import plural
from headstack.report.findings import (
    amount,
    bandwidth_rows,
    has_zones,
    naive_rows,
    parameter_rows,
    replay_rows,
    replay_warnings,
    sectors_of_tracks,
    zone_rows,
)
from headstack.report.page import Number, Page, Section
from headstack.shown import capacity, grouped, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.measure import Measurement
    from headstack.results.measurements import StreamPoint

KEY_NUMBERS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("time of a revolution", (("", "rotation_ms"),)),
    ("heads", (("", "heads"),)),
    ("minimum time to media", (("reads", "mtm_read_ms"), ("writes", "mtm_ms"))),
    ("head switch", (("reads", "head_switch_ms"), ("writes", "write_head_switch_ms"))),
    ("cylinder switch", (("reads", "cylinder_switch_ms"), ("writes", "write_cylinder_switch_ms"))),
    ("longest seek measured", (("", "seek_longest_ms"),)),
)
"""Tiles, and the values that they show: of reads and of writes where these may differ."""
SKIPPIES = {
    "skippy-write": ("Skippy: writes with growing steps", False),
    "skippy-read": ("Skippy: reads with growing steps", True),
    "skippy-backwards": ("Skippy: reads backwards", True),
}


def measurement_page(found: Measurement) -> Page:
    """The page of a measurement: key numbers, sawtooth, bandwidth, seek curve, every value with its uncertainty."""
    values, device = found.found, found.head["device"]
    size = capacity(device["sectors"] * device["sector_bytes"])
    stopped = [] if found.stopped is None else [f"Not complete: {found.stopped['message']}."]
    return Page(
        title=f"{found.device}, measured",
        subtitle=f"{size}, {device['kind'].replace('-', ' ')}, {number(values['samples'])} accesses",
        answer=_answer(values),
        notices=stopped
        + [
            warning[:1].upper() + warning[1:] + "." for warning in [*replay_warnings(found.replay), *values["warnings"]]
        ],
        numbers=[*_demerits(found.replay), *_numbers(values)],
        sections=[
            *_scan(found),
            *_replay(found.replay),
            *_sawtooths(values),
            *_bandwidth(values, device),
            *_seeks(values, device),
            *_streams(values),
            *_tables(values),
        ],
        cite=[
            ("tool", f"headstack {__version__}; the record was made by {found.head['version']}"),
            ("device", found.device),
            ("probes", ", ".join(found.head["finished"]) or "none complete"),
            ("written", _written(found)),
        ],
    )


def _written(found: Measurement) -> str:
    """What was written to the device, as its accesses tell."""
    import polars as pl

    accesses = pl.DataFrame(found.samples).filter(pl.col("mode").cast(pl.String).str.starts_with("write"))
    if accesses.is_empty():
        return "nothing"
    megabytes = int(accesses["sectors"].sum()) * found.head["device"]["sector_bytes"] / 1e6
    forced = int((accesses["mode"].cast(pl.String) == "write-forced").sum())
    past = "" if not forced else f", {number(forced)} of them forced to the media"
    return f"{number(megabytes, 1)} MB by {plural(len(accesses), 'write')}{past}"


def values_html(found: Measurement) -> str:
    """The values as a small table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(row[0])}</th><td style='text-align:right'>{escape(row[1])}</td>"
        f"<td style='text-align:right'>± {escape(row[2])}</td><td style='text-align:left'>{escape(row[3])}</td></tr>"
        for row in parameter_rows(found.found)
    )
    caption = f"<caption style='text-align:left'><b>{escape(found.device)}</b></caption>"
    return f"<table>{caption}<tbody>{rows}</tbody></table>"


def _answer(values: Mapping[str, Any]) -> str:
    """What was found, in a sentence."""
    if values["rotating"] is False:
        return "Nothing here turns: the device is not a disk drive, or something before it hides that."
    parts = []
    if values.get("rotation_ms") is not None:
        parts.append(f"one revolution takes {number(values['rotation_ms'], 3)} ms")
    if values.get("sectors_per_track") is not None:
        sectors = sectors_of_tracks(values)
        in_zones = f"tracks have {sectors} sectors, in {len(values['zones'])} zones"
        parts.append(in_zones if has_zones(values) and len(values["zones"]) > 1 else f"a track has {sectors} sectors")
    if values.get("heads") is not None:
        parts.append(f"there are {number(values['heads'], 0)} heads")
    if not parts and values["scan"] is not None:
        parts = [grouped(values["scan"]["verdict"])]
    if not parts and values["stream"] is not None:
        parts = _fastest(values["stream"]["points"])
    if not parts and values["bandwidth"] is not None:
        parts = [f"{number(values['bandwidth']['outer_mib_per_s'])} MiB/s at the start of the device, "
                 f"{number(values['bandwidth']['inner_mib_per_s'])} at its end"]  # fmt: skip
    text = ", ".join(parts) or f"{number(values['samples'])} accesses tell no value"
    return f"{text[:1].upper()}{text[1:]}."


def _fastest(points: list[StreamPoint]) -> list[str]:
    """How fast streams came at best, writes and reads apart; those that a cache answered only where there are no others."""
    found = []
    for mode in ("write", "read"):
        for is_cached in (False, True):
            rates = [each["mb_per_s"] for each in points if each["mode"] == mode and each["is_cached"] == is_cached]
            if rates:
                out_of = " out of a cache" if is_cached else ""
                found.append(f"{mode}s stream at {number(max(rates))} MB/s at best{out_of}")
                break
    return found


def _numbers(values: Mapping[str, Any]) -> list[Number]:
    parameters = {each["name"]: each for each in values["parameters"]}
    numbers = [
        Number(label, *_tile([(of, parameters[key]) for of, key in keys if key in parameters]))
        for label, keys in KEY_NUMBERS
        if any(key in parameters for _, key in keys)
    ]
    if "sectors_per_track" in parameters:
        zones = f", {plural(len(values['zones']), 'zone')}" if has_zones(values) else ""
        numbers.insert(1, Number("sectors per track", sectors_of_tracks(values), f"sectors{zones}"))
    if values["bandwidth"] is not None:
        bandwidth = values["bandwidth"]
        speeds = f"{bandwidth['outer_mib_per_s']:.2f} → {bandwidth['inner_mib_per_s']:.2f}"
        numbers.append(Number("bandwidth, outer to inner", speeds, "MiB/s"))
    return numbers


def _tile(shown: list[tuple[str, Mapping[str, Any]]]) -> tuple[str, str]:
    """A value and what stands below it: one for reads and writes if they are alike, else both, and which is which."""
    amounts = [amount(each, most_digits=3) for _, each in shown]
    notes = [each["unit"] for _, each in shown[:1] if each["unit"]]
    if kinds := [of for of, _ in shown if of]:
        alike = len(kinds) > 1 and len(set(amounts)) == 1
        notes.append(" and ".join(kinds) if alike else " / ".join(kinds))
        amounts = amounts[:1] if alike else amounts
    hidden = [of for of, each in shown if each["value"] is None]
    if hidden:
        which = f"{hidden[0]} are a bound" if any(hidden) and len(shown) > len(hidden) else "a bound"
        notes.append(f"{which}, hidden by the overhead")
    return " / ".join(amounts), ", ".join(notes)


def _demerits(replay: Mapping[str, Any] | None) -> list[Number]:
    if replay is None:
        return []
    scores = [replay[which] for which in ("reads", "writes") if replay[which] is not None]
    return [
        Number(
            f"demerit of the rebuilt drive, {score['mode']}s",
            f"{score['demerit_percent']:.2f} %",
            "random, queue depth 1",
        )
        for score in scores
    ]


def _replay(replay: Mapping[str, Any] | None) -> list[Section]:
    if replay is None:
        return []
    columns, rows = replay_rows(replay)
    text = (
        "A drive was rebuilt from what was measured, and served the random accesses of the record again, and the reads of "
        "several sizes. With a queue the result depends on the scheduler, which is assumed."
    )
    return [Section("The rebuilt drive beside the device", text=text, columns=columns, rows=rows)]


def _sawtooths(values: Mapping[str, Any]) -> list[Section]:
    from headstack.report.probes import skippy_chart

    sections = []
    for sawtooth in values["skippy"]:
        title, _ = SKIPPIES[sawtooth["probe"]]
        text = (
            "Each access is one step further than the one before; meanwhile the disk turns by the same angle as always."
        )
        dive = sawtooth["head_positioning_ms"]
        if dive is not None:
            text += (
                f" Before the drop, switch points dive: the skew gives the head time, and no revolution is lost. The width of the "
                f"dive is the time the head needs, {dive:.3f} ms."
            )
        sections.append(Section(title, text=text, chart=skippy_chart(sawtooth)))
    return sections


def _bandwidth(values: Mapping[str, Any], device: Mapping[str, Any]) -> list[Section]:
    from headstack.report.probes import bandwidth_chart

    if values["bandwidth"] is None:
        return []
    columns = ["law", "fitted to", "off by (MiB/s, rms)", "at the start", "to the end"]
    return [
        Section("Bandwidth over the device", text="Points: measured. Two-point laws know the two ends only.",
                chart=bandwidth_chart(values["bandwidth"], device["sector_bytes"])),
        Section("What the laws miss", columns=columns, rows=bandwidth_rows(values), text_columns=2),
    ]  # fmt: skip


def _seeks(values: Mapping[str, Any], device: Mapping[str, Any]) -> list[Section]:
    from headstack.report.probes import seek_chart, seeker_chart

    seek, sections = values["seek"], []
    two = seek["two_piece"]
    if seek["write"] or seek["read"]:
        text = ""
        if two is not None:
            (a, b), (c, e) = two["short_ms"], two["long_ms"]
            text = (
                f"Line: {a:.3f} + {b:.4f} √d below {two['boundary_cylinders']:,} cylinders, {c:.3f} + {e:.6f} d above; off "
                f"by at most {100 * two['worst_relative']:.1f} %."
            )
        sections.append(Section("Seek curve", text=text, chart=seek_chart(seek), half=bool(seek["seeker"])))
    if seek["seeker"]:
        text = "Minimum time from the start to each place, the minimum time to media taken off."
        sections.append(Section("Seeker: seek time by distance in sectors", text=text, half=len(sections) == 1,
                                chart=seeker_chart(seek["seeker"], device["sector_bytes"])))  # fmt: skip
    return sections


def _scan(found: Measurement) -> list[Section]:
    from headstack.report.scan import scan_sections

    scan = found.found["scan"]
    if scan is None:
        return []
    return scan_sections(scan, found.smart, is_answer=grouped(scan["verdict"])[1:] in _answer(found.found))


def _streams(values: Mapping[str, Any]) -> list[Section]:
    from headstack.report.streams import stream_sections

    return [] if values["stream"] is None else stream_sections(values["stream"])


def _tables(values: Mapping[str, Any]) -> list[Section]:
    rows = parameter_rows(values)
    sections = [] if not rows else [
        Section("Every value", columns=["value", "is", "± 95 %", "unit", "note"], rows=rows,
                text="≤ and … mark bounds: the device does not show the value itself.")
    ]  # fmt: skip
    if values["zones"]:
        columns, rows = zone_rows(values)
        sections.append(Section("Zones", columns=columns, rows=rows))
    if values["naive"] is not None:
        sections.append(Section("The sawtooth as its paper reads it, and corrected", columns=["", "paper's way", "unit", "corrected"],
                                rows=naive_rows(values)))  # fmt: skip
    if values["random"]:
        rows = [[f"{load['mode']}s", str(load["depth"]), number(load["response_ms"]["mean"]), number(load["response_ms"]["p99"]), number(load["iops"], 1),
                 number(load["out_of_order_percent"], 1)] for load in values["random"]]  # fmt: skip
        columns = ["of", "queue depth", "mean (ms)", "p99 (ms)", "IOPS", "out of order (%)"]
        sections.append(Section("Random accesses", columns=columns, rows=rows))
    return sections
