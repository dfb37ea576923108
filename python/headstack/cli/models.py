"""The system that a verb is about: built with what `--set` and `--scheduler` change, and looked at before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.cli import output
from headstack.cli.options import model_overrides

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headstack import System


def built_system(source: str, set_: Iterable[str] = (), scheduler: str | None = None) -> System:
    """Build a system, and warn of values of its drives that no drive was ever known to have."""
    from headstack import System, library_drives, library_systems

    overrides = model_overrides(set_, scheduler)
    system = System(source, overrides=overrides)
    # What the library holds is known to be sound, and the description of a drive may be long.
    if overrides or source not in {*library_drives(), *library_systems()}:
        warn_of_physics(system)
    return system


def warn_of_physics(system: System) -> None:
    """Warn once of each value, however many drives have it."""
    from headstack.checks import physics_sentences

    said: set[str] = set()
    for drive in system.config()["drives"]:
        for sentence in physics_sentences(drive["spec"]):
            if sentence not in said:
                output.warning(sentence)
            said.add(sentence)
