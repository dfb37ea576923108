"""`headstack validate`: a model against measured times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headstack.cli import offered, output, progress
from headstack.cli.models import built_system
from headstack.cli.options import (
    OUTPUT,
    RUN,
    TRACE,
    Json,
    Overrides,
    Replay,
    Scheduler,
    TraceOptions,
    check_counts,
)
from headstack.shown import Shown, error_ms, joined, made_by, number, percent, several, shown, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack import Validation
    from headstack.results.validations import ResidualClass


def validate(
    system: Annotated[str, Parameter(help="Library name, drive file or system file.", completer=offered.systems)],
    *,
    trace: Annotated[Path, Parameter(group=TRACE, help="Trace that has measured times.")],
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    ladder: Annotated[
        bool, Parameter(group=RUN, help="Score the rungs M0 to M5 of the ladder of models, too.")
    ] = False,
    replay: Annotated[
        Replay | None,
        Parameter(group=RUN, help="When requests are issued; `measured` where the trace has starts, else `closed`."),
    ] = None,
    phase_lock: Annotated[
        bool,
        Parameter(
            group=RUN,
            help="Fit speed, skews and zone angles to the first part of the trace, follow the spindle's phase, and score "
            "the rest. Needs the measured replay.",
        ),
    ] = False,
    fit_share: Annotated[
        float | None,
        Parameter(
            group=RUN,
            help="The share of the trace that `--phase-lock` fits, its training requests (0.5 if absent); the rest are test requests.",
        ),
    ] = None,
    requests: Annotated[int | None, Parameter(group=RUN, help="At most so many requests.")] = None,
    seed: Annotated[int | None, Parameter(group=RUN, help="Seed of everything random in the model.")] = None,
    scheduler: Scheduler = None,
    set_: Overrides = (),
    save: Annotated[
        Path | None, Parameter(group=OUTPUT, help="Write the drive as `--phase-lock` fitted it, as a drive file.")
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page about the comparison.")] = None,
    json: Json = False,
) -> int:
    """Replay a trace that has measured times, and score the model against them.

    Parts of a trace are scored with `--from` and `--to`: `--from 3d` leaves out the first three days.
    """
    from headstack import validate
    from headstack.errors import InputError
    from headstack.files import check_report

    if report is not None:
        check_report(report)
    if save is not None and not phase_lock:
        raise InputError("there is nothing to save: only `--phase-lock` fits the drive", "add `--phase-lock`")
    if fit_share is not None and not phase_lock:
        raise InputError("--fit-share is the share that `--phase-lock` fits", "add `--phase-lock`")
    check_counts(requests=requests)
    built = built_system(system, set_, scheduler)
    with progress.bar("replaying", requests) as told:
        validation = validate(
            built,
            how.open(trace, settles_gap=True),
            replay=replay,
            seed=seed,
            requests=requests,
            ladder=ladder,
            phase_lock=(0.5 if fit_share is None else fit_share) if phase_lock else False,
            note=output.note,
            progress=told,
        )
    if save is not None:
        validation.save_drive(save)
    if report is not None:
        validation.report(report)
    residuals = _residual_classes(validation)
    if json:
        output.print_json({**validation.summary, "answer": validation.answer(), "residuals": residuals})
    else:
        output.sentence(validation.answer())
        output.line()
        _show(validation.summary)
        if residuals:
            _show_residuals(validation, residuals)
    for path in (save, report):
        if path is not None:
            output.wrote(path)
    return 0


def _residual_classes(validation: Validation) -> list[ResidualClass] | None:
    from importlib.util import find_spec

    from headstack.errors import package_hint

    if find_spec("polars") is None:
        output.note(f"where the error is needs the Python package `polars`: {package_hint('polars')}")
        return None
    return validation.residual_classes()


def _show_residuals(validation: Validation, residuals: list[ResidualClass]) -> None:
    from headstack.residuals import class_words, is_exact, where

    output.line()
    said = "; ".join(where(validation.residuals))
    if is_exact(validation.residuals):
        output.sentence(f"{said[:1].upper()}{said[1:]}.")
        return
    output.table(
        "Where the error is",
        ["", "requests", "measured (ms)", "bias (ms)", "error per request (ms)", "of the error"],
        [
            (
                class_words(group),
                number(group["requests"]),
                number(group["measured_mean_ms"]),
                signed(group["bias_ms"], 2),
                error_ms(group["mae_ms"]),
                percent(group["error_share"], 1),
            )
            for group in residuals[:5]
        ],
        caption=said,
    )


def _show(summary: Mapping[str, Any]) -> None:
    parts = _parts(summary)
    if "without_phase_lock" in summary:
        parts += [(f"{kind}, not locked", scores) for kind, scores in _parts(summary["without_phase_lock"])]
    if "retries" in summary:
        parts += [(f"{kind}, no retries", scores) for kind, scores in _parts(summary["retries"]["without"])]
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
                number(scores["demerit_percent"], 2, "%"),
                error_ms(scores["per_request"]["mae_ms"]),
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
                    number(rung["demerit_percent"], 2, "%"),
                )
                for rung in summary["ladder"]
            ],
            text_columns=(0, 1),
        )
    from headstack.calibration.retries import demerit_with_retries
    from headstack.validation import (
        geometry_words,
        lock_words,
        not_skipped_words,
        skew_words,
        skipped_words,
        spare_words,
    )

    lock = f", {lock_words(summary['phase'])}" if summary["phase_lock"] else ""
    pairs: list[tuple[str, str]] = [
        ("model", summary["system"]),
        ("trace", f"{summary['workload']}, {summary['replay']} replay{lock}"),
    ]
    if "retries" in summary:
        without = summary["retries"]["without"]["demerit_percent"]
        pairs.append(("retries", demerit_with_retries(summary["retries"], without)))
    for drive in summary.get("phase", {}).get("drives", []):
        pairs.append(("fitted", _fit(drive, summary["phase"]["fitted_to_requests"])))
        if said := geometry_words(drive["geometry"]):
            pairs.append(("geometry", said))
        if said := skew_words(drive["fit"]):
            pairs.append(("skews", said))
        if drive["fit"]["skipped_tracks"]:
            pairs.append(("angles jump", skipped_words(drive["fit"]["skipped_tracks"])))
        if drive["fit"]["listed_not_skipped"]:
            pairs.append(("listed tracks", not_skipped_words(drive["fit"]["listed_not_skipped"])))
        if drive["fit"]["spare_tracks"]:
            pairs.append(("spare tracks", spare_words(drive["fit"]["spare_tracks"])))
    if summary["clamped"]:
        pairs.append(("clamped", several("{} requests had to be moved: measured times overlap", summary["clamped"])))
    if summary["unmeasured"]:
        pairs.append(
            (
                "unmeasured",
                several("{} requests have no measured time and are not scored", summary["unmeasured"]),
            )
        )
    pairs.append(("run", made_by(summary)))
    output.facts("", pairs)


def _parts(scores: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [("all", scores), ("reads", scores["reads"]), ("writes", scores["writes"])]


def _fit(drive: Mapping[str, Any], requests: int) -> Shown:
    from headstack.validation import untold

    fit, tracking = drive["fit"], drive["tracking"]
    if not fit["period_found"]:
        return shown(f"nothing: {untold(fit, requests)}", requests)
    coherence = fit["coherence"]
    fitted = several(
        "{} rpm from the first {requests} requests, coherence of pairs {coherence of pairs} (the file's layout: {with the file's layout})",
        number(fit["rotation_rpm"]), requests, number(coherence["fitted"]), number(coherence["file"]),
    )  # fmt: skip
    if tracking is None:
        return fitted
    followed = several("the phase is followed to {phase} revolutions, found again after {} jumps", number(tracking["sigma_revolutions"], 4),
                       tracking["reacquisitions"])  # fmt: skip
    return joined("; ", [fitted, followed])
