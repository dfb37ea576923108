"""A time-shared host with a buffer cache over four RA81: what its 30 s sync does to reads, and what would cure it.

Everything is seen where the paper traced: at the driver, from the instant a request reaches it to its completion, in
simulated time. The workload's rates and localities are assumed (the paper gives none but the number of records); they were
chosen for that number alone. Where a bound is ours, because the paper only says "most" or "longer", the row says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.report.page import Section
from headstack.studies import johnson_ra81
from headstack.studies.framework import Progress, Row, about, at_least, at_most
from headstack.studies.johnson_runs import (
    POLICIES,
    SEEDS,
    SPAN_S,
    WARMUP_S,
    Host,
    analysed,
    ilist_excess,
    overtaken_writes,
    rank_correlation,
    run_all,
)  # fmt: skip
from headstack.studies.repeats import estimate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from headstack.results.analyses import Analysis

TITLE = "How long do a time-shared host's reads wait for its sync, and what would help?"
PAPER = "Johnson, Smith & Wilson, Disk response time measurements, USENIX winter 1987"

PERCENTILES = (0.5, 0.95, 0.99)


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:  # noqa: ARG001 (needs none)
    """Simulate the host and compare; needs no data."""
    say = progress or (lambda _: None)
    say("the drive")
    rows = johnson_ra81.rows()
    say("the host, under each policy")
    hosts = run_all()
    plain = hosts["as it was"]
    rows += _findings(plain)
    say("the trace of its driver")
    about_trace = analysed(plain[0])
    rows += _ticks(about_trace)
    found, sections = _policies(hosts)
    rows += found
    return rows, [*sections, *_views(about_trace)]


def _over(hosts: list[Host], value: Callable[[Host], float]) -> tuple[float, float]:
    return estimate([value(host) for host in hosts])


def _share(frame: pl.DataFrame, holds: pl.Expr) -> float:
    return frame.select(holds.mean()).item()


def _mean(frame: pl.DataFrame, column: str = "ms") -> float:
    """Of a column that has values."""
    import polars as pl

    return frame.select(pl.col(column).mean()).item()


# ---- R4.11: what the paper found ----


def _findings(hosts: list[Host]) -> list[Row]:
    return [*_responses(hosts), *_sync(hosts), *_places(hosts), *_kinds(hosts), *_drives(hosts)]


def _responses(hosts: list[Host]) -> list[Row]:
    import polars as pl

    ticks = pl.col("ticks")
    rate, rate_ci = _over(hosts, lambda host: host.rows.height / (SPAN_S - WARMUP_S))
    counted, counted_ci = _over(hosts, lambda host: 100 * _share(host.rows.filter(ticks <= 9), ticks <= 5))
    most, most_ci = _over(hosts, lambda host: 100 * _share(host.rows, ticks <= 5))
    zero, zero_ci = _over(hosts, lambda host: 100 * _share(host.rows.filter(ticks <= 9), ticks == 0))
    mean, mean_ci = _over(hosts, lambda host: _mean(host.rows.filter(ticks <= 9), "ticks"))
    longest, longest_ci = _over(hosts, lambda host: host.largest("ticks"))
    dirty = max(host.cache["dirty_max"] for host in hosts)
    printed = "the paper prints 0 to 9 ticks only"
    return [
        about("rate", "requests at the drives (half a million records in 3 h, two a request)", 23.1, rate, "1/s",
              within=4.0, ci95=rate_ci, kind="input", note="the workload was made for this number; the tolerance is ours"),
        about("i-counted", "(i) responses of 0 to 5 ticks among those of 0 to 9", 94.9, counted, "%", within=3.0,
              ci95=counted_ci, note=f"{printed}; the tolerance is ours"),
        at_least("i-most", "(i) responses of at most 5 ticks, among all", 50.0, most, "%", ci95=most_ci,
                 kind="aim", note='"most"; the bound is ours'),
        about("i-zero", "responses of 0 ticks among those of 0 to 9", 5.9, zero, "%", within=2.0, ci95=zero_ci,
              note=f"{printed}; the tolerance is ours"),
        about("i-mean", "mean of the responses of 0 to 9 ticks", 2.13, mean, "ticks", within=0.3, ci95=mean_ci,
              note=f"{printed}; the tolerance is ours"),
        at_least("ii-longest", "the longest response", 300.0, longest, "ticks", ci95=longest_ci,
                 note=f"some of the paper's three hours take longer; at most {dirty} of 1,000 buffers are dirty at a time here"),
    ]  # fmt: skip


def _sync(hosts: list[Host]) -> list[Row]:
    import polars as pl

    inside, is_read = pl.col("in_flush"), pl.col("is_read")

    def tail(host: Host) -> float:
        return 100 * _share(host.rows.filter(pl.col("ticks") > 30), inside)

    def slow_reads(host: Host) -> float:
        reads = host.reads
        bound = reads["ms"].quantile(0.99, "higher") or 0.0
        return 100 * _share(reads.filter(pl.col("ms") > bound), inside)

    def factor(host: Host) -> float:
        return _mean(host.reads.filter(inside)) / _mean(host.reads.filter(~inside))

    share, share_ci = _over(hosts, tail)
    slow, slow_ci = _over(hosts, slow_reads)
    delay, delay_ci = _over(hosts, factor)
    flush, flush_ci = _over(hosts, lambda host: 100 * _share(host.rows.filter(is_read), inside))
    window = "from a sync to the end of its last write"
    return [
        at_least("ii-tail", f"(ii) responses beyond 30 ticks that begin {window}", 90.0, share, "%", ci95=share_ci,
                 kind="aim", note="the paper: the tail is sync's; the bound is ours"),
        at_least("iii-slow-reads", f"(iii) the slowest hundredth of the reads: begun {window}", 90.0, slow, "%",
                 ci95=slow_ci, kind="aim", note=f"{flush:.1f} ± {flush_ci:.1f} % of all reads are; the bound is ours"),
        at_least("iii-delay", "(iii) reads then: mean response over that of the other reads", 2.0, delay, "times",
                 ci95=delay_ci, kind="aim", note="the paper: they must wait for the writes; the bound is ours"),
    ]  # fmt: skip


def _places(hosts: list[Host]) -> list[Row]:
    import polars as pl

    ilist = pl.col("in_ilist")

    def ratio(host: Host) -> float:
        drive = host.rows.filter(pl.col("drive") == 1)
        return _mean(drive.filter(ilist)) / _mean(drive.filter(~ilist))

    mean, mean_ci = _over(hosts, ratio)
    excess, excess_ci = _over(hosts, lambda host: ilist_excess(host.rows.filter(pl.col("drive") == 1)))
    return [
        at_least("iv-mean", "(iv) drive 1: mean response in the i-lists over that elsewhere", 1.0, mean, "times",
                 ci95=mean_ci, note="spikes at the i-lists"),
        at_least("iv-density", "(iv) drive 1: the slowest 5 % lie in the i-lists more often than any request does", 1.0,
                 excess, "times", ci95=excess_ci),
    ]  # fmt: skip


def _kinds(hosts: list[Host]) -> list[Row]:
    import polars as pl

    inside, raw, is_read = pl.col("in_flush"), pl.col("origin") == "raw", pl.col("is_read")
    size, size_ci = _over(hosts, lambda host: rank_correlation(host.rows))
    writes, writes_ci = _over(hosts, lambda host: _mean(host.rows.filter(~is_read)) / _mean(host.reads))
    quiet, quiet_ci = _over(hosts, lambda host: 100 * _share(host.rows.filter(raw & ~inside), pl.col("ticks") <= 9))
    # Swapping is rare, and in a short run none of it may fall into a flush.
    swapped = [host for host in hosts if not host.rows.filter(raw & inside).is_empty()]
    sync, sync_ci = _over(
        swapped, lambda host: _mean(host.rows.filter(raw & inside)) / _mean(host.rows.filter(raw & ~inside))
    )
    return [
        about("v-size", "(v) rank correlation of transfer size and response", 0.0, size, "", within=0.2, ci95=size_ci,
              note='"little, if any, relation"; the tolerance is ours'),
        at_least("vi-writes", "(vi) mean response of writes over that of reads", 1.0, writes, "times", ci95=writes_ci),
        at_least("vii-quiet", "(vii) raw transfers outside of a flush that take at most 9 ticks", 90.0, quiet, "%",
                 ci95=quiet_ci, kind="aim", note='"good response times"; the bound is ours: 125 blocks take 3 ticks on the bus'),
        at_least("vii-sync", "(vii) raw transfers during a flush: mean response over that of the others", 2.0, sync,
                 "times", ci95=sync_ci, kind="aim", note='"may have shown extremely poor response time"; the bound is ours'),
    ]  # fmt: skip


def _drives(hosts: list[Host]) -> list[Row]:
    def medians(host: Host) -> float:
        found = [host.drive(drive)["ticks"].quantile(0.5) or 0.0 for drive in (0, 1, 2)]
        return max(found) - min(found)

    def tail(host: Host) -> float:
        longest = [host.largest("ms", drive) for drive in (0, 1, 2)]
        return longest[1] / max(longest[0], longest[2])

    def upper(host: Host, drive: int) -> float:
        quarter, half = (host.drive(drive)["ms"].quantile(share) or 0.0 for share in (0.75, 0.5))
        return quarter / half

    spread, spread_ci = _over(hosts, medians)
    worst, worst_ci = _over(hosts, tail)
    second, second_ci = _over(hosts, lambda host: 2 * upper(host, 2) / (upper(host, 0) + upper(host, 1)))
    return [
        at_most("viii-medians", "(viii) largest difference of the medians of drives 0, 1, 2", 1.0, spread, "ticks",
                ci95=spread_ci, kind="aim", note='"fairly evenly matched"; the bound is ours'),
        at_least("viii-tail", "(viii) longest response of drive 1 over that of drives 0 and 2", 1.0, worst, "times",
                 ci95=worst_ci, note="the paper's drive 1 had the worst"),
        at_least("viii-upper", "(viii) third quartile over median: drive 2's over the mean of drives 0's and 1's", 1.0,
                 second, "times", ci95=second_ci, note="a longer upper half than its median suggests"),
    ]  # fmt: skip


# ---- R4.13: the clock ----


def _ticks(about_trace: Analysis) -> list[Row]:
    seen, bursts = about_trace["quantised"], about_trace["bursts"]
    added = (max(0.0, seen["seen_ms"]["std"] ** 2 - seen["response_ms"]["std"] ** 2)) ** 0.5
    return [
        about("tick-zero", "1/60 s ticks: responses seen as 0 ticks, expected from their true lengths",
              100 * seen["at_0_ticks_expected"], 100 * seen["at_0_ticks"], "%", within=0.5,
              note="derived: a response of r ms is seen as 0 with chance 1 - r/16.7; none of them took no time"),
        about("tick-mean", "1/60 s ticks: bias of the mean response", 0.0, seen["bias_ms"]["mean"], "ms", within=16.7 / 2,
              note=f"derived: none where responses begin anywhere in a tick, but a sync begins on one: up to half a tick. "
                   f"Of the median: {seen['bias_ms']['p50']:.1f} ms; spread added {added:.1f} ms, of one response "
                   f"{seen['std_added_expected_ms']:.1f}"),
        about("trace-period", "`trace analyze` on the driver's requests: time from flush to flush", 30.0,
              bursts["flush_period_s"] or 0.0, "s", within=0.5, note="found from the burst of writes alone"),
    ]  # fmt: skip


# ---- R4.12: the policies ----


def _policies(hosts: dict[str, list[Host]]) -> tuple[list[Row], list[Section]]:
    plain = hosts["as it was"]
    rows = []
    for name in list(POLICIES)[1:]:
        pairs = list(zip(plain, hosts[name], strict=True))
        id_ = name.replace(" ", "-").replace(",", "")
        p99, p99_ci = estimate([a.read_quantile(0.99) / b.read_quantile(0.99) for a, b in pairs])
        variance, variance_ci = estimate([a.read_variance / b.read_variance for a, b in pairs])
        unchanged, unchanged_ci = estimate([b.read_quantile(0.5) / a.read_quantile(0.5) for a, b in pairs])
        rows += [
            at_least(f"{id_}-p99", f"{name}: 99th percentile of read response, before over after", 1.0, p99, "times",
                     ci95=p99_ci, note="the paper proposes it without a number"),
            at_least(f"{id_}-variance", f"{name}: variance of read response, before over after", 1.0, variance, "times",
                     ci95=variance_ci),
            at_most(f"{id_}-median", f"{name}: median of read response, after over before", 1.05, unchanged, "times",
                    ci95=unchanged_ci, kind="aim", note="what it costs the common read; the bound is ours"),
        ]  # fmt: skip
        worst = max(overtaken_writes(host.everything) for host in hosts[name])
        rows.append(
            at_most(f"{id_}-consistent", f"{name}: reads that overtake an older write to the same block", 0.0,
                    float(worst), "requests")
        )  # fmt: skip
    return rows, [_policy_table(hosts), _policy_chart(hosts)]


def _policy_table(hosts: dict[str, list[Host]]) -> Section:
    def cell(values: list[float], digits: int) -> str:
        mean, half = estimate(values)
        return f"{mean:,.{digits}f} ± {half:,.{digits}f}"

    rows = []
    for name, runs in hosts.items():
        quantiles = [cell([host.read_quantile(share) for host in runs], 0) for share in PERCENTILES]
        rows.append([
            name,
            cell([_mean(host.reads) for host in runs], 1),
            cell([host.read_variance**0.5 for host in runs], 0),
            *quantiles,
            cell([host.cache["driver_write_ms"]["mean"] for host in runs], 0),
            cell([float(host.cache["driver_writes"]) for host in runs], 0),
            cell([host.cache["longest_dirty_s"] for host in runs], 1),
        ])  # fmt: skip
    columns = [
        "policy", "reads: mean (ms)", "standard deviation", "median", "p95", "p99", "writes: mean (ms)", "writes",
        "longest dirty (s)",
    ]  # fmt: skip
    text = (
        f"{len(SEEDS)} seeds of {SPAN_S:.0f} s, the first {WARMUP_S:.0f} s left out of the reads; means with 95 % intervals "
        "(Student). Trickle flush (the paper's dribbling): every second the 5 least recently written dirty buffers. Reads first: in the driver, no read "
        "ahead of an older write to the same block. Dirty: from the first write to a buffer to its being on the drive."
    )
    return Section("Policies: read response before and after", text, columns=columns, rows=rows)


def _policy_chart(hosts: dict[str, list[Host]]) -> Section:
    shares = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999]
    shown = {
        name: [(1 - share, estimate([host.read_quantile(share) for host in runs])[0]) for share in shares]
        for name, runs in hosts.items()
    }
    from headstack.report.curves import lines

    chart = lines(shown, "share of reads that take longer", "read response (ms)", log=(True, True))
    return Section("Read response by policy", "Mean over the seeds.", chart)


def _views(about_trace: Analysis) -> list[Section]:
    from headstack.report.trace import trace_page

    return trace_page("", about_trace).sections


def finding(ours: dict[str, float]) -> str:
    """How much longer a read takes while a sync is under way."""
    delay, share = ours.get("iii-delay"), ours.get("iii-slow-reads")
    if delay is None or share is None:
        return ""
    return (
        f"A read that begins during a sync takes {delay:.1f} times as long as others, on average; {share:.0f} % of the slowest "
        "hundredth of the reads begin then."
    )
