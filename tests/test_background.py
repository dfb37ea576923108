"""Tables of runs: where one was not kept, or the file holds another, it is said how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
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
    assert "background_out='FILE.parquet'" in str(refusal.value.hint)


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


def test_what_is_written_to_a_file_and_not_kept_is_in_the_file(tmp_path: Path) -> None:
    out = tmp_path / "background.parquet"
    run = headstack.simulate("cheetah-9lp", "unix-like", requests=200, keep=False, background_out=out)
    with pytest.raises(headstack.InputError, match="not kept"):
        _ = run.background
    kept = headstack.simulate("cheetah-9lp", "unix-like", requests=200, keep=True).background
    assert pl.read_parquet(out).equals(pl.DataFrame(kept))
    assert pl.DataFrame(kept).height > 0


def test_the_hint_for_another_suffix_holds_for_background_work(tmp_path: Path) -> None:
    command = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "5")
    said = refused(*command, "--background-out", str(tmp_path / "b.csv"))
    assert "name it `b.parquet`" in said
    assert "convert" not in said
