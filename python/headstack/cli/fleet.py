"""`headstack fleet`: a trace of very many devices."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headstack.cli import offered, output, progress
from headstack.cli.models import built_system
from headstack.cli.options import (
    OUT_NAMES,
    OUTPUT,
    RUN,
    Dask,
    Json,
    Overrides,
    Scheduler,
    TraceOptions,
    check_counts,
)
from headstack.counted import plural
from headstack.errors import InputError
from headstack.shown import number, of_unit, percent, several

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from headstack import Fleet


def fleet(
    system: Annotated[
        str,
        Parameter(
            help="What each device is: a drive or a system of one volume, by name or file.", completer=offered.systems
        ),
    ],
    *,
    trace: Annotated[
        Path,
        Parameter(group=RUN, help="Trace of many devices, or a folder of traces with all requests of a device in one."),
    ],
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    requests: Annotated[int | None, Parameter(group=RUN, help="At most so many requests, of each file.")] = None,
    seed: Annotated[
        int | None, Parameter(group=RUN, help="Seed of device 0; that of the others is larger by their number.")
    ] = None,
    threads: Annotated[
        int | None, Parameter(group=RUN, help="So many threads; all cores' if left out. The results are the same.")
    ] = None,
    dask: Dask = None,
    shares: Annotated[
        int | None,
        Parameter(
            group=RUN,
            help="With --dask: so many tasks for each file, each of which reads all of it and serves its share of the devices.",
        ),
    ] = None,
    worst: Annotated[int, Parameter(group=OUTPUT, help="List so many of the devices with the highest p99.")] = 10,
    scheduler: Scheduler = None,
    set_: Overrides = (),
    out: Annotated[
        Path | None, Parameter(name=OUT_NAMES, group=OUTPUT, help="Parquet file for the devices, one row each.")
    ] = None,
    json: Json = False,
) -> int:
    """Run a trace of many devices, each on a drive of its own: percentiles of all requests, and the worst devices."""
    from headstack import fleet as run_fleet
    from headstack.files import check_packages, check_writable
    from headstack.fleets import files_of

    if out is not None:
        check_packages("--out", ("polars",))
        check_writable(out)
    check_counts(threads=threads, requests=requests, shares=shares, worst=worst)
    if dask is not None and threads is not None:
        raise InputError("--threads and --dask each say where devices are served", "give one of them")
    if dask is None and shares is not None:
        raise InputError("--shares is about the tasks of a cluster", "give --dask too, or leave it out")
    built = built_system(system, set_, scheduler)
    traces = [how.open(path) for path in files_of(trace)]
    begun = time.perf_counter()
    with _executor(dask) as executor, progress.bar("simulating", None) as told:
        done = run_fleet(
            built, traces, seed=seed, requests=requests, worst=worst, threads=threads, executor=executor, shares=shares,
            progress=told,
        )  # fmt: skip
    wall_s = time.perf_counter() - begun
    if out is not None:
        _write(done, out)
    summary = {**done.summary, "wall_s": wall_s}
    _warn_of_missing(how, done)
    _warn_of_behind(summary["devices_behind"])
    output.print_json(summary) if json else _show(system, summary)
    if out is not None:
        output.wrote(out)
    return 0


@contextmanager
def _executor(dask: str | None) -> Iterator[Executor | None]:
    if dask is None:
        yield None
        return
    from headstack.sweeping.executors.dask import DaskExecutor

    executor = DaskExecutor(dask)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _write(done: Fleet, out: Path) -> None:
    from io import BytesIO

    import polars as pl

    from headstack._core import write_at_once

    rows = BytesIO()
    pl.DataFrame(done.devices).write_parquet(rows)
    write_at_once(out, rows.getvalue())


def _warn_of_missing(how: TraceOptions, done: Fleet) -> None:
    """Name the devices that were asked for and had no request."""
    if not (chosen := how.devices()):
        return
    # All of them, as a list that needs no package for tables.
    served = {each["device"] for each in done.result.summary(done.summary["devices"])["worst"]}
    if missing := [word for word, number in chosen.items() if number not in served]:
        output.warning(
            f"--device: nothing was served of {', '.join(f'`{word}`' for word in missing)}: no request that was read is of "
            f"{'it' if len(missing) == 1 else 'them'}; `headstack trace info` lists the devices of a trace"
        )


def _warn_of_behind(behind: int) -> None:
    if behind:
        output.warning(
            f"{plural(behind, 'device')} did not keep up: more requests were waiting at the last arrival than a passing burst leaves. "
            "Response times there grow with the length of the trace, and the quantiles of the fleet with them."
        )


def _show(system: str, summary: dict[str, Any]) -> None:
    response = summary["response_ms"]
    output.facts(
        f"{plural(summary['devices'], 'device')}, {'each ' if summary['devices'] > 1 else ''}{system}",
        [
            ("requests", several("{} in {simulated time} simulated s ({time here} s here)", summary["requests"], number(summary["simulated_s"], 1),
                                 number(summary["wall_s"], 1))),
            ("throughput", several("{} IOPS, {} MiB/s", number(summary["iops"], 1), number(summary["mib_per_s"]))),
            ("response (ms)", several("mean {}, p50 {}, p90 {}, p99 {}, p99.9 {}, max {}",
                                      *(of_unit(response[key], "ms") for key in ("mean", "p50", "p90", "p99", "p999", "max")))),
            ("utilisation", several("mean {}, busiest device {}", percent(summary["utilisation_mean"], 1),
                                    percent(summary["utilisation_max"], 1))),
        ],
    )  # fmt: skip
    output.table(
        "Devices with the highest p99 (ms)",
        ["device", "requests", "utilisation", "mean", "p50", "p99", "p99.9", "max"],
        [
            (
                str(each["device"]),
                number(each["requests"]),
                percent(each["utilisation"], 1),
                *(of_unit(each["response_ms"][name], "ms") for name in ("mean", "p50", "p99", "p999", "max")),
            )
            for each in summary["worst"]
        ],
        caption="p50 to p99.9 are read from histograms, within 0.4 % here and 0.1 % above; mean and max are exact",
    )
