"""`headstack trace analyze`: what a host waits for, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import output, progress
from headstack.cli.layers import show_layers
from headstack.cli.options import OUTPUT, RUN, Json, ReadOptions, Strict
from headstack.remote import as_given
from headstack.report import causes
from headstack.report.losses import from_dispatch_words, lost_words, unpaired_words
from headstack.report.tables import size, span
from headstack.shown import joined, number, of_unit, percent, several, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.results.analyses import Analysis, Bursts, DeviceRank, Group, Quantised
    from headstack.results.common import Spread


def analyze(
    trace: Annotated[Path, Parameter(help="The trace.")],
    *,
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    ticks: Annotated[
        int | None,
        Parameter(group=RUN, help="Show also what a clock of so many ticks a second would have seen; the paper's: 60."),
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page about the trace.")] = None,
    json: Json = False,
) -> int:
    """Analyse a trace in one pass: responses by time, drive, address, size, kind and start; depth, bursts, runs."""
    from headstack._core import analyse_trace

    with progress.bar("analysing", None) as told:
        about = analyse_trace(how.open(trace), strict=strict, ticks_per_s=ticks, progress=told)
    if report is not None:
        from headstack.report.trace import trace_page

        trace_page(trace.name or as_given(trace), about).write(report)
    if not about["requests"] and not (about["flushes"] or about["discards"]):
        output.warning(unpaired_words(about) or how.nothing_left())
    if how.pairing == "btt" and (about.get("orphans") or lost_words(about)):
        output.warning(
            "whatever is left was paired, as btt does: where events are lost, responses and causes may be of events that do not belong together",
            "--pairing strict, the default, leaves such pairs out",
        )
    if json:
        output.print_json({"trace": as_given(trace), "pairing": how.paired(about), **about})
        return 0
    output.trace_notes(about["notes"])
    _show(trace, about)
    if report is not None:
        output.wrote(report)
    return 0


def _show(trace: Path, about: Analysis) -> None:
    depth, runs = about["depth"], about["runs"]
    others = [several(f"{{}} {kind}", about[kind]) for kind in ("flushes", "discards") if about[kind]]
    variation = about["inter_arrival_variation"]
    pairs = [
        ("requests", joined("; ", [several("{}: {} reads, {} writes", about["requests"], about["reads"], about["writes"]),
                                   *([joined(", ", others)] if others else [])])),
        ("span", span(about["span_s"])),
        ("moved", several("{} read, {} written", size(about["bytes_read"]), size(about["bytes_written"]))),
        ("arrivals", several("coefficient of variation of inter-arrival times {coefficient of variation} (Poisson: 1)", number(variation))),
        ("runs", several("{continue a run} continue one of the last 32 runs of their device and direction, {} strided; {} runs of {mean length} on average",
                         percent(runs["sequential_fraction"], 1), percent(runs["strided_fraction"], 1), runs["runs"],
                         number(runs["mean_length"], 1))),
    ]  # fmt: skip
    if about["response_ms"]:
        pairs.append(("queue depth", several("at arrival: mean {}, max {}; {} find none", number(depth["mean"]), depth["max"],
                                             percent(depth["idle_share"], 1))))  # fmt: skip
    if "pairs" in about:
        pairs.append(("pairs", several("{}; {} events unpaired", about["pairs"], about["orphans"])))
    if words := from_dispatch_words(about):
        pairs.append(("responses", shown(words, words)))
    if lost := lost_words(about):
        pairs.append(("lost", shown("; ".join(lost), "; ".join(lost))))
    output.facts(as_given(trace), pairs)
    if about["response_ms"]:
        output.line()
        output.sentence(causes.sentence(about))
    if about["fleet"]:
        _fleet(about["fleet"], about["by_device"])
    named = [
        ("response", about["response_ms"]),
        ("wait", about["wait_ms"]),
        ("service", about["service_ms"]),
        ("between arrivals", about["inter_arrival_ms"]),
    ]
    groups = [(group["name"], group["response_ms"]) for group in about["by_kind"]]
    _times("Times (ms)", named + groups)
    for key, title in (
        ("by_device", "By drive (ms)"),
        ("by_interface", "Block and raw (ms)"),
        ("by_size", "By size (ms)"),
    ):
        if len(about[key]) > 1:
            _times(title, [(group["name"], group["response_ms"]) for group in about[key][:16]])
    if about.get("btt"):
        show_layers(about["btt"])
    _bursts(about["bursts"])
    _hot(about)
    if about["quantised"]:
        _quantised(about["quantised"])


def _fleet(fleet: DeviceRank, devices: Sequence[Group]) -> None:
    output.line()
    output.sentence(causes.fleet_sentence(fleet, devices))
    rows = [
        (each["device"], number(each["responses"]), *(number(each["response_ms"][key], 3) for key in ("mean", "p50", "p99")),
         number(each["p99_to_others"]))
        for each in fleet["ranked"][:16]
    ]  # fmt: skip
    columns = ["", "n", "mean (ms)", "p50 (ms)", "p99 (ms)", "p99 ÷ median of the others"]
    output.table("Devices, the slowest first", columns, rows)


def _times(title: str, named: list[tuple[str, Spread | None]]) -> None:
    columns = ("mean", "std", "p50", "p90", "p99", "p999", "max")
    rows = [
        (name, number(times["count"]), *(of_unit(times[column], "ms", 3) for column in columns))
        for name, times in named
        if times
    ]
    if rows:
        output.line()
        output.table(title, ["", "n", "mean", "std", "p50", "p90", "p99", "p99.9", "max"], rows)


def _bursts(bursts: Bursts | None) -> None:
    if not bursts or not bursts["count"]:
        return
    period = bursts["flush_period_s"]
    output.line()
    output.sentence(
        f"{number(bursts['count'])} bursts of writes, {number(bursts['flushes'])} of them flushes"
        + (f" every {period:.1f} s" if period else "")
        + f", with {100 * bursts['share_of_writes']:.1f} % of the writes."
    )
    largest = sorted(bursts["largest"], key=lambda burst: -burst["writes"])[:5]
    rows = [
        (burst["kind"], number(burst["start_s"], 3), number(burst["length_ms"], 1), number(burst["writes"]),
         number(burst["peak_outstanding"]), number(burst["reads"]), number((burst["read_response_ms"] or {}).get("max"), 1))
        for burst in largest
    ]  # fmt: skip
    columns = ["", "start (s)", "length (ms)", "writes", "max queue depth", "reads", "max read (ms)"]
    output.table("The largest bursts", columns, rows)


def _hot(about: Analysis) -> None:
    sector = about["sector_bytes"]
    rows = [
        (region["device"], size(region["first_lba"] * sector), size(region["sectors"] * sector),
         percent(region["share"], 1), number((region["response_ms"] or {}).get("mean"), 3))
        for region in about["hot_regions"][:5]
    ]  # fmt: skip
    if rows:
        output.line()
        output.table("Hot regions", ["device", "from", "size", "requests", "mean (ms)"], rows)
    rows = [(group["name"], number(group["requests"]), size(group["bytes"])) for group in about["by_process"][:8]]
    if rows:
        output.line()
        output.table("By process", ["", "requests", "moved"], rows)


def _quantised(about: Quantised) -> None:
    rows = [
        (name, of_unit(about["response_ms"][key], "ms", 3), of_unit(about["seen_ms"][key], "ms", 3))
        for name, key in (("mean", "mean"), ("median", "p50"), ("p99", "p99"), ("deviation", "std"))
    ]
    output.line()
    output.table(
        f"As a clock of {about['ticks_per_s']} ticks a second sees it (ms)", ["", "true", "seen"], rows,
        caption=f"{100 * about['at_0_ticks']:.1f} % seem to take no time "
        f"({100 * about['at_0_ticks_expected']:.1f} % expected); the clock adds a deviation of "
        f"{about['std_added_expected_ms']:.3f} ms.",
    )  # fmt: skip
