"""`sweep`: grids from files, all of their runs once, kept as they come, the same wherever they are served."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import headstack
from conftest import ROOT, refused
from conftest import headstack as run_cli
from headstack.errors import InputError
from headstack.report.sweep import sweep_page
from headstack.sweeping import definition, folder, pareto, repeats
from headstack.sweeping.executors.local import LocalExecutor
from headstack.sweeping.result import PointResult

BASE = '[base]\nsystem = "hp-97560"\nworkload = "thesis-4ms"\nrequests = 300\n'
RPM = '[[axis]]\npath = "rotation_rpm"\nvalues = [4002, 5400, 7200]\n'
GAP = '[[axis]]\nname = "gap"\npath = "workload.stream.0.inter_arrival.exponential_ms"\nvalues = [20.0, 40.0]\n'


def written(place: Path, text: str, name: str = "grid.toml") -> Path:
    path = place / name
    path.write_text(text)
    return path


def grid(tmp_path: Path, text: str) -> list[dict[str, Any]]:
    return [point.values for point in definition.load(written(tmp_path, text)).points]


# ---- the file ----


def test_a_grid_is_every_combination_in_order(tmp_path: Path) -> None:
    found = grid(tmp_path, BASE + RPM + GAP)
    assert found == [{"rotation_rpm": rpm, "gap": gap} for rpm in (4002, 5400, 7200) for gap in (20.0, 40.0)]


@pytest.mark.parametrize(
    ("range_", "values"),
    [
        ("range = { from = 1, to = 7, step = 2 }", [1, 3, 5, 7]),
        ("range = { from = 0.1, to = 0.4, step = 0.1 }", [0.1, 0.2, 0.3, 0.4]),
        ("range = { from = 1.0, to = 2.0, count = 3 }", [1.0, 1.5, 2.0]),
        ("log_range = { from = 1, to = 32, count = 6 }", [1, 2, 4, 8, 16, 32]),
        ("log_range = { from = 1, to = 4, count = 9 }", [1, 2, 3, 4]),
        ("log_range = { from = 1.0, to = 100.0, count = 5 }", [1.0, 3.162, 10.0, 31.62, 100.0]),
    ],
)
def test_ranges_hold_both_ends_and_whole_numbers_stay_whole(tmp_path: Path, range_: str, values: list[float]) -> None:
    found = [point["x"] for point in grid(tmp_path, f'{BASE}[[axis]]\nname = "x"\npath = "a.b"\n{range_}\n')]
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_constraints_leave_points_out(tmp_path: Path) -> None:
    rule = 'constraints = ["rotation_rpm < 6000 or gap in [40.0]", "not (gap == 20 and rotation_rpm == 4002)"]\n'
    found = [(point["rotation_rpm"], point["gap"]) for point in grid(tmp_path, rule + BASE + RPM + GAP)]
    assert found == [(4002, 40.0), (5400, 20.0), (5400, 40.0), (7200, 40.0)]


def test_cases_set_several_values_together(tmp_path: Path) -> None:
    cases = (
        '[[axis]]\nname = "design"\n[[axis.cases]]\nname = "slow"\n[axis.cases.set]\nrotation_rpm = 4002\nsystem = "hp-97560"\n'
        '[[axis.cases]]\nname = "fast"\n[axis.cases.set]\nsystem = "cheetah-9lp"\n'
    )
    points = definition.load(written(tmp_path, BASE + cases)).points
    assert [(point.values["design"], point.settings.system, point.settings.overrides) for point in points] == [
        ("slow", "hp-97560", (("rotation_rpm", "4002"),)),
        ("fast", "cheetah-9lp", ()),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + RPM.replace("rotation_rpm", "rotaton_rpm"), ["axis.0", "did you mean `rotation_rpm`"]),
        (BASE + GAP.replace("inter_arrival", "inter_arival"), ["axis.0", "did you mean `inter_arrival`"]),
        (BASE + RPM.replace("[4002, 5400, 7200]", "[]"), ["axis.0.values", "no values"]),
        ('constraints = ["gap < 30", "gap > 30"]\n' + BASE + RPM + GAP, ["contradict", "by itself leaves 3"]),
        ('constraints = ["gapp < 30"]\n' + BASE + RPM + GAP, ["no axis is called `gapp`", "did you mean `gap`"]),
        ("constraints = [\"__import__('os')\"]\n" + BASE + RPM, ["constraints.0"]),
        ('constraints = ["gap <"]\n' + BASE + GAP, ["is not a condition"]),
        ("constraints = [\"'a' * 99999999999 == 'b'\"]\n" + BASE + RPM, ["constraints.0", "only numbers"]),
        (
            BASE + RPM.replace("values = [4002, 5400, 7200]", "range = { from = 1.0, to = 1e300, step = 1e-300 }"),
            ["100,000"],
        ),
        (
            BASE + RPM.replace("values = [4002, 5400, 7200]", f"range = {{ from = 1, to = 1{'0' * 400}, step = 1 }}"),
            ["number"],
        ),
        (BASE, ["there is no axis"]),
        (BASE + RPM + RPM, ["two axes are called `rotation_rpm`"]),
        (BASE + RPM + RPM.replace("path", 'name = "again"\npath'), ["both set `rotation_rpm`"]),
        (BASE + RPM.replace("values", "value"), ["unknown key `value`", "did you mean `values`"]),
        (BASE + RPM.replace("values = [4002, 5400, 7200]", "range = { from = 9, to = 1, step = 1 }"), ["empty"]),
        (BASE.replace("hp-97560", "hp-97561") + RPM, ["did you mean hp-97560"]),
        (
            BASE.replace('system = "hp-97560"\n', "")
            + '[[axis]]\npath = "system"\nvalues = ["hp-97560", "hp-97561"]\n',
            ["did you mean hp-97560"],
        ),
        (BASE.replace("300", "0") + RPM, ["`requests` cannot be 0"]),
        (BASE.replace("300", '"many"') + RPM, ["`requests`", "a whole number"]),
        (BASE.replace('workload = "thesis-4ms"\n', "") + RPM, ["`workload` or a `trace`"]),
        ('metrics = ["response_ms.p98"]\n' + BASE + RPM, ["response_ms.p98", "did you mean `response_ms.p9"]),
        (BASE + RPM + "[repeats]\nseeds = [1, 1]\n", ["there twice"]),
        (BASE + RPM + '[stop]\nmetric = "iops"\nwithin_percent = 0\n', ["stop.within_percent"]),
        (BASE + RPM + '[stop]\nmetric = "iops"\nwithin_percent = 5\n[repeats]\ncount = 1\n', ["at least 2"]),
        ("[base]\nsystem = hp-97560\n", ["is not TOML", "line 2"]),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_anything_runs(tmp_path: Path, text: str, said: list[str]) -> None:
    message = refused("sweep", written(tmp_path, text), "--out", tmp_path / "out")
    for part in said:
        assert part in message
    assert not (tmp_path / "out").exists()


# ---- running ----


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
    (out / folder.SWEEP).write_text("half")
    assert len(headstack.sweep(file, out).complete) == 3


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


# ---- what it says ----


def test_nothing_on_the_front_is_beaten() -> None:
    costs = {"a": (3, 1), "b": (1, 3), "c": (2, 2), "d": (3, 3), "e": (2, 2), "f": (1, 4)}
    assert sorted(pareto.front(costs, costs.__getitem__)) == ["a", "b", "c", "e"]
    assert pareto.front([], costs.__getitem__) == []


def test_the_example_is_a_sweep(tmp_path: Path) -> None:
    found = run_cli("sweep", ROOT / "examples" / "dual-actuator.toml", "--out", tmp_path / "out", "--json").json()
    assert (found["points"], found["complete"], found["failed"], found["resumed"]) == (12, 12, 0, 0)
    # Two arms serve the heaviest load sooner, whichever scheduler.
    by_values = {tuple(each["values"].values()): each["metrics"] for each in found["results"]}
    for scheduler in ("drive:fcfs", "drive:asptf(0.03)"):
        one, two = (
            by_values[f"{name}-18tb", 5.0, scheduler]["response_ms.mean"] for name in ("nearline", "dual-actuator")
        )
        assert two["mean"] + two["ci95"] < one["mean"] - one["ci95"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("swept")
    text = (
        'summary = "Speeds and loads"\nmetrics = ["response_ms.p99", "response_ms.mean", "power.average_w", "usd"]\n'
        + BASE.replace("hp-97560", "nearline-18tb")
        + RPM.replace("4002, 5400", "7200, 6300").replace(", 7200]", ", 5400]")
        + GAP
        + '[repeats]\ncount = 4\n[usd]\n"nearline-18tb" = 300\n'
    )
    headstack.sweep(written(place, text), place / "out")
    return place / "out"


def test_points_are_compared_with_the_first_seed_by_seed(swept: Path) -> None:
    found = run_cli("compare", swept, "--json").json()
    assert (found["kind"], found["points"], found["loads"]) == ("sweep", 6, 2)
    results = headstack.Sweep(swept).results
    first, other = (list(result.of_seeds("response_ms.p99").values()) for result in (results[0], results[4]))
    changes = [(b or 0.0) - (a or 0.0) for a, b in zip(first, other, strict=True)]
    # Under a gap of 20 ms: the third speed against the first.
    compared = found["compared"][1]
    assert (compared["point"], compared["against"], compared["repeats_paired"]) == (4, 0, 4)
    told = compared["metrics"]["response_ms.p99"]
    assert told["change"] == pytest.approx(sum(changes) / 4)
    low, high = told["change_ci95"]
    assert low < told["change"] < high
    # A slower disk is slower: the same requests tell it in few runs.
    assert compared["metrics"]["response_ms.mean"]["change_ci95"][0] > 0
    for front in found["fronts"]:
        assert front["points"]
    assert {front["against"] for front in found["fronts"]} == {"power.average_w", "usd"}


def test_the_answer_says_how_much_is_known(tmp_path: Path) -> None:
    drives = '[[axis]]\npath = "system"\nvalues = ["nearline-18tb", "hp-97560"]\n'
    found = headstack.sweep(written(tmp_path, BASE + drives), tmp_path / "out").compare()
    assert found.answer().startswith("The lowest p99, ")
    assert "fewest watts of the 1 of 2 points whose watts are known" in found.answer()


def test_what_costs_the_same_is_not_called_chance(swept: Path) -> None:
    """One model at three speeds: the price is the same, whatever the seed."""
    answer = headstack.Sweep(swept).compare().answer()
    dollars = next(sentence for sentence in answer.split(". ") if "dollars" in sentence)
    assert dollars == (
        "rotation_rpm 7200 has the fewest dollars at 2 of 2 loads; at 2 of them another has as few and a longer p99."
    )


def test_points_under_one_load_are_weighed_together(tmp_path: Path) -> None:
    found = headstack.sweep(written(tmp_path, BASE + RPM + GAP), tmp_path / "out").compare()
    assert [[point.values["rotation_rpm"] for point in points] for points in found.loads] == [[4002, 5400, 7200]] * 2
    assert [point.values["gap"] for points in found.loads for point in points] == [20.0] * 3 + [40.0] * 3
    assert found.answer() == "rotation_rpm 7200 has the lowest p99 at 2 of 2 loads."


def test_a_limit_is_broken_by_a_point(swept: Path) -> None:
    outcome = run_cli("compare", swept, "--fail-if", "response_ms.p99 > +5%")
    assert outcome.code == 1
    assert "limit broken: response_ms.p99 > +5%: rotation_rpm 5400" in outcome.err
    assert "there is no `p98`" in refused("compare", swept, "--fail-if", "p98 > +5%")
    # A value is asked of every point, the first under its load, too.
    known = [result.estimate("response_ms.p99") for result in headstack.Sweep(swept).results]
    slowest = max(found.mean for found in known if found)
    for share, code in [(0.9999, 1), (1.0001, 0)]:
        assert run_cli("compare", swept, "--fail-if", f"response_ms.p99 > {share * slowest:.6f}ms").code == code
    first = run_cli("compare", swept, "--fail-if", "response_ms.p99 > 0.001ms").err
    assert first.count("limit broken") == 6


def test_a_point_without_a_rival_wins_nothing(tmp_path: Path) -> None:
    rule = 'constraints = ["gap < 30 or rotation_rpm < 5000"]\n'
    found = headstack.sweep(written(tmp_path, rule + BASE + RPM + GAP), tmp_path / "out").compare()
    assert found.answer() == "rotation_rpm 7200 has the lowest p99 at the one load that more than one point has."


def test_the_page_shows_fronts_and_all_points(swept: Path, tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    assert run_cli("compare", swept, "--report", page).code == 0
    text = page.read_text()
    for part in ("Speeds and loads", "p99 against watts", "p99 against dollars", "All points", "data (CSV)"):
        assert part in text
    assert len(text) < 5_000_000
    assert os.environ.get("HOME", "/nowhere") + "/" not in text.replace(str(page), "").split("To cite")[0]


def test_an_interval_below_zero_has_no_logarithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few runs an interval may reach below zero; a logarithmic axis would lose all its points."""
    speeds = '[[axis]]\npath = "rotation_rpm"\nvalues = [4002, 7200]\n'
    gap = '[[axis]]\npath = "workload.stream.0.inter_arrival.exponential_ms"\nvalues = [0.5, 200.0]\n'
    text = BASE.replace("hp-97560", "nearline-18tb") + speeds + gap + "[repeats]\ncount = 2\n"
    metrics = 'metrics = ["response_ms.p99", "power.average_w"]\n'
    found = headstack.sweep(written(tmp_path, metrics + text), tmp_path / "out").compare()
    estimate = PointResult.estimate

    def unsure(point: PointResult, metric: str) -> repeats.Estimate | None:
        known = estimate(point, metric)
        return known and repeats.Estimate(known.mean, 1.2 * known.mean)

    monkeypatch.setattr(PointResult, "estimate", unsure)
    chart = next(section.chart for section in sweep_page(found).sections if section.title == "p99 against watts")
    assert chart is not None
    drawn = chart.to_dict()
    assert '"type": "log"' in json.dumps(drawn)
    (rows,) = drawn["datasets"].values()
    assert all(row["low"] > 0 for row in rows)


