"""`calibrate`: what to fit, to what, and with whom to talk meanwhile; the core computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from headstack import _core
from headstack.arguments import checked
from headstack.calibration.drivefile import drive_file
from headstack.calibration.result import Calibration
from headstack.calibration.table import describe_head
from headstack.errors import InputError
from headstack.gaps import settle_gap
from headstack.run import as_system
from headstack.slipped import said_of_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headstack.results.validations import CalibrationSummary
    from headstack.run import Overrides

Objective = Literal["balanced_ms", "mae_ms", "rmse_ms", "demerit_ms"]


@checked(but=("system",))
def calibrate(
    system: str | Path | _core.Drive | _core.System,
    trace: str | Path | _core.Trace,
    *,
    split: float = 0.5,
    folds: int | None = None,
    objective: Objective = "mae_ms",
    parameters: Iterable[str] | None = None,
    rounds: int = 3,
    threads: int | None = None,
    retries: bool = False,
    resume: str | Path | None = None,
    overrides: Overrides | None = None,
    note: Callable[[str], None] | None = None,
    progress: Callable[[int, float], bool | None] | None = None,
) -> Calibration:
    """Fit parameters of one drive to training requests, the first part of a trace that has measured times, and score it on test requests, the rest.

    The objective is that of a phase-locked replay. Nothing is fitted to test requests; their phase is followed,
    as `validate` does, from requests that are over. No value is changed that the training requests cannot identify.

    Parameters
    ----------
    system
        A library name, the path of a drive file, a `Drive` or a `System` of one drive.
    trace
        The trace, or its path; it must have start and completion of requests.
    split
        The share of the measured requests that are training requests, 0.05 to 0.95.
    folds
        Instead of `split`: the trace is cut into so many contiguous blocks, each is scored by a drive fitted to all the
        others, and the drive that results is fitted to the whole trace.
    objective
        What is made small: the error per request ("mae_ms"), with the mean distance of the distributions of
        reads and of writes beside it ("balanced_ms"); its root mean square ("rmse_ms"); or the demerit ("demerit_ms").
    parameters
        What to fit: dotted paths, or those of the tables above them; absent: all that make sense for the drive.
    rounds
        At most so many rounds of search; fewer where one gains next to nothing.
    threads
        How many threads; absent: all cores'. The result is the same with any number.
    retries
        Whether the corrected drive gets `[soft_errors]`, too, where the training requests tell how often it retries. Retries are
        drawn: scores of the corrected drive are without them, and `summary["retries"]` has those with them.
    resume
        A file that keeps what was tried: the same call goes on from there after an interruption, to the same result.
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
    _core.check_number("rounds", rounds)
    if isinstance(parameters, str):
        raise InputError("`parameters` is a string, and a list is needed", f"give parameters=[{parameters!r}]")
    built = as_system(system, overrides)
    if len(built.drives) != 1:
        raise InputError(
            f"`{built.name}` has {len(built.drives)} drives, and one is calibrated at a time",
            "name the drive file, and choose its requests with --device",
        )
    source = _core.Trace(trace) if isinstance(trace, (str, Path)) else trace
    with said_of_lists(built):
        source, gap = settle_gap(built, source, note)
        result = _core.calibrate(
            built,
            source,
            share=split,
            folds=folds,
            objective=objective,
            parameters=list(parameters or []),
            rounds=rounds,
            threads=threads,
            retries=retries,
            resume=None if resume is None else Path(resume),
            note=note,
            progress=progress,
        )
    summary = cast("CalibrationSummary", {**result.summary(), **({} if gap is None else {"gap": gap})})
    text = drive_file(result.drive, describe_head(summary, source.path.name))
    return Calibration(summary, text, built, source)
