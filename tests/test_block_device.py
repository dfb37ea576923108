"""Real block devices, here loop devices over files: what is refused, what is written, what fails in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import headstack, refused

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")

BYTES = 16 << 20
NOBODY = 65534


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "image"
    path.write_bytes(b"headstack" * (BYTES // 9) + bytes(BYTES % 9))
    return path


@pytest.fixture
def device(image: Path) -> Iterator[str]:
    made = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr}")
    name = made.stdout.strip()
    yield name
    subprocess.run(["losetup", "-d", name], check=False)


def as_nobody(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command as a user who may open nothing; what it needs is loaded before, as the checkout may be root's alone."""
    program = f"""
import os, sys, headstack.cli.trace
from headstack.cli import main
main(["measure", "mock:", "skippy"])
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_mounted_device_is_refused(device: str, image: Path, tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    subprocess.run(["mkfs.ext2", "-q", device], check=True)
    mounted = subprocess.run(["mount", device, place], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr}")
    # Mounting itself writes to the superblock; Skippy would have written everywhere.
    before = image.read_bytes()[BYTES // 2 :]
    try:
        for consent in ((), ("--write", "--yes-destroy", device)):
            complaint = refused("measure", device, "skippy-read", *consent)
            assert f"in use (mounted at {place})" in complaint
            assert "unmount it first" in complaint
    finally:
        subprocess.run(["umount", place], check=True)
    assert image.read_bytes()[BYTES // 2 :] == before


def test_a_device_that_may_not_be_opened_is_refused(device: str) -> None:
    outcome = as_nobody("measure", device)
    assert outcome.returncode == 2, outcome.stderr
    assert f"{device}: cannot be opened: permission denied" in outcome.stderr.replace("Permission", "permission")
    assert "group `disk`" in outcome.stderr


def test_a_capture_without_the_right_to_trace_is_refused(device: str, tmp_path: Path) -> None:
    outcome = as_nobody("trace", "capture", device, tmp_path / "out.parquet", "--for", "1s")
    assert outcome.returncode == 2, outcome.stderr
    assert "root" in outcome.stderr
    assert not list(tmp_path.glob("out*"))


def test_writing_needs_both_consents_and_then_writes(device: str, image: Path) -> None:
    before = image.read_bytes()
    for consent in (("--write",), ("--write", "--yes-destroy", "/dev/null"), ("--yes-destroy", device)):
        refused("measure", device, "skippy-write", *consent)
    reads = headstack("measure", device, "skippy-read", "--json")
    assert reads.code in {0, 3}, reads.err
    assert image.read_bytes() == before
    writes = headstack("measure", device, "skippy-write", "--write", "--yes-destroy", device, "--json")
    assert writes.code in {0, 3}, writes.err
    assert image.read_bytes() != before


def test_errors_in_the_middle_are_skipped_and_told(device: str, image: Path, tmp_path: Path) -> None:
    # Behind the end of the file, the device answers with input/output errors.
    os.truncate(image, BYTES // 2)
    record = tmp_path / "r.parquet"
    outcome = headstack("measure", device, "zoned", "--record", record, "--json")
    assert outcome.code == 1, outcome.err
    assert "accesses failed and were skipped" in outcome.err
    again = headstack("measure", "--from", record)
    assert "failed accesses" in again.out


def test_a_device_that_fails_everywhere_is_told(device: str, image: Path) -> None:
    os.truncate(image, 0)
    outcome = headstack("measure", device, "skippy-read", "zoned")
    assert outcome.code != 0
    assert "Traceback" not in outcome.err
    assert "fail" in outcome.err
