"""`headstack measure`: what it finds on devices whose truth is known, bad input, interruption, records, saved drives."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import headstack as library
from conftest import drive_file, headstack, refused
from headstack.cli import measure as measure_cli

MOCK_STEPS = {0: 8.389, 35: 10.333, 36: 2.056, 37: 2.111}
"""Talagala et al. 1999, Figure 3, by their equations 2 and 4."""


NAMES = [probe["name"] for probe in library.measure.probes() if not probe["when_named"]]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full measurement of the mock disk as a simulated drive: record, drive file, page and JSON."""
    folder = tmp_path_factory.mktemp("measured")
    outputs = ("--record", folder / "r.parquet", "--save", folder / "d.toml", "--report", folder / "p.html")
    outcome = headstack("measure", "sim:mock-disk", *outputs, "--json")
    assert outcome.code == 0, outcome.err
    (folder / "out.json").write_text(json.dumps(outcome.json()))
    (folder / "err.txt").write_text(outcome.err)
    return folder


def test_the_formula_gives_the_papers_points() -> None:
    found = headstack("measure", "mock:", "skippy", "--json").json()
    points = dict(map(tuple, found["skippy"][0]["points"]))
    for step, ms in MOCK_STEPS.items():
        assert points[step] == pytest.approx(ms, abs=0.0006)
    assert found["heads"] == 15
    assert found["skippy"][0]["drop_step"] == 36


def test_a_full_measurement_finds_the_drive(full: Path) -> None:
    found = json.loads((full / "out.json").read_text())
    assert found["rotation_ms"] == pytest.approx(60_000 / 7_200, rel=1e-3)
    assert found["sectors_per_track"] == 150
    assert found["heads"] == 15
    assert found["zones"][0]["track_skew_sectors"] == pytest.approx(13, abs=0.5)
    assert found["zones"][0]["cylinder_skew_sectors"] == pytest.approx(38, abs=0.5)
    for key in ("rotation_ms", "sectors_per_track", "heads", "mtm_ms", "parameters", "zones", "seek", "naive"):
        assert key in found
    for parameter in found["parameters"]:
        assert set(parameter) >= {"name", "value", "unit", "ci95", "method", "observable"}
        # What cannot be observed is a bound, never a value.
        assert parameter["observable"] or parameter["value"] is None


def test_the_demerit_of_the_rebuilt_drive_comes_first(full: Path) -> None:
    found = json.loads((full / "out.json").read_text())
    assert next(iter(found)) == "replay"
    for score in (found["replay"]["reads"], found["replay"]["writes"]):
        assert score["demerit_percent"] < 2
        assert score["model_mean_ms"] == pytest.approx(score["measured_mean_ms"], rel=0.02)
    assert (full / "d.toml").read_text().startswith("# How well this file replays")
    assert "demerit of the rebuilt drive, reads" in (full / "p.html").read_text()


