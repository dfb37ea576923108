"""The time-shared host of the study `johnson`, run under each policy; its driver's requests with what is asked of them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import headstack
from headstack.threads import Pool

if TYPE_CHECKING:
    import polars as pl

    from headstack.results.analyses import Analysis
    from headstack.results.runs import BufferCacheCounts

SYSTEM = "uda50-ra81"
WORKLOAD = "time-shared"
SEEDS = range(1, 7)
SPAN_S = 3600.0
WARMUP_S = 60.0

# Slices, and the i-list at the beginning of each, in blocks of 512 bytes, as the workload has them.
SLICE_BLOCKS = 55_692
ILIST_BLOCKS = 1_024
NS_PER_TICK = 1e9 / 60

TRICKLE = (("host.buffer_cache.trickle_every_s", "1.0"), ("host.buffer_cache.trickle_blocks", "5"))
READS_FIRST = (("host.scheduler", "fcfs+reads-first"),)
POLICIES: dict[str, tuple[tuple[str, str], ...]] = {
    "as it was": (),
    "trickle flush": TRICKLE,
    "reads first": READS_FIRST,
    "trickle flush, reads first": TRICKLE + READS_FIRST,
}


@dataclass(frozen=True)
class Host:
    """A run: the driver's requests after the warm-up, all of them, and what the cache did."""

    rows: pl.DataFrame
    everything: pl.DataFrame
    cache: BufferCacheCounts

    @property
    def reads(self) -> pl.DataFrame:
        """The reads among the rows."""
        return self.rows.filter(self.rows["is_read"])

    @property
    def read_variance(self) -> float:
        """Of the reads' response, in ms²."""
        import polars as pl

        return self.reads.select(pl.col("ms").var()).item()

    def read_quantile(self, share: float) -> float:
        """Of the reads' response, in ms."""
        return self.reads["ms"].quantile(share, "higher") or 0.0

    def drive(self, number: int) -> pl.DataFrame:
        """The rows of a drive."""
        return self.rows.filter(self.rows["drive"] == number)

    def largest(self, column: str, drive: int | None = None) -> float:
        """The largest value of a column."""
        import polars as pl

        rows = self.rows if drive is None else self.drive(drive)
        return float(rows.select(pl.col(column).max()).item())


def run_all() -> dict[str, list[Host]]:
    """Every policy with every seed, as many runs at a time as there are cores."""
    cases = list(product(POLICIES, SEEDS))
    with Pool() as pool:
        found = list(pool.map(lambda case: run_one(POLICIES[case[0]], case[1]), cases))
    hosts: dict[str, list[Host]] = {name: [] for name in POLICIES}
    for (name, _), host in zip(cases, found, strict=True):
        hosts[name].append(host)
    return hosts


def run_one(policy: tuple[tuple[str, str], ...], seed: int, span_s: float | None = None) -> Host:
    """One run, of the study's length if no other is given."""
    import polars as pl

    result = headstack.simulate(
        headstack.System(SYSTEM, overrides=list(policy)),
        headstack.Workload(WORKLOAD),
        seed=seed,
        until_s=SPAN_S if span_s is None else span_s,
        warmup_s=WARMUP_S,
    )
    rows = with_questions(pl.DataFrame(result.driver_requests))
    return Host(rows.filter(pl.col("arrival_ns") >= WARMUP_S * 1e9), rows, result.summary["buffer_cache"])


def with_questions(driver: pl.DataFrame) -> pl.DataFrame:
    """The driver's requests with their response, in ms and as a clock of ticks sees it, and where and when they fell."""
    import polars as pl

    response = pl.col("finish_ns").cast(pl.Int64) - pl.col("arrival_ns").cast(pl.Int64)
    tick = [(pl.col(name) / NS_PER_TICK).floor() for name in ("arrival_ns", "finish_ns")]
    rows = driver.with_columns(
        ms=response / 1e6,
        ticks=(tick[1] - tick[0]).cast(pl.Int64),
        is_read=pl.col("op").cast(pl.String) == "read",
        origin=pl.col("origin").cast(pl.String),
        in_ilist=pl.col("lba") % SLICE_BLOCKS < ILIST_BLOCKS,
    ).sort("arrival_ns", "id")
    flushes = (
        rows.filter(pl.col("origin") == "sync")
        .group_by(flush_ns="arrival_ns")
        .agg(flush_end_ns=pl.col("finish_ns").max())
        .sort("flush_ns")
    )
    joined = rows.join_asof(flushes, left_on="arrival_ns", right_on="flush_ns")
    # The flush's own writes are in it, too.
    return joined.with_columns(in_flush=(pl.col("arrival_ns") < pl.col("flush_end_ns")).fill_null(value=False))


def ilist_excess(rows: pl.DataFrame) -> float:
    """Share of the i-lists among the slowest 5 % of the requests, over their share among all."""
    import polars as pl

    bound = rows["ms"].quantile(0.95) or 0.0
    inside = pl.col("in_ilist").mean()
    return rows.filter(pl.col("ms") > bound).select(inside).item() / rows.select(inside).item()


def rank_correlation(rows: pl.DataFrame) -> float:
    """Spearman's correlation of transfer size and response."""
    import polars as pl

    return rows.select(pl.corr("sectors", "ms", method="spearman")).item()


def overtaken_writes(rows: pl.DataFrame) -> int:
    """Reads that end before an older write to a block they read."""
    import polars as pl

    lba, end = pl.col("lba").cast(pl.Int64), (pl.col("lba") + pl.col("sectors")).cast(pl.Int64)
    blocks = rows.select("id", "device", "finish_ns", "is_read", block=pl.int_ranges(lba // 2, (end + 1) // 2)).explode(
        "block"
    )
    reads, writes = (blocks.filter(pl.col("is_read") == which) for which in (True, False))
    pairs = reads.join(writes, on=["device", "block"], suffix="_of_write")
    early = (pl.col("id_of_write") < pl.col("id")) & (pl.col("finish_ns_of_write") > pl.col("finish_ns"))
    return pairs.filter(early)["id"].n_unique()


def most_outstanding(rows: pl.DataFrame) -> int:
    """Most requests between being handed out and complete, over all drives."""
    import polars as pl

    begun = rows.select(at="start_ns", step=pl.lit(1))
    ended = rows.select(at="finish_ns", step=pl.lit(-1))
    return int(pl.concat([begun, ended]).sort("at", "step")["step"].cum_sum().max() or 0)  # type: ignore[arg-type]


def analysed(host: Host) -> Analysis:
    """What `trace analyze` finds in the driver's requests, with a clock of 60 ticks a second."""
    from headstack import _core

    columns = ["arrival_ns", "device", "op", "lba", "sectors", "start_ns", "finish_ns"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "driver.parquet"
        host.rows.select(columns).write_parquet(path)
        return _core.analyse_trace(_core.Trace(path, sector_bytes=512), ticks_per_s=60)
