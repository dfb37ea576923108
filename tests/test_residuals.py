"""Where a model is wrong: the classes of its errors, and the page and table that show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headstack
from conftest import data_file
from conftest import headstack as command
from headstack.report import residual_charts
from headstack.report.residual_charts import Against
from headstack.residuals import class_words, classes, residual_frame, where, worst

TURN_MS = 10.0
KEYS = [
    "op",
    "guess",
    "after",
    "place",
    "requests",
    "requests_share",
    "measured_mean_ms",
    "bias_ms",
    "mae_ms",
    "error_share",
    "revolutions_early_share",
    "revolutions_late_share",
]
NO_ERROR = "there is no error: every request takes as long as measured, to the microsecond"
WORKLOAD = """
requests = 1500
[[stream]]
read_fraction = 0.5
size.fixed_kib = 4
inter_arrival.exponential_ms = 60
"""


def table(*rows: tuple[str, int, float, float, str, int]) -> pl.DataFrame:
    """Times as the core gives them: op, LBA, measured and model ms, guess, distance; all requests of 8 sectors."""
    return pl.DataFrame(
        rows, ["op", "lba", "measured_ms", "model_ms", "cache", "seek_cylinders"], orient="row"
    ).with_columns(id=pl.int_range(pl.len()), sectors=8, arrival_s=pl.int_range(pl.len()) / 10)


def frame(times: pl.DataFrame, rotation_ms: float | None = TURN_MS) -> pl.DataFrame:
    return residual_frame(times, rotation_ms)  # pyright: ignore[reportArgumentType] (also a stream)


@pytest.fixture(scope="module")
def own_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of what the model of the HP 97560 does, as if measured."""
    run = headstack.simulate("hp-97560", headstack.Workload(toml=WORKLOAD))
    path = tmp_path_factory.mktemp("residuals") / "own.parquet"
    columns = ["arrival_ns", "device", "op", "lba", "sectors", "start_ns", "finish_ns"]
    pl.DataFrame(run.completions).sort("arrival_ns").select(columns).with_columns(
        pl.col("op").cast(pl.String)
    ).write_parquet(path)
    return path


def test_a_request_is_placed_by_where_the_one_before_left_the_arm() -> None:
    found = frame(
        table(
            ("read", 0, 5.0, 5.0, "miss", 0),
            ("write", 8, 5.0, 5.0, "miss", 0),
            ("read", 100, 5.0, 5.0, "miss", 32),
            ("read", 9000, 5.0, 5.0, "miss", 33),
        )
    )
    assert found["place"].to_list() == [None, "sequential", "near", "far"]
    assert found["after"].to_list() == [None, "read", "write", "read"]


def test_an_error_is_revolutions_off_within_a_tenth_of_one() -> None:
    errors = [0.0, 0.9, 9.1, 10.9, -10.0, 8.9, -19.5, 5.0]
    found = frame(table(*(("read", 0, 30.0, 30.0 + error, "miss", 0) for error in errors)))
    assert found["revolutions_off"].to_list() == [0, 0, 1, 1, -1, 0, -2, 0]
    assert found["revolutions"].to_list() == pytest.approx([error / TURN_MS for error in errors])


def test_classes_share_the_error_out() -> None:
    found = frame(
        table(
            ("read", 0, 4.0, 4.0, "hit", 0),
            ("read", 500, 4.0, 5.0, "hit", 5),
            ("read", 900, 4.0, 1.0, "hit", 6),
            ("write", 9000, 10.0, 20.0, "miss", 900),
        )
    )
    first, second, third = classes(found)
    assert list(first) == KEYS
    assert class_words(first) == "far writes after a read, predicted as cache misses"
    assert first["error_share"] == pytest.approx(10 / 14)
    assert (first["revolutions_early_share"], first["revolutions_late_share"]) == (0, 1)
    assert class_words(second) == "near reads after a read, predicted as cache hits"
    assert (second["requests"], second["requests_share"]) == (2, 0.5)
    assert (second["bias_ms"], second["mae_ms"]) == (-1, 2)
    assert (third["after"], third["place"], third["error_share"]) == (None, None, 0)