def test_a_drive_that_does_not_replay_says_so(full: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from headstack.cli import output
    from headstack.cli.measure import _tell

    output.choose(["measure", "--json"])
    found = library.measure.read(full / "r.parquet")
    replay = found.replay
    assert replay is not None
    poor = {**replay["writes"], "demerit_percent": 30.04}
    found.__dict__["replay"] = {**replay, "writes": poor, "within_limit": False}
    assert _tell(found, (tmp_path / "d.toml", None), shows_first=False, json=True) == 1
    told = capsys.readouterr()
    assert "the random writes with a demerit of 30.0 %, over 5 %" in told.err
    assert (tmp_path / "d.toml").exists()
    # Without a file nothing was promised.
    assert _tell(found, (None, None), shows_first=False, json=True) == 0


def test_a_budget_leaves_out_what_a_drive_file_can_do_without() -> None:
    everything = {each["probe"]: each["expected_s"] for each in library.measure.plan("sim:mock-disk")}
    within = sum(everything.values()) - everything["seeker"] / 2
    planned = library.measure.plan("sim:mock-disk", within_s=within)
    assert [each["probe"] for each in planned if not each["fits"]] == ["seeker"]
    outcome = headstack("measure", "sim:mock-disk", "rotation", "random", "--within", "1min", "--json")
    assert outcome.code == 0, outcome.err
    assert "left out, to be through within 60 s of simulated time: random" in outcome.err
    assert json.loads(outcome.out)["finished"] == ["rotation"]
    assert "nothing fits into 1 s" in refused("measure", "sim:mock-disk", "--within", "1s")
    assert "is not a duration" in refused("measure", "sim:mock-disk", "--within", "soon")
    for short in ("0", "0s", "250ms"):
        assert f"--within `{short}` is shorter than the shortest, 1 s" in refused(
            "measure", "sim:mock-disk", "--within", short
        )


def test_a_budget_that_leaves_no_time_for_the_file_asked_for_is_refused_before_it_is_spent(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    message = refused("measure", "sim:mock-disk", "--within", "2min", "--save", file)
    assert "--within 2 min leaves no time for what a drive file is made of: " in message
    assert "seek-curve (" in message
    enough = re.search(r"`--within (\d+)min` is enough for it; or leave --save out", message)
    assert enough is not None, message
    planned = library.measure.plan("sim:mock-disk", within_s=60.0 * int(enough[1]))
    assert all(each["fits"] for each in planned if each["for_drive_file"])
    assert not all(
        each["fits"]
        for each in library.measure.plan("sim:mock-disk", within_s=60.0 * int(enough[1]) - 60.0)
        if each["for_drive_file"]
    )
    assert not file.exists()


def test_a_drive_file_that_was_held_against_nothing_says_so(tmp_path: Path) -> None:
    """It was saved without a word, though such files may be off by a sixth of each access."""
    needed = [each["probe"] for each in library.measure.plan("sim:mock-disk") if each["for_drive_file"]]
    file = tmp_path / "d.toml"
    outcome = headstack("measure", "sim:mock-disk", *(name for name in needed if name != "random"), "--save", file)
    assert outcome.code == 1, outcome.err
    assert "warning: nothing says how well the drive file replays the device" in outcome.err
    assert file.read_text().startswith("# CAUTION: the record holds no random accesses (probe `random`)")


def test_a_scan_says_in_a_sentence_what_it_found(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    found = headstack("measure", "sim:mock-disk", "scan", "--scan-percent", "20", "--report", page, "--json").json()
    assert found["scan"]["verdict"].endswith("the rest was not read")
    assert (found["scan"]["unreadable"], found["scan"]["long"], len(found["scan"]["parts"])) == (0, 0, 1000)
    assert 0.2 < found["scan"]["share"] < 0.3
    assert found["smart"] == []
    assert "The surface" in page.read_text()
    assert "over 1,0" in page.read_text()
    # Once, in the answer: the map below it said it again.
    assert page.read_text().count("the rest was not read") == 1
    shown = headstack("measure", "sim:mock-disk", "scan", "--scan-percent", "20")
    assert shown.code == 0, shown.err
    assert "is readable; no read took longer than 1,002 ms" in shown.out
    message = refused("measure", "sim:mock-disk", "--scan-percent", "20")
    assert "is for the probe `scan`" in message


def test_smart_attributes_are_read_as_smartctl_prints_them() -> None:
    from headstack.smart import read

    ata = {"ata_smart_attributes": {"table": [{"id": 5, "name": "Reallocated_Sector_Ct", "value": 100, "worst": 99, "thresh": 10,
                                               "raw": {"value": 8, "string": "8"}}]}}  # fmt: skip
    assert read(ata) == [
        {"name": "Reallocated_Sector_Ct", "raw": "8", "value": 100, "worst": 99, "threshold": 10},
    ]
    nvme = {"nvme_smart_health_information_log": {"media_errors": 3, "temperature_sensors": [30]}}
    assert [(each["name"], each["raw"]) for each in read(nvme)] == [("media_errors", "3")]
    assert read({"scsi_grown_defect_list": 12})[0]["raw"] == "12"
    assert read({}) == []


def test_the_expected_duration_comes_first(full: Path) -> None:
    lines = (full / "err.txt").read_text().splitlines()
    assert lines[0].startswith("measuring sim:mock-disk: about ")
    assert "of simulated time" in lines[0]
    told = [line.split(":")[0] for line in lines[1:] if ": about " in line]
    assert told == list(NAMES)


def test_the_saved_drive_simulates(full: Path) -> None:
    headstack("drives", "check", full / "d.toml", "--json").json()
    drive = library.Drive(str(full / "d.toml"))
    original = library.Drive("mock-disk")
    assert drive.rotation_ms == pytest.approx(original.rotation_ms, rel=1e-3)
    assert abs(drive.capacity_sectors - original.capacity_sectors) <= 15 * 150
    kinds = {entry["kind"] for entry in drive.spec()["provenance"].values()}
    assert {"measured", "assumed"} <= kinds
    means = [
        headstack("simulate", name, "--workload", "unix-like", "--requests", "3000", "--json").json()["service_ms"][
            "mean"
        ]
        for name in (full / "d.toml", "mock-disk")
    ]
    assert means[0] == pytest.approx(means[1], rel=0.02)


def test_the_page_has_its_charts(full: Path) -> None:
    page = (full / "p.html").read_text()
    for title in ("Skippy: writes with growing steps", "Bandwidth over the device", "Seek curve", "Every value"):
        assert title in page
    assert "mock-disk" in page


@pytest.mark.long
def test_a_drive_that_is_only_read(tmp_path: Path) -> None:
    """The read-ahead of the HP 97560 never ends; what the reads show past it is what its file says."""
    record = tmp_path / "r.parquet"
    outcome = headstack("measure", "sim:hp-97560", "--read-only", "--record", record, "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["rotation_ms"] == pytest.approx(60_000 / 4_002, rel=1e-3)
    assert (found["sectors_per_track"], found["heads"]) == (72, 19)
    assert found["zones"][0]["track_skew_sectors"] == pytest.approx(8, abs=0.5)
    assert found["zones"][0]["cylinder_skew_sectors"] == pytest.approx(18, abs=0.5)
    # Ruemmler & Wilkes 1994, Table 1: 3.24 + 0.400 √d ms.
    assert found["seek"]["write"] == []
    assert found["seek"]["read"][0]["ms"] == pytest.approx(3.64, rel=0.02)
    # What the cache was found to keep changes how long the rest takes, and the user is told.
    lines = [line for line in outcome.err.splitlines() if ": about" in line]
    assert all("remaining" in line for line in lines[1:-1])
    assert lines[-1].startswith("random:")
    assert "remaining" not in lines[-1]
    names = {each["name"] for each in found["parameters"]}
    assert "mtm_read_ms" in names
    assert not {"mtm_ms", "write_head_switch_ms", "write_cylinder_switch_ms"} & names
    shown = headstack("measure", "--from", record)
    assert shown.code == 0, shown.err
    assert "minimum time to media, reads" in shown.out
    assert "writes" not in shown.out


def test_skippys_reads_are_not_called_writes() -> None:
    shown = headstack("measure", "sim:hp-c2200a", "skippy", "--read-only")
    assert shown.code == 0, shown.err
    assert "minimum time to media, reads" in shown.out
    assert "minimum time to media, writes" not in shown.out


def test_an_old_record_gives_the_same_values(full: Path, tmp_path: Path) -> None:
    again = headstack("measure", "--from", full / "r.parquet", "--save", tmp_path / "d.toml", "--json").json()
    assert again == json.loads((full / "out.json").read_text())
    assert (tmp_path / "d.toml").read_text() == (full / "d.toml").read_text()


def test_a_record_is_not_replaced(full: Path) -> None:
    before = (full / "r.parquet").read_bytes()
    message = refused("measure", "sim:mock-disk", "--record", full / "r.parquet")
    assert "--resume" in message
    assert (full / "r.parquet").read_bytes() == before


def test_resuming_another_device(full: Path) -> None:
    message = refused("measure", "sim:hp-97560", "--record", full / "r.parquet", "--resume")
    assert "sectors" in message


def test_resuming_a_whole_record_measures_nothing_more(full: Path, tmp_path: Path) -> None:
    record = tmp_path / "r.parquet"
    shutil.copy(full / "r.parquet", record)
    begun = time.monotonic()
    again = headstack("measure", "sim:mock-disk", "--record", record, "--resume", "--json").json()
    assert again["samples"] == json.loads((full / "out.json").read_text())["samples"]
    assert time.monotonic() - begun < 30


def test_terminal_summary_shows_uncertainty_method_and_bounds(full: Path) -> None:
    outcome = headstack("measure", "--from", full / "r.parquet")
    assert outcome.code == 0, outcome.err
    assert "± 95 %" in outcome.out
    assert "completions at one sector are whole" in outcome.out
    assert "The sawtooth as its paper reads it" in outcome.out
    # The mock disk's head switch of 0.7 ms is wholly after its overhead: a value. A hidden one shows as a bound.
    hidden = headstack("measure", "sim:mock-disk", "switches", "--set", "controller.overhead_beside_seek_ms=1.5")
    assert hidden.code == 0, hidden.err
    assert "≤ " in hidden.out


def test_ctrl_c_keeps_the_record_and_says_how_to_go_on(tmp_path: Path) -> None:
    record = tmp_path / "r.parquet"
    command = [sys.executable, "-m", "headstack", "measure", "sim:nearline-18tb", "--record", str(record)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.split(":")[0] in NAMES[3:]:
                break
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert f"--record {record} --resume" in err
    kept = library.measure.read(record)
    assert "rotation" in kept.head["finished"]
    # The rest of a few probes goes on where it ended; what was measured stays.
    resumed = library.measure.run("sim:nearline-18tb", ["skippy"], record=record, resume=True)
    assert resumed.stopped is None
    assert resumed.head["sessions"] == 2
    assert len(resumed) >= len(kept)
    whole = library.measure.run("sim:nearline-18tb", ["skippy"])
    assert resumed.found["rotation_ms"] == pytest.approx(whole.found["rotation_ms"], rel=1e-4)


def test_a_progress_function_that_says_stop() -> None:
    stopped = library.measure.skippy("sim:hp-97560", progress=lambda _: False)
    assert stopped.stopped is not None
    assert stopped.stopped["kind"] == "stopped"


def test_the_size_of_a_device_is_in_the_units_of_makers(tmp_path: Path) -> None:
    """A drive of 18 TB had "18,000,207.9 MB" on the command line and "18,000.208 GB" on its page."""
    done = headstack("measure", "sim:nearline-18tb", "rotation", "--report", tmp_path / "page.html")
    assert "18.00 TB, " in done.out
    assert "18.00 TB, simulated" in (tmp_path / "page.html").read_text()


def test_more_zones_in_the_file_than_were_found_are_explained() -> None:
    """Neighbouring zones with equally many sectors are found as one, and need two in a file where they differ in skew."""
    found, zone = {"zones": [{"first_lba": 0}]}, "[[layout.zone]]\n"
    assert measure_cli.zones_apart(found, zone * 3).startswith("3 zones for the 1 found: ")  # type: ignore[arg-type]
    assert not measure_cli.zones_apart(found, zone)  # type: ignore[arg-type]


def test_what_is_no_record_is_not_said_to_be_one(tmp_path: Path) -> None:
    """A text file and a pipe by the name of the record held "a measurement already"."""
    text, pipe, empty = tmp_path / "notes.parquet", tmp_path / "pipe.parquet", tmp_path / "empty.parquet"
    text.write_text("notes\n")
    empty.write_text("")
    os.mkfifo(pipe)
    for path in (text, pipe, empty):
        message = refused("measure", "sim:mock-disk", "rotation", "--record", path)
        assert f"--record `{path}` exists, and is not a record" in message
    assert text.read_text() == "notes\n"


def test_devices_that_are_too_small_are_told_how_large_they_must_be(tmp_path: Path) -> None:
    for size in (0, 512):
        device = tmp_path / f"{size}.img"
        device.write_bytes(bytes(size))
        assert f"holds {size} bytes; at least 4,194,304 are needed" in refused("measure", device, "rotation")
    assert "the word after `measure` is empty" in refused("measure", "")


def test_a_signal_at_any_instant_tells_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that came between two accesses of the core ended it with "nothing was left half written", and no word of the journal."""
    record = tmp_path / "r.parquet"

    def interrupted(*_words: object, **_options: object) -> None:
        library.measure.journal(record).write_text("samples")
        raise KeyboardInterrupt

    monkeypatch.setattr(library.measure, "run", interrupted)
    code = measure_cli._measure("sim:mock-disk", ("rotation",), {}, (record, False, None), (None, None), json=False)
    assert code == 130
    assert f"--record {record} --resume" in capsys.readouterr().err.replace("\n", " ")


def test_noise_of_a_simulated_device() -> None:
    noisy = library.measure.skippy("sim:mock-disk", noise_percent=0.5, outlier_percent=1.0, seed=7)
    assert noisy.found["rotation_ms"] == pytest.approx(60_000 / 7_200, rel=1e-3)
    again = library.measure.skippy("sim:mock-disk", noise_percent=0.5, outlier_percent=1.0, seed=7)
    assert noisy.found == again.found


def test_the_verbs_of_the_library() -> None:
    assert library.measure.skippy("sim:mock-disk").found["heads"] == 15
    # H·N·512 / ((H − 1)·skew + cylinder skew + H·R), as the paper's bandwidths come out: 2.10 MiB/s.
    expected = 19 * 72 * 512 / (18 * 8 / 72 + 18 / 72 + 19) * 4_002 / 60 / 2**20
    bandwidth = library.measure.zoned("sim:hp-97560").found["bandwidth"]
    assert bandwidth["outer_mib_per_s"] == pytest.approx(expected, rel=0.01)
    assert bandwidth["inner_mib_per_s"] == pytest.approx(expected, rel=0.01)
    assert [step["probe"] for step in library.measure.plan("sim:mock-disk")] == NAMES
    assert "mock-disk" in library.measure.skippy("sim:mock-disk")._repr_html_()


def test_listing_the_probes() -> None:
    listed = headstack("measure", "--probes", "--json").json()["probes"]
    assert {"skippy-write", "zoned", "seeker"} <= {probe["name"] for probe in listed}


# ---- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("measure",), "sim:SYSTEM"),
        (("measure", "sim:no-such-drive"), "no-such-drive"),
        (("measure", "sim:mock-disk", "skipy"), "skippy-write"),
        (("measure", "mock:", "seeker"), "seeker"),
        (("measure", "mock:heads=none"), "heads"),
        (("measure", "sim:mock-disk", "--noise-percent", "70"), "0 to 50"),
        (("measure", "sim:mock-disk", "--resume"), "--record"),
        (("measure", "sim:mock-disk", "--write"), "--write"),
        (("measure", "sim:mock-disk", "--yes-destroy", "/dev/sdx"), "--yes-destroy"),
        (("measure", "/dev/no-such-disk"), "/dev/no-such-disk"),
        (("measure", "/dev/null"), "neither a block device nor a file"),
        (("measure", "mock:", "--set", "rotation_rpm=1"), "--set"),
        (("measure", "sim:mock-disk", "--save", "/no/such/place/d.toml"), "/no/such/place"),
        (("measure", "sim:mock-disk", "--report", "/no/such/place/d.html"), "/no/such/place"),
        (("measure", "sim:mock-disk", "--record", "/no/such/place/r.parquet"), "/no/such/place"),
        (("measure", "sim:mock-disk", "skippy-write", "--read-only"), "skippy-write"),
        (("measure", "--from", "/no/such/record.parquet"), "record.parquet"),
        (("measure", "sim:mock-disk", "--from", "x.parquet"), "--from"),
    ],
)
def test_refusals(words: tuple[str, ...], says: str) -> None:
    message = refused(*words)
    assert says in message
    assert "hint: " in message or "/no/such/place" in message


@pytest.fixture
def on_disk(tmp_path: Path) -> Path:
    """A file past whose page cache one can read; skipped where the temporary files lie in memory."""
    path = tmp_path / "disk.img"
    path.write_bytes(os.urandom(16 << 20))
    outcome = headstack("measure", path, "random")
    if outcome.code == 2 and ("tmpfs" in outcome.err or "page cache" in outcome.err):
        pytest.skip(f"{path} cannot be read past the page cache")
    return path


def test_a_file_is_written_only_with_both_consents(on_disk: Path) -> None:
    before = on_disk.read_bytes()
    assert "--yes-destroy" in refused("measure", on_disk, "skippy-write")
    assert "--yes-destroy" in refused("measure", on_disk, "skippy-write", "--write")
    assert refused("measure", on_disk, "skippy-write", "--write", "--yes-destroy", "/dev/other")
    assert refused("measure", on_disk, "--yes-destroy", on_disk)
    assert on_disk.read_bytes() == before


def test_a_device_that_does_not_rotate(on_disk: Path, tmp_path: Path) -> None:
    before = on_disk.read_bytes()
    record = tmp_path / "record.parquet"
    outcome = headstack("measure", on_disk, "rotation", "--save", tmp_path / "d.toml", "--record", record, "--json")
    if json.loads(outcome.out)["rotating"]:
        pytest.skip("the checkout lies on a disk that rotates")
    assert outcome.code == 3, outcome.err
    assert "does not rotate" in outcome.err
    found = json.loads(outcome.out)
    assert found["samples"] > 0
    # What was measured is a latency: of reads, as nothing may be written.
    (latency,) = [each for each in found["parameters"] if each["name"].endswith("_latency_ms")]
    assert latency["name"] == "read_latency_ms"
    assert 0 < latency["value"] < 1000
    # The same in words, of the same measurement.
    assert "read latency" in headstack("measure", "--from", record).out
    assert not (tmp_path / "d.toml").exists()
    assert on_disk.read_bytes() == before


def test_a_file_that_is_too_small(on_disk: Path) -> None:
    on_disk.write_bytes(b"\0" * 4096)
    assert "4,096 bytes" in refused("measure", on_disk)


def test_a_file_that_is_no_record(tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_text("not a record")
    outcome = headstack("measure", "--from", bad)
    assert outcome.code == 2
    assert "bad.parquet" in outcome.err
    assert "hint: " in outcome.err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("README.md", b"# A readme", "it is not a Parquet file"),
        ("cut.parquet", b"PAR1 and nothing else", "cut off or damaged"),
    ],
)
def test_what_is_no_record_is_told_in_words(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    message = refused("measure", "--from", tmp_path / name)
    assert name in message
    assert "not a record of a measurement" in message
    assert says in message
    assert "hint: name a record" in message
    assert "Parquet error" not in message
    assert "it is not a file" in refused("measure", "--from", tmp_path)


def test_a_cut_record(full: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.parquet"
    cut.write_bytes((full / "r.parquet").read_bytes()[:10_000])
    outcome = headstack("measure", "--from", cut)
    assert outcome.code == 2
    assert "cut.parquet" in outcome.err
    assert outcome.out == ""


def test_a_record_too_poor_for_a_drive(tmp_path: Path) -> None:
    record = tmp_path / "r.parquet"
    assert headstack("measure", "sim:mock-disk", "rotation", "--record", record).code == 0
    message = refused("measure", "--from", record, "--save", tmp_path / "d.toml")
    assert "measure with all probes" in message
    assert not (tmp_path / "d.toml").exists()


def test_a_drive_file_with_another_speed(tmp_path: Path) -> None:
    """The measurement follows the drive, not the library's number."""
    path = drive_file(tmp_path, ("rotation_rpm = 4002.0", "rotation_rpm = 3600.0"))
    found = headstack("measure", f"sim:{path}", "rotation", "--json").json()
    assert found["rotation_ms"] == pytest.approx(60_000 / 3_600, rel=1e-3)
