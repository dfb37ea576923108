"""`validate`: a trace that has measured times through a model, and how far the model is from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.run import Replay, as_system

if TYPE_CHECKING:
    from collections.abc import Callable


def validate(
    system: str | Path | _core.Drive | _core.System,
    trace: str | Path | _core.Trace,
    *,
    overrides: dict[str, Any] | None = None,
    replay: Replay | None = None,
    seed: int | None = None,
    limit: int | None = None,
    ladder: bool = False,
    progress: Callable[[int, float], bool | None] | None = None,
) -> Validation:
    """Run a trace that has measured times through a model, and score the model.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`.
    trace
        The trace, or its path.
    overrides
        Values of the system to replace, by dotted path.
    replay
        "measured" where the trace has start times, else "closed", unless said otherwise.
    seed
        Seed of everything random in the model.
    limit
        At most so many requests.
    ladder
        Score the rungs M0 to M4 of the model ladder, too.
    progress
        As for `simulate`.
    """
    source = _core.Trace(Path(trace)) if isinstance(trace, (str, Path)) else trace
    result = _core.validate(
        as_system(system, overrides),
        source,
        replay=replay,
        seed=seed,
        limit=limit,
        ladder=ladder,
        progress=progress,
    )
    return Validation(result)


class Validation:
    """How a model compares with measured times.

    Attributes
    ----------
    summary
        The scores, as `headstack validate --json` prints them.
    """

    def __init__(self, result: _core.ValidationResult) -> None:
        self._result = result
        self.summary: dict[str, Any] = result.summary()

    @property
    def times(self) -> _core.Table:
        """One row a request: the measured service time, and the model's (or each rung's)."""
        return self._result.times()

    def report(self, path: str | Path) -> None:
        """Write the page: measured and model distributions over each other, and the scores."""
        from headstack.report.validation import validation_page

        validation_page(self).write(Path(path))

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"Validation({summary['system']!r}, {summary['requests']:,} requests, "
            f"demerit {summary['demerit_percent']:.2f} %)"
        )
