"""Calibration: finds what was altered, looks at nothing that it scores, and refuses what it cannot use."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import headstack
from conftest import data_file, refused
from conftest import headstack as run
from headstack.calibration.table import changed_rows, span, values, verdict
from headstack.cli import interrupted
from headstack.cli.calibrate import _kept
from headstack.report.calibration import calibration_page

DRIVE = "hp-c2247a"
# What the "real" drive is like; the file says 0, 0.50742 and 3.009994.
REAL = {
    "mechanics.inward_seek_extra_ms": 0.5,
    "controller.write_completion_ms": 0.8,
    "bus.read_mb_per_s": 2.5,
}
# Beside them one that the file has right, and one that no request depends on.
RIGHT, UNUSED = "controller.read_completion_ms", "controller.by_history.write_hit_ms.0"
FITTED = [*REAL, RIGHT, UNUSED]
REQUESTS = """
requests = 3000
[[stream]]
read_fraction = 0.6
size.weighted_kib = [[1.0, 1.0], [4.0, 2.0], [8.0, 1.0], [16.0, 1.0]]
align_kib = 1
inter_arrival.exponential_ms = 40
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace whose measured times are those of a drive that is not as its file says."""
    path = tmp_path_factory.mktemp("measured") / "measured.parquet"
    headstack.simulate(DRIVE, headstack.Workload(toml=REQUESTS), overrides=REAL, out=path, keep=False)
    return path


@pytest.fixture(scope="module")
def found(measured: Path) -> headstack.Calibration:
    return headstack.calibrate(DRIVE, measured, parameters=FITTED)


def test_parameters_are_a_list(tmp_path: Path) -> None:
    with pytest.raises(headstack.InputError, match="does not take `parameters='mechanics'`") as refusal:
        headstack.calibrate("hp-97560", tmp_path / "any.trace", parameters="mechanics")
    assert refusal.value.hint == "parameters: a list, each of it a text"


def test_it_finds_what_was_altered(found: headstack.Calibration) -> None:
    rows = {row["name"]: row for row in found.summary["parameters"]}
    assert set(rows) == set(FITTED)
    assert "error per request" in found._repr_html_()
    for name, real in REAL.items():
        row = rows[name]
        # In a valley where the three make up for each other, 0.04 to 0.07 ms above the bottom: the interval says so.
        assert row["after"] == pytest.approx(real, rel=0.02, abs=0.05), row
        assert row["wrong"], row
        assert row["identifiable"], row
        assert row["ci95"] is not None
        low, high = row["ci95"] or []
        assert low <= row["after"] <= high
        assert low < real < high, row
        # What the file does not have holds by default.
        before = row["by_default"] if row["before"] is None else row["before"]
        assert not low <= before <= high
    assert rows[RIGHT]["after"] == pytest.approx(0.05665, abs=0.05)
    assert rows[UNUSED]["after"] == rows[UNUSED]["before"]
    assert not rows[UNUSED]["identifiable"]
    test = found.summary["test"]
    assert test["after"]["per_request"]["mae_ms"] < 0.25 * test["before"]["per_request"]["mae_ms"]


def test_the_saved_drive_is_whole_and_says_where_its_values_come_from(
    found: headstack.Calibration, tmp_path: Path
) -> None:
    path = tmp_path / "fitted.toml"
    found.save_drive(path)
    drive = headstack.Drive(str(path))
    assert drive.name == "HP C2247A, fitted"
    entries = drive.provenance()["entries"]
    for name in REAL:
        assert entries[name]["kind"] == "fitted"
        assert "measured.parquet" in entries[name]["source"]
    assert entries["mechanics"] == headstack.Drive(DRIVE).provenance()["entries"]["mechanics"]
    checked = run("drives", "check", path)
    assert checked.code == 0, checked.err
    # Nothing but what was fitted has moved.
    old, new = headstack.Drive(DRIVE).spec(), drive.spec()
    for table in ("cache", "seek", "write_policy"):
        assert old[table] == new[table]


def test_nothing_is_fitted_to_the_part_that_is_scored(
    found: headstack.Calibration, measured: Path, tmp_path: Path
) -> None:
    table = pl.read_parquet(measured)
    half = table.height // 2
    late = list(range(half, table.height))
    random.Random(7).shuffle(late)
    what = ["op", "lba", "sectors"]
    mixed = pl.concat([table.select(what)[:half], table.select(what)[late]])
    path = tmp_path / "measured.parquet"
    table.with_columns(mixed).write_parquet(path)
    again = headstack.calibrate(DRIVE, path, parameters=FITTED)
    assert again.summary["parameters"] == found.summary["parameters"]
    assert again.summary["train"] == found.summary["train"]
    assert again.summary["test"] != found.summary["test"]


def test_the_command_prints_and_saves_the_same(measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "fitted.toml"
    words = ("calibrate", DRIVE, "--trace", measured, "--parameters", "mechanics.inward_seek_extra_ms")
    printed = run(*words, "--split", "0.4", "--rounds", "1", "--save", path, "--json").json()
    assert printed["split"] == {"share": 0.4, "train_requests": 1200, "test_requests": 1800}
    row = printed["parameters"][0]
    assert set(row) >= {"name", "before", "after", "ci95", "identifiable"}
    assert set(printed["test"]) == {"before", "after"}
    assert headstack.Drive(str(path)).spec()["mechanics"]["inward_seek_extra_ms"] == row["after"]
    shown = run(*words, "--rounds", "1")
    assert "mechanics.inward_seek_extra_ms" in shown.out
    json.dumps(printed, allow_nan=False)


def test_folds_score_every_request_and_show_how_steady_a_value_is(measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "fitted.toml"
    words = ("calibrate", DRIVE, "--trace", measured, "--parameters", "mechanics.inward_seek_extra_ms")
    printed = run(*words, "--split", "3-fold", "--rounds", "1", "--save", path, "--json").json()
    assert printed["split"] == {"folds": 3, "train_requests": 3000, "test_requests": 3000}
    assert printed["test"]["after"]["requests"] == 3000
    row = printed["parameters"][0]
    # The other values that are not as in the file are not fitted, and pull at this one: 0.406, 0.416 and 0.519 for 0.5.
    assert row["after_by_fold"] == pytest.approx([0.5] * 3, abs=0.12)
    assert row["after"] == pytest.approx(0.5, abs=0.15)
    assert "3 blocks" in path.read_text().replace("\n#", "")
    shown = run(*words, "--split", "k-fold", "--rounds", "1")
    assert "4 of 5 blocks" in " ".join(shown.out.split())


def test_folds_tell_how_far_a_score_spreads(measured: Path, tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    words = ("calibrate", DRIVE, "--trace", measured, "--parameters", "mechanics.inward_seek_extra_ms")
    found = run(*words, "--split", "3-fold", "--rounds", "1", "--report", page, "--json").json()
    folds = found["folds"]
    scores = [fold["after"]["per_request"]["mae_percent"] for fold in folds["scores"]]
    assert [fold["after"]["requests"] for fold in folds["scores"]] == [1000, 1000, 1000]
    spread = folds["mean"]["after"]["mae_percent"]
    assert spread["mean"] == pytest.approx(sum(scores) / 3)
    # Student's t of two degrees of freedom.
    half = 4.302653 * (sum((score - spread["mean"]) ** 2 for score in scores) / 2 / 3) ** 0.5
    assert spread["ci95"] == pytest.approx([spread["mean"] - half, spread["mean"] + half])
    # Blocks of one size: their mean is the score of all.
    assert found["test"]["after"]["per_request"]["mae_ms"] == pytest.approx(folds["mean"]["after"]["mae_ms"]["mean"])
    assert set(folds["mean"]["before"]) >= {"demerit_percent", "reads", "writes"}
    assert "Block by block" in page.read_text()


def test_an_interrupted_fit_goes_on_to_the_same_result(
    found: headstack.Calibration, measured: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "tried"

    with pytest.raises(headstack.Interrupted):
        headstack.calibrate(DRIVE, measured, parameters=FITTED, resume=kept, progress=lambda drives, _: drives < 30)
    begun = kept.read_text()
    assert begun.count("\n") > 20
    # What was being written when the process ended.
    kept.write_text(begun[:-40])
    notes: list[str] = []
    again = headstack.calibrate(DRIVE, measured, parameters=FITTED, resume=kept, note=notes.append)
    assert any("goes on" in note for note in notes)
    assert (again.summary, again.drive) == (found.summary, found.drive)
    # Nothing that is kept is tried again.
    lines = kept.read_text().splitlines()
    headstack.calibrate(DRIVE, measured, parameters=FITTED, resume=kept)
    assert kept.read_text().splitlines() == lines


def test_another_file_is_not_gone_on_from(measured: Path, tmp_path: Path) -> None:
    drive = tmp_path / "drive.toml"
    drive.write_text('name = "x"\n')
    assert "something else" in refused("calibrate", DRIVE, "--trace", measured, "--resume", drive)
    assert drive.read_text() == 'name = "x"\n'
    assert "--resume goes with `--trace` only" in refused(
        "calibrate", DRIVE, "--table", drive, "--resume", tmp_path / "t"
    )


def test_the_page_shows_before_and_after_and_what_is_not_known(found: headstack.Calibration, tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    found.report(page)
    text = page.read_text().replace("<wbr>", "")  # long names may break behind a point or an underscore
    for words in ("What each parameter gains", "What the trace cannot tell", "measured, before and after", UNUSED):
        assert words in text, words
    [scores] = [section for section in calibration_page(found).sections if section.title == "Scores"]
    # Three columns were all called "after".
    assert len(set(scores.columns)) == len(scores.columns) == len(scores.rows[0])
    assert {row[0].partition(",")[0] for row in scores.rows} == {"training", "test"}


def test_a_page_where_nothing_changed_says_so_first(measured: Path, tmp_path: Path) -> None:
    page = tmp_path / "same.html"
    words = ("calibrate", DRIVE, "--trace", measured, "--parameters", UNUSED, "--rounds", "1", "--report", page)
    error = run(*words, "--json").json()["test"]["after"]["per_request"]["mae_percent"]
    text = page.read_text().replace("\u00a0", " ")
    assert (
        "No parameter was changed: on test requests, to which nothing was fitted, the error per request stays" in text
    )
    assert f"the error per request stays {error:.2f} % of the mean" in text
    assert "wrong before" not in text  # a head without rows


def test_a_drive_that_got_worse_where_nothing_was_fitted_comes_with_a_warning(tmp_path: Path) -> None:
    """It was saved without a word, with the writes of the second half three times as wrong as before."""
    parts = []
    for write_ms in (1.3, 0.50742):
        changes = {"controller.write_completion_ms": write_ms}
        result = headstack.simulate(DRIVE, headstack.Workload(toml=REQUESTS), overrides=changes)
        parts.append(pl.DataFrame(result.completions))
    slow, usual = parts
    steady, passing, saved = (tmp_path / name for name in ("steady.parquet", "passing.parquet", "saved.toml"))
    slow.write_parquet(steady)
    pl.concat([slow.head(1500), usual.tail(1500)]).write_parquet(passing)

    def fitted(trace: Path) -> str:
        words = ("--parameters", "controller.write_completion_ms", "--rounds", "1", "--save", saved)
        outcome = run("calibrate", DRIVE, "--trace", trace, *words)
        assert outcome.code == 0, outcome.err
        assert saved.exists()
        return outcome.err

    said = fitted(passing)
    assert "warning: the corrected drive is worse on test requests" in said
    assert "writes' error per request from" in said
    assert "warning" not in fitted(steady)


def test_what_is_made_small_can_be_chosen(measured: Path) -> None:
    names = [*REAL, RIGHT]
    found = {
        objective: headstack.calibrate(DRIVE, measured, parameters=names, objective=objective, rounds=1)
        for objective in ("mae_ms", "demerit_ms")
    }
    demerit = {objective: it.summary["train"]["after"]["demerit_ms"] for objective, it in found.items()}
    assert demerit["demerit_ms"] <= demerit["mae_ms"]
    assert found["demerit_ms"].summary["objective"] == "demerit_ms"


def test_a_calibration_can_be_stopped(measured: Path) -> None:
    tried: list[int] = []

    def progress(drives: int, _: float) -> bool:
        tried.append(drives)
        return False

    with pytest.raises(headstack.Interrupted):
        headstack.calibrate(DRIVE, measured, progress=progress)
    assert len(tried) == 1


def test_the_intervals_of_the_page_and_of_the_program_are_within_the_bounds_of_physics(
    found: headstack.Calibration,
) -> None:
    for row in found.summary["parameters"]:
        lowest, highest = row["bounds"]
        for interval in (row["ci95"], row["ci95_others_held"]):
            for end in interval or ():
                assert end is None or lowest <= end <= highest, row
        assert row["identifiable"] or row["before"] == row["after"], row


def test_what_cannot_be_calibrated_is_refused(measured: Path, ascii_trace: Path, tmp_path: Path) -> None:
    words = ("calibrate", DRIVE, "--trace", measured)
    save = tmp_path / "fitted.toml"
    unknown = refused(*words, "--parameters", "mechanics.magic_ms", "--save", save)
    assert "mechanics.magic_ms" in unknown
    assert "mechanics.inward_seek_extra_ms" in unknown
    assert "measured" in refused("calibrate", DRIVE, "--trace", ascii_trace, "--save", save)
    assert "too few" in refused(*words, "--split", "0.05", "--save", save)
    assert "--split" in refused(*words, "--split", "most")
    assert "folds" in refused(*words, "--split", "1-fold")
    assert "too few" in refused(*words, "--split", "50-fold", "--rounds", "1", "--to", "30s")
    assert "0.99" in refused(*words, "--split", "0.99")
    assert "rounds" in refused(*words, "--rounds", "0")
    assert "there is no folder" in refused(*words, "--save", tmp_path / "no" / "fitted.toml")
    assert not save.exists()


def test_times_that_do_not_vary_and_values_out_of_bounds_are_refused(measured: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.parquet"
    table = pl.read_parquet(measured)
    table.with_columns(finish_ns=pl.col("start_ns") + 10_000_000).write_parquet(same)
    error = refused("calibrate", DRIVE, "--trace", same)
    assert "requests took 10 ms" in error
    words = ("calibrate", DRIVE, "--trace", measured, "--parameters", "mechanics.read_settle_ms")
    error = refused(*words, "--set", "mechanics.read_settle_ms=11")
    assert "11 is outside its bounds, -5 to 10" in error


def test_a_system_of_several_drives_is_refused(measured: Path) -> None:
    assert "2 drives" in refused("calibrate", "two-97560-one-bus", "--trace", measured)


@pytest.mark.long
def test_real_times_correct_a_drive_of_the_library() -> None:
    trace = data_file("validate/hp_c2247a.trace")
    found = headstack.calibrate(DRIVE, trace, parameters=["mechanics"], rounds=1)
    rows = {row["name"]: row for row in found.summary["parameters"]}
    inward = rows["mechanics.inward_seek_extra_ms"]
    assert inward["wrong"]
    assert inward["after"] == pytest.approx(0.55, abs=0.1)
    assert found.summary["test"]["before"]["per_request"]["mae_percent"] == pytest.approx(3.39, abs=0.1)
    assert found.summary["test"]["after"]["per_request"]["mae_percent"] <= 1.95


def test_what_the_file_does_not_have_has_no_value_before(tmp_path: Path) -> None:
    """`before` was 0 of a wait that the file does not have, and by which no drive goes then."""
    trace, page = tmp_path / "t.parquet", tmp_path / "c.html"
    headstack.simulate("hp-c2247a", "unix-like", requests=1500, seed=6, out=trace)
    names = [
        "controller.by_history.stream_wait_ms",
        "controller.by_history.read_hit_at_rest_ms",
        "mechanics.head_switch_ms",
    ]
    found = run(
        "calibrate", "hp-c2247a", "--trace", trace, "--parameters", ",".join(names), "--report", page, "--json"
    ).json()
    rows = {row["name"]: row for row in found["parameters"]}
    wait, rest, switch = (rows[name] for name in names)
    assert (wait["before"], wait["by_default"]) == (None, None)
    assert rest["before"] is None
    # Without a time of its own, a hit at rest takes what others take.
    assert rest["by_default"] == 0.95343
    assert (switch["before"], switch["by_default"]) == (switch["after"], None)
    for row in (wait, rest):
        assert row["identifiable"] or row["after"] is None
    assert "not in the file" in page.read_text()


def test_a_value_beyond_a_flat_stretch_is_found(tmp_path: Path) -> None:
    """From 3.29 the search came to 4.6 ms and no farther, and took that back."""
    trace = tmp_path / "slow.parquet"
    name = "controller.by_history.write_miss_ms.0"
    headstack.simulate("hp-c3323a", "unix-like", requests=4000, seed=6, overrides={name: 6.0}, out=trace)
    found = headstack.calibrate("hp-c3323a", trace, parameters=[name])
    (row,) = found.summary["parameters"]
    assert row["after"] == pytest.approx(6.0, abs=0.01)
    assert row["identifiable"]


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "warns"), [(0.0, 1e-6, False), (0.1, 0.104, False), (0.1, 0.12, True)]
)
def test_only_what_got_clearly_worse_is_a_warning(before_ms: float, after_ms: float, warns: bool) -> None:
    def scores(ms: float) -> dict[str, object]:
        kind = {"requests": 9, "per_request": {"mae_ms": ms}, "demerit_ms": 0.0}
        return {"reads": kind, "writes": kind}

    summary = {"test": {"before": scores(before_ms), "after": scores(after_ms)}}
    found = headstack.Calibration(summary, "", None, None)  # type: ignore[arg-type]
    assert (found.warning() is not None) == warns


def test_a_calibration_that_is_ended_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C said that nothing was left half written, and not that hours of trying were kept, or lost."""
    journal = tmp_path / "tried"
    journal.touch()
    for resume, said in ((journal, f"kept in {journal}; the same command goes on"), (None, "`--resume FILE` keeps it")):
        with pytest.raises(KeyboardInterrupt), interrupted.told(partial(_kept, resume)):
            raise KeyboardInterrupt
        assert said in capsys.readouterr().err