def page_of(place: Path, speeds: int) -> str:
    """The page of a sweep of `speeds` points under each of ten loads."""
    place.mkdir()
    rpm = f'[[axis]]\npath = "rotation_rpm"\nrange = {{ from = 4000, to = {4000 + 10 * (speeds - 1)}, step = 10 }}\n'
    gap = GAP.replace("[20.0, 40.0]", str([20.0 + step for step in range(10)]))
    base = BASE.replace("300", "20").replace("hp-97560", "nearline-18tb")
    metrics = 'metrics = ["response_ms.p99", "response_ms.mean", "iops", "power.average_w"]\n'
    headstack.sweep(written(place, metrics + base + rpm + gap), place / "out").compare().report(place / "page.html")
    return (place / "page.html").read_text()


def test_the_page_of_a_thousand_points_is_small(tmp_path: Path) -> None:
    few, many = page_of(tmp_path / "few", 2), page_of(tmp_path / "many", 12)
    assert few.count("<tr>") == 22  # with the head of the table, and one in the text of the charts' library
    assert many.count("<tr>") == 122
    a_point = (len(many.encode()) - len(few.encode())) / 100
    assert 100 < a_point < 1_000
    assert len(few.encode()) + 980 * a_point < 2_000_000


def test_the_page_names_points_by_what_tells_them_apart(tmp_path: Path) -> None:
    """All points of a closer look are under one load, which their names need not repeat."""
    text = page_of(tmp_path / "names", 2)
    charts = text[text.index("How long requests take") :]
    assert '"curve": "rotation_rpm 4000"' in charts or '"curve":"rotation_rpm 4000"' in charts
    assert "rotation_rpm 4000, gap" in text


