"""A request's timeline in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.shown import Shown, grouped, shown

if TYPE_CHECKING:
    from collections.abc import Mapping


def title(timeline: Mapping[str, Any]) -> str:
    """Name a request."""
    which = f"request {timeline['id']}: " if "id" in timeline else ""
    if timeline["sectors"] == 0:
        return f"{which}flush"
    return f"{which}{timeline['op']} {plural(timeline['sectors'], 'sector')} at LBA {timeline['lba']:,}"


def happened(step: Mapping[str, Any]) -> Shown:
    """What happened in a step, its addresses written as everywhere; the core's words for other programs."""
    return shown(grouped(step["note"]), step["note"])


def summary_line(timeline: Mapping[str, Any]) -> str:
    """Tell in a line how long a request took, where it went and what the cache did."""
    phases = ", ".join(f"{name} {time:,.3f}" for name, time in timeline["phases_ms"].items() if time > 0)
    words = {
        "hit": "from the cache",
        "partial-hit": "in part from the cache",
        "reported-early": "reported early",
    }
    cache = f"; {words[timeline['cache']]}" if timeline["cache"] in words else ""
    queued = timeline["queued_in_host_ms"]
    host = f"; {queued:,.3f} ms of it in the host" if queued > 0 else ""
    return f"{timeline['response_ms']:,.3f} ms ({phases}){_way(timeline)}{cache}{host}"


def _way(timeline: Mapping[str, Any]) -> str:
    """Where on which drive it went."""
    place = timeline["place"]
    if place is None:
        return "; no drive got a command for it alone"
    if timeline["sectors"] == 0:
        return ""
    commands = timeline["commands"]
    drive = f", the last of {commands} commands on {timeline['drive']}" if commands > 1 else ""
    return f" to cylinder {place['cylinder']:,}, head {place['head']}, sector {place['sector']:,}{drive}"
