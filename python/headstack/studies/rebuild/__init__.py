"""How long rebuilding a drive takes: declustered pools beside published hours, and arrays under a load.

In pools, where nothing else is to do, the drive has few cylinders; what it is rebuilt at in MB/s is what a large one of the same zones
is rebuilt at. Under a load it has all of them, for requests seek over them. Hours are those of 16 TB at the rate.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

from headstack.report.page import Section
from headstack.studies.framework import Row, about, at_least, at_most, data_file, not_testable
from headstack.studies.rebuild import loads
from headstack.studies.rebuild.drive import media_mb_per_s
from headstack.studies.rebuild.pools import Pool, rebuild
from headstack.studies.repeats import each

if TYPE_CHECKING:
    from pathlib import Path

    from headstack.studies.framework import Progress
    from headstack.studies.rebuild.pools import Rebuilt

TITLE = "How long does it take to rebuild a drive, and what do requests notice?"
PAPER = "OpenZFS: hours to rebuild one 16 TB drive of 90 (dRAID, 2020), and the rates in its source and pull requests"

PROCESSOR_S = 240.0
"""At least: a run on a busy machine had used 245 s when it was ended, and was not over."""

FILE = "published/draid-16tb-90hdd-hours.csv"
DRIVES = 90
DATA = range(1, 17)
PARITIES = (1, 2, 3)
# The published hours are read off a picture, to 0.2 h.
WITHIN, READ_OFF = 0.10, 0.2
# The drives' share of a traditional spare does not depend on the width: three of the sixteen widths tell.
TRADITIONAL = (1, 8, 16)
TRADITIONAL_WITHIN = 0.05
# The one width whose published hours the write efficiency is fitted to, with a traditional spare: what the others, and those of a
# distributed spare, make of the same constant is held against theirs.
FITTED_TO = 8
SPREAD = (1, 2, 4, 8, 12, 16)
_SLOWEST = min(limit for limit in loads.LIMITS if limit is not None)


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Rebuild pools and arrays; the published hours need the data."""
    say = progress or (lambda _: None)
    say("pools of 90 drives")
    pools = [Pool(DRIVES, width, parity) for parity in PARITIES for width in DATA]
    pools += [Pool(DRIVES, width, 1, is_distributed=False) for width in TRADITIONAL]
    ours = dict(zip(pools, each(rebuild, [(pool,) for pool in pools]), strict=True))
    published = _published(data_file(data, FILE))
    rows = _hours(ours, published) + _traditional(ours, published)
    say("pools whose drives take writes at a share of their rate")
    rows += _fitted(ours, published)
    say("windows and widths")
    rows += _windows(ours)
    say("arrays under a load")
    found = loads.grid()
    return rows + _under_load(found), [*_pool_sections(ours, published), *_load_sections(found)]


def finding(ours: dict[str, float]) -> str:
    """The answer in a sentence."""
    if "even-width" not in ours or "load-p99" not in ours:
        return ""
    return (
        f"Groups of 10 that fill the 90 drives besides the spare rebuild in {ours['even-width']:.2f} of the time of those that wrap around 89; under "
        f"{max(loads.LOADS)} requests a second RAID 5's p99 while it is rebuilt as fast as it can be is {ours['load-p99']:.1f} "
        f"times that with a limit of {_SLOWEST} MB/s."
    )


def export_rates(path: Path) -> None:
    """Write what loads leave of the rate of a rebuild, for simulators of durability."""
    from headstack.files import write_whole

    write_whole(path, loads.rates_csv())


# ---- published hours ----


def _published(file: Path | None) -> dict[int, dict[str, float]]:
    """By data drives of a group: hours by parity (p1, p2, p3), and with a traditional spare."""
    if file is None:
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        lines = csv.DictReader(line for line in text if not line.startswith("#"))
        return {int(line["data_disks"]): {key: float(value) for key, value in line.items()} for line in lines}


def _row(id_: str, claim: str, hours: float | None, ours: Rebuilt, within: float) -> Row:
    """The published hours against ours of a full drive; the note has those of one that is 90 % full."""
    if hours is None:
        return not_testable(id_, claim, None, "h", f"needs {FILE} of the data")
    off = 100 * (ours.hours / hours - 1)
    note = f"{off:+,.0f} %; 90 % full: {0.9 * ours.hours:.1f} h; {ours.mb_per_s:,.0f} MB/s, drives {ours.utilisation:.0%} busy"
    return about(id_, claim, hours, ours.hours, "h", within=max(within * hours, READ_OFF), note=note)


