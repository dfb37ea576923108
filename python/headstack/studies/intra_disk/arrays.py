"""E8: how few parallel drives hold a load that several ordinary ones hold, at the 90th percentile; and what they draw."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import headstack
from headstack.counted import plural
from headstack.report.page import Section
from headstack.shown import number
from headstack.studies.framework import Row, about, not_testable
from headstack.studies.intra_disk.runs import UNBOUNDED, keeps_up, parallel
from headstack.studies.intra_disk.watts import for_an_arm
from headstack.studies.repeats import each

if TYPE_CHECKING:
    from collections.abc import Iterable

ARMS = (1, 2, 4)
DISKS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20)
# Mean time between arrivals, ms, and how many ordinary drives it is that the others are compared with.
REFERENCES = {8: 4, 4: 8, 1: 16}
# Where the thesis prints how many drives of two and of four arms perform like those.
PRINTED = {8: {2: 2, 4: 1}, 1: {2: 8, 4: 4}}
# What it prints of power, relative to the ordinary drives: 37.1 and 26.2 of 61.4 W at 8 ms, savings of 41 and 60 % at 1 ms.
SAVINGS = {8: {2: 1 - 37.1 / 61.4, 4: 1 - 26.2 / 61.4}, 1: {2: 0.41, 4: 0.60}}
WATTS = {1: 61.4, 2: 37.1, 4: 26.2}
WITHIN_SAVING = 0.05

REQUESTS = 1_000_000
# All curves are first drawn with this share of the requests; arrays that decide are run with all of them.
FIRST_LOOK = 10
STRIPE_KIB, SIZE_KIB = 64, 4
STRIPES_KIB, SIZES_KIB = (16, 64, 256, 1024), (4, 16, 64)
# Requests begin at any multiple of this, so that long ones may lie across two stripe units. Aligned to their own size they never
# would, unless they are longer than one, and the stripe unit would not matter.
ALIGN_KIB = 4
SENSITIVITY_REQUESTS = 50_000
# How much of each drive is used, in percent from its beginning, and the numbers of drives tried.
USED_PERCENT = (50, 25, 10)
USED_DISKS = {8: {2: range(1, 5), 4: range(1, 5)}, 1: {2: range(5, 13), 4: range(3, 10)}}


@dataclass(frozen=True)
class Array:
    """A stripe set of like drives under the synthetic load."""

    arms: int
    disks: int
    gap_ms: int
    stripe_kib: int = STRIPE_KIB
    size_kib: int = SIZE_KIB
    used_percent: int = 100
    """The part of each drive that is used, from its beginning."""

    def system(self) -> headstack.System:
        """The drives, striped where there are several."""
        drives = ", ".join(['"hc-sd"'] * self.disks)
        level = f'level = "raid-0"\nstripe_unit_kib = {self.stripe_kib}\n' if self.disks > 1 else ""
        text = f"[volume.data]\n{level}drives = [{drives}]\n"
        return headstack.System(toml=text, overrides=[UNBOUNDED, *parallel(self.arms).overrides])

    def workload(self, requests: int) -> headstack.Workload:
        """60 % reads, 20 % sequential, Poisson arrivals."""
        text = (
            f"seed = 1\nrequests = {requests}\n[[stream]]\nread_fraction = 0.6\nsequential_fraction = 0.2\n"
            f"size.fixed_kib = {self.size_kib}\nalign_kib = {ALIGN_KIB}\ninter_arrival.exponential_ms = {self.gap_ms}\n"
            f"range_percent = [0, {self.used_percent}]\n"
        )
        return headstack.Workload(toml=text)


Points = dict["Array", "Point | None"]


@dataclass(frozen=True)
class Point:
    """What a run came to: 90th percentile of the response in ms, watts of all drives."""

    p90: float
    average_w: float


def _run(array: Array, requests: int) -> Point | None:
    """The point; none where the array does not keep up."""
    summary = headstack.simulate(array.system(), array.workload(requests), keep=False, threads=1).summary
    if not keeps_up(summary):
        return None
    return Point(summary["response_ms"]["p90"], summary["power"]["average_w"])


def run_arrays(arrays: Iterable[Array], requests: int) -> Points:
    """Each of them, none where it does not keep up."""
    ordered = list(dict.fromkeys(arrays))
    return dict(zip(ordered, each(_run, [(array, requests) for array in ordered]), strict=True))


def _deciding(found: Points) -> list[Array]:
    """The ordinary drives, what performs like them by the first look, one drive more and one less, and what the thesis prints."""
    arrays = []
    for gap, reference in REFERENCES.items():
        arrays.append(Array(1, reference, gap))
        ordinary = found[arrays[-1]]
        for arms in ARMS[1:]:
            even = None if ordinary is None else break_even(_p90s(found, gap, arms), ordinary.p90)
            numbers = [] if even is None else [even - 1, even, even + 1]
            if gap in PRINTED:
                numbers.append(PRINTED[gap][arms])
            arrays += [Array(arms, disks, gap) for disks in numbers if disks > 0]
    return arrays


def break_even(p90: dict[int, float], wanted: float) -> int | None:
    """The fewest disks whose 90th percentile is no longer than the one that is wanted; none if no number of them does."""
    return next((disks for disks in sorted(p90) if p90[disks] <= wanted), None)


def study(requests: int = REQUESTS, sensitivity: int = SENSITIVITY_REQUESTS) -> tuple[list[Row], list[Section]]:
    """The rows, p90 against the number of disks, and how far stripe unit and request size matter."""
    cells = [Array(arms, disks, gap) for gap, arms, disks in product(REFERENCES, ARMS, DISKS)]
    found = run_arrays(cells, requests // FIRST_LOOK)
    found |= run_arrays(_deciding(found), requests)
    local = run_arrays(_partly_used(), sensitivity)
    rows = [row for gap in PRINTED for row in rows_at(gap, found)]
    rows += [_drives(gap, arms, local, USED_PERCENT[-1]) for gap in PRINTED for arms in PRINTED[gap]]
    return rows, [*_charts(found), _table(found), _locality(found | local), _sensitivity(sensitivity)]


def alike(rows: Iterable[Row]) -> dict[int, dict[int, int]]:
    """How many drives perform alike by the rows of `study`, by time between arrivals and number of arms."""
    ours = {row.id: row.ours for row in rows}
    found: dict[int, dict[int, int]] = {}
    for gap, printed in PRINTED.items():
        evens = {arms: ours.get(f"e8-{gap}ms-sa{arms}") for arms in printed}
        found[gap] = {1: REFERENCES[gap]} | {arms: round(even) for arms, even in evens.items() if even is not None}
    return found


def _partly_used() -> list[Array]:
    """Arrays of which a part is used: the ordinary drives, and those that may perform like them."""
    return [
        Array(arms, disks, gap, used_percent=used)
        for gap, more in USED_DISKS.items()
        for used in USED_PERCENT
        for arms, numbers in ({1: (REFERENCES[gap],)} | more).items()
        for disks in numbers
    ]


def _locality(found: Points) -> Section:
    """Break-even by how much of the drives is used, since the thesis does not state it."""
    rows = []
    for gap, used in product(PRINTED, (100, *USED_PERCENT)):
        p90s = {arms: _p90s(found, gap, arms, used_percent=used) for arms in ARMS}
        wanted = p90s[1].get(REFERENCES[gap])
        rows.append([f"{gap} ms", f"{used} %", *_cells(wanted, p90s)])
    text = "How many drives perform like 4 HC-SD (8 ms) and 16 (1 ms), by how much of each drive is used, from its beginning."
    columns = ["between arrivals", "used", "p90 of the HC-SD (ms)", "SA(2)", "SA(4)"]
    return Section("E8: how much of the drives is used", text, columns=columns, rows=rows, text_columns=2)


def _cells(wanted: float | None, p90s: dict[int, dict[int, float]]) -> list[str]:
    evens = [None if wanted is None else break_even(p90s[arms], wanted) for arms in ARMS[1:]]
    return ["–" if wanted is None else number(wanted, 1), *("–" if even is None else str(even) for even in evens)]


def _p90s(found: Points, gap: int, arms: int, **more: int) -> dict[int, float]:
    """Of the arrays that keep up, by number of disks; with the usual stripe unit, size and use but for what is given."""
    return {
        array.disks: point.p90
        for array, point in found.items()
        if point is not None and array == Array(arms, array.disks, gap, **more)
    }


def rows_at(gap: int, found: Points) -> list[Row]:
    """At one time between arrivals: how many drives perform alike, and what those draw."""
    reference = REFERENCES[gap]
    ordinary = found[Array(1, reference, gap)]
    rows = []
    for arms, printed in PRINTED[gap].items():
        rows.append(_drives(gap, arms, found))
        rows.append(_saving(gap, arms, found))
        if gap == 8:
            rows.append(_watts(arms, found[Array(arms, printed, gap)], printed))
    return [*rows, _watts(1, ordinary, reference)] if gap == 8 else rows


def _drives(gap: int, arms: int, found: Points, used: int = 100) -> Row:
    """How many drives perform like so many ordinary ones."""
    reference, printed = REFERENCES[gap], PRINTED[gap][arms]
    id_ = f"e8-{gap}ms-sa{arms}" + (f"-{used}" if used < 100 else "")
    where = "" if used == 100 else f", {used} % of each drive used"
    claim = f"E8, {gap} ms between arrivals{where}: drives SA({arms}) that perform like {reference} HC-SD"
    p90s = {n: _p90s(found, gap, n, used_percent=used) for n in (1, arms)}
    wanted = p90s[1].get(reference)
    even = None if wanted is None else break_even(p90s[arms], wanted)
    if wanted is None or even is None:
        return not_testable(id_, claim, printed, "drives", "none of those tried keeps up")
    at = f"{p90s[arms][printed]:.1f} ms" if printed in p90s[arms] else "does not keep up"
    note = (
        f"p90 {wanted:.1f} ms with {reference} HC-SD, {p90s[arms][even]:.1f} ms with {even} SA({arms}); {printed}: {at}; "
        "the thesis does not say how much of the drives is used, which decides how far arms seek"
    )
    return about(id_, claim, printed, even, "drives", within=1.0, note=note)


def _saving(gap: int, arms: int, found: Points) -> Row:
    """Where both perform alike, as the thesis compares them: as many drives as are needed here, not as many as it prints."""
    reference, printed = REFERENCES[gap], PRINTED[gap][arms]
    id_, expected = f"e8-{gap}ms-sa{arms}-saving", SAVINGS[gap][arms]
    claim = f"E8, {gap} ms: power saved by SA({arms}) that perform like {reference} HC-SD"
    ordinary = found[Array(1, reference, gap)]
    even = None if ordinary is None else break_even(_p90s(found, gap, arms), ordinary.p90)
    like = None if even is None else found[Array(arms, even, gap)]
    if ordinary is None or even is None or like is None:
        return not_testable(id_, claim, expected, "", "none of those tried keeps up")
    saved = 1 - like.average_w / ordinary.average_w
    note = (
        f"{even} SA({arms}) draw {like.average_w:.1f} W, {reference} HC-SD {ordinary.average_w:.1f} W; "
        "watts calibrated to the thesis (hc-sd)"
    )
    fewer = found.get(Array(arms, printed, gap))
    if printed != even and fewer is not None:
        share = 1 - fewer.average_w / ordinary.average_w
        note += f"; the thesis' {printed} (p90 {fewer.p90:.1f} ms) would save {share:.3f}"
    return about(id_, claim, expected, saved, "", within=WITHIN_SAVING, note=note)


def _watts(arms: int, outcome: Point | None, disks: int) -> Row:
    id_, claim = f"e8-8ms-watts-{arms}", f"E8, 8 ms: {disks} drives with {plural(arms, 'arm')} draw"
    if outcome is None:
        return not_testable(id_, claim, WATTS[arms], "W", "they do not keep up")
    if arms == 1:
        note = "hc-sd's watts were fitted to the first of the three printed sums"
    else:
        note = f"one arm in motion at a time, the others draw nothing; {for_an_arm(WATTS[arms] - outcome.average_w, arms, disks)}"
    kind = "input" if arms == 1 else "source"
    return about(id_, claim, WATTS[arms], outcome.average_w, "W", within=0.05 * WATTS[arms], note=note, kind=kind)


def _label(arms: int) -> str:
    return "HC-SD" if arms == 1 else f"SA({arms})"


def _charts(found: Points) -> list[Section]:
    from headstack.report.curves import lines

    sections = []
    for gap in REFERENCES:
        shown = {_label(arms): sorted(_p90s(found, gap, arms).items()) for arms in ARMS}
        text = "RAID 0; arrays that do not keep up are left out." if gap != 8 else (
            "RAID 0 of like drives; 60 % reads, 20 % sequential, 4 KiB requests at multiples of 4 KiB over all of the array, stripe units of 64 KiB. "
            "Arrays that do not keep up are left out."
        )  # fmt: skip
        chart = lines(shown, "drives", "p90 (ms)", log=(False, True))
        sections.append(Section(f"E8: p90 against drives, {gap} ms between arrivals", text, chart, half=True))
    return sections


def _table(found: Points) -> Section:
    rows = []
    for gap, reference in REFERENCES.items():
        ordinary = found[Array(1, reference, gap)]
        for arms in ARMS:
            even = None if ordinary is None else break_even(_p90s(found, gap, arms), ordinary.p90)
            here = None if even is None else found[Array(arms, even, gap)]
            if here is None:
                rows.append([f"{gap} ms", _label(arms), "–", "–", "–"])
            else:
                rows.append([f"{gap} ms", _label(arms), f"{even}", number(here.p90, 1), number(here.average_w, 1)])
    text = "The fewest drives whose p90 is no longer than that of 4, 8 and 16 HC-SD (8, 4 and 1 ms between arrivals)."
    columns = ["between arrivals", "drives", "how many", "p90 (ms)", "W"]
    return Section("E8: break-even", text, columns=columns, rows=rows, text_columns=2)


def _sensitivity(requests: int) -> Section:
    """Break-even at 8 ms for other stripe units and request sizes, since the thesis states neither."""
    disks = tuple(disks for disks in DISKS if disks <= REFERENCES[8] + 2)
    variants = list(product(STRIPES_KIB, SIZES_KIB))
    cells = [Array(arms, n, 8, stripe, size) for (stripe, size), arms, n in product(variants, ARMS, disks)]
    found = run_arrays(cells, requests)
    rows = []
    for stripe, size in variants:
        p90s = {arms: _p90s(found, 8, arms, stripe_kib=stripe, size_kib=size) for arms in ARMS}
        rows.append([f"{stripe:,} KiB", f"{size} KiB", *_cells(p90s[1].get(REFERENCES[8]), p90s)])
    text = (
        f"How many drives perform like 4 HC-SD at 8 ms between arrivals, by stripe unit and request size; {requests:,} requests each, "
        f"at multiples of {ALIGN_KIB} KiB, so that long ones may lie across two stripe units. The thesis states none of this."
    )
    columns = ["stripe unit", "requests of", "p90 of 4 HC-SD (ms)", "SA(2)", "SA(4)"]
    return Section("E8: stripe unit and request size", text, columns=columns, rows=rows, text_columns=2)
