"""The verbs: what they print, as tables and as JSON."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import data_file, headstack, refused

RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "3000")


def test_help_lists_the_verbs_and_loads_nothing_heavy() -> None:
    outcome = headstack("--help")
    assert outcome.code == 0
    for verb in ("drives", "trace", "simulate", "validate", "explain", "study"):
        assert verb in outcome.out
    check = (
        "import sys, headstack.cli\n"
        "heavy = {'altair', 'polars', 'jinja2', 'vl_convert', 'headstack._core'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize("verb", ["drives list", "trace info", "simulate", "validate", "explain", "study"])
def test_every_verb_has_help_and_json(verb: str) -> None:
    outcome = headstack(*verb.split(), "--help")
    assert outcome.code == 0
    assert "--json" in outcome.out


def test_version() -> None:
    outcome = headstack("--version")
    assert outcome.out.startswith("headstack 0.")


def test_drives_list_and_show() -> None:
    drives = {drive["id"]: drive for drive in headstack("drives", "list", "--json").json()["drives"]}
    assert drives["hp-97560"]["capacity_sectors"] == 2_647_080
    assert 0 <= drives["hp-97560"]["provenance"]["shares"]["assumed"] <= 1
    shown = headstack("drives", "show", "hp-97560", "--json").json()
    assert shown["seek"]["distance_weighted_ms"] == pytest.approx(12.84, abs=0.005)
    assert len(shown["zones"]) == 1
    words = headstack("drives", "show", "hp-97560").out
    for word in ("12.84", "4,002", "Ruemmler", "assumed", "2,647,080"):
        assert word in words


def test_a_shown_drive_file_is_a_drive_file(tmp_path: Path) -> None:
    text = headstack("drives", "show", "hp-97560", "--toml", "--set", "rotation_rpm=5400").out
    path = tmp_path / "fast.toml"
    path.write_text(text)
    assert headstack("drives", "check", path, "--json").json()["files"][0]["ok"]
    assert headstack("drives", "show", path, "--json").json()["rotation_rpm"] == 5400


def test_simulate_has_the_promised_keys(tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    summary = headstack(*RUN, "--out", out, "--json").json()
    for key in [
        "requests",
        "simulated_s",
        "wall_s",
        "seed",
        "system",
        "workload",
        "config_hash",
        "version",
        "quantiles",
        "response_ms",
        "service_ms",
        "phases_ms",
        "busy_ms",
        "iops",
        "mib_per_s",
        "cache",
        "drives",
    ]:
        assert key in summary, key
    times = {"mean", "mean_ci95", "std", "p50", "p90", "p99", "p999", "max"}
    assert times <= summary["response_ms"].keys()
    assert times <= summary["service_ms"].keys()
    assert set(summary["phases_ms"]) == {"queue", "overhead", "seek", "rotation", "transfer", "bus", "other"}
    assert summary["requests"] == 3000
    assert sum(summary["phases_ms"].values()) == pytest.approx(summary["response_ms"]["mean"])


def test_phases_add_up_to_the_response_exactly(tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    assert headstack(*RUN, "--out", out).code == 0
    table = pl.read_parquet(out)
    phases = pl.sum_horizontal(
        f"{name}_ns" for name in ("queue", "overhead", "seek", "rotation", "transfer", "bus", "other")
    )
    assert table.select((phases == pl.col("finish_ns") - pl.col("arrival_ns")).all()).item()
    assert table["id"].sort().to_list() == list(range(3000))
    assert table.select((pl.col("start_ns") >= pl.col("arrival_ns")).all()).item()


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("a.parquet", "b.parquet", "c.parquet"))
    one = headstack(*RUN, "--out", first, "--json").json()
    two = headstack(*RUN, "--out", second, "--json").json()
    headstack(*RUN, "--seed", "2", "--out", other)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()
    del one["wall_s"], two["wall_s"]
    assert one == two


def test_threads_change_nothing_but_the_time(tmp_path: Path) -> None:
    system = tmp_path / "four.toml"
    drives = ("hp-97560", "cheetah-9lp", "hp-c2247a", "hp-97560")
    system.write_text("".join(f'[volume.v{number}]\ndrives = ["{drive}"]\n' for number, drive in enumerate(drives)))
    trace = tmp_path / "four.csv"
    rows = [f"{k * 7.3},{k * k % 4},{k * 7919 % 200_000 * 8},8,{'RRW'[k % 3]}" for k in range(4000)]
    trace.write_text("arrival_ms,device,lba,sectors,op\n" + "\n".join(rows) + "\n")
    outputs = []
    for threads in ("1", "2", "4"):
        out = tmp_path / f"{threads}.parquet"
        run = headstack("simulate", system, "--trace", trace, "--threads", threads, "--out", out, "--json")
        about = run.json()
        del about["wall_s"]
        outputs.append((about, out.read_bytes()))
    assert outputs[0][0]["requests"] == 4000
    assert outputs[1] == outputs[0]
    assert outputs[2] == outputs[0]
    assert "give at least 1" in refused("simulate", system, "--trace", trace, "--threads", "0")


def test_options_change_what_they_say() -> None:
    plain = headstack(*RUN, "--json").json()
    warm = headstack(*RUN, "--warmup", "1000", "--json").json()
    assert (warm["requests"], warm["warmup_requests"]) == (2000, 1000)
    fast = headstack(*RUN, "--set", "rotation_rpm=8004", "--json").json()
    assert fast["phases_ms"]["rotation"] < plain["phases_ms"]["rotation"]
    assert fast["config_hash"] != plain["config_hash"]
    sorted_ = headstack(*RUN, "--scheduler", "c-look", "--json").json()
    assert sorted_["config_hash"] != plain["config_hash"]
    cut = headstack(*RUN, "--until", "60s", "--json").json()
    assert cut["simulated_s"] <= 60


def test_a_system_that_cannot_keep_up_is_named() -> None:
    crowded = headstack("simulate", "hp-97560", "--workload", "overload-million", "--requests", "2000", "--json")
    assert crowded.json()["in_flight_drained"] > 1000
    assert crowded.err.startswith("warning: The system did not keep up")
    assert "warning" not in headstack(*RUN).err


def test_a_run_that_is_cut_with_much_under_way_says_what_its_books_lack() -> None:
    load = ("simulate", "hp-97560", "--workload", "thesis-4ms", "--requests", "300")
    cut = headstack(*load, "--until", "50ms", "--json")
    summary = cut.json()
    assert summary["simulated_s"] == 0.05
    assert 0 < summary["requests"] < 50 * summary["in_flight_cut"]
    assert re.search(r"The run was cut with \d+ requests? under way, beside \d+ that were complete", cut.err)
    assert "was cut" not in headstack(*load).err


def test_save_writes_the_drive_with_its_overrides(tmp_path: Path) -> None:
    saved = tmp_path / "mine.toml"
    assert headstack(*RUN, "--set", "rotation_rpm=5400", "--save", saved).code == 0
    assert headstack("drives", "show", saved, "--json").json()["rotation_rpm"] == 5400


def test_a_trace_is_told_converted_and_run(tmp_path: Path, ascii_trace: Path) -> None:
    about = headstack("trace", "info", ascii_trace, "--json").json()
    assert (about["requests"], about["reads"], about["format"]) == (500, 250, "disksim-ascii")
    assert about["span_s"] == pytest.approx(4.99)
    for name in ("t.parquet", "t.csv"):
        out = tmp_path / name
        assert headstack("trace", "convert", ascii_trace, out, "--json").json()["requests"] == 500
        assert headstack("trace", "info", out, "--json").json()["reads"] == 250
    plain = headstack("simulate", "hp-97560", "--trace", ascii_trace, "--json").json()
    again = headstack("simulate", "hp-97560", "--trace", tmp_path / "t.parquet", "--json").json()
    assert plain["response_ms"] == again["response_ms"]
    part = headstack("trace", "convert", ascii_trace, tmp_path / "p.csv", "--from", "1s", "--to", "2s", "--json").json()
    assert part["requests"] == 100
    slow = headstack("simulate", "hp-97560", "--trace", ascii_trace, "--inter-arrival-ms", "100", "--json").json()
    assert slow["simulated_s"] == pytest.approx(49.9, abs=0.5)
    assert slow["phases_ms"]["queue"] < plain["phases_ms"]["queue"]


def test_explain_replays_a_row_with_its_marks(tmp_path: Path) -> None:
    """A write forced to the media is explained as one, and a file without the marks names no cause."""
    workload = tmp_path / "forced.toml"
    workload.write_text(
        "seed = 5\nrequests = 300\n[[stream]]\nread_fraction = 0.2\nforce_media_fraction = 0.6\n"
        "size.fixed_kib = 8\nalign_kib = 8\ninter_arrival.exponential_ms = 12.0\n"
    )
    rows = tmp_path / "rows.parquet"
    headstack("simulate", "hp-97560", "--workload", str(workload), "--out", str(rows), "--json")
    table = pl.read_parquet(rows)
    assert set(table["flags"].unique()) == {0, 1}
    forced = table.filter(
        (pl.col("flags") == 1)
        & (pl.col("cache").cast(pl.String) == "miss")
        & (pl.col("id") > 50)
        & (pl.col("other_ns") > 0)
    )
    number = str(forced["id"][0])
    told = headstack("explain", "hp-97560", "--from", str(rows), "--id", number, "--json").json()["requests"]
    assert [story["differs_ms"] for story in told] == pytest.approx([0.0] * len(told), abs=1e-6)
    assert told[-1]["cache"] == "miss"
    assert any("busy with" in step["note"] for step in told[-1]["steps"] if step["label"] == "wait")
    old = tmp_path / "old.parquet"
    columns = [name for name in table.columns if name != "flags"]
    table.select(columns).write_parquet(old, metadata=dict(pl.read_parquet_metadata(rows)))
    waits = [
        step["note"]
        for story in headstack("explain", "hp-97560", "--from", str(old), "--id", number, "--json").json()["requests"]
        for step in story["steps"]
        if step["label"] == "wait"
    ]
    assert waits
    assert all("cause not recorded" in note for note in waits)


@pytest.mark.long
def test_explain_tells_what_happened_in_a_drive_that_queues(tmp_path: Path) -> None:
    workload = tmp_path / "queue.toml"
    workload.write_text(
        "seed = 3\nrequests = 200\n[[stream]]\nread_fraction = 0.7\nsize.fixed_kib = 4\nalign_kib = 4\ninter_arrival.exponential_ms = 4.0\n"
    )
    rows = tmp_path / "rows.parquet"
    headstack("simulate", "sas-15k-300gb", "--workload", str(workload), "--out", str(rows), "--json")
    late = pl.read_parquet(rows).filter(pl.col("queue_ns") > 1_000_000, pl.col("op").cast(pl.String) == "read")
    assert len(late) > 10
    for number in late["id"][:10]:
        told = headstack("explain", "sas-15k-300gb", "--from", str(rows), "--id", str(number), "--json").json()
        story = told["requests"][-1]
        assert abs(story["differs_ms"]) < 1e-3
        assert max(step["end_ms"] for step in story["steps"]) == pytest.approx(story["finish_ms"], abs=1e-6)


def explained(system: str, rows: Path, number: int) -> dict[str, Any]:
    """The timeline of a row, whose phases are those of the row."""
    told = headstack("explain", system, "--from", str(rows), "--id", str(number), "--json")
    timeline = told.json()["requests"][-1]
    row = pl.read_parquet(rows).row(by_predicate=pl.col("id") == number, named=True)
    for phase, time in timeline["phases_ms"].items():
        assert time == pytest.approx(row[f"{phase}_ns"] / 1e6, abs=1e-6), (phase, timeline, row)
    assert timeline["response_ms"] == pytest.approx((row["finish_ns"] - row["arrival_ns"]) / 1e6, abs=1e-6)
    assert not told.err
    return timeline


def simulated(tmp_path: Path, system: str, requests: list[str]) -> Path:
    trace, rows = tmp_path / "requests.csv", tmp_path / "rows.parquet"
    trace.write_text("\n".join(["time,op,lba,sectors,device,flags", *requests]) + "\n")
    columns = "time:0:ns,op:1,offset:2:sectors,size:3:sectors,device:4,flags:5"
    headstack("simulate", system, "--trace", trace, "--columns", columns, "--out", rows, "--json")
    return rows


def test_explain_tells_the_way_of_the_run_where_another_ends_at_the_same_instant(tmp_path: Path) -> None:
    """A revolution is a revolution: by way of another track the same sector is reached at the same time."""
    requests = [f"0,W,{19779994576 - 600000 * number},61,0,1" for number in range(5)]
    rows = simulated(tmp_path, "nearline-22tb", requests)
    for number in range(5):
        timeline = explained("nearline-22tb", rows, number)
        queued = [step for step in timeline["steps"] if step["label"] == "queue"]
        waited = sum(step["end_ms"] - step["start_ms"] for step in queued)
        assert waited == pytest.approx(timeline["phases_ms"]["queue"], abs=1e-6)


def test_explain_tells_a_drive_that_buffers_writes_and_chooses_among_commands(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[mixed]\ndirect=1\nrw=randrw\nbs=64k\niodepth=16\nsize=4g\n")
    rows = tmp_path / "rows.parquet"
    headstack("simulate", "nearline-18tb", "--workload", job, "--requests", "400", "--out", rows, "--json")
    for number in (20, 150, 260, 390):
        assert explained("nearline-18tb", rows, number)["steps"]


def test_explain_tells_the_commands_of_a_request_to_an_array(tmp_path: Path) -> None:
    """A small write to RAID 5 reads from two drives and writes to them."""
    array, drives = tmp_path / "array.toml", ", ".join(['"hp-c2247a"'] * 4)
    array.write_text(f'[volume.data]\nlevel = "raid-5"\ndrives = [{drives}]\n')
    rows = simulated(tmp_path, str(array), [f"{number * 1_000_000},W,{number * 700},8,0,0" for number in range(20)])
    timeline = explained(str(array), rows, 15)
    assert timeline["commands"] == 4
    assert timeline["drive"].startswith("data.")
    told = {step["note"].partition(":")[0] for step in timeline["steps"] if step["label"] == "transfer"}
    assert len(told) == 2
    assert f"the last of 4 commands on {timeline['drive']}" in headstack(
        "explain", array, "--from", rows, "--id", "15"
    ).out.replace("\n", " ")


STANDBY = """{rated_rpm = 7200, idle_w = 5, seek_w = 10, rotation_w = 6, read_w = 9, write_w = 9, standby_w = 1, condition = [
{name = "standby_z", after_s = 1, rpm = 0, watts = 1, enter = {time_s = 0.5, energy_j = 2}, recover = {time_s = 3, energy_j = 19}}]}"""


def test_explain_tells_all_that_a_request_waits_for(tmp_path: Path) -> None:
    """A buffered write wakes the drive; a read waits until it is awake, and the write on the media."""
    drive, rows = tmp_path / "drive.toml", tmp_path / "rows.parquet"
    drive.write_text(headstack("drives", "show", "nearline-24tb", "--toml").out)
    trace = tmp_path / "requests.csv"
    trace.write_text("time,op,lba,sectors\n0,R,0,8\n8000000000,W,4000000,8\n8020000000,R,9000000,8\n")
    power = ("--set", "power=" + STANDBY.replace("\n", " "))
    columns = ("--columns", "time:0:ns,op:1,offset:2:sectors,size:3:sectors")
    headstack("simulate", drive, "--trace", trace, *columns, *power, "--out", rows, "--json")
    told = headstack("explain", drive, *power, "--from", rows, "--id", "2", "--json").json()["requests"][-1]
    waits = [(step["note"], step["end_ms"] - step["start_ms"]) for step in told["steps"] if step["label"] == "wait"]
    (wake, waking), (destage, writing) = waits
    assert "power condition" in wake
    assert "destage" in destage
    assert waking > 2900
    assert writing < 30


def test_explain_tells_a_write_over_what_is_read_ahead_why_it_waits(tmp_path: Path) -> None:
    # The read's media work is long done; the arm is on its way to the next track, for reading ahead.
    trace, rows = tmp_path / "t.csv", tmp_path / "rows.parquet"
    trace.write_text("time,op,lba,sectors\n0,R,8571411,8\n0,W,8571419,8\n")
    columns = ("--columns", "time:0:ns,op:1,offset:2:sectors,size:3:sectors")
    headstack("simulate", "ibm-dtta-351010", "--trace", trace, *columns, "--replay", "closed", "--out", rows, "--json")
    waits = [step["note"] for step in explained("ibm-dtta-351010", rows, 1)["steps"] if step["label"] == "wait"]
    assert waits == ["the mechanism was changing tracks to read ahead, which cannot be broken off"]


def test_explain_tells_what_a_cache_above_the_drive_fetched(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    headstack("simulate", "uda50-ra81", "--workload", "time-shared", "--requests", "300", "--out", rows, "--json")
    table = pl.read_parquet(rows)
    fetched = table.filter((pl.col("seek_ns") > 0) & (pl.col("op").cast(pl.String) == "read"))["id"]
    kept = table.filter(pl.col("overhead_ns") == pl.col("finish_ns") - pl.col("arrival_ns"))["id"]
    labels = {step["label"] for step in explained("uda50-ra81", rows, int(fetched[3]))["steps"]}
    assert {"seek", "rotation", "transfer"} <= labels
    timeline = explained("uda50-ra81", rows, int(kept[3]))
    assert timeline["place"] is None
    assert [step["label"] for step in timeline["steps"]] == ["wait"]


def test_explain_serves_the_flushes_of_a_run_too(tmp_path: Path) -> None:
    requests = ["0,W,1000,8,0,0", "1000000,W,0,0,0,32", "90000000,R,500000,8,0,0"]
    rows = simulated(tmp_path, "nearline-22tb", requests)
    assert explained("nearline-22tb", rows, 1)["sectors"] == 0
    assert explained("nearline-22tb", rows, 2)["cache"] == "miss"


def test_a_timeline_writes_numbers_by_one_rule() -> None:
    """LBA 100,000 in its title was LBA 100000 in its steps, and the phases of 2.327 ms came to 2.32."""
    words = ("explain", "nearline-18tb", "--lba", "3845560278", "--sectors", "1")
    text = headstack(*words, "--plain").out
    assert not re.findall(r"\d{4,}", text)
    assert "read 1 sector at LBA 3,845,560,278" in text
    total, phases = re.findall(r"^ *(\S+) ms \((.*?)\)", text, re.MULTILINE)[0]
    assert sum(float(phase.split()[-1]) for phase in phases.split(", ")) == pytest.approx(float(total), abs=0.002)
    # For programs: whole nanoseconds, and the words of the core.
    rows = pl.read_csv(headstack(*words, "--csv").out.encode(), infer_schema=False)
    assert not [cell for name in ("ms", "takes (ms)") for cell in rows[name] if len(cell.partition(".")[2]) > 6]
    assert "LBA 3845560278 to 3845560278" in rows["what happens"]


def test_explain_tells_the_way() -> None:
    told = headstack("explain", "hp-97560", "--lba", "0", "--then", "1000000", "--json").json()
    first, second = told["requests"]
    assert (first["place"]["cylinder"], first["place"]["head"]) == (1, 4)
    labels = [step["label"] for step in second["steps"]]
    for label in ("overhead", "seek", "rotation", "transfer", "bus"):
        assert label in labels
    assert sum(second["phases_ms"].values()) == pytest.approx(second["response_ms"])
    assert "cylinders" in headstack("explain", "hp-97560", "--lba", "0", "--then", "1000000").out


def test_explain_finds_a_request_of_a_run(tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    headstack(*RUN, "--out", out)
    told = headstack("explain", "hp-97560", "--from", out, "--id", "2345", "--json").json()["requests"]
    assert [story["id"] for story in told] == [2343, 2344, 2345]
    row = pl.read_parquet(out).row(by_predicate=pl.col("id") == 2345, named=True)
    assert told[-1]["lba"] == row["lba"]
    assert told[-1]["finish_ms"] == pytest.approx(row["finish_ns"] / 1e6, abs=1e-6)
    other = headstack("explain", "hp-c2200a", "--from", out, "--id", "5")
    assert other.code == 2
    assert "another system" in other.err


def test_validate_scores_the_c2200a_on_its_own_trace() -> None:
    trace = data_file("hp/ajw.1week.srt")
    summary = headstack("validate", "hp-c2200a", "--trace", trace, "--device", "0", "--ladder", "--json").json()
    assert summary["answer"].startswith("The simulated times of ")
    for key in [
        "requests",
        "replay",
        "phase_lock",
        "measured_mean_ms",
        "model_mean_ms",
        "demerit_ms",
        "demerit_percent",
        "per_request",
        "reads",
        "writes",
        "clamped",
        "ladder",
    ]:
        assert key in summary, key
    errors = {"mae_ms", "mae_percent", "median_ms", "p90_ms", "correlation"}
    for scores in (summary, summary["reads"], summary["writes"]):
        assert errors <= scores["per_request"].keys()
    assert summary["requests"] == 42_252
    assert summary["replay"] == "measured"
    assert summary["phase_lock"] is False
    assert summary["measured_mean_ms"] == pytest.approx(25.35, abs=0.005)
    rungs = {rung["step"]: rung for rung in summary["ladder"]}
    assert list(rungs) == ["M0", "M1", "M2", "M3", "M4", "M5"]
    assert rungs["M0"]["demerit_percent"] == pytest.approx(36.3, abs=0.1)
    assert rungs["M3"]["demerit_percent"] <= 2.6


def test_validate_scores_a_part_of_a_trace() -> None:
    trace = data_file("hp/ajw.1week.srt")
    words = ("validate", "hp-c2200a", "--trace", trace, "--device", "0", "--json")
    first = headstack(*words, "--to", "3d").json()
    rest = headstack(*words, "--from", "3d").json()
    assert first["requests"] + rest["requests"] == 42_252
    assert not math.isclose(first["measured_mean_ms"], rest["measured_mean_ms"])


def test_a_study_without_its_data_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADSTACK_DATA", raising=False)
    rows = {row["id"]: row for row in headstack("study", "ruemmler-wilkes", "--json").json()["rows"]}
    assert {"id", "claim", "kind", "source", "target", "ours", "unit", "tolerance", "verdict", "note"} == set(
        rows["fig4b-m1"]
    )
    assert rows["a1-sectors"]["verdict"] == "reproduced"
    assert rows["fig4b-m1"]["verdict"] == "not testable"
    assert "--data" in rows["fig4b-m1"]["note"]
    assert "ruemmler-wilkes" in headstack("study", "list").out


def test_a_drive_works_no_longer_than_there_is_time(tmp_path: Path) -> None:
    workload = tmp_path / "two.toml"
    workload.write_text(
        "seed = 1\nrequests = 2\n[[stream]]\nread_fraction = 0\nsize.fixed_kib = 8\nusers = 1\nthink.exponential_ms = 0.01\n"
    )
    busy = tmp_path / "busy.toml"
    busy.write_text(
        "seed = 1\nrequests = 400\n[[stream]]\nread_fraction = 0.5\nsize.fixed_kib = 64\nusers = 4\nthink.exponential_ms = 0.01\n"
    )
    for run in (
        # Writes that are reported before they are on the media.
        ("quantum-fireball-ex", "--workload", workload),
        ("scsi-7200-36gb", "--workload", busy, "--until", "0.1s"),
        ("nearline-18tb", "--workload", busy, "--until", "0.1s"),
        ("cheetah-9lp", "--workload", busy, "--warmup", "0.1s"),
    ):
        for drive in headstack("simulate", *run, "--json").json()["drives"]:
            assert 0 < drive["utilisation"] <= 1, run


def test_an_interrupt_while_a_class_is_made_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python 3.11 wraps what comes in `__set_name__`, which a signal may do while the command is being loaded."""
    import headstack.cli
    from headstack.__main__ import main as begun

    def wrapped() -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(headstack.cli, "main", wrapped)
    assert begun() == 130
    assert capsys.readouterr().err == "error: interrupted; nothing was left half written\n"

    def broken() -> int:
        raise RuntimeError("something else")

    monkeypatch.setattr(headstack.cli, "main", broken)
    with pytest.raises(RuntimeError, match="something else"):
        begun()