def test_the_ends_of_an_interval_have_the_same_decimals() -> None:
    """It was "2.0955 to 3.109"."""
    assert span(2.0955, 3.109) == "2.10 to 3.11"
    assert span(None, 3.109) == "… to 3.109"
    assert span(2.0, 2.5) == "2.0 to 2.5"
    assert span(32, 64) == "32 to 64"
    assert span(1e-7, 0.5) == "1e-07 to 0.5"


def test_what_a_value_gains_alone_does_not_contradict_its_verdict() -> None:
    """A gain of 100 % stood beside "not clear" without a word on why, and rounding was listed as a change."""
    base = {"name": "a", "path": "a", "wrong": False, "ci95": [0.0, 2.2], "ci95_others_held": [1.1, 1.3]}
    traded = {**base, "before": 2.0, "after": 1.2}
    assert verdict(traded) == "not clear: others make up for it"
    assert verdict({**traded, "wrong": True}) == "yes"
    assert verdict({**traded, "ci95_others_held": [1.1, 2.1]}) == "not clear"
    rounded = {**base, "before": 0.1 + 0.2, "after": 0.3}
    small = {**base, "before": 10.0, "after": 10.0000123}
    same = [{**base, "before": before, "after": after} for before, after in ((0.0, -0.0), (5, 5.0), (True, True))]
    assert changed_rows([rounded, *same, small, traded]) == [small, traded]
    assert values(small) == ("10", "10.0000123")
