"""Long work on a terminal: what it does, how far it is, how long it takes; and nothing in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import headstack as run_cli
from headstack.cli.progress import duration, fitting, how_far, remaining_between
from headstack.cli.study import told_beforehand

if TYPE_CHECKING:
    from pathlib import Path

GRID = """
[base]
system = "nearline-18tb"
workload = "thesis-4ms"
requests = 60_000
[[axis]]
name = "rpm"
path = "rotation_rpm"
values = [5400, 6000, 6600, 7200, 7800, 8400, 9000, 9600]
"""


def on_terminal(*words: object, columns: int = 120) -> str:
    """What a command says on stderr, where that is a terminal."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "headstack", *map(str, words)], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as command:
        os.close(theirs)
        told = b""
        # Where the other end is closed, Linux says so with an error.
        while piece := _read(ours):
            told += piece
        os.close(ours)
    # A drive that misses an aim is told by 1.
    assert command.returncode in (0, 1), told
    return told.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_what_is_told_of_work() -> None:
    assert ", ".join(how_far(0, 40, "runs", 0.2)) == "0 of 40 runs"
    # The first moments are no measure.
    assert ", ".join(how_far(1, 40, "runs", 1.0)) == "1 of 40 runs"
    assert ", ".join(how_far(10, 40, "runs", 5.0)) == "10 of 40 runs, about 15 s remaining"
    assert ", ".join(how_far(40, 40, "runs", 20.0)) == "40 of 40 runs"
    assert ", ".join(how_far(82_000, None, "requests", 4.0)) == "82,000 requests, 20,500 requests/s, 4 s so far"
    assert ", ".join(how_far(9, None, "drives", 60.0)) == "9 drives, 0.15 drives/s, 60 s so far"


def test_the_time_that_remains_is_a_range_where_the_work_is() -> None:
    span = (5_000, 15_000)
    assert remaining_between(0, span, 5.0) == remaining_between(50, span, 1.0) == ""
    assert remaining_between(1_000, span, 60.0) == "4 min to 14 min remaining"
    assert remaining_between(6_000, span, 360.0) == "at most 9 min remaining"
    # More than was thought: nobody knows.
    assert remaining_between(15_001, span, 900.0) == ""


def test_a_line_has_as_many_parts_as_it_has_room_for() -> None:
    parts = ["9 of 40 runs", "", "about 15 s remaining", "3 s simulated"]
    assert fitting(parts, 60) == "9 of 40 runs, about 15 s remaining, 3 s simulated"
    assert fitting(parts, 40) == "9 of 40 runs, about 15 s remaining"
    assert fitting(parts, 5) == "9 of 40 runs"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_measurement_of_a_simulated_device_tells_whose_time_it_is(columns: int) -> None:
    told = on_terminal("measure", "sim:hp-c2247a", "seek-curve", columns=columns)
    assert "…" not in told
    bars = [line for line in re.split(r"[\r\n]", told) if re.search(r"\(\d+ of \d+\)", line)]
    assert bars
    # The time of the device is over sooner than it says.
    assert not any(re.search(r"\d min remaining", line) for line in bars)
    assert any("accesses" in line for line in bars)
    assert any(re.search(r"\d of .* simulated", line) for line in bars) or columns < 80
    piped = run_cli("measure", "sim:hp-c2247a", "rotation").err
    assert re.search(r"^rotation: about .* of simulated time", piped, re.MULTILINE)


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.long
def test_a_sweep_tells_how_many_runs_are_done(tmp_path: Path, columns: int) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID)
    told = on_terminal("sweep", grid, "--out", tmp_path / "out", "--threads", 1, columns=columns)
    assert re.search(r"sweeping\b.* of 8 runs", told)
    assert "…" not in told
    again = run_cli("sweep", grid, "--out", tmp_path / "again")
    assert "of 8 runs" not in again.err + again.out


def test_checks_of_drives_tell_how_many_are_done() -> None:
    told = on_terminal("drives", "check", "--deep", "hp-97560", "atlas-10k", "nearline-18tb")
    assert re.search(r"checking\b.* of 3 drives", told)


@pytest.mark.long
def test_a_study_tells_its_step_and_since_when() -> None:
    told = on_terminal("study", "johnson")
    assert "johnson, step 1: the drive" in told
    assert re.search(r"step \d: .*0:00:0\d", told)


def test_a_study_of_minutes_says_so_where_no_progress_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`study rebuild` said nothing for minutes in a pipe."""
    told_beforehand(["johnson"])
    assert capsys.readouterr().err == ""
    told_beforehand(["rebuild"])
    assert re.fullmatch(r"rebuild: \d+ min of processor time or more\n", capsys.readouterr().err)
    told_beforehand(["johnson", "rebuild"])
    assert capsys.readouterr().err.startswith("2 studies: ")
    # A terminal shows the steps.
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    told_beforehand(["rebuild"])
    assert capsys.readouterr().err == ""


def test_calibrate_tells_how_many_drives_were_tried(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    run_cli("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20000", "--out", rows)
    words = ("calibrate", "hp-97560", "--trace", rows, "--rounds", "1", "--parameters", "controller")
    told = on_terminal(*words)
    assert re.search(r"trying drives\b.*\d drives, (under 1|\d+) s so far", told)
    assert "trying" not in run_cli(*words).err


def test_a_time_has_one_name() -> None:
    """Two minutes were "2 min" and "120 s" in the same list."""
    assert [duration(seconds) for seconds in (0.4, 119.4, 119.6, 120.0, 7169.0, 7185.0, 7200.0)] == [
        "under 1 s", "119 s", "2 min", "2 min", "119 min", "2.0 h", "2.0 h",
    ]  # fmt: skip
