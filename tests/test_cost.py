"""`cost`: bills of materials, as the command line and Python tell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headstack as package
from conftest import headstack, refused
from headstack import _core


def test_the_table_of_the_thesis() -> None:
    found = headstack("cost", "--design", "four-platter", "--actuators", "1,2,4", "--json").json()
    totals = [(bill["actuators"], bill["low_usd"], bill["high_usd"]) for bill in found["designs"]]
    assert totals == [(1, 67.7, 80.8), (2, 100.4, 116.6), (4, 165.8, 188.2)]
    for bill in found["designs"]:
        for end in ("low_usd", "high_usd"):
            assert sum(part[end] for part in bill["components"]) == pytest.approx(bill[end], abs=1e-9)
    systems = found["iso_performance"]["systems"]
    assert [system["mean_usd"] for system in systems] == [297.0, 217.0, 177.0]
    assert [round(system["saving_percent"]) for system in systems] == [0, 27, 40]


def test_a_second_head_costs_less_than_a_second_arm_and_a_second_stack_less_than_either() -> None:
    def bill(design: str, actuators: int = 1) -> tuple[float, float]:
        (found,) = package.cost(design, actuators=[actuators]).designs
        return found["low_usd"], found["high_usd"]

    # Beside one arm's 67.70 to 80.80: 8 heads of 3 dollars, 4 suspensions, a preamplifier.
    assert bill("two-heads") == pytest.approx((67.7 + 24 + 2 + 1.2, 80.8 + 24 + 3.6 + 1.2))
    # A spindle motor, a voice-coil motor, a bearing, half a preamplifier's heads each, and a second motor driver.
    assert bill("two-stacks") == pytest.approx((67.7 + 5 + 1 + 3 + 3.5 + 1.2, 80.8 + 10 + 2 + 3 + 4 + 1.2))
    assert bill("two-stacks") < bill("two-heads") < bill("four-platter", 2)


def test_tables_show_what_json_says() -> None:
    outcome = headstack("cost", "--actuators", "1,4")
    assert outcome.code == 0
    assert "67.70–80.80" in outcome.out
    assert "165.80–188.20" in outcome.out
    assert "40.4 %" in outcome.out


def test_own_counts_and_systems() -> None:
    found = headstack("cost", "--platters", "10", "--actuators", "2", "--systems", "3x1,1x3", "--json").json()
    bill = found["designs"][0]
    heads = next(part for part in bill["components"] if part["name"] == "head")
    assert (bill["platters"], heads["count"], heads["low_usd"]) == (10, 40, 120.0)
    systems = found["iso_performance"]["systems"]
    assert [(system["drives"], system["actuators"]) for system in systems] == [(3, 1), (1, 3)]


def test_python_says_the_same(tmp_path: Path) -> None:
    found = package.cost(actuators=[1, 2, 4])
    assert found.as_dict() == headstack("cost", "--actuators", "1,2,4", "--json").json()
    assert "four-platter" in package.library_designs()
    page = tmp_path / "cost.html"
    found.report(page)
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "165.80–188.20" in text
    assert "1 drive of 4 actuators costs 165.80–188.20 USD: 40.4 % less than 4 drives of 1 actuator." in text


def test_a_design_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nsource = "a quotation"\nplatters = 2\n'
        '[[component]]\nname = "head"\nunit_usd = [1.5, 2.5]\nquantity = 2\nper = ["platter"]\n'
    )
    found = package.cost(path)
    assert (found.design, found.designs[0]["low_usd"], found.designs[0]["high_usd"]) == ("mine", 6.0, 10.0)
    assert found.iso_performance is None
    assert headstack("cost", "--design", path).code == 0


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--actuators", "0"], ["--actuators cannot be 0", "1 to 16"]),
        (["--actuators", "17"], ["1 to 16"]),
        (["--actuators", "-1"], ["--actuators cannot be -1"]),
        (["--actuators", "99999999999999999999"], ["1 to 16"]),
        (["--actuators", "two"], ["`two` is not a whole number", "--actuators 1,2,4"]),
        (["--actuators", "1,"], ["not a whole number"]),
        (["--platters", "0"], ["--platters cannot be 0", "1 to 64"]),
        (["--design", "three-platter"], ["no design called `three-platter`", "four-platter"]),
        (["--systems", "4"], ["drives x actuators", "4x1,2x2,1x4"]),
        (["--systems", "0x1"], ["`drives` cannot be 0"]),
    ],
)
def test_bad_input(options: list[str], parts: list[str]) -> None:
    message = refused("cost", *options)
    for part in parts:
        assert part in message


def test_nothing_to_cost() -> None:
    with pytest.raises(package.InputError):
        package.cost(actuators=[])
    with pytest.raises(package.InputError):
        package.cost(systems=[])


def test_the_schema_covers_the_library() -> None:
    schema = json.loads(_core.json_schema("design"))
    assert {"platters", "component", "iso-performance"} <= set(schema["properties"])
