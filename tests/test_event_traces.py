"""Traces of events in every verb: devices by name, parts of them, losses, conversion that keeps what they know."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import DATA, headstack, refused

if TYPE_CHECKING:
    from pathlib import Path

FTRACE = """\
 dd-7 [000] ..... 10.000000: block_rq_issue: 8,16 R 4096 () 8 + 8 [dd]
 dd-7 [000] ..... 10.002000: block_rq_complete: 8,16 R () 8 + 8 [0]
 db-9 [001] ..... 11.000000: block_rq_issue: 8,32 WS 4096 () 80 + 8 [db]
 db-9 [001] ..... 11.004000: block_rq_complete: 8,32 WS () 80 + 8 [0]
 db-9 [001] ..... 12.000000: block_rq_issue: 8,32 FF 0 () 0 + 0 [db]
 db-9 [001] ..... 12.005000: block_rq_complete: 8,32 FF () 0 + 0 [0]
 db-9 [001] ..... 13.000000: block_rq_issue: 8,32 R 4096 () 800 + 8 [db]
 db-9 [001] ..... 13.008000: block_rq_complete: 8,32 R () 800 + 8 [0]
"""


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "trace.txt"
    path.write_text(FTRACE)
    return path


def keks(folder: Path) -> Path:
    """A copy of the set that can be damaged."""
    source = DATA / "blktrace" / "keks"
    if not source.is_dir():
        pytest.skip(f"needs blktrace: set HEADSTACK_DATA to the directory of the real traces (now {DATA})")
    target = folder / "keks"
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    return target


@pytest.mark.parametrize("column", [{"process": ["dd", "db"]}, {"pid": [7, 9]}])
def test_a_table_that_names_processes_alone_is_one_of_processes(
    tmp_path: Path, column: dict[str, list[object]]
) -> None:
    rows = {"arrival_ns": [0, 1000], "lba": [8, 80], "sectors": [8, 8], "op": ["read", "write"], **column}
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    about = headstack("trace", "analyze", tmp_path / "t.parquet", "--json").json()
    assert [one["requests"] for one in about["by_process"]] == [1, 1]


def test_a_packed_trace_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    line = " dd-7 [000] ..... {at:.6f}: block_rq_{what} {lba} + 8 [{end}]\n"
    pairs = [
        line.format(at=10 + k / 1e3, what="issue: 8,16 R 4096 ()", lba=k * 7919 % 100_003, end="dd")
        + line.format(at=10 + k / 1e3 + 4e-4, what="complete: 8,16 R ()", lba=k * 7919 % 100_003, end=0)
        for k in range(4_000)
    ]
    packed = gzip.compress("".join(pairs).encode())
    path = tmp_path / "t.txt.gz"
    path.write_bytes(packed[: len(packed) // 2])
    assert "is cut or damaged" in headstack("trace", "match", path).err
    about = headstack("trace", "match", path, "--json").json()
    assert 1_500 < about["pairs"] < 2_500
    assert about["notes"]["bad_records"] >= 1
    assert "is cut or damaged" in refused("trace", "match", path, "--strict")
    # Also where nothing but the part looked at to recognise the format can be unpacked.
    path.write_bytes(packed[: len(packed) // 20])
    for verb in ("info", "analyze", "match"):
        assert "is cut or damaged" in headstack("trace", verb, path).err
        assert "is cut or damaged" in refused("trace", verb, path, "--strict")
    assert headstack("trace", "analyze", path, "--process", "dd", "--json").json()["requests"] > 100


@pytest.mark.parametrize(
    ("half", "words"),
    [("complete", "50 are completions, and none is a dispatch"), ("issue", "none is a completion; record those")],
)
def test_a_trace_of_one_half_says_what_to_record(tmp_path: Path, half: str, words: str) -> None:
    path = tmp_path / "t.txt"
    what = {"issue": "issue: 8,16 R 4096 ()", "complete": "complete: 8,16 R ()"}[half]
    lines = [f" dd-7 [000] ..... {10 + k / 1e3:.6f}: block_rq_{what} {k * 80} + 8 [dd]\n" for k in range(50)]
    path.write_text("".join(lines))
    done = headstack("trace", "analyze", path)
    assert words in " ".join(done.err.split())
    assert '"requests": 0' in headstack("trace", "analyze", path, "--json").out


def _records(requests: range, cpu: int, cpus: int) -> bytes:
    """What one of so many processors recorded of requests 1 ms apart: their queueing, dispatch and completion take turns on them."""
    out = []
    for k in requests:
        for step, (action, category) in enumerate(((1, 0x10), (7, 0x40), (8, 0x80))):
            if (k + step * (1 + k // 7)) % cpus == cpu:
                at = 1_000_000 * k + 100_000 * step
                fields = (
                    0x65617407,
                    len(out) + 1,
                    at,
                    8000 * k,
                    4096,
                    (category | 1) << 16 | action,
                    7,
                    8388624,
                    cpu,
                    0,
                    0,
                )
                out.append(struct.pack("<IIQQIIIIIHH", *fields))
    return b"".join(out)


def test_the_highest_processor_of_a_set_is_missed(tmp_path: Path) -> None:
    requests = range(1, 4001)
    for cpus in (4, 3):
        for cpu in range(cpus):
            (tmp_path / f"sdb.blktrace.{cpu}").write_bytes(_records(requests, cpu, 4))
        if cpus == 3:
            (tmp_path / "sdb.blktrace.3").unlink()
        out = " ".join(headstack("trace", "analyze", tmp_path).out.split())
        assert ("perhaps the file of the highest processor is missing" in out) == (cpus == 3)
    about = headstack("trace", "analyze", tmp_path, "--json").json()
    assert about["response_ms"]["max"] == about["response_ms"]["min"] == 0.2


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_converted_trace_keeps_kinds_processes_and_devices(events: Path, tmp_path: Path, name: str) -> None:
    written = headstack("trace", "convert", events, tmp_path / name, "--json").json()
    assert (written["requests"], written["others"]) == (3, 1)
    kept, own = (headstack("trace", "analyze", path, "--json").json() for path in (tmp_path / name, events))
    for key in ("requests", "reads", "flushes", "response_ms", "by_process", "by_kind", "by_device"):
        assert kept[key] == own[key], key
    assert {group["name"] for group in kept["by_process"]} == {"dd (7)", "db (9)"}
    part = headstack("trace", "analyze", tmp_path / name, "--device", "8,32", "--from", "2s", "--json").json()
    assert (part["requests"], part["flushes"]) == (1, 1)


EVENT_FORMATS = ("blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng")


@pytest.mark.parametrize("form", EVENT_FORMATS)
def test_events_that_were_converted_are_paired_as_before(tmp_path: Path, form: str) -> None:
    """One in ten was never dispatched, and of one in seven no queueing is known: what came before was taken for losses, or for known."""
    at = 1_000_000_000
    lines: list[tuple[int, str, int]] = []
    for k in range(3000):
        queued, sector = at + 3_000_000 * k + 1_700_000 * (k % 3), 8 * (k * 7919 % 300)
        dispatched, completed = queued + 100_000, queued + 2_000_000 + 1_000 * (k * 31 % 977)
        steps = [("Q", queued), ("D", dispatched), ("C", completed)]
        kept = [step for step in steps if not (step[0] == "D" and k % 10 == 3) and not (step[0] == "Q" and k % 7 == 2)]
        lines += [(time, action, sector) for action, time in kept]
    text = tmp_path / "t.txt"
    text.write_text(
        "".join(
            f"  8,0    0 {number:8d} {time // 10**9:5d}.{time % 10**9:09d}  1000  {action}   R {sector} + 8 [x]\n"
            for number, (time, action, sector) in enumerate(sorted(lines), 1)
        )
    )
    converted = tmp_path / f"t.{form}"
    headstack("trace", "convert", text, converted, "--as", form)
    before, after = (headstack("trace", "analyze", path, "--json").json() for path in (text, converted))
    assert 0 < before["without_queueing"] < before["pairs"]
    keys = ("requests", "response_ms", "pairs", "without_queueing")
    assert {key: after[key] for key in keys} == {key: before[key] for key in keys}
    assert after["doubtful"] == 0


@pytest.mark.parametrize("form", EVENT_FORMATS)
def test_a_real_trace_keeps_its_responses_in_each_format_of_events(tmp_path: Path, form: str) -> None:
    """201 of its requests have no dispatch: 313 requests and the slowest responses were gone."""
    source = DATA / "blktrace" / "hadoop_eternity2"
    if not source.exists():
        pytest.skip(f"{source} is absent")
    converted = tmp_path / f"t.{form}"
    headstack("trace", "convert", source, converted, "--as", form)
    found = headstack("trace", "analyze", converted, "--json").json()
    assert (found["requests"], found["doubtful"], found["response_ms"]["max"]) == (18312, 0, 26.220352)


def test_devices_are_chosen_by_name_and_listed_when_absent(events: Path, tmp_path: Path) -> None:
    for verb in ("info", "analyze"):
        about = headstack("trace", verb, events, "--device", "8,16", "--json").json()
        assert (about["requests"], about["reads"]) == (1, 1)
        words = refused("trace", verb, events, "--device", "8,48")
        assert "nothing of device 8,48" in words
        assert "8,16 8,32" in words
    assert "8,16 (1), 8,32 (2)" in headstack("trace", "info", events).out
    written = headstack("trace", "convert", events, tmp_path / "o.csv", "--device", "8,32", "--json").json()
    assert written["requests"] == 2
    assert "--device 8,16" in refused("simulate", "hp-97560", "--trace", events)
    for words in (("trace", "convert", events, tmp_path / "none.csv"), ("simulate", "hp-97560", "--trace", events)):
        assert "nothing of device 8,48" in refused(*words, "--device", "8,48")
    assert not (tmp_path / "none.csv").exists()


def test_flushes_and_discards_of_a_trace_are_simulated(tmp_path: Path) -> None:
    """A drive that keeps what it is told answers the flush when that is on the media; the read behind it waits."""
    path, kept = tmp_path / "trace.txt", tmp_path / "trace.parquet"
    path.write_text(
        " db-9 [001] ..... 10.000000: block_rq_issue: 8,32 W 4096 () 800 + 8 [db]\n"
        " db-9 [001] ..... 10.001000: block_rq_complete: 8,32 W () 800 + 8 [0]\n"
        " db-9 [001] ..... 10.100000: block_rq_issue: 8,32 FF 0 () 0 + 0 [db]\n"
        " db-9 [001] ..... 10.105000: block_rq_complete: 8,32 FF () 0 + 0 [0]\n"
        " db-9 [001] ..... 11.000000: block_rq_issue: 8,32 D 65536 () 4096 + 128 [db]\n"
        " db-9 [001] ..... 11.001000: block_rq_complete: 8,32 D () 4096 + 128 [0]\n"
    )
    headstack("trace", "convert", path, kept)
    policy = "write_policy={write-back={size_kib=64, idle_before_destage_ms=50000}}"
    rows = []
    for trace in (path, kept):
        out = tmp_path / f"{trace.stem}{trace.suffix}.run"
        headstack(
            "simulate", "hp-97560", "--trace", trace, "--device", "8,32", "--set", f"drive.*.{policy}", "--out", out
        )
        rows.append(pl.read_parquet(out).sort("id"))
    assert rows[0].equals(rows[1])
    assert rows[0].select("sectors", "flags").rows() == [(8, 0), (0, 32), (128, 512)]
    # A seek, or some of a revolution, to what the drive held.
    assert (rows[0]["finish_ns"] - rows[0]["arrival_ns"])[1] > 3e6
    assert headstack("trace", "info", kept, "--json").json()["requests"] == 1


def test_parts_are_chosen_before_events_are_paired(events: Path) -> None:
    def count(*options: str) -> tuple[int, int]:
        about = headstack("trace", "analyze", events, *options, "--json").json()
        return about["reads"], about["writes"]

    assert count("--op", "read") == (2, 0)
    assert count("--op", "write") == (0, 1)
    assert count("--process", "db") == (1, 1)
    assert count("--process", "7") == (1, 0)
    # A window that begins between dispatch and completion leaves an event alone, and makes no request of it.
    assert count("--from", "1.001") == (1, 0)
    assert "processes in it: db, dd" in refused("trace", "analyze", events, "--process", "cp")
    assert "there is none here" in refused("trace", "analyze", events, "--device", "8,16=0")


def test_lines_that_name_processes_choose_and_keep_them(tmp_path: Path) -> None:
    lines = tmp_path / "out.txt"
    lines.write_text(
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n"
        "0.000010    db             7      sda     W 2000       4096   0.005\n"
        "0.002000    Web Content    9      sda     R 16         512    1.000\n"
        "0.003000    Web Content    9      sda     R 64         512    1.000\n"
    )
    kept = tmp_path / "kept.parquet"
    assert headstack("trace", "convert", lines, kept).code == 0
    for trace in (lines, kept):
        shown = headstack("trace", "analyze", trace, "--json").json()
        assert {each["name"]: each["requests"] for each in shown["by_process"]} == {"db (7)": 1, "Web Content (9)": 2}
        for process in ("Web Content", "9"):
            chosen = headstack("simulate", "hp-97560", "--trace", trace, "--process", process, "--json").json()
            assert chosen["requests"] == 2
        assert "processes in it: Web Content, db" in refused(
            "simulate", "hp-97560", "--trace", trace, "--process", "cp"
        )


def test_a_trace_that_names_no_processes_has_none_to_choose(ascii_trace: Path) -> None:
    for verb in (
        ("trace", "info", ascii_trace),
        ("trace", "analyze", ascii_trace),
        ("simulate", "hp-97560", "--trace", ascii_trace),
    ):
        assert "names no processes" in refused(*verb, "--process", "7")


def test_a_cut_file_is_read_as_far_as_it_goes_unless_strict(tmp_path: Path) -> None:
    folder = keks(tmp_path)
    cut = folder / "keks.blktrace.1"
    cut.write_bytes(cut.read_bytes()[:-20])
    shown = headstack("trace", "info", folder)
    assert "1 records make no sense" in shown.err
    assert headstack("trace", "convert", folder, tmp_path / "t.csv", "--json").json()["notes"]["bad_records"] == 1
    first = (tmp_path / "t.csv").read_text().splitlines()[2]
    assert first.startswith("0,")
    for verb in (("info", folder), ("convert", folder, tmp_path / "s.csv")):
        assert "keks.blktrace.1" in refused("trace", *verb, "--strict")


def test_losses_are_said_and_left_out(tmp_path: Path) -> None:
    folder = keks(tmp_path)
    (folder / "keks.blktrace.6").write_bytes(b"")
    about = headstack("trace", "match", folder, "--json").json()
    assert about["loss"]["empty_cpus"] == [6]
    assert about["doubtful"] > 0
    as_btt = headstack("trace", "match", folder, "--pairing", "btt", "--json").json()
    assert as_btt["doubtful"] == 0
    assert as_btt["pairs"] > about["pairs"]
    assert "an empty file of processor 6" in headstack("trace", "match", folder).out
    analysed = headstack("trace", "analyze", folder, "--pairing", "btt", "--json")
    assert analysed.json()["pairing"] == "btt"
    assert "of events that do not belong together" in analysed.err
    assert headstack("trace", "analyze", folder, "--json").json()["pairing"] == "strict"
    page = tmp_path / "page.html"
    headstack("trace", "analyze", folder, "--report", page)
    assert "an empty file of processor 6" in page.read_text()


def blkparse_line(number: int, at_us: int, action: str, sector: int) -> str:
    name = "[0]" if action == "C" else "[db]"
    return f"8,0 0 {number} {at_us // 10**6}.{at_us % 10**6:06}000 7 {action} R {sector} + 8 {name}\n"


def lost_queueings(path: Path) -> Path:
    """Reads that wait for 9 ms and take 1; of every third the queueing is lost."""
    events = sorted(
        (10_000 * each + at, action, 64 * each)
        for each in range(600)
        for at, action in ((0, "Q"), (9_000, "D"), (10_000, "C"))
        if action != "Q" or each % 3 < 2
    )
    path.write_text("".join(blkparse_line(number, *event) for number, event in enumerate(events, 1)))
    return path


def test_a_response_that_is_not_known_is_told_by_no_verb_and_no_file(tmp_path: Path) -> None:
    trace = lost_queueings(tmp_path / "t.txt")
    about = headstack("trace", "analyze", trace, "--json").json()
    assert (about["without_queueing"], about["response_ms"]["mean"]) == (200, 10.0)
    traces = [trace]
    for name in ("t.parquet", "t.csv"):
        headstack("trace", "convert", trace, tmp_path / name)
        traces.append(tmp_path / name)
    for each in traces:
        told = headstack("trace", "info", each, "--json").json()
        assert (told["requests"], told["response_ms"]["min"], told["service_ms"]["mean"]) == (600, 10.0, 1.0), each
        assert headstack("trace", "analyze", each, "--json").json()["response_ms"]["count"] == 400, each
    for name in ("msr", "srt", "biosnoop", "fio-latency"):
        why = refused("trace", "convert", trace, tmp_path / "t.out", "--as", name, "--device", "8,0=0")
        assert "no measured response" in why, name
        assert not (tmp_path / "t.out").exists(), name


@pytest.mark.parametrize("start_us", [0, 5_000_000, 3_599_990_000, 7_200_000_000])
def test_a_bad_record_costs_no_other_on_a_clock_that_began_within_the_hour(tmp_path: Path, start_us: int) -> None:
    trace, table = tmp_path / "t.txt", tmp_path / "t.csv"
    events = [(start_us + 10_000 * each + at, action, 64 * each)
              for each in range(50) for at, action in ((0, "Q"), (9_000, "D"), (10_000, "C"))]  # fmt: skip
    lines = [blkparse_line(number, *event) for number, event in enumerate(events, 1)]
    lines.insert(75, "8,0 0 9999 6.xx0000000 7 Q R 99 + 8 [db]\n")
    trace.write_text("".join(lines))
    written = headstack("trace", "convert", trace, table, "--json").json()
    assert (written["requests"], written["notes"]["bad_records"]) == (50, 1)
    assert table.read_text().splitlines()[2].startswith("0,8388608,0,8,R,9000000,10000000")
    about = headstack("trace", "info", trace, "--json").json()
    assert about["span_s"] == 0.49
    part = headstack("trace", "convert", trace, table, "--from", "0.25", "--json").json()
    assert part["requests"] == 25


def test_biosnoop_that_counts_from_its_start_keeps_its_times(tmp_path: Path) -> None:
    trace = tmp_path / "bio.txt"
    lines = ["TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)"]
    lines += [f"{1 + each / 100:.6f} postgres 77 sda R {800 * each} 4096 0.5 2.0" for each in range(50)]
    trace.write_text("\n".join(lines) + "\n")
    about = headstack("trace", "analyze", trace, "--json").json()
    assert (about["span_s"], about["response_ms"]["mean"], about["service_ms"]["mean"]) == (0.49, 2.5, 2.0)


def test_halves_that_no_file_tells_of_are_shown_by_match(tmp_path: Path) -> None:
    trace, run = lost_queueings(tmp_path / "t.txt"), tmp_path / "run.blktrace.0"
    assert headstack("trace", "match", trace, "--json").json()["format"] == "blkparse"
    record = struct.Struct("<IIQQIIIIIHH")
    actions = {"Q": 1 << 20 | 1, "D": 1 << 22 | 7, "C": 1 << 23 | 8}
    lines = [line.split() for line in trace.read_text().splitlines()]
    run.write_bytes(b"".join(
        record.pack(0x65617407, number, int(line[3].replace(".", "")), int(line[7]), 4096, actions[line[5]] | 1 << 16,
                    7, 8 << 20, 0, 0, 0)
        for number, line in enumerate(lines, 1)
    ))  # fmt: skip
    assert "events of 200 requests" in headstack("trace", "match", run).out


def test_a_trace_of_halves_is_not_said_to_be_left_out_by_options(tmp_path: Path) -> None:
    trace = tmp_path / "t.txt"
    trace.write_text("".join(blkparse_line(n, 1000 * n, "QD"[n % 2], 8 * (n // 2)) for n in range(1, 9)))
    for verb in (("info", trace), ("convert", trace, tmp_path / "t.csv")):
        said = headstack("trace", *verb).err
        assert "holds no whole request" in said
        assert "options" not in said
    assert "nothing of the trace was chosen" in headstack("trace", "info", trace, "--op", "read").err


def test_options_that_shape_are_not_offered_by_verbs_that_look(events: Path) -> None:
    for verb in ("info", "analyze", "match", "make"):
        words = headstack("trace", verb, "--help").out
        assert "--time-scale" not in words
        assert "--pairing" in words
        assert "--device" in words
    assert refused("trace", "analyze", events, "--time-scale", "2")


def test_an_analysis_says_when_it_finds_no_cause(events: Path) -> None:
    assert "No cause found" in headstack("trace", "analyze", events).out


def test_a_trace_comes_from_standard_input(events: Path) -> None:
    with events.open("rb") as given:
        run = subprocess.run(
            [sys.executable, "-m", "headstack", "trace", "info", "-", "--json"],
            stdin=given, capture_output=True, check=True, timeout=60,
        )  # fmt: skip
    assert json.loads(run.stdout)["requests"] == 3
    piped = subprocess.run(
        [sys.executable, "-m", "headstack", "trace", "info", "-", "--json"],
        input=events.read_bytes(), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(piped.stdout)["requests"] == 3


def test_tables_are_read_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "volume.csv"
    path.write_text("7,R,8192,4096,1577808000000018\n7,W,0,512,1577808000000118\n")
    by_columns = headstack(
        "trace", "info", path, "--columns", "time:4:us,device:0,op:1,offset:2:bytes,size:3:bytes", "--json"
    ).json()
    by_name = headstack("trace", "info", path, "--format", "alibaba", "--json").json()
    for about in (by_columns, by_name):
        assert (about["requests"], about["reads"], about["bytes_read"]) == (2, 1, 4096)
    assert by_name["first_arrival_s"] == 0
    assert "needs a unit" in refused("trace", "info", path, "--columns", "time:4,op:1,offset:2,size:3")
    assert "`offset:2` needs a unit" in refused("trace", "info", path, "--columns", "time:4:us,op:1,offset:2,size:3")
    assert "says it again" in refused("trace", "info", path, "--format", "alibaba", "--columns", "op:1")
    assert "alibaba" in headstack("trace", "formats").out


@pytest.mark.parametrize("name", ["blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng"])
def test_events_are_written_with_flushes_and_processes(events: Path, tmp_path: Path, name: str) -> None:
    headstack("trace", "convert", events, tmp_path / "t", "--as", name)
    kept, own = (headstack("trace", "analyze", path, "--json").json() for path in (tmp_path / "t", events))
    for key in ("requests", "reads", "flushes", "by_process", "by_kind", "by_device"):
        assert kept[key] == own[key], key


def test_what_a_format_does_not_hold_is_told(events: Path, tmp_path: Path) -> None:
    for words in (("convert", events, tmp_path / "t.csv"), ("convert", events, tmp_path / "t", "--as", "biosnoop")):
        assert "left out, as it does not hold them: 1 flushes" in " ".join(headstack("trace", *words).out.split())
    said = " ".join(headstack("trace", "convert", events, tmp_path / "t.csv").out.split())
    assert "processes, merges, who waits" in said
    # Parquet holds them, but an option leaves the requests alone.
    said = " ".join(headstack("trace", "convert", events, tmp_path / "t.parquet", "--sort").out.split())
    assert "does not hold" not in said
    assert "as options that order or change requests (`--sort`, `--time-scale`, …) write these alone: 1 flushes" in said
    assert "left out" not in headstack("trace", "convert", events, tmp_path / "t.parquet").out
    table = headstack("trace", "convert", tmp_path / "t.csv", tmp_path / "again.csv", "--json").json()
    assert (table["requests_only"], table["names_changed"]) == (None, 0)
    joined = headstack("trace", "join", tmp_path / "j.parquet", events, events, "--clocks", "follow", "--json").json()
    assert (joined["requests"], joined["left_out"]) == (6, 2)


def test_matching_chooses_by_process_and_direction(events: Path) -> None:
    # The flush is written, too.
    for choice, pairs in (("--process", "dd"), 1), (("--op", "write"), 2):
        assert headstack("trace", "match", events, *choice, "--json").json()["pairs"] == pairs
    assert "are of what --op and --process choose" in headstack("trace", "match", events, "--op", "read").out


def test_responses_from_dispatch_on_are_said_to_be(events: Path) -> None:
    for verb in ("match", "analyze"):
        assert "from dispatch on" in headstack("trace", verb, events).out
        assert headstack("trace", verb, events, "--json").json()["responses_from"] == "dispatch"


@pytest.mark.parametrize("shift_ms", [0, -200])
def test_doubled_records_and_clocks_set_back_make_up_no_response(tmp_path: Path, shift_ms: int) -> None:
    """All took 0.2 ms; the second half of a processor's file comes again, or is stamped too early."""
    for cpu in range(4):
        records = _records(range(1, 4001), cpu, 4)
        half = len(records) // 96 * 48
        later = bytearray(records[half:])
        for at in range(0, len(later), 48):
            (stamp,) = struct.unpack_from("<Q", later, at + 8)
            struct.pack_into("<Q", later, at + 8, stamp + shift_ms * 1_000_000)
        damaged = records + later if shift_ms == 0 else records[:half] + later
        (tmp_path / f"sdb.blktrace.{cpu}").write_bytes(damaged if cpu == 1 else records)
    about = headstack("trace", "analyze", tmp_path, "--json").json()
    assert about["response_ms"]["max"] == about["response_ms"]["min"] == 0.2
    loss = about["loss"]
    told = (loss["doubled_records"] > 1000, loss["set_back_cpus"], loss["set_back_events"] > 1000)
    assert told == ((True, [], False) if shift_ms == 0 else (False, [1], True))


