"""`headstack trace iostat`: the averages that `iostat -x` wrote down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import RUN, Json, Strict
from headstack.shown import number

if TYPE_CHECKING:
    from headstack.results.traces import IostatDevice


def iostat(
    reports: Annotated[Path, Parameter(help="What `iostat -x` printed.")],
    *,
    strict: Strict = False,
    with_first: Annotated[
        bool,
        Parameter(
            group=RUN,
            negative=(),
            help="Count the first report, too: iostat ran with -y, so that it is not an average since the system started.",
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Read the reports of `iostat -x`, as text or JSON, and tell how busy each device was."""
    from headstack._core import read_iostat

    about = read_iostat(reports, strict=strict, with_first=with_first)
    if json:
        output.print_json({"iostat": str(reports), **about})
        return 0
    output.trace_notes(about["notes"])
    output.table(
        f"{about['reports']} reports" + (", without the first" if about["first_left_out"] else ""),
        [
            "device",
            "reads/s",
            "writes/s",
            "read KiB/s",
            "write KiB/s",
            "read ms",
            "write ms",
            "queue",
            "by Little",
            "busy",
        ],
        [_line(each) for each in about["devices"]],
        name="Devices",
    )
    if about["first_left_out"]:
        output.note("the first report is an average since the system started; --with-first counts it")
    return 0


def _line(each: IostatDevice) -> tuple[str, ...]:
    mean = each["mean"]
    names = ("reads_per_s", "writes_per_s", "read_kib_per_s", "write_kib_per_s", "read_wait_ms", "write_wait_ms")
    values = {name: mean[name] for name in names}
    if mean["wait_ms"] is not None:
        values["read_wait_ms"] = values["write_wait_ms"] = mean["wait_ms"]
    queue, busy = mean["queue_mean"], mean["utilisation_percent"]
    shown = [*values.values(), queue, each["queue_by_little"]]
    return (
        each["device"],
        *(number(value) for value in shown),
        number(busy, 1, "%"),
    )
