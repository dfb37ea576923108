"""`power_budget`: what the drives of a system draw, by state, spindle speed and number of arms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, cast

from headstack import _core
from headstack.arguments import checked
from headstack.run import as_system

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headstack.results.designs import DrivePower, PowerSummary, TotalPower
    from headstack.run import Overrides


@dataclass(frozen=True)
class PowerBudget:
    """What drives draw."""

    system: str
    """Name of the system."""
    drives: list[DrivePower]
    """For each drive its `name`, its `model` and `power`: one budget a speed and number of arms, or `None` where the drive's
    file does not tell its watts."""
    totals: list[TotalPower]
    """`idle_w` and `all_seeking_w` of all drives together, in the same order; empty where one is not known."""

    def as_dict(self) -> PowerSummary:
        """Everything, as `headstack power --json` prints it."""
        return cast("PowerSummary", dict(vars(self)))

    def _repr_html_(self) -> str:
        from headstack import notebook

        return notebook.power_budget(self)


def alike(drives: Sequence[DrivePower]) -> list[tuple[str, DrivePower]]:
    """The first of each run of drives that draw the same, one after the other, and what such drives are called together."""
    runs = [list(run) for _, run in groupby(drives, key=lambda drive: (drive["model"], drive["power"]))]
    return [
        (
            run[0]["name"]
            if len(run) == 1
            else f"{len(run):,} × {run[0]['model']}, {run[0]['name']} to {run[-1]['name']}, each",
            run[0],
        )
        for run in runs
    ]


@checked(but=("system",))
def power_budget(
    system: str | Path | _core.Drive | _core.System,
    *,
    overrides: Overrides | None = None,
    rpm: Sequence[float] = (),
    actuators: Sequence[int] = (),
) -> PowerBudget:
    """List what the drives of a system draw in each state.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`.
    overrides
        Values to replace, by dotted path.
    rpm, actuators
        A budget for each of these spindle speeds and numbers of actuators; without them, as each drive is described.
    """
    built = as_system(system, overrides)
    return PowerBudget(**_core.power_budget(built, rpm=list(rpm), actuators=list(actuators)))