def test_the_sentence_names_the_kind_that_has_more_of_the_error_than_of_the_requests() -> None:
    ops = ["read", "read", "write", "write"]
    rows = []
    for number in range(400):
        op, before = ops[number % 4], ops[(number - 1) % 4]
        is_near = number % 8 < 4
        bad = is_near and op == "read" and before == "write"
        rows.append((op, 100 * number, 8.0, 10.0 if bad else 8.1, "miss", 3 if is_near else 500))
    sentences = where(frame(table(*rows)))
    # 50 of the 400; the very first has no request before it.
    assert sentences[0].endswith("in 49 near reads after a write (12 % of the requests)")
    assert len(sentences) == 1


def test_the_sentence_says_so_where_nothing_stands_out() -> None:
    even = table(*((op, 50 * number, 8.0, 9.0, "miss", 500) for number, op in enumerate(["read", "write"] * 100)))
    assert where(frame(even))[0].startswith("no kind of request stands out")
    exact = even.with_columns(model_ms="measured_ms")
    assert where(frame(exact)) == [NO_ERROR]


def test_revolutions_off_are_summed_up() -> None:
    rows = [("read", 50 * number, 8.0, 8.1, "miss", 500) for number in range(99)]
    sentences = where(frame(table(*rows, ("read", 0, 8.0, 18.0, "miss", 500))))
    assert sentences[-1] == "50 % of the error is in requests that are whole revolutions off: 1 (1.0 %)"


def test_what_is_not_known_is_null() -> None:
    times = table(*(("read", number, 8.0, 8.0 + number, "miss", 0) for number in range(20))).drop("seek_cylinders")
    (only,) = classes(frame(times, None))
    assert only["after"] is only["place"] is only["revolutions_early_share"] is only["revolutions_late_share"] is None
    assert class_words(only) == "reads, predicted as cache misses"


def test_a_ladder_is_judged_by_the_drive_as_it_stands() -> None:
    times = table(("read", 0, 5.0, 7.0, "miss", 0)).rename({"model_ms": "M4_ms"}).with_columns(M0_ms=50.0)
    assert frame(times)["error_ms"].to_list() == [2]


def test_the_worst_come_first_and_the_earliest_of_equals() -> None:
    found = frame(table(*(("read", 0, 9.0, 9.0 + error, "miss", 0) for error in (1, -3, 2, 3, 0))))
    assert worst(found, 3)["id"].to_list() == [1, 3, 2]


def test_classes_agree_with_the_scores_of_the_core(own_trace: Path) -> None:
    validation = headstack.validate("hp-97560", own_trace, overrides={"controller.write_overhead_ms": 2.7})
    groups = validation.residual_classes()
    scores = validation.summary["per_request"]
    assert sum(group["requests"] for group in groups) == validation.summary["requests"]
    assert sum(group["error_share"] for group in groups) == pytest.approx(1)
    for key in ("mae_ms", "bias_ms"):
        mean = sum(group[key] * group["requests"] for group in groups) / validation.summary["requests"]
        assert mean == pytest.approx(scores[key])
    assert validation.rotation_ms == pytest.approx(headstack.Drive("hp-97560").rotation_ms)


