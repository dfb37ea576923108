"""`calibrate`: parameters of a drive fitted to measured times, on the first part of a trace, and scored on the rest."""

from __future__ import annotations

from headstack.calibration.result import Calibration
from headstack.calibration.run import calibrate

__all__ = ["Calibration", "calibrate"]
