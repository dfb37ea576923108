"""The calibration itself: phase, parameters, phase again, and only then the other part of the trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.calibration.drivefile import drive_file, with_phases_of
from headstack.calibration.objective import Objective
from headstack.calibration.parameters import KNOT_PATH, Values, choices, chosen, numbers
from headstack.calibration.plan import LEAST_SHARE_OF_A_START, fit_round, other_starts
from headstack.calibration.result import Calibration
from headstack.calibration.search import Point, is_better, prune
from headstack.calibration.split import cut
from headstack.calibration.table import describe_head, rows, sources
from headstack.errors import InputError, InternalError
from headstack.gaps import settle_gap
from headstack.run import as_system
from headstack.validation import Validation, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# A round that gains less than this share of the error is the last one.
LEAST_SHARE_OF_A_ROUND = 0.005


def calibrate(
    system: str | Path | _core.Drive | _core.System,
    trace: str | Path | _core.Trace,
    *,
    split: float = 0.5,
    parameters: Iterable[str] | None = None,
    rounds: int = 3,
    overrides: dict[str, Any] | None = None,
    note: Callable[[str], None] | None = None,
    progress: Callable[[int, float], bool | None] | None = None,
) -> Calibration:
    """Fit parameters of one drive to the first part of a trace that has measured times, and score it on the rest.

    The error that is made small is the mean absolute error per request of a phase-locked replay. Nothing is fitted to
    the part that is scored; its phase is followed, as `validate` does, from requests that are over.

    Parameters
    ----------
    system
        A library name, the path of a drive file, a `Drive` or a `System` of one drive.
    trace
        The trace, or its path; it must have start and completion of requests.
    split
        The share of the measured requests that is fitted, 0.05 to 0.95.
    parameters
        What to fit: dotted paths, or those of the tables above them; absent: all that make sense for the drive.
    rounds
        At most so many rounds of search; fewer where one gains next to nothing.
    overrides
        Values of the system to replace first, by dotted path.
    note
        Gets sentences about how it goes.
    progress
        Called now and then with the number of drives tried and 0; stops by returning `False`.

    Raises
    ------
    InputError
        The system is not one drive, the trace has no measured times or too few, or a parameter is not known.
    """
    if rounds < 1:
        raise InputError(f"{rounds} rounds fit nothing", "--rounds 3")
    built = as_system(system, overrides)
    if len(built.drives) != 1:
        raise InputError(
            f"`{built.name}` has {len(built.drives)} drives, and one is calibrated at a time",
            "name the drive file, and choose its requests with --device",
        )
    original = built.drive_toml()
    before = Values.of_toml(original)
    cylinders = int(_core.Drive(toml=original).describe()["cylinders"])
    fitted_numbers, fitted_choices = chosen(parameters, numbers(before, cylinders), choices(before))
    source = _core.Trace(Path(trace)) if isinstance(trace, (str, Path)) else trace
    source, gap = settle_gap(built, source, note)
    part = cut(built, source, split)

    def locked(toml: str) -> tuple[Validation, str]:
        validation = validate(_core.System(toml=toml), source, phase_lock=part.share)
        if validation.fitted_drive is None:
            raise InternalError("a phase lock of one drive left no drive file")
        return validation, validation.fitted_drive

    unfitted, phases = locked(original)
    if not unfitted.summary["phase"]["drives"][0]["fit"]["period_found"] and note is not None:
        note("the measured times do not tell the spindle's period: the drive file's is used")
    base = unfitted_base = with_phases_of(original, phases)
    objective = Objective(base, _core.LockedReplay(built, source, limit=part.limit), progress)
    point = _start(objective, Values.of_toml(base))
    original_values = point.values
    done = 0
    for done in range(1, rounds + 1):
        begun = point.mae_ms
        point = fit_round(objective, point, fitted_numbers, fitted_choices, small=done > 1)
        if done == 1:
            for other in other_starts(objective, point, fitted_numbers):
                end = fit_round(objective, other, fitted_numbers, (), small=False)
                enough = end.mae_ms < (1.0 - LEAST_SHARE_OF_A_START) * point.mae_ms
                point = end if enough and is_better(point, end) else point
        if note is not None:
            note(
                f"round {done}: error per request {begun:.4f} to {point.mae_ms:.4f} ms on the first {part.train:,} requests"
            )
        # The phase once more, with what is known now; kept where it helps on the same requests.
        _, fresh = locked(_core.System(toml=base, overrides=point.values.overrides()).drive_toml())
        rebased = with_phases_of(original, fresh)
        errors = Objective(rebased, objective.replay).errors(point.values)
        if errors is not None and errors.mae_ms < point.mae_ms:
            base, phases = rebased, fresh
            objective.rebase(base)
            point = Point(point.values, errors)
        if begun - point.mae_ms < LEAST_SHARE_OF_A_ROUND * begun:
            break
    # The points of a curve stay or go together.
    alone = [number for number in fitted_numbers if number.path != KNOT_PATH]
    point = prune(objective, point, original_values, [*alone, *fitted_choices])
    table = rows(objective, point, original_values, fitted_numbers, fitted_choices)
    toml = _core.System(toml=base, overrides=point.values.overrides()).drive_toml()
    corrected, _ = locked(toml)
    summary: dict[str, Any] = {
        "system": built.name,
        "workload": unfitted.summary["workload"],
        "objective": "mae_ms",
        "split": {"share": part.share, "train_requests": part.train, "test_requests": part.test},
        "parameters": table,
        "train": {
            "before": objective.replay.scores(_core.System(toml=unfitted_base)),
            "after": objective.replay.scores(_core.System(toml=toml)),
        },
        "test": {"before": _scores(unfitted), "after": _scores(corrected)},
        "rounds": done,
        "evaluations": objective.evaluations,
        "phase": {"before": unfitted.summary["phase"], "after": corrected.summary["phase"]},
        "gap": gap,
        "seed": unfitted.summary["seed"],
        "version": _core.VERSION,
    }
    text = drive_file(
        base=base,
        values=point.values,
        original=original,
        phases=phases,
        sources=sources(summary, point.values, source.path.name),
        told=f"Fitted to the first {part.train:,} requests of {source.path.name}.",
        head=describe_head(summary, source.path.name),
    )
    return Calibration(summary, text, unfitted, corrected)


def _start(objective: Objective, values: Values) -> Point:
    errors = objective.errors(values)
    if errors is None:
        raise InternalError("a drive that was validated cannot be replayed")
    return Point(values, errors)


def _scores(validation: Validation) -> dict[str, Any]:
    keys = ("requests", "measured_mean_ms", "model_mean_ms", "demerit_ms", "demerit_percent", "per_request")
    return {key: validation.summary[key] for key in (*keys, "reads", "writes")}
