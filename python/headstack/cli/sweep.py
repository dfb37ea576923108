"""`headstack sweep`: many runs over a grid."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import DONE, IN_PART, interrupted, output, progress
from headstack.cli.options import OUT_NAMES, RUN, Dask, Json
from headstack.counted import kept_runs, plural
from headstack.errors import InputError
from headstack.shown import several

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from headstack import Sweep
    from headstack.sweeping.behind import Why


def sweep(
    file: Annotated[Path, Parameter(help="Sweep file: what is run, over which grid, how often.")],
    *,
    # Not among the outputs that appear together in the end: what is done is kept.
    out: Annotated[
        Path,
        Parameter(name=OUT_NAMES, group=RUN, help="Folder for the results: each run is there as soon as it is done."),
    ],
    resume: Annotated[
        bool, Parameter(group=RUN, help="Go on with what is in the folder: runs that are there are not made again.")
    ] = False,
    threads: Annotated[
        int | None, Parameter(group=RUN, help="So many runs at a time on this machine; one a core if left out.")
    ] = None,
    dask: Dask = None,
    slurm: Annotated[
        str | None,
        Parameter(
            group=RUN,
            help="Run as Slurm jobs: their options, such as partition=long,timeout_min=60; local for processes here.",
        ),
    ] = None,
    fail_if: Annotated[
        tuple[str, ...],
        Parameter(
            group=RUN,
            help="Exit with 1 if this holds of a point: a value `response_ms.p99 > 20ms`, or a change `response_ms.p99 > +5%` "
            "against the first point under the same load. Repeatable.",
        ),
    ] = (),
    json: Json = False,
) -> int:
    """Run a workload or a trace over a grid of systems, parameters and seeds; the results do not depend on where.

    Exit code 1: some points failed, or a limit of `--fail-if` is broken; they are listed, and the other points are done. Also
    where the cluster was lost: `--resume` makes the rest.
    """
    from headstack.comparison import sweep_limits
    from headstack.comparison.limits import Limit
    from headstack.files import check_packages
    from headstack.sweeping import definition, run_definition

    check_packages("a sweep", ("polars",))
    if threads is not None and threads < 1:
        raise InputError(
            f"--threads {threads}: a sweep needs a thread", "give at least 1, or leave it out for all cores"
        )
    if sum(each is not None for each in (threads, dask, slurm)) > 1:
        raise InputError("--threads, --dask and --slurm each say where runs are served", "give one of them")
    # What is wrong with the file is said before a cluster is asked for anything.
    found = definition.load(file)
    sweep_limits.check([Limit.parse(text) for text in fail_if], found)
    with (
        interrupted.told(lambda: kept(out)),
        _executor(dask, slurm, out) as executor,
        progress.bar("sweeping", None, "runs") as report,
    ):
        told = None if report is None else (lambda done, wanted: report(done, 0.0, wanted))
        done = run_definition(found, out, resume=resume, executor=executor, threads=threads, progress=told)
    output.print_json(done.summary) if json else _show(done)
    say_failures(done)
    output.wrote(out)
    if done.cancelled:
        _say_cluster_lost(done)
    # Of a sweep whose points failed, all of them, that is what there is to say.
    compared = done.compare(fail_if=fail_if) if fail_if and done.complete else None
    broken = [] if compared is None else compared.failed
    say_untested([] if compared is None else compared.untested)
    output.broken_limits(broken)
    return IN_PART if done.failures or done.cancelled or broken else DONE


def _say_cluster_lost(done: Sweep) -> None:
    """Say how much was not made because the cluster is gone, and how to go on."""
    points = f"{len(done.incomplete):,} of {plural(len(done.definition.points), 'point')}"
    output.warning(
        f"the cluster was lost, and {plural(done.cancelled, 'run')} not made: {points} not complete",
        "the same command with --resume goes on; what is done is kept",
    )


def say_untested(limits: list[str]) -> None:
    """Name the limits that could not be asked of some points."""
    for limit in limits:
        output.warning(f"limit not tested: {limit}")


def say_failures(done: Sweep) -> None:
    """List the points that failed."""
    for result in done.failures:
        assert result.failure is not None  # noqa: S101 (that makes it one)
        hint = f" ({result.failure.hint})" if result.failure.hint else ""
        output.warning(f"point {result.point.number} failed ({result.label}): {result.failure.error}{hint}")


def kept(out: Path | None) -> str | None:
    """What is kept of a sweep that is interrupted, and how to go on."""
    if out is None:
        return None
    from headstack.sweeping.folder import RUNS

    if not out.exists():
        return None
    runs = sum(1 for _ in (out / RUNS).glob("[0-9]*.parquet"))
    return f"{kept_runs(runs)} in {out}; the same command with --resume goes on"


@contextmanager
def _executor(dask: str | None, slurm: str | None, out: Path) -> Iterator[Executor | None]:
    if dask is None and slurm is None:
        yield None
        return
    from headstack.sweeping.executors import opened

    executor = opened(dask, slurm, out)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def text_columns(heads: list[str], axes: int) -> list[int]:
    """Which columns of a table of points hold words: those of the axes, and whether a point keeps up."""
    marked = [heads.index("keeps up", 1 + axes)] if "keeps up" in heads[1 + axes :] else []
    return [*range(1, 1 + axes), *marked]


_BEHIND: dict[Why, tuple[str, str]] = {
    "overloaded": (
        "its response times grow with the length of the run and say little else",
        "their response times grow with the length of the run and say little else",
    ),
    "lost data": ("its numbers are of what was served until then", "their numbers are of what was served until then"),
    "served nothing": ("it has no response times", "they have no response times"),
}
"""What becomes of the numbers of a point that does not keep up, and of several."""


def points_of(done: Sweep) -> str:
    """The word behind how many points a grid has."""
    return "point" if len(done.definition.points) == 1 else "points"


def behind_facts(done: Sweep) -> list[tuple[str, str]]:
    """Which points do not keep up with their load, and what that makes of their numbers."""
    from headstack.comparison.sweep_limits import named

    facts: list[tuple[str, str]] = []
    for reason, what in _BEHIND.items():
        which = [number for number, why in done.behind.items() if why == reason]
        if which:
            text = f"{{}} of {{of}} {points_of(done)}: {{which}}; {what[len(which) > 1]}"
            facts.append((reason, several(text, len(which), len(done.definition.points), named(done, which))))
    return [("do not keep up" if name == "overloaded" else name, text) for name, text in facts]


def stop_facts(done: Sweep) -> list[tuple[str, str]]:
    """What `[stop]` came to, and what it does to the intervals."""
    facts: list[tuple[str, str]] = []
    if (stop := done.definition.stop) is None:
        return facts
    lacking = [result for result in done.wide if result.estimate(stop.metric) is None]
    if wide := len(done.wide) - len(lacking):
        text = f"{{}} after {{}} repeats: more than {stop.within_percent:g} % of {stop.metric}"
        facts.append(("still wide", several(text, wide, stop.most)))
    if lacking:
        facts.append(("not judged", several(f"{{}}, whose runs have no {stop.metric} to stop by", len(lacking))))
    if done.ci95_note is not None:
        facts.append(("intervals", done.ci95_note))
    return facts


def _show(done: Sweep) -> None:
    from headstack.sweeping import table

    axes = len(done.definition.axes)
    heads = table.columns(done, done.served)
    output.table(
        done.definition.summary or done.definition.path.name,
        heads,
        table.rows(done, done.served),
        text_columns=text_columns(heads, axes),
    )
    facts: list[tuple[str, str]] = [
        ("points", several("{} of {of} complete", len(done.complete), len(done.definition.points)))
    ]
    if done.resumed:
        facts.append(("resumed", several("{} were complete before", done.resumed)))
    if done.is_run_once and len(done.complete) > 1:
        facts.append(
            (
                "chance",
                "whether differences are chance is not known: one run a point (`[repeats] count = 5` gives intervals)",
            )
        )
    facts += behind_facts(done) + stop_facts(done)
    if empty := sum(not any(run.summary["requests"] for run in result.runs) for result in done.complete):
        output.warning(
            f"{empty:,} of {plural(len(done.complete), 'point')}: no request was complete in time, there is nothing to tell"
        )
    if done.failures:
        facts.append(("failed", several("{}", len(done.failures))))
    output.facts("", facts)
