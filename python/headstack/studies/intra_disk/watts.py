"""E6, E7: what parallel drives draw, and slower ones that answer as fast as the array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.studies.framework import Row, about, at_least, at_most, not_testable
from headstack.studies.intra_disk.found import LOADS, NEEDS, TITLES
from headstack.studies.intra_disk.migration import ORDER_OF_MAGNITUDE
from headstack.studies.intra_disk.parallel import SINGLE, SMALL
from headstack.studies.intra_disk.runs import parallel

if TYPE_CHECKING:
    from headstack.studies.intra_disk.found import Found

SPEEDS = (6200, 5200, 4200)
SLOW = tuple(parallel(arms, rpm=rpm) for rpm in SPEEDS for arms in (1, 2, 3, 4))


def rows(found: Found) -> list[Row]:
    """Watts at full speed, and at less."""
    return [*_power(found), *_slow(found)]


def _power(found: Found) -> list[Row]:
    rows = []
    for load in ("tpcc", "tpch"):
        for arms in (2, 4):
            claim = f"E6, {TITLES[load]}: watts of SA({arms}) over those of HC-SD"
            id_ = f"e6-sa{arms}-{load}"
            if not found.has(load):
                rows.append(not_testable(id_, claim, 1.0, "times", NEEDS))
                continue
            ratio = found(load, f"SA({arms})").average_w / found(load, "HC-SD").average_w
            rows.append(at_most(id_, claim, 1.0 + SMALL, ratio, "times", note="comparable or lower; the tenth is ours"))
    for arms, printed in ((2, 2.0), (4, 6.0)):
        claim, id_ = f"E6, Financial: watts of SA({arms}) above those of HC-SD", f"e6-sa{arms}-financial"
        if found.has("financial"):
            more = found("financial", f"SA({arms})").average_w - found("financial", "HC-SD").average_w
            rows.append(
                about(id_, claim, printed, more, "W", within=1.0, note=f"{BUSY}; {for_an_arm(printed - more, arms)}")
            )
        else:
            rows.append(not_testable(id_, claim, printed, "W", NEEDS))
    for arms, printed in ((1, 0.55), (2, 0.83), (4, 0.90)):
        design = parallel(arms).name
        claim, id_ = f"E6, Websearch: share of seeks that are not zero, {design}", f"e6-seeks-{arms}"
        if found.has("websearch"):
            ours = found("websearch", design).seek_share
            all_ = ours * found("websearch", design).media_share
            note = (
                "of requests that went to the media, those with an arm in motion or a head switched; here the next request is seldom "
                f"on the same track, and a read of the same track is a hit as a rule; of all requests, hits included, {all_:.2f}"
            )
            rows.append(about(id_, claim, printed, ours, "", within=0.05, note=note))
        else:
            rows.append(not_testable(id_, claim, printed, "", NEEDS))
    return rows


BUSY = (
    "with one arm in motion at a time, a drive here draws its idle watts and those of one arm at work while it works; several "
    "arms take less time for the same requests"
)


def for_an_arm(lacking_w: float, arms: int, drives: int = 1) -> str:
    """What the printed watts lie above ours, or below, for each arm after the first; ours draw nothing while they are still."""
    return f"the printed watts come out if each further arm draws {lacking_w / drives / (arms - 1):.1f} W at all times"


def _slow(found: Found) -> list[Row]:
    """Points of arms and speed that answer as fast as MD, and draw an order of magnitude less, or no more than HC-SD."""
    rows = []
    for load in LOADS:
        claim = (
            f"E7, {TITLES[load]}: designs of two to four arms that match MD's mean at an order of magnitude less power"
        )
        if not found.has(load):
            rows.append(not_testable(f"e7-match-{load}", claim, 2.0, "designs", NEEDS))
            continue
        md, one = found(load, "MD"), found(load, "HC-SD")
        points = {design.name: found(load, design.name) for design in (*SINGLE, *SLOW) if "SA(1)" not in design.name}
        match = {name: point for name, point in points.items() if point.mean <= md.mean}
        frugal = [name for name, point in match.items() if md.average_w / point.average_w >= ORDER_OF_MAGNITUDE]
        note = (
            f"several: two or more; of {len(points)} designs {len(match)} match MD's {md.mean:.1f} ms; "
            f"one arm that needs no time to seek comes to {found(load, '(0)S').mean:.1f}"
        )
        rows.append(at_least(f"e7-match-{load}", claim, 2.0, len(frugal), "designs", note=note))
        if load in {"tpcc", "tpch"}:
            low = [name for name, point in match.items() if point.average_w <= one.average_w]
            claim = f"E7, {TITLES[load]}: of these, designs that draw no more than HC-SD"
            rows.append(
                at_least(
                    f"e7-low-{load}", claim, 1.0, len(low), "designs", note="; ".join(low) or f"{len(match)} match MD"
                )
            )
    return rows
