"""`headstack calibrate`: a drive fitted to measured times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from headstack.cli import interrupted, offered, output, progress
from headstack.cli.models import built_system
from headstack.cli.options import MODEL, OUTPUT, RUN, TRACE, Json, Overrides, TraceOptions
from headstack.errors import InputError
from headstack.shown import Part, Shown, number, of_unit, several, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

STREAMS = Group("Throughputs of streams", sort_key=1)
ROUNDS = 3
Objective = Literal["balanced_ms", "mae_ms", "rmse_ms", "demerit_ms"]
OBJECTIVE: Objective = "mae_ms"
Law = Literal["constant", "uniform", "normal", "exponential"]


def calibrate(
    system: Annotated[str, Parameter(help="Library name or drive file of one drive.", completer=offered.drives)],
    *,
    trace: Annotated[Path | None, Parameter(group=TRACE, help="Trace that has measured times.")] = None,
    table: Annotated[
        Path | None,
        Parameter(
            group=STREAMS,
            help="Fit the drive's stream model to throughputs instead: a CSV file with `op`, `file_mb`, `record_kib` and "
            "`mb_per_s`; the largest files are the training set, the others the test set.",
        ),
    ] = None,
    record: Annotated[
        Path | None, Parameter(group=STREAMS, help="The same, from a record of `measure DEVICE stream`.")
    ] = None,
    law: Annotated[
        Law | None,
        Parameter(
            group=STREAMS,
            help="The form of the delays of a stream model; absent: as in the file, and `normal` where it has none.",
        ),
    ] = None,
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    split: Annotated[
        str,
        Parameter(
            group=RUN,
            help="Training requests: the first `half` or share (`0.3`) of the trace, the rest being test requests; or `k-fold` "
            "(`10-fold`): each of 5 (10) blocks tested with a drive fitted to the others.",
        ),
    ] = "half",
    parameters: Annotated[
        str | None,
        Parameter(
            group=MODEL,
            help="What to fit: dotted paths with commas between them, `controller` for all in a table; else everything "
            "that makes sense for the drive.",
        ),
    ] = None,
    rounds: Annotated[int, Parameter(group=RUN, help="At most so many rounds of search.")] = ROUNDS,
    objective: Annotated[
        Objective,
        Parameter(
            group=RUN,
            help="What is minimised: the mean or root mean square error per request; the mean error with the mean distance of "
            "the distributions, of reads and of writes (`balanced_ms`); or the demerit.",
        ),
    ] = OBJECTIVE,
    retries: Annotated[
        bool,
        Parameter(
            group=MODEL,
            negative="",
            help="Give the corrected drive `[soft_errors]`, too, if requests that are whole revolutions late tell how often "
            "it retries.",
        ),
    ] = False,
    set_: Overrides = (),
    save: Annotated[
        Path | None, Parameter(group=OUTPUT, help="Write the corrected drive as a drive file, or the stream model.")
    ] = None,
    report: Annotated[
        Path | None, Parameter(group=OUTPUT, help="HTML page about the fit: before and after, and what is not known.")
    ] = None,
    resume: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT,
            help="Keep what was tried in this file, and go on from what it holds: the result is that of an uninterrupted run.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Fit parameters of a drive to training requests, the first part of a trace with measured times, and score it on test requests, the rest.

    With `--table` or `--record`: fit its model of sequential streams to throughputs.
    Tells which parameters the training requests prove wrong, within what range they know them, and which are not
    identifiable from them. Test requests are not looked at until the parameters stand.
    """
    from headstack import calibrate
    from headstack.files import check_report, check_saved

    for path, check in ((save, check_saved), (report, check_report)):
        if path is not None:
            check(path)
    given = [
        option for option, path in (("--trace", trace), ("--table", table), ("--record", record)) if path is not None
    ]
    if len(given) != 1:
        raise InputError(
            f"{' and '.join(given)} go one at a time" if given else "calibrate needs something that was measured",
            "give one of `--trace F`, `--table F.csv` and `--record F.parquet`",
        )
    names = [word.strip() for word in (parameters or "").split(",") if word.strip()]
    if trace is None:
        of_traces = {"--split": split != "half", "--rounds": rounds != ROUNDS, "--objective": objective != OBJECTIVE,
                     "--retries": retries, "--set": set_, "--resume": resume, "options of traces": how != TraceOptions()}  # fmt: skip
        for option, is_given in of_traces.items():
            if is_given:
                raise InputError(f"{option} goes with `--trace` only", "leave it out")
        return _streams(system, (table, record), names, law, (save, report), json=json)
    if law is not None:
        raise InputError("--law goes with `--table` and `--record` only", "leave it out")
    share, folds = _parts(split)
    built = built_system(system, set_)
    fits = 1 if folds is None else folds + 1
    # Of all parameters; of some that are named nobody knows.
    tried = None if names else (5_000 * fits, 15_000 * fits)
    with interrupted.told(lambda: _kept(resume)), progress.bar("trying drives", None, "drives", tried) as told:
        found = calibrate(
            built,
            how.open(trace, settles_gap=True),
            split=share,
            folds=folds,
            objective=objective,
            parameters=names,
            rounds=rounds,
            retries=retries,
            resume=resume,
            note=output.note,
            progress=told,
        )
    outputs = [(path, write) for path, write in ((save, found.save_drive), (report, found.report)) if path is not None]
    for path, write in outputs:
        write(path)
    if json:
        output.print_json(found.summary)
    else:
        _show(found.summary)
    for path, _ in outputs:
        output.wrote(path)
    if warning := found.warning():
        output.warning(warning)
    return 0


