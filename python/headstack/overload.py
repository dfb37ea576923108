"""Whether a system kept up with its workload."""

from __future__ import annotations

from typing import Any


def overload(summary: dict[str, Any]) -> str:
    """Say so if the requests still under way when the last one arrived are too many for a passing burst."""
    left = summary["in_flight_drained"]
    if left <= max(100, summary["requests"] // 50):
        return ""
    return (
        f"The system did not keep up: {left:,} requests were waiting when the last one arrived. Response times grow with "
        "the length of the run and say little else."
    )
