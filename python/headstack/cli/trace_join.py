"""`headstack trace join`: several traces as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUT_NAMES, OUTPUT, TRACE, Json, ReadOptions, Strict, WrittenAs
from headstack.cli.trace import left_out_words
from headstack.errors import InputError
from headstack.remote import as_given
from headstack.report.tables import duration


def join(
    out: Annotated[Path, Parameter(name=OUT_NAMES, help="What to write, as `trace convert` does.", group=OUTPUT)],
    *traces: Annotated[Path, Parameter(help="The traces, two or more.", group=TRACE)],
    clocks: Annotated[
        Literal["same", "begin", "follow"] | None,
        Parameter(
            group=TRACE,
            help="How the traces' clocks stand to each other: `same` clock; all `begin` together; each to `follow` the one "
            "before, after the mean time between its arrivals. Needed unless all have times of day.",
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
    _refuse_twice(traces, clocks)
    opened = [how.open(path) for path in traces]
    written = join_traces(opened, out, clocks=clocks, devices_apart=devices == "apart", format=as_, strict=strict)
    output.trace_notes(written["notes"])
    if not written["requests"]:
        output.warning(f"{how.nothing_left()}; the file holds none")
    if json:
        output.print_json(
            {"traces": [as_given(path) for path in traces], "out": str(out), "devices": devices, **written}
        )
    else:
        after = " and ".join(duration(1000 * pause) for pause in written["pauses_s"])
        read_as = {
            "same": "one clock",
            "begin": "begun together",
            "follow": "one after the other" + (f", {after} after the end of the one before" if after else ""),
        }
        output.sentence(
            f"{out}: {written['requests']:,} requests of {len(traces)} traces, {read_as[written['clocks']]}"
            + left_out_words(written)
        )
    return 0


def _refuse_twice(traces: tuple[Path, ...], clocks: str | None) -> None:
    """A pipe is read once, and on one clock a trace that is given twice counts each request twice."""
    for index, path in enumerate(traces):
        again = next((other for other in traces[:index] if _is_same(path, other)), None)
        if again is None:
            continue
        if not (path.is_file() or path.is_dir()):
            name = "standard input" if path == Path("/dev/stdin") else f"`{path}`"
            raise InputError(f"{name} is named twice, and can be read once", "write it to a file first")
        if clocks == "same":
            raise InputError(
                f"`{path}` and `{again}` are one file: on one clock each of its requests would count twice",
                "name it once; --clocks follow reads it twice, one after the other",
            )


def _is_same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))
