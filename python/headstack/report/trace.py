"""The page of a trace: the seven views of Johnson et al. (1987), and what a host of today adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.report import causes
from headstack.report import trace_charts as charts
from headstack.report.losses import from_dispatch_words, lost_words
from headstack.report.page import Number, Page, Section
from headstack.report.tables import brief, durations, large, size, span
from headstack.shown import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headstack.results.analyses import Analysis, Bursts


def trace_page(name: str, about: Analysis) -> Page:
    """The page: key numbers, notices of what is missing, the views."""
    notices = [*_notices(about)]
    if about["response_ms"] and about["fleet"]:
        notices.insert(0, causes.fleet_sentence(about["fleet"], about["by_device"]))
    sections = [section for section in _sections(about) if section.chart is not None or section.rows]
    return Page(
        title=name,
        subtitle=f"{plural(about['requests'], 'request')} in {span(about['span_s'])}, read as {about['format']}",
        answer=_answer(about),
        notices=notices,
        numbers=_numbers(about),
        sections=sections,
        cite=_cite(name, about),
    )


def _answer(about: Analysis) -> str:
    """How long responses take and what makes them long; of a trace without completions how much it asks for."""
    response = about["response_ms"]
    if not response:
        reads = 100 * about["reads"] / (about["requests"] or 1)
        rate = f", {about['requests'] / about['span_s']:,.3g} IOPS" if about["span_s"] else ""
        arrive = f"{plural(about['requests'], 'request')} {'arrives' if about['requests'] == 1 else 'arrive'}"
        return f"{arrive} in {span(about['span_s'])}{rate}, {reads:.0f} % of them reads."
    mean, p99 = durations(response["mean"], response["p99"])
    return f"A response takes {mean} on average, and 99 % take at most {p99}. {causes.sentence(about)}"


def _numbers(about: Mapping[str, Any]) -> list[Number]:
    numbers = [
        Number("requests", large(about["requests"]), f"{100 * about['reads'] / (about['requests'] or 1):.0f} % reads"),
        Number("moved", size(about["bytes_read"] + about["bytes_written"]), f"{size(about['bytes_read'])} read"),
    ]
    if about["response_ms"]:
        response, depth = about["response_ms"], about["depth"]
        numbers += [
            Number("mean response", brief(response["mean"]), f"median {brief(response['p50'])}"),
            Number("p99", brief(response["p99"]), f"max {brief(response['max'])}"),
            Number("queue depth at arrival", f"{depth['mean']:.2f}", f"max {depth['max']}"),
        ]
    if about["bursts"] and about["bursts"]["count"]:
        bursts = about["bursts"]
        numbers.append(Number("bursts", number(bursts["count"]), f"{number(bursts['flushes'])} of them flushes"))
    # Not "sequential": `trace info` says that of requests that begin where the one before ended.
    numbers.append(Number("continue a run", f"{100 * about['runs']['sequential_fraction']:.1f} %", "of the last 32"))
    return numbers


def _notices(about: Mapping[str, Any]) -> Iterable[str]:
    notes = about["notes"]
    if notes["bad_records"]:
        yield f"{notes['bad_records']:,} records make no sense and were left out. The first: {notes['first'][0]}"
    if notes["out_of_order"]:
        yield f"{notes['out_of_order']:,} records stand before an earlier one; they were put into order."
    if notes["without_length"]:
        yield f"{notes['without_length']:,} requests move nothing (a length of zero) and were left out."
    if notes["doubled"]:
        yield f"{notes['doubled']:,} lines tell the same as one before: the text, or a part of it, is there twice. Each was read once."
    if words := from_dispatch_words(about):
        yield f"Responses are {words}."
    if lost := lost_words(about):
        yield f"Lost: {'; '.join(lost)}."
    if about.get("orphans"):
        share = 100 * about["orphans"] / (about["orphans"] + about["pairs"])
        yield f"{about['orphans']:,} unpaired events ({share:.2g} %) are not shown."
    if not (about["response_ms"] or about.get("without_queueing")):
        yield "The trace has no completions: there are no response times to show."


def _sections(about: Analysis) -> Iterable[Section]:
    if about["response_ms"]:
        yield Section(
            "How long responses took",
            "Responses by time, both axes logarithmic.",
            charts.by_time(about["by_response"], "response (ms)", "responses"),
        )
        yield Section(
            "By drive",
            "Box: the middle 50 %; line: median; whiskers: farthest within 1.5 times the box; dots: beyond.",
            charts.boxes(about["by_device"][:24]),
            half=True,
        )
        yield Section("By kind", "Reads and writes, flushes and discards.", charts.boxes(about["by_kind"]), half=True)
        yield Section("By size", "Powers of two, each up to the next.", charts.boxes(about["by_size"]), half=True)
        if about["by_interface"]:
            yield Section("Block and raw device", "", charts.boxes(about["by_interface"]), half=True)
        text = "Mean and max response of the requests that begin in each part of the drive."
        for device in about["by_address"][:4]:
            yield Section(
                f"By address, drive {device['device']}",
                text,
                charts.by_address(device["bins"], about["sector_bytes"]),
            )
        yield Section("By start", "Mean and max response over the time of arrival.", charts.by_start(about["by_start"]))
        yield Section(
            "Responses over time", "How many responses fall into each cell, by its colour.", charts.heat(about["heat"])
        )
        yield Section(
            "Queue depth at arrival",
            "Requests under way when another arrives: mean and maximum.",
            charts.depth(about["depth"]["over_time"]),
        )
    yield _causes(about)
    yield from _bursts(about["bursts"])
    yield from _load(about)
    yield _layers(about)
    yield _times(about)
    yield _regions(about)
    yield _processes(about)
    yield _quantised(about)


def _load(about: Mapping[str, Any]) -> Iterable[Section]:
    yield Section(
        "What arrives when", "Reads and writes per second of each stretch.", charts.arrivals(about["arrivals"])
    )
    yield Section(
        "Between arrivals",
        "Times from one arrival to the next, both axes logarithmic; what is below a microsecond stands leftmost.",
        charts.by_time(about["by_inter_arrival"], "time between arrivals (ms)", "requests"),
        half=True,
    )
    yield Section(
        "Sizes", "Requests by size: powers of two, each up to the next.", charts.sizes(about["by_size"]), half=True
    )
    for device in about["by_address"][:4]:
        yield Section(
            f"Where requests begin, drive {device['device']}",
            "Requests that begin in each part of the drive.",
            charts.places(device["bins"], about["sector_bytes"]),
        )


def _causes(about: Analysis) -> Section:
    return Section(
        "What reads wait for",
        "Reads while it happens against reads shortly before and after: the ratio of geometric means, each occurrence counted "
        "once. Named is what the 99 % interval sets apart from 1.",
        columns=causes.COLUMNS,
        rows=causes.rows(about),
    )


def _bursts(bursts: Bursts | None) -> Iterable[Section]:
    if not bursts or not bursts["count"]:
        return
    inside, outside = bursts["reads_inside_ms"], bursts["reads_outside_ms"]
    period = f" every {bursts['flush_period_s']:.1f} s" if bursts["flush_period_s"] else ""
    lead = (
        f"{bursts['count']:,} bursts of writes, {bursts['flushes']:,} of them flushes{period}, hold "
        f"{100 * bursts['share_of_writes']:.1f} % of the writes."
    )
    if inside and outside:
        lead += f" A read in a burst takes {brief(inside['mean'])} on average, outside {brief(outside['mean'])}."
    rows = [
        [burst["kind"], number(burst["start_s"], 3), number(burst["length_ms"], 1), number(burst["writes"]),
         number(burst["bytes_written"] / 2**20, 1), number(burst["peak_outstanding"]), number(burst["reads"]),
         number((burst["read_response_ms"] or {}).get("max"), 1)]
        for burst in sorted(bursts["largest"], key=lambda burst: -burst["writes"])[:12]
    ]  # fmt: skip
    columns = [
        "kind",
        "start (s)",
        "length (ms)",
        "writes",
        "MiB",
        "max queue depth",
        "reads",
        "max read (ms)",
    ]
    yield Section(
        "Bursts of writes",
        "A burst: at least 8 writes outstanding at a time. A flush: mostly writes nobody waits for.",
        columns=columns,
        rows=rows,
        lead=lead,
    )


def _layers(about: Mapping[str, Any]) -> Section:
    shares = about.get("btt_overhead_percent") or {}
    rows = [
        [name.upper(), f"{row['min_s']:.9f}", f"{row['mean_s']:.9f}", f"{row['max_s']:.9f}", number(row["count"]),
         f"{shares[name]:.4f} %" if name in shares else ""]
        for name, row in (about.get("btt") or {}).items()
    ]  # fmt: skip
    text = "Times between the layers of the block layer, by queued piece, as btt counts them; shares of Q2C."
    return Section("Between layers", text, columns=["", "min (s)", "mean (s)", "max (s)", "n", "share"], rows=rows)


def _times(about: Mapping[str, Any]) -> Section:
    named = [
        ("response", about["response_ms"]),
        ("wait before the device", about["wait_ms"]),
        ("service", about["service_ms"]),
    ]
    named.append(("between arrivals", about["inter_arrival_ms"]))
    named += [(group["name"], group["response_ms"]) for group in about["by_kind"] + about["by_device"]]
    columns = ("mean", "std", "p50", "p90", "p99", "p999", "max")
    rows = [
        [name, number(times["count"]), *(number(times[key], 3) for key in columns)] for name, times in named if times
    ]
    return Section("Times (ms)", columns=["", "n", "mean", "std", "p50", "p90", "p99", "p99.9", "max"], rows=rows)


def _regions(about: Mapping[str, Any]) -> Section:
    sector = about["sector_bytes"]
    rows = [
        [region["device"], number(region["first_lba"]), f"{region['sectors'] * sector / 2**20:,.1f}",
         number(region["requests"]), f"{100 * region['share']:.1f} %",
         *(number((region["response_ms"] or {}).get(key), 3) for key in ("mean", "max"))]
        for region in about["hot_regions"][:12]
    ]  # fmt: skip
    columns = ["device", "first LBA", "MiB", "requests", "share", "mean (ms)", "max (ms)"]
    return Section("Hot regions", columns=columns, rows=rows)


def _processes(about: Mapping[str, Any]) -> Section:
    rows = [
        [group["name"], number(group["requests"]), f"{100 * group['reads'] / (group['requests'] or 1):.0f} %",
         f"{group['bytes'] / 2**20:,.1f}", number(group["response_ms"]["mean"], 3) if group["response_ms"] else "–"]
        for group in about["by_process"]
    ]  # fmt: skip
    return Section("By process", columns=["process", "requests", "reads", "MiB", "mean response (ms)"], rows=rows)


def _quantised(about: Mapping[str, Any]) -> Section:
    seen = about["quantised"]
    if not seen:
        return Section("")
    names = (("mean", "mean"), ("median", "p50"), ("p99", "p99"), ("standard deviation", "std"))
    rows = [[name, number(seen["response_ms"][key], 3), number(seen["seen_ms"][key], 3)] for name, key in names]
    text = (
        f"{100 * seen['at_0_ticks']:.1f} % of the responses would seem to take no time. The mean is not biased; the clock "
        f"adds a deviation of {seen['std_added_expected_ms']:.3f} ms."
    )
    title = f"As a clock of {seen['ticks_per_s']} ticks a second sees it (ms)"
    return Section(title, text, columns=["", "true", "seen"], rows=rows)


def _cite(name: str, about: Mapping[str, Any]) -> list[tuple[str, str]]:
    from headstack import __version__

    kind = about["response_ms"]["quantiles"] if about["response_ms"] else "none"
    return [("headstack", __version__), ("trace", name), ("format", about["format"]), ("quantiles", kind)]
