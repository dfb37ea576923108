"""Matching, analysing and making traces, as people do it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import DATA, data_file, headstack, refused
from headstack.report import causes, losses

if TYPE_CHECKING:
    from pathlib import Path

PAPER = (7480, 47922, 35755, 17120, 7821, 4734, 2803, 1667, 1203, 833)


@pytest.fixture
def tick_trace(tmp_path: Path) -> Path:
    """Requests of one drive every 3 ticks, each answered after one; a `sync` of 40 writes in the middle."""
    lines = []
    for number in range(300):
        tick, block = 3 * number, 1000 + 2 * number
        lines += [f"S: (32,0x6):2:R:{block}:{tick}", f"R: (32,0x6):2:R:{block}:{tick + 1}"]
        if number == 150:
            lines += [f"S: (32,0x6):2:W:{9000 + 2 * write}:{tick}" for write in range(40)]
            lines += [f"R: (32,0x6):2:W:{9000 + 2 * write}:{tick + 1 + write}" for write in range(40)]
    path = tmp_path / "ticks.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def blktrace_folder() -> Path:
    folder = DATA / "blktrace"
    if not folder.is_dir():
        pytest.skip(f"needs blktrace: set HEADSTACK_DATA to the directory of the real traces (now {DATA})")
    return folder


def test_the_sample_of_the_paper(tmp_path: Path) -> None:
    histogram = tmp_path / "ticks.txt"
    sample = data_file("uda50/sample.txt")
    about = headstack("trace", "match", sample, "--histogram", histogram, "--json").json()
    assert (about["pairs"], about["orphans"]) == (6, 3)
    ticks = {each["block"]: each["ticks"] for each in about["ticks"]}
    assert ticks == {1984: 1, 1992: 2, 62782: 2, 486502: 3, 337822: 1, 339738: 1}
    assert {each["block"] for each in about["orphan_records"]} == {1976, 2152, 2144}
    assert histogram.read_text().splitlines()[0] == "3 responses took 1 ticks."
    words = headstack("trace", "match", sample).out
    assert "(32,0x10)" in words
    assert "3 responses, 0 requests" in words


def test_the_histogram_of_the_paper(tmp_path: Path) -> None:
    path = tmp_path / "histogram.txt"
    path.write_text("".join(f"{count} responses took {ticks} ticks.\n" for ticks, count in enumerate(PAPER)))
    about = headstack("trace", "ticks", path, "--json").json()
    assert about["responses"] == 127_338
    assert about["within_5_ticks"] == pytest.approx(0.949, abs=5e-4)
    assert about["mean_ms"] == pytest.approx(35.5, abs=0.05)
    assert "127,338" in headstack("trace", "ticks", path).out


def test_slices_turn_blocks_into_those_of_a_drive(tick_trace: Path, tmp_path: Path) -> None:
    slices = tmp_path / "slices.toml"
    slices.write_text("[[slice]]\nnumber = 6\nfirst_block = 100000\nblocks = 20000\n")
    about = headstack("trace", "analyze", tick_trace, "--slices", slices, "--json").json()
    assert [device["device"] for device in about["by_address"]] == ["0"]
    assert min(region["first_lba"] for region in about["hot_regions"]) >= 100_000
    slices.write_text("[[slice]]\nnumber = 6\nfirst_block = 100000\nblocks = 1500\n")
    about = headstack("trace", "match", tick_trace, "--slices", slices, "--json").json()
    assert about["off_slice"] > 0


def test_a_burst_is_named(tick_trace: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    about = headstack("trace", "analyze", tick_trace, "--report", page, "--json").json()
    assert (about["requests"], about["reads"], about["pairs"], about["orphans"]) == (340, 300, 340, 0)
    (burst,) = about["bursts"]["largest"]
    assert (burst["kind"], burst["writes"], burst["peak_outstanding"]) == ("flush", 40, 40)
    assert burst["start_s"] == pytest.approx(7.5, abs=0.01)
    assert about["by_kind"][1]["response_ms"]["max"] == pytest.approx(40 * 1000 / 60, abs=0.01)
    text = page.read_text()
    assert "Bursts of writes" in text
    assert "<script" in text
    assert "flush" in headstack("trace", "analyze", tick_trace).out


def test_keks_has_blkparses_counts(tmp_path: Path) -> None:
    page = tmp_path / "keks.html"
    about = headstack("trace", "analyze", blktrace_folder() / "keks", "--report", page, "--json").json()
    assert about["events"]["entries"] == 2398
    assert about["events"]["by_action"] == {"D": 1192, "C": 1206}
    assert about["events"]["dispatched"]["write_bytes"] == 13_208 << 10
    assert (about["pairs"], about["flushes"], about["double_flush_completions"]) == (1182, 24, 24)
    assert about["loss"]["missing_cpus"] == []
    assert (about["loss"]["lost_events"], about["doubtful"]) == (0, 0)
    assert page.stat().st_size > 100_000


def test_hadoop_has_btts_table_and_states_its_loss() -> None:
    about = headstack("trace", "match", blktrace_folder() / "hadoop_eternity2" / "sdb", "--json").json()
    shown = {
        name: f"{row['min_s']:.9f} {row['mean_s']:.9f} {row['max_s']:.9f} {row['count']}"
        for name, row in about["btt"].items()
    }
    assert shown["d2c"] == "0.000049398 0.002731378 0.021033641 17600"
    assert shown["q2c"] == "0.000078788 0.002881549 0.026220352 17842"
    assert about["orphan_dispatches"] == 264
    words = headstack("trace", "match", blktrace_folder() / "hadoop_eternity2").out
    assert "264 dispatches" in words


def test_what_makes_no_sense_is_left_out_or_refused(tick_trace: Path) -> None:
    lines = tick_trace.read_text().splitlines()
    # A tenth of the lines are garbage.
    broken = [f"{line}\nnonsense {number}" if number % 9 == 0 else line for number, line in enumerate(lines)]
    tick_trace.write_text("\n".join(broken) + "\n")
    outcome = headstack("trace", "analyze", tick_trace, "--format", "tick-text", "--json")
    assert outcome.json()["requests"] == 340
    assert outcome.json()["notes"]["bad_records"] == 76
    shown = headstack("trace", "match", tick_trace, "--format", "tick-text")
    assert "76 records make no sense" in shown.err
    assert "line 2" in refused("trace", "analyze", tick_trace, "--format", "tick-text", "--strict")
    assert "line 2" in refused("trace", "match", tick_trace, "--format", "tick-text", "--strict")


def test_a_trace_without_completions_shows_its_load(tmp_path: Path) -> None:
    trace, page = tmp_path / "load.csv", tmp_path / "load.html"
    rows = [f"{0.02 * k},{k * 800},{8 << k % 3},{'R' if k % 4 else 'W'}" for k in range(2000)]
    trace.write_text("arrival_s,lba,sectors,op\n" + "\n".join(rows) + "\n")
    about = headstack("trace", "analyze", trace, "--report", page, "--json").json()
    assert about["response_ms"] is None
    assert [(bin_["from_ms"] <= 20 < bin_["to_ms"], bin_["count"]) for bin_ in about["by_inter_arrival"]] == [
        (True, 1999)
    ]
    assert sum(bin_["reads"] for bin_ in about["arrivals"]) == 1500
    assert sum(bin_["bytes_written"] for bin_ in about["arrivals"]) == about["bytes_written"]
    # 50 arrivals a second in every stretch but the last, which ends later than the trace.
    for bin_ in about["arrivals"][:-1]:
        per_s = (bin_["reads"] + bin_["writes"]) / bin_["width_ns"] * 1e9
        assert per_s == pytest.approx(50, abs=1e9 / bin_["width_ns"])
    text = page.read_text()
    for title in ("What arrives when", "Between arrivals", "Sizes", "Where requests begin, drive 0"):
        assert f"<h2>{title}</h2>" in text
    assert "How long responses took" not in text


def test_a_made_trace_is_like_the_original(tmp_path: Path) -> None:
    original = tmp_path / "original.csv"
    rows = [f"{0.02 * k},{(k * 7919) % 100_000 * 8},8,{'R' if k % 4 else 'W'}" for k in range(2000)]
    original.write_text("arrival_s,lba,sectors,op\n" + "\n".join(rows) + "\n")
    copy, model = tmp_path / "copy.parquet", tmp_path / "model.json"
    made = headstack("trace", "make", copy, "--like", original, "--requests", "8000", "--save-model", model, "--json")
    assert made.json()["requests"] == 8000
    like = {row["what"]: row["ratio"] for row in made.json()["likeness"]}
    assert like["requests_per_s"] == pytest.approx(1, rel=0.02)
    assert like["mean_bytes"] == 1
    assert like["nearline-18tb_mean_ms"] == pytest.approx(1, rel=0.2)
    info = headstack("trace", "info", copy, "--json").json()
    assert info["read_fraction"] == pytest.approx(0.75, abs=0.02)
    assert info["requests_per_s"] == pytest.approx(50, rel=0.02)
    again = tmp_path / "again.parquet"
    headstack("trace", "make", again, "--model", model, "--requests", "8000").out  # noqa: B018
    assert again.read_bytes() == copy.read_bytes()
    broken = json.loads(model.read_text()) | {"excerpts": []}
    model.write_text(json.dumps(broken))
    assert "an excerpt with requests" in refused("trace", "make", again, "--model", model)
    assert "one of them" in refused("trace", "make", again)


@pytest.mark.parametrize(
    "name",
    ["hp/ajw.1week.srt", "blktrace/keks", "blktrace/hadoop_eternity2", "traces/ssdsim_financial1_first10000.ascii"],
)
def test_a_trace_made_after_a_recording_is_as_slow(tmp_path: Path, name: str) -> None:
    original = data_file(name) if "." in name else blktrace_folder() / name.rpartition("/")[2]
    made = headstack("trace", "make", tmp_path / "made.parquet", "--like", original, "--json").json()
    like = {row["what"]: row["ratio"] for row in made["likeness"]}
    assert like["seek_median_bytes"] == pytest.approx(1, rel=0.1)
    assert like["again_fraction"] == pytest.approx(1, rel=0.1)
    for drive in ("nearline-18tb", "cheetah-9lp"):
        assert like[f"{drive}_mean_ms"] == pytest.approx(1, rel=0.15)
        assert like[f"{drive}_p99_ms"] == pytest.approx(1, rel=0.15)


def test_a_made_trace_that_is_no_stand_in_is_said_so(tmp_path: Path) -> None:
    original = data_file("traces/cloudphysics.vscsi")
    made = headstack("trace", "make", tmp_path / "made.parquet", "--like", original)
    said = " ".join(made.out.split())
    assert "Further off than it should be: nearline-18tb mean ms, nearline-18tb p99 ms" in said
    assert "the trace made does not stand in for the original: its requests wait otherwise" in said
    told = headstack("trace", "make", tmp_path / "made.parquet", "--like", original, "--json").json()
    alike = {row["what"]: row["is_alike"] for row in told["likeness"]}
    assert (alike["nearline-18tb_p99_ms"], alike["hurst"], alike["mean_bytes"]) == (False, True, True)


def test_a_made_trace_of_other_reads_is_said_to_be_unlike(tmp_path: Path) -> None:
    """Half as many requests as the original are a part of it: of one that first reads and then writes, all reads or all writes."""
    random = Random(4)
    lines = ["arrival_ns,device,lba,sectors,op"]
    arrival_ns = 0
    for number in range(6000):
        arrival_ns += int(random.expovariate(40) * 1e9)
        lines.append(f"{arrival_ns},0,{random.randrange(10**7) * 8},8,{'R' if number < 3000 else 'W'}")
    original, made = tmp_path / "half.csv", tmp_path / "made.csv"
    original.write_text("\n".join(lines) + "\n")
    done = headstack("trace", "make", made, "--like", original, "--requests", "3000", "--json").json()
    rows = {row["what"]: row for row in done["likeness"]}
    assert rows["read_fraction"]["is_alike"] is False, rows["read_fraction"]
    assert rows["mean_bytes"]["is_alike"] is True


def test_several_traces_are_one(tmp_path: Path) -> None:
    head = "arrival_ms,lba,sectors,op,device\n"
    first, second, both = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "both.csv"
    first.write_text(head + "5,1,8,R,0\n20,2,8,R,0\n")
    second.write_text(head + "10,3,8,W,0\n")
    asked = refused("trace", "join", both, first, second)
    assert "each count from a start of their own" in asked
    assert "--clocks follow" in asked
    assert not both.exists()
    told = headstack("trace", "join", both, first, second, "--clocks", "follow", "--devices", "apart", "--json").json()
    assert (told["requests"], told["clocks"]) == (3, "follow")
    rows = [line.split(",") for line in both.read_text().splitlines() if line[0].isdigit()]
    assert len(rows) == 3
    info = headstack("trace", "info", both, "--json").json()
    assert [each["device"] for each in info["devices"]] == [0, 1]
    # 15 ms from one request to the next, and as long from the first trace to the second.
    assert info["span_s"] == pytest.approx(0.030)
    assert told["pauses_s"] == [0.015]
    said = headstack("trace", "join", both, first, second, "--clocks", "follow").out
    assert "one after the other, 15.00 ms after the end of the one before" in " ".join(said.split())
    assert "nothing to join" in refused("trace", "join", both, first)
    assert "would replace what is read" in refused("trace", "join", first, first, second, "--clocks", "same")


def test_one_trace_is_joined_with_itself_only_after_itself(tmp_path: Path) -> None:
    first, again, both = tmp_path / "first.csv", tmp_path / "again.csv", tmp_path / "both.csv"
    first.write_text("arrival_ms,lba,sectors,op\n5,1,8,R\n20,2,8,R\n")
    again.symlink_to(first)
    assert "are one file" in refused("trace", "join", both, first, again, "--clocks", "same")
    assert "standard input is named twice" in refused("trace", "join", both, "-", "-", "--clocks", "begin")
    assert not both.exists()
    assert headstack("trace", "join", both, first, again, "--clocks", "follow", "--json").json()["requests"] == 4
    none = headstack("trace", "join", both, first, again, "--clocks", "follow", "--from", "9s")
    assert "nothing of the trace was chosen" in none.err


def test_ticks_without_a_response_are_analysed(tmp_path: Path) -> None:
    ticks = tmp_path / "ticks.txt"
    ticks.write_text("S: (32,0x10):2:R:1984:22127\nS: (32,0x10):2:R:1994:22137\n")
    shown = headstack("trace", "analyze", ticks)
    assert "holds no whole request" in shown.err
    assert headstack("trace", "analyze", ticks, "--json").json()["orphans"] == 2


def test_no_time_between_two_instants_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("arrival_ms,lba,sectors,op\n5,1,8,R\n20,2,8,R\n")
    for part in (("--from", "5s", "--to", "1s"), ("--to", "0"), ("--from", "1m", "--to", "60")):
        assert "no time lies between" in refused("trace", "analyze", trace, *part)
    for verb in (("info", trace), ("analyze", trace), ("convert", trace, tmp_path / "none.csv")):
        assert "nothing of the trace was chosen" in headstack("trace", *verb, "--from", "9s").err
    run = headstack("simulate", "hp-97560", "--trace", trace, "--from", "9s")
    assert "nothing of the trace was chosen" in run.err


def test_the_slow_device_of_a_fleet_is_named(tmp_path: Path) -> None:
    trace, page = tmp_path / "fleet.csv", tmp_path / "fleet.html"
    rows = [
        f"{k},{k * 7919 % 100_000},8,R,{k % 8},{(5 + k % 97 / 20 + k % 8 / 10) * (2 if k % 8 == 3 else 1)}"
        for k in range(4000)
    ]
    trace.write_text("arrival_ms,lba,sectors,op,device,response_ms\n" + "\n".join(rows) + "\n")
    fleet = headstack("trace", "analyze", trace, "--report", page, "--json").json()["fleet"]
    assert fleet["ranked"][0]["device"] == fleet["outlier"]["device"] == "3"
    assert fleet["outlier"]["times_as_long"] == pytest.approx(2, rel=0.1)
    sentence = "Device 3 stands out"
    said = headstack("trace", "analyze", trace).out
    assert sentence in said
    assert "may be why" not in said
    assert sentence in page.read_text().replace("\u00a0", " ")


def test_of_a_slow_device_it_is_said_what_is_asked_of_it(tmp_path: Path) -> None:
    """Six disks that are alike; one is asked for 512 KiB where the others are asked for 4 KiB, and less often for writes."""
    random, trace = Random(5), tmp_path / "fleet.csv"
    rows = []
    for k in range(9000):
        sectors = 1024 if k % 6 == 2 else 8
        op = "R" if k % 6 == 2 or random.random() < 0.6 else "W"
        ms = random.uniform(4, 12) + sectors / 240
        rows.append(f"{k * 5},{random.randrange(100_000) * 8},{sectors},{op},{k % 6},{ms:.6f}")
    trace.write_text("arrival_ms,lba,sectors,op,device,response_ms\n" + "\n".join(rows) + "\n")
    said = " ".join(headstack("trace", "analyze", trace).out.split())
    assert "Device 2 stands out" in said
    assert "which may be why: 512 KiB a request (the others 4 KiB), 100 % reads (the others" in said
    assert "may be why" in headstack("trace", "analyze", trace, "--report", tmp_path / "f.html").out


def test_several_slow_devices_of_a_fleet_do_not_hide_each_other(tmp_path: Path) -> None:
    random, trace = Random(7), tmp_path / "fleet.csv"
    rows = [
        f"{k},{k * 7919 % 100_000},8,R,{k % 8},{8 * random.lognormvariate(0, 0.4) * (2 if k % 8 > 5 else 1):.6f}"
        for k in range(8000)
    ]
    trace.write_text("arrival_ms,lba,sectors,op,device,response_ms\n" + "\n".join(rows) + "\n")
    apart = headstack("trace", "analyze", trace, "--json").json()["fleet"]["apart"]
    assert (sorted(apart["devices"]), apart["others"], apart["graded"]) == (["6", "7"], 6, False)
    assert 1.7 < apart["low"] < 2 < apart["high"] < 2.4
    assert "2 of the 8 devices (6, 7) take " in " ".join(headstack("trace", "analyze", trace).out.split())


@pytest.mark.parametrize(("found", "low", "said"), [
    (True, 1.9, "The 8 devices differ by more than chance explains: the slowest takes 2.60 times as long in the median as the fastest, and "
                "2 of the 8 devices (6, 7) 2.00 times (1.90 to 2.10) as long in the median as the other 6."),
    (False, 1.01, "No device stands out: the medians of the 8 devices lie within 2.60 times of each other."),
    (False, 0.99, "No device stands out: the 8 devices differ no more than chance explains."),
])  # fmt: skip
def test_devices_differ_by_chance_only_where_chance_explains_it(found: bool, low: float, said: str) -> None:
    apart = {"devices": ["6", "7"], "others": 6, "times_as_long": 2.0, "low": low, "high": 2.1, "graded": True,
             "slowest_to_fastest": 2.6, "found": found}  # fmt: skip
    assert causes.fleet_sentence({"outlier": None, "ranked": [{}] * 8, "apart": apart}) == said


def test_what_flushes_of_one_device_do_is_found_among_others(tmp_path: Path) -> None:
    random = Random(3)
    rows = []
    for device in range(20):
        at = 0.0
        while (at := at + random.expovariate(20.0)) < 60:
            read = random.random() < 0.6
            slow = 3.0 if device == 7 and read and at % 5 < 1 else 1.0
            rows.append((at, "R" if read else "W", 8.0 * slow * random.lognormvariate(0, 0.5), device))
    rows += [(5.0 * k, "W", 1000.0 - 30 * max(write - 1, 0), 7) for k in range(12) for write in range(30)]
    trace = tmp_path / "fleet.csv"
    lines = [f"{at:.9f},{op},{ms:.6f},0,8,{device}\n" for at, op, ms, device in sorted(rows)]
    trace.write_text("arrival_s,op,response_ms,lba,sectors,device\n" + "".join(lines))
    bursts = headstack("trace", "analyze", trace, "--json").json()["bursts"]
    assert (bursts["count"], bursts["flushes"]) == (12, 12)
    effect = bursts["effects"][0]
    assert effect["low"] < 3 < effect["high"]
    assert "When writes are flushed every 5 s, reads take " in headstack("trace", "analyze", trace).out


def test_the_name_of_a_process_sends_nothing_to_the_terminal() -> None:
    effect = {"cause": "process", "name": "\x1b[31mred\x1b[0m\n", "occurrences": 30, "times_as_long": 2.0, "low": 1.9, "high": 2.1,
              "found": True, "phases": None, "filled_by": None}  # fmt: skip
    about: Any = {"bursts": None, "effects": [effect], "fleet": None}
    assert causes.sentence(about).startswith(
        "When ?[31mred?[0m? has requests outstanding, others' reads take 2.00 times"
    )


@pytest.mark.parametrize(("cause", "name", "said"), [
    ("process-phases", "backup", "When backup is at work, in 30 phases, others' reads take 2.00 times (1.90 to 2.10) as long as like "
                                 "reads shortly before and after."),
    ("slow-process", "backup", "Reads of backup take 2.00 times (1.90 to 2.10) as long as like reads of others at that time."),
    ("slow-region", "LBA 0 to 99", "Reads of LBA 0 to 99 take 2.00 times (1.90 to 2.10) as long, from arrival to completion in the "
                                   "geometric mean, as like reads elsewhere at that time."),
    ("pause-or-retries", "the device completes nothing for 300 to 310 ms",
     "30 times the device completes nothing for 300 to 310 ms, while two requests or more wait: the device pauses, or tries a request "
     "again."),
])  # fmt: skip
def test_a_cause_is_told_in_words(cause: str, name: str, said: str) -> None:
    effect = {
        "cause": cause,
        "name": name,
        "occurrences": 30,
        "times_as_long": 2.0,
        "low": 1.9,
        "high": 2.1,
        "found": True,
        "phases": None,
        "filled_by": None,
    }
    about: Any = {"bursts": None, "effects": [effect], "fleet": None}
    assert causes.sentence(about) == said


def in_phases(path: Path, works: str) -> str:
    """Analyse 600 s of a disk that serves one at a time; process 7 works 20 s of each minute.

    `works` says what comes with it: `queue` are many requests, `night` are services that take three times as long for all.
    """
    random, asked = Random(5), []
    for minute in range(10):
        asked += [(60 * minute + random.uniform(0, 60), 1) for _ in range(900 if works == "queue" else 300)]
        asked += [(60 * minute + 20 + random.uniform(0, 20), 7) for _ in range(1200 if works == "queue" else 100)]
    asked.sort()
    free, rows = 0.0, []
    for at, pid in asked:
        ms = random.uniform(4, 12) * (3 if works == "night" and 20 <= at % 60 < 40 else 1)
        free = max(at, free if works == "queue" else 0.0) + ms / 1000
        rows.append((round(1e9 * at), round(1e9 * free), random.randrange(10**8), 8, "R", pid, f"p{pid}"))
    columns = ["arrival_ns", "finish_ns", "lba", "sectors", "op", "pid", "process"]
    kinds = [pl.UInt64, pl.UInt64, pl.UInt64, pl.UInt32, pl.String, pl.UInt32, pl.String]
    pl.DataFrame(rows, schema=dict(zip(columns, kinds, strict=True)), orient="row").write_parquet(path)
    return " ".join(headstack("trace", "analyze", path).out.split())


def test_who_fills_the_queue_is_named_with_all_that_it_does(tmp_path: Path) -> None:
    said = in_phases(tmp_path / "queue.parquet", "queue")
    assert re.search(
        r"p7 fills the queue: when it is at work, in (9|10) phases, others' reads take [\d.]+ ms in the geometric mean",
        said,
    )
    assert " ms outside them: " in said
    assert "% are its own; outside its phases they find " in said


def test_of_what_is_slow_while_a_process_works_only_the_time_fits(tmp_path: Path) -> None:
    said = in_phases(tmp_path / "night.parquet", "night")
    assert "Only the time fits: within its phases, reads beside one of its requests take " in said


@pytest.mark.parametrize(
    ("unknown", "told"), [(0, ""), (100, "come out a little too short"), (101, "may come out far too short")]
)
def test_responses_that_losses_left_unknown_are_told(unknown: int, told: str) -> None:
    loss = {"missing_cpus": [], "empty_cpus": [], "short_cpus": [], "lost_events": 0, "damaged_places": 0}
    about = {
        "loss": loss,
        "doubtful": 0,
        "without_queueing": unknown,
        "orphan_completions": 0,
        "pairs": 1000,
        "format": "ftrace",
    }
    said = "; ".join(losses.lost_words(about))
    assert said.endswith(told)
    assert bool(said) == bool(told)


def test_what_delays_no_read_is_not_laid_to_chance() -> None:
    effect = {
        "cause": "queue",
        "name": None,
        "occurrences": 30,
        "times_as_long": 0.89,
        "low": 0.86,
        "high": 0.93,
        "found": False,
        "withheld": None,
    }
    about: Any = {"bursts": None, "effects": [effect], "fleet": None}
    assert causes.sentence(about).endswith("reads take 0.89 times (0.86 to 0.93) as long, which delays none.")
    effect["high"] = 1.02
    assert causes.sentence(about).endswith("which chance explains.")


def test_devices_that_differ_are_a_cause() -> None:
    """ "No cause found." stood before "Device 3 stands out"."""
    effect = {
        "cause": "queue",
        "name": None,
        "occurrences": 30,
        "times_as_long": 1.01,
        "low": 0.9,
        "high": 1.1,
        "found": False,
        "withheld": None,
    }
    about: Any = {"bursts": None, "effects": [effect], "fleet": None}
    assert causes.sentence(about).startswith("No cause found. ")
    about["fleet"] = {"outlier": {"device": "3"}, "apart": None}
    assert causes.sentence(about).startswith("No cause found on any device by itself. When others are in the queue")


@pytest.mark.parametrize(("withheld", "why", "named"), [
    ("small", "which is more than chance explains, and not surely enough to be a cause.", "no: not surely enough"),
    ("arrivals", "a device that is slow for a while makes a queue, too.", "no: not where requests come close together"),
])  # fmt: skip
def test_what_is_more_than_chance_is_not_laid_to_it(withheld: str, why: str, named: str) -> None:
    effect = {"cause": "queue", "name": None, "occurrences": 30, "reads": 90, "reads_around": 80, "times_as_long": 2.13, "low": 1.75,
              "high": 2.58, "found": False, "withheld": withheld}  # fmt: skip
    about: Any = {"bursts": None, "effects": [effect], "fleet": None}
    assert "which chance explains" not in causes.sentence(about)
    assert causes.sentence(about).endswith(why)
    assert causes.rows(about)[0][-1] == named


def test_a_device_of_which_too_much_is_asked_is_told(tmp_path: Path) -> None:
    """Reads that take 10 ms, 125 a second: a device that is busy to the last was told as "no cause found"."""
    random, at, free, lines = Random(1), 0.0, 0.0, []
    for _ in range(4000):
        at += random.expovariate(125.0)
        free = max(at, free) + 0.01 * random.uniform(0.5, 1.5)
        lines.append(f"{at:.9f},R,{1000 * (free - at):.6f},{random.randrange(10**8)},8\n")
    trace = tmp_path / "busy.csv"
    trace.write_text("arrival_s,op,response_ms,lba,sectors\n" + "".join(lines))
    said = " ".join(headstack("trace", "analyze", trace).out.split())
    assert "The device does not keep up: for " in said
    assert "s something is outstanding, up to " in said
    assert "and responses grow from " in said
    assert "No cause found" not in said


def served(path: Path, slow_region: float, pause_ms: float) -> Path:
    """Write a trace of one server: reads of 2 % of the requests' region are slower, every 5 s it stands still."""
    random, at, free, next_pause = Random(4), 0.0, 0.0, 2_000.0
    rows = ["arrival_ms,lba,sectors,op,response_ms"]
    for _ in range(8_000):
        at += random.expovariate(0.08)
        slow = random.random() < 0.02
        lba = 604_000_000 + random.randrange(4_000_000) if slow else random.randrange(500_000_000)
        begin = max(at, free)
        while pause_ms and begin >= next_pause:
            begin, next_pause = max(begin, next_pause + pause_ms), next_pause + 5_000
        free = begin + random.lognormvariate(1, 0.6) * (slow_region if slow else 1)
        rows.append(f"{at:.3f},{lba},8,R,{free - at:.3f}")
    path.write_text("\n".join(rows))
    return path


