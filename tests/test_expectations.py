"""The table of expectations: each value is what its formula says, and the page holds the table."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

PATH = Path(__file__).parent.parent / "docs" / "expectations.py"
SPEC = importlib.util.spec_from_file_location("expectations", PATH)
assert SPEC is not None
assert SPEC.loader is not None
expectations = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(expectations)


def test_every_value_is_what_its_formula_says():
    table = expectations.load()
    for row in table["row"]:
        for what, formula, ms in row["expect"]:
            assert abs(expectations.value(formula, table["times"]) - ms) < 1e-9, (row["name"], what)
    for name, (formula, number, _) in table["probes"].items():
        assert abs(expectations.value(formula, table["times"]) - number) < 1e-9, name


def test_the_times_are_those_of_the_drive():
    table = expectations.load()
    drive, times = table["drive"], table["times"]
    (zone,) = drive["layout"]["zone"]
    assert times["rev"] == 60e3 / drive["rotation_rpm"]
    assert times["sector"] == times["rev"] / zone["sectors_per_track"]
    assert times["switch"] == drive["mechanics"]["head_switch_ms"]
    assert times["cylinder"] == drive["seek"]["linear"]["single_cylinder_ms"]
    assert times["bus"] == drive["sector_bytes"] / drive["bus"]["read_mb_per_s"] / 1e3


def test_the_page_holds_every_row_with_its_numbers():
    table = expectations.load()
    lines = expectations.page(table).split("## Rules left out")[0].splitlines()
    for row in table["row"]:
        (line,) = [line for line in lines if line.startswith(f"| {row['name'].replace('_', ' ')} |")]
        for command in row["commands"]:
            assert f"`{command}`" in line
        for what, formula, ms in row["expect"]:
            assert f"{what} `{formula}` = {ms:g}" in line


def test_every_group_of_rules_has_planted_bugs_and_every_bug_a_test():
    table = expectations.load()
    rules = {row["name"]: row["rule"] for row in table["row"]}
    bugs = tomllib.loads(expectations.PLANTED.read_text(encoding="utf-8"))["bug"]
    source = expectations.ROOT / "crates" / "drive" / "src"
    for bug in bugs:
        assert (source / bug["file"]).read_text(encoding="utf-8").count(bug["find"]) == 1, bug["rule"]
        assert bug["find"] != bug["put"]
        assert "binary" in bug or bug["test"] in rules, bug["test"]
    caught = {rules[bug["test"]] for bug in bugs if bug["test"] in rules}
    assert caught == set(rules.values())
