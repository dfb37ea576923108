"""The two parts of a trace: one to fit, and one that nothing but the score looks at."""

from __future__ import annotations

from dataclasses import dataclass

from headstack import _core
from headstack.errors import InputError

# Fewer than this many requests cannot tell a change from noise; fewer than that many are no score.
LEAST_TRAIN = 200
LEAST_TEST = 20


@dataclass(frozen=True)
class Split:
    """Where a trace is cut.

    Attributes
    ----------
    share
        Of the measured requests, the share that is fitted.
    train, test
        How many measured requests are on each side.
    limit
        How many requests of the trace, measured or not, make up the train part.
    """

    share: float
    train: int
    test: int
    limit: int


def cut(system: _core.System, trace: _core.Trace, share: float) -> Split:
    """Find the cut, where `validate(…, phase_lock=share)` has it.

    Raises `InputError` where there are no measured times, or where a part would be too small.
    """
    if not 0.05 <= share <= 0.95:
        raise InputError(f"the part to fit is {share} of the trace, which is not between 0.05 and 0.95", "--split half")
    # Only whether a request has a measured time is looked at, not the time.
    measured = [error is not None for error in _core.LockedReplay(system, trace).errors_ms(system)]
    count = sum(measured)
    if count == 0:
        raise InputError(
            f"{trace.path}: no request has a measured service time",
            "a drive is fitted to measured times: choose a trace that has start and completion of each request",
        )
    train = min(max(int(count * share), 1), max(count - 1, 1))
    test = count - train
    if train < LEAST_TRAIN or test < LEAST_TEST:
        raise InputError(
            f"{trace.path}: {train:,} of {count:,} measured requests to fit and {test:,} to score are too few",
            f"at least {LEAST_TRAIN} are needed to fit and {LEAST_TEST} to score: choose a longer trace, or another --split",
        )
    seen = 0
    for index, has_time in enumerate(measured):
        seen += has_time
        if seen == train:
            return Split(share, train, test, index + 1)
    raise AssertionError("as many as were counted")