# ---- other machines ----


def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE + RPM + GAP)
    headstack.sweep(file, tmp_path / "here")
    found = run_cli("sweep", file, "--dask", "local:2", "--out", tmp_path / "there", "--json").json()
    assert (found["points"], found["failed"]) == (6, 0)
    tables = [(tmp_path / place / folder.RESULTS).read_bytes() for place in ("here", "there")]
    assert tables[0] == tables[1]


def test_a_dask_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE.replace("300", "10_000") + RPM + GAP + "[repeats]\ncount = 3\n")
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "headstack", "sweep", file, "--dask", "local:2", "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 100
    while len(list((out / folder.RUNS).glob("[0-9]*"))) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    workers = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if _parent(path.parent) == running.pid and b"spawn_main" in path.read_bytes()
    ]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    said = running.communicate(timeout=100)[1]
    assert running.returncode == 0, said
    headstack.sweep(file, tmp_path / "here")
    assert (out / folder.RESULTS).read_bytes() == (tmp_path / "here" / folder.RESULTS).read_bytes()


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_jobs_of_submitit_give_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    file = written(tmp_path, BASE + RPM)
    headstack.sweep(file, tmp_path / "here")
    found = run_cli("sweep", file, "--slurm", "local", "--out", tmp_path / "there", "--json").json()
    assert (found["points"], found["failed"]) == (3, 0)
    tables = [(tmp_path / place / folder.RESULTS).read_bytes() for place in ("here", "there")]
    assert tables[0] == tables[1]


