"""What a calibration comes to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headstack.validation import Validation


class Calibration:
    """Parameters of a drive fitted to the first part of a trace, and the scores on both parts.

    Attributes
    ----------
    summary
        Parameters and scores, as `headstack calibrate --json` prints them.
    drive
        The corrected drive, as the text of a drive file.
    before, after
        The validations on the rest of the trace: of the drive as it was, and of the corrected one.
    """

    def __init__(self, summary: dict[str, Any], drive: str, before: Validation, after: Validation) -> None:
        self.summary = summary
        self.drive = drive
        self.before = before
        self.after = after

    @property
    def changed(self) -> list[dict[str, Any]]:
        """The parameters whose values were replaced."""
        return [row for row in self.summary["parameters"] if row["before"] != row["after"]]

    def save_drive(self, path: str | Path) -> None:
        """Write the corrected drive."""
        from headstack.files import write_whole

        write_whole(Path(path), self.drive)

    def __repr__(self) -> str:
        test = self.summary["test"]
        before, after = (test[when]["per_request"]["mae_ms"] for when in ("before", "after"))
        return (
            f"Calibration({self.summary['system']!r}, {len(self.changed)} parameters changed, "
            f"error per request {before:.3f} to {after:.3f} ms on the rest)"
        )
