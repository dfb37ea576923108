"""`headstack trace match` and `trace ticks`: requests with their responses, and the ticks they took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUTPUT, Json, ReadOptions, Strict
from headstack.remote import as_given
from headstack.report.losses import from_dispatch_words, lost_words

if TYPE_CHECKING:
    from headstack.results.traces import Matching, TickHistogram, TickRecord


def match(
    trace: Annotated[Path, Parameter(help="The trace.")],
    *,
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    histogram: Annotated[
        Path | None,
        Parameter(group=OUTPUT, help="For tick traces: write the lines `N responses took T ticks.` to a file."),
    ] = None,
    json: Json = False,
) -> int:
    """Pair the events of a trace of clock ticks, or the events of a block trace, and list those that are unpaired."""
    from headstack._core import match_trace

    about = match_trace(how.open(trace), strict=strict)
    if histogram is not None:
        _write_histogram(histogram, about)
    if json:
        output.print_json({"trace": as_given(trace), **about})
        return 0
    output.trace_notes(about["notes"])
    if "btt" in about:
        show_events(trace, about)
        if how.op or how.process:
            output.sentence(
                "Pairs and times between layers are of what --op and --process choose. A completion names whoever it interrupted: "
                "events, unpaired and changed are of all."
            )
    else:
        _show_ticks(trace, about)
    return 0


def ticks(histogram: Annotated[Path, Parameter(help="Text with those lines.")], *, json: Json = False) -> int:
    """Read lines `N responses took T ticks.` and tell what they add up to."""
    from headstack._core import tick_histogram

    about = tick_histogram(histogram)
    if json:
        output.print_json({"histogram": str(histogram), **about})
    else:
        output.facts(str(histogram), _histogram_facts(about))
    return 0


def show_events(trace: Path, about: Matching) -> None:
    """Print what pairing a trace of events came to, with btt's table."""
    number, events = output.number, about["events"]
    done = (
        f"{number(count['reads'])} reads, {number(count['writes'])} writes "
        f"({count['read_bytes'] >> 10:,} and {count['write_bytes'] >> 10:,} KiB)"
        for count in (events["queued"], events["dispatched"], events["completed"])
    )
    queued, dispatched, completed = done
    pairs = [
        ("events", f"{number(events['entries'])}: "
                   + ", ".join(f"{number(n)} {name}" for name, n in events["by_action"].items())),
        ("queued", queued),
        ("dispatched", dispatched),
        ("completed", completed),
        ("pairs", f"{number(about['pairs'])}, of them {number(about['undispatched'])} without their dispatch"),
        ("unpaired", f"{number(about['orphans'])}: {number(about['orphan_dispatches'])} dispatches, "
                  f"{number(about['orphan_completions'])} completions, {number(about['orphan_queued'])} queued"),
        ("changed", f"{number(about['merges'])} merges, {number(about['splits'])} splits, "
                    f"{number(about['requeues'])} requeues, "
                    f"{number(about['partial_completions'])} partial completions"),
    ]  # fmt: skip
    if words := from_dispatch_words(about):
        pairs.append(("responses", words))
    if lost := lost_words(about):
        pairs.append(("lost", "; ".join(lost)))
    output.facts(as_given(trace), pairs)
    if about["btt"]:
        rows = [
            (name.upper(), f"{row['min_s']:.9f}", f"{row['mean_s']:.9f}", f"{row['max_s']:.9f}", number(row["count"]))
            for name, row in about["btt"].items()
        ]
        output.line()
        output.table("Between layers (s), by queued piece", ["", "min", "mean", "max", "n"], rows)


def _show_ticks(trace: Path, about: Matching) -> None:
    number = output.number
    facts = [
        ("records", number(about["records"])),
        ("pairs", number(about["pairs"])),
        ("unpaired", f"{number(about['orphan_responses'])} responses, {number(about['orphan_requests'])} requests"),
    ]
    if about["off_slice"]:
        facts.append(("off slice", f"{number(about['off_slice'])} pairs lie in no slice of the table"))
    output.facts(as_given(trace), [*facts, *_histogram_facts(about["histogram"])])
    rows = [(_device(each), each["op"], number(each["block"]), number(each["ticks"])) for each in about["ticks"][:20]]
    if rows:
        output.line()
        title = "Responses" if about["pairs"] <= len(rows) else f"The first {len(rows)} responses"
        output.table(title, ["device", "", "block", "ticks"], rows, text_columns=(0, 1))
    rows = [
        (number(each["record"]), each["event"], _device(each), each["op"], number(each["block"]))
        for each in about["orphan_records"][:20]
    ]
    if rows:
        output.line()
        title = "Unpaired" if about["orphans"] <= len(rows) else f"The first {len(rows)} unpaired"
        output.table(title, ["record", "event", "device", "", "block"], rows, text_columns=(1, 2, 3))


def _device(record: TickRecord) -> str:
    major, minor = record["device"]
    return f"({major},{minor:#x})"


def _histogram_facts(about: TickHistogram) -> list[tuple[str, str]]:
    if not about["responses"]:
        return [("responses", "none")]
    return [
        ("responses", output.number(about["responses"])),
        ("mean", f"{about['mean_ticks']:.2f} ticks, {about['mean_ms']:.1f} ms"),
        ("deviation", f"{about['std_ms']:.1f} ms; {about['std_corrected_ms']:.1f} ms without what the clock adds"),
        (
            "within 5",
            f"{100 * about['within_5_ticks']:.1f} % took at most 5 ticks, {100 * about['at_0_ticks']:.1f} % none",
        ),
    ]


def _write_histogram(path: Path, about: Matching) -> None:
    from headstack.errors import InputError
    from headstack.files import write_whole

    if "histogram" not in about:
        raise InputError(
            "--histogram counts ticks, and this trace has none",
            "`trace analyze --ticks 60` shows a trace as such a clock would see it",
        )
    write_whole(path, about["histogram"]["text"])
