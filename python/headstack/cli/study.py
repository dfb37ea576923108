"""`headstack study`: reproduce a paper."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headstack.cli import offered, output, progress
from headstack.cli.options import OUTPUT, Json
from headstack.cli.verbs import VERBS, examples
from headstack.errors import InputError

if TYPE_CHECKING:
    from headstack.studies.framework import StudyResult

LONG_S = 60.0
"""Studies that take so much processor time say so beforehand."""

app = App(
    name="study",
    usage="Usage: headstack study [OPTIONS] NAME\n       headstack study list",
    help=VERBS["study"][1],
    help_epilogue=examples("study"),
)


@app.command(name="list", help_epilogue=examples("study list"))
def list_(*, json: Json = False) -> int:
    """List the studies."""
    from headstack.studies import STUDIES, about

    studies = [(name, *about(name)) for name in STUDIES]
    if json:
        output.print_json(
            {"studies": [{"name": name, "title": title, "paper": paper} for name, title, paper in studies]}
        )
    else:
        output.table("Studies", ["name", "question", "paper"], studies, text_columns=(0, 1, 2))
    return 0


@app.default
def study(
    name: Annotated[str, Parameter(help="A study, or `all`.", completer=offered.studies)],
    *,
    data: Annotated[
        Path | None,
        Parameter(help="Directory of the real data (or set HEADSTACK_DATA); without it their rows are not testable."),
    ] = None,
    report: Annotated[
        Path | None, Parameter(group=OUTPUT, help="HTML page; with `all`, a directory for a page each.")
    ] = None,
    export_rates: Annotated[
        Path | None,
        Parameter(group=OUTPUT, help="`rebuild` only: CSV with the rate of a rebuild by array, limit and load."),
    ] = None,
    json: Json = False,
) -> int:
    """Run a study and print its rows: claim, the paper's number, ours, verdict."""
    from headstack.files import check_writable
    from headstack.studies import STUDIES, run

    if data is None and os.environ.get("HEADSTACK_DATA"):
        data = Path(os.environ["HEADSTACK_DATA"])
    if data is not None and not data.is_dir():
        raise InputError(f"there is no directory `{data}`", "leave --data out to run what needs no data")
    if report is not None and name != "all":
        check_writable(report)
    if export_rates is not None:
        if name != "rebuild":
            raise InputError(f"study {name} has no rates to export", "give --export-rates with `study rebuild`")
        check_writable(export_rates)
    results = []
    names = list(STUDIES) if name == "all" else [name]
    told_beforehand(names)
    for number, each in enumerate(names, 1):
        with progress.steps(f"{each} ({number} of {len(names)} studies)" if len(names) > 1 else each) as told:
            results.append(run(each, data, told))
    if report is not None:
        _write(results, report, is_directory=name == "all")
    if export_rates is not None:
        from headstack.studies import rebuild

        rebuild.export_rates(export_rates)
        output.wrote(export_rates)
    if json:
        output.print_json({"studies": [one.json() for one in results]} if name == "all" else results[0].json())
    else:
        for result in results:
            _show(result)
    return 0


def told_beforehand(names: list[str]) -> None:
    """Where no progress is shown, how long the work takes: minutes of silence look like a command that hangs."""
    from headstack.studies import processor_s

    takes_s = sum(processor_s(name) for name in names)
    if takes_s >= LONG_S and not sys.stderr.isatty():
        what = names[0] if len(names) == 1 else f"{len(names)} studies"
        output.note(f"{what}: {progress.duration(takes_s)} of processor time or more")


def _write(results: list[StudyResult], report: Path, *, is_directory: bool) -> None:
    from headstack.report.study import study_page

    if is_directory:
        try:
            report.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot create `{report}`: {problem.strerror}") from None
    for result in results:
        path = report / f"{result.name}.html" if is_directory else report
        study_page(result).write(path)
        output.wrote(path)


def _show(result: StudyResult) -> None:
    from headstack.report.study import COLUMNS, row_cells

    output.table(
        f"{result.title} ({result.paper})",
        COLUMNS,
        [row_cells(row) for row in result.rows],
        text_columns=(0, 1, 5, 6, 7, 8),
        spare=(6, 5),
        caption=result.answer(),
        name=result.name,
    )
