"""`headstack coefficients`: what other systems assume of a disk, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import offered, output, progress
from headstack.cli.options import RUN, Json, Overrides, Scheduler, model_overrides
from headstack.shown import Part, Shown, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.device_costs import Coefficients, Error


def coefficients(
    drive: Annotated[str, Parameter(help="Name in the library, drive file or system file.", completer=offered.systems)],
    *,
    scheduler: Scheduler = None,
    set_: Overrides = (),
    volume: Annotated[
        str | None, Parameter(group=RUN, help="The volume of a system that is measured; its first one if absent.")
    ] = None,
    seed: Annotated[int, Parameter(group=RUN, help="Seed of the requests.")] = 1,
    json: Json = False,
) -> int:
    """Compute what iocost, mClock and disk-head time assume of a drive, and how far each is from it.

    Random requests of 4 KiB to 1 MiB at queue depths 1 to 32, writes with the write cache off; sequential ones at five places, 32 outstanding, with the cache as it is.
    """
    from headstack import coefficients as computed

    overrides = model_overrides(set_, scheduler)
    with progress.bar("measuring", None, "runs") as told:
        shown = None if told is None else (lambda done, total: told(done, 0.0, total))
        found = computed(drive, overrides=overrides, volume=volume, seed=seed, progress=shown)
    output.print_json(found.as_dict()) if json else _show(found)
    return 0


def _show(found: Coefficients) -> None:
    from headstack.device_costs import constant, largest_by_depth

    output.facts(
        found.title,
        [
            *([("volume", found.choice)] if found.choice else []),
            ("io.cost.model", f"MAJ:MIN {found.iocost_line}"),
            *(
                constant(form, name, value)
                for form in (found.mclock, found.head_time)
                for name, value in form.constants.items()
            ),
        ],
    )
    rows = [(form.name, form.by_depth()) for form in found.forms]
    rows += [(f"{form.name}, sequential", largest_by_depth(form.sequential)) for form in found.forms if form.sequential]
    output.table(
        "Largest error over all sizes, promised against done (%)",
        ["form", *(f"QD {depth}" for depth in rows[0][1])],
        [(name, *_by_depth(largest)) for name, largest in rows],
    )
    for form in found.forms:
        output.sentence(form.sentence())


def _by_depth(largest: Mapping[int, Error]) -> list[Shown]:
    return [
        Shown(
            f"{signed(error.percent, 0)} ({error.size_kib:,} KiB {error.op}s)",
            Part("", error.percent, "%"),
            Part("of", f"{error.op}s"),
            Part("size", error.size_kib, "KiB"),
        )
        for error in largest.values()
    ]
