"""Whether a system kept up with its workload, its schedulers saw all of it, and its books hold all that was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def overload(summary: Mapping[str, Any]) -> str:
    """Say so if the requests still under way when the last one arrived are too many for a passing burst."""
    left = summary["in_flight_drained"]
    if left <= max(100, summary["requests"] // 50):
        return ""
    return (
        f"The system did not keep up: {left:,} requests were waiting when the last one arrived. Response times grow with "
        "the length of the run and say little else."
    )


def held_back(summary: Mapping[str, Any]) -> str:
    """Say so if requests waited outside the driver's scheduler, because it saw as many as it may."""
    count = sum(drive["held_back"] for drive in summary["drives"])
    if not count:
        return ""
    return (
        f"{count:,} requests came when the driver's scheduler saw as many as it may (`host.queue_limit`); they waited "
        "outside, in order of arrival."
    )


def cut_short(summary: Mapping[str, Any]) -> str:
    """Say so if the run was cut with so many requests under way that their times, which no figure has, matter."""
    cut, complete = summary["in_flight_cut"], summary["requests"]
    if cut * 50 <= complete:
        return ""
    under_way = "1 request" if cut == 1 else f"{cut:,} requests"
    return (
        f"The run was cut with {under_way} under way, beside {complete:,} that were complete. How long those under way take is in no "
        "figure of response times, which may look better than they are: cut later."
    )
