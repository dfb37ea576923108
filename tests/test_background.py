"""The table of background work: asked of a run that kept none, it says how to get one."""

from __future__ import annotations

import pytest

import headstack


def test_a_run_that_kept_nothing_says_how_to_keep_background_work() -> None:
    run = headstack.simulate("hp-c2200a", "unix-like", requests=50, keep=False)
    with pytest.raises(headstack.InputError, match="background work of this run was not kept") as refusal:
        _ = run.background
    assert "keep=True" in str(refusal.value.hint)
    assert "background_out" in str(refusal.value.hint)
