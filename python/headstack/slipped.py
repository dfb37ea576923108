"""Lists of skipped tracks that are not taken from the spare tracks of their zones."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.counted import plural
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

BEYOND = re.compile(r"\(sector (\d+), (\d+) sectors\) reaches beyond device ")
"""A request that has no place on a drive."""


@contextmanager
def said_of_lists(system: _core.System) -> Iterator[None]:
    """Say of a request that has no place on a drive whether the drive's list of skipped tracks may have taken it."""
    try:
        yield
    except InputError as problem:
        raise _named(problem, system) from None


def _named(problem: InputError, system: _core.System) -> InputError:
    beyond = BEYOND.search(str(problem))
    if beyond is None or len(system.drives) != 1:
        return problem
    drive = _core.Drive(toml=system.drive_toml())
    layout = drive.spec()["layout"]
    taken = _taken(layout)
    tracks = sum(count for _, count, _, _ in taken)
    sectors = sum(count * each for _, count, each, _ in taken)
    end = int(beyond[1]) + int(beyond[2])
    if not tracks or end > drive.capacity_sectors + sectors:
        return problem
    lowered = ", ".join(
        f"layout.zone.{zone}.spare_tracks_at_end={max(spares - count, 0)}" for zone, count, _, spares in taken
    )
    is_or_are = "is" if tracks == 1 else "are"
    return InputError(
        f"{problem}; {plural(tracks, 'track')} that `layout.slipped_tracks` lists {is_or_are} left out of the data of the "
        f"zones, and with {'it' if tracks == 1 else 'them'} the drive would hold it",
        f"a skipped track takes a spare one: if the list was written without lowering `spare_tracks_at_end` of its zones, "
        f"lower them ({lowered} if none was); else use --fit-lba wrap",
    )


def _taken(layout: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Of each zone with listed tracks its number, how many, the sectors of each, and its spare tracks."""
    listed = layout.get("slipped_tracks", [])
    found: list[tuple[int, int, int, int]] = []
    for number, zone in enumerate(layout.get("zone", [])):
        count = sum(zone["first_cylinder"] <= cylinder <= zone["last_cylinder"] for cylinder, _ in listed)
        if count:
            found.append((number, count, zone["sectors_per_track"], zone.get("spare_tracks_at_end", 0)))
    return found
