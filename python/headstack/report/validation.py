"""The page of a validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.counted import plural, the_first
from headstack.report import charts, style
from headstack.report.page import Number, Page, Section
from headstack.report.residuals import residual_sections
from headstack.report.tables import assumed_notice, citation
from headstack.shown import error_ms, number, signed
from headstack.validation import lock_counts, lock_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from headstack.validation import Validation


def validation_page(validation: Validation) -> Page:
    """The page: measured and model distributions over each other, the scores, and where the error is."""
    import polars as pl

    summary = validation.summary
    times = pl.DataFrame(validation.times)
    errors, unlocked = summary["per_request"], summary.get("without_phase_lock")
    return Page(
        title=f"{summary['system']} against {summary['workload']}",
        subtitle=f"{plural(summary['requests'], 'measured request')}, {summary['replay']} replay; {_fitted(validation)}",
        answer=validation.answer(),
        notices=[notice for notice in [assumed_notice(summary["provenance"])] if notice],
        numbers=[
            Number("demerit", f"{number(summary['demerit_percent'])} %", f"{number(summary['demerit_ms'])} ms"),
            Number("measured mean", f"{number(summary['measured_mean_ms'])} ms", "service time"),
            Number("model mean", f"{number(summary['model_mean_ms'])} ms", _difference(summary)),
            Number(
                "error per request",
                error_ms(errors["mae_ms"], "ms"),
                f"{number(errors['mae_percent'])} % of the mean"
                + (f", {lock_words(validation.summary['phase'])}" if unlocked else ""),
            ),
            *(
                [Number("not phase-locked", error_ms(unlocked["per_request"]["mae_ms"], "ms"), "error per request")]
                if unlocked
                else []
            ),
            Number("correlation", number(errors["correlation"], 3), "model against measured"),
        ],
        sections=[*sections(summary, times), _reads_and_writes(summary), *residual_sections(validation)],
        cite=citation(summary),
    )


def sections(summary: Mapping[str, Any], times: pl.DataFrame) -> list[Section]:
    """Measured and model distributions over each other: of the drive as it stands, or of every rung."""
    if "ladder" not in summary:
        return [_overlay("Measured and modelled times", "", times, "model", style.BLUE)]
    rows = [
        [
            rung["step"],
            rung["content"],
            number(rung["model_mean_ms"]),
            number(rung["demerit_ms"]),
            f"{number(rung['demerit_percent'])} %",
            error_ms(rung["per_request"]["mae_ms"]),
        ]
        for rung in summary["ladder"]
    ]
    columns = ["step", "content", "model mean (ms)", "demerit (ms)", "demerit", "error per request (ms)"]
    text = (
        "The demerit is the root mean square horizontal distance between the two curves, in percent of the measured mean "
        f"({number(summary['measured_mean_ms'])} ms)."
    )
    found = [Section("The ladder of models", text, columns=columns, rows=rows, text_columns=2)]
    for rung in summary["ladder"]:
        title = f"{rung['step']}: {number(rung['demerit_percent'])} %"
        colour = style.RUNGS[rung["step"]]
        found.append(_overlay(title, _sentence(rung["content"]), times, rung["step"], colour, half=True))
    return found


def _overlay(title: str, text: str, times: pl.DataFrame, model: str, colour: str, *, half: bool = False) -> Section:
    # The slowest of ten thousand requests would squeeze the rest together.
    curves = {"measured": times["measured_ms"], model: times[f"{model}_ms"]}
    return Section(
        title,
        text,
        charts.cdf(curves, {"measured": style.PALE, model: colour}, "service time (ms)", clip=0.9995, wide="measured"),
        half=half,
    )


def _reads_and_writes(summary: Mapping[str, Any]) -> Section:
    rows = []
    for kind in ("reads", "writes"):
        scores = summary[kind]
        if not scores["requests"]:
            continue
        errors = scores["per_request"]
        rows.append(
            [
                kind,
                number(scores["requests"]),
                number(scores["measured_mean_ms"]),
                number(scores["model_mean_ms"]),
                number(scores["demerit_ms"]),
                f"{number(scores['demerit_percent'])} %",
                error_ms(errors["mae_ms"]),
                error_ms(errors["p90_ms"]),
                number(errors["correlation"], 3),
            ]
        )
    columns = [
        "", "requests", "measured mean (ms)", "model mean (ms)", "demerit (ms)", "demerit", "error per request (ms)",
        "90 % of errors within (ms)", "correlation",
    ]  # fmt: skip
    return Section("Reads and writes", columns=columns, rows=rows)


def _difference(summary: Mapping[str, Any]) -> str:
    share = 100 * (summary["model_mean_ms"] / summary["measured_mean_ms"] - 1)
    return signed(share, 2, "%")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "."


def _fitted(validation: Validation) -> str:
    """What of the model was fitted, and whether to this very trace."""
    summary = validation.summary
    count = summary["provenance"]["values"].get("fitted", 0)
    if len(summary.get("phase", {}).get("drives", [])) == 1:
        # Without the speed that the lock fits, which is told below.
        count = len(validation.fitted_sources)
    trace = summary["workload"].split(" ")[0]
    parts = []
    if count:
        own = sum(trace in source for source in validation.fitted_sources)
        fitted = f"{count} of the drive's values {'was' if count == 1 else 'were'} fitted to"
        if own == count:
            parts.append(f"{fitted} parts of this very trace")
        else:
            parts.append(f"{fitted} measured times" + (f", {own} of them to parts of this very trace" if own else ""))
    if "phase" in summary:
        parts.append(_locked(summary["phase"]))
    return "; ".join(parts) or "nothing was fitted"


def _locked(phase: Mapping[str, Any]) -> str:
    """What a phase lock fitted, and to which requests."""
    count = phase["fitted_to_requests"]
    unscored = f"which {'is' if count == 1 else 'are'} not scored"
    found, drives = lock_counts(phase)
    if not found:
        return f"the phase lock finds nothing in {the_first(count, 'request')}, {unscored}"
    whose = "" if found == drives else f" of {found:,} of {drives:,} drives"
    return f"speed, skews and angles{whose} are fitted to {the_first(count, 'request')}, {unscored}"
