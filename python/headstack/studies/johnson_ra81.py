"""The RA81 and the UDA50 of the study `johnson`: the drive file beside what is stated, and what simulated requests see."""

from __future__ import annotations

import headstack
from headstack.studies.framework import Row, about, at_most
from headstack.studies.johnson_runs import SEEDS, SYSTEM, most_outstanding, with_questions
from headstack.studies.repeats import estimate

DRIVE = "dec-ra81"
CYLINDERS = 1_248

# One block at a time, far apart; and more than the bus can carry: 125 blocks at once, from all four drives.
APART = """
requests = 2000
[[stream]]
read_fraction = 1.0
size.fixed_kib = 0.5
inter_arrival.constant_ms = 400
"""
FLOOD = """
requests = 2000
[[stream]]
volumes = ["ra0", "ra1", "ra2", "ra3"]
read_fraction = 1.0
raw = true
sequential_fraction = 0.95
size.fixed_kib = 62.5
inter_arrival.constant_ms = 0
"""


def rows() -> list[Row]:
    """What is stated of drive and controller, and what they do here."""
    drive = headstack.Drive(DRIVE)
    averages = drive.seek_averages()
    stated = "as stated in the drive file"
    found = [
        about("ra81-one", "single-cylinder seek", 7.0, drive.seek_ms(1), "ms", within=0.05, note=stated, kind="input"),
        about("ra81-full", "longest seek", 50.0, drive.seek_ms(CYLINDERS - 1), "ms", within=0.05, note=stated, kind="input"),
        about("ra81-mean", "mean seek, taken as that over a third of the cylinders", 28.0, averages["third_stroke_ms"], "ms",
              within=0.05, note=f"between random addresses {averages['distance_weighted_ms']:.1f} ms"),
        about("ra81-capacity", "capacity", 456.0, drive.capacity_sectors * drive.sector_bytes / 1e6, "10⁶ bytes",
              within=1.0, kind="input"),
        about("ra81-cylinders", "cylinders, counted as the paper does (half of a cylinder's 14 tracks)", 2516.0,
              2.0 * CYLINDERS, "", within=0.5, note="20 of them hold no data: 2,496 make the stated 456 MB", kind="input"),
        about("ra81-rate", "media rate", 2.2, _media_mb_per_s(drive), "MB/s", within=0.05,
              note="2.2 MB/s is the raw rate; 51 sectors of 512 bytes a revolution are 1.57 MB/s of data"),
    ]  # fmt: skip
    latency, latency_ci = estimate([_latency_ms(seed) for seed in SEEDS])
    found.append(
        about("ra81-latency", "mean rotational latency of single reads", 8.33, latency, "ms", within=0.3,
              ci95=latency_ci, note="simulated")
    )  # fmt: skip
    return [*found, *_controller()]


def _media_mb_per_s(drive: headstack.Drive) -> float:
    zone = drive.describe()["zones"][0]
    return zone["sectors_per_track"] * drive.sector_bytes / (drive.rotation_ms * 1e3)


def _latency_ms(seed: int) -> float:
    result = headstack.simulate(DRIVE, headstack.Workload(toml=APART), seed=seed, keep=False)
    return result.summary["phases_ms"]["rotation"]


def _controller() -> list[Row]:
    import polars as pl

    result = headstack.simulate(SYSTEM, headstack.Workload(toml=FLOOD))
    driver = with_questions(pl.DataFrame(result.driver_requests))
    moved = float(driver["sectors"].sum()) * 512 / 1e6 / result.summary["simulated_s"]
    outstanding = float(most_outstanding(driver))
    return [
        at_most("uda50-ceiling", "four drives flooded with reads of 125 blocks: data moved", 1.35, moved, "MB/s",
                note=f"the UNIBUS adapter's limit, of which this is {100 * moved / 1.35:.0f} %"),
        about("uda50-outstanding", "most requests outstanding at the controller", 14.0, outstanding, "requests",
              within=0.0),
    ]  # fmt: skip
