"""A measured drive of DiskSim's validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import headstack
from headstack._core import import_disksim

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """A measured drive: where its trace and its description are, and what DiskSim 4.0 scored on it.

    DiskSim's figures were measured by running it on the same traces with the same parameter files, the gaps read after
    and before their requests, and the better of the two taken: exact demerits in ms, without bins, and the error per
    request in percent of the measured mean. Reads and writes apart are not known of every drive.
    """

    trace: str
    drive: str
    label: str
    demerit_ms: float
    reads_ms: float | None
    writes_ms: float | None
    mae_percent: float
    is_late: bool
    specs: str = ""
    """The name of DiskSim's description of it, if not that of the trace."""

    def as_disksim_has_it(self, data: Path) -> headstack.Drive | None:
        """The drive with its files meaning what they meant to DiskSim; `None` where they are not there."""
        paths = [data / "drives" / f"{self.specs or self.trace}.diskspecs"]
        if not self.is_late:
            # Their buses are in the files of the simulations.
            paths.append(data / "validate" / f"{self.trace}.parv")
        if not all(path.is_file() for path in paths):
            return None
        text, _ = import_disksim(paths, meaning="disksim", lenient=True)
        return headstack.Drive(toml=text)
