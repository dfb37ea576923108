"""What the arrays of the intra-disk study are asked for: excerpts of real traces, longer traces made after them, and generators.

All of them address one space, that of an array whose drives lie one after the other. A larger drive takes the same addresses.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log
from random import Random
from typing import TYPE_CHECKING

import headstack
from headstack import _core
from headstack.studies.framework import data_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

FINANCIAL_FILE = "traces/ssdsim_financial1_first10000.ascii"
WEBSEARCH_FILE = "traces/mqsim_wsrch-small.trace"
TPCC_FILE = "traces/mqsim_tpcc-small.trace"

# How long the traces made after an excerpt are.
REQUESTS = 60_000

# What the thesis says of the times between arrivals: this share of them is shorter than so many ms.
FINANCIAL_GAPS = (0.73, 10.0)
TPCC_GAPS = (0.99, 50.0)
# Websearch's excerpt is busier than its whole: 4,579,809 requests in 15,395 s, as the public trace is remembered.
WEBSEARCH_GAP_MS = 15_395e3 / 4_579_809
TPCH_GAP_MS = 8.76
# Reads of so many scans side by side, and the share of them that go on where the one before ended: chosen so that the means on
# the array and on the one drive are the printed ones.
TPCH_SCANS = 2
TPCH_SEQUENTIAL = 0.79
TPCH_KIB = 8


@dataclass(frozen=True)
class Load:
    """Requests, the array they were meant for, and where they come from."""

    name: str
    title: str
    array: str
    """The array's name in the library."""
    origin: str
    requests: int
    trace: Path | None = None
    workload: str = ""
    """The text of a workload file, where there is no trace."""
    time_scale: float | None = None
    """By what the times between arrivals of an excerpt were multiplied."""

    def source(self) -> headstack.Trace | headstack.Workload:
        """What `simulate` takes."""
        return headstack.Workload(toml=self.workload) if self.trace is None else headstack.Trace(self.trace)


def loads(data: Path | None, folder: Path, requests: int = REQUESTS) -> list[Load]:
    """All of them that can be had; what is made goes to `folder`. Without the data, TPC-H only."""
    found: list[Load] = []
    if file := data_file(data, FINANCIAL_FILE):
        share, below_ms = FINANCIAL_GAPS
        found += _with_excerpt(
            "financial",
            "Financial",
            headstack.Trace(file),
            folder,
            requests,
            lambda made: below_ms / _gap_ms(made, share),
            f"so that {_told(share, below_ms)}",
        )
    if file := data_file(data, WEBSEARCH_FILE):
        found += _with_excerpt(
            "websearch",
            "Websearch",
            headstack.Trace(file),
            folder,
            requests,
            lambda made: WEBSEARCH_GAP_MS / _mean_gap_ms(made),
            "for the mean rate of the whole public trace, as it is remembered",
        )
    if file := data_file(data, TPCC_FILE):
        found.append(_tpcc(file, folder, requests))
    found.append(_tpch(requests))
    return found


def _with_excerpt(
    name: str,
    title: str,
    excerpt: headstack.Trace,
    folder: Path,
    requests: int,
    scale_of: Callable[[headstack.Trace], float],
    why: str,
) -> list[Load]:
    """The excerpt as it is, and a longer trace made after it, its times multiplied."""
    array = f"md-{name}"
    short = _placed(excerpt, array, folder / f"{name}-excerpt.parquet")
    made = _made_like(excerpt, folder / f"{name}.made.parquet", requests)
    scale = scale_of(made)
    long = _placed(made, array, folder / f"{name}.parquet", scale)
    count = headstack.Trace(short).info()["requests"]
    origin = (
        f"{requests:,} requests made after a real excerpt of {count:,}, times between arrivals × {scale:.2f}, {why}"
    )
    return [
        Load(name, title, array, origin, requests, long, time_scale=scale),
        Load(f"{name}-excerpt", f"{title}, excerpt", array, f"a real excerpt of {count:,} requests", count, short),
    ]


def _told(share: float, below_ms: float) -> str:
    return f"{100 * share:.0f} % are shorter than {below_ms:g} ms, as the thesis has it"


