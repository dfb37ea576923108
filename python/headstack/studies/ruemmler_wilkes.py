"""Ruemmler & Wilkes 1994: how much detail a drive model needs, on the trace their figures were made from."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import headstack
from headstack.calibration.retries import retries_words
from headstack.counted import plural
from headstack.studies.framework import Progress, Row, about, at_least, at_most, data_file, not_testable

if TYPE_CHECKING:
    from pathlib import Path

    from headstack.report.page import Section

TITLE = "How much detail does a disk drive model need?"
PAPER = "Ruemmler & Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994"

TRACE = "hp/ajw.1week.srt"
MICHIGAN_TRACE = "validate/hp_c2247a.trace"
MISSING = f"needs {TRACE}, the C2200A week: give its directory with --data"

# The C2200A as Table 2 prints it; the drive file has what the trace shows beyond that.
PRINTED = [
    ("rotation_rpm", "4002.0"),
    ("layout.zone.0.cylinder_skew_sectors", "43.0"),
    ("seek.two-piece.first_ms", "[4.047]"),
    ("seek.two-piece.long_ms", "[10.8, 0.012]"),
    ("mechanics.read_settle_ms", "0.0"),
    ("controller.read_overhead_ms", "1.1"),
    ("controller.write_overhead_ms", "5.1"),
    ("controller.write_data_after_ms", "0.0"),
    ("buffer.read_fence_kib", "8.0"),
    ("bus.reconnect_us", "0.0"),
]

# What S0 says of real spindles: within 0.5 to 1 % of the nominal speed, and slowly varying.
REAL_SPINDLE = [("spindle.error_percent", "0.5"), ("spindle.drift_ppm", "200.0")]

# A hit of 8 KiB: 2.2 ms of overhead and 0.82 ms on the bus.
QUICK_MS = 3.1

# Random 8 KiB requests one after the other: what the maker calls an access.
RANDOM_8K = """
seed = 1
requests = 40_000
[[stream]]
read_fraction = 0.5
size.fixed_kib = 8
align_kib = 1
think.exponential_ms = 7.0
"""


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Check every number of the paper that can be checked."""
    say = progress or (lambda _: None)
    say("layout and seek curves")
    rows = [*_layout(), *_seek_values()]
    say("average access times")
    rows += _accesses()
    trace = data_file(data, TRACE)
    sections: list[Section] = []
    if trace is None:
        rows += _untestable()
    else:
        found, sections = _ladder(trace, say)
        rows += found
        say("the linear seek curve")
        rows += _linear_seeks(trace)
        say("the host's queue")
        rows += _host(trace)
    say("the cache of the 97560")
    rows += _cache()
    say("the C2247")
    rows += _michigan(data)
    rows += _conclusions(rows)
    return rows, sections


def _printed(name: str) -> list[tuple[str, str]]:
    return PRINTED if name == "hp-c2200a" else []


def _layout() -> list[Row]:
    drive = headstack.Drive("hp-97560")
    last = drive.capacity_sectors - 1
    first, end = drive.locate(0), drive.locate(last)
    tracks = sum(1 for _ in _tracks(drive, 12_255))
    return [
        about("a1-sectors", "97560: data sectors", 2_647_080, drive.capacity_sectors, "sectors", within=0),
        about("a1-region", "97560: tracks in the first region", 12_255, tracks, "tracks", within=0),
        about("a1-first-cylinder", "97560: cylinder of the first sector", 1, first.cylinder, "cylinder", within=0),
        about("a1-first-head", "97560: head of the first sector", 4, first.head, "head", within=0),
        about("a1-last-cylinder", "97560: cylinder of the last sector", 1952, end.cylinder, "cylinder", within=0),
        about("a1-last-head", "97560: head of the last sector", 18, end.head, "head", within=0),
    ]


def _tracks(drive: headstack.Drive, expected: int) -> Any:
    # The first region ends where the next track begins in cylinder 654: cylinders 647 to 653 are spares.
    per_track = 72
    for track in range(expected + 10):
        if drive.locate(track * per_track).cylinder >= 654:
            return
        yield track


