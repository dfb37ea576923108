"""The part of a validation's page that shows what the model lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import polars as pl

from headstack.counted import the_first
from headstack.report import charts, residual_charts
from headstack.report.page import Section
from headstack.report.residual_charts import Against
from headstack.report.tables import PHASES
from headstack.residuals import GUESSES, NEAR_CYLINDERS, OPS, REVOLUTION_TOLERANCE, class_words, is_exact, where, worst
from headstack.shown import number, signed
from headstack.validation import (
    UNLOCKED,
    geometry_words,
    lock_counts,
    not_skipped_words,
    skew_words,
    skipped_words,
    spare_words,
    untold,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results.common import Revolutions
    from headstack.validation import Validation

WORST = 20
"""So many requests are listed."""

CLASSES = 15
"""So many classes at most are listed."""


def residual_sections(validation: Validation) -> list[Section]:
    """Where the error is, how it is distributed, what it depends on, the worst requests, and the phase lock."""
    frame = validation.residuals
    if frame.is_empty():
        return []
    if is_exact(frame):
        return [Section("Where the error is", lead=_lead(frame)), *_phase_lock(validation, frame)]
    return [
        _classes(validation, frame),
        *_distribution(validation, frame),
        *_dependence(frame),
        _worst(frame),
        *_phase_lock(validation, frame),
    ]


def _classes(validation: Validation, frame: pl.DataFrame) -> Section:
    groups = validation.residual_classes()
    rows = [
        [
            class_words(group),
            number(group["requests"]),
            _percent(group["requests_share"]),
            number(group["measured_mean_ms"]),
            signed(group["bias_ms"]),
            number(group["mae_ms"], 3),
            _percent(group["revolutions_early_share"]),
            _percent(group["revolutions_late_share"]),
            _percent(group["error_share"]),
        ]
        for group in groups[:CLASSES]
    ]
    text = "The error is model − measured: negative where the model is faster than the drive."
    if "seek_cylinders" in frame.columns:
        text += (
            " Sequential: begins where the request before ended; near: the arm goes at most "
            f"{NEAR_CYLINDERS} cylinders; far: more."
        )
    else:
        text += " Distances and the request before are left out: they are known for systems of one drive with one arm."
    if validation.rotation_ms is not None:
        text += (
            f" Revolutions off: the error is within {100 * REVOLUTION_TOLERANCE:.0f} % of a revolution "
            f"({validation.rotation_ms:.3f} ms) of one or several whole ones."
        )
    if len(groups) > CLASSES:
        rest = sum(group["error_share"] for group in groups[CLASSES:])
        text += f" Not listed: {len(groups) - CLASSES} more, with {_percent(rest)} of the error together."
    columns = [
        "class", "requests", "of all", "measured mean (ms)", "bias (ms)", "error per request (ms)", "revolutions early",
        "revolutions late", "of the error",
    ]  # fmt: skip
    return Section("Where the error is", text, columns=columns, rows=rows, lead=_lead(frame), dense=True)


def _lead(frame: pl.DataFrame) -> str:
    return " ".join(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in where(frame))


def _distribution(validation: Validation, frame: pl.DataFrame) -> list[Section]:
    rotation_ms = validation.rotation_ms
    kinds = [("all requests", frame)]
    for (op, guess), part in frame.sort("op", "guess").group_by("op", "guess", maintain_order=True):
        kinds.append((f"{OPS[str(op)]} {GUESSES[str(guess)]}", part))
    rows = []
    for name, part in kinds:
        size = part["error_ms"].abs()
        # Scores of all requests are the core's.
        within_1_ms = validation.summary["per_request"]["within_1_ms"] if part is frame else _share(size <= 1)
        rows.append(
            [
                name,
                number(len(part)),
                signed(cast("float", part["error_ms"].median())),
                *(_percent(_share(size <= limit)) for limit in (0.1, 0.5)),
                _percent(within_1_ms),
                _percent(_share(part["revolutions_off"] < 0)),
                _percent(_share(part["revolutions_off"] > 0)),
            ]
        )
    columns = [
        "", "requests", "median error (ms)", "within ± 0.1 ms", "within ± 0.5 ms", "within ± 1 ms",
        "revolutions early", "revolutions late",
    ]  # fmt: skip
    counted = "Requests by error, on a logarithmic axis."
    if rotation_ms is not None:
        outside = int((frame["error_ms"].abs() >= 1.25 * rotation_ms).sum())
        counted += f" Dashed: none, and one revolution ({rotation_ms:.3f} ms)."
        counted += f" {number(outside)} requests lie farther out." if outside else ""
    return [
        Section(
            "Error by predicted cache outcome",
            "Bar: the middle 50 %; thick line: 10 to 90 %; thin line: 1 to 99 %; tick: median. The error's axis is linear "
            f"within {residual_charts.LINEAR_MS:g} ms of zero and logarithmic beyond, here and below.",
            residual_charts.boxes(frame),
            columns=columns,
            rows=rows,
        ),
        Section("Error histogram", counted, residual_charts.histogram(frame, rotation_ms)),
    ]


def _dependence(frame: pl.DataFrame) -> list[Section]:
    scale, unit = charts.time_unit(frame["arrival_s"])
    dots = f"Line: median; band: 10 to 90 %, in bins of {residual_charts.LEAST} requests or more. {_dots(len(frame))}"
    found = []
    if "seek_cylinders" in frame.columns:
        found.append(
            Section(
                "Error against seek distance",
                f"From the last cylinder of the request before to the first of this one. {dots}",
                residual_charts.against(
                    frame, Against("seek_cylinders", "distance (cylinders)", scale="log", format=",")
                ),
            )
        )
    waits = frame.filter(pl.col("rotation_ms") > 0)
    halves = [
        ("Error against the predicted rotational wait", waits, Against("rotation_ms", "rotation in the model (ms)"),
         f"The {number(len(waits))} requests that wait for a sector in the model. Revolutions off at either end are "
         "sectors just caught or just missed."),
        ("Error against size", frame, _size(frame), "A slope points to a transfer rate."),
        ("Error against address", frame, Against("lba", "first LBA", format="~s"), "A step points to a zone."),
        ("Error over time", frame, Against("arrival_s", f"arrival ({unit})", unit=scale),
         "A drift points to the spindle's speed."),
    ]  # fmt: skip
    return found + [
        Section(title, text, residual_charts.against(part, what), half=True)
        for title, part, what, text in halves
        if len(part)
    ]


def _size(frame: pl.DataFrame) -> Against:
    wide = charts.real(frame["sectors"].max()) > 100
    return Against("sectors", "size (sectors)", scale="log" if wide else "linear", format=",")


def _dots(count: int) -> str:
    every = -(-count // residual_charts.EVEN)
    if every <= 1:
        return "Every request has a dot."
    return f"Dots: one request in {number(every)}, and the {residual_charts.WORST} with the largest errors."


def _worst(frame: pl.DataFrame) -> Section:
    rows = [
        [
            str(row["id"]),
            number(row["arrival_s"], 3),
            row["op"],
            number(row["lba"]),
            number(row["sectors"]),
            number(row.get("seek_cylinders")),
            row["guess"],
            number(row["measured_ms"]),
            number(row["model_ms"]),
            signed(row["error_ms"], 2),
            "–" if row["revolutions"] is None else signed(row["revolutions"], 2),
            *(number(row[f"{phase}_ms"]) for phase in PHASES),
        ]
        for row in worst(frame, WORST).to_dicts()
    ]
    columns = [
        "number", "at (s)", "op", "LBA", "sectors", "seek (cyl.)", "guess", "measured", "model", "error", "revolutions", *PHASES,
    ]  # fmt: skip
    return Section(
        f"The {len(rows)} worst requests",
        "Times in ms; revolutions: the error in revolutions; then the phases in the model, which add up to its time and the wait "
        "in the driver before it (queue). `headstack explain` tells what the model did in one of them.",
        columns=columns,
        rows=rows,
        dense=True,
    )


def _phase_lock(validation: Validation, frame: pl.DataFrame) -> list[Section]:
    if "phase" not in validation.summary:
        return []
    phase = validation.summary["phase"]
    fitted = (
        "the fitted drive" if lock_counts(phase)[0] else "the drive at its file's speed, since no period was found,"
    )
    found = [
        Section(
            "Locked and not locked",
            f"Share of requests whose error is no larger: with {fitted} and the spindle's phase followed, and with the "
            "drive as its file says.",
            residual_charts.error_cdf(
                {
                    "locked": frame["error_ms"],
                    "not locked": frame["without_phase_lock_ms"] - frame["measured_ms"],
                }
            ),
        )
    ]
    return found + [fit_section(drive, phase["fitted_to_requests"]) for drive in phase["drives"]]


def fit_section(drive: Mapping[str, Any], requests: int) -> Section:
    """Speed, skews and angles of a drive as a phase lock fitted them."""
    fit, tracking = drive["fit"], drive["tracking"]
    title = f"What the phase lock fitted to {drive['drive']}"
    if not fit["period_found"]:
        return Section(
            title, f"Nothing: {untold(fit, requests)}. {UNLOCKED} {geometry_words(drive['geometry'])}".strip()
        )
    coherence = fit["coherence"]
    text = (
        f"{fit['rotation_rpm']:.2f} rpm ({fit['rotation_ms']:.4f} ms a revolution) from {number(fit['observations'])} of "
        f"{the_first(requests, 'request')}. Coherence is 1 where all pairs of requests agree about the angle between "
        f"them, and 0 by chance: {coherence['file']:.2f} with the drive file, {coherence['period_only']:.2f} with only the "
        f"speed fitted, {coherence['fitted']:.2f} with all of it; in test pairs, which chose nothing, "
        f"{coherence['held_out_before']:.2f} before and {coherence['held_out_after']:.2f} after."
    )
    if tracking is not None:
        text += (
            f" In test requests the phase is followed to {tracking['sigma_revolutions']:.4f} revolutions, and found again "
            f"after {number(tracking['reacquisitions'])} jumps."
        )
    for said in (geometry_words(drive["geometry"]), skew_words(fit)):
        text += f" {said}" if said else ""
    if fit["skipped_tracks"]:
        text += f" {skipped_words(fit['skipped_tracks'])}"
    if fit["listed_not_skipped"]:
        text += f" {not_skipped_words(fit['listed_not_skipped'])}"
    if fit["spare_tracks"]:
        text += f" {spare_words(fit['spare_tracks'])}"
    text += (
        " Each angle is in revolutions, with its source: file, which the times do not contradict; one-value, for all "
        "zones; zone, its own; file-unseen, about which the times say nothing."
    )
    rows = [
        [
            number(zone["zone"]),
            number(zone["pairs"]),
            *(_estimate(zone[key]) for key in ("track_skew", "cylinder_skew", "range_skew", "first_sector")),
            # Chance is as often below 0 as above: no "-0.00".
            *(number(round(zone[key], 2) + 0.0) for key in ("coherence_before", "coherence_after")),
        ]
        for zone in fit["zones"]
    ]
    columns = [
        "zone", "pairs", "track skew", "cylinder skew", "range skew", "first sector", "coherence before",
        "coherence after",
    ]  # fmt: skip
    return Section(title, text, columns=columns, rows=rows)


def _estimate(value: Revolutions | None) -> str:
    return "–" if value is None else f"{value['revolutions']:.4f}, {value['from']}"


def _share(holds: pl.Series) -> float | None:
    return None if holds.null_count() else charts.real(holds.mean())


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