def _hours(ours: dict[Pool, Rebuilt], published: dict[int, dict[str, float]]) -> list[Row]:
    return [
        _row(
            f"draid-{width}d{parity}p",
            f"16 TB, {DRIVES} drives, {width} data + {parity} parity, distributed spare: hours",
            published.get(width, {}).get(f"p{parity}"),
            ours[Pool(DRIVES, width, parity)],
            WITHIN,
        )
        for parity in PARITIES
        for width in DATA
    ]


def _traditional(ours: dict[Pool, Rebuilt], published: dict[int, dict[str, float]]) -> list[Row]:
    rows = [
        _row(
            f"spare-drive-{width}d1p",
            f"16 TB, {DRIVES} drives, {width} data + 1 parity, spare drive: hours",
            published.get(width, {}).get("traditional_spare"),
            ours[Pool(DRIVES, width, 1, is_distributed=False)],
            TRADITIONAL_WITHIN,
        )
        for width in TRADITIONAL
    ]
    media, spare = media_mb_per_s(), ours[Pool(DRIVES, 8, 1, is_distributed=False)].mb_per_s
    claim = "a spare drive is written at the rate of its media"
    return [*rows, about("spare-drive-rate", claim, media, spare, "MB/s", within=0.02 * media, kind="aim")]


def fitted_efficiency(ours: dict[Pool, Rebuilt], published: dict[int, dict[str, float]]) -> float:
    """The write efficiency at which the traditional spare of one width takes the published hours.

    It is written at the rate of its media, so that hours go with the inverse of the efficiency.
    """
    hours = published[FITTED_TO]["traditional_spare"]
    return min(1.0, round(ours[Pool(DRIVES, FITTED_TO, 1, is_distributed=False)].hours / hours, 3))


def _fitted(ours: dict[Pool, Rebuilt], published: dict[int, dict[str, float]]) -> list[Row]:
    """What one constant, fitted to one width of the traditional spare, makes of the other widths and of the distributed spare."""
    spare = [(width, Pool(DRIVES, width, 1, is_distributed=False), "traditional_spare") for width in DATA]
    spread = [(width, Pool(DRIVES, width, 1), "p1") for width in SPREAD]
    if not published:
        needs = f"needs {FILE} of the data"
        return [not_testable(*_fitted_name(pool), None, "h", needs) for _, pool, _ in spare + spread]
    efficiency = fitted_efficiency(ours, published)
    pools = [replace(pool, write_efficiency=efficiency) for _, pool, _ in spare + spread]
    found = each(rebuild, [(pool,) for pool in pools])
    return [
        _fitted_row(pool, published[width][column], fitted, efficiency)
        for (width, pool, column), fitted in zip(spare + spread, found, strict=True)
    ]


def _fitted_name(pool: Pool) -> tuple[str, str]:
    """Id and claim of a row in which the write efficiency is fitted."""
    kind, spare = ("draid", "distributed spare") if pool.is_distributed else ("spare-drive", "spare drive")
    claim = f"16 TB, {DRIVES} drives, {pool.data} data + {pool.parity} parity, {spare}, write efficiency fitted: hours"
    return f"fitted-{kind}-{pool.data}d{pool.parity}p", claim


def _fitted_row(pool: Pool, hours: float, fitted: Rebuilt, efficiency: float) -> Row:
    is_fitted = pool.data == FITTED_TO and not pool.is_distributed
    whose = "these hours" if is_fitted else f"the hours of {FITTED_TO} data + 1 parity with a spare drive"
    note = f"{100 * (fitted.hours / hours - 1):+.0f} %; write efficiency {efficiency:g}, fitted to {whose}"
    within = max((WITHIN if pool.is_distributed else TRADITIONAL_WITHIN) * hours, READ_OFF)
    kind = "input" if is_fitted else "fitted"
    return about(*_fitted_name(pool), hours, fitted.hours, "h", within=within, note=note, kind=kind)


def _windows(ours: dict[Pool, Rebuilt]) -> list[Row]:
    """Rates in OpenZFS's source and pull requests, and what a width that divides the number of drives buys."""
    wide = {window: Pool(106, 11, 2, spares=2, window_mib=window) for window in (32, 64)}
    pools = [Pool(90, 8, 2, spares=2), *wide.values(), Pool(91, 8, 2)]
    found = dict(zip(pools, each(rebuild, [(pool,) for pool in pools]), strict=True))
    rates = {window: found[pool].mb_per_s for window, pool in wide.items()}
    even = found[Pool(91, 8, 2)].hours / ours[Pool(90, 8, 2)].hours
    published = (
        ("rate-8d2p", "8 data + 2 parity, 90 drives, 2 spares, 32 MiB: rate", 800.0, found[pools[0]].mb_per_s),
        ("rate-11d2p", "11 data + 2 parity, 106 drives, 2 spares, 64 MiB: rate", 1200.0, rates[64]),
    )
    rows = [about(id_, claim, rate, ours_, "MB/s", within=0.1 * rate) for id_, claim, rate, ours_ in published]
    saved = 1 - rates[32] / rates[64]
    claim = "11 data + 2 parity, 106 drives: time saved by 64 MiB for 32"
    rows.append(about("window-doubled", claim, 0.17, saved, "", within=0.05))
    claim = "8 data + 2 parity: 91 drives, where the width divides those without the spare, against 90"
    rows.append(at_most("even-width", claim, 0.6, even, "", kind="aim"))
    return rows


