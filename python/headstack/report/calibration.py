"""The page of a calibration: before and after, what each parameter gains, and what the trace cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.calibration.retries import demerit_with_retries, retries_words
from headstack.calibration.table import COLUMNS_SAY, not_identifiable, span, told_values, values, verdict
from headstack.calibration.table import value as written
from headstack.report import charts, style
from headstack.report.page import Number, Page, Section
from headstack.report.residuals import fit_section
from headstack.shown import number
from headstack.validation import lock_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.calibration import Calibration

CLIP = 0.9995
"""The slowest of ten thousand requests would squeeze the rest together."""


def calibration_page(found: Calibration) -> Page:
    """The page of a fit: distributions before and after, scores, parameters, and what is not identifiable."""
    summary = found.summary
    test = summary["test"]
    before, after = test["before"], test["after"]
    split = summary["split"]
    scored = (
        f"each scored by a drive fitted to the other {split['folds'] - 1} of {split['folds']} blocks"
        if "folds" in split
        else f"{split['test_requests']:,} test requests, to which nothing was fitted"
    )
    return Page(
        title=f"{summary['system']} fitted to {summary['workload']}",
        subtitle=f"{split['train_requests']:,} training requests, {scored}; {_lock(summary)}",
        answer=_answer(found),
        numbers=[
            Number("error per test request", f"{number(after['per_request']['mae_percent'])} %",
                   f"{number(before['per_request']['mae_percent'])} % before"),
            Number("demerit of test requests", f"{number(after['demerit_percent'])} %", f"{number(before['demerit_percent'])} % before"),
            Number("parameters changed", number(len(found.changed)), f"of {number(len(summary['parameters']))}"),
            Number("not identifiable", number(sum(not row["identifiable"] for row in summary["parameters"])),
                   "left as they were"),
        ],
        sections=[
            *_distributions(found),
            _scores(summary),
            *_folds(summary),
            _changed(found),
            _unknown(summary),
            *_refuted(summary),
            _retries(summary),
            *_angles(summary),
        ],
        cite=[
            ("tool", f"headstack {summary['version']}"),
            ("system", summary["system"]),
            ("trace", summary["workload"]),
            ("objective", summary["objective"]),
            ("seed", str(summary["seed"])),
            ("drives tried", number(summary["evaluations"])),
        ],
    )  # fmt: skip


def _lock(summary: Mapping[str, Any]) -> str:
    return lock_words(summary["phase"]["after"])


def _answer(found: Calibration) -> str:
    test = found.summary["test"]
    if not found.changed:
        return (
            f"No parameter was changed: on test requests, to which nothing was fitted, the error per request stays "
            f"{number(test['before']['per_request']['mae_percent'])} % of the mean."
        )
    before, after = (test[when]["per_request"]["mae_percent"] for when in ("before", "after"))
    worst = [f"{score.what} ({score.before_ms:.3g} to {score.after_ms:.3g} ms)" for score in found.worse]
    moved = "rose" if after > before else "fell" if after < before else "went"
    text = (
        f"On test requests, to which nothing was fitted, the error per request {moved} from {number(before)} to "
        f"{number(after)} % of the mean"
    )
    if after > before:
        text += ": the fit made it worse"
    return (
        f"{text}. Worse on them: {', '.join(worst)}." if worst else f"{text}. No score of reads or of writes is worse."
    )


def _distributions(found: Calibration) -> list[Section]:
    if "folds" in found.summary["split"]:
        return []
    import polars as pl

    old, new = pl.DataFrame(found.before.times), pl.DataFrame(found.after.times)
    colours = {"measured": style.PALE, "before": style.ORANGE, "after": style.BLUE}
    sections = []
    for title, kind in (("All requests", None), ("Reads", "read"), ("Writes", "write")):
        own = old if kind is None else old.filter(pl.col("op").cast(pl.String) == kind)
        fitted = new if kind is None else new.filter(pl.col("op").cast(pl.String) == kind)
        if own.is_empty():
            continue
        curves = {"measured": own["measured_ms"], "before": own["model_ms"], "after": fitted["model_ms"]}
        text = "Service times of the test requests." if kind is None else ""
        chart = charts.cdf(curves, colours, "service time (ms)", clip=CLIP, wide="measured")
        sections.append(Section(f"{title}: measured, before and after", text, chart, half=kind is not None))
    return sections


def _scores(summary: Mapping[str, Any]) -> Section:
    rows = []
    for part, words in (("train", "training"), ("test", "test")):
        for kind in ("all", "reads", "writes"):
            scores = [
                summary[part][when] if kind == "all" else summary[part][when][kind] for when in ("before", "after")
            ]
            if not scores[0]["requests"]:
                continue
            rows.append(
                [
                    f"{words}, {kind}",
                    number(scores[0]["requests"]),
                    *(number(score["per_request"]["mae_ms"], 3) for score in scores),
                    *(number(score["per_request"]["mae_percent"]) for score in scores),
                    *(number(score["demerit_ms"], 3) for score in scores),
                ]
            )
    columns = [
        "", "requests", "error before (ms)", "error after (ms)", "error before (%)", "error after (%)",
        "demerit before (ms)", "demerit after (ms)",
    ]  # fmt: skip
    text = "The error is the mean absolute one of single requests, in ms and in percent of the mean measured time."
    return Section("Scores", text, columns=columns, rows=rows)


def _folds(summary: Mapping[str, Any]) -> list[Section]:
    if "folds" not in summary:
        return []
    folds = summary["folds"]
    columns = ["block", "requests", "error before", "error after", "demerit before", "demerit after"]
    rows = [
        [
            str(block),
            number(fold["after"]["requests"]),
            *(f"{number(fold[when]['per_request']['mae_percent'])} %" for when in ("before", "after")),
            *(f"{number(fold[when]['demerit_percent'])} %" for when in ("before", "after")),
        ]
        for block, fold in enumerate(folds["scores"], 1)
    ]
    means = [folds["mean"][when][key] for key in ("mae_percent", "demerit_percent") for when in ("before", "after")]
    rows.append(["mean and 95 %", "", *(mean_interval(mean) for mean in means)])
    return [Section("Block by block", "Each scored by a drive fitted to the others.", columns=columns, rows=rows)]


def mean_interval(mean: Mapping[str, Any]) -> str:
    """A mean over blocks and half its 95 % interval, in percent."""
    if mean["ci95"] is None:
        return f"{number(mean['mean'])} %"
    return f"{number(mean['mean'])} ± {number((mean['ci95'][1] - mean['ci95'][0]) / 2)} %"


def _changed(found: Calibration) -> Section:
    rows = [
        [
            row["name"],
            *told_values(row),
            interval(row),
            number(row["gain_ms"], 4),
            number(row["gain_percent"], 1),
            verdict(row),
        ]
        for row in sorted(found.changed, key=lambda row: -row["gain_ms"])
    ]
    text = f"{COLUMNS_SAY[0].upper()}{COLUMNS_SAY[1:]}."
    if not rows:
        return Section("What each parameter gains", "No parameter was changed.")
    columns = ["parameter", "before", "after", "95 % interval", "gain alone (ms)", "gain alone (%)", "wrong before"]
    return Section("What each parameter gains", text, columns=columns, rows=rows)


def interval(row: Mapping[str, Any]) -> str:
    """The values that fit about as well as the fitted one, for people."""
    if row["ci95"] is None:
        return "–"
    low, high = row["ci95"]
    return span(low, high)


def _unknown(summary: Mapping[str, Any]) -> Section:
    rows = [row for row in summary["parameters"] if not row["identifiable"]]
    names = set(not_identifiable(rows))
    listed = [
        [row["name"], values(row)[1], interval(row), _why(row)]
        for row in rows
        if row["name"] in names or row["path"] in names
    ]
    text = "Left as they were." if listed else "The training requests bound every parameter."
    columns = ["parameter", "value", "95 % interval", "why"] if listed else []
    return Section("What the trace cannot tell", text, columns=columns, rows=listed)


def _refuted(summary: Mapping[str, Any]) -> list[Section]:
    if not summary["refuted"]:
        return []
    text = (
        "Fitted again to the first two thirds of the training requests, these made a score of reads or of writes worse on the "
        "last third, and went back."
    )
    return [Section("Taken back", text, columns=["parameter"], rows=[[name] for name in summary["refuted"]])]


def _retries(summary: Mapping[str, Any]) -> Section:
    found = summary["retries"]
    rows = [
        [row["name"], f"{row['value']:.3g}", f"{row['ci95'][0]:.3g} to {row['ci95'][1]:.3g}"]
        for row in found["parameters"]
    ]
    text = f"{retries_words(found)}."
    if found["test_with"] is not None:
        scored = demerit_with_retries(found["test_with"], summary["test"]["after"]["demerit_percent"])
        text += f" On test requests: {scored}."
    return Section("Retries", text, columns=["parameter", "value", "95 % interval"] if rows else [], rows=rows)


def _why(row: Mapping[str, Any]) -> str:
    if "as_good" in row:
        return "as good: " + ", ".join(written(option) for option in row["as_good"])
    if row["ci95"] is None:
        return "no request depends on it, or any value does as well"
    if None in row["ci95"]:
        return "no value on one side is ruled out"
    return "bounded by physics alone"


def _angles(summary: Mapping[str, Any]) -> list[Section]:
    phase = summary["phase"]["after"]
    return [fit_section(drive, phase["fitted_to_requests"]) for drive in phase["drives"]]