def test_a_slow_region_and_a_device_that_pauses_are_named(tmp_path: Path) -> None:
    said = {}
    for name, region, pause_ms in [("region", 6, 0), ("pause", 1, 350), ("neither", 1, 0)]:
        trace = served(tmp_path / f"{name}.csv", region, pause_ms)
        said[name] = " ".join(headstack("trace", "analyze", trace).out.split())
    assert "Reads of LBA 60" in said["region"]
    assert "times the device completes nothing for" in said["pause"]
    assert "every 5.0 s" in said["pause"]
    for cause, name in [("Reads of LBA", "pause"), ("completes nothing", "region")]:
        assert cause not in said[name]
        assert cause not in said["neither"]
    assert "retries" not in said["neither"]


def test_a_simulated_drive_that_reads_again_is_said_to_retry(tmp_path: Path) -> None:
    job = tmp_path / "random.fio"
    job.write_text("[reads]\ndirect=1\nrw=randread\nbs=4k\niodepth=1\nthinktime=2000\nsize=100%\nnumber_ios=8000\n")
    said = {}
    for probability in ("0.01", "0"):
        rows = tmp_path / f"{probability}.parquet"
        retries = ["soft_errors.mean_revolutions=6", f"soft_errors.read_probability={probability}"]
        words = [word for setting in retries for word in ("--set", setting)]
        assert headstack("simulate", "nearline-18tb", "--workload", job, *words, "--out", rows).code == 0
        said[probability] = " ".join(headstack("trace", "analyze", rows).out.split())
    assert "single reads that wait for nobody take" in said["0.01"]
    assert "those before and after do not: retries look like this." in said["0.01"]
    assert "retries" not in said["0"]


