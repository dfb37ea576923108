"""The page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.conditions import CONDITION_COLUMNS, condition_rows
from headstack.counted import plural
from headstack.destaging import destage_words
from headstack.overload import cut_short, held_back, overload
from headstack.report import charts, style
from headstack.report.page import Number, Page, Section
from headstack.report.tables import (
    assumed_notice,
    citation,
    completions_frame,
    duration,
    durations,
    key_numbers,
)
from headstack.run_times import DIRECTIONS, LIMIT_COLUMNS, TIME_COLUMNS, is_mixed, limit_rows, time_rows
from headstack.shown import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from headstack.report.vega import Chart
    from headstack.run import Run


def response_chart(run: Run) -> Chart:
    """The distribution of the response time, reads and writes apart."""
    _, table = run.sample
    return _response_cdf(completions_frame(table))


def run_page(run: Run) -> Page:
    """The page of a run: key numbers, where the time went, response over time and address, drives."""
    summary = run.summary
    stride, table = run.sample
    frame = completions_frame(table)
    sections = _charts(run, frame, stride) if len(frame) else []
    sections += [_times(run), _limits(run), _drives(run), _power(run)]
    if any("conditions" in drive for drive in summary["drives"]):
        sections.append(_conditions(run))
    sections.append(_cache(run))
    if len(summary["buses"]) > 1 or any(bus["queue_max"] for bus in summary["buses"]):
        sections.append(_buses(run))
    return Page(
        title=f"{summary['system']} under {summary['workload']}",
        subtitle=f"{plural(summary['requests'], 'request')} in {number(summary['simulated_s'], 1)} simulated seconds"
        + (f", after a warm-up of {summary['warmup_requests']:,}" if summary["warmup_requests"] else ""),
        answer=_answer(summary),
        notices=[
            notice
            for notice in (
                overload(summary),
                cut_short(summary),
                held_back(summary),
                assumed_notice(summary["provenance"]),
                _destage(summary),
            )
            if notice
        ],
        numbers=[Number(*each) for each in key_numbers(summary)],
        sections=[section for section in sections if section.chart is not None or section.rows],
        cite=citation(summary),
    )


def _destage(summary: Mapping[str, Any]) -> str:
    words = destage_words(summary)
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _charts(run: Run, frame: pl.DataFrame, stride: int) -> list[Section]:
    summary = run.summary
    drawn = stride * charts.stride(len(frame))
    every = f" One dot in {drawn:,} requests." if drawn > 1 else ""
    means = {"all": summary["phases_ms"]}
    means |= {kind: summary[kind]["phases_ms"] for kind in ("reads", "writes") if summary[kind]["requests"]}
    over_time = "Every request." if len(frame) <= charts.MARKS else "In 250 windows of equal length."
    if len(frame) > charts.MARKS and frame["arrival_s"].n_unique() == 1:
        over_time = "All arrive at once."
    return [
        Section(
            "How long requests took",
            "Cumulative distribution of the response time, from the host's request to its completion.",
            _response_cdf(frame),
        ),
        Section(
            "Where the time went",
            "Mean phases along the critical path; they add up to the mean response.",
            charts.phases(means),
        ),
        Section("Response over time", over_time, charts.over_time(frame)),
        Section("Response over address", f"Where on the volume requests began.{every}", charts.over_lba(frame)),
    ]


def _response_cdf(frame: pl.DataFrame) -> Chart:
    names = {"read": "reads", "write": "writes"}
    curves = {names[op]: frame.filter(op=op)["response_ms"] for op in names}
    curves = {name: values for name, values in curves.items() if len(values)}
    return charts.cdf(curves, {"reads": style.BLUE, "writes": style.VERMILLION}, "response time (ms)")


def _times(run: Run) -> Section:
    text = "From the arrival of a request to its completion, and from where it is handed to the drive."
    rows = [list(row) for row in time_rows(run.summary)]
    return Section("Times (ms)", text, columns=list(TIME_COLUMNS), rows=rows)


def _limits(run: Run) -> Section:
    text = "Requests for which one of the drives' duration limits holds, and those for which none does."
    rows = [list(row) for row in limit_rows(run.summary)]
    return Section("Responses by duration limit (ms)", text, columns=list(LIMIT_COLUMNS), rows=rows)


def _drives(run: Run) -> Section:
    rows = [
        [
            drive["name"],
            drive["model"],
            number(drive["requests"]),
            number(drive["commands"]),
            f"{100 * drive['utilisation']:.1f} %",
            number(drive["queue_mean"], 3),
            number(drive["queue_max"]),
            f"{100 * drive['assumed_share']:.0f} %",
        ]
        for drive in run.summary["drives"]
    ]
    columns = [
        "drive", "model", "requests", "commands", "utilisation", "mean queue depth", "max queue depth", "values assumed",
    ]  # fmt: skip
    text = (
        "A request counts for the drive of its last command. Utilisation: the share of the time the mechanism worked for commands, reading "
        "ahead left out. Queue depth: commands waiting or in service, its mean over the time."
    )
    return Section("Drives", text, columns=columns, rows=rows, text_columns=2)


def _conditions(run: Run) -> Section:
    text = (
        "How long drives were in their power conditions, and on the ways in and out. Commands that needed the arm waited while a "
        "drive recovered: it counts in their response as other time."
    )
    rows = [list(row) for row in condition_rows(run.summary)]
    return Section("Power conditions", text, columns=list(CONDITION_COLUMNS), rows=rows, text_columns=2)


def _power(run: Run) -> Section:
    known = [drive for drive in run.summary["drives"] if "power" in drive]
    states = ["idle", "seek", "rotation", "read", "write"]
    states += ["resting"] if any("conditions" in drive for drive in known) else []
    rows = [
        [
            drive["name"],
            number(drive["power"]["average_w"]),
            *(number(drive["power"]["by_state_w"].get(state, 0.0)) for state in states),
            number(drive["power"]["energy_j"], 1),
        ]
        for drive in known
    ]
    missing = len(run.summary["drives"]) - len(known)
    text = "Mean power, and what it was drawn for; the states add up to it."
    if missing:
        text += f" The watts of {missing} of the drives are not known."
    return Section(
        "Power", text, columns=["drive", "mean (W)", *(f"{state} (W)" for state in states), "energy (J)"], rows=rows
    )


def _buses(run: Run) -> Section:
    rows = [
        [
            bus["name"],
            f"{100 * bus['utilisation']:.1f} %",
            number(bus["grants"]),
            number(bus["queue_max"]),
            number(bus["wait_ms"]["mean"], 3),
            number(bus["wait_ms"]["max"], 3),
        ]
        for bus in run.summary["buses"]
    ]
    columns = ["bus", "utilisation", "transfers", "max queue depth", "mean wait (ms)", "max wait (ms)"]
    return Section("Buses", columns=columns, rows=rows)


def _cache(run: Run) -> Section:
    cache, requests = run.summary["cache"], run.summary["requests"] or 1
    names = {
        "read_hits": "reads served from the cache",
        "read_partial_hits": "reads served in part from the cache or by read-ahead under way",
        "read_misses": "reads from the media",
        "writes_reported_early": "writes reported complete before they were on the media",
    }
    rows = [[name, number(cache[key]), f"{100 * cache[key] / requests:.1f} %"] for key, name in names.items()]
    return Section("Cache", columns=["requests", "count", "share of all"], rows=rows)


def _answer(summary: Mapping[str, Any]) -> str:
    """How long requests take, in a sentence."""
    response = summary["response_ms"]
    if response["mean"] is None:
        return "No request was completed."
    phase, time = max(summary["phases_ms"].items(), key=lambda each: each[1])
    apart = ""
    if is_mixed(summary):
        of = {each: duration(summary[each]["response_ms"]["p99"]) for each in DIRECTIONS}
        apart = " (" + ", ".join(f"{each} {time}" for each, time in of.items()) + ")"
    mean, p99 = durations(response["mean"], response["p99"])
    return (
        f"A request takes {mean} on average, and 99 % take at most {p99}"
        f"{apart}; "
        f"the largest part is {phase}, {100 * time / (response['mean'] or 1):.0f} % of the mean."
    )