def _seek_values() -> list[Row]:
    rows = []
    for name, label, values in (
        ("hp-97560", "97560", ((1, 3.64), (382, 11.06), (383, 11.06), (1961, 23.69))),
        ("hp-c2200a", "C2200A", ((1, 4.05), (615, 18.26), (616, 18.19), (1448, 28.18))),
    ):
        drive = headstack.Drive(name, overrides=_printed(name))
        for distance, paper in values:
            claim = f"{label}: seek over {plural(distance, 'cylinder')} (Table 2)"
            rows.append(
                about(f"a2-{label.lower()}-{distance}", claim, paper, drive.seek_ms(distance), "ms", within=0.005)
            )
    for name, label, paper in (("hp-97560", "97560", 12.84), ("hp-c2200a", "C2200A", 15.69)):
        mean = headstack.Drive(name, overrides=_printed(name)).seek_averages()["distance_weighted_ms"]
        claim = f"{label}: average seek weighted by possible pairs of cylinders"
        rows.append(
            about(f"a2-{label.lower()}-mean", claim, paper, mean, "ms", within=0.005, note="derived from Table 2")
        )
    return rows


def _accesses() -> list[Row]:
    rows = []
    notes = {
        "hp-c2200a": "Table 2's values; reads and writes in equal parts",
        "hp-97560": "the maker's figure; it does not follow from Table 2, which gives 25.8 ms",
    }
    for name, label, paper in (("hp-c2200a", "C2200A", 33.6), ("hp-97560", "97560", 22.8)):
        plain = headstack.System(name, overrides=_printed(name)).ladder("M3", constant_ms=0.0)
        result = headstack.simulate(plain, headstack.Workload(toml=RANDOM_8K), keep=False)
        mean = result.summary["service_ms"]["mean"]
        claim = f"{label}: average 8 KB access (Table 1)"
        rows.append(about(f"table1-{label.lower()}", claim, paper, mean, "ms", within=0.05 * paper, note=notes[name]))
    return rows


def _untestable() -> list[Row]:
    claims = [
        ("fig4-measured-mean", "C2200A: measured mean", 25.36, "ms"),
        ("fig4a-m0", "M0: demerit of the constant mean", 35.0, "%"),
        ("fig4b-m1", "M1: demerit", 15.0, "%"),
        ("fig4c-m2", "M2: demerit", 6.2, "%"),
        ("fig4d-m3", "M3: demerit", 2.6, "%"),
        ("fig5", "linear against measured seek curve: mean difference", 2.66, "ms"),
        ("c2200a-retries", "C2200A, retries told from days 1-3: demerit on days 4-7, aim", 1.0, "%"),
        ("host-response", "mean response through the C-SCAN driver", 121.8, "ms"),
    ]
    return [not_testable(id_, claim, paper, unit, MISSING) for id_, claim, paper, unit in claims]


def _open(trace: Path) -> headstack.Trace:
    return headstack.Trace(trace, devices=[(0, None)])


def _ladder(trace: Path, say: Progress) -> tuple[list[Row], list[Section]]:
    import polars as pl

    say("the ladder of models")
    validation = headstack.validate("hp-c2200a", _open(trace), ladder=True)
    summary = validation.summary
    rung = {step["step"]: step for step in summary["ladder"]}
    measured = summary["measured_mean_ms"]
    rows = [
        about("fig4-measured-mean", "C2200A: measured mean", 25.36, measured, "ms", within=0.09),
        about("fig4a-m0", "M0: demerit of the constant mean", 35.0, rung["M0"]["demerit_percent"], "%", within=1.5,
              note="M0 has no free parameter: its demerit is σ/mean of the trace"),
        about("fig4b-m1", "M1: demerit", 15.0, rung["M1"]["demerit_percent"], "%", within=1.5),
        about("fig4c-m2", "M2: demerit", 6.2, rung["M2"]["demerit_percent"], "%", within=1.0),
        at_most("fig4d-m3", "M3: demerit", 2.6, rung["M3"]["demerit_percent"], "%"),
        about("fig4c-m2-mean", "M2: mean", 24.31, rung["M2"]["model_mean_ms"], "ms", within=0.5),
        about("fig4d-m3-mean", "M3: mean within 1 % of the measured mean", measured, rung["M3"]["model_mean_ms"], "ms",
              within=0.01 * measured),
    ]  # fmt: skip
    system = headstack.System("hp-c2200a")
    for constant, derived in ((20.0, 10.66), (30.0, 10.32)):
        say(f"a constant {constant:.0f} ms")
        score = headstack.validate(system.ladder("M0", constant_ms=constant), _open(trace)).summary["demerit_ms"]
        claim = f"M0 with {constant:.0f} ms for every request: demerit"
        rows.append(
            about(f"m0-{constant:.0f}", claim, derived, score, "ms", within=0.01, note="derived from the trace")
        )
    say("days 4 to 7")
    late = headstack.Trace(trace, devices=[(0, None)], from_s=3 * 86_400)
    split = headstack.validate("hp-c2200a", late).summary
    rows.append(
        at_most("fig4d-m3-late", "M3 on days 4-7, chosen on days 1-3: demerit", 2.6, split["demerit_percent"], "%")
    )
    rows.append(_retries(trace, summary["requests"], split["requests"]))
    note = "the paper does not tell reads and writes apart; its pooled figure is the bar"
    rows += [
        at_most(f"fig4d-m3-{op}", f"M3, {op} alone: demerit", 2.6, rung["M3"][op]["demerit_percent"], "%", note=note)
        for op in ("reads", "writes")
    ]
    ratio = rung["M0"]["demerit_percent"] / rung["M3"]["demerit_percent"]
    rows.append(at_least("error-factor", "error factor from M0 to M3", 13.5, ratio, "times"))
    from headstack.report.validation import sections as validation_sections

    return rows, validation_sections(summary, pl.DataFrame(validation.times))


