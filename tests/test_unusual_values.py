"""Values that no known drive has: every verb says so, and Python warns once."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import pytest

import headstack
from conftest import headstack as run_cli
from headstack.unusual import UnusualValue

if TYPE_CHECKING:
    from pathlib import Path

SAID = "`rotation_rpm`: 40,020 rpm; known drives have 1,000 to 20,000 rpm; it is simulated as it stands; did you mean 4,002?"
SET = {"rotation_rpm": 40020}
FAST = "rotation_rpm=40020"
SWEEP = """
[base]
system = "hp-97560"
workload = "thesis-4ms"
requests = 20
[[axis]]
path = "workload.stream.0.read_fraction"
values = [0.2, 0.4]
[[axis]]
path = "rotation_rpm"
values = [4002, 40020]
[repeats]
count = 2
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a drive that no known drive resembles, a trace with measured times, and files for the verbs."""
    folder = tmp_path_factory.mktemp("odd")
    text = headstack.Drive("hp-97560", overrides=SET).to_toml()
    (folder / "odd.toml").write_text(text)
    headstack.simulate("hp-97560", "unix-like", requests=500, out=folder / "run.parquet")
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "candidates.toml").write_text(
        'drives = ["hp-97560", "odd.toml"]\n[[arrays]]\nlevel = "raid-0"\ndrives = 2\n'
    )
    rows = [f"{op},{file_mb},{kib},{4 + file_mb / 1000 + kib / 1000}" for op in ("read", "write") for file_mb in (10, 20)
            for kib in (8, 32, 128)]  # fmt: skip
    (folder / "streams.csv").write_text("op,file_mb,record_kib,mb_per_s\n" + "\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20", "--set", FAST),
        ("simulate", "odd.toml", "--workload", "unix-like", "--requests", "20"),
        ("simulate", "two-97560-one-bus", "--workload", "unix-like", "--requests", "20", "--set", "drive.*.rotation_rpm=40020"),
        ("validate", "hp-97560", "--trace", "run.parquet", "--set", FAST),
        ("calibrate", "hp-97560", "--trace", "run.parquet", "--rounds", "1", "--parameters", "controller.read_overhead_ms",
         "--set", FAST),
        ("calibrate", "odd.toml", "--table", "streams.csv"),
        ("explain", "hp-97560", "--lba", "0", "--set", FAST),
        ("power", "hp-97560", "--set", FAST),
        ("fleet", "hp-97560", "--trace", "run.parquet", "--set", FAST),
        ("coefficients", "hp-97560", "--set", FAST),
        ("measure", "sim:hp-97560", "zoned", "--set", FAST),
        ("measure", "sim:odd.toml", "zoned"),
        ("sweep", "sweep.toml", "--out", "swept"),
        ("explore", "run.parquet", "--candidates", "candidates.toml"),
        ("drives", "show", "odd.toml"),
        ("drives", "check", "odd.toml"),
    ],
    ids=lambda words: "-".join(words[:2]).replace(":", "-"),
)  # fmt: skip
def test_every_verb_says_once_that_no_drive_is_like_that(place: Path, words: tuple[str, ...]) -> None:
    outcome = run_cli(*words, cwd=place)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count(SAID) == 1, outcome.err
    assert f"warning: {SAID}" in outcome.err or f"warning: odd.toml: {SAID}" in outcome.err
    assert "UserWarning" not in outcome.err
    assert "UnusualValue" not in outcome.err


def test_a_drive_of_the_library_is_not_warned_of(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for system in ("hp-97560", headstack.Drive("hp-97560"), headstack.System("hp-97560")):
            headstack.simulate(system, "unix-like", requests=20)
        headstack.measure.run("sim:hp-97560", ["zoned"])
    assert "warning" not in run_cli("explain", "hp-97560", "--lba", "0", cwd=place).err


def test_python_warns_whatever_a_system_is_made_of(place: Path) -> None:
    makers = [
        lambda: headstack.simulate("hp-97560", "unix-like", requests=20, overrides=SET),
        lambda: headstack.simulate(place / "odd.toml", "unix-like", requests=20),
        lambda: headstack.simulate(headstack.Drive("hp-97560", overrides=SET), "unix-like", requests=20),
        lambda: headstack.simulate(headstack.System("hp-97560", overrides=SET), "unix-like", requests=20),
        lambda: headstack.explain("hp-97560", [0], overrides=SET),
        lambda: headstack.measure.run("sim:hp-97560", ["zoned"], overrides=SET),
        lambda: headstack.stream.model(place / "odd.toml"),
        lambda: headstack.sweep(place / "sweep.toml", place / "swept-in-python"),
    ]
    for make in makers:
        with pytest.warns(UnusualValue, match="known drives have") as found:
            make()
        # It points at the line of whoever called, not into headstack.
        assert [warning.filename for warning in found] == [__file__]


def test_a_program_is_warned_once() -> None:
    code = (
        "import headstack\nodd = headstack.System('hp-97560', overrides={'rotation_rpm': 40020})\n"
        "for _ in range(3):\n    headstack.simulate(odd, 'unix-like', requests=20)\n"
        "headstack.simulate(odd, 'unix-like', requests=30)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count(SAID) == 1


def test_processes_that_serve_a_sweep_say_nothing_more(place: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    outcome = run_cli("sweep", "sweep.toml", "--out", "on-dask", "--dask", "local:2", cwd=place)
    assert outcome.err.count("known drives have") == 1, outcome.err
