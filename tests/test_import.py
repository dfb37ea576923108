"""DiskSim's parameter files become drive files, or one clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import data_file, headstack, refused
from headstack import Drive, InputError
from headstack._core import import_disksim

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
    assert "`Colour` is not a parameter" in refused("drives", "import", tiny)
    outcome = headstack("drives", "import", tiny, "--lenient")
    assert outcome.code == 0
    assert "warning: " in outcome.err
    assert "Colour" in outcome.err


def test_disksims_own_meaning_is_asked_for_by_name(tiny: Path) -> None:
    tiny.write_text(DISK.replace("Bulk", "Enable caching in buffer = 1,\n   Buffer continuous read = 4,\n   Bulk"))
    usual, own = (
        Drive(toml=headstack("drives", "import", tiny, "--meaning", meaning).out).spec()["cache"]
        for meaning in ("measured", "disksim")
    )
    assert "look_up" not in usual
    assert (own["look_up"], own["read_ahead"]) == ("when-received", "track-ahead")
    with pytest.raises(InputError, match="`their own` is not a meaning: `measured` or `disksim`"):
        import_disksim([str(tiny)], meaning="their own")


def test_a_missing_file_and_no_file(tmp_path: Path) -> None:
    assert "none.diskspecs" in refused("drives", "import", tmp_path / "none.diskspecs")
    assert "no parameter file" in refused("drives", "import")


def test_a_published_drive_is_the_one_of_the_library() -> None:
    files = [data_file("drives/hp_c2247a.diskspecs"), data_file("validate/hp_c2247a.parv")]
    ours = Drive("hp-c2247a")
    drive = Drive(toml=headstack("drives", "import", *files).out)
    theirs = {**drive.spec(), "name": "", "summary": ""}
    assert theirs == {**ours.spec(), "name": "", "summary": ""}


PARV = """\
disksim_iodriver DRIVER { type = 1, Scheduler = disksim_ioqueue { Scheduling policy = 3 } }
disksim_bus BUS { type = 1, Arbitration type = 2, Read block transfer time = 0.1, Write block transfer time = 0.1 }
disksim_ctlr CTLR { type = 1 }
source tiny.diskspecs
instantiate [ driver0 ] as DRIVER
instantiate [ bus0 ] as BUS
instantiate [ ctlr0 ] as CTLR
instantiate [ disk0 ] as TINY
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_ctlr ctlr0 [ disksim_disk disk0 [] ] ] ]
disksim_logorg org0 { Addressing mode = Parts, Distribution scheme = Asis, Redundancy scheme = Noredun,
   devices = [ disk0 ] }
disksim_synthio Synthio { Number of I/O requests to generate = 200, Maximum time of trace generated = 1000.0,
   Generators = [ disksim_synthgen { Storage capacity per device = 60, devices = [ disk0 ], Blocking factor = 2,
   Probability of read access = 0.5, General inter-arrival times = [ exponential, 0.0, 50.0 ],
   Sizes = [ exponential, 0.0, 2.0 ] } ] }
"""


@pytest.fixture
def simulation(tiny: Path) -> Path:
    """A simulation of the drive of sixty sectors."""
    path = tiny.parent / "tiny.parv"
    path.write_text(PARV)
    return path


def test_a_simulation_becomes_a_system_and_a_workload_that_run(simulation: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "run.toml"
    out.parent.mkdir()
    outcome = headstack("drives", "import", simulation, "-o", out)
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in out.parent.iterdir()) == ["run.tiny.toml", "run.toml", "run.workload.toml"]
    assert "run it: headstack simulate" in outcome.err
    run = headstack("simulate", out, "--workload", out.parent / "run.workload.toml", "--json").json()
    assert run["requests"] == 200
    directory = tmp_path / "directory"
    directory.mkdir()
    assert headstack("drives", "import", simulation, "-o", directory).code == 0
    assert sorted(path.name for path in directory.iterdir()) == ["system.toml", "tiny.toml", "workload.toml"]


def test_what_a_simulation_sources_may_lie_elsewhere(simulation: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = elsewhere / simulation.name
    moved.write_text(simulation.read_text())
    out = elsewhere / "out.toml"
    assert "no file" in refused("drives", "import", moved, "-o", out)
    assert headstack("drives", "import", moved, simulation.parent, "-o", out).code == 0


def test_a_component_that_is_not_built_is_refused_and_nothing_is_written(simulation: Path, tmp_path: Path) -> None:
    simulation.write_text(PARV.replace("= Noredun", "= Shadowed"))
    out = tmp_path / "out"
    out.mkdir()
    message = refused("drives", "import", simulation, "-o", out / "run.toml")
    assert "tiny.parv:10: redundancy Shadowed of org0: component not built yet" in message
    assert list(out.iterdir()) == []
    outcome = headstack("drives", "import", simulation, "-o", out / "run.toml", "--lenient")
    assert outcome.code == 0
    assert "component not built yet" in outcome.err


def test_a_simulation_needs_a_place_and_has_no_name(simulation: Path) -> None:
    assert "-o tiny.toml" in refused("drives", "import", simulation)
    assert "a drive's" in refused("drives", "import", simulation, "--name", "x", "-o", "x.toml")
    report = headstack("drives", "import", simulation, "--json").json()
    assert report["workload"] is not None
    assert report["files_written"] == {}


def test_the_functional_rows_are_all_there() -> None:
    from headstack.studies.functional import functional_rows

    without = functional_rows(None)
    assert len(without) == 12
    assert {row.verdict for row in without} == {"not-testable"}


@pytest.mark.long
def test_the_closed_workload_of_disksim_takes_as_long_here() -> None:
    from headstack.studies.functional import functional_rows

    data = data_file("validate/synthclosed.parv").parent.parent
    rows = {row.id: row for row in functional_rows(data)}
    assert rows["functional-synthclosed"].verdict == "holds"
    for name in ("synthcachemem", "synthcachedev"):
        assert rows[f"functional-{name}"].ours is not None


def test_systems_answer_disksims_own_arrivals() -> None:
    from headstack.studies.own_arrivals import RUNS, own_arrival_rows

    assert {row.verdict for row in own_arrival_rows(None)} == {"not-testable"}
    data = data_file("disksim-runs/synthraid5.arrivals.gz").parent.parent
    rows = {row.id: row for row in own_arrival_rows(data)}
    mean, original = rows["arrivals-synthsimpledisk"].ours, RUNS["synthsimpledisk"][0]
    assert mean == pytest.approx(original, rel=0.001)
    # Nine disks, parity that goes round: the same commands, and two in a hundred of the time.
    assert rows["arrivals-synthraid5"].verdict == "holds"
    assert all(row.verdict == "holds" for id_, row in rows.items() if id_.endswith("-commands"))
    # Requests that are waited for go before the others; caches of controllers, with what the cache device did.
    for name in (
        "synthmixed",
        "synthcachemem",
        "synthcachedev",
        "synthcachedev-read-hits",
        "synthcachedev-populations",
    ):
        assert rows[f"arrivals-{name}"].verdict == "holds"


def test_the_folder_of_the_output_is_made(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "drive.toml"
    source = data_file("drives/ibm18es.diskspecs")
    assert headstack("drives", "import", source, "-o", out).code == 0
    assert "is sound" in headstack("drives", "check", out).out
    # Not for an import that fails.
    missing = tmp_path / "other" / "drive.toml"
    refused("drives", "import", tmp_path / "nothing.diskspecs", "-o", missing)
    assert not missing.parent.exists()
