"""`simulate`: run a workload or a trace on a drive or a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from headstack import _core, frames, unusual
from headstack.arguments import checked
from headstack.counted import plural
from headstack.errors import InputError
from headstack.files import named, parquet, to_read
from headstack.overrides import scheduler_override
from headstack.renamed import formerly

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.report.vega import Drawn

frames.teach()
Replay = Literal["open", "closed", "measured"]
# Dotted paths of a file, and what to set there.
Overrides = Mapping[str, object] | Sequence[tuple[str, object]]


def as_system(
    system: str | Path | _core.Drive | _core.System,
    overrides: Overrides | None = None,
) -> _core.System:
    """Make a system of a library name, a path, a drive or a system; values that no known drive has are told."""
    if isinstance(system, (str, Path)):
        name = named(str(system))
        built = _core.System(name, overrides=overrides)
        if not unusual.is_known(name, overrides):
            unusual.tell(built)
        return built
    if not isinstance(system, (_core.Drive, _core.System)):
        raise InputError(
            f"{system!r} is not a system", "name one of the library or a file, or give a Drive or a System"
        )
    if overrides:
        kind = type(system).__name__
        raise InputError(
            f"`overrides` and `scheduler` change a system that is named, and this is a {kind}",
            f"give its name or path here, or `overrides=` where the {kind} is made",
        )
    built = system if isinstance(system, _core.System) else _core.System.of_drive(system)
    unusual.tell(built)
    return built


def with_scheduler(overrides: Overrides | None, scheduler: str | None) -> Overrides | None:
    """The values to replace, and the scheduler where the command line's `--scheduler` would place it."""
    if scheduler is None:
        return overrides
    given = overrides.items() if isinstance(overrides, Mapping) else overrides or ()
    return [*given, scheduler_override(scheduler, "scheduler=")]


def as_requests(
    requests: str | Path | _core.Workload | _core.Trace, *, cut_s: float | None = None
) -> _core.Workload | _core.Trace:
    """Make a workload of a library name or a `.toml` path, and a trace of any other path, but of fio's jobs.

    `cut_s` ends a job of fio that says no end itself.
    """
    if isinstance(requests, Path):
        requests = to_read(requests)
    if isinstance(requests, Path) and requests.suffix == ".fio":
        from headstack.fio import workload_of_job

        return workload_of_job(requests, cut_s=cut_s)
    if isinstance(requests, Path) and requests.suffix != ".toml":
        return _core.Trace(requests)
    if not isinstance(requests, (str, Path, _core.Workload, _core.Trace)):
        hint = "name a workload of the library or a file, or give a Workload or a Trace; requests=… says how many"
        raise InputError(f"{requests!r} is neither a workload nor a trace", hint)
    return _core.Workload(named(str(requests))) if isinstance(requests, (str, Path)) else requests


