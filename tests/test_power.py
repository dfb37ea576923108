"""Watts: the verb, the summary of a run, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import headstack as package
from conftest import headstack, refused

if TYPE_CHECKING:
    from pathlib import Path

LOAD = ("--workload", "light-million", "--requests", "500")


def test_a_budget_by_speed_and_arms() -> None:
    found = headstack("power", "nearline-18tb", "--rpm", "7200,5400", "--actuators", "1,2", "--json").json()
    (drive,) = found["drives"]
    budgets = drive["power"]
    assert [(each["rpm"], each["actuators"]) for each in budgets] == [(7200, 1), (7200, 2), (5400, 1), (5400, 2)]
    assert budgets[0]["by_state_w"]["idle"] == 5.3
    assert budgets[1]["all_seeking_w"] > budgets[0]["all_seeking_w"]
    assert budgets[2]["drag_w"] < budgets[0]["drag_w"]
    assert len(found["totals"]) == 4
    outcome = headstack("power", "nearline-18tb")
    assert "5.30" in outcome.out


def test_python_says_the_same() -> None:
    found = package.power_budget("nearline-18tb", actuators=[1, 2])
    assert found.as_dict() == headstack("power", "nearline-18tb", "--actuators", "1,2", "--json").json()


def test_drives_that_draw_the_same_have_one_table() -> None:
    outcome = headstack("power", "md-financial")
    found = headstack("power", "md-financial", "--json").json()
    assert len(found["drives"]) == 24
    model = found["drives"][0]["model"]
    assert outcome.out.count("watts with one arm at work") == 1
    assert f"24 × {model}, data.0 to data.23, each: watts with one arm at work" in outcome.out
    assert "24 × " in package.power_budget("md-financial")._repr_html_()
    # Where they are not equal, each has its own, but for neighbours that are.
    several = headstack("power", "md-financial", "--set", "drive.1.power.idle_w=5").out
    titles = [line.partition(":")[0] for line in several.splitlines() if "one arm at work" in line]
    assert titles == ["data.0", "data.1", f"22 × {model}, data.2 to data.23, each"]


def test_drives_without_watts_say_so() -> None:
    outcome = headstack("power", "hp-97560")
    assert outcome.code == 0
    assert "power: not known" in outcome.out
    assert headstack("power", "hp-97560", "--json").json()["drives"][0]["power"] is None
    assert "power" not in headstack("simulate", "hp-97560", *LOAD, "--json").json()


def test_a_run_tells_what_it_drew() -> None:
    summary = headstack("simulate", "nearline-18tb", *LOAD, "--json").json()
    power = summary["power"]
    assert sum(power["by_state_w"].values()) == pytest.approx(power["average_w"])
    assert power["energy_j"] == pytest.approx(power["average_w"] * summary["simulated_s"])
    # The energy of a request is of all drives: several work for one in an array.
    each = {name: power.pop(name) for name in ("per_request_j", "at_work_per_request_j")}
    assert power == summary["drives"][0]["power"]
    assert each["per_request_j"] * summary["requests"] == pytest.approx(power["energy_j"])
    at_work_w = power["average_w"] - power["by_state_w"]["idle"]
    assert each["at_work_per_request_j"] * summary["requests"] == pytest.approx(at_work_w * summary["simulated_s"])
    assert 5.3 < power["average_w"] < 12.28
    assert "W on average" in headstack("simulate", "nearline-18tb", *LOAD).out


def test_cached_writes_draw_what_the_data_sheet_says() -> None:
    """6.4 W for random writes of 4 KiB, 16 at a time, with the cache on: nothing was fitted to that.

    Their seeks are short, and most of them is settling, in which the coil has little to do.
    """
    text = (
        "requests = 60000\n[[stream]]\nread_fraction = 0.0\nsize.fixed_kib = 4\nalign_kib = 4\n"
        "users = 1\nqueue_depth = 16\nthink.constant_ms = 0\n"
    )
    load = package.Workload(toml=text)
    power = package.simulate("nearline-18tb", load, keep=False, warmup_requests=40_000).summary["power"]
    assert power["average_w"] == pytest.approx(6.4, rel=0.05)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--rpm", "0"], ["--rpm cannot be 0", "60 to 1,000,000"]),
        (["--rpm", "fast"], ["--rpm `fast` is not a list of numbers", "7200,5400"]),
        (["--actuators", "0"], ["--actuators cannot be 0", "1 to 16"]),
        (["--set", "power.seek_w=1"], ["`power.seek_w`", "less than the drive draws idle"]),
        (["--set", "power.standby_w=99"], ["`power.standby_w`", "more than the drive draws idle"]),
        (["--set", "power.spindle.diameter_in=14"], ["`power.spindle`", "such disks alone draw"]),
    ],
)
def test_bad_input(options: list[str], parts: list[str]) -> None:
    message = refused("power", "nearline-18tb", *options)
    for part in parts:
        assert part in message


def test_another_speed_needs_the_disks() -> None:
    message = refused("power", "ibm-ultrastar-xp", "--rpm", "5400")
    assert "its watts hold at 7,200 rpm" in message
    assert "power.spindle.platters" in message


STANDBY = (
    'power.condition=[{ name = "standby_z", after_s = 0.3, rpm = 0, enter = { time_s = 0.1, energy_j = 1 }, '
    "recover = { time_s = 1.0, energy_j = 9 } }]"
)


def test_a_run_spins_down_and_says_so(tmp_path: Path) -> None:
    load = ("--workload", "unix-like", "--requests", "400", "--set", STANDBY)
    page = tmp_path / "page.html"
    summary = headstack("simulate", "nearline-18tb", *load, "--report", page, "--json").json()
    (condition,) = summary["drives"][0]["conditions"]
    assert condition["entered"] > 3
    assert condition["recovering_s"] == pytest.approx(condition["entered"] * 1.0, abs=1.0)
    power = summary["power"]
    assert sum(power["by_state_w"].values()) == pytest.approx(power["average_w"])
    assert power["by_state_w"]["resting"] > 0
    assert "Power conditions" in page.read_text()
    out = headstack("simulate", "nearline-18tb", *load).out
    assert "standby_z" in out
    assert "resting" in out


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("{ name = 'a', after_s = 60, rpm = 0 }", "say how long it takes, here or as `power.spin_down`"),
        ("{ name = 'a', after_s = 0 }", "`power.condition.0.after_s`"),
        ("{ name = 'a', after_s = 60 }", "say what the drive draws"),
        ("{ name = 'a', after_s = 60, watts = 50 }", "50 is more than the drive draws idle (5.3)"),
        ("{ name = 'a', after_s = 60, rpm = 5400 }", "say how long the change of speed takes"),
        ("{ name = 'a', after_s = 60, watts = 3 }, { name = 'a', after_s = 90, watts = 2 }", "`a` is there twice"),
        (
            "{ name = 'a', after_s = 60, watts = 3 }, { name = 'b', after_s = 9, watts = 2 }",
            "before the condition before it",
        ),
        ("{ name = 'a', after_s = 60, watts = 3, speed = 3 }", "speed"),
        (
            "{ name = 'a', after_s = 60, watts = 3, enter = { time_s = 0, energy_j = 50 } }",
            "`power.condition.0.enter.time_s`: energy is drawn over a time",
        ),
    ],
)
def test_conditions_that_cannot_be(condition: str, said: str) -> None:
    assert said in refused("simulate", "nearline-18tb", *LOAD, "--set", f"power.condition=[{condition}]")


def test_actuators_on_one_spindle_have_no_conditions() -> None:
    set_ = "power.condition=[{ name = 'a', after_s = 60, watts = 3 }]"
    assert "share a spindle" in refused("simulate", "dual-actuator-18tb", *LOAD, "--set", set_)


def test_the_drives_own_spin_down_counts_before_a_deeper_condition() -> None:
    conditions = "{ name = 'a', after_s = 60, rpm = 0 }, { name = 'b', after_s = 62, watts = 0.5 }"
    changes = [f"power.{name}={{ time_s = 5, energy_j = 20 }}" for name in ("spin_down", "spin_up")]
    set_ = [word for each in (*changes, f"power.condition=[{conditions}]") for word in ("--set", each)]
    assert "at 65 s" in refused("simulate", "nearline-18tb", *LOAD, *set_)


def test_what_a_condition_inherits_takes_time_if_it_takes_energy() -> None:
    spindle = (
        "--set",
        "power.spin_down={ time_s = 9, energy_j = 50 }",
        "--set",
        "power.spin_up={ time_s = 0, energy_j = 300 }",
    )
    condition = "power.condition=[{ name = 'a', after_s = 60, rpm = 0 }]"
    message = refused("power", "nearline-18tb", *spindle, "--set", condition)
    assert "`power.condition.0.recover`: energy is drawn over a time" in message
