"""Soft errors: commands whose media work is retried."""

from __future__ import annotations

import polars as pl
import pytest

import headstack
from conftest import refused

DRIVE = "hp-c2200a"
REVOLUTION_MS = 60_000 / 4002.2
WORKLOAD = """
requests = 2000
[[stream]]
read_fraction = 0.5
size.fixed_kib = 2
inter_arrival.constant_ms = 300
"""


def services(soft_errors: dict[str, float] | None = None, seed: int = 1) -> pl.DataFrame:
    overrides = {f"soft_errors.{name}": value for name, value in (soft_errors or {}).items()}
    run = headstack.simulate(DRIVE, headstack.Workload(toml=WORKLOAD), overrides=overrides, seed=seed)
    frame = pl.DataFrame(run.completions).sort("id")
    return frame.with_columns(pl.col("op").cast(pl.String), service=(pl.col("finish_ns") - pl.col("start_ns")) / 1e6)


def test_a_retried_read_takes_whole_revolutions_longer() -> None:
    plain = services()
    retried = services({"read_probability": 1.0, "mean_revolutions": 1.0})
    reads = plain["op"] == "read"
    more = retried["service"] - plain["service"]
    count = len(plain.filter(reads))
    # Up to the width of a sector: when the bus is asked for may round differently.
    assert more.filter(reads).to_list() == pytest.approx([REVOLUTION_MS] * count, abs=0.01)
    assert more.filter(~reads).to_list() == pytest.approx([0.0] * (len(plain) - count), abs=1e-9)
    lost = (retried["rotation_ns"] - plain["rotation_ns"]).filter(reads) / 1e6
    assert lost.to_list() == pytest.approx([REVOLUTION_MS] * count, abs=0.01)
    phases = ["queue", "overhead", "seek", "rotation", "transfer", "bus", "other"]
    total = retried.select(pl.sum_horizontal(f"{phase}_ns" for phase in phases)).to_series()
    assert (total == retried["finish_ns"] - retried["arrival_ns"]).all()


def test_retries_are_as_many_as_the_file_says_and_the_seed_decides_which() -> None:
    plain = services()
    file = {"write_probability": 0.1, "mean_revolutions": 3.0}
    retried = services(file)
    turns = (retried["service"] - plain["service"]) / REVOLUTION_MS
    hit = turns.filter(turns > 0.5)
    assert 60 <= len(hit) <= 145
    assert hit.mean() == pytest.approx(3.0, abs=0.8)
    assert (turns.filter(plain["op"] == "read").abs() < 0.01).all()
    assert services(file).equals(retried)
    assert not services(file, seed=2)["service"].equals(retried["service"])


def test_what_makes_no_sense_is_refused() -> None:
    words = ("simulate", DRIVE, "--requests", "10", "--workload", "unix-like")
    error = refused(*words, "--set", "soft_errors.mean_revolutions=0.5")
    assert "soft_errors.mean_revolutions" in error
    assert "between 1 and 1000" in error
    error = refused(*words, "--set", "soft_errors.mean_revolutions=2", "--set", "soft_errors.read_probability=3")
    assert "soft_errors.read_probability" in error
