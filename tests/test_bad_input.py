"""Bad input gets one clear message, exit code 2, no traceback, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from conftest import ROOT, data_file, drive_file, headstack, refused
from headstack import Workload
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclopts import App


UNIX_LIKE = ("simulate", "hp-97560", "--workload", "unix-like")


def trace(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "bad.trace"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_truncated_srt(tmp_path: Path) -> None:
    cut = tmp_path / "cut.srt"
    cut.write_bytes(data_file("hp/ajw.1week.srt").read_bytes()[:100_001])
    message = refused("simulate", "hp-c2200a", "--trace", cut, "--device", "0")
    assert "cut.srt" in message
    assert "byte" in message


def test_the_wrong_format(ascii_trace: Path) -> None:
    message = refused("simulate", "hp-97560", "--trace", ascii_trace, "--format", "spc")
    assert "line 1" in message
    assert "hint: " in message
    assert "disksim-ascii" in message


def test_an_unknown_format(ascii_trace: Path) -> None:
    message = refused("simulate", "hp-97560", "--trace", ascii_trace, "--format", "srtt")
    assert "srtt" in message
    assert "known formats: " in message


def test_unsorted_arrivals(tmp_path: Path) -> None:
    bad = trace(tmp_path, "10.0 0 0 8 1", "20.0 0 8 8 1", "5.0 0 16 8 1")
    message = refused("simulate", "hp-97560", "--trace", bad)
    assert "line 3" in message
    assert "--sort" in message
    assert headstack("simulate", "hp-97560", "--trace", bad, "--sort", "--json").json()["requests"] == 3


def test_requests_past_the_end(tmp_path: Path) -> None:
    bad = trace(tmp_path, "10.0 0 0 8 1", "20.0 0 2647079 8 1")
    message = refused("simulate", "hp-97560", "--trace", bad)
    assert "2,647,080 sectors" in message
    assert "--fit-lba wrap" in message
    assert headstack("simulate", "hp-97560", "--trace", bad, "--fit-lba", "wrap", "--json").json()["requests"] == 2


def test_zero_length_requests(tmp_path: Path) -> None:
    bad = trace(tmp_path, "10.0 0 0 8 1", "20.0 0 8 0 1")
    message = refused("simulate", "hp-97560", "--trace", bad)
    assert "line 2" in message
    assert "--skip-zero-length" in message
    skipped = headstack("simulate", "hp-97560", "--trace", bad, "--skip-zero-length", "--json")
    assert skipped.json()["requests"] == 1


def test_an_unknown_key_shows_its_line(tmp_path: Path) -> None:
    bad = drive_file(tmp_path, ("rotation_rpm = 4002.0", "rotation_rpm = 4002.0\nrotation_speed = 3"))
    for message in (refused("drives", "show", bad), refused("simulate", bad, "--workload", "unix-like")):
        assert "rotation_speed" in message
        assert "line " in message
        assert "^^^" in message
        assert "drive.toml" in message


def test_a_value_of_the_wrong_type_shows_its_line(tmp_path: Path) -> None:
    bad = drive_file(tmp_path, ("heads = 19", 'heads = "many"'))
    message = refused("drives", "show", bad)
    assert "line " in message
    assert "^" in message


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("host.queue_limit=-1", "error: cannot set `host.queue_limit`: `-1` is less than 0"),
        ("host.queue_limit=1.5", "`1.5` is not a whole number"),
        ("host.queue_limit=many", '"many" is not a whole number'),
        ("cache.segments=5000000000", "`5000000000` is more than 4,294,967,295"),
        ("cache.zero_latency=1", "`1` is neither true nor false"),
        ("rotation_rpm=fast", '"fast" is not a number'),
        ("host.scheduler=3", "`3` is not text: it goes in quotes"),
        ("write_policy=write-back", "for example `{ write-back = {} }`"),
        ("write_policy=3", "it is none of the words that go there"),
    ],
)
def test_a_value_that_cannot_be_set_is_refused_in_words(given: str, said: str) -> None:
    message = refused("simulate", "hp-97560", "--workload", "random-read", "--requests", "5", "--set", given)
    assert said in message
    assert not re.search(r"u32|f64|invalid type|variant|\nin `", message)


@pytest.mark.parametrize(
    ("value", "said"),
    [("[4002]", "a list is not a number"), ("{}", "a table or a date is not a number"), ('"x"', '"x" is not a number')],
)
def test_a_value_of_another_kind_is_told_in_words_beside_its_line(tmp_path: Path, value: str, said: str) -> None:
    """The line was quoted with thousands apart, which are two numbers in TOML."""
    bad = drive_file(tmp_path, ("rotation_rpm = 4002.0", f"rotation_rpm = {value}"))
    message = refused("drives", "check", bad)
    assert said in message
    assert f"| rotation_rpm = {value}" in message
    assert "invalid type" not in message


def test_files_that_are_empty_or_no_text_are_told_so(tmp_path: Path) -> None:
    empty, binary = tmp_path / "w.toml", tmp_path / "d.toml"
    empty.write_text("")
    binary.write_bytes(b"PAR1\xff\xfe")
    assert "[[stream]]" in refused("simulate", "hp-97560", "--workload", empty)
    assert "it is not text" in refused("drives", "check", binary)


def test_contradictions_come_all_at_once(tmp_path: Path) -> None:
    zone = "[[layout.zone]]\nfirst_cylinder = 1900\nlast_cylinder = 1961\nsectors_per_track = 60\n\n[[layout.region]]"
    bad = drive_file(
        tmp_path,
        ("[[layout.region]]", zone),
        ("track_skew_sectors = 8.0", "track_skew_sectors = 80.0"),
        ("head_switch_ms = 1.6", "head_switch_ms = -1.6"),
    )
    message = refused("drives", "show", bad)
    assert "overlap" in message
    assert "track_skew_sectors" in message
    assert "head_switch_ms" in message


def test_drives_check_says_which_file_is_wrong(tmp_path: Path) -> None:
    bad = drive_file(tmp_path, ("head_switch_ms = 1.6", "head_switch_ms = -1.6"))
    outcome = headstack("drives", "check", "drives/hp-c2200a.toml", bad, "--json", cwd=Path(__file__).parent.parent)
    assert outcome.code == 2
    assert "head_switch_ms" in outcome.err
    assert '"ok": true' in outcome.out
    assert '"ok": false' in outcome.out


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "hp-97560", "--trace", "/nowhere/x.trace"),
        ("trace", "info", "/nowhere/x.trace"),
        ("validate", "hp-97560", "--trace", "/nowhere/x.trace"),
        ("drives", "show", "/nowhere/x.toml"),
        ("drives", "check", "/nowhere/x.toml"),
        ("simulate", "/nowhere/x.toml", "--workload", "unix-like"),
        ("simulate", "hp-97560", "--workload", "/nowhere/x.toml"),
        ("explain", "hp-97560", "--from", "/nowhere/x.parquet", "--id", "3"),
        ("study", "ruemmler-wilkes", "--data", "/nowhere"),
    ],
)
def test_a_missing_file_is_named(words: tuple[str, ...]) -> None:
    outcome = headstack(*words)
    assert outcome.code == 2
    assert "/nowhere" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("option", ["--out", "--report", "--save"])
def test_an_output_that_cannot_be_written_is_refused_before_the_run(option: str, tmp_path: Path) -> None:
    for where in (tmp_path / "no" / "x.html", tmp_path):
        message = refused("simulate", "hp-97560", "--workload", "overload-million", option, where)
        assert str(where) in message
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_nearly_right_are_suggested() -> None:
    assert "hp-97560" in refused("simulate", "hp-97650", "--workload", "unix-like")
    assert "unix-like" in refused("simulate", "hp-97560", "--workload", "unixlike")
    assert "ruemmler-wilkes" in refused("study", "ruemler")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "hp-97560"), "--workload"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--device", "0"), "--device"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--fit-lba", "wrap"), "--fit-lba"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--replay", "closed"), "replay"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--requests", "0"), "--requests"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--warmup", "soon"), "--warmup"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--scheduler", "magic"), "magic"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--set", "rotation_rpm"), "--set"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--set", "no.such=3"), "no"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--set", "rotation_rpm=-3"), "rotation_rpm"),
        (("simulate", "hp-97560", "--nonsense"), "--nonsense"),
        (("explain", "hp-97560"), "--lba"),
        (("explain", "hp-97560", "--lba", "5", "--id", "3"), "--id"),
        (("explain", "hp-97560", "--lba", "99999999"), "99,999,999"),
        (("dirves",), "dirves"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--scheduler", "stpf"), "did you mean `sptf`"),
        (("simulate", "", "--workload", "unix-like"), "the word after `simulate` is empty"),
        (("simulate", "hp-97560", "--workload", ""), "--workload is empty"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--scheduler", ""), "--scheduler is empty"),
        (("cost", "--design", ""), "--design is empty"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--requests", "9" * 25), "--requests cannot be"),
        (("trace", "info", __file__, "--format", "disksim-asci"), "did you mean `disksim-ascii`"),
    ],
)
def test_options_that_cannot_apply_are_refused(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)


def test_both_sources_of_requests_are_one_too_many(ascii_trace: Path) -> None:
    assert "--trace" in refused("simulate", "hp-97560", "--workload", "unix-like", "--trace", ascii_trace)
    assert "--column" in refused("trace", "info", ascii_trace, "--format", "disksim-ascii", "--column", "a=lba")
    assert "--time-scale" in refused("trace", "info", ascii_trace, "--time-scale", "2")


def test_a_trace_without_measured_times_cannot_validate(ascii_trace: Path) -> None:
    assert "measured" in refused("validate", "hp-97560", "--trace", ascii_trace)


def open_files(pid: int) -> list[str]:
    """What a process has open; without what it closes meanwhile."""
    found = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(descriptor.readlink()))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path) -> None:
    out, report = tmp_path / "run.parquet", tmp_path / "run.html"
    endless = tmp_path / "endless.toml"
    endless.write_text(
        "requests = 1_000_000_000\n[[stream]]\nread_fraction = 0.5\nsize.fixed_kib = 4\n"
        "inter_arrival.exponential_ms = 40\n"
    )
    command = [sys.executable, "-m", "headstack", "simulate", "hp-97560", "--workload", str(endless)]
    command += ["--out", str(out), "--report", str(report)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    # The file being written, which has no name yet, shows that the run is under way.
    while not any(str(tmp_path) in path for path in open_files(running.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    said_out, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert said == "error: interrupted; nothing was left half written\n"
    assert said_out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["endless.toml"]


def test_an_old_output_survives_a_failed_run(tmp_path: Path) -> None:
    out = tmp_path / "run.parquet"
    out.write_bytes(b"old")
    bad = trace(tmp_path, "10.0 0 0 8 1", "20.0 0 8 0 1")
    refused("simulate", "hp-97560", "--trace", bad, "--out", out)
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.trace", "run.parquet"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m headstack drives show nearline-18tb | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(os.geteuid() == 0 or shutil.which("chmod") is None, reason="root may write everywhere")
def test_a_directory_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "permission" in refused(
            "simulate", "hp-97560", "--workload", "unix-like", "--out", tmp_path / "x.parquet"
        )
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("verb", ["info", "analyze", "convert", "match", "make", "join"])
def test_a_trace_of_which_nothing_makes_sense(tmp_path: Path, verb: str) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("arrival_ms,lba,sectors,op,response_ms\nx,0,8,R,1\ny,8,8,R,1\n")
    second = shutil.copy(bad, tmp_path / "second.csv")  # one name twice is refused before it is read
    out = tmp_path / "out.parquet"
    more = {
        "convert": (bad, out),
        "make": (out, "--like", bad),
        "join": (out, bad, second, "--clocks", "same"),
        "analyze": (bad, "--report", tmp_path / "page.html"),
    }
    message = refused("trace", verb, *more.get(verb, (bad,)))
    if verb != "match":
        assert "line 2: `arrival` is `x`: not a number" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "second.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate",), "simulate needs SYSTEM"),
        (("validate", "hp-97560"), "validate needs --trace"),
        (("simulate", "hp-97560", "--requests"), "--requests needs a value"),
        (("simulate", "hp-97560", "-o"), "-o needs a value"),
        (("simulate", "hp-97560", "--requests", "ten"), "--requests `ten` is not a whole number"),
        (("simulate", "hp-97560", "--inter-arrival-ms", "ten"), "--inter-arrival-ms `ten` is not a number"),
        (("schedulers", "here"), "schedulers takes no argument; `here` given"),
        (("validate", "hp-97560", "--trace", "x", "--requests", "-2"), "--requests -2 leaves nothing to do"),
        (("validate", "hp-97560", "--trace", "x", "--fit-share", "2"), "add `--phase-lock`"),
        (("explore", "x", "--candidates", "y", "--threads", "-2"), "--threads -2 leaves nothing to do"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--save", "a.parquet"), "--out writes completions"),
        (("measure", "hp-97560", "skippy"), "did you mean `sim:hp-97560`"),
        (("measure", "scan", "sim:hp-97560"), "`headstack measure sim:hp-97560 scan`"),
        (("measure", "skippy"), "`headstack measure DEVICE skippy`"),
        (("trace", "info", "a.txt", "b.txt"), "`headstack trace join` makes one of several traces"),
        (("simulate", "hp-97560", "--set", "spindle.rpm=5400"), "did you mean `rotation_rpm`?"),
        (
            ("simulate", "nearline-22tb", "--set", "drive.*.controller.duration_limits=[{colour=50}]"),
            "known: limit_ms,",
        ),
        (("simulate", "hp-97560", "--set", "cache.segmentation=lru"), "hint: known: fixed, adaptive"),
        (("simulate", "hp-97560", "--set", "cache.read_ahead=bogus"), "hint: known: none, to-track-end, "),
    ],
)
def test_what_is_missing_or_too_much_is_said_as_it_is_typed(words: tuple[str, ...], said: str) -> None:
    message = refused(*words)
    assert said in message
    assert "internal error" not in message


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("deep.json", '{"response_ms": ' + DEEP, ("compare", "FILE", "FILE")),
        ("part.json", '{"response_ms": {}, "phases_ms": {}}', ("compare", "FILE", "FILE")),
        ("deep.toml", "a = " + DEEP, ("sweep", "FILE", "--out", "OUT")),
        ("dots.toml", ".".join("a" * 100_000) + " = 1", ("sweep", "FILE", "--out", "OUT")),
        ("dots.toml", "x = { " + ".".join(['"a"'] * 100_000) + " = 1 }", ("sweep", "FILE", "--out", "OUT")),
        ("kinds.toml", 'summary = nan\n[base]\nsystem = "hp-97560"', ("sweep", "FILE", "--out", "OUT")),
        (
            "kinds.toml",
            '[base]\nsystem = "hp-97560"\nworkload = "unix-like"\nrequests = true\n[[axis]]\npath = "rotation_rpm"\nvalues = [4002]',
            ("sweep", "FILE", "--out", "OUT"),
        ),
    ],
)
def test_files_of_absurd_shapes_are_refused(tmp_path: Path, name: str, text: str, words: tuple[str, ...]) -> None:
    file = tmp_path / name
    file.write_text(text)
    message = refused(
        *(str(file) if word == "FILE" else str(tmp_path / word) if word == "OUT" else word for word in words)
    )
    assert name in message or "summary" in message or "requests" in message


def test_a_long_line_is_not_quoted_whole(tmp_path: Path) -> None:
    file = tmp_path / "long.trace"
    file.write_text("x" * 1_000_000 + "\n")
    assert len(refused("simulate", "x" * 100_000, "--workload", "unix-like")) < 5000
    assert len(refused("trace", "info", file)) < 5000


def test_a_name_that_is_not_text() -> None:
    command = [sys.executable.encode(), b"-m", b"headstack", b"drives", b"show", b"\xff\xfe"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2, done
    assert b"internal" not in done.stderr


def whole_numbers() -> list[tuple[tuple[str, ...], str]]:
    """Every option of every verb that takes a whole number, as the parser knows them."""
    from headstack.cli import command_line

    def walk(app: App, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
        if app.default_command is not None:
            for each in app.assemble_argument_collection():
                hints = {
                    each.hint,
                    *get_args(each.hint),
                    *(part for hint in get_args(each.hint) for part in get_args(hint)),
                }
                if int in hints and each.names and each.names[0].startswith("--"):
                    yield names, each.names[0]
        for name in app:
            if not name.startswith("-"):
                yield from walk(app[name], (*names, name))

    return list(walk(command_line(), ()))


def test_a_fraction_is_no_whole_number(capsys: pytest.CaptureFixture[str]) -> None:
    from headstack.cli import main

    options = whole_numbers()
    assert len(options) > 30
    assert {verb for verb, _ in options} >= {
        ("explain",),
        ("simulate",),
        ("measure",),
        ("trace", "make"),
        ("calibrate",),
    }
    for verb, option in options:
        given, said = list(verb), " needs nothing"
        # What is missing is told first.
        while lacking := re.search(r" needs ([\w-]+)", said):
            given += [] if lacking[1] == "nothing" else [lacking[1], "a"] if lacking[1].startswith("--") else ["a"]
            assert main([*given, f"{option}=6.9"]) == 2
            said = capsys.readouterr().err
        assert f"{option} `6.9` is not a whole number" in said, (verb, option)


def test_a_sector_may_be_given_in_hexadecimal() -> None:
    told = headstack("explain", "hp-97560", "--lba", "0x10", "--json").json()
    assert told["requests"][0]["lba"] == 16


@pytest.mark.parametrize("words", [("--out", "d/"), ("--report=./d//",), ("--out", "a=d/")])
def test_a_file_that_is_named_as_a_folder_is_refused(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was written beside where it was meant to be: `d` for `d/`."""
    monkeypatch.chdir(tmp_path)
    message = refused("simulate", "hp-97560", "--workload", "unix-like", "--requests", "1", *words)
    assert "there is no such folder" in message
    assert list(tmp_path.iterdir()) == []


