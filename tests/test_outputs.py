"""Outputs harm nothing: no device, pipe or link, no input, no other output, no permission; and they appear together."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import headstack, refused

SAMPLE = Path(__file__).parent.parent / "examples" / "sample.csv"
RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "50")
# Half a second on an idle machine.
SOON_S = 6.0
ENDLESS = """
requests = 1_000_000_000
[[stream]]
read_fraction = 0.5
size.fixed_kib = 4
inter_arrival.exponential_ms = 40
"""
# Draws a page that takes long, in compiled code that asks nobody whether to go on.
SLOW_PAGE = """
import sys, time
import headstack.report.page as page
from headstack.__main__ import main
def slow(_page):
    print("drawing", file=sys.stderr, flush=True)
    sum(range(10**11))
page.Page.html = slow
sys.exit(main())
"""


@pytest.fixture
def null(tmp_path: Path) -> Path:
    """A device node like /dev/null, of our own."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_text("works")
    except OSError as problem:
        pytest.skip(f"no device nodes here: {problem}")
    return path


def outputs(trace: Path) -> list[tuple[str | Path, ...]]:
    """Commands that write a file, without its name."""
    return [
        (*RUN, "--out"),
        (*RUN, "--report"),
        (*RUN, "--save"),
        ("simulate", "uda50-ra81", "--workload", "time-shared", "--requests", "50", "--driver-out"),
        ("explain", "hp-97560", "--lba", "5", "--report"),
        ("trace", "convert", trace, "--as", "csv", "--out"),
        ("trace", "make", "--like", trace, "--requests", "20", "--save-model"),
        ("trace", "make", "--like", trace, "--requests", "20", "--as", "csv", "--out"),
        ("measure", "mock:", "skippy", "--report"),
        ("measure", "mock:", "skippy", "--save"),
    ]


def test_a_device_stays_a_device(null: Path, ascii_trace: Path) -> None:
    for words in outputs(ascii_trace):
        outcome = headstack(*words, null)
        assert stat.S_ISCHR(null.lstat().st_mode), words
        assert outcome.code in {0, 1, 2, 3}, outcome
        assert "internal error" not in outcome.err, words
    assert sorted(path.name for path in null.parent.iterdir()) == ["null", "small.trace"]