def _tpcc(file: Path, folder: Path, requests: int) -> Load:
    """Sizes, directions and places after the excerpt; it is one burst of 0.14 s, so that its times say nothing."""
    share, below_ms = TPCC_GAPS
    mean_ms = -below_ms / log(1 - share)
    made = _made_like(headstack.Trace(file), folder / "tpcc.made.parquet", requests)
    path = _placed(made, "md-tpcc", folder / "tpcc.parquet", poisson_ms=mean_ms)
    origin = (
        f"{requests:,} requests with sizes, directions and places after a real excerpt of another system, addresses wrapped "
        f"to the array; Poisson arrivals {mean_ms:.2f} ms apart, so that {_told(share, below_ms)}"
    )
    return Load("tpcc", "TPC-C", "md-tpcc", origin, requests, path)


def _tpch(requests: int) -> Load:
    """As described: 8.76 ms apart. That they are reads of scans is ours."""
    stream = (
        f"[[stream]]\nread_fraction = 1.0\nsequential_fraction = {TPCH_SEQUENTIAL}\nsize.fixed_kib = {TPCH_KIB}\n"
        f"align_kib = {TPCH_KIB}\ninter_arrival.exponential_ms = {TPCH_SCANS * TPCH_GAP_MS}\n"
        f"range_lba = [0, {headstack.System('md-tpch').volumes[0][1] - 1}]\n"
    )
    origin = (
        f"{requests:,} requests {TPCH_GAP_MS} ms apart, as described; reads of {TPCH_KIB} KiB in {TPCH_SCANS} scans side by side, "
        f"{100 * TPCH_SEQUENTIAL:.0f} % of them go on where the one before ended: fitted to the two printed means"
    )
    return Load(
        "tpch",
        "TPC-H",
        "md-tpch",
        origin,
        requests,
        workload=f"seed = 1\nrequests = {requests}\n" + TPCH_SCANS * stream,
    )


def _made_like(excerpt: headstack.Trace, path: Path, requests: int) -> headstack.Trace:
    """A longer trace after an excerpt."""
    _core.make_trace(json.dumps(_core.fit_workload(excerpt)), path, requests=requests, seed=1)
    return headstack.Trace(path)


def _mean_gap_ms(trace: headstack.Trace) -> float:
    info = trace.info()
    return info["span_s"] * 1000 / (info["requests"] - 1)


def _gap_ms(trace: headstack.Trace, share: float) -> float:
    """The time that this share of the times between arrivals is shorter than."""
    import polars as pl

    gaps = pl.DataFrame(trace)["arrival_ns"].diff().drop_nulls()
    return float(gaps.quantile(share) or 0) / 1e6


def _placed(
    trace: headstack.Trace, array: str, path: Path, time_scale: float = 1.0, poisson_ms: float | None = None
) -> Path:
    """Write the trace with the addresses of the array, and perhaps other times."""
    import polars as pl

    system = headstack.System(array)
    drives = len(system.drives)
    frame = place(pl.DataFrame(trace), drives, system.volumes[0][1] // drives)
    times = (pl.col("arrival_ns") - pl.col("arrival_ns").min()) * time_scale
    frame = frame.with_columns(times.round().cast(pl.UInt64)) if poisson_ms is None else _poisson(frame, poisson_ms)
    frame.write_parquet(path)
    return path


def place(frame: pl.DataFrame, drives: int, sectors: int) -> pl.DataFrame:
    """Requests of many devices in the one address space of an array of `drives`, each of `sectors`.

    Device after device lies on the next drive; where there are more devices than drives, those on a drive share it equally.
    Addresses beyond a device's part are wrapped.
    """
    import polars as pl

    last_device: int = frame["device"].max()  # pyright: ignore[reportAssignmentType]
    part = sectors // -(-(last_device + 1) // drives)
    device, lba, length = pl.col("device").cast(pl.UInt64), pl.col("lba"), pl.col("sectors").cast(pl.UInt64)
    within = pl.min_horizontal(lba % part, pl.lit(part, pl.UInt64) - length)
    begin = (device % drives) * sectors + (device // drives) * part
    return frame.with_columns(lba=begin + within, device=pl.lit(0, pl.UInt32)).select(
        "arrival_ns", "lba", "sectors", "device", "op", "flags"
    )


def _poisson(frame: pl.DataFrame, mean_ms: float) -> pl.DataFrame:
    """The same requests, arriving independently of each other."""
    import polars as pl

    draw = Random(1)  # noqa: S311 (arrivals, no secrets)
    gaps = pl.Series("arrival_ns", [round(draw.expovariate(1e-6 / mean_ms)) for _ in range(len(frame))], pl.UInt64)
    return frame.with_columns(gaps.cum_sum())
