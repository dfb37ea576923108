"""What `headstack measure` shows in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.cli import output
from headstack.shown import capacity, several, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.measure import Measurement


CACHED = (
    "* faster than the largest files: a cache answered; ×: the file holds no such record, or the device no such file"
)


def show(found: Measurement) -> None:
    """Print the values with their uncertainty and method, the zones, and what else was found."""
    from headstack.report.findings import bandwidth_rows, naive_rows, parameter_rows, replay_rows, zone_rows

    values = found.found
    device = values["device"]
    output.sentence(
        f"{found.device}: {device['kind'].replace('-', ' ')}, {capacity(device['sectors'] * device['sector_bytes'])}, "
        f"{output.number(values['samples'])} accesses"
    )
    output.line()
    if values["scan"] is not None:
        from headstack.report.scan import SMART_COLUMNS, scan_facts, smart_rows

        output.facts("The surface", scan_facts(values["scan"]), table="The surface")
        if found.smart:
            output.table("SMART", SMART_COLUMNS, smart_rows(found.smart), text_columns=(0,))
    if found.replay is not None:
        columns, rows = replay_rows(found.replay)
        output.table("The rebuilt drive, serving the accesses again", columns, rows, text_columns=(0,))
    if values["parameters"]:
        output.table(
            "Measured",
            ["", "value", "± 95 %", "unit", "how"],
            parameter_rows(values),
            text_columns=(0, 3, 4),
            caption="≤ and … mark bounds: the device does not show the value itself",
        )
    if values["zones"]:
        columns, rows = zone_rows(values)
        output.table("Zones", columns, rows)
    if values["bandwidth"] is not None:
        output.table("Bandwidth", ["law", "from", "off by (MiB/s, rms)", "start", "change"], bandwidth_rows(values),
                     text_columns=(0, 1))  # fmt: skip
    if values["stream"] is not None:
        from headstack.report.streams import stream_columns, stream_rows

        for mode in ("write", "read"):
            rows = stream_rows(values["stream"], mode)
            if rows:
                output.table(f"Streams, {mode}s: MB/s by record (KiB) and file (MB)", stream_columns(values["stream"]), rows,
                             caption=CACHED)  # fmt: skip
    if values["naive"] is not None:
        output.table("The sawtooth as its paper reads it", ["", "paper's way", "unit", "corrected"], naive_rows(values),
                     text_columns=(0, 2))  # fmt: skip
    facts = _facts(values)
    if facts:
        output.facts("", facts)


def _facts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    number = output.number
    facts = []
    if values["order"] is not None:
        group = values["group_cylinders"]
        order = several("{}, {} cylinders a group", values["order"], group) if group else values["order"]
        facts.append(("order of tracks", order))
    two = values["seek"]["two_piece"]
    if two is not None:
        (a, b), (c, e) = two["short_ms"], two["long_ms"]
        facts.append(
            ("seek time (ms)", f"{a:.3f} + {b:.4f} √d below {number(two['boundary_cylinders'])} cylinders, "
                               f"{c:.3f} + {e:.6f} d above; off by at most {100 * two['worst_relative']:.1f} %")
        )  # fmt: skip
    facts += [
        (
            f"random {load['mode']}s, queue depth {load['depth']}",
            several(
                "mean {} ms, p99 {} ms, {} IOPS",
                number(load["response_ms"]["mean"]),
                number(load["response_ms"]["p99"], 1),
                number(load["iops"], 0),
            ),
        )
        for load in values["random"]
    ]
    if values["failed"]:
        first = ", ".join(str(lba) for lba in values["failed_lbas"][:5])
        facts.append(
            ("failed accesses", several("{}, skipped; the first at {}", values["failed"], shown(first, first)))
        )
    return facts