@pytest.mark.parametrize("option", ["--out", "--report", "--save"])
def test_a_pipe_gets_the_bytes_and_stays_a_pipe(option: str, tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert headstack(*RUN, option, pipe).code == 0
    reader.join(10)
    assert pipe.is_fifo()
    assert headstack(*RUN, option, file).code == 0
    if option != "--report":
        assert read == [file.read_bytes()]
    else:
        # The page says when it was drawn.
        assert abs(len(read[0]) - file.stat().st_size) < 100


@pytest.mark.parametrize("option", ["--out", "--report", "--save"])
def test_a_link_stays_a_link(option: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    link.symlink_to("elsewhere/real")
    for _ in ("new", "replaced"):
        assert headstack(*RUN, option, link).code == 0
        assert link.is_symlink()
        assert real.stat().st_size > 100
    assert [path.name for path in real.parent.iterdir()] == ["real"]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    for option in ("--out", "--report", "--save"):
        secret = tmp_path / option
        secret.write_text("old")
        secret.chmod(0o600)
        assert headstack(*RUN, option, secret).code == 0
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        assert secret.stat().st_size > 100


def test_standard_output_takes_a_file_and_what_is_printed(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w") as stdout:
        command = [sys.executable, "-m", "headstack", *RUN, "--save", "/dev/stdout", "--json"]
        assert subprocess.run(command, stdout=stdout, check=False).returncode == 0
    text = said.read_text()
    assert 'name = "HP 97560"' in text
    assert '"response_ms"' in text


def test_what_is_said_stands_in_no_file_that_is_standard_output(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    words = ("trace", "convert", SAMPLE)
    assert headstack(*words, other).code == 0
    for out in ("/dev/stdout", "/dev/fd/1"):
        command = [sys.executable, "-m", "headstack", *map(str, words), out, "--as", "csv"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, other.read_text())
        assert f"{out}: 1,000 requests" in done.stderr
        # Who names a form of what is printed wants both.
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
        assert '"requests": 1000' in done.stdout


def test_a_dash_is_nothing_to_write() -> None:
    told = refused("trace", "convert", SAMPLE, "-", "--as", "csv")
    assert "`-` is standard input" in told
    assert "/dev/stdout" in told


def test_an_output_that_is_read_is_refused(tmp_path: Path, ascii_trace: Path) -> None:
    parquet, drive = tmp_path / "b.parquet", tmp_path / "drive.toml"
    assert headstack("trace", "convert", ascii_trace, parquet).code == 0
    assert headstack(*RUN, "--save", drive).code == 0
    (tmp_path / "soft.parquet").symlink_to("b.parquet")
    (tmp_path / "hard.parquet").hardlink_to(parquet)
    before = {path: path.read_bytes() for path in (parquet, drive)}
    for words in (
        ("trace", "convert", parquet, parquet),
        ("trace", "convert", parquet, tmp_path / "soft.parquet"),
        ("trace", "convert", parquet, tmp_path / "hard.parquet"),
        ("trace", "convert", parquet, tmp_path / ".." / tmp_path.name / "b.parquet"),
        ("simulate", "hp-97560", "--trace", parquet, "--out", parquet),
        ("simulate", drive, "--workload", "unix-like", "--report", drive),
        ("simulate", drive, "--workload", "unix-like", "--save", drive),
        ("explain", drive, "--lba", "3", "--report", drive),
        ("trace", "make", parquet, "--like", parquet),
        ("measure", f"sim:{drive}", "skippy", "--save", drive),
    ):
        assert "would replace what is read" in refused(*words), words
    assert before == {path: path.read_bytes() for path in before}


def test_two_outputs_in_one_file_are_refused(tmp_path: Path) -> None:
    one = tmp_path / "one"
    (tmp_path / "link").symlink_to("one")
    for other in (one, tmp_path / "link", tmp_path / ".." / tmp_path.name / "one"):
        message = refused(*RUN, "--out", one, "--report", other)
        assert "--out" in message
        assert "--report" in message
    assert not one.exists()


def test_the_api_refuses_its_input_as_output(ascii_trace: Path) -> None:
    import headstack as api

    before = ascii_trace.read_bytes()
    trace = api.Trace(ascii_trace)
    with pytest.raises(api.InputError, match="would replace"):
        trace.convert(ascii_trace, format="csv")
    with pytest.raises(api.InputError, match="would replace"):
        api.simulate("hp-97560", trace, out=ascii_trace)
    assert ascii_trace.read_bytes() == before


def started(tmp_path: Path, *words: str | Path) -> subprocess.Popen[str]:
    endless = tmp_path / "endless.toml"
    endless.write_text(ENDLESS)
    command = [sys.executable, "-m", "headstack", "simulate", "hp-97560", "--workload", endless, *words]
    return subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGINT, "error: interrupted; nothing was left half written\n"),
        (signal.SIGTERM, "error: terminated; nothing was left half written\n"),
        (signal.SIGHUP, "error: hung up; nothing was left half written\n"),
        (signal.SIGKILL, ""),
    ],
)
def test_whatever_ends_a_run_leaves_the_old_files(number: signal.Signals, said: str, tmp_path: Path) -> None:
    out, report = tmp_path / "run.parquet", tmp_path / "run.html"
    for path in (out, report):
        path.write_text("old")
    running = started(tmp_path, "--out", out, "--report", report)
    time.sleep(1.5)
    assert running.poll() is None
    running.send_signal(number)
    sent = time.monotonic()
    assert running.communicate(timeout=20)[1] == said
    assert time.monotonic() - sent < SOON_S
    assert running.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.toml", "run.html", "run.parquet"]
    assert (out.read_text(), report.read_text()) == ("old", "old")


@pytest.mark.parametrize(
    ("number", "word"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"), (signal.SIGHUP, "hung up")],
)
def test_a_measurement_says_which_signal_ended_it_and_how_to_go_on(
    number: signal.Signals, word: str, tmp_path: Path
) -> None:
    record = tmp_path / "r.parquet"
    command = [sys.executable, "-m", "headstack", "measure", "sim:archive-8tb", "--record", str(record)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline().startswith("measuring ")
    running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    assert f"error: {word}\n" in said
    assert "--resume` (and the same other options)" in said
    assert running.returncode == 128 + number


def test_ctrl_c_while_a_page_is_drawn_ends_at_once_and_keeps_the_old_files(tmp_path: Path) -> None:
    out, report = tmp_path / "run.parquet", tmp_path / "run.html"
    for path in (out, report):
        path.write_text("old")
    command = [sys.executable, "-c", SLOW_PAGE, *RUN, "--out", str(out), "--report", str(report)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline() == "drawing\n"
    running.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert running.communicate(timeout=60)[1] == "error: interrupted; nothing was left half written\n"
    assert time.monotonic() - sent < SOON_S
    assert running.returncode == 130
    assert (out.read_text(), report.read_text()) == ("old", "old")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    command = f"trap '' HUP; exec {sys.executable} -m headstack {' '.join(RUN)} --out {tmp_path / 'x.parquet'}"
    running = subprocess.Popen(["/bin/sh", "-c", command], stdout=subprocess.DEVNULL)
    for _ in range(20):
        time.sleep(0.02)
        running.send_signal(signal.SIGHUP)
    assert running.wait(60) == 0


def test_a_pipe_that_nobody_reads_can_be_given_up(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "headstack", *RUN, "--out", str(pipe)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    assert "interrupted" in running.communicate(timeout=5)[1]
    assert running.returncode == 130


def test_what_a_killed_run_left_is_named(tmp_path: Path) -> None:
    left = tmp_path / ".run.parquet.4194999-0.tmp"
    left.write_text("half")
    outcome = headstack(*RUN, "--out", tmp_path / "run.parquet")
    assert outcome.code == 0
    assert f"warning: `{left}` was left by a run that was killed" in outcome.err
    assert left.exists()


def test_closed_streams_end_nothing(tmp_path: Path) -> None:
    command = f"{sys.executable} -m headstack {' '.join(RUN)} --out {tmp_path / 'x.parquet'}"
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"):
        done = subprocess.run(["/bin/sh", "-c", f"{command} {closed}"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (closed, done.stderr)
        assert "Traceback" not in done.stderr
        assert (tmp_path / "x.parquet").stat().st_size > 1000
        assert (tmp_path / "x.parquet").read_bytes().startswith(b"PAR1")
        (tmp_path / "x.parquet").unlink()


def test_a_full_standard_output_is_told() -> None:
    for words in (RUN, (*RUN, "--json"), ("drives", "list")):
        command = f"{sys.executable} -m headstack {' '.join(words)} >/dev/full"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr == "error: cannot write to stdout: No space left on device\n"


def unread(*words: str | Path) -> tuple[int, str]:
    """Run a command whose output nobody reads any more, as behind `| head -1`: its exit code, and what it said."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "headstack", *map(str, words)]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_reader_that_goes_away_costs_no_file(form: tuple[str, ...], tmp_path: Path) -> None:
    page, drive, run = (tmp_path / name for name in ("page.html", "drive.toml", "run.parquet"))
    for words, files in (
        ((*RUN, "--out", run, "--save", drive), (run, drive)),
        (("measure", "mock:", "skippy", "--report", page), (page,)),
        (("compare", run, run, "--report", page), (page,)),
    ):
        code, said = unread(*words, *form)
        assert code == 0, said
        for path in files:
            assert path.stat().st_size > 100, words
            assert f"wrote {path}" in said
        for path in {drive, page} & set(files):
            path.unlink()


def test_a_reader_that_goes_away_ends_what_is_written_to_it(tmp_path: Path) -> None:
    trace = tmp_path / "long.csv"
    lines = "".join(f"{k}000,0,{k % 999 * 8},8,R\n" for k in range(100_000))
    trace.write_text("arrival_ns,device,lba,sectors,op\n" + lines)
    assert unread("trace", "convert", trace, "/dev/stdout", "--as", "csv") == (0, "")


def test_a_reader_that_goes_away_hides_no_broken_limit(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("run.parquet", "slow.parquet")]
    for path, rpm in zip(runs, (4002, 2001), strict=True):
        outcome = headstack(*RUN, "--out", path, "--set", f"rotation_rpm={rpm}")
        assert outcome.code == 0, outcome
    code, said = unread("compare", *runs, "--fail-if", "p99 > 5")
    assert code == 1, said
    assert "limit broken: p99 > 5" in said


def test_help_may_be_left_unread() -> None:
    assert unread("simulate", "--help") == (0, "")


def test_a_trace_may_come_out_of_a_pipe(ascii_trace: Path) -> None:
    for how in (f"cat {ascii_trace} |", f"< {ascii_trace}"):
        words = "simulate hp-97560 --trace /dev/stdin --json"
        command = f"{how} {sys.executable} -m headstack {words}"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert '"requests": 500' in done.stdout


def test_a_record_is_kept_whatever_comes_after(tmp_path: Path) -> None:
    record, page, drive = tmp_path / "r.parquet", tmp_path / "page.html", tmp_path / "drive.toml"
    words = ["measure", "mock:", "skippy", "--record", str(record), "--report", str(page)]
    outcome = headstack(*words, "--save", drive)
    assert outcome.code == 2
    assert f"`{drive}` was not written" in outcome.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "r.parquet"]
    for path in (record, page):
        path.unlink()
    running = subprocess.Popen([sys.executable, "-c", SLOW_PAGE, *words], stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    while running.stderr.readline() != "drawing\n":
        pass
    running.send_signal(signal.SIGINT)
    assert "interrupted" in running.communicate(timeout=60)[1]
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]
    assert "accesses" in headstack("measure", "--from", record).out


# Swallows whatever is raised in it, as some libraries do with what their callbacks raise.
SWALLOWING = """
import sys, time
import headstack.report.page as page
from headstack.__main__ import main
def swallowing(_page):
    print("drawing", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    except BaseException:
        pass
    time.sleep(60)
page.Page.html = swallowing
sys.exit(main())
"""


def test_a_signal_that_a_library_swallows_comes_again(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SWALLOWING, *RUN, "--report", str(tmp_path / "run.html")]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline() == "drawing\n"
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=20)[1] == "error: terminated; nothing was left half written\n"
    assert running.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_what_an_input_names_is_an_input(tmp_path: Path, ascii_trace: Path) -> None:
    drive, system, trace = tmp_path / "one.toml", tmp_path / "system.toml", tmp_path / "a.trace"
    assert headstack(*RUN, "--save", drive).code == 0
    system.write_text('[volume.data]\nlevel = "single"\ndrives = ["one.toml"]\n')
    sweep = tmp_path / "sweep.toml"
    ascii_trace.rename(trace)
    sweep.write_text(
        '[base]\nsystem = "system.toml"\ntrace = "a.trace"\nrequests = 5\n'
        '[[axis]]\npath = "scheduler"\nvalues = ["fcfs"]\n'
    )
    folder = tmp_path / "fleet"
    folder.mkdir()
    device = folder / "device.trace"
    device.write_bytes(trace.read_bytes())
    before = {path: path.read_bytes() for path in (drive, system, trace, device)}
    for words in (
        ("simulate", system, "--workload", "unix-like", "--requests", "5", "--report", drive),
        ("explain", system, "--lba", "3", "--report", drive),
        ("fleet", "hp-97560", "--trace", folder, "--out", device),
    ):
        assert "would replace what is read" in refused(*words), words
    out = tmp_path / "out"
    assert headstack("sweep", sweep, "--out", out).code == 0
    (out / "results.parquet").unlink()
    (out / "results.parquet").symlink_to(trace)
    assert "would be replaced" in refused("sweep", sweep, "--out", out, "--resume")
    assert "would replace what is read" in refused("compare", out, "--report", out / "manifest.json")
    assert before == {path: path.read_bytes() for path in before}


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle.html"
    circle.symlink_to(circle.name)
    assert "circle" in refused(*RUN, "--report", circle)
    assert circle.is_symlink()


def test_what_a_loop_device_stands_on_is_refused(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(bytes(1 << 20))
    attached = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if attached.returncode:
        pytest.skip(f"no loop devices here: {attached.stderr.strip()}")
    device = attached.stdout.strip()
    try:
        for path in (image, device):
            assert "would" in refused(*RUN, "--out", path) or "device" in refused(*RUN, "--out", path)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
    assert image.read_bytes() == bytes(1 << 20)


def test_a_study_that_uses_all_cores_ends_when_it_is_told(tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    command = [sys.executable, "-m", "headstack", "study", "rebuild", "--export-rates", str(rates)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    running.send_signal(signal.SIGTERM)
    sent = time.monotonic()
    assert "error: terminated; nothing was left half written" in running.communicate(timeout=60)[1]
    assert time.monotonic() - sent < SOON_S
    assert running.returncode == 143
    assert not rates.exists()


def test_too_few_files_are_said_to_be_too_few(tmp_path: Path) -> None:
    # With fewer Python itself does not get as far as headstack.
    for most in (5, 6, 8):
        words = [sys.executable, "-m", "headstack", *RUN, "--out", str(tmp_path / "run.parquet")]
        command = ["bash", "-c", f'ulimit -n {most}; exec "$@"', "bash", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in {0, 2}, done
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr


def test_what_was_written_is_told_when_it_is(tmp_path: Path) -> None:
    told = headstack(*RUN, "--out", tmp_path / "run.parquet", "--save", tmp_path / "run.toml").err
    assert [line.split("/")[-1] for line in told.splitlines()] == ["run.parquet", "run.toml"]
    # A failure after the first file was complete: neither appears, and nothing says so.
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "x").write_text("")
    done = headstack(*RUN, "--out", tmp_path / "other.parquet", "--report", "/proc/self/attr/none.html")
    assert done.code == 2
    assert "wrote" not in done.err
    assert not (tmp_path / "other.parquet").exists()