def _kept(resume: Path | None) -> str | None:
    """What is kept of a calibration, and how to go on."""
    if resume is None:
        return "nothing is kept of what was tried: `--resume FILE` keeps it, and goes on from there"
    return f"what was tried is kept in {resume}; the same command goes on from there" if resume.exists() else None


def _streams(
    system: str,
    measured: tuple[Path | None, Path | None],
    names: list[str],
    law: Law | None,
    outputs: tuple[Path | None, Path | None],
    *,
    json: bool,
) -> int:
    from headstack.calibration.streams import calibrate_streams
    from headstack.calibration.throughputs import from_record, from_table

    table, record = measured
    throughputs = from_table(table) if table is not None else from_record(record or Path())
    found = calibrate_streams(system, throughputs, parameters=names, law=law)
    written = [
        (path, write) for path, write in zip(outputs, (found.save, found.report), strict=True) if path is not None
    ]
    for path, write in written:
        write(path)
    if json:
        output.print_json(found.summary)
    else:
        _show_streams(found.summary)
    if found.warning:
        output.warning(found.warning)
    for path, _ in written:
        output.wrote(path)
    return 0


def _show_streams(summary: Mapping[str, Any]) -> None:
    from headstack.calibration.streams import law_words

    train, test = summary["train"], summary["test"]
    output.sentence(
        f"the stream model of {summary['system']}, fitted to {train['throughputs']} training throughputs of {summary['source']}, scored "
        f"on {test['throughputs']} test throughputs"
    )
    output.line()
    output.table(
        "Difference from the measured throughput",
        ["", "throughputs", "mean (%)", "largest (%)"],
        [
            (f"{part}, {when}", number(scores["throughputs"]), number(scores[when]["mean_percent"], 2),
             number(scores[when]["max_percent"], 2))
            for part, scores in (("training", train), ("test", test))
            for when in ("before", "after")
            if scores[when] is not None
        ],
    )  # fmt: skip
    output.table(
        "Parameters",
        ["parameter", "unit", "before", "after", "95 % interval", "not identifiable because"],
        [(row["name"], row["unit"], *_both(row), _range(row), row["why"]) for row in summary["parameters"]],
        text_columns=(0, 1, 5),
    )
    if not summary["is_law_asked"]:
        output.note(f"{law_words(summary)}: `--law` gives delays another form")
    if summary["left_out_cached"]:
        output.note(f"{summary['left_out_cached']} throughputs were left out: a cache answered")


# What `k-fold` means where nothing is said of how many.
FOLDS = 5


def _parts(split: str) -> tuple[float, int | None]:
    """The share that is fitted, or the number of folds."""
    if split == "half":
        return 0.5, None
    fold = re.fullmatch(r"(k|[0-9]+)-fold", split)
    if fold:
        return 0.5, FOLDS if fold[1] == "k" else int(fold[1])
    try:
        return float(split), None
    except ValueError:
        raise InputError(
            f"--split `{split}` is not a part of a trace", "`half`, a share as `0.3`, `k-fold` or `10-fold`"
        ) from None


