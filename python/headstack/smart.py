"""SMART attributes of a device, by `smartctl` where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headstack.results.measurements import SmartAttribute

PATIENCE_S = 20


def attributes(device: str) -> list[SmartAttribute]:
    """The attributes; none where `smartctl` is missing, may not ask, or the device has none. Nothing is written."""
    smartctl = shutil.which("smartctl")
    if smartctl is None:
        return []
    try:
        # A drive that sleeps is not woken, and its exit code is made of bits that also tell old errors.
        command = [smartctl, "--json", "--nocheck=standby", "-A", device]
        told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)  # noqa: S603
        return read(json.loads(told.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def read(told: dict[str, Any]) -> list[SmartAttribute]:
    """The attributes in what `smartctl --json -A` printed: of ATA, NVMe and SCSI devices."""
    table = told.get("ata_smart_attributes", {}).get("table", [])
    rows: list[SmartAttribute] = [
        {"name": each["name"], "raw": each["raw"]["string"], "value": each.get("value"), "worst": each.get("worst"),
         "threshold": each.get("thresh")}
        for each in table
    ]  # fmt: skip
    for part in ("nvme_smart_health_information_log", "scsi_error_counter_log"):
        rows += [_bare(name, value) for name, value in told.get(part, {}).items() if isinstance(value, int)]
    if isinstance(told.get("scsi_grown_defect_list"), int):
        rows.append(_bare("grown defects", told["scsi_grown_defect_list"]))
    return rows


def _bare(name: str, value: int) -> SmartAttribute:
    """An attribute without thresholds."""
    return {"name": name, "raw": str(value), "value": None, "worst": None, "threshold": None}
