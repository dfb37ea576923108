"""The names that keys of results had before: they answer for one more version, with a warning."""

from __future__ import annotations

import re
from typing import Any
from warnings import warn

# `mean_ms`, `response_mean_ms`, `mean_seen_ms`: a statistic of a time, with its unit.
_OLD = re.compile(
    r"(?:(?P<before>\w+)_)?(?P<what>mean|std|min|p\d+|median|q1|q3|low|high|longest|shown|max)_(?:(?P<after>\w+)_)?ms"
)
# Tables of times, whose unit the name did not say.
_TABLES = frozenset(("response", "service", "wait", "inter_arrival", "reads_inside", "reads_outside", "lateness"))
# Keys that have another word now.
_WORDS = {
    "written_by_dribble": "written_by_trickle",
    "turn_early_share": "revolutions_early_share",
    "turn_late_share": "revolutions_late_share",
    "half": "event",
}
# What a statistic is called now.
_NOW = {"median": "p50", "longest": "max"}


class Result(dict[str, Any]):
    """A table of a result: a time is a table `WHAT_ms` whose keys are its statistics (`response_ms.p99`)."""

    __slots__ = ()

    def __missing__(self, key: str) -> Any:
        """What a key of the version before stands for."""
        path = renamed(self, key)
        if path is None:
            raise KeyError(key)
        # Said of the line that asked.
        warn(f"`{key}` is now `{'.'.join(path)}`; the old name goes with the next version", FutureWarning, stacklevel=2)
        found: Any = self
        for each in path:
            found = found[each]
        return found

    def get(self, key: str, default: Any = None) -> Any:
        """As of any `dict`, and by the name of the version before."""
        if key in self:
            return self[key]
        return default if renamed(self, key) is None else self.__missing__(key)


def renamed(table: dict[str, Any], key: str) -> tuple[str, ...] | None:
    """Where in a table the value is that a key of the version before stood for; `None` if there was no such key."""
    if (now := _WORDS.get(key)) in table:
        return (str(now),)
    if key in _TABLES and f"{key}_ms" in table:
        return (f"{key}_ms",)
    if not (old := _OLD.fullmatch(str(key))):
        return None
    names = (old["what"], _NOW.get(old["what"], old["what"]))
    home = old["before"] or old["after"]
    if home is None and (here := next((name for name in names if name in table), None)):
        return (here,)
    homes = [f"{home}_ms", f"{home}_response_ms"] if home else [each for each in table if each.endswith("_ms")]
    for each in homes:
        if each not in table:
            continue
        if (held := table[each]) is None:
            return (each,)
        if isinstance(held, dict) and (inner := next((name for name in names if name in held), None)):
            return each, inner
    return None
