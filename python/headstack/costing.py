"""`cost`: what drives of a design cost to make, and what systems of them that perform alike cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from headstack import _core
from headstack.arguments import checked
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.results.designs import Bill, CostSummary, IsoPerformance


@dataclass(frozen=True)
class Cost:
    """Bills of materials."""

    design: str
    """Name of the design in the library."""
    name: str
    """Its title."""
    source: str
    """Where its prices come from."""
    designs: list[Bill]
    """One bill a number of actuators: `actuators`, `platters`, `low_usd`, `high_usd` and `components`."""
    iso_performance: IsoPerformance | None
    """`source` and `systems` that perform alike, each with its price and what it saves against the first; `None` where nobody
    says which do."""

    def as_dict(self) -> CostSummary:
        """Everything, as `headstack cost --json` prints it."""
        return cast("CostSummary", dict(vars(self)))

    def report(self, path: str | Path) -> None:
        """Write the page: bars with their ranges, and the bills."""
        from headstack.files import to_write
        from headstack.report.cost import cost_page

        cost_page(self).write(to_write(path))

    def _repr_html_(self) -> str:
        from headstack import notebook

        return notebook.cost(self)


@checked()
def cost(
    design: str | Path = "four-platter",
    *,
    actuators: Sequence[int] = (1,),
    platters: int | None = None,
    systems: Sequence[tuple[int, int]] | None = None,
) -> Cost:
    """List what drives of a design are made of and what that costs.

    Parameters
    ----------
    design
        A name of the library (`library_designs()`) or the path of a design file.
    actuators
        A bill for each of these numbers of actuators.
    platters
        Platters of each drive, instead of the design's.
    systems
        Systems to compare that you hold to perform alike: drives, and actuators of each. Without them those that the
        design names are compared.
    """
    if not actuators:
        raise InputError("there is no drive to cost", "give at least one number of actuators")
    if systems is not None and not systems:
        raise InputError("there are no systems to compare", "give (drives, actuators), or leave `systems` out")
    return Cost(**_core.cost(str(design), list(actuators), platters=platters, systems=systems and list(systems)))