def _show(summary: Mapping[str, Any]) -> None:
    from headstack.calibration.retries import demerit_with_retries, retries_words
    from headstack.calibration.table import COLUMNS_SAY, changed_rows, not_identifiable, verdict
    from headstack.validation import lock_words

    split = summary["split"]
    scored = (
        f"each scored by a drive fitted to the other {split['folds'] - 1} of {split['folds']} blocks"
        if "folds" in split
        else f"scored on the other {number(split['test_requests'])}, its test requests"
    )
    output.sentence(
        f"{summary['system']} fitted to the first {number(split['train_requests'])} measured requests of "
        f"{summary['workload']}, its training requests, {scored}"
    )
    output.line()
    output.table(
        f"Scores, {lock_words(summary['phase']['after'])}",
        ["", "requests", "error per request (ms)", "error", "demerit", "model (ms)", "measured (ms)"],
        [
            (
                f"{part}{kind}, {when}",
                number(scores["requests"]),
                number(scores["per_request"]["mae_ms"], 3),
                number(scores["per_request"]["mae_percent"], 2, "%"),
                number(scores["demerit_percent"], 2, "%"),
                number(scores["model_mean_ms"]),
                number(scores["measured_mean_ms"]),
            )
            for key, part, label in (
                ("train", "training", ""),
                ("test", "test", ""),
                ("test", "test", "reads"),
                ("test", "test", "writes"),
            )
            for when in ("before", "after")
            for kind, scores in [_part(summary[key][when], label)]
            if scores["requests"]
        ],
    )
    if "folds" in summary:
        _show_folds(summary["folds"])
    rows = summary["parameters"]
    changed = changed_rows(rows)
    output.table(
        "Parameters that were changed",
        ["parameter", "before", "after", "95 % interval", "gain alone (ms)", "gain alone", "wrong before"],
        [
            (
                row["name"] + (f" ({row['at_cylinders']} cylinders)" if "at_cylinders" in row else ""),
                *_both(row),
                _range(row),
                number(row["gain_ms"], 4),
                number(row["gain_percent"], 1, "%"),
                verdict(row),
            )
            for row in changed
        ],
        text_columns=(0, 6),
        caption=COLUMNS_SAY,
    )
    unknown = not_identifiable(rows)
    facts = [
        ("kept", several("{} of {of} parameters as they were", len(rows) - len(changed), len(rows))),
        ("not identifiable", ", ".join(unknown) or "none: the training requests bound every parameter"),
        *([("taken back", ", ".join(summary["refuted"]) + ": with it a score of reads or of writes got worse on the last third of the training requests")]
          if summary["refuted"] else []),
        ("retries", retries_words(summary["retries"])),
        ("run", several(f"{{drives tried}} drives tried in {{rounds}} {'round' if summary['rounds'] == 1 else 'rounds'}, seed {{}}, headstack {{}}",
                        *(summary[key] for key in ("evaluations", "rounds", "seed", "version")))),
    ]  # fmt: skip
    scored_with = summary["retries"]["test_with"]
    if scored_with is not None:
        facts.append(("test", demerit_with_retries(scored_with, summary["test"]["after"]["demerit_percent"])))
    output.facts("", facts)


def _show_folds(folds: Mapping[str, Any]) -> None:

    def mean(part: Mapping[str, Any], key: str) -> Shown:
        low, high = part[key]["ci95"]
        return several("{} ({from} to {to})", number(part[key]["mean"], 2, "%"), of_unit(low, "%"), of_unit(high, "%"))

    output.table(
        "Mean over the blocks, and its 95 % interval",
        ["", "error per request", "demerit"],
        [
            (f"{kind}, {when}", mean(part, "mae_percent"), mean(part, "demerit_percent"))
            for kind in ("all", "reads", "writes")
            for when in ("before", "after")
            for part in [folds["mean"][when] if kind == "all" else folds["mean"][when][kind]]
            if part["mae_percent"] is not None and part["mae_percent"]["ci95"] is not None
        ],
    )


def _part(scores: Mapping[str, Any], kind: str) -> tuple[str, Mapping[str, Any]]:
    return (f", {kind}", scores[kind]) if kind else ("", scores)


def _both(row: Mapping[str, Any]) -> list[Shown]:
    """The value before and the one after."""
    from headstack.calibration.table import told_values

    both = zip((row["before"], row["after"]), told_values(row), strict=True)
    return [shown(text, text if isinstance(value, bool) else value) for value, text in both]


def _range(row: Mapping[str, Any]) -> Shown:
    from headstack.calibration.table import span

    if row["ci95"] is None:
        return Shown("–", Part("from", None), Part("to", None))
    low, high = row["ci95"]
    return Shown(span(low, high), Part("from", low), Part("to", high))