def _retries(trace: Path, requests: int, late: int) -> Row:
    """Retries told from days 1 to 3, and days 4 to 7 scored with them.

    The file's values were fitted to those days before; one that both bounds hold stands for them.
    """
    share = (requests - late + 0.5) / requests
    found = headstack.calibrate(
        "hp-c2200a", _open(trace), split=share, parameters=["mechanics.head_switch_ms"], rounds=1, retries=True
    ).summary
    without = found["test"]["after"]["demerit_percent"]
    scored = found["retries"]["test_with"]
    ours = without if scored is None else scored["demerit_percent"]["median"]
    note = f"phase-locked; without retries {without:.2f} %. Days 1-3: {retries_words(found['retries'])}"
    return at_most("c2200a-retries", "C2200A, retries told from days 1-3: demerit on days 4-7, aim", 1.0, ours, "%",
                   note=note, kind="aim")  # fmt: skip


def _linear_seeks(trace: Path) -> list[Row]:
    import polars as pl

    drive = headstack.Drive("hp-c2200a", overrides=PRINTED)
    curve = [0.0, *(drive.seek_ms(distance) for distance in range(1, 1449))]
    slope = (curve[1448] - curve[1]) / 1447
    gaps = [0.0, *(abs(curve[1] + slope * (d - 1) - curve[d]) for d in range(1, 1449))]
    requests = pl.DataFrame(_open(trace)).filter(pl.col("device") == 0).sort("start_ns")
    cylinders = [drive.locate(lba).cylinder for lba in requests["lba"]]
    distances = [abs(after - before) for before, after in pairwise(cylinders)]
    seeks = [distance for distance in distances if distance > 0]
    mean = sum(gaps[distance] for distance in seeks) / len(seeks)
    claim = "linear against measured seek curve: mean difference over the trace's seeks (Figure 5)"
    return [about("fig5", claim, 2.66, mean, "ms", within=0.2)]


def _host(trace: Path) -> list[Row]:
    summary = headstack.simulate("hplajw", _open(trace), keep=False).summary
    claim = "mean response of the traced arrivals through a C-SCAN driver"
    mean = summary["response_ms"]["mean"]
    return [about("host-response", claim, 121.8, mean, "ms", within=12.0, note="121.8 ms is measured in the trace")]


def _service(system: headstack.System, workload: headstack.Workload) -> list[float]:
    """Service times in ms, in order of issue."""
    import polars as pl

    run = pl.DataFrame(headstack.simulate(system, workload).completions)
    return run.select(ms=(pl.col("finish_ns") - pl.col("start_ns")) / 1e6)["ms"].to_list()