@pytest.mark.parametrize("each", [True, False])
def test_text_that_comes_twice_is_read_once_and_said_so(events: Path, tmp_path: Path, each: bool) -> None:
    once = headstack("trace", "analyze", events, "--json").json()
    twice = tmp_path / "twice.txt"
    twice.write_text("".join(2 * line for line in FTRACE.splitlines(keepends=True)) if each else 2 * FTRACE)
    told = headstack("trace", "analyze", twice, "--json").json()
    assert told["notes"].pop("doubled") == 8
    assert once["notes"].pop("doubled") == 0
    assert {key: value for key, value in told.items() if key != "trace"} == {
        key: value for key, value in once.items() if key != "trace"
    }
    for verb in (("analyze",), ("info",), ("convert", tmp_path / "out.csv")):
        said = " ".join(headstack("trace", verb[0], twice, *verb[1:]).err.split())
        assert "8 lines tell the same as one before" in said


def test_requests_of_no_length_are_told(tmp_path: Path) -> None:
    path = tmp_path / "zero.csv"
    rows = "".join(f"{k},0,{k * 8},{8 * (k % 5 > 0)},R\n" for k in range(50))
    path.write_text("arrival_ns,device,lba,sectors,op\n" + rows)
    assert "10 requests move nothing" in " ".join(headstack("trace", "analyze", path).err.split())
    assert headstack("trace", "analyze", path, "--json").json()["notes"]["without_length"] == 10
    mixed = refused(
        "trace", "info", path, "--columns", "time:arrival_ns:ns,offset:2:sectors,size:sectors:sectors,op:op"
    )
    assert "all by their places" in " ".join(mixed.split())


