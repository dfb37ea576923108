"""Whatever happens in the middle, the files are afterwards what they were before, or what they were to become.

Runs under `make test-faults`; `HEADSTACK_KILL_POINTS` and `HEADSTACK_FULL_POINTS` say how often.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

KILL_POINTS = int(os.environ.get("HEADSTACK_KILL_POINTS", "500"))
FULL_POINTS = int(os.environ.get("HEADSTACK_FULL_POINTS", "120"))
OLD = b"old, and worth keeping"
RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20000")


@dataclass(frozen=True)
class Job:
    """A command, and the options of its outputs with the names of the files."""

    words: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]

    def command(self, folder: Path) -> list[str]:
        """What to run, with the outputs in a folder."""
        written = [word for option, name in self.outputs for word in (option, str(folder / name))]
        return [sys.executable, "-m", "headstack", *self.words, *written]


def jobs(trace: Path, measured: Path) -> list[Job]:
    """Every verb that writes files, with all it can write at a time."""
    return [
        Job(RUN, (("--out", "run.parquet"), ("--report", "run.html"), ("--save", "run.toml"))),
        Job(
            ("simulate", "uda50-ra81", "--workload", "time-shared", "--requests", "5000"),
            (("--out", "a.parquet"), ("--driver-out", "b.parquet")),
        ),
        Job(("trace", "convert", str(trace)), (("--out", "t.parquet"),)),
        Job(("trace", "convert", str(trace)), (("--out", "t.csv.gz"),)),
        Job(("trace", "make", "--like", str(trace)), (("--out", "m.csv"), ("--save-model", "m.json"))),
        Job(("explain", "hp-97560", "--lba", "5", "--then", "99"), (("--report", "story.html"),)),
        Job(("validate", "hp-97560", "--trace", str(measured)), (("--report", "scores.html"),)),
        Job(("measure", "mock:", "skippy"), (("--report", "probes.html"),)),
    ]


@dataclass(frozen=True)
class Reference:
    """A job, what it writes, and how long it takes."""

    job: Job
    written: dict[str, bytes]
    took_s: float

    def becomes(self, name: str, found: bytes) -> bool:
        """Whether this is what the job writes: to the byte, but for pages, which tell when they were drawn."""
        if name.endswith(".html"):
            return found.startswith(b"<!") and found.rstrip().endswith(b"</html>")
        return found == self.written[name]

    def world(self, folder: Path) -> list[str]:
        """For each output, whether it is old or new."""
        states = []
        for name in self.written:
            found = (folder / name).read_bytes()
            assert found == OLD or self.becomes(name, found), f"{name} is neither old nor new: {len(found)} bytes"
            states.append("old" if found == OLD else "new")
        return states


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> list[Reference]:
    """What every job comes to when nothing happens."""
    place = tmp_path_factory.mktemp("given")
    trace, measured = place / "small.trace", place / "measured.parquet"
    lines = [f"{10 * number}.0 0 {(number * 7919) % 2_000_000} 8 {number % 2}" for number in range(20_000)]
    trace.write_text("\n".join(lines) + "\n")
    made = [sys.executable, "-m", "headstack", "simulate", "hp-97560", "--trace", str(trace), "--out", str(measured)]
    subprocess.run(made, check=True, capture_output=True)
    found = []
    for number, job in enumerate(jobs(trace, measured)):
        folder = place / str(number)
        folder.mkdir()
        begun = time.monotonic()
        subprocess.run(job.command(folder), check=True, capture_output=True)
        took = time.monotonic() - begun
        found.append(Reference(job, {name: (folder / name).read_bytes() for _, name in job.outputs}, took))
    return found


def old_world(folder: Path, reference: Reference) -> None:
    folder.mkdir()
    for name in reference.written:
        (folder / name).write_bytes(OLD)


def left_behind(folder: Path, reference: Reference) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in reference.written)


def test_a_signal_at_any_instant(references: list[Reference], tmp_path: Path) -> None:
    chance = random.Random(20)
    points = []
    for number in range(KILL_POINTS):
        reference = references[number % len(references)]
        kind = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number // len(references) % 3]
        points.append((number, reference, kind, chance.uniform(0.0, 1.1 * reference.took_s)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = Counter(pool.map(lambda point: _struck(tmp_path / str(point[0]), *point[1:]), points))
    assert outcomes["old"] > KILL_POINTS // 10, outcomes
    print(f"{KILL_POINTS} kill points: {dict(outcomes)}")


def _struck(folder: Path, reference: Reference, kind: signal.Signals, after_s: float) -> str:
    """Run a job, end it by a signal, and look at what is left."""
    old_world(folder, reference)
    running = subprocess.Popen(reference.job.command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        running.wait(after_s)
    except subprocess.TimeoutExpired:
        running.send_signal(kind)
    said = running.communicate(timeout=30)[1].decode()
    where = f"{reference.job.words[0]} {kind.name} after {after_s:.3f} s: {running.returncode}, {said}"
    states = reference.world(folder)
    left = left_behind(folder, reference)
    if kind == signal.SIGKILL:
        assert all(name.startswith(".") and name.endswith(".tmp") for name in left), where
    else:
        assert left == [], where
        assert len(set(states)) == 1, where
        # What Python does before the first line of `headstack/__main__.py` is not ours: it may show where it was.
        is_ours = any(f"headstack/{file}" in said for file in ("__main__", "cli", "run", "report", "_core"))
        assert "Traceback" not in said or "Exception ignored" in said or not is_ours, where
        assert running.returncode in {0, 1, -kind, 128 + kind}, where
    shutil.rmtree(folder)
    return states[0] if len(set(states)) == 1 else "mixed"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small file system needs root")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_disk_that_is_full_at_any_byte(references: list[Reference], small_disk: Path) -> None:
    chance = random.Random(21)
    outcomes: Counter[str] = Counter()
    for number in range(FULL_POINTS):
        reference = references[number % len(references)]
        folder = small_disk / "world"
        old_world(folder, reference)
        needed = sum(len(written) for written in reference.written.values())
        free = chance.randrange(0, int(1.2 * needed) + 1)
        room = shutil.disk_usage(small_disk).free
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(max(room - free, 0)))
        done = subprocess.run(reference.job.command(folder), capture_output=True, text=True, check=False)
        where = f"{reference.job.words[0]} with {free} of {needed} bytes free: {done.returncode}, {done.stderr}"
        ballast.unlink()
        states = reference.world(folder)
        assert left_behind(folder, reference) == [], where
        assert len(set(states)) == 1, where
        assert "Traceback" not in done.stderr, where
        if done.returncode:
            assert done.returncode == 2, where
            assert "o space left on device" in done.stderr, where
            assert states[0] == "old", where
        outcomes[states[0]] += 1
        shutil.rmtree(folder)
    assert outcomes["old"] > FULL_POINTS // 4, outcomes
    print(f"{FULL_POINTS} full disks: {dict(outcomes)}")


def test_two_processes_on_one_output(tmp_path: Path) -> None:
    one, out = tmp_path / "reference", tmp_path / "out.parquet"
    expected = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "headstack", *RUN, "--seed", seed, "--out"]
        subprocess.run([*command, str(one)], check=True, capture_output=True)
        expected.add(one.read_bytes())
    assert len(expected) == 2
    for _ in range(10):
        both = [
            subprocess.Popen(
                [sys.executable, "-m", "headstack", *RUN, "--seed", seed, "--out", str(out)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for seed in ("1", "2")
        ]
        assert [running.wait(60) for running in both] == [0, 0]
        assert out.read_bytes() in expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "reference"]


def _has_open(running: subprocess.Popen[str], folder: Path) -> bool:
    """Whether a process has a file in a folder open, with a name or without."""
    for link in Path(f"/proc/{running.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if folder in link.readlink().parents:
                return True
    return False


def test_a_folder_that_goes_away(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    endless = tmp_path / "long.toml"
    endless.write_text(
        "requests = 3_000_000\n[[stream]]\nread_fraction = 0.5\nsize.fixed_kib = 4\ninter_arrival.exponential_ms = 40\n"
    )
    command = [sys.executable, "-m", "headstack", "simulate", "hp-97560", "--workload", str(endless), "--out"]
    running = subprocess.Popen([*command, str(folder / "x.parquet")], stderr=subprocess.PIPE, text=True)
    while not _has_open(running, folder):
        time.sleep(0.01)
    shutil.rmtree(folder)
    said = running.communicate(timeout=120)[1]
    assert running.returncode == 2
    assert f"error: cannot write `{folder / 'x.parquet'}`" in said
    assert not folder.exists()
