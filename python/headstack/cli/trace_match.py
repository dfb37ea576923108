"""`headstack trace match` and `trace ticks`: requests with their responses, and the ticks they took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.layers import show_layers
from headstack.cli.options import OUTPUT, Json, ReadOptions, Strict
from headstack.remote import as_given
from headstack.report.losses import from_dispatch_words, lost_words
from headstack.shown import number, percent, several, shown

if TYPE_CHECKING:
    from headstack.results.matching import Matching, TickHistogram, TickRecord


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
    events = about["events"]
    queued, dispatched, completed = (
        several("{} reads, {} writes ({read} and {written} KiB)", count["reads"], count["writes"], count["read_bytes"] >> 10, count["write_bytes"] >> 10)
        for count in (events["queued"], events["dispatched"], events["completed"])
    )  # fmt: skip
    by_action = events["by_action"]
    pairs = [
        ("events", several("{}: " + ", ".join(f"{{}} {name}" for name in by_action), events["entries"], *by_action.values())),
        ("queued", queued),
        ("dispatched", dispatched),
        ("completed", completed),
        ("pairs", several("{}, of them {} without their dispatch", about["pairs"], about["undispatched"])),
        ("unpaired", several("{}: {} dispatches, {} completions, {} queued", about["orphans"], about["orphan_dispatches"],
                             about["orphan_completions"], about["orphan_queued"])),
        ("changed", several("{} merges, {} splits, {} requeues, {} partial completions",
                            *(about[key] for key in ("merges", "splits", "requeues", "partial_completions")))),
    ]  # fmt: skip
    if words := from_dispatch_words(about):
        pairs.append(("responses", shown(words, words)))
    if lost := lost_words(about):
        pairs.append(("lost", shown("; ".join(lost), "; ".join(lost))))
    output.facts(as_given(trace), pairs)
    if about["btt"]:
        show_layers(about["btt"])


def _show_ticks(trace: Path, about: Matching) -> None:
    facts = [
        ("records", number(about["records"])),
        ("pairs", number(about["pairs"])),
        ("unpaired", several("{} responses, {} requests", about["orphan_responses"], about["orphan_requests"])),
    ]
    if about["off_slice"]:
        facts.append(("off slice", several("{} pairs lie in no slice of the table", about["off_slice"])))
    output.facts(as_given(trace), [*facts, *_histogram_facts(about["histogram"])])
    rows = [(_device(each), each["op"], number(each["block"]), number(each["ticks"])) for each in about["ticks"][:20]]
    if rows:
        output.line()
        title = "Responses" if about["pairs"] <= len(rows) else f"The first {len(rows)} responses"
        output.table(title, ["device", "operation", "block", "ticks"], rows, text_columns=(0, 1), name="Responses")
    rows = [
        (number(each["record"]), each["event"], _device(each), each["op"], number(each["block"]))
        for each in about["orphan_records"][:20]
    ]
    if rows:
        output.line()
        title = "Unpaired" if about["orphans"] <= len(rows) else f"The first {len(rows)} unpaired"
        output.table(
            title, ["record", "event", "device", "operation", "block"], rows, text_columns=(1, 2, 3), name="Unpaired"
        )


def _device(record: TickRecord) -> str:
    major, minor = record["device"]
    return f"({major},{minor:#x})"


def _histogram_facts(about: TickHistogram) -> list[tuple[str, str]]:
    if not about["responses"]:
        return [("responses", "none")]
    return [
        ("responses", number(about["responses"])),
        ("mean", several("{} ticks, {} ms", number(about["mean_ticks"]), number(about["mean_ms"], 1))),
        (
            "deviation",
            several(
                "{} ms; {without what the clock adds} ms without what the clock adds",
                number(about["std_ms"], 1),
                number(about["std_corrected_ms"], 1),
            ),
        ),
        (
            "within 5",
            several(
                "{at most 5 ticks} took at most 5 ticks, {no tick} none",
                percent(about["within_5_ticks"], 1),
                percent(about["at_0_ticks"], 1),
            ),
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
