"""`headstack trace capture`: the requests of a running host's block device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUT_NAMES, OUTPUT, RUN, Json, seconds
from headstack.errors import InputError
from headstack.shown import number, percent, several


def capture(
    device: Annotated[Path, Parameter(help="A block device, such as /dev/sda; of a partition the whole disk.")],
    out: Annotated[Path, Parameter(name=OUT_NAMES, help="What to write: a `.parquet` or a `.csv` file.", group=OUTPUT)],
    *,
    for_: Annotated[
        str | None,
        Parameter(name="--for", group=RUN, help="Stop after this: `30s`, `10m`, `2h`; otherwise with Ctrl-C."),
    ] = None,
    buffer_kib: Annotated[
        int, Parameter(group=RUN, help="The kernel's buffer for each processor, KiB: larger loses fewer events.")
    ] = 8192,
    json: Json = False,
) -> int:
    """Capture the requests of a device through the kernel's tracepoints (Linux, root); Ctrl-C ends it and keeps them."""
    from headstack._core import capture_trace

    if not 64 <= buffer_kib <= 4 << 20:
        raise InputError(f"--buffer-kib {buffer_kib} is not a size of a buffer", "64 to 4,194,304")
    duration = None if for_ is None else seconds(for_, "--for")
    if sys.stderr.isatty():
        output.note(f"capturing {device}" + ("; Ctrl-C ends it" if duration is None else f" for {duration:g} s"))
    about = capture_trace(device, out, duration_s=duration, buffer_kib=buffer_kib)
    if json:
        output.print_json({"out": str(out), **about})
    else:
        major, minor = about["device"]
        output.facts(
            f"{out}: {number(about['requests'])} requests of device {major},{minor}",
            [
                ("time", number(about["wall_s"], 1, "s")),
                ("others", several("{} flushes, discards and the like, not written", about["others"])),
                ("unpaired", several("{} events", about["orphans"])),
                ("lost", several("{} of {} events", about["lost_events"], about["events"] + about["lost_events"])),
                ("cost", several("{} on a processor ({} of one), {} bytes read", number(about["cpu_s"], 3, "s"),
                                 percent(about["cpu_share"], 2), about["bytes_read"])),
            ],
        )  # fmt: skip
    if about["lost_events"]:
        output.warning("the kernel's buffer was too small: events were lost; a larger --buffer-kib keeps them")
        return 1
    return 0