def test_options_of_other_formats_are_refused(tick_trace: Path) -> None:
    assert "--iolog-unit is an option of the format fio-iolog" in refused(
        "trace", "analyze", tick_trace, "--iolog-unit", "ms"
    )
    assert "--time-scale" in refused("trace", "analyze", tick_trace, "--time-scale", "2")


def test_a_capture_of_what_is_no_device_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    assert "is not a block device" in refused("trace", "capture", "/dev/null", out)
    assert not out.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_loop_device_is_captured(tmp_path: Path) -> None:
    image, out = tmp_path / "image", tmp_path / "out.parquet"
    image.write_bytes(bytes(8 << 20))
    made = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr}")
    device = made.stdout.strip()
    command = [sys.executable, "-m", "headstack", "trace", "capture", device, str(out), "--json"]
    try:
        capturing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(4)
        reading = f"if={device} of=/dev/null bs=4k count=500 iflag=direct status=none"
        subprocess.run(["dd", *reading.split()], check=True)
        time.sleep(0.5)
        capturing.send_signal(signal.SIGINT)
        printed, complaint = capturing.communicate(timeout=60)
    finally:
        subprocess.run(["losetup", "-d", device], check=False)
    if "does not let the requests be traced" in complaint:
        pytest.skip(f"this kernel forbids tracing: {complaint}")
    assert capturing.returncode == 0, complaint
    about = json.loads(printed)
    assert (about["requests"], about["lost_events"], about["orphans"]) == (500, 0, 0)
    info = headstack("trace", "info", out, "--json").json()
    assert (info["requests"], info["reads"], info["bytes_read"]) == (500, 500, 500 * 4096)
    assert info["response_ms"]["p50"] > 0