def test_an_empty_description_is_told_how_one_begins(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    said = refused("simulate", empty, "--workload", "unix-like")
    assert "missing field `name`" in said
    assert "a drive or system file begins with `name = …`" in said


def test_one_kind_beside_another_is_told_to_be_replaced_as_a_whole() -> None:
    with pytest.raises(InputError) as problem:
        Workload("unix-like", overrides={"stream.0.inter_arrival.exponential_ms": 4})
    assert "there is one of another kind already, and only one can be" in str(problem.value)
    assert problem.value.hint == "replace the whole: stream.0.inter_arrival={ exponential_ms = … }"


@pytest.mark.parametrize(
    ("words", "said", "allowed"),
    [
        (("simulate", "hp-97560", "--trace", ""), "--trace is empty", "give a value, or leave it out"),
        (("simulate", "hp-97560", "--trace="), "--trace is empty", "give a value, or leave it out"),
        (("compare", "a.parquet", "b.parquet", "--seed", "-1"), "`compare` does not take `seed=-1`", "at least 0"),
        (("drives", "show", ""), "the word after `show` is empty", "give a value"),
        ((*UNIX_LIKE, "--set", "x="), "--set `x=` has no value after the `=`", "name=value: `--set x=VALUE`"),
        ((*UNIX_LIKE, "--set", "=5"), "--set `=5` has no name before the `=`", "name=value"),
        ((*UNIX_LIKE, "--set", "x"), "--set `x` has no `=`", "name=value"),
        ((*UNIX_LIKE, "--set", "rotation_rpm=nan"), "`rotation_rpm`: NaN", "a number from 60 to 1,000,000"),
        ((*UNIX_LIKE, "--out", "{folder}"), "it is a directory", "name a file in it: `{folder}/NAME`"),
        (("measure", "sim:hp-97560", "stream", "--repeats", "0"), "--repeats 0 leaves nothing to do", "at least 1"),
        (("measure", "sim:hp-97560", "stream", "--within", "-1s"), "--within cannot be `-1s`", "--help"),
        (
            ("measure", "sim:hp-97560", "stream", "--file-mb", "8,1e30"),
            "--file-mb: `1e30`",
            "0.001 to 1,000,000,000 MB",
        ),
    ],
)
def test_what_is_empty_or_out_of_range_is_named_with_what_is_allowed(
    words: tuple[str, ...], said: str, allowed: str, tmp_path: Path
) -> None:
    """An empty path was taken for the folder we are in, and `--repeats 0` for an argument of `plan`."""
    message = refused(*(word.format(folder=tmp_path) for word in words))
    assert said in message
    assert allowed.format(folder=tmp_path) in message
    assert not list(tmp_path.iterdir())


def test_a_pipe_by_name_is_said_to_wait_for_a_reader(tmp_path: Path) -> None:
    """A pipe that nobody read made a run wait without a word."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    page = tmp_path / "page.html"
    with page.open("wb") as copy, subprocess.Popen(["cat", str(pipe)], stdout=copy) as reader:
        done = headstack(*UNIX_LIKE, "--requests", "20", "--report", pipe)
        assert reader.wait(timeout=60) == 0
    assert page.read_bytes().startswith(b"<!")
    assert done.code == 0
    assert f"`{pipe}` is a pipe: it is written once somebody reads it" in done.err


def test_a_page_by_the_name_of_another_file_is_refused(tmp_path: Path) -> None:
    """HTML was written as `f.parquet`, whereas `--out f.html` was refused."""
    run = tmp_path / "run.parquet"
    assert headstack(*UNIX_LIKE, "--requests", "20", "--out", run).code == 0
    for words in ((*UNIX_LIKE, "--requests", "20"), ("trace", "analyze", run)):
        said = refused(*words, "--report", tmp_path / "f.parquet")
        assert "would be an HTML page by the name of another" in said
        assert "`f.html`" in said
    assert not (tmp_path / "f.parquet").exists()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ((*UNIX_LIKE, "-r", "f"), "--report"),
        (("validate", "hp-97560", "--trace", "f", "-s", "f"), "--set"),
        ((*UNIX_LIKE, "-j"), "--json"),
        ((*UNIX_LIKE, "-z"), None),
    ],
)
def test_a_letter_is_the_option_that_begins_with_it(words: tuple[str, ...], meant: str | None) -> None:
    """Not the nearest of all words."""
    said = refused(*words)
    assert (f"Did you mean `{meant}`?" in said) if meant else ("Did you mean" not in said)


def test_a_folder_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    table = tmp_path / "trace.csv"
    table.write_text("arrival_s,op,lba,sectors\n0.0,R,0,8\n")
    absent = tmp_path / "no"
    for words in (
        (*UNIX_LIKE, "--requests", "20", "--out", absent / "f.parquet"),
        (*UNIX_LIKE, "--requests", "20", "--report", absent / "f.html"),
        ("trace", "convert", table, absent / "f.csv"),
    ):
        said = refused(*words)
        assert f"there is no folder `{absent}`" in said
        assert f"make it (`mkdir -p {absent}`)" in said


def test_a_number_with_separators_is_shown_without() -> None:
    """All that is printed has them, and nothing takes them."""
    assert "write it without separators: `290330`" in refused("explain", "hp-97560", "--lba", "290,330")
    assert "of device 123456" in refused(
        "simulate", "hp-97560", "--trace", ROOT / "examples/sample.csv", "--device", "123456"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("inter_arrival.exponential_ms = 1e308", "`stream.0.inter_arrival`: 1e308 ms is more than"),
        ("inter_arrival.exponential_ms = -1", "`stream.0.inter_arrival`: -1 is not a finite number of 0 or more"),
        ("read_fraction = 1e308", "`stream.0.read_fraction`: 1e308 is not between 0 and 1"),
        ("requests = 1e3", "`1e3` is not a whole number"),
    ],
)
def test_numbers_of_a_workload_file_are_named_as_they_are_typed(tmp_path: Path, line: str, said: str) -> None:
    """1e308 was told in 309 digits, 1e3 as 1000.0."""
    key = re.escape(line.partition(" =")[0])
    text = re.sub(rf"^{key} =.*", line, (ROOT / "workloads/thesis-4ms.toml").read_text(), flags=re.MULTILINE)
    (tmp_path / "w.toml").write_text(text)
    told = refused("simulate", "hp-97560", "--workload", tmp_path / "w.toml", "--requests", "5")
    assert said in told
    assert not re.search(r"(?:,000){5}", told)
