"""`sweep`: all runs once, kept as they come, the same on every number of threads, repeated until they tell enough."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random

import polars as pl
import pytest

import headstack
from conftest import ROOT, refused
from conftest import headstack as run_cli
from headstack.counted import kept_runs
from headstack.errors import InputError
from headstack.sweeping import definition, folder, repeats
from headstack.sweeping.cells import cell, column, figure, figures
from headstack.sweeping.executors.local import LocalExecutor
from headstack.sweeping.file_hints import in_keys
from headstack.sweeping.repeats import Estimate
from sweeps import BASE, GAP, RPM, written


def test_points_are_what_simulate_gives(tmp_path: Path) -> None:
    file = written(tmp_path, 'metrics = ["response_ms.mean", "iops"]\n' + BASE + RPM + "[repeats]\ncount = 2\n")
    done = headstack.sweep(file, tmp_path / "out")
    assert [len(result.runs) for result in done.results] == [2, 2, 2]
    for result in done.results:
        for run in result.runs:
            again = headstack.simulate(
                "hp-97560",
                "thesis-4ms",
                requests=300,
                seed=run.seed,
                overrides={"rotation_rpm": result.values["rotation_rpm"]},
            )
            assert run.summary == {key: value for key, value in again.summary.items() if key != "wall_s"}
    # The same seed makes the same requests, whatever the system.
    simulated = [[run.summary["reads"]["requests"] for run in result.runs] for result in done.results]
    assert simulated[0] == simulated[1] == simulated[2]
    assert simulated[0][0] != simulated[0][1]


def test_one_thread_and_two_give_the_same_bytes(tmp_path: Path) -> None:
    file = written(tmp_path, BASE + RPM + GAP + "[repeats]\ncount = 3\n")
    tables = []
    for threads in (1, 2):
        headstack.sweep(file, tmp_path / str(threads), threads=threads)
        tables.append((tmp_path / str(threads) / folder.RESULTS).read_bytes())
    assert tables[0] == tables[1]
    assert len(pl.read_parquet(tables[0])) == 18


def test_another_executor_gives_the_same_bytes(tmp_path: Path) -> None:
    load = written(tmp_path, (ROOT / "workloads" / "thesis-4ms.toml").read_text(), "load.toml")
    file = written(tmp_path, BASE.replace("thesis-4ms", load.name) + RPM)
    with LocalExecutor(1) as here:
        headstack.sweep(file, tmp_path / "here", executor=here)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as there:
        headstack.sweep(file, tmp_path / "there", executor=there)
    tables = [(tmp_path / place / folder.RESULTS).read_bytes() for place in ("here", "there")]
    assert tables[0] == tables[1]


def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    # 40 points of about 0.1 s: there is time to end it in the middle.
    many = RPM.replace("values = [4002, 5400, 7200]", "range = { from = 4000, to = 7900, step = 100 }")
    file = written(tmp_path, BASE.replace("300", "10_000") + many)
    whole = headstack.sweep(file, tmp_path / "whole")
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "headstack", "sweep", file, "--out", out, "--threads", "2"], stderr=subprocess.PIPE
    )
    until = time.monotonic() + 60
    while len(list((out / folder.RUNS).glob("[0-9]*"))) < 7 and time.monotonic() < until:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    kept = {path: path.stat().st_mtime_ns for path in (out / folder.RUNS).glob("[0-9]*")}
    assert 7 <= len(kept) < 40
    assert "--resume" in refused("sweep", file, "--out", out)
    found = run_cli("sweep", file, "--out", out, "--resume", "--json").json()
    assert (found["points"], found["failed"], found["resumed"]) == (40, 0, len(kept))
    # What was done was not done again.
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (out / folder.RESULTS).read_bytes() == (whole.folder / folder.RESULTS).read_bytes()


@pytest.mark.parametrize(
    ("kind", "where"),
    [(signal.SIGINT, "--threads=2"), (signal.SIGTERM, "--threads=2"), (signal.SIGINT, "--dask=local:2")],
)
def test_an_interrupted_sweep_says_what_is_kept(tmp_path: Path, kind: signal.Signals, where: str) -> None:
    if "dask" in where:
        pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE.replace("300", "1_000_000").replace("hp-97560", "cheetah-9lp") + GAP)
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "headstack", "sweep", file, "--out", out, where],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not (out / folder.MANIFEST).exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.2)
    begun = time.monotonic()
    # As a terminal does: to the command and to all processes that it began.
    os.killpg(running.pid, kind)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 128 + kind, said
    assert time.monotonic() - begun < 8
    assert "0 finished runs are kept" in said
    assert "--resume" in said
    assert "Traceback" not in said


def test_a_point_that_fails_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = written(tmp_path, BASE + RPM.replace("5400", "-1"))
    outcome = run_cli("sweep", file, "--out", tmp_path / "out", "--json")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert (found["points"], found["failed"], len(found["results"])) == (3, 1, 2)
    failure = found["failures"][0]
    assert failure["values"] == {"rotation_rpm": -1}
    assert "rotation_rpm" in failure["error"]
    assert "point 1 failed" in outcome.err
    table = pl.read_parquet(tmp_path / "out" / folder.RESULTS)
    assert table["error"].is_null().to_list() == [True, False, True]


def test_the_folder_of_another_sweep_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    headstack.sweep(written(tmp_path, BASE + RPM), out)
    other = written(tmp_path, BASE.replace("300", "301") + RPM)
    assert "another sweep" in refused("sweep", other, "--out", out, "--resume")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine")
    assert "not the folder of a sweep" in refused("sweep", other, "--out", mine)
    assert "is a file" in refused("sweep", other, "--out", mine / "letter.txt")


def test_a_folder_that_was_left_as_it_began_is_new(tmp_path: Path) -> None:
    file, out = written(tmp_path, BASE + RPM), tmp_path / "out"
    (out / folder.RUNS).mkdir(parents=True)
    (out / folder.SWEEP).write_text(file.read_text())
    assert len(headstack.sweep(file, out).complete) == 3


def test_a_file_of_the_name_of_the_sweep_s_own_is_kept(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / folder.SWEEP).write_text("my own")
    file = written(tmp_path, BASE + RPM)
    assert "is not the folder of a sweep" in refused("sweep", file, "--out", mine)
    assert (mine / folder.SWEEP).read_text() == "my own"
    assert [each.name for each in mine.iterdir()] == [folder.SWEEP]


def test_a_run_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file, out = written(tmp_path, BASE + RPM), tmp_path / "out"
    headstack.sweep(file, out)
    broken = out / folder.RUNS / "000001-1.parquet"
    broken.write_text("no table")
    message = refused("sweep", file, "--out", out, "--resume")
    assert "000001-1.parquet" in message
    broken.unlink()
    assert run_cli("sweep", file, "--out", out, "--resume", "--json").json()["resumed"] == 2


def test_a_load_that_changed_makes_another_sweep(tmp_path: Path) -> None:
    load = (ROOT / "workloads" / "thesis-4ms.toml").read_text()
    written(tmp_path, load, "load.toml")
    file = written(tmp_path, BASE.replace("thesis-4ms", "load.toml") + RPM)
    headstack.sweep(file, tmp_path / "out")
    written(tmp_path, load.replace("read_fraction = 0.6", "read_fraction = 0.7"), "load.toml")
    with pytest.raises(InputError, match="another sweep"):
        headstack.sweep(file, tmp_path / "out", resume=True)


def test_a_sweep_goes_on_from_another_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive = tmp_path / "mine.toml"
    drive.write_text((ROOT / "drives" / "hp-97560.toml").read_text())
    written(tmp_path, BASE.replace("hp-97560", "mine.toml") + RPM)
    monkeypatch.chdir(tmp_path)
    headstack.sweep("grid.toml", "out")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert headstack.sweep("../grid.toml", "../out", resume=True).resumed == 3
    drive.write_text(drive.read_text().replace("rotation_rpm = 4002.0", "rotation_rpm = 4003.0"))
    with pytest.raises(InputError, match="another sweep"):
        headstack.sweep("../grid.toml", "../out", resume=True)


def test_a_full_disk_ends_the_sweep_and_keeps_what_is_done(tmp_path: Path) -> None:
    file = written(tmp_path, BASE + RPM)
    headstack.sweep(file, tmp_path / "out")
    runs = tmp_path / "out" / folder.RUNS
    kept = sorted(runs.iterdir())
    kept[-1].unlink()
    # No file can be made where a folder has its name.
    (runs / kept[-1].name).mkdir()
    with pytest.raises(InputError, match="cannot") as refusal:
        headstack.sweep(file, tmp_path / "out", resume=True)
    assert refusal.value.hint == "2 finished runs are kept; --resume goes on once the folder can be written to"


def test_a_folder_of_which_something_is_damaged_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    headstack.sweep(written(tmp_path, BASE + RPM), out)
    run = next((out / folder.RUNS).iterdir())
    kept = run.read_bytes()
    pl.DataFrame({"point": [1]}).write_parquet(run)
    with pytest.raises(InputError, match=r"cannot read .*did not find column"):
        headstack.Sweep(out)
    pl.read_parquet(kept).with_columns(point=pl.lit(99, pl.Int64)).write_parquet(run)
    with pytest.raises(InputError, match="point 99"):
        headstack.Sweep(out)
    run.write_bytes(kept)
    for text in ("[" * 100_000, json.dumps({"kind": folder.KIND})):
        (out / folder.MANIFEST).write_text(text)
        with pytest.raises(InputError, match="is not the folder of a sweep"):
            headstack.Sweep(out)


def test_points_without_a_request_are_told(tmp_path: Path) -> None:
    file = written(tmp_path, BASE + "until_s = 0\n" + RPM)
    assert "3 of 3 points: no request was complete" in run_cli("sweep", file, "--out", tmp_path / "out").err


# ---- repeats ----


def test_a_point_is_repeated_until_its_interval_is_narrow(tmp_path: Path) -> None:
    rule = '[repeats]\ncount = 3\n[stop]\nmetric = "response_ms.mean"\nwithin_percent = 10\nmost = 40\n'
    done = headstack.sweep(written(tmp_path, BASE + GAP + rule), tmp_path / "out")
    for result in done.results:
        assert 3 <= len(result.runs) <= 40
        values = list(result.of_seeds("response_ms.mean").values())
        found = repeats.estimate(values)
        assert found is not None
        assert found.ci95 is not None
        assert found.ci95 <= 0.1 * found.mean or len(result.runs) == 40
        if len(values) > 3:
            before = repeats.estimate(values[:-1])
            assert before is not None
            assert (before.ci95 or 0) > 0.1 * before.mean
    assert len({len(result.runs) for result in done.results} | {3}) > 1, "the rule must have asked for more somewhere"


def test_a_point_whose_interval_stays_wide_is_named(tmp_path: Path) -> None:
    rule = '[stop]\nmetric = "response_ms.mean"\nwithin_percent = 0.001\nmost = 4\n'
    file = written(tmp_path, BASE + GAP + rule)
    found = run_cli("sweep", file, "--out", tmp_path / "out", "--json").json()
    assert (found["complete"], found["wide"]) == (2, [0, 1])
    assert "2 after 4 repeats" in run_cli("sweep", file, "--out", tmp_path / "out", "--resume").out
    narrow = written(tmp_path, BASE + GAP + rule.replace("0.001", "1000"), "narrow.toml")
    assert run_cli("sweep", narrow, "--out", tmp_path / "narrow", "--json").json()["wide"] == []


def test_a_point_whose_runs_lack_the_metric_to_stop_by_is_named(tmp_path: Path) -> None:
    systems = '[[axis]]\npath = "system"\nvalues = ["nearline-18tb", "hp-97560"]\n'
    rule = '[stop]\nmetric = "power.average_w"\nwithin_percent = 50\n'
    out = tmp_path / "out"
    file = written(tmp_path, BASE.replace('system = "hp-97560"\n', "") + systems + rule)
    assert run_cli("sweep", file, "--out", out, "--json").json()["wide"] == [1]
    assert "1, whose runs have no power.average_w" in run_cli("sweep", file, "--out", out, "--resume").out


@pytest.mark.parametrize(("begun", "least"), [(3, 0.87), (10, 0.91)])
def test_intervals_that_end_a_point_hold_the_mean_about_as_often_as_told(begun: int, least: float) -> None:
    random, stop = Random(1), definition.Stop("response_ms.mean", 5.0, 200)
    held = 0
    for _ in range(400):
        values = [random.gauss(1.0, 0.1) for _ in range(begun)]
        while not repeats.is_enough(stop, values) and len(values) < stop.most:
            values.append(random.gauss(1.0, 0.1))
        found = repeats.estimate(values)
        assert found is not None
        held += abs(found.mean - 1.0) <= (found.ci95 or 0.0)
    # 0.90 and 0.94 are told; two standard errors less.
    assert least <= held / 400 <= 0.98


def test_the_interval_covers_the_mean_of_many_seeds(tmp_path: Path) -> None:
    done = headstack.sweep(
        written(tmp_path, BASE + GAP.replace("20.0, ", "") + "[repeats]\ncount = 200\n"), tmp_path / "out"
    )
    values = [value or 0.0 for value in done.results[0].of_seeds("response_ms.mean").values()]
    truth = sum(values) / len(values)
    fives = [repeats.estimate(values[begin : begin + 5]) for begin in range(0, 200, 5)]
    held = sum(abs(each.mean - truth) <= (each.ci95 or 0.0) for each in fives if each is not None)
    # 40 intervals, 38 expected; fewer than 34 happen once in a hundred times.
    assert held >= 34


def test_one_run_that_is_kept_is_one_run() -> None:
    """It was "1 finished runs are kept"."""
    assert kept_runs(1) == "1 finished run is kept"
    assert kept_runs(1_200) == "1,200 finished runs are kept"


def test_a_mean_has_the_decimals_of_its_interval() -> None:
    """It was 107.1 ± 32 below 93.54 ± 16, and 17.1 below 16.86."""
    shown = [str(cell(Estimate(mean, interval))) for mean, interval in ((107.1, 32.4), (29.774, 1.7), (12.01, 0.0914))]
    assert shown == ["107 ± 32", "29.8 ± 1.7", "12.010 ± 0.091"]
    assert str(cell(Estimate(1234.5, 120.0))) == "1,234 ± 120"
    # Repeats that hardly vary: no more digits than anybody reads.
    assert str(cell(Estimate(5.25, 3e-9))) == "5.25000 ± 3e-09"
    assert [figure(1e308), figure(-2e15, 2), figure(999e12), *figures([1e300, 2.0])] == [
        "1e+308",
        "-2e+15",
        "999,000,000,000,000",
        "1e+300",
        "2",
    ]
    assert [figure(math.inf), str(cell(Estimate(2.5, math.inf)))] == ["inf", "2.500 ± inf"]
    assert str(cell(Estimate(0.0, 0.5))) == "0.00 ± 0.50"
    assert [figure(value) for value in (17.1, 16.86, 8.36, 300.0, 0.0, 1234.5, 999.96, 2e-7)] == [
        "17.10", "16.86", "8.360", "300", "0", "1,234", "1000.0", "2e-07",
    ]  # fmt: skip


def test_a_column_has_one_precision() -> None:
    """A column had 17.10, 131.7 and 1,234. Where there is an interval, it alone says how many decimals stand."""
    estimates = [Estimate(107.1, 32.4), None, Estimate(29.774, 1.7), Estimate(17.1, None), Estimate(131.7, None)]
    assert list(map(str, column(estimates))) == ["107 ± 32", "–", "29.8 ± 1.7", "17.10", "131.70"]
    assert [part.exact for part in column(estimates)[0].parts] == [107.1, 32.4]
    assert figures([17.1, 131.7, 1234.5, None]) == ["17.10", "131.70", "1,234.50", "–"]
    assert figures([300.0, 420.0]) == ["300", "420"]
    # Six digits of the largest are enough; what would be nothing then is written out.
    assert figures([123456.7, 0.25, 0.0, math.inf]) == ["123,457", "0.2500", "0", "inf"]
    assert column([]) == figures([]) == []


FAR = "arrival_ms,op,lba,sectors\n0,R,0,8\n5,R,90000000,8\n"


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("use --fit-lba wrap (or scale, offset)", 'use `"trace.fit_lba" = "wrap"` (or scale, offset), in [base.set]'),
        ("use --fit-lba wrap or --fit-lba scale", 'use `"trace.fit_lba" = "wrap"` or `"trace.fit_lba" = "scale"`, in [base.set]'),
        ("order it with `--sort`", 'order it with `"trace.sort" = true`, in [base.set]'),
        ("read the whole trace with --sort (memory)", 'read the whole trace with `"trace.sort" = true` (memory), in [base.set]'),
        ("choose one with --device 3, or map several", 'choose one with `"trace.devices" = [3]`, or map several, in [base.set]'),
        ("choose a smaller --time-scale or inter-arrival time", 'choose a smaller `"trace.time_scale"` or inter-arrival time, in [base.set]'),
        ("use `--replay closed` or `--replay open`", 'use `replay = "closed"` or `replay = "open"`, in [base]'),
        ("use `--threads 1` or more", "use `--threads 1` or more"),
        (None, None),
    ],
)  # fmt: skip
def test_hints_name_the_keys_of_a_sweep_file(hint: str | None, said: str | None) -> None:
    assert in_keys(hint) == said


def test_a_trace_that_reaches_too_far_is_fitted_as_the_hint_says(tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text(FAR)
    base = '[base]\nsystem = "hp-97560"\ntrace = "far.csv"\n'
    axis = '[[axis]]\npath = "requests"\nvalues = [1, 2]\n'
    key = 'use `"trace.fit_lba" = "wrap"` (or scale, offset), in [base.set]'
    outcome = run_cli("sweep", written(tmp_path, base + axis), "--out", tmp_path / "out")
    assert outcome.code == 1
    assert "--fit-lba" not in outcome.err
    assert key in " ".join(outcome.err.split())
    alone = written(tmp_path, base + axis.replace("[1, 2]", "[2]"), "alone.toml")
    assert run_cli("sweep", alone, "--out", tmp_path / "alone").code == 1
    assert key in refused("compare", tmp_path / "alone")
    fitted = written(tmp_path, base + '[base.set]\n"trace.fit_lba" = "wrap"\n' + axis, "fitted.toml")
    assert run_cli("sweep", fitted, "--out", tmp_path / "fitted", "--json").json()["complete"] == 2


def test_candidates_are_fitted_by_the_option_of_explore(tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text(FAR)
    few = written(tmp_path, 'drives = ["hp-97560"]\n', "few.toml")
    said = refused("explore", tmp_path / "far.csv", "--candidates", few, "--out", tmp_path / "out")
    assert "use --fit-lba wrap (or scale, offset)" in said
    assert "(options of `explore`)" in refused("compare", tmp_path / "out")
