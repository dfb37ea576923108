"""What a calibration comes to."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headstack import _core
from headstack.calibration.table import changed_rows
from headstack.errors import InputError
from headstack.validation import validate

if TYPE_CHECKING:
    from headstack.results.validations import CalibrationSummary, FittedRow
    from headstack.validation import Validation


WORTH_A_WARNING = 1.05
"""A score of test requests that grew by more than this is more than a fit's own scatter."""
LEAST_MS = 0.001
"""…and by this: a drive that was exact is not worse for a rounding."""


class Worse(NamedTuple):
    """A score of test requests that is higher with the corrected drive."""

    what: str
    """As it stands in a sentence: `writes' demerit`."""
    before_ms: float
    after_ms: float


class Calibration:
    """Parameters of a drive fitted to a part of a trace, and the scores on both parts.

    Attributes
    ----------
    summary
        Parameters and scores, as `headstack calibrate --json` prints them.
    drive
        The corrected drive, as the text of a drive file.
    """

    def __init__(self, summary: CalibrationSummary, drive: str, system: _core.System, trace: _core.Trace) -> None:
        self.summary = summary
        self.drive = drive
        self._system = system
        self._trace = trace

    @property
    def changed(self) -> list[FittedRow]:
        """The parameters whose values were replaced."""
        return changed_rows(self.summary["parameters"])

    @property
    def worse(self) -> list[Worse]:
        """The scores of reads and of writes that got worse on test requests."""
        before, after = (self.summary["test"][when] for when in ("before", "after"))
        scores = (
            Worse(f"{kind} {name}", old, new)
            for kind, was, now in (
                ("reads'", before["reads"], after["reads"]),
                ("writes'", before["writes"], after["writes"]),
            )
            if was["requests"]
            for name, old, new in (
                ("error per request", was["per_request"]["mae_ms"], now["per_request"]["mae_ms"]),
                ("demerit", was["demerit_ms"], now["demerit_ms"]),
            )
        )
        return [score for score in scores if score.after_ms > score.before_ms]

    def warning(self) -> str | None:
        """What a user should know before the corrected drive is used: scores that got clearly worse on test requests."""
        clear = [
            f"{score.what} from {score.before_ms:.3f} to {score.after_ms:.3f} ms"
            for score in self.worse
            if score.after_ms > max(WORTH_A_WARNING * score.before_ms, score.before_ms + LEAST_MS)
        ]
        if not clear:
            return None
        return (
            f"the corrected drive is worse on test requests: {', '.join(clear)}. The training requests are unlike them, or the "
            "drive has a rule that the file lacks: use the drive as it was, or fit fewer parameters (`--parameters`)"
        )

    @cached_property
    def before(self) -> Validation:
        """The validation of the drive as it was, on the rest of the trace; with a time for each request."""
        return self._validated(self._system)

    @cached_property
    def after(self) -> Validation:
        """The validation of the corrected drive, on the rest of the trace; with a time for each request."""
        return self._validated(_core.System(toml=self.drive))

    def _validated(self, system: _core.System) -> Validation:
        share = self.summary["split"].get("share")
        if share is None:
            raise InputError("with folds there is no rest of the trace to validate on", "calibrate with `split`")
        return validate(system, self._trace, phase_lock=share)

    def save_drive(self, path: str | Path) -> None:
        """Write the corrected drive."""
        from headstack.files import write_toml

        write_toml(path, self.drive)

    def report(self, path: str | Path) -> None:
        """Write the page: before and after, what each parameter gains, and what the trace cannot tell."""
        from headstack.files import to_write
        from headstack.report.calibration import calibration_page

        calibration_page(self).write(to_write(path))

    def _repr_html_(self) -> str:
        from headstack.notebook import calibration

        return calibration(self.summary)

    def __repr__(self) -> str:
        test = self.summary["test"]
        before, after = (test[when]["per_request"]["mae_ms"] for when in ("before", "after"))
        return (
            f"Calibration({self.summary['system']!r}, {len(self.changed)} parameters changed, "
            f"error per request {before:.3f} to {after:.3f} ms on test requests)"
        )
