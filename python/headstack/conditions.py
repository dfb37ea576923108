"""Power conditions of a run's drives, as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.shown import number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

CONDITION_COLUMNS = ("drive", "condition", "entered", "entering (s)", "in it (s)", "recovering (s)", "share")


def condition_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each power condition of each drive; the share is of the counted time, ways in and out included."""
    rows = []
    for drive in summary["drives"]:
        power = drive.get("power")
        counted_s = power["energy_j"] / power["average_w"] if power else 0.0
        for condition in drive.get("conditions", ()):
            times = [condition[key] for key in ("entering_s", "within_s", "recovering_s")]
            share = percent(sum(times) / counted_s if counted_s else None, 1)
            told = (number(time, 1) for time in times)
            rows.append((drive["name"], condition["name"], number(condition["entered"]), *told, share))
    return rows
