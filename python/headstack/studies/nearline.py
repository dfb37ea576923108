"""Drives of today: what makers and others published of them, beside the library's models of the class.

The schedulers are those of the drive files: a drive that gets a better one is scored with it.
"""

from __future__ import annotations

import csv
import itertools
from typing import TYPE_CHECKING, cast

import headstack
from headstack.checks.deep import Bench
from headstack.checks.sheets import COLUMNS, WITHIN, all_actuators_mb_per_s, published_drives, sheet_rows, table
from headstack.report.page import Section
from headstack.studies.framework import Row, about, at_least, at_most, data_file, not_testable
from headstack.studies.repeats import LIMITED, Case, each, estimate, run_all

if TYPE_CHECKING:
    from pathlib import Path

    from headstack.checks.sheets import SheetRow
    from headstack.studies.framework import Progress

TITLE = "Do the drives of today behave as their makers and users measured them?"
PAPER = (
    "The queue-depth curve of a 22 TB drive in WD's cdl-tools, 2023; data sheets of the Exos X18, X20, X24 and 2X18; "
    "tomshw.it on write caches; press on dual actuators"
)

CURVE_FILE = "published/cdl-22tb-randread-128k.csv"
CURVE_DRIVE = "nearline-22tb"
CACHE_DRIVE = "nearline-18tb"
DUAL_DRIVE = "dual-actuator-18tb"
DEPTHS = (1, 2, 4, 8, 16, 24, 32)
SEEDS = range(1, 5)
LIMITED_SEEDS = range(1, 17)
CURVE_REQUESTS = 6000
WARMUP = 400
# The published figures are digitised, 0.3 IOPS and 1 ms.
IOPS_WITHIN, P99_WITHIN = 0.03, 0.10
OTHER_SCHEDULERS = ("fcfs", "sptf")

