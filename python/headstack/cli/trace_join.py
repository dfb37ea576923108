"""`headstack trace join`: several traces as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUTPUT, TRACE, Json, ReadOptions, Strict, WrittenAs
from headstack.errors import InputError


def join(
    out: Annotated[Path, Parameter(help="What to write, as `trace convert` does.", group=OUTPUT)],
    *traces: Annotated[Path, Parameter(help="The traces, two or more.", group=TRACE)],
    clocks: Annotated[
        Literal["same", "begin", "follow"] | None,
        Parameter(
            group=TRACE,
            help="How the traces' clocks stand to each other: `same` clock; all `begin` together; each to `follow` the one "
            "before. Needed unless all have times of day.",
        ),
    ] = None,
    devices: Annotated[
        Literal["kept", "apart"],
        Parameter(
            name="--devices",
            group=TRACE,
            help="`kept`: one number is one device in all traces. `apart`: number the devices of each anew, from 0.",
        ),
    ] = "kept",
    as_: WrittenAs = None,
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    json: Json = False,
) -> int:
    """Write several traces, or runs, as one, in order of arrival: the requests, without what else a trace of events knows."""
    from headstack._core import join_traces

    if len(traces) < 2:
        raise InputError("one trace is nothing to join", "`headstack trace join OUT TRACE TRACE …`")
    opened = [how.open(path) for path in traces]
    written = join_traces(opened, out, clocks=clocks, devices_apart=devices == "apart", format=as_, strict=strict)
    output.trace_notes(written["notes"])
    if json:
        output.print_json({"traces": [str(path) for path in traces], "out": str(out), "devices": devices, **written})
    else:
        read_as = {"same": "one clock", "begin": "begun together", "follow": "one after the other"}
        output.sentence(
            f"{out}: {written['requests']:,} requests of {len(traces)} traces, {read_as[written['clocks']]}"
        )
    return 0