def test_a_model_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(bytes(range(128, 256)))
    assert "it is not text" in refused("trace", "make", tmp_path / "t.parquet", "--model", tmp_path / "m")


def _block_lines(repeats: int, command: str) -> str:
    """Reads of ever new places, and every 20 of them a command that nobody queues."""
    lines = []
    for k in range(repeats):
        at, sector = 0.01 * k, 1000 * k
        slow = 0.0095 if k % 500 == 400 else 0.001
        steps = [(0, "Q"), (0.00001, "D"), (slow, "C")]
        lines += [(at + after, f"{action} R {sector} + 8 [{0 if action == 'C' else 'dd'}]") for after, action in steps]
        if k % 20 == 0:
            lines += [(at + 0.0001, f"D R 512 {command}[smartctl]"), (at + 0.0009, f"C R {command}[0]")]
    lines.sort(key=lambda line: line[0])
    return "".join(f"8,16 0 {number} {at:.9f} 7 {rest}\n" for number, (at, rest) in enumerate(lines, 1))


@pytest.mark.parametrize("command", ["(85 08 2e 00 d0 00) ", ""])
def test_commands_that_are_passed_through_are_no_losses(tmp_path: Path, command: str) -> None:
    (tmp_path / "t").write_text(_block_lines(2000, command))
    about = headstack("trace", "analyze", tmp_path / "t", "--json").json()
    assert (about["doubtful"], about["without_queueing"], about["orphans"]) == (0, 0, 0)
    assert about["requests"] == 2000
    assert about["response_ms"]["max"] == pytest.approx(9.5)


