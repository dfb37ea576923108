"""DiskSim's parameter files become drive files, or one clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import data_file, headstack, refused
from headstack import Drive

DISK = """\
disksim_disk TINY {
   Model = source tiny.model,
   Bulk sector transfer time = 0.1,
   Read miss over. after read = 0.5,
   Number of buffer segments = 2,
   Segment size (in blks) = 64
}
"""

MODEL = """\
dm_disk TINY_model {
   Number of data surfaces = 2,
   Number of cylinders = 3,
   Block count = 60,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Sparing scheme used = 0,
      Zones = [ dm_layout_g1_zone {
         First cylinder number = 0,
         Last cylinder number = 2,
         Blocks per track = 10,
         Offset of first block = 0,
         Empty space at zone front = 0,
         Skew for track switch = 1,
         Skew for cylinder switch = 2,
         Number of spares = 0,
         slips = [],
         defects = []
      } ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = constant,
      Average seek time = 5.0,
      Add. write settling delay = 0.0,
      Head switch time = 1.0,
      Rotation speed (in rpms) = 6000
   }
}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A drive of sixty sectors."""
    (tmp_path / "tiny.model").write_text(MODEL)
    path = tmp_path / "tiny.diskspecs"
    path.write_text(DISK)
    return path


def test_the_drive_file_loads(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "tiny.toml"
    outcome = headstack("drives", "import", tiny, "-o", out, "--name", "Tiny")
    assert outcome.code == 0, outcome.err
    assert outcome.out == ""
    assert "parameters carried" in outcome.err
    drive = Drive(str(out))
    assert (drive.name, drive.capacity_sectors, drive.rotation_ms) == ("Tiny", 60, 10.0)
    assert headstack("drives", "check", out).code == 0


def test_without_an_output_the_drive_file_is_printed(tiny: Path) -> None:
    outcome = headstack("drives", "import", tiny)
    assert Drive(toml=outcome.out).capacity_sectors == 60


def test_the_report_is_whole(tiny: Path) -> None:
    report = headstack("drives", "import", tiny, "--json").json()
    assert Drive(toml=report["toml"]).capacity_sectors == 60
    assert {entry["parameter"] for entry in report["carried"]} >= {"Block count", "Seek type", "slips"}
    assert [Path(file).name for file in report["files"]] == ["tiny.diskspecs", "tiny.model"]
    assert all(entry["reason"] for entry in report["not_carried"])


def test_an_error_names_file_and_line_and_writes_nothing(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "tiny.toml"
    out.parent.mkdir()
    (tmp_path / "tiny.model").write_text(MODEL.replace("Blocks per track", "Block per track"))
    message = refused("drives", "import", tiny, "-o", out)
    assert "tiny.model:11: " in message
    assert "did you mean `Blocks per track`?" in message
    assert list(out.parent.iterdir()) == []


def test_a_file_that_was_there_stays_whole(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept.toml"
    out.write_text("kept")
    tiny.write_text(DISK[:-3])
    assert "the end of the file" in refused("drives", "import", tiny, "-o", out)
    assert out.read_text() == "kept"


def test_lenient_goes_on_and_says_so(tiny: Path) -> None:
    tiny.write_text(DISK.replace("Bulk", "Colour = red,\n   Bulk"))
    assert "`Colour` is no parameter" in refused("drives", "import", tiny)
    outcome = headstack("drives", "import", tiny, "--lenient")
    assert outcome.code == 0
    assert "warning: " in outcome.err
    assert "Colour" in outcome.err


def test_a_missing_file_and_no_file(tmp_path: Path) -> None:
    assert "none.diskspecs" in refused("drives", "import", tmp_path / "none.diskspecs")
    assert "no parameter file" in refused("drives", "import")


def test_a_published_drive_is_the_one_of_the_library() -> None:
    files = [data_file("drives/hp_c2247a.diskspecs"), data_file("validate/hp_c2247a.parv")]
    ours = Drive("hp-c2247a")
    drive = Drive(toml=headstack("drives", "import", *files).out)
    theirs = {**drive.spec(), "name": "", "summary": ""}
    assert theirs == {**ours.spec(), "name": "", "summary": ""}
