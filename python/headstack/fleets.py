"""`fleet`: a trace of very many devices, each on a drive or system of its own, on all cores or other machines."""

from __future__ import annotations

from concurrent.futures import CancelledError, Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headstack import _core
from headstack.arguments import checked
from headstack.counted import plural
from headstack.errors import HeadstackError, InputError
from headstack.files import to_read
from headstack.renamed import formerly
from headstack.run import as_system, with_scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headstack.results.runs import FleetSummary
    from headstack.run import Overrides

WORST = 10
"""So many of the worst devices are shown, unless told otherwise."""

Share = tuple[int, int]


@dataclass(frozen=True)
class Fleet:
    """What a fleet comes to."""

    result: _core.Fleet
    """The devices, and the responses of all their requests, as the core keeps them."""
    worst: int = WORST
    """How many of the worst devices the summary lists."""

    @cached_property
    def summary(self) -> FleetSummary:
        """The key numbers, as `headstack fleet --json` prints them."""
        return self.result.summary(self.worst)

    @property
    def devices(self) -> _core.Table:
        """One row a device: requests, utilisation, and mean, quantiles and maximum of its responses."""
        return self.result.devices()

    def __repr__(self) -> str:
        return f"Fleet({plural(self.summary['devices'], 'device')}, {plural(self.summary['requests'], 'request')})"

    def _repr_html_(self) -> str:
        from headstack.notebook import fleet

        return fleet(self.summary)


@formerly(limit="requests")
@checked(but=("system",))
def fleet(
    system: str | Path | _core.Drive | _core.System,
    trace: str | Path | _core.Trace | Sequence[_core.Trace],
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    seed: int | None = None,
    requests: int | None = None,
    worst: int = WORST,
    threads: int | None = None,
    executor: Executor | None = None,
    shares: int | None = None,
    progress: Callable[[int, float], bool | None] | None = None,
) -> Fleet:
    """Run a trace of many devices, each on a system of its own.

    Memory depends on the number of devices, not on that of requests.

    Parameters
    ----------
    system
        What each device is: a library name, the path of a drive or system file, a `Drive` or a `System` of one volume.
    trace
        A `Trace` or its path; the devices keep the numbers they have there. Or several, or a folder of them: then all
        requests of a device are in one of them.
    overrides
        Values of the system to replace, by dotted path (`--set` on the command line).
    scheduler
        Scheduling algorithm: `NAME` in the host's driver, `drive:NAME` in the drives.
    seed
        Seed of device 0; that of the others is larger by their number, so that each has random streams of its own.
    requests
        At most so many requests (of each trace).
    worst
        How many of the worst devices the summary lists.
    threads
        How many threads serve on this machine; all cores' if absent. The results are the same.
    executor
        Where the work is served instead: any `concurrent.futures.Executor` whose workers have headstack and can read the
        traces. Its tasks are one for each trace. The results are the same.
    shares
        So many tasks for each trace, each of which reads all of it and serves its share of the devices.
    progress
        Called now and then with the number of requests done and the simulated time in seconds; stops the run by
        returning `False`. Not with an executor.
    """
    built = as_system(system, with_scheduler(overrides, scheduler))
    traces = _traces(trace)
    parts = [(each, share) for each in traces for share in _shares(shares)]
    if executor is not None:
        return Fleet(_merged(_elsewhere(executor, built, parts, seed, requests)), worst)
    told = None if progress is None else _Told(progress)
    done = []
    for each, share in parts:
        result = _core.run_fleet(
            built,
            each,
            seed=seed,
            requests=requests,
            share=share,
            threads=threads,
            progress=None if told is None else told.more,
        )
        if len(parts) == 1:
            return Fleet(result, worst)
        done.append(result.packed())
        if told is not None:
            told.next()
    return Fleet(_merged(done), worst)


class _Told:
    """Progress over several traces."""

    def __init__(self, progress: Callable[[int, float], bool | None]) -> None:
        self._progress = progress
        self._before = 0
        self._now = 0

    def more(self, requests: int, simulated_s: float) -> bool | None:
        self._now = requests
        return self._progress(self._before + requests, simulated_s)

    def next(self) -> None:
        self._before += self._now


def _merged(packed: list[str]) -> _core.Fleet:
    return _core.Fleet.merged(packed)


def _shares(count: int | None) -> list[Share | None]:
    if count is None:
        return [None]
    if count < 1:
        raise InputError(f"a fleet cannot be served in {count} shares", "give at least 1, or leave it out")
    return [(number, count) for number in range(count)]


def _traces(trace: str | Path | _core.Trace | Sequence[_core.Trace]) -> list[_core.Trace]:
    if isinstance(trace, _core.Trace):
        return [trace]
    if not isinstance(trace, (str, Path)):
        if not trace:
            raise InputError("a fleet needs a trace", "name at least one")
        return list(trace)
    return [_core.Trace(path) for path in files_of(to_read(trace))]


def files_of(path: Path) -> list[Path]:
    """The traces of a folder, by name; of anything else, itself."""
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith((".", "_")))
    if not files:
        raise InputError(f"there is no trace in the folder `{path}`", "name a trace, or a folder of traces")
    return files


def _elsewhere(
    executor: Executor,
    built: _core.System,
    parts: list[tuple[_core.Trace, Share | None]],
    seed: int | None,
    requests: int | None,
) -> list[str]:
    futures = [executor.submit(run_part, built, trace, seed, requests, share) for trace, share in parts]
    try:
        return [future.result() for future in futures]
    except CancelledError:
        raise HeadstackError(
            "the cluster was lost before all tasks were done", "the same command makes them, on this machine or another"
        ) from None
    finally:
        for future in futures:
            future.cancel()


def run_part(
    system: _core.System,
    trace: _core.Trace,
    seed: int | None,
    requests: int | None,
    share: Share | None,
    goes_on: Callable[[], bool] | None = None,
) -> str:
    """Serve one task in one thread, on whatever machine; what it comes to, packed. `goes_on` may stop it."""
    progress = None if goes_on is None else (lambda *_: goes_on())
    return _core.run_fleet(
        system, trace, seed=seed, requests=requests, share=share, threads=1, progress=progress
    ).packed()