CACHE_MIB = (4, 16, 48, 64, 96, 128, 192, 255)
# 4 KiB random writes, write cache on: drives of 8 and 10 TB, and the data sheets.
LEAST_WRITES, MOST_WRITES = 315.0, 550.0
SEQUENTIAL_KIB = (64, 1024, 16384)
LONG_READ_MS = 1000.0
LIMIT_MS, LIMITED_SHARE = 50.0, 0.2
LIMITED_IOPS_WITHIN, LIMITED_P99_WITHIN = 0.05, 0.10
PERCENTILES = {
    "limited": {"IOPS": 31.1, "mean": 33.73, "p1": 13, "p10": 17, "p50": 30, "p90": 56, "p99": 68, "p99.9": 77},
    "others": {
        "IOPS": 123.2, "mean": 250.07, "p1": 21, "p5": 58, "p10": 98, "p20": 158, "p50": 264, "p90": 373, "p99": 434,
        "p99.9": 460,
    },
}  # fmt: skip
# The write cache off, as nearline drives have it: what the parameters are is assumed, so that the measured range comes out.
MEDIA_CACHE = (
    "drive.*.write_policy",
    "{ media-cache = { size_kib = 16384.0, places = 16, cleaned_at_a_time = 16, idle_before_cleaning_ms = 100.0, "
    "runs_compared = 3 } }",
)
LEAST_LOGGED, MOST_LOGGED = 315.0, 405.0
STARVED_MS = 4000.0
SEQUENTIAL_FIRST = ("drive.*.controller.scheduler", f"asptf(0.03)+sequential-first({STARVED_MS:g} ms)")
# Ten seconds and more of a scrub.
SCRUB_REQUESTS = 4000


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Compare; the curve and its chart need the data."""
    say = progress or (lambda _: None)
    rows: list[Row] = []
    sections: list[Section] = []
    curve = data_file(data, CURVE_FILE)
    for what, part in (
        ("queue depth", lambda: _curve(curve)),
        ("data sheets", _sheets),
        ("write cache", _write_cache),
        ("two actuators", _actuators),
    ):
        say(what)
        found, shown = part()
        rows += found
        sections += shown
    return rows, sections


# ---- a maker's own curve ----


def _depth_workload(depth: int, limited: float = 0.0) -> str:
    return (
        f"requests = {CURVE_REQUESTS + WARMUP}\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 128\nalign_kib = 128\n"
        f"think.constant_ms = 0\nusers = {depth}\nduration_limit_fraction = {limited}\n"
    )


def _curves(schedulers: tuple[str | None, ...]) -> dict[str | None, dict[int, tuple[tuple[float, float], ...]]]:
    """For each scheduler (none: the drive's own) and depth: IOPS and p99, each with the half-width of its interval."""
    over = {name: () if name is None else (("drive.*.controller.scheduler", name),) for name in schedulers}
    cases = {
        (name, depth): [Case(CURVE_DRIVE, _depth_workload(depth), over[name], seed, WARMUP) for seed in SEEDS]
        for name in schedulers
        for depth in DEPTHS
    }
    done = run_all(case for cell in cases.values() for case in cell)
    return {
        name: {
            depth: (
                estimate([1000 / done[case].per_request for case in cases[name, depth]]),
                estimate([done[case].p99 for case in cases[name, depth]]),
            )
            for depth in DEPTHS
        }
        for name in schedulers
    }


def _curve(file: Path | None) -> tuple[list[Row], list[Section]]:
    curves = _curves((None, *OTHER_SCHEDULERS))
    if file is None:
        note = f"needs {CURVE_FILE} of the data"
        rows = [
            not_testable(
                f"curve-{what}-{depth}", f"22 TB, 128 KiB random reads, queue depth {depth}: {what}", None, unit, note
            )
            for depth in DEPTHS
            for what, unit in (("iops", "IOPS"), ("p99", "ms"))
        ]
        return rows, _curve_sections(curves, None)
    with file.open(encoding="utf-8", newline="") as text:
        published = {
            int(row["queue_depth"]): row for row in csv.DictReader(line for line in text if not line.startswith("#"))
        }
    rows = []
    for depth in DEPTHS:
        (iops, iops_ci), (p99, p99_ci) = curves[None][depth]
        theirs = published[depth]
        claim = f"22 TB, 128 KiB random reads, queue depth {depth}"
        target, wait = float(theirs["baseline_iops"]), float(theirs["baseline_p99_ms"])
        rows.append(
            about(
                f"curve-iops-{depth}", f"{claim}: IOPS", target, iops, "IOPS", within=IOPS_WITHIN * target, ci95=iops_ci
            )
        )
        rows.append(
            about(f"curve-p99-{depth}", f"{claim}: p99", wait, p99, "ms", within=P99_WITHIN * wait, ci95=p99_ci)
        )
    return rows + _limited(published), _curve_sections(curves, published)


def _limited(published: dict[int, dict[str, str]]) -> list[Row]:
    """A fifth of the reads under a duration limit."""
    limit = (("drive.*.controller.duration_limit_ms", str(LIMIT_MS)),)
    cases = {
        depth: [Case(CURVE_DRIVE, _depth_workload(depth, LIMITED_SHARE), limit, seed, WARMUP) for seed in LIMITED_SEEDS]
        for depth in DEPTHS
    }
    done = run_all(case for cell in cases.values() for case in cell)
    rows = []
    for depth, cell in cases.items():
        runs = [done[case] for case in cell]
        for key, what, unit, within, ours in (
            ("cdl50_total_iops", "total IOPS", "IOPS", LIMITED_IOPS_WITHIN, [1000 / run.per_request for run in runs]),
            ("cdl50_nolimit_p99_ms", "p99 of the others", "ms", LIMITED_P99_WITHIN, [run.others_p99 for run in runs]),
            ("cdl50_limited_p99_ms", "p99 of the limited", "ms", LIMITED_P99_WITHIN, [run.limited_p99 for run in runs]),
        ):
            (value, ci95), target = estimate(ours), float(published[depth][key])
            id_ = f"{key.removesuffix('_ms').replace('_', '-')}-{depth}"
            claim = f"22 TB, 128 KiB random reads, queue depth {depth}, 20 % limited to 50 ms: {what}"
            rows.append(about(id_, claim, target, value, unit, within=within * target, ci95=ci95))
    return rows + _percentiles()


def _percentiles() -> list[Row]:
    """What the maker's page says in words of the two classes at queue depth 32."""
    found = each(_classes, [(seed,) for seed in LIMITED_SEEDS])
    rows = []
    for name, published in PERCENTILES.items():
        for what, target in published.items():
            value, ci95 = estimate([classes[name][what] for classes in found])
            within, unit = (LIMITED_IOPS_WITHIN, "IOPS") if what == "IOPS" else (LIMITED_P99_WITHIN, "ms")
            id_ = f"cdl50-{name}-{what.lower().replace('.', '')}-in-words"
            claim = f"22 TB, queue depth 32, 20 % limited to 50 ms: {what} of the {name}"
            rows.append(about(id_, claim, target, value, unit, within=within * target, ci95=ci95))
    return rows


def _classes(seed: int) -> dict[str, dict[str, float]]:
    """IOPS, mean and percentiles of the requests under a limit and of the others, at queue depth 32."""
    import polars as pl

    system = headstack.System(CURVE_DRIVE, overrides={"drive.*.controller.duration_limit_ms": LIMIT_MS})
    workload = headstack.Workload(toml=_depth_workload(32, LIMITED_SHARE))
    run = headstack.simulate(system, workload, seed=seed, warmup_requests=WARMUP, threads=1)
    rows = pl.DataFrame(run.completions).filter(pl.col("id") >= WARMUP)
    ms, is_limited = (pl.col("finish_ns") - pl.col("arrival_ns")) / 1e6, pl.col("flags") // LIMITED % 8 > 0
    rows = rows.select(ms=ms, is_limited=is_limited)
    found: dict[str, dict[str, float]] = {}
    for name, times in (
        ("limited", rows.filter("is_limited")["ms"]),
        ("others", rows.filter(~pl.col("is_limited"))["ms"]),
    ):
        found[name] = {"IOPS": run.summary["iops"] * len(times) / len(rows), "mean": cast("float", times.mean())}
        for what in PERCENTILES[name]:
            if what.startswith("p"):
                found[name][what] = times.quantile(float(what[1:]) / 100, "higher") or 0.0
    return found


def _curve_sections(
    curves: dict[str | None, dict[int, tuple[tuple[float, float], ...]]], published: dict[int, dict[str, str]] | None
) -> list[Section]:
    from headstack.report.curves import lines

    sections = []
    for index, (title, column) in enumerate((("IOPS", "baseline_iops"), ("p99 (ms)", "baseline_p99_ms"))):
        shown: dict[str, list[tuple[float, float]]] = {}
        if published is not None:
            shown["published"] = [(depth, float(published[depth][column])) for depth in DEPTHS]
        for name, points in curves.items():
            shown[name or "the drive file's scheduler"] = [(depth, points[depth][index][0]) for depth in DEPTHS]
        text = (
            f"Random 128 KiB reads of all of a 22 TB drive in a closed loop, model {CURVE_DRIVE}. Its seek curve was scaled to "
            "the published IOPS at depth 1; nothing was fitted to the rest."
        )
        sections.append(Section(f"{title} against queue depth", text, lines(shown, "queue depth", title), half=True))
    return sections


# ---- data sheets ----


def _sheets() -> tuple[list[Row], list[Section]]:
    found = [row for drive in published_drives(of_today=True) for row in sheet_rows(drive)]
    rows = [_sheet_row(row) for row in found]
    return rows, [
        Section("Data sheets beside the models", SHEET_TEXT, columns=COLUMNS, rows=table(found), text_columns=3)
    ]


SHEET_TEXT = (
    "Rates within 2 %, IOPS within 10 %, times within 5 %. A figure that is remembered was not checked against the data sheet. "
    "One that is read back went into the drive file."
)


def _sheet_row(row: SheetRow) -> Row:
    id_ = f"sheet-{row.drive}-{row.what.replace(',', '').replace(' ', '-')}"
    claim = f"{row.sheet}: {row.what} (model {row.drive})"
    source = f"{row.source}, {row.kind}" + (f"; {row.note}" if row.note else "")
    if row.model is None:
        return not_testable(id_, claim, row.published, row.unit, source)
    return about(id_, claim, row.published, row.model, row.unit, within=WITHIN[row.unit] * row.published, note=source)


# ---- write caches ----


def _write_cache() -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    bench = Bench(CACHE_DRIVE)
    by_size = {size: Bench(CACHE_DRIVE, write_cache_mib=size).iops("write", 1) for size in CACHE_MIB}
    rows = [
        *_cached_writes(bench),
        *_logged_writes(),
        *_more_cache(by_size),
        *_sequential_writes(),
        *_long_reads(bench),
    ]
    rows.append(_synchronous_writes(bench))
    chart = lines({"queue depth 1": list(by_size.items())}, "write cache (MiB)", "IOPS")
    text = f"4 KiB random writes in a closed loop after the write cache is full, model {CACHE_DRIVE}; published: 315 to 550."
    return rows, [Section("Random writes against the size of the write cache", text, chart)]


def _cached_writes(bench: Bench) -> list[Row]:
    rows = []
    for depth in (1, 16):
        iops, off = bench.iops("write", depth), bench.iops("write", depth, off=True)
        claim = f"18 TB, write cache on, 4 KiB random writes, queue depth {depth}"
        published = "tomshw.it: He8, WD Gold 8 TB"
        rows += [
            at_least(f"write-least-{depth}", claim, LEAST_WRITES, iops, "IOPS", note=published),
            at_most(f"write-most-{depth}", claim, MOST_WRITES, iops, "IOPS", note="data sheets of the class"),
            at_least(
                f"write-on-off-{depth}", f"{claim}: against the cache off", 1.0, iops / off, "times", note="own aim"
            ),
        ]
    return rows


def _logged_writes() -> list[Row]:
    """The write cache off: a media cache."""
    bench = Bench(CACHE_DRIVE, replaced=MEDIA_CACHE)
    rows, iops = [], {depth: bench.iops("write", depth) for depth in (1, 16, 32, 128, 256)}
    for depth, logged in iops.items():
        claim = f"18 TB, write cache off and a media cache, 4 KiB random writes, queue depth {depth}"
        note = "tomshw.it: He8, WD Gold 8 TB, a 10 TB drive, He10"
        rows.append(at_least(f"media-cache-least-{depth}", claim, LEAST_LOGGED, logged, "IOPS", note=note))
        rows.append(at_most(f"media-cache-most-{depth}", claim, MOST_LOGGED, logged, "IOPS", note=note))
    rows.append(at_most("media-cache-sag", "the same, queue depth 256 against 32: two of four drives sag", 0.95,
                        iops[256] / iops[32], "times", note="tomshw.it, from a chart; by how much is not known, less than 5 % would be chance; SATA drives hold 32 commands, so that beyond that the host's queue differs, not the drive's"))  # fmt: skip
    return rows


def _more_cache(by_size: dict[int, float]) -> list[Row]:
    claim = "18 TB, 4 KiB random writes, queue depth 1"
    pairs = itertools.pairwise(CACHE_MIB)
    least = min(by_size[larger] / by_size[smaller] for smaller, larger in pairs)
    smallest, largest = CACHE_MIB[0], CACHE_MIB[-1]
    return [
        at_least("write-more-cache", f"{claim}: {largest} MiB of write cache against {smallest}", 1.2,
                 by_size[largest] / by_size[smallest], "times", note="own aim: more cache helps"),
        at_least("write-any-more-cache", f"{claim}: each size of {CACHE_MIB} MiB against the one before, least", 1.0,
                 least, "times", note="own aim"),
        about("write-twice-the-cache", f"{claim}: 96 MiB of write cache against 48", 405 / 315,
              by_size[96] / by_size[48], "times", within=0.1 * 405 / 315,
              note="tomshw.it: He10 with 256 MB of memory, He8 with 128 MB; other things differ, too"),
    ]  # fmt: skip


def _sequential_writes() -> list[Row]:
    rows = []
    for kib in SEQUENTIAL_KIB:
        sized = Bench(CACHE_DRIVE, sequential_kib=kib)
        write, read = (sized.sequential("outer", op)["mb_per_s"] for op in ("write", "read"))
        claim = f"18 TB, sequential writes of {kib} KiB against reads, write cache on"
        rows.append(at_least(f"write-sequential-{kib}", claim, 0.95, write / read, "times", note="own aim"))
    return rows


def _long_reads(bench: Bench) -> list[Row]:
    mixed = bench.mixed()
    preferring = Bench(CACHE_DRIVE, replaced=SEQUENTIAL_FIRST)
    claim = "single 4 KiB reads beside a sequential reader, both at queue depth 1"
    return [
        at_most("longest-read", "18 TB, two readers beside eight writers, the write cache full: longest read", LONG_READ_MS,
                mixed.longest_ms["read"], "ms", note="QNAP and ULINK call longer ones long-latency reads"),
        at_most("scrub-fair-read", f"18 TB, {claim}: longest", LONG_READ_MS, _scrubbed_ms(bench), "ms", note="own aim"),
        about("scrub-longest-read", f"14 TB, {claim}, firmware that prefers sequential reads: longest", STARVED_MS,
              _scrubbed_ms(preferring), "ms", within=0.1 * STARVED_MS,
              note="openzfs PR 11166; the limit of 4 s is the drive's parameter, that reads reach it is the model's"),
    ]  # fmt: skip


def _scrubbed_ms(bench: Bench) -> float:
    """The longest single read beside a scrub."""
    import polars as pl

    streams = "".join(
        f"[[stream]]\nread_fraction = 1.0\nthink.constant_ms = 0\nusers = 1\nsize.fixed_kib = {kib}\nalign_kib = {kib}\n"
        f"sequential_fraction = {sequential}\n"
        for kib, sequential in ((1024, 1.0), (4, 0.0))
    )
    rows = pl.DataFrame(bench.run_streams(streams, SCRUB_REQUESTS, 0).completions)
    single = rows.filter(pl.col("sectors") * bench.sector_bytes == 4096)
    return float((single["finish_ns"] - single["arrival_ns"]).max() or 0) / 1e6  # pyright: ignore[reportArgumentType]


def _synchronous_writes(bench: Bench) -> Row:
    """In a closed loop a flush before each write is one after the write before."""
    stream = "read_fraction = 0.0\nflush_fraction = 1.0\nusers = 1\nsize.fixed_kib = 4\nalign_kib = 4\n"
    iops = bench.run(stream, 600, 100).summary["iops"]
    return about("sync-writes", "HGST 7K6000 4 TB, 4 KiB random writes with a flush each, cache on (model 18 TB)", 96.0, iops,
                 "IOPS", within=0.25 * 96.0, note="serverfault 857271; a drive of 2014, with other seeks")  # fmt: skip


# ---- two actuators ----


def _actuators() -> tuple[list[Row], list[Section]]:
    bench = Bench(DUAL_DRIVE)
    both, one = all_actuators_mb_per_s(bench), bench.sequential("outer", "read")["mb_per_s"]
    halves = [_random_32(bench, percent) for percent in (100, 50)]
    rows = [
        about("dual-sequential", "two actuators against one, sequential reads", 1.95, both / one, "times", within=0.05,
              note="press and a user's report: 1.9 to 2.0"),
        about("dual-random", "two actuators against one, random 4 KiB reads, queue depth 32", 1.85, halves[0] / halves[1],
              "times", within=0.10, note="Microsoft, in the press: 1.75 to 1.95; one: only the first half of the addresses"),
    ]  # fmt: skip
    return rows, []


def _random_32(bench: Bench, percent: int) -> float:
    """Random reads a second over the first so many percent of the addresses."""
    stream = f"read_fraction = 1.0\nusers = 32\nsize.fixed_kib = 4\nalign_kib = 4\nrange_percent = [0, {percent}]\n"
    return bench.run(stream, 6000, WARMUP).summary["iops"]
