"""Times of a run's requests, of all and of some of them, as rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.shown import number, of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATISTICS = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max"}
LIMIT_COLUMNS = ("", "limit", "requests", *_STATISTICS.values())
TIME_COLUMNS = ("", *_STATISTICS.values(), "std")
DIRECTIONS = ("reads", "writes")


def time_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for the responses, of reads and of writes apart where there are both, and one for the service; in ms."""
    rows = {"response": summary["response_ms"]}
    if is_mixed(summary):
        rows |= {f"response of {direction}": summary[direction]["response_ms"] for direction in DIRECTIONS}
    rows["service"] = summary["service_ms"]
    return [(name, *(of_unit(times.get(key), "ms") for key in (*_STATISTICS, "std"))) for name, times in rows.items()]


def is_mixed(summary: Mapping[str, Any]) -> bool:
    """Whether there are both reads and writes."""
    return all(summary[direction]["requests"] for direction in DIRECTIONS)


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
