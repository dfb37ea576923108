"""Where the runs of a sweep are served: each is a `concurrent.futures.Executor`, which nothing else of a sweep knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path


def opened(dask: str | None, slurm: str | None, folder: Path) -> Executor:
    """The executor that a command line names; jobs of Slurm keep their files beside the results, in `folder`."""
    if dask is not None:
        from headstack.sweeping.executors.dask import DaskExecutor

        return DaskExecutor(dask)
    from headstack.sweeping.executors.slurm import SlurmExecutor
    from headstack.sweeping.folder import JOBS

    return SlurmExecutor(slurm or "", folder / JOBS)