def test_blkparse_of_several_devices_reads_back_without_losses(tmp_path: Path) -> None:
    text = _block_lines(300, "").splitlines()
    two = [
        line.replace("8,16 0", f"8,{16 * (1 + index // 3 % 2)} 0")
        for index, line in enumerate(text)
        if "R 512" not in line and "C R [" not in line
    ]
    (tmp_path / "t").write_text("\n".join(two) + "\n")
    headstack("trace", "convert", tmp_path / "t", tmp_path / "p.parquet")
    headstack("trace", "convert", tmp_path / "p.parquet", tmp_path / "b", "--as", "blkparse")
    back = headstack("trace", "analyze", tmp_path / "b", "--json").json()
    assert len(back["by_device"]) == 2
    assert back["loss"]["lost_events"] == 0


def test_a_latency_log_without_offsets_says_so(tmp_path: Path) -> None:
    log = tmp_path / "job_lat.1.log"
    log.write_text("".join(f"{10 * k}, {5_000_000 + k}, 0, 4096, {k % 2}\n" for k in range(1, 50)))
    assert "--log_offset=1" in refused("trace", "info", log)
    about = headstack("trace", "info", log, "--format", "fio-latency", "--json").json()
    assert about["footprint_sectors"] == 49 * 8
    log.write_text("".join(f"{10 * k}, 5000, 0, 4096\n" for k in range(1, 50)))
    words = ("trace", "info", log, "--format", "fio-latency", "--json")
    means = [headstack(*words, *unit).json()["response_ms"]["mean"] for unit in ((), ("--iolog-unit", "us"))]
    assert means == pytest.approx([0.005, 5])


