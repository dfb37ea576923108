"""What is absent from a trace of events, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def lost_words(about: Mapping[str, Any]) -> list[str]:
    """What is known to be absent from a trace of events, and what was left out for it."""
    loss = about.get("loss")
    if not loss:
        return []
    kinds = (
        ("missing_cpus", "no file of processor"),
        ("empty_cpus", "an empty file of processor"),
        ("short_cpus", "perhaps the end of the file of processor"),
    )
    lost = [f"{what} {', '.join(map(str, loss[key]))}" for key, what in kinds if loss[key]]
    if loss["lost_events"]:
        lost.append(f"{loss['lost_events']:,} events by their running numbers")
    if loss["damaged_places"]:
        lost.append(f"{loss['damaged_places']:,} places damaged or cut off")
    if about["doubtful"]:
        lost.append(f"{about['doubtful']:,} pairs left out, as losses may have made them up")
    return lost
