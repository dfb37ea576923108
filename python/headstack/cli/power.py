"""`headstack power`: what drives draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headstack.cli import offered, output
from headstack.cli.models import built_system
from headstack.cli.options import Json, Overrides  # noqa: TC001 (the parser reads annotations at run time)
from headstack.errors import InputError
from headstack.shown import number, of_unit, several

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.power import PowerBudget


def power(
    system: Annotated[
        str, Parameter(help="Name in the library, drive file or system file.", completer=offered.systems)
    ],
    *,
    rpm: Annotated[
        str | None, Parameter(help="Spindle speeds, one row each: `7200,5400`; the drive's, if absent.")
    ] = None,
    actuators: Annotated[
        str | None, Parameter(help="Numbers of arms, one row each: `1,2,4`; the drive's, if absent.")
    ] = None,
    set_: Overrides = (),
    json: Json = False,
) -> int:
    """List what the drives of a system draw in each state, by spindle speed and number of arms."""
    from headstack import power_budget

    built = built_system(system, set_)
    found = power_budget(
        built,
        rpm=_numbers("--rpm", rpm, float, "7200,5400"),
        actuators=_numbers("--actuators", actuators, int, "1,2,4"),
    )
    if json:
        output.print_json(found.as_dict())
    else:
        _show(found)
    return 0


def _numbers(option: str, given: str | None, kind: Callable[[str], Any], example: str) -> list[Any]:
    try:
        return [] if given is None else [kind(word) for word in given.split(",")]
    except ValueError:
        raise InputError(f"{option} `{given}` is not a list of numbers", f"for example {option} {example}") from None


def _show(found: PowerBudget) -> None:
    from headstack.power import alike

    for name, drive in alike(found.drives):
        if drive["power"] is None:
            output.facts("", [(name, "power: not known")])
            continue
        states = list(drive["power"][0]["by_state_w"])
        output.table(
            f"{name}: watts with one arm at work",
            ["rpm", "arms", *states, "all seeking", "standby", "disks' drag", "break-even (s)"],
            [
                (
                    number(budget["rpm"], 0),
                    number(budget["actuators"]),
                    *(of_unit(budget["by_state_w"][state], "W") for state in states),
                    of_unit(budget["all_seeking_w"], "W"),
                    of_unit(budget["standby_w"], "W"),
                    of_unit(budget["drag_w"], "W"),
                    number(budget["break_even_s"], 1),
                )
                for budget in drive["power"]
            ],
            text_columns=(),
        )
    if len(found.drives) > 1:
        output.facts(
            "",
            [
                (
                    "all drives",
                    several(
                        "{} W idle, {} W with all arms seeking", number(total["idle_w"]), number(total["all_seeking_w"])
                    ),
                )
                for total in found.totals
            ],
        )
