"""`compare`: runs, traces, validations or measurements side by side, with intervals."""

from __future__ import annotations

from headstack.comparison.limits import Limit
from headstack.comparison.result import Comparison, compare

__all__ = ["Comparison", "Limit", "compare"]
