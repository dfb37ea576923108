"""`headstack validate`: a model against measured times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import (
    MODEL,
    OUTPUT,
    RUN,
    TRACE,
    Json,
    Overrides,
    Replay,
    TraceOptions,
    model_overrides,
)


def validate(
    system: Annotated[str, Parameter(help="Library name, drive file or system file.")],
    *,
    trace: Annotated[Path, Parameter(group=TRACE, help="Trace that has measured times.")],
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    ladder: Annotated[
        bool, Parameter(group=RUN, help="Score the rungs M0 to M4 of the ladder of models, too.")
    ] = False,
    replay: Annotated[
        Replay | None,
        Parameter(group=RUN, help="When requests are issued; `measured` where the trace has starts, else `closed`."),
    ] = None,
    requests: Annotated[int | None, Parameter(group=RUN, help="At most so many requests.")] = None,
    seed: Annotated[int | None, Parameter(group=RUN, help="Seed of everything random in the model.")] = None,
    scheduler: Annotated[str | None, Parameter(group=MODEL, help="Order of the host driver's queue.")] = None,
    set_: Overrides = (),
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page about the comparison.")] = None,
    json: Json = False,
) -> int:
    """Replay a trace that has measured times, and score the model against them.

    Parts of a trace are scored with `--from` and `--to`: `--from 3d` leaves out the first three days.
    """
    from headstack import System, validate
    from headstack.files import check_report

    if report is not None:
        check_report(report)
    built = System(system, overrides=model_overrides(set_, scheduler))
    with output.progress("replaying", requests) as progress:
        validation = validate(
            built, how.open(trace), replay=replay, seed=seed, limit=requests, ladder=ladder, progress=progress
        )
    if report is not None:
        validation.report(report)
    if json:
        output.print_json(validation.summary)
    else:
        _show(validation.summary)
    if report is not None:
        output.note(f"wrote {report}")
    return 0


def _show(summary: dict[str, Any]) -> None:
    number = output.number
    output.line(
        f"{summary['system']} against {summary['workload']}: {number(summary['requests'])} measured requests, "
        f"{summary['replay']} replay"
    )
    output.line()
    parts = [("all", summary), ("reads", summary["reads"]), ("writes", summary["writes"])]
    output.table(
        "Service times",
        [
            "",
            "requests",
            "measured (ms)",
            "model (ms)",
            "demerit (ms)",
            "demerit",
            "error per request (ms)",
            "correlation",
        ],
        [
            (
                kind,
                number(scores["requests"]),
                number(scores["measured_mean_ms"]),
                number(scores["model_mean_ms"]),
                number(scores["demerit_ms"]),
                f"{number(scores['demerit_percent'])} %",
                number(scores["per_request"]["mae_ms"]),
                number(scores["per_request"]["correlation"], 3),
            )
            for kind, scores in parts
            if scores["requests"]
        ],
    )
    if "ladder" in summary:
        output.table(
            "The ladder of models",
            ["step", "content", "model (ms)", "demerit (ms)", "demerit"],
            [
                (
                    rung["step"],
                    rung["content"],
                    number(rung["model_mean_ms"]),
                    number(rung["demerit_ms"]),
                    f"{number(rung['demerit_percent'])} %",
                )
                for rung in summary["ladder"]
            ],
            text_columns=(0, 1),
        )
    pairs = []
    if summary["clamped"]:
        pairs.append(("clamped", f"{number(summary['clamped'])} requests had to be moved: measured times overlap"))
    if summary["unmeasured"]:
        pairs.append(
            (
                "unmeasured",
                f"{number(summary['unmeasured'])} requests have no measured time and are not scored",
            )
        )
    pairs.append(("run", f"seed {summary['seed']}, configuration {summary['config_hash'][:12]}, "
                         f"headstack {summary['version']}"))  # fmt: skip
    output.facts("", pairs)
