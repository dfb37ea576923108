"""A request's story in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def title(story: Mapping[str, Any]) -> str:
    """Name a request."""
    which = f"request {story['id']}: " if "id" in story else ""
    return f"{which}{story['op']} {story['sectors']} sectors at {story['lba']:,}"


def summary_line(story: Mapping[str, Any]) -> str:
    """Tell in a line how long a request took, where it went and what the cache did."""
    phases = ", ".join(f"{name} {time:.2f}" for name, time in story["phases_ms"].items() if time > 0)
    place = story["place"]
    words = {
        "hit": "from the cache",
        "partial-hit": "in part from the cache",
        "reported-early": "reported early",
    }
    cache = f"; {words[story['cache']]}" if story["cache"] in words else ""
    queued = story.get("queued_in_host_ms", 0.0)
    host = f"; before, {queued:,.3f} ms in the host's queue" if queued > 0 else ""
    return (
        f"{story['response_ms']:.3f} ms ({phases}) to cylinder {place['cylinder']:,}, head {place['head']}, "
        f"sector {place['sector']}{cache}{host}"
    )