def test_flushes_go_with_writes(events: Path) -> None:
    counted = [
        headstack("trace", "analyze", events, "--op", op, "--json").json()["flushes"] for op in ("read", "write")
    ]
    assert counted == [0, 1]


def test_a_file_of_the_set_that_is_read_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(_block_lines(30, ""))
    (tmp_path / "set").mkdir()
    headstack("trace", "convert", tmp_path / "t", tmp_path / "set" / "x.blktrace.0", "--as", "blktrace")
    words = ("--as", "blktrace")
    said = refused("trace", "convert", tmp_path / "set", tmp_path / "set" / "x.blktrace.1", *words)
    assert "would be a file of the set" in " ".join(said.split())
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["x.blktrace.0"]


def test_what_the_tracer_says_of_losses_is_told_as_its_word(tmp_path: Path) -> None:
    lines = [
        f"dd-7 [000] ..... {k / 100 + after:.6f}: block_rq_{name}: 8,16 R {size}() {8 * k} + 8 [dd]"
        for k in range(1, 40)
        for after, name, size in ((0, "issue", "4096 "), (0.001, "complete", ""))
    ]
    (tmp_path / "t").write_text("\n".join([*lines[:20], "CPU:0 [LOST 17 EVENTS]", *lines[20:]]) + "\n")
    said = " ".join(headstack("trace", "analyze", tmp_path / "t").out.split())
    assert "17 events as the tracer says" in said
