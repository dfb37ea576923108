"""`headstack compare`: two or more of a kind side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from headstack.cli import DONE, IN_PART, output
from headstack.cli.options import OUTPUT, RUN, Json, ReadOptions
from headstack.cli.sweep import behind_facts, points_of, say_failures, say_untested, stop_facts, text_columns
from headstack.errors import InputError
from headstack.shown import several

if TYPE_CHECKING:
    from headstack import Comparison
    from headstack.comparison.result import Difference
    from headstack.comparison.sweep import SweepComparison


def compare(
    *files: Annotated[
        Path,
        Parameter(
            help="Runs (`simulate --out`, `--json`), traces with measured times, validations (`--json`), measurements "
            "(`--json`), drive files or names of library drives; the first is what the others are compared with. Or the folder of a sweep."
        ),
    ],
    time: Annotated[
        Literal["response", "service"] | None,
        Parameter(
            group=RUN,
            help="Which time of runs and traces: `response` from arrival (if absent), or `service` from the start at the drive.",
        ),
    ] = None,
    fail_if: Annotated[
        tuple[str, ...],
        Parameter(
            group=RUN,
            help="Exit with 1 if this holds of any of the others: a change `p99 > +5%`, `mean > +0.5ms`, or a value "
            "`p99 > 20ms`. A value that is itself a percentage changes in points: `demerit > +0.5%` holds from 2.0 to 2.6 %. Of a sweep, values are "
            "asked of every point. Repeatable.",
        ),
    ] = (),
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    seed: Annotated[
        int | None, Parameter(group=RUN, help="Seed of the resampling that the intervals come from; 1 if absent.")
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page of the comparison.")] = None,
    json: Json = False,
) -> int:
    """Compare runs, traces, validations, measurements or the points of a sweep, with 95 % intervals of what changed.

    Where both hold the same requests, they are compared request by request. Exit code 1: a limit of `--fail-if` is broken.
    """
    from headstack import Sweep, compare
    from headstack.files import check_report

    if report is not None:
        check_report(report)
    found: Comparison | SweepComparison
    if len(files) == 1 and files[0].is_dir():
        given = {"--time": time, "--seed": seed}
        _refuse([name for name, value in given.items() if value is not None] + how.given(), "the points of a sweep")
        found = Sweep(files[0]).compare(fail_if=fail_if)
    else:
        found = compare(files, time=time, fail_if=fail_if, seed=seed, open_trace=how.open)
        if found.sources[0].times is None:
            _refuse(how.given(), f"a {found.sources[0].noun}")
    if report is not None:
        found.report(report)
    output.print_json(found.summary) if json else _show(found)
    if report is not None:
        output.wrote(report)
    _say_sweep(found)
    output.broken_limits(found.failed)
    return IN_PART if found.failed else DONE


def _refuse(options: list[str], what: str) -> None:
    """Refuse options that choose among requests, or their times, where there are none."""
    if options:
        raise InputError(
            f"`{options[0]}` is for the requests of runs and traces, not for {what}",
            "leave it out, or compare completions (`simulate --out`) or traces",
        )


def _show(found: Comparison | SweepComparison) -> None:
    from headstack.comparison.sweep import SweepComparison

    is_sweep = isinstance(found, SweepComparison)
    _show_points(found) if is_sweep else _show_files(found)
    output.facts("", [("answer", found.answer()), *(_sweep_facts(found) if is_sweep else ())])


def _sweep_facts(found: SweepComparison) -> list[tuple[str, str]]:
    """Which points are not among those compared, and what is to be known of their intervals."""
    from headstack.comparison.sweep_limits import named

    sweep = found.sweep
    missing = [
        ("failed", [point.point.number for point in sweep.failures]),
        ("not complete", sweep.incomplete),
    ]
    text, of = f"{{}} of {{of}} {points_of(sweep)}: {{which}}", len(sweep.definition.points)
    facts = [(what, several(text, len(numbers), of, named(sweep, numbers))) for what, numbers in missing if numbers]
    return facts + behind_facts(sweep) + stop_facts(sweep)


def _say_sweep(found: Comparison | SweepComparison) -> None:
    """The points of a sweep that failed and why, and what limits could not be asked."""
    from headstack.comparison.sweep import SweepComparison

    if isinstance(found, SweepComparison):
        say_failures(found.sweep)
        say_untested(found.untested)


def _show_points(found: SweepComparison) -> None:
    definition = found.sweep.definition
    output.table(
        definition.summary or definition.path.name,
        found.columns,
        found.rows(),
        text_columns=text_columns(found.columns, len(definition.axes)),
        caption="changes against the first point under the same load, seed by seed; * the 95 % interval leaves out zero",
    )


def _show_files(found: Comparison) -> None:
    from headstack.report.comparison import COLUMNS, keys_words, table_rows

    for each in found.differences:
        output.table(
            f"{each.name} against {found.sources[0].name}",
            COLUMNS,
            table_rows(each),
            text_columns=(0, 3, 6, 7),
            caption=". ".join(
                filter(None, [f"first: {found.sources[0].name}; second: {each.name}", _keys(each), keys_words(each)])
            ).rstrip("."),
        )


def _keys(each: Difference) -> str:
    """The names for `--fail-if`, where readers see others."""
    other = any(each.label(name) != name for name in each.metrics if name != "p999")
    return f"For --fail-if: {', '.join(each.metrics)}" if other else ""