def _cache() -> list[Row]:
    note = "the 97560's trace is not available: the model with its cache and a real spindle stands for the drive"
    workload = headstack.Workload("unix-like")
    real = _service(headstack.System("hp-97560", overrides=REAL_SPINDLE), workload)
    system = headstack.System("hp-97560")
    mean = fmean(real)
    percent: dict[str, float] = {}
    for step in ("M0", "M3", "M5"):
        model = _service(system.ladder(step, constant_ms=mean), workload)
        percent[step] = headstack.demerit(real, model)["demerit_percent"]
    quick = 100 * sum(time <= QUICK_MS for time in real) / len(real)
    spread = 100 * pstdev(real) / mean
    return [
        about("fig6-mean", "97560: mean service time", 10.47, mean, "ms", within=0.5,
              kind="input", note="the workload's pace was chosen for this mean and the next row"),
        about("fig6a-quick", f"97560: requests complete within {QUICK_MS:g} ms", 50.0, quick, "%", within=5.0, note=note),
        about("fig6-m0", "97560: M0's demerit is the spread of the times", spread, percent["M0"], "%", within=0.01),
        at_least("fig6a-no-cache", "97560: demerit of a model without the cache", 100.0, percent["M3"], "%",
                 note=f"{note}; the paper prints 112 % (11.7 ms)"),
        at_most("fig6b-cache", "97560: demerit of the model with the cache", 5.7, percent["M5"], "%",
                note=f"{note}; it differs from the model in its spindle only, so this is a lower bound"),
        at_least("fig6-factor", "97560: the cache matters by an order of magnitude", 10.0,
                 percent["M3"] / percent["M5"], "times", note="the paper's factor is 20"),
    ]  # fmt: skip


def _michigan(data: Path | None) -> list[Row]:
    """The C2247 with request-dependent overheads and measured bus rates (M5), on the trace published with DiskSim."""
    trace = data_file(data, MICHIGAN_TRACE)
    claim = "C2247, Michigan's model: demerit with overheads by request and measured bus rates"
    if trace is None:
        note = f"needs {MICHIGAN_TRACE}, from DiskSim's distribution: give its directory with --data"
        return [not_testable("c2247-m5", claim, 1.9, "%", note)]
    scores = headstack.validate("hp-c2247a", trace, replay="closed", ladder=True).summary
    rung = {one["step"]: one["demerit_percent"] for one in scores["ladder"]}
    return [
        at_most("c2247-m5", claim, 1.9, rung["M5"], "%",
                note="0.4 to 1.9 % in the paper, over several workloads; closed replay, imported parameters"),
        at_least("c2247-overheads", "C2247: M5 is better than M4 by", 1.0, rung["M4"] / rung["M5"], "times",
                 note="the paper gives no number"),
    ]  # fmt: skip


def _conclusions(rows: list[Row]) -> list[Row]:
    """S0's order of importance: what each step of detail takes off the demerit, in points."""
    ours = {row.id: row.ours for row in rows}
    m0, m1, m2, m3 = (ours.get(key) for key in ("fig4a-m0", "fig4b-m1", "fig4c-m2", "fig4d-m3"))
    cache = ours.get("fig6a-no-cache")
    if m0 is None or m1 is None or m2 is None or m3 is None or cache is None:
        claim = "order of importance: caching, transfer model, seek curve, rotation"
        return [not_testable("order", claim, None, "", MISSING)]
    steps = [cache, m0 - m1, m1 - m2, m2 - m3]
    in_order = sum(before > after for before, after in pairwise(steps))
    return [
        about("gain-transfer", "the transfer model takes off", 20.0, steps[1], "points", within=3.0,
              note="from M0 to M1; 35 - 15 in the paper"),
        about("gain-seek", "the seek curve and head switches take off", 9.0, steps[2], "points", within=1.5,
              note="from M1 to M2; 15 - 6 in the paper"),
        at_least("gain-rotation", "rotation and layout improve by", 1.9, m2 / m3, "times",
                 note='"a further factor of nearly two"'),
        about("order", "caching > transfer model > seek curve > rotation: steps in order", 3, in_order, "of 3", within=0),
    ]  # fmt: skip


def finding(ours: dict[str, float]) -> str:
    """What each step of detail is worth."""
    steps = [ours.get(name) for name in ("fig4a-m0", "fig4b-m1", "fig4c-m2", "fig4d-m3")]
    if None in steps:
        return ""
    m0, m1, m2, m3 = (float(step or 0) for step in steps)
    return (
        f"Every step of detail pays: the demerit falls from {m0:.1f} % with a constant service time to {m1:.1f} % with the "
        f"transfer, {m2:.1f} % with the seek curve and {m3:.2f} % with rotation and layout."
    )
