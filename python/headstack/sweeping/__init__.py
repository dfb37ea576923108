"""`sweep`: many runs over a grid, on all cores or other machines; what is done is kept, and can be gone on with."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from headstack.arguments import checked
from headstack.files import to_read, to_write
from headstack.sweeping import definition, folder, probe, settings
from headstack.sweeping.driver import Driver
from headstack.sweeping.executors.local import LocalExecutor
from headstack.sweeping.result import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.sweeping.definition import Definition

__all__ = ["LocalExecutor", "Sweep", "run_definition", "sweep"]


@checked()
def sweep(
    file: str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    executor: Executor | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run a grid of simulations, and keep each run in a folder as soon as it is there.

    Parameters
    ----------
    file
        The sweep file.
    out
        The folder for the results; a new one, or with `resume` one that holds a part of the same sweep.
    resume
        Go on with what is in the folder: runs that are there are not made again.
    executor
        Where runs are served: any `concurrent.futures.Executor` whose workers have headstack. All cores of this machine
        if absent. It is not shut down. The results are the same.
    threads
        How many runs are served at a time on this machine, instead of one a core.
    progress
        Called with the number of runs that are done and the number of those that are known to be wanted.
    """
    found = definition.load(to_read(file))
    return run_definition(found, out, resume=resume, executor=executor, threads=threads, progress=progress)


def run_definition(
    found: Definition,
    out: str | Path,
    *,
    resume: bool = False,
    executor: Executor | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run a sweep that has been read; the arguments are those of `sweep`."""
    out = to_write(out)
    settings.forget()
    probe.check(found)
    probe.tell_unusual(found)
    kept = folder.opened(out, found, resume=resume)
    if executor is not None:
        return _run(found, kept, executor, progress)
    own = LocalExecutor(threads)
    try:
        return _run(found, kept, own, progress)
    finally:
        own.shutdown(cancel_futures=True)


def _run(
    found: Definition, kept: folder.Folder, executor: Executor, progress: Callable[[int, int], None] | None
) -> Sweep:
    driver = Driver(found, kept, executor, kept.records())
    driver.run(progress)
    done = Sweep(kept.path, driver.resumed, driver.cancelled)
    kept.write_results(done.table)
    return done
