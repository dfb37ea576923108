"""By which rules buffered writes go to the media, where they are assumed: they decide what a cached write costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def destage_words(summary: Mapping[str, Any]) -> str:
    """The assumed rules of the drives that a run wrote to, in a sentence without its end; empty where there are none."""
    if not summary["writes"]["requests"]:
        return ""
    rules = [
        (drive["model"], drive["write_back"])
        for drive in summary["drives"]
        if drive["commands"] and "write_back" in drive
    ]
    models = {model: _rule(rule) for model, rule in rules if rule["assumed"]}
    if not models:
        return ""
    whose = " and ".join(models) if len(models) <= 2 else f"{len(models)} models of drives"
    return f"no publication or measurement tells when writes leave the cache of {whose}; here {'; or '.join(dict.fromkeys(models.values()))}"


def _rule(rule: Mapping[str, Any]) -> str:
    size = rule["size_kib"]
    room = f"{size / 1024:,g} MiB" if size >= 1024 else f"{size:g} KiB"
    return (
        f"after {_time(rule['idle_before_destage_ms'])} in which no read needs the arm; from {rule['high_water_percent']:g} % "
        f"of {room} full on down to {rule['low_water_percent']:g} %; a tenth of the arm's time for what is older than {_time(rule['age_limit_ms'])}"
    )


def _time(ms: float) -> str:
    return f"{ms / 1000:,g} s" if ms >= 1000 else f"{ms:g} ms"
