"""`headstack explore`: what to buy for a load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headstack.cli import DONE, IN_PART, interrupted, output, progress
from headstack.cli.options import OUT_NAMES, OUTPUT, RUN, Json, Replay, TraceOptions, check_counts
from headstack.cli.sweep import kept, say_failures
from headstack.errors import InputError
from headstack.shown import Shown, of_unit, shown

if TYPE_CHECKING:
    from headstack import Exploration


def explore(
    trace: Annotated[Path, Parameter(help="Trace with the load.")],
    *,
    candidates: Annotated[
        Path, Parameter(group=RUN, help="TOML file: drives, arrays, schedulers, prices, and the p99 that is needed.")
    ],
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    replay: Annotated[
        Replay | None, Parameter(group=RUN, help="When requests are issued: open, closed or measured.")
    ] = None,
    requests: Annotated[int | None, Parameter(group=RUN, help="At most so many requests.")] = None,
    p99_ms: Annotated[
        float | None,
        Parameter(name="--p99-ms", group=RUN, help="The p99 of the response that is needed; the file's if left out."),
    ] = None,
    threads: Annotated[int | None, Parameter(group=RUN, help="So many runs at a time; one a core if left out.")] = None,
    # Not among the outputs that appear together in the end: what is done is kept.
    out: Annotated[
        Path | None, Parameter(name=OUT_NAMES, group=RUN, help="Folder to keep the runs in; `compare` reads it.")
    ] = None,
    resume: Annotated[bool, Parameter(group=RUN, help="Go on with what is in the folder of --out.")] = False,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page of the candidates.")] = None,
    json: Json = False,
) -> int:
    """Run a trace on candidate systems, and weigh p99, watts and price: which of them holds the load.

    Exit code 1: some candidates could not be run; they are listed.
    """
    from headstack import explore as explored
    from headstack.files import check_packages, check_report

    check_packages("explore", ("polars",))
    if report is not None:
        check_report(report)
    if resume and out is None:
        raise InputError("--resume goes on with a folder, and none is named", "give it with --out")
    check_counts(requests=requests, threads=threads)
    with interrupted.told(lambda: kept(out)), progress.bar("exploring", None, "runs") as told:
        found = explored(
            how.open(trace),
            candidates,
            requests=requests,
            replay=replay,
            p99_ms=p99_ms,
            out=out,
            resume=resume,
            threads=threads,
            progress=None if told is None else (lambda done, wanted: told(done, 0.0, wanted)),
        )
    if report is not None:
        found.report(report)
    output.print_json(found.summary) if json else _show(found)
    say_failures(found.comparison.sweep)
    for path in (out, report):
        if path is not None:
            output.wrote(path)
    return IN_PART if found.comparison.sweep.failures else DONE


def _hours(hours: float | None) -> Shown:
    from headstack.sweeping.cells import figure

    return shown("–" if hours is None else figure(hours, 2), hours, "h")


def _show(found: Exploration) -> None:
    from headstack.sweeping.metrics import USD

    is_whole = all(each["usd"] is None or each["usd"] % 1 == 0 for each in found.summary["candidates"])
    axes = [axis.name for axis in found.comparison.sweep.definition.axes]
    rows = [
        [
            *(str(each[axis]) for axis in axes),
            *(
                of_unit(value, unit, digits)
                for value, unit, digits in (
                    (each["response_ms"]["p99"], "ms", 2),
                    (each["response_ms"]["mean"], "ms", 2),
                    (each["watts"], "W", 2),
                    (each["usd"], "USD", 0 if is_whole else 2),
                )
            ),
            # An estimate, off by a few percent.
            *(_hours(each[key]) for key in ("rebuild_hours", "rebuild_hours_idle")),
            verdict,
            ", ".join(
                f"p99 and {'price' if metric == USD else 'watts'}"
                for metric, is_on in each["on_front"].items()
                if is_on
            )
            or "–",
        ]
        for each, verdict in zip(found.summary["candidates"], map(found.verdict, found.comparison.points), strict=True)
    ]
    output.table(
        found.comparison.sweep.definition.summary,
        [
            *axes,
            "p99 (ms)",
            "mean (ms)",
            "watts",
            "price (USD)",
            "rebuild (h)",
            "idle (h)",
            "holds the load",
            "on the front of",
        ],
        rows,
        text_columns=(*range(len(axes)), len(axes) + 6, len(axes) + 7),
    )
    facts = [("answer", found.answer())]
    if found.comparison.sweep.is_run_once and len(found.comparison.points) > 1:
        facts.append(("chance", "whether small differences are chance is not known: one run a candidate"))
    output.facts("", facts)
