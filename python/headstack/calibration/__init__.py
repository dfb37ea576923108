"""`calibrate`: parameters of a drive fitted to training requests of a measured trace, and scored on its test requests."""

from __future__ import annotations

from headstack.calibration.result import Calibration
from headstack.calibration.run import calibrate

__all__ = ["Calibration", "calibrate"]
