"""Arrays, as a user writes and runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import headstack, refused

if TYPE_CHECKING:
    from pathlib import Path

LOAD = ("--workload", "thesis-4ms", "--requests", "2000")


def commands(*more: str) -> list[int]:
    summary = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *more, "--json").json()
    assert summary["requests"] == 2000
    return [drive["commands"] for drive in summary["drives"]]


def test_the_library_s_array_runs_whole_and_degraded() -> None:
    whole = commands()
    assert min(whole) > 0.8 * max(whole)
    degraded = commands("--set", "volume.data.failed_drives=[0]")
    assert degraded[0] == 0
    # What the failed drive held is worked out from the three others.
    assert all(after > before for after, before in zip(degraded[1:], whole[1:], strict=True))


def test_levels_cost_what_they_say(tmp_path: Path) -> None:
    per_request = {}
    for level in ("raid-0", "raid-10", "raid-5", "raid-6"):
        path = tmp_path / f"{level}.toml"
        drives = ", ".join(['"cheetah-9lp"'] * 6)
        path.write_text(f'[volume.data]\nlevel = "{level}"\nstripe_unit_kib = 64\ndrives = [{drives}]\n')
        summary = headstack("simulate", path, *LOAD, "--json").json()
        sent = sum(drive["commands"] for drive in summary["drives"])
        writes = summary["writes"]["requests"] / summary["requests"]
        per_request[level] = (sent / summary["requests"] - (1 - writes)) / writes
    expected = {"raid-0": 1, "raid-10": 2, "raid-5": 4, "raid-6": 6}
    assert per_request == pytest.approx(expected)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("failed_drives=[0,1]", "data are lost"),
        ("failed_drives=[7]", "7 is not one of the 4 drives"),
        ("stripe_unit_kib=0.3", "is not a positive multiple"),
        ("read_choice=first", "means nothing to level"),
        ("level=raid-7", "raid-5"),
    ],
)
def test_arrays_that_cannot_be(setting: str, says: str) -> None:
    assert says in refused("simulate", "raid5-4x-cheetah-9lp", *LOAD, "--set", f"volume.data.{setting}")
