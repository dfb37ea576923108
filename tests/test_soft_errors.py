"""Soft errors: commands whose media work is retried."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import headstack
from conftest import headstack as run
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
    assert "between 1 and 1,000" in error
    error = refused(*words, "--set", "soft_errors.mean_revolutions=2", "--set", "soft_errors.read_probability=3")
    assert "soft_errors.read_probability" in error


PLANTED = {"read_probability": 0.02, "write_probability": 0.01, "mean_revolutions": 3.0}


@pytest.fixture(scope="module")
def retried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of a drive that retries."""
    path = tmp_path_factory.mktemp("retried") / "retried.parquet"
    workload = headstack.Workload(toml=WORKLOAD.replace("2000", "8000"))
    overrides = {f"soft_errors.{name}": value for name, value in PLANTED.items()}
    headstack.simulate(DRIVE, workload, overrides=overrides, out=path, keep=False)
    return path


def test_calibrate_tells_retries_and_saves_them_where_it_is_asked_to(retried: Path, tmp_path: Path) -> None:
    save, page = tmp_path / "fitted.toml", tmp_path / "fit.html"
    words = ("calibrate", DRIVE, "--trace", retried, "--parameters", "mechanics.head_switch_ms", "--rounds", "1")
    found = run(*words, "--retries", "--save", save, "--report", page, "--json").json()["retries"]
    rows = {row["name"]: row for row in found["parameters"]}
    assert set(rows) == {f"soft_errors.{name}" for name in PLANTED}
    for name, row in rows.items():
        low, high = row["ci95"]
        assert low < row["value"] < high, name
        # One trace may lie a little outside 95 %; the crate's tests count how often.
        assert 0.6 * low < PLANTED[name.partition(".")[2]] < 1.5 * high, row
    saved = headstack.Drive(str(save))
    assert saved.spec()["soft_errors"]["mean_revolutions"] == pytest.approx(
        rows["soft_errors.mean_revolutions"]["value"], rel=0.01
    )
    assert saved.provenance()["entries"]["soft_errors"]["kind"] == "fitted"
    assert found["is_in_drive"]
    assert "Retries" in page.read_text()
    plain = run(*words, "--save", save)
    assert headstack.Drive(str(save)).spec().get("soft_errors") is None
    assert "not in the corrected drive without `--retries`" in " ".join(plain.out.split())


def test_validate_scores_a_drive_that_retries_with_and_without(retried: Path) -> None:
    overrides = {f"soft_errors.{name}": value for name, value in PLANTED.items()}
    scored = headstack.validate(DRIVE, retried, overrides=overrides).summary["retries"]
    never = headstack.validate(DRIVE, retried).summary
    assert scored["seeds"] == 20
    assert scored["without"]["demerit_ms"] == never["demerit_ms"]
    low, high = scored["demerit_ms"]["range"]
    assert low < scored["demerit_ms"]["median"] < high
    assert scored["demerit_ms"]["median"] < 0.6 * never["demerit_ms"]
    # Which request is retried is drawn: single requests are predicted no better.
    assert scored["mae_ms"]["median"] > never["per_request"]["mae_ms"]
    assert "retries" not in never
    words = [word for name, value in PLANTED.items() for word in ("--set", f"soft_errors.{name}={value}")]
    shown = " ".join(run("validate", DRIVE, "--trace", retried, *words).out.split())
    assert "in the median of 20 seeds" in shown
    assert "all, no retries" in shown
