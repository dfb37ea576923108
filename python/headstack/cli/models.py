"""The system that a verb is about: built with what `--set` and `--scheduler` change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.cli.options import model_overrides

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headstack import System


def built_system(source: str, set_: Iterable[str] = (), scheduler: str | None = None) -> System:
    """Build a system."""
    from headstack import System

    return System(source, overrides=model_overrides(set_, scheduler))
