"""Limits for CI jobs: `p99 > +5%` fails where the 99th percentile has grown by more than 5 %.

A value that is itself in percent changes in points: `demerit > +0.5%` (or `+0.5 points`) fails where it went from 2 to
2.6 %, not where it went from 2 to 2.02.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM = re.compile(r"\s*([a-z0-9_.]+)\s*(>|<)\s*([+-]?)([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(%|[A-Za-z/]*)\s*")

_IN_MS = {"s": 1000.0, "us": 0.001, "ns": 1e-6}


@dataclass(frozen=True)
class Limit:
    """A bound for a metric: of its change from the first (with a sign), or of its value (without)."""

    text: str
    metric: str
    is_upper: bool
    is_change: bool
    bound: float
    unit: str

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read `METRIC > +5%`, `METRIC > +0.5ms`, `METRIC > +0.5 points`, `METRIC > 20ms`, or the same with `<`."""
        found = _FORM.fullmatch(text)
        if not found:
            raise InputError(
                f"--fail-if `{text}` is not a limit",
                "a change `p99 > +5%` or `mean > +0.5ms`, or a value `p99 > 20ms` (of a sweep `response_ms.p99 > 20ms`); `<` for falls",
            )
        return cls(text.strip(), found[1], found[2] == ">", bool(found[3]), float(found[3] + found[4]), found[5])

    def check(self, known: Iterable[str]) -> None:
        """Refuse a metric that is not there."""
        names = list(known)
        if self.metric not in names:
            near = get_close_matches(self.metric, names, 1)
            meant = f"did you mean `{near[0]}`? " if near else ""
            raise InputError(
                f"--fail-if `{self.text}`: there is no `{self.metric}`", f"{meant}known: {', '.join(names)}"
            )

    def _in_unit(self, unit: str) -> str:
        factor = _IN_MS.get(self.unit) if unit == "ms" else None
        if factor is None:
            return f"give it in {unit}" if unit else "leave the unit out"
        sign = "+" if self.is_change and self.bound >= 0 else ""
        return f"`{self.metric} {'>' if self.is_upper else '<'} {sign}{self.bound * factor:g}ms`"

    def is_broken(self, first: float, second: float, unit: str) -> bool:
        """Whether the change from the first to the second, or the second, is beyond the bound."""
        value = second
        if self.is_change:
            relative = self.unit == "%" and unit != "%"
            change = second - first
            value = (
                (100 * change / abs(first) if first else float("inf") * change if change else 0.0)
                if relative
                else change
            )
        self.check_unit(unit)
        return value > self.bound if self.is_upper else value < self.bound

    def check_unit(self, unit: str) -> None:
        """Refuse a bound in another unit than the metric's."""
        in_points = "points" if unit == "%" and self.is_change else unit
        if self.unit not in ("", "%" if self.is_change else unit, unit, in_points):
            hint = (
                f"a change has its sign: `{self.metric} {'>' if self.is_upper else '<'} {self.bound:+g}%`"
                if self.unit == "%"
                else self._in_unit(unit)
            )
            raise InputError(f"--fail-if `{self.text}`: {self.metric} is in {unit or 'no unit'}", hint)
