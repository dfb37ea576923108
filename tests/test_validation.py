"""Does it match real measurements: the figures that VALIDATION.md quotes."""

from __future__ import annotations

import pytest

from conftest import DATA, data_file, headstack

TRACE = "hp/ajw.1week.srt"


def scores(*words: str) -> dict:
    trace = data_file(TRACE)
    return headstack("validate", "hp-c2200a", "--trace", trace, "--device", "0", "--json", *words).json()


def test_the_ladder_climbs_as_in_the_paper() -> None:
    rungs = {rung["step"]: rung for rung in scores("--ladder")["ladder"]}
    assert rungs["M0"]["demerit_percent"] == pytest.approx(36.34, abs=0.01)
    assert rungs["M1"]["demerit_percent"] == pytest.approx(15.0, abs=1.5)
    assert rungs["M2"]["demerit_percent"] == pytest.approx(6.2, abs=1.0)
    full = rungs["M3"]
    assert full["demerit_percent"] <= 2.1
    assert full["model_mean_ms"] == pytest.approx(full["measured_mean_ms"], rel=0.01)
    assert full["reads"]["demerit_percent"] <= 0.7
    assert full["writes"]["demerit_percent"] <= 2.7
    # Single requests, not only their distribution: the rotational phase is right.
    assert full["per_request"]["median_ms"] <= 0.15
    assert full["per_request"]["within_1_ms"] >= 0.9
    assert rungs["M2"]["per_request"]["within_1_ms"] <= 0.2


def test_the_days_that_chose_nothing_score_as_well() -> None:
    late = scores("--from", "3d")
    assert late["requests"] == 36_950
    assert late["demerit_percent"] <= 2.3
    assert late["per_request"]["correlation"] >= 0.9


@pytest.mark.parametrize(
    ("path", "value", "worse"),
    [
        ("layout.zone.0.cylinder_skew_sectors", "43.0", 0.6),
        ("layout.zone.0.spare_sectors_per_track", "0", 0.6),
        ("rotation_rpm", "4200.0", 0.4),
    ],
)
def test_a_wrong_geometry_shows_in_single_requests(path: str, value: str, worse: float) -> None:
    assert scores("--set", f"{path}={value}")["per_request"]["within_1_ms"] <= worse


def test_the_study_differs_only_where_validation_says() -> None:
    data_file(TRACE)
    rows = headstack("study", "ruemmler-wilkes", "--data", DATA, "--json").json()["rows"]
    differing = {row["id"] for row in rows if row["verdict"] in {"not reproduced", "missed", "not testable"}}
    assert differing == {"table1-97560", "fig4d-m3-writes", "c2200a-retries"}
    assert len(rows) >= 40
