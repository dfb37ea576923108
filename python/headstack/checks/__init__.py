"""What `headstack drives check` finds: skews too short for their switch, and what a drive does in short runs."""

from __future__ import annotations

from headstack.checks.deep import DeepCheck, deep_check
from headstack.checks.skews import skew_sentences

__all__ = ["DeepCheck", "deep_check", "skew_sentences"]
