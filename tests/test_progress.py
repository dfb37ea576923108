"""Long work on a terminal: what it does, how far it is, how long it takes; and nothing in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import headstack as run_cli
from headstack.cli.progress import how_far

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
    assert how_far(0, 40, "runs", 0.2) == "0 of 40 runs"
    # The first moments are no measure.
    assert how_far(1, 40, "runs", 1.0) == "1 of 40 runs"
    assert how_far(10, 40, "runs", 5.0) == "10 of 40 runs, about 15 s remaining"
    assert how_far(40, 40, "runs", 20.0) == "40 of 40 runs"
    assert how_far(82_000, None, "requests", 4.0) == "82,000 requests, 20,500 requests/s, 4 s so far"
    assert how_far(9, None, "drives", 60.0) == "9 drives, 0.15 drives/s, 60 s so far"


@pytest.mark.parametrize("columns", [60, 80, 120])
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


def test_a_study_tells_its_step_and_since_when() -> None:
    told = on_terminal("study", "johnson")
    assert "johnson, step 1: the drive" in told
    assert re.search(r"step \d: .*0:00:0\d", told)


def test_calibrate_tells_how_many_drives_were_tried(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    run_cli("simulate", "hp-97560", "--workload", "unix-like", "--requests", "3000", "--out", rows)
    words = ("calibrate", "hp-97560", "--trace", rows, "--rounds", "1", "--parameters", "controller")
    told = on_terminal(*words)
    assert re.search(r"trying drives\b.*\d drives, \d+ s so far", told)
    assert "trying" not in run_cli(*words).err
