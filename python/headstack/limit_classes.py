"""Responses of a run's requests by direction and duration limit, as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.shown import number, of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATISTICS = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max"}
LIMIT_COLUMNS = ("", "limit", "requests", *_STATISTICS.values())


def limit_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for reads and for writes under each limit of the drives, and under none; times are in ms."""
    return [
        (
            f"{each['op']}s",
            number(each["duration_limit"] or None),
            number(each["requests"]),
            *(of_unit(each["response_ms"][key], "ms") for key in _STATISTICS),
        )
        for each in summary.get("by_duration_limit", ())
    ]
