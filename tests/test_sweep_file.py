"""What a sweep file may say: its grid in order, and what is wrong with it before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import refused
from headstack.sweeping import definition
from sweeps import BASE, GAP, RPM, grid, written


def axis(name: str, path: str, values: list[int] | list[str]) -> str:
    return f'[[axis]]\nname = "{name}"\npath = "{path}"\nvalues = {values}\n'


def test_paths_beside_each_other_make_a_grid(tmp_path: Path) -> None:
    beside = [
        ("drive.0.rotation_rpm", "drive.1.rotation_rpm"),
        ("workload", "workload.requests"),
        ("host.scheduler", "drive.*.controller.scheduler"),
        ("arms.count", "arms.kind"),
    ]
    for one, two in beside:
        base = BASE.replace('workload = "thesis-4ms"\n', "") if one == "workload" else BASE
        text = base + axis("one", one, ["thesis-4ms"]) + axis("two", two, [1, 2])
        assert len(grid(tmp_path, text)) == 2


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
        *(
            (
                BASE + axis("one", first, [1, 2]) + axis("two", second, [3, 4]),
                ["axis.1", "`one` and `two` set the same"],
            )
            for first, second in [
                ("rotation_rpm", "drive.*.rotation_rpm"),
                ("drive.0.rotation_rpm", "rotation_rpm"),
                ("drive.*.cache.segments", "drive.1.cache"),
                ("arms.count", "arms"),
                ("workload.stream.*.read_fraction", "workload.stream.0.read_fraction"),
            ]
        ),
        (
            BASE
            + axis("one", "scheduler", ["drive:fcfs", "drive:sptf"])
            + axis("two", "drive.*.controller.scheduler", ["fcfs"]),
            ["`one` and `two` set the same"],
        ),
        (
            BASE + 'scheduler = "drive:sptf"\n' + axis("one", "controller.scheduler", ["fcfs", "sptf"]),
            ["axis.0", "`scheduler` in [base] sets it again"],
        ),
        (BASE + axis("one", "workload.seed", [1, 2]), ["axis.0", "seed of its own", "[repeats]"]),
        *(
            (BASE + axis(name, "rotation_rpm", [4002, 5400]), [f"axis.0: the axis is called `{name}`", "another name"])
            for name in ("point", "seed", "error", "summary", "cdf_ms", "iops")
        ),
        (
            BASE + '[[axis]]\nname = "design"\ncases = [{ name = "a", set = { rotation_rpm = 5000 } },'
            ' { name = "b", set = { rotaion_rpm = 5000 } }]\n',
            ["axis.0 (`design`)", "did you mean `rotation_rpm`"],
        ),
        (BASE + RPM + '[usd]\n"hp-97569" = 5\n', ["usd: there is no drive `hp-97569`", "did you mean `hp-97560`"]),
        (
            BASE + RPM.replace("values = [4002, 5400, 7200]", "log_range = { from = 1e-308, to = 1e308, count = 3 }"),
            ["further than numbers reach"],
        ),
        (
            BASE + RPM.replace("values = [4002, 5400, 7200]", "range = { from = -1e308, to = 1e308, count = 3 }"),
            ["further than numbers reach"],
        ),
        (
            BASE + RPM + f'[repeats]\nseeds = [1, {2**64 - 1}]\n[stop]\nmetric = "iops"\nwithin_percent = 5\n',
            ["repeats.seeds", "beyond the last seed"],
        ),
        (f'constraints = ["{9**400} * {9**400} > rotation_rpm"]\n' + BASE + RPM, ["more than 300 digits"]),
        (
            BASE.replace("hp-97560", "raid5-4x-cheetah-9lp") + RPM,
            ["axis.0", "did you mean `drive.*.rotation_rpm`"],
        ),
        (BASE + RPM.replace("values", "value"), ["unknown key `value`", "did you mean `values`"]),
        (BASE + RPM.replace("values = [4002, 5400, 7200]", "range = { from = 9, to = 1, step = 1 }"), ["empty"]),
        (BASE.replace("hp-97560", "hp-97561") + RPM, ["did you mean hp-97560"]),
        (
            BASE.replace('system = "hp-97560"\n', "")
            + '[[axis]]\npath = "system"\nvalues = ["hp-97560", "hp-97561"]\n',
            ["did you mean hp-97560"],
        ),
        (BASE.replace("300", "0") + RPM, ["`requests`: 0 is not allowed"]),
        (BASE.replace("300", '"many"') + RPM, ["`requests`", "a whole number"]),
        (BASE.replace('workload = "thesis-4ms"\n', "") + RPM, ["`workload` or a `trace`"]),
        ('metrics = ["response_ms.p98"]\n' + BASE + RPM, ["response_ms.p98", "did you mean `response_ms.p9"]),
        (BASE + RPM + "[repeats]\nseeds = [1, 1]\n", ["there twice"]),
        (BASE + '[[axis]]\npath = "rotation_rpm"\nvalues = [4000, 4000.0]\n', ["4000.0 is there twice"]),
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


COUNTED = '[[axis]]\npath = "rotation_rpm"\nrange = {{ from = 4000, to = 7200, count = {} }}\n'
STEPPED = '[[axis]]\npath = "rotation_rpm"\nrange = {{ from = {}, to = 7200, step = 100 }}\n'
REPEATED = BASE + GAP + "[repeats]\ncount = {}\n"
STOPPED = BASE + GAP + '[stop]\nmetric = "iops"\nwithin_percent = {}\n'


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        (REPEATED, '"3"', 'repeats.count: "3" is not a whole number from 1 to 100,000 without quotes: count = 3'),
        (REPEATED, "true", "repeats.count: true is not a whole number"),
        (REPEATED, "1e999", "repeats.count: 1e999 is not a whole number"),
        (REPEATED, "5.0", "repeats.count: 5.0 is not a whole number"),
        (REPEATED, "9" * 70, "repeats.count: a number of more than 60 digits is not a whole number"),
        (REPEATED, "9" * 5000, "holds a whole number of thousands of digits"),
        (STOPPED, '"5"', 'stop.within_percent: must be a number, not "5" without quotes: within_percent = 5'),
        (STOPPED, "true", "stop.within_percent: must be a number, not true"),
        (STOPPED, "1e999", "stop.within_percent: must be a number, not 1e999"),
        (STOPPED, "[5]", "stop.within_percent: must be a number, not [5]"),
        (BASE.replace("300", "{}") + RPM, '"300"', '`requests`: "300" is not allowed `requests`: a whole number'),
        (BASE + GAP + "[repeats]\nseeds = [{}]\n", "1e999", "`seed`: 1e999 is not allowed"),
        (
            BASE + COUNTED,
            '"4"',
            'range.count: "4" is not a number of values from 1 to 100,000 without quotes: count = 4',
        ),
        (BASE + COUNTED, "1e999", "range.count: 1e999 is not a number of values"),
        (BASE + STEPPED, '"4000"', 'range.from: must be a number, not "4000" without quotes: from = 4000'),
        (BASE + STEPPED, "-1e999", "range.from: must be a number, not -1e999 give a finite number"),
        (BASE + RPM.replace("7200", "{}"), "1e999", "axis.0.values.2: 1e999 is not a number that a value can be"),
        (BASE.replace("300", "{}") + RPM, '"300"', "without quotes: requests = 300"),
        (BASE + "until_s = {}\n" + RPM, "true", "`until_s`: true is not allowed"),
        (BASE + RPM + "[usd]\nhp-97560 = {}\n", '"dear"', 'usd.hp-97560: must be a number, not "dear"'),
        (BASE + RPM + "[usd]\nhp-97560 = {}\n", "1e999", "usd.hp-97560: must be a number, not 1e999"),
    ],
)
def test_a_number_is_named_as_it_was_typed(tmp_path: Path, text: str, given: str, said: str) -> None:
    """Texts lost their quotes, 1e999 was inf, true was True; of a number that is none it was not said what stood there."""
    message = refused("sweep", written(tmp_path, text.format(given)), "--out", tmp_path / "out")
    assert said in " ".join(message.replace("hint: ", "").split())


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    """Editors of Windows write one; drive and workload files were read with it, sweeps and candidates not."""
    path = tmp_path / "grid.toml"
    path.write_text(BASE + RPM, encoding="utf-8-sig")
    assert len(definition.load(path).points) == 3


@pytest.mark.parametrize(
    ("axis_", "said"),
    [
        ("values = [[1]]", "axis.0 (`rotation_rpm`): [1]: "),
        ("values = [{ a = 1 }]", 'axis.0 (`rotation_rpm`): {"a" = 1}: '),
        ('values = [4002.0, "x"]', 'axis.0 (`rotation_rpm`): hp-97560: cannot set `rotation_rpm`: "x" is not a number'),
        ("values = [4002, nan]", "axis.0.values.1: nan is not a number that a value can be"),
        ("range = { from = 1, to = 2, count = 1e308 }", "axis.0.range.count: 1e308 is not a number of values"),
        ("range = { from = 1, to = 2, step = -1e300 }", "axis.0.range.step: -1e300 leads nowhere"),
        ('name = ""\nvalues = [4002]', "axis.0.name: is empty"),
        ("name = 3\nvalues = [4002]", "axis.0.name: must be a text, not 3"),
    ],
)
def test_a_value_that_an_axis_does_not_take_is_named_before_anything_runs(
    tmp_path: Path, axis_: str, said: str
) -> None:
    file = written(tmp_path, f'{BASE}[[axis]]\npath = "rotation_rpm"\n{axis_}\n')
    assert said in refused("sweep", file, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_seed_that_is_there_twice_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, BASE + RPM + "[repeats]\nseeds = [3, 7, 3]\n")
    assert "the seed 3 is there twice" in refused("sweep", file, "--out", tmp_path / "out")