@formerly(limit="requests")
@checked(
    but=(
        "system",
        "workload",
    )
)
def simulate(
    system: str | Path | _core.Drive | _core.System,
    workload: str | Path | _core.Workload | _core.Trace,
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    seed: int | None = None,
    replay: Replay | None = None,
    requests: int | None = None,
    warmup_requests: int | None = None,
    warmup_s: float | None = None,
    until_s: float | None = None,
    out: str | Path | None = None,
    driver_out: str | Path | None = None,
    background_out: str | Path | None = None,
    keep: bool = True,
    sample: bool = False,
    progress: Callable[[int, float], bool | None] | None = None,
    threads: int | None = None,
) -> Run:
    """Run requests through a system.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`.
    workload
        The name of a workload in the library, a `Workload` or a `Trace`; a `Path` that does not end in `.toml` is a
        trace.
    overrides
        Values of the system to replace, by dotted path (`--set` on the command line).
    scheduler
        Scheduling algorithm: `NAME` in the host's driver, `drive:NAME` in the drives.
    seed
        Seed of everything random; the workload's own if absent.
    replay
        Which instants requests are issued at: "open", "closed" or "measured" (traces only).
    requests
        At most so many requests.
    warmup_requests, warmup_s
        What to keep out of the statistics at the beginning. Requests that arrive later count; those under way do not,
        so that rates of short closed runs come out low.
    until_s
        Cut the run at this simulated time, if it is not through sooner. What drives and buses do by then for
        requests under way is in their utilisation, work and power; those requests have no row and no response time.
    out
        A Parquet file for the completions, written as the run goes on.
    driver_out
        A Parquet file for the driver's requests below a host's buffer cache; as a trace it can be analysed and replayed.
    background_out
        A Parquet file for the work of the drives that no command waited for.
    keep
        Keep completions and background work in memory, about 200 bytes a request.
    sample
        Keep an even selection of at most 131,072 completions, whatever the length of the run.
    progress
        Called now and then with the number of requests done and the simulated time in seconds; stops the run by
        returning `False`.
    threads
        How many threads serve the drives where these do not depend on each other, or a single drive; all cores' if
        absent. The results are the same with any number: `summary["parallel"]` says how it went.
    """
    from headstack.fio import cut_s

    result = _core.simulate(
        as_system(system, with_scheduler(overrides, scheduler)),
        as_requests(workload, cut_s=cut_s(until_s, requests)),
        seed=seed,
        replay=replay,
        requests=requests,
        warmup_requests=warmup_requests,
        warmup_s=warmup_s,
        until_s=until_s,
        out=parquet(out),
        driver_out=parquet(driver_out),
        background_out=parquet(background_out, converts=False),
        keep=keep,
        sample=sample,
        progress=progress,
        threads=threads,
    )
    return Run(result)


class Run:
    """What a simulation comes to.

    Attributes
    ----------
    summary
        The key numbers, as `headstack simulate --json` prints them.
    plots
        Curves over all requests, thinned.
    """

    def __init__(self, result: _core.RunResult) -> None:
        self._result = result
        self.summary = result.summary()
        self.plots = result.plots()

    @property
    def completions(self) -> _core.Table:
        """One row a request, for any Arrow library: `polars.DataFrame(table)`, `pandas.DataFrame(table)`."""
        table = self._result.completions()
        if table is None:
            raise InputError("the completions of this run were not kept", "simulate(…, keep=True), or read its `out`")
        return table

    @property
    def driver_requests(self) -> _core.Table:
        """One row for each request of the driver, where the host has a buffer cache between its requests and those.

        The columns are those of the completions, and `origin`: why the driver got it (`fetch`, `raw`, `through`, `sync`,
        `trickle`, `eviction`, `limit`).
        """
        table = self._result.driver_requests()
        if table is None:
            raise InputError(
                "the driver's requests of this run were not kept",
                "simulate(…, keep=True) a system with `host.buffer_cache`; without one the completions are the driver's",
            )
        return table

    @property
    def background(self) -> _core.Table:
        """One row for each piece of media work that no command waited for.

        `kind` says what it was: `destage` (buffered writes to the media) or `early-write` (a write after it was reported
        complete). The other columns are those of the completions.
        """
        table = self._result.background()
        if table is None:
            raise InputError(
                "the background work of this run was not kept",
                "simulate(…, keep=True) keeps it, and simulate(…, background_out='FILE.parquet') writes it to a file",
            )
        return table

    @property
    def sample(self) -> tuple[int, _core.Table]:
        """Every how many-th request was kept, and their completions."""
        sample = self._result.sample()
        if sample is not None:
            return sample
        return 1, self.completions

    def plot_response(self) -> Drawn:
        """The distribution of the response time, reads and writes apart."""
        from headstack.report.run import response_chart
        from headstack.report.vega import drawn

        return drawn(response_chart(self))

    def report(self, path: str | Path) -> None:
        """Write the run's page: one self-contained HTML file."""
        from headstack.files import to_write
        from headstack.report.run import run_page

        run_page(self).write(to_write(path))

    def __repr__(self) -> str:
        mean = self.summary["response_ms"]["mean"]
        shown = "no requests" if mean is None else f"mean response {mean:.3f} ms"
        return f"Run({self.summary['system']!r}, {self.summary['workload']!r}, {plural(self.summary['requests'], 'request')}, {shown})"

    def _repr_html_(self) -> str:
        from headstack.report.tables import key_numbers_html

        return key_numbers_html(self.summary)
