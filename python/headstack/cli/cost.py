"""`headstack cost`: the bill of materials of a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import offered, output
from headstack.cli.options import OUTPUT, Json
from headstack.errors import InputError

if TYPE_CHECKING:
    from headstack.costing import Cost


def cost(
    *,
    design: Annotated[
        str, Parameter(help="Name of a design in the library, or a design file.", completer=offered.designs)
    ] = "four-platter",
    actuators: Annotated[str, Parameter(help="Numbers of actuators, one bill each: `1,2,4`.")] = "1",
    platters: Annotated[int | None, Parameter(help="Platters of the drive, instead of the design's.")] = None,
    systems: Annotated[
        str | None,
        Parameter(
            help="Systems to compare that perform alike, as drives x actuators: `4x1,2x2,1x4`; those that the design "
            "names, if absent."
        ),
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page with bars and their ranges.")] = None,
    json: Json = False,
) -> int:
    """List what a drive is made of and what that costs its maker, for any number of actuators."""
    from headstack import cost as cost_of
    from headstack.files import check_report

    if report is not None:
        check_report(report)
    found = cost_of(
        design,
        actuators=[_count(word, "--actuators", actuators, "1,2,4") for word in actuators.split(",")],
        platters=platters,
        systems=None if systems is None else [_system(word, systems) for word in systems.split(",")],
    )
    if report is not None:
        found.report(report)
    if json:
        output.print_json(found.as_dict())
    else:
        _show(found)
    if report is not None:
        output.wrote(report)
    return 0


def _count(word: str, option: str, given: str, example: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InputError(
            f"{option} `{given}`: `{word}` is not a whole number", f"for example {option} {example}"
        ) from None


def _system(word: str, given: str) -> tuple[int, int]:
    example = "4x1,2x2,1x4"
    drives, times, actuators = word.partition("x")
    if not times:
        raise InputError(f"--systems `{given}`: `{word}` is not drives x actuators", f"for example --systems {example}")
    return _count(drives, "--systems", given, example), _count(actuators, "--systems", given, example)


def _show(found: Cost) -> None:
    from headstack.costing_words import bill_rows, system_rows

    columns, rows = bill_rows(found)
    output.table(f"{found.name}: {found.designs[0]['platters']} platters, USD", columns, rows, caption=found.source)
    if found.iso_performance is not None:
        columns, rows = system_rows(found)
        output.table("Equal performance, USD", columns, rows, caption=found.iso_performance["source"])