IOSTAT = """Linux 6.1.0 (host) 	11/21/26 	_x86_64_	(2 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s  w_await  aqu-sz  %util
sda            900.00      1.00     0.00   0.00    9.00     4.00    0.00      0.00     0.00    9.00  99.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s  w_await  aqu-sz  %util
sda             10.00     40.00     0.00   0.00    2.00     4.00   30.00    120.00     4.00    0.14  20.00
"""


def test_reports_of_iostat(tmp_path: Path) -> None:
    reports = tmp_path / "iostat.txt"
    reports.write_text(IOSTAT)
    about = headstack("trace", "iostat", reports, "--json").json()
    [device] = about["devices"]
    assert about["first_left_out"]
    assert (device["device"], device["reports"]) == ("sda", 1)
    assert device["queue_by_little"] == pytest.approx(0.14)
    assert device["mean"]["utilisation_percent"] == 20
    shown = headstack("trace", "iostat", reports)
    assert "0.14" in shown.out
    assert "--with-first" in shown.err
    both = headstack("trace", "iostat", reports, "--with-first", "--json").json()
    assert both["devices"][0]["mean"]["reads_per_s"] == 455
    reports.write_text("Device tps\nsda 1\n")
    assert "iostat -x" in refused("trace", "iostat", reports)


def test_a_share_has_the_name_of_what_it_counts(tmp_path: Path) -> None:
    """Two streams that take turns: each request continues a run, and none begins where the one before ended."""
    path = tmp_path / "turns.trace"
    path.write_text("".join(f"{10 * n}.0 0 {8 * (n // 2) + 100_000 * (n % 2)} 8 1\n" for n in range(100)))
    assert "0.0 % begin where the one before ended" in headstack("trace", "info", path).out
    told = headstack("trace", "analyze", path, "--report", tmp_path / "page.html").out
    assert "98.0 % continue one of the last 32 runs of their device and direction" in " ".join(told.split())
    assert "sequential" not in told
    assert "continue a run" in (tmp_path / "page.html").read_text()
