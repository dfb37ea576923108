"""Which points of a sweep do not keep up with their load, and so are weighed against no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from headstack.overload import overload

if TYPE_CHECKING:
    from headstack.sweeping.result import PointResult

Why = Literal["overloaded", "lost data", "served nothing"]


def why(point: PointResult) -> Why | None:
    """Why what a point costs buys nothing: its array lost data, a run was over before a request was, or a queue grows without end."""
    summaries = [run.summary for run in point.runs]
    if any("data_loss" in summary for summary in summaries):
        return "lost data"
    if not all(summary["requests"] for summary in summaries):
        return "served nothing"
    return "overloaded" if any(overload(summary) for summary in summaries) else None


def mark(reason: Why | None) -> str:
    """The word in a table's column `keeps up`."""
    return {None: "yes", "overloaded": "no"}.get(reason, f"no: {reason}")
