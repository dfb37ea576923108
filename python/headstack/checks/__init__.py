"""What `headstack drives check` finds: skews too short for their switch, a write cache too large, values no drive has, short runs."""

from __future__ import annotations

from headstack.checks.deep import DeepCheck, deep_check
from headstack.checks.memory import memory_sentences
from headstack.checks.names import renamed_sentences
from headstack.checks.physics import physics_sentences
from headstack.checks.skews import skew_sentences

__all__ = ["DeepCheck", "deep_check", "memory_sentences", "physics_sentences", "renamed_sentences", "skew_sentences"]
