"""`headstack trace`: what is in a trace, conversion, and what else is done with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from headstack.cli import output, progress
from headstack.cli.options import OUT_NAMES, OUTPUT, Json, ReadOptions, Strict, TraceOptions, WrittenAs
from headstack.cli.verbs import VERBS, examples, helped
from headstack.counted import plural
from headstack.remote import as_given
from headstack.report.tables import size, span
from headstack.shown import Part, Shown, joined, number, of_unit, percent, several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results.traces import TraceInfo

app = App(name="trace", help=VERBS["trace"][1], help_epilogue=examples("trace"))
app.command(
    "headstack.cli.trace_match:match",
    name="match",
    help="Pair requests with their responses.",
    help_epilogue=examples("trace match"),
)
app.command(
    "headstack.cli.trace_match:ticks",
    name="ticks",
    help="Read a histogram of responses by clock ticks.",
    help_epilogue=examples("trace ticks"),
)
app.command(
    "headstack.cli.trace_analyze:analyze",
    name="analyze",
    help="Tell what a host waits for, and why.",
    help_epilogue=examples("trace analyze"),
)
app.command(
    "headstack.cli.trace_iostat:iostat",
    name="iostat",
    help="Read the reports of `iostat -x`.",
    help_epilogue=examples("trace iostat"),
)
app.command(
    "headstack.cli.trace_capture:capture",
    name="capture",
    help="Capture the requests of a block device.",
    help_epilogue=examples("trace capture"),
)
app.command(
    "headstack.cli.trace_join:join",
    name="join",
    help="Write several traces as one.",
    **helped("trace join"),
)
app.command(
    "headstack.cli.trace_make:make",
    name="make",
    help="Make a trace like another one, of any length.",
    **helped("trace make"),
)


@app.command(help_epilogue=examples("trace info"))
def info(
    trace: Annotated[Path, Parameter(help="The trace.")],
    *,
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    json: Json = False,
) -> int:
    """Tell what is in a trace: counts, span, mix, sizes, footprint, rate, sequentiality, measured times."""
    with progress.bar("reading", None) as told:
        about = how.open(trace).info(strict=strict, progress=told)
    output.trace_notes(about["notes"])
    if not about["requests"]:
        output.warning(how.nothing_left())
    if json:
        output.print_json({"trace": as_given(trace), **about})
    else:
        _show(trace, about)
    return 0


@app.command(help_epilogue=examples("trace convert"))
def convert(
    trace: Annotated[Path, Parameter(help="The trace.")],
    out: Annotated[
        Path,
        Parameter(
            name=OUT_NAMES,
            help="What to write: a `.parquet`, `.csv` or `.arrow` file, or with `--as` another.",
            group=OUTPUT,
        ),
    ],
    *,
    as_: WrittenAs = None,
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    json: Json = False,
) -> int:
    """Write a trace, or the chosen part of it, as Parquet, CSV or in a format of others; `.gz` packs all but Parquet and Arrow."""
    with progress.bar("converting", None) as told:
        written = how.open(trace).convert_all(out, format=as_, strict=strict, progress=told)
    output.trace_notes(written["notes"])
    requests, others = written["requests"], written["others"]
    if not requests + others:
        output.warning(f"{how.nothing_left()}; the file holds none")
    if json:
        output.print_json({"trace": as_given(trace), "out": str(out), **written})
    else:
        output.sentence(
            f"{out}: {plural(requests, 'request')}"
            + (f", {others:,} flushes, discards and others" if others else "")
            + left_out_words(written)
        )
    return 0


@app.command(help_epilogue=examples("trace formats"))
def formats(*, json: Json = False) -> int:
    """List the formats that can be read and written."""
    from headstack._core import trace_formats, written_formats

    if json:
        read = [{"name": name, "about": about} for name, about in trace_formats()]
        output.print_json({"formats": read, "written": written_formats()})
    else:
        output.table("Trace formats", ["name", "what it is"], trace_formats(), text_columns=(0, 1))
        output.sentence("Written: " + ", ".join(written_formats()))
    return 0


def left_out_words(written: Mapping[str, Any]) -> str:
    """What was not written, behind what was."""
    kinds = (
        ("left_out", "flushes, discards and others"),
        ("merges_left_out", "merged requests"),
        ("instants_left_out", "pairs of instants (`G`, `I`)"),
    )
    left = [f"{written[key]:,} {what}" for key, what in kinds if written.get(key)]
    only = written.get("requests_only")
    if only:
        left.append("processes, merges, who waits (`sync`) and the instants `G` and `I`, as far as the trace has them")
    reason = (
        "as options that order or change requests (`--sort`, `--time-scale`, …) write these alone"
        if only == "options"
        else "as it does not hold them"
    )
    words = f"; left out, {reason}: {', '.join(left)}" if left else ""
    changed = written.get("names_changed")
    return words + (
        f"; {changed:,} names of processes changed: a sign in them is none of this format" if changed else ""
    )


def _device(device: int) -> str:
    """What users call a device: MAJOR,MINOR where it has the kernel's number."""
    major, minor = device >> 20, device & 0xFFFFF
    return f"{major},{minor}" if major else str(device)


def _show(trace: Path, about: TraceInfo) -> None:
    sizes = about["sizes"]
    touched = about["footprint_sectors"] * about["sector_bytes"]
    bound = "" if about["footprint_grid_sectors"] == 1 else "at most "
    common = [several("{} × {}", each["requests"], size(each["bytes"])) for each in sizes["common"][:4]]
    pairs = [
        ("format", several("{}, sectors of {sector size}", about["format"], number(about["sector_bytes"], 0, "B"))),
        ("requests", several("{}: {} reads, {} writes ({share of reads} reads)", about["requests"], about["reads"], about["writes"],
                             percent(about["read_fraction"], 1))),
        ("span", several("{}, {requests a second} requests/s", span(about["span_s"]), number(about["requests_per_s"], 3))),
        ("moved", several("{} read, {} written", size(about["bytes_read"]), size(about["bytes_written"]))),
        ("sizes", joined("; ", [several("mean {}, from {} to {}", size(sizes["mean_bytes"]), size(sizes["min_bytes"]), size(sizes["max_bytes"])),
                                Shown(", ".join(common), Part("most common", ", ".join(common)))])),
        ("footprint", several(bound + "{size} in sectors up to {highest LBA}", size(touched), about["highest_lba"])),
        ("sequential", several("{share} begin where the one before ended", percent(about["sequential_fraction"], 1))),
        ("devices", joined(", ", [Shown(f"{_device(one['device'])} ({number(one['requests'])})", Part(_device(one["device"]), one["requests"], "requests"))
                                  for one in about["devices"]])),
    ]  # fmt: skip
    if about["records_skipped"]:
        pairs.append(("skipped", several("{} records that are not requests", about["records_skipped"])))
    if about["max_outstanding"]:
        pairs.append(("queue depth", several("max {}", about["max_outstanding"])))
    output.facts(as_given(trace), pairs)
    names = {
        "inter_arrival_ms": "between arrivals",
        "service_ms": "measured service",
        "response_ms": "measured response",
    }
    rows = [
        (
            name,
            *(of_unit(about[key][column], "ms") for column in ("mean", "std", "p50", "p90", "p99", "p999", "max")),
        )
        for key, name in names.items()
        if about[key]
    ]
    if rows:
        output.line()
        output.table("Times (ms)", ["", "mean", "std", "p50", "p90", "p99", "p99.9", "max"], rows)