def test_several_drives_have_neither_distances_nor_a_revolution(tmp_path: Path) -> None:
    rows = {"arrival_ns": [0, 10**9], "op": ["read", "write"], "lba": [0, 80], "sectors": [8, 8], "device": [0, 0]}
    instants = {"start_ns": [0, 10**9], "finish_ns": [20_000_000, 10**9 + 20_000_000]}
    pl.DataFrame(rows | instants).write_parquet(tmp_path / "two.parquet")
    validation = headstack.validate("two-97560-one-bus", tmp_path / "two.parquet")
    assert validation.rotation_ms is None
    assert {group["place"] for group in validation.residual_classes()} == {None}
    validation.report(tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text()
    assert "Error against seek distance" not in page
    assert "systems of one drive" in page


def test_the_command_line_says_where_the_error_is(own_trace: Path) -> None:
    words = ("validate", "hp-97560", "--trace", own_trace, "--set", "controller.write_overhead_ms=2.7")
    shown = command(*words).out
    assert "Where the error is" in shown
    assert "of the error is in" in " ".join(shown.split()) or "of the total error is in" in " ".join(shown.split())
    residuals = command(*words, "--json").json()["residuals"]
    assert [list(group) for group in residuals] == [KEYS] * len(residuals)
    shares = [group["error_share"] for group in residuals]
    assert shares == sorted(shares, reverse=True)


def test_without_polars_there_are_scores_and_no_classes(monkeypatch: pytest.MonkeyPatch, own_trace: Path) -> None:
    import importlib.util

    from headstack.cli.validate import validate

    printed: list[dict[str, Any]] = []
    notes: list[str] = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr("headstack.cli.output.print_json", printed.append)
    monkeypatch.setattr("headstack.cli.output.note", notes.append)
    assert validate("hp-97560", trace=own_trace, json=True) == 0
    assert printed[0]["residuals"] is None
    assert printed[0]["requests"] == 1500
    assert any("polars" in note for note in notes)


def test_rounding_is_no_error_that_could_be_somewhere() -> None:
    """One nanosecond of 20 ms was put down to classes of requests, with their shares."""
    rounded = [("read", 50 * number, 8.0, 8.0 + 1e-6 * (number % 2), "miss", 500) for number in range(100)]
    assert where(frame(table(*rounded))) == [NO_ERROR]
    rounded[3] = ("read", 50, 8.0, 8.002, "miss", 500)
    assert where(frame(table(*rounded))) != [NO_ERROR]


@pytest.mark.parametrize("lock", [(), ("--phase-lock",)])
def test_a_replay_of_the_models_own_times_has_no_table_of_errors(
    lock: tuple[str, ...], tmp_path: Path, own_trace: Path
) -> None:
    words = ("validate", "hp-97560", "--trace", own_trace, *lock, "--report", tmp_path / "page.html")
    shown = " ".join(command(*words).out.split())
    assert NO_ERROR.capitalize() in shown
    assert "of the error" not in shown
    assert "predicted as" not in shown
    page = (tmp_path / "page.html").read_text()
    assert NO_ERROR.capitalize() in page
    assert "worst requests" not in page


def test_the_page_shows_what_the_model_lacks(tmp_path: Path, own_trace: Path) -> None:
    path = tmp_path / "page.html"
    validation = headstack.validate("hp-97560", own_trace, overrides={"controller.write_overhead_ms": 2.7})
    validation.report(path)
    page = path.read_text()
    assert page.count('<div class="chart"') == 8
    for title in (
        "Where the error is",
        "Error histogram",
        "Error against seek distance",
        "Error against the predicted rotational wait",
        "The 20 worst requests",
    ):
        assert title in page
    assert "Locked and not locked" not in page
    assert path.stat().st_size < 2_000_000
    validation.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page


def test_a_scatter_is_thinned_and_keeps_the_largest_errors() -> None:
    rows = [("read", number, 8.0, 8.0 + (number % 97) / 1000, "miss", number) for number in range(20_000)]
    rows[12_345] = ("read", 0, 8.0, 30.0, "miss", 1)
    chart = residual_charts.against(frame(table(*rows)), Against("lba", "first LBA"))
    values = chart.to_dict()["datasets"].values()
    dots = max(values, key=len)
    assert len(dots) <= residual_charts.EVEN + residual_charts.WORST
    assert 12_345 in {dot["id"] for dot in dots}


def test_the_page_of_a_phase_lock(tmp_path: Path) -> None:
    path = tmp_path / "locked.html"
    validation = headstack.validate(
        "cheetah-9lp", data_file("validate/cheetah9LP.trace"), replay="measured", phase_lock=True
    )
    validation.report(path)
    page = path.read_text()
    assert page.count('<div class="chart"') == 9
    assert "Locked and not locked" in page
    assert "10047.2" in page
    assert "one-value" in page
    # The revolution is the fitted one: the file says 10,045 rpm.
    assert validation.rotation_ms == validation.summary["phase"]["drives"][0]["fit"]["rotation_ms"]
    # Few requests, but whole revolutions: sectors just caught or just missed.
    assert "whole revolutions off" in where(validation.residuals)[-1]
