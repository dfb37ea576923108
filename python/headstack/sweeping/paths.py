"""Dotted paths that reach the same value: of two, only the one that is set last would count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.errors import InputError
from headstack.overrides import scheduler_override

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headstack.sweeping.axis import Axis

_NAMES = ("system", "workload", "trace")
"""What these name is chosen first, and values in it are set below the same word."""


def check(base: Mapping[str, Any], axes: Sequence[Axis]) -> None:
    """Refuse two axes that set the same value, and an axis whose value is always set again: its points would be the same."""
    for number, each in enumerate(axes):
        reached = _reached(each)
        _check_fixed(base, reached, f"axis.{number} (`{each.name}`)")
        for other in axes[:number]:
            if shared := _meeting(_reached(other), reached):
                one, two = shared
                said = f"both set `{one}`" if one == two else f"set the same by `{one}` and by `{two}`"
                raise InputError(
                    f"axis.{number}: the axes `{other.name}` and `{each.name}` {said}",
                    "one of them would undo the other: an axis of cases sets several values together",
                )
    if "workload.seed" in base:
        raise InputError("base: `workload.seed` is set, and every run has a seed of its own", _SEEDS)


_SEEDS = "[repeats], seeds = [1, 2, 3]"


def _check_fixed(base: Mapping[str, Any], reached: Mapping[str, set[str]], where: str) -> None:
    if "workload.seed" in reached:
        raise InputError(f"{where}: every run has a seed of its own, which replaces `workload.seed`", _SEEDS)
    # The word `scheduler` is shorter than its path, and set after all paths.
    word = base.get("scheduler")
    if isinstance(word, str) and "scheduler" not in reached:
        fixed = {"scheduler": {scheduler_override(word, "base.scheduler")[0]}}
        if shared := _meeting(fixed, reached):
            raise InputError(
                f"{where}: `{shared[1]}` is set, and `scheduler` in [base] sets it again", "leave one of them out"
            )


def _reached(axis: Axis) -> dict[str, set[str]]:
    """The paths of an axis as they are written, and what they come to."""
    found: dict[str, set[str]] = {}
    for choice in axis.choices:
        for path, value in choice.sets:
            is_word = path == "scheduler" and isinstance(value, str)
            found.setdefault(path, set()).add(scheduler_override(value, path)[0] if is_word else path)
    return found


def _meeting(ones: Mapping[str, set[str]], others: Mapping[str, set[str]]) -> tuple[str, str] | None:
    """Two paths, as they are written, of which one holds the other."""
    for one, first in sorted(ones.items()):
        for two, second in sorted(others.items()):
            if any(_is_within(a, b) for a in first for b in second):
                return one, two
    return None


def _is_within(one: str, two: str) -> bool:
    """Whether they name the same, or one names a part of what the other does."""
    if one == two:
        return True
    if one in _NAMES or two in _NAMES:
        return False
    (drive, first), (other, second) = _split(one), _split(two)
    same_drive = drive == other or "*" in (drive, other)
    # Up to the end of the shorter one.
    return same_drive and all(a == b or "*" in (a, b) for a, b in zip(first, second, strict=False))


def _split(path: str) -> tuple[str, list[str]]:
    """The drive that a path is about, and the path within it; a plain path is that of a drive alone, or of no drive."""
    parts = path.split(".")
    return (parts[1], parts[2:]) if parts[0] == "drive" and len(parts) > 2 else ("*", parts)