def test_jobs_that_slurm_refuses_are_points_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    for name in ("srun", "sbatch", "scancel", "sacct"):
        (tmp_path / name).write_text("#!/bin/sh\necho invalid partition >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    outcome = run_cli(
        "sweep", written(tmp_path, BASE + RPM), "--slurm", "partition=none", "--out", tmp_path / "out", "--json"
    )
    assert outcome.code == 1, outcome
    done = json.loads(outcome.out)
    assert (done["failed"], done["complete"]) == (3, 0)
    assert all("invalid partition" in each["error"] for each in done["failures"])


def test_a_wrong_file_asks_no_cluster_for_anything(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    assert "cannot read" in refused("sweep", tmp_path / "none.toml", "--slurm", "local", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options_of_jobs_may_follow_the_word_local(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    file = written(tmp_path, BASE + RPM)
    found = run_cli("sweep", file, "--slurm", "local,timeout_min=5", "--out", tmp_path / "out", "--json").json()
    assert found["complete"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dask", "local:none"), "not a number of workers"),
        (("--dask", "127.0.0.1:1"), "no scheduler answers"),
        (("--slurm", "partition"), "not of the form name=value"),
        (("--slurm", "local", "--threads", "2"), "give one of them"),
        (("--threads", "0"), "needs a thread"),
    ],
)
def test_an_executor_that_cannot_be_had_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    for option, package in (("--dask", "distributed"), ("--slurm", "submitit")):
        if option in words:
            pytest.importorskip(package)
    message = refused("sweep", written(tmp_path, BASE + RPM), "--out", tmp_path / "out", *words)
    assert said in message


@pytest.mark.parametrize(("option", "package"), [("--dask", "distributed"), ("--slurm", "submitit")])
def test_a_package_that_is_missing_is_named(tmp_path: Path, option: str, package: str) -> None:
    file = written(tmp_path, BASE + RPM)
    code = (
        f"import sys\nsys.modules[{package!r}] = None\nfrom headstack.cli import main\n"
        f"sys.exit(main(['sweep', {str(file)!r}, '--out', {str(tmp_path / 'out')!r}, {option!r}, 'local:1']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"`{package}`" in done.stderr
    assert "pip install" in done.stderr


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
