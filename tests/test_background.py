"""Tables of runs: where one was not kept, or the file holds another, it is said how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import headstack
from conftest import headstack as run_cli
from conftest import refused

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_that_kept_nothing_says_how_to_keep_background_work() -> None:
    run = headstack.simulate("hp-c2200a", "unix-like", requests=50, keep=False)
    with pytest.raises(headstack.InputError, match="background work of this run was not kept") as refusal:
        _ = run.background
    assert "keep=True" in str(refusal.value.hint)
    assert "background_out" in str(refusal.value.hint)


def test_a_file_of_other_rows_says_how_to_get_completions(tmp_path: Path) -> None:
    background, absent = tmp_path / "background.parquet", tmp_path / "absent.parquet"
    headstack.simulate("nearline-18tb", "unix-like", requests=50, background_out=background)
    for path in (background, absent):
        said = refused("explain", "nearline-18tb", "--from", path, "--id", "3")
        assert "simulate … --out FILE.parquet" in said
    assert "holds no completions of a run" in refused("explain", "nearline-18tb", "--from", background, "--id", "3")
    assert "holds no completions" not in refused("explain", "nearline-18tb", "--from", absent, "--id", "3")


def test_a_run_of_the_command_line_keeps_background_work_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "background.parquet"
    done = run_cli("simulate", "nearline-18tb", "--workload", "unix-like", "--requests", "50", "--background-out", path)
    assert done.code == 0
    assert path.exists()
