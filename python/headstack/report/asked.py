"""What is asked of some devices and not of others, in words: who is asked for more takes longer by that alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.report.tables import size
from headstack.shown import number, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from headstack.results.analyses import Group
    from headstack.shown import Shown

MUCH = 1.5
"""So many times as much is asked of one that is told."""
READS_APART = 0.2
"""A share of reads is told that differs by so much."""


def apart(names: Collection[str], devices: Sequence[Group]) -> str:
    """What tells the devices of these names from the others, in a sentence; nothing if it is alike."""
    told = [each for each in devices if each["name"] in names]
    others = [each for each in devices if each["name"] not in names]
    if not told or not others:
        return ""
    asked: list[tuple[str, Callable[[Group], float], Callable[[float], Shown]]] = [
        ("a request", lambda each: each["bytes"] / each["requests"], size),
        ("requests", lambda each: float(each["requests"]), lambda count: number(count, 0)),
    ]
    differs = [
        f"{_range(told, of, show)} {what} (the others {_range(others, of, show)})"
        for what, of, show in asked
        if _ratio(told, others, of) >= MUCH
    ]
    gap = max(_least(told, _reads) - _most(others, _reads), _least(others, _reads) - _most(told, _reads))
    if gap >= READS_APART:
        differs.append(f"{_range(told, _reads, percent)} reads (the others {_range(others, _reads, percent)})")
    return f"More or other things are asked there, which may be why: {', '.join(differs)}." if differs else ""


def _reads(group: Group) -> float:
    return group["reads"] / group["requests"]


def _least(groups: Sequence[Group], of: Callable[[Group], float]) -> float:
    return min(map(of, groups))


def _most(groups: Sequence[Group], of: Callable[[Group], float]) -> float:
    return max(map(of, groups))


def _ratio(told: Sequence[Group], others: Sequence[Group], of: Callable[[Group], float]) -> float:
    """How many times as much each of these has as each of the others."""
    return _least(told, of) / max(_most(others, of), 1.0)


def _range(groups: Sequence[Group], of: Callable[[Group], float], show: Callable[[float], Shown]) -> str:
    ends = list(dict.fromkeys(show(end) for end in (_least(groups, of), _most(groups, of))))
    return " to ".join(ends)
