"""A measured drive of DiskSim's validation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """A measured drive: where its trace and its description are, and what DiskSim 4.0 scored on it.

    DiskSim's figures were measured by running it on the same traces with the same parameter files, the gaps read after
    and before their requests, and the better of the two taken: exact demerits in ms, without bins, and the mean absolute
    error per request in percent of the measured mean. Reads and writes apart are not known of every drive.
    """

    trace: str
    drive: str
    label: str
    demerit_ms: float
    reads_ms: float | None
    writes_ms: float | None
    mae_percent: float
    is_late: bool