def _pool_sections(ours: dict[Pool, Rebuilt], published: dict[int, dict[str, float]]) -> list[Section]:
    from headstack.report.curves import lines

    shown: dict[str, list[tuple[float, float]]] = {}
    for parity in PARITIES:
        shown[f"simulated, parity {parity}"] = [(width, ours[Pool(DRIVES, width, parity)].hours) for width in DATA]
        if published:
            shown[f"published, parity {parity}"] = [(width, published[width][f"p{parity}"]) for width in DATA]
    text = (
        "One 16 TB drive of 90 rebuilt onto a distributed spare, nothing else to do: rows of 16 MiB, chunks of 1 MiB a drive, "
        "32 MiB of data in flight for each drive, three commands at a drive. No number was fitted; what drives do with commands and which members are read was chosen "
        "by what they are known to do, with the published hours at hand. What sets the curve is the layout: all lost data of a slice go to one drive, so that as many drives write as there are slices in flight."
    )
    return [
        Section("Hours to rebuild, by data drives of a group", text, lines(shown, "data drives of a group", "hours"))
    ]


# ---- arrays under a load ----


def _under_load(found: dict[tuple[str, int, int | None, int], loads.Loaded]) -> list[Row]:
    most = max(loads.LOADS)
    raid5 = {limit: found["RAID 5", 64, limit, most] for limit in loads.LIMITS}
    worst = max(one.mb_per_s / limit for (_, _, limit, _), one in found.items() if limit is not None)
    spread, single = (found[f"declustered, 4 + 1{more}", 64, None, 0] for more in (", distributed spare", ""))
    rows = [at_most("load-limit", "rate limits are kept: largest rate over its limit", 1.02, worst, "", kind="aim")]
    slow, full = raid5[_SLOWEST], raid5[None]
    if slow.p99 and full.p99:
        claim = f"RAID 5, {most} IOPS: p99 without a limit over p99 with {_SLOWEST} MB/s"
        rows.append(at_least("load-p99", claim, 1.0, full.p99 / slow.p99, "", kind="aim"))
    claim = "12 drives, 4 + 1, idle: rate onto a distributed spare over that onto a spare drive"
    rows.append(at_least("spread", claim, 1.0, spread.mb_per_s / single.mb_per_s, "", kind="aim"))
    return rows


def _load_sections(found: dict[tuple[str, int, int | None, int], loads.Loaded]) -> list[Section]:
    from headstack.report.curves import lines

    most = max(loads.LOADS)
    shown = {
        f"{kind}, {unit} KiB": [
            (one.hours, one.p99) for limit in loads.LIMITS if (one := found[kind, unit, limit, most]).p99 is not None
        ]
        for kind in loads.KINDS
        for unit in loads.UNITS_KIB
    }
    number = "{:,.1f}".format
    table = [
        [kind, str(unit), "none" if limit is None else str(limit), str(iops), number(one.mb_per_s), number(one.hours),
         "–" if one.p50 is None or not iops else number(one.p50), "–" if one.p99 is None or not iops else number(one.p99)]
        for (kind, unit, limit, iops), one in found.items()
    ]  # fmt: skip
    text = (
        f"{loads.DRIVES} drives under {most} random requests a second of 8 KiB, two thirds of them reads; the points of a line are "
        f"rate limits. Without a load rebuilds go to their end; with one they are looked at for {loads.LOADED_S:g} s, on the outermost tracks. "
        "Hours are those of 16 TB, and MB/s those of the whole surface: a load leaves as much of the time in every zone. "
        "Without a limit the 99th percentile may fall as the load grows: each drive holds up to 32 commands and takes next what is "
        "soonest there, which are the reads of the rebuild, one behind the other; the more requests wait, the sooner one of them is "
        "as near. Each run has one seed, so that tenths of a p99 may be chance."
    )
    columns = ["array", "stripe unit (KiB)", "limit (MB/s)", "IOPS", "MB/s", "hours", "p50 (ms)", "p99 (ms)"]
    return [
        Section("What requests notice, against hours", text, lines(shown, "hours for 16 TB", "p99 (ms)")),
        Section("Arrays under a load", "Every run.", columns=columns, rows=table, text_columns=1),
    ]
