"""`headstack explain`: one request as a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from headstack.cli import offered, output
from headstack.cli.models import built_system
from headstack.cli.options import OUTPUT, Json, Overrides, Scheduler
from headstack.errors import InputError
from headstack.shown import Part, Shown, number, of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack import Explanation


def explain(
    system: Annotated[str, Parameter(help="Library name, drive file or system file.", completer=offered.systems)],
    *,
    lba: Annotated[int | None, Parameter(help="First sector of a request to a system at rest.")] = None,
    then: Annotated[
        tuple[int, ...],
        Parameter(help="First sector of the next request, once the one before is complete. Repeatable."),
    ] = (),
    sectors: Annotated[int, Parameter(help="Sectors of each request.")] = 8,
    op: Annotated[Literal["read", "write"], Parameter(help="Direction of each request.")] = "read",
    gap_ms: Annotated[float, Parameter(help="From a completion to the next arrival.")] = 0.0,
    from_: Annotated[
        Path | None,
        Parameter(name="--from", help="Completions of a run (`simulate --out`), instead of --lba."),
    ] = None,
    id_: Annotated[int | None, Parameter(name="--id", help="The request of that run to explain.")] = None,
    before: Annotated[
        int | None, Parameter(help="How many requests ahead of it to explain, too (2 if absent).")
    ] = None,
    seed: Annotated[int | None, Parameter(help="Seed of everything random in the drive.")] = None,
    set_: Overrides = (),
    scheduler: Scheduler = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page with the timeline.")] = None,
    json: Json = False,
) -> int:
    """Show one request, or a few, as a timeline: from where to where, each phase, the sector just missed."""
    from headstack import explain, explain_completion
    from headstack.files import check_report

    if report is not None:
        check_report(report)
    if (lba is None) == (from_ is None):
        raise InputError(
            "explain needs a request", "give --lba N (and --then N …), or --from completions.parquet --id N"
        )
    _refuse_misplaced(lba, then, gap_ms, from_, id_, before, seed)
    built = built_system(system, set_, scheduler)
    if from_ is not None and id_ is not None:
        found = explain_completion(built, from_, id_, before=2 if before is None else before)
    else:
        first = 0 if lba is None else lba
        found = explain(built, [first, *then], sectors=sectors, op=op, gap_ms=gap_ms, seed=1 if seed is None else seed)
    if report is not None:
        found.report(report)
    if json:
        output.print_json({"system": found.system, "requests": found.timelines})
    else:
        _show(found)
    if report is not None:
        output.wrote(report)
    return 0


def _refuse_misplaced(
    lba: int | None,
    then: tuple[int, ...],
    gap_ms: float,
    from_: Path | None,
    id_: int | None,
    before: int | None,
    seed: int | None,
) -> None:
    if from_ is not None and id_ is None:
        raise InputError(f"which request of `{from_}`?", "say --id N")
    for name, is_given in (("--then", then), ("--gap-ms", gap_ms), ("--seed", seed is not None)):
        if from_ is not None and is_given:
            raise InputError(f"{name} does not go with --from", "the run's own requests, times and seed are used")
    for name, value in (("--id", id_), ("--before", before)):
        if lba is not None and value is not None:
            raise InputError(f"{name} is about a run's completions", "give them with --from")


def _show(found: Explanation) -> None:
    from headstack.timelines import happened, summary_line, title

    for timeline in found.timelines:
        _note_difference(timeline)
        output.table(
            title(timeline),
            ["step", "ms", "takes", "cylinder", "head", "angle", "what happens"],
            [
                (
                    step["label"],
                    number(_ms_between(timeline["arrival_ms"], step["start_ms"]), 3),
                    of_unit(_ms_between(step["start_ms"], step["end_ms"]), "ms", 3),
                    number(step["cylinder"]),
                    number(step["head"]),
                    Shown(
                        f"{step['start_revolutions']:.3f} → {step['end_revolutions']:.3f}",
                        Part("from", step["start_revolutions"], "revolutions"),
                        Part("to", step["end_revolutions"], "revolutions"),
                    ),
                    happened(step),
                )
                for step in timeline["steps"]
            ],
            text_columns=(0, 6),
            caption=summary_line(timeline),
        )


def _ms_between(start_ms: float, end_ms: float) -> float:
    """From one instant to another: both are whole nanoseconds, and so is what lies between."""
    return round(end_ms - start_ms, 6)


def _note_difference(timeline: Mapping[str, Any]) -> None:
    from headstack.explanation import SAME_MS

    finish, phases = timeline.get("differs_ms", 0.0), timeline.get("phases_differ_ms", 0.0)
    if abs(finish) > SAME_MS or phases > SAME_MS:
        how = (
            f"it finishes {finish:+.3f} ms from the record"
            if abs(finish) > SAME_MS
            else f"a phase is {phases:.3f} ms from the record"
        )
        output.warning(
            f"served again from the run's completions alone, request {timeline['id']} is not as it was in the run: {how}; what "
            "made the difference is not in them, so this shows how it could have gone, not how it went"
        )
