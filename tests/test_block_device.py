"""Real block devices, here loop devices over files: what is refused, what is written, what fails in the middle."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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


@pytest.mark.long
def test_writing_needs_both_consents_and_then_writes(device: str, image: Path) -> None:
    before = image.read_bytes()
    for consent in (("--write",), ("--write", "--yes-destroy", "/dev/null"), ("--yes-destroy", device)):
        refused("measure", device, "skippy-write", *consent)
    reads = headstack("measure", device, "random", "--json")
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


def run(*words: str | Path) -> str:
    """A command that sets the scene; where it cannot, the test is skipped."""
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    except OSError as problem:
        pytest.skip(f"{words[0]}: {problem}")
    if done.returncode:
        pytest.skip(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout.strip()


@pytest.fixture
def undo() -> Iterator[ExitStack]:
    """What is to be undone, the last first."""
    with ExitStack() as stack:
        yield stack


def loop(undo: ExitStack, path: str | Path, *options: str) -> str:
    name = run("losetup", "-f", "--show", *options, path)
    undo.callback(subprocess.run, ["losetup", "-d", name], check=False)
    return name


def mount(undo: ExitStack, device: str, place: Path, *options: str) -> None:
    place.mkdir(exist_ok=True)
    run("mkfs.ext2", "-q", device)
    run("mount", *options, device, place)
    undo.callback(subprocess.run, ["umount", place], check=False)


def partitioned(undo: ExitStack, image: Path) -> tuple[str, str]:
    """A disk and its first partition."""
    disk = loop(undo, image, "-P")
    # Without a table: kernels for virtual machines know none.
    run("addpart", disk, "1", "2048", "16384")
    undo.callback(subprocess.run, ["delpart", disk, "1"], check=False)
    return disk, disk + "p1"


def linear(undo: ExitStack, device: str) -> str:
    """A device mapper device over a device."""
    name = f"headstack-test-{os.getpid()}"
    run("dmsetup", "create", name, "--table", f"0 8192 linear {device} 0")
    undo.callback(subprocess.run, ["dmsetup", "remove", name], check=False)
    return f"/dev/mapper/{name}"


def _mounted(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    mount(undo, device, image.parent / "place")
    return device


def _mounted_read_only(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    mount(undo, device, image.parent / "place", "-o", "ro")
    return device


def _mounted_elsewhere(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    place = image.parent / "place"
    place.mkdir()
    run("mkfs.ext2", "-q", device)
    script = f"mount {device} {place} && echo mounted && exec sleep 60"
    other = subprocess.Popen(["unshare", "--mount", "/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    undo.callback(other.stdout.close)
    undo.callback(other.wait)
    undo.callback(other.kill)
    if other.stdout.readline() != "mounted\n":
        pytest.skip("no mount namespaces here")
    return device


def _swapped_to(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    run("mkswap", device)
    run("swapon", device)
    undo.callback(subprocess.run, ["swapoff", device], check=False)
    return device


def _disk_of_a_mounted_partition(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    mount(undo, partition, image.parent / "place")
    return disk


def _partition_of_a_claimed_disk(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    undo.callback(os.close, os.open(disk, os.O_RDONLY | os.O_EXCL))
    return partition


def _below_device_mapper(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    linear(undo, device)
    return device


def _disk_of_a_partition_below_device_mapper(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    linear(undo, partition)
    return disk


def _behind_a_loop_device(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    loop(undo, device)
    return device


def _behind_a_mounted_loop_device(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    mount(undo, loop(undo, device), image.parent / "place")
    return device


def _disk_of_a_partition_behind_a_loop_device(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    loop(undo, partition)
    return disk


def _partition_of_a_disk_behind_a_loop_device(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    loop(undo, disk)
    return partition


def _loop_device_over_a_mounted_device(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    above = loop(undo, device)
    mount(undo, device, image.parent / "place")
    return above


def _loop_device_over_the_file_of_another(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    mount(undo, loop(undo, image), image.parent / "place")
    return device


def _device_mapper_over_such_a_loop_device(undo: ExitStack, image: Path) -> str:
    mapped = linear(undo, loop(undo, image))
    mount(undo, loop(undo, image), image.parent / "place")
    return mapped


def _opened_exclusively(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    undo.callback(os.close, os.open(device, os.O_RDONLY | os.O_EXCL))
    return device


def _by_a_link(undo: ExitStack, image: Path) -> str:
    link = image.parent / "link"
    link.symlink_to(_mounted(undo, image))
    return str(link)


def _by_another_node(undo: ExitStack, image: Path) -> str:
    node = image.parent / "node"
    os.mknod(node, stat.S_IFBLK | 0o600, Path(_mounted(undo, image)).stat().st_rdev)
    return str(node)


def _unmounted_while_a_file_is_open(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    place = image.parent / "place"
    mount(undo, device, place)
    undo.enter_context((place / "open").open("w"))
    run("umount", "--lazy", place)
    return device


def _mounted_at_a_second_place_only(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    place, second = image.parent / "place", image.parent / "second"
    mount(undo, device, place)
    second.mkdir()
    run("mount", "--bind", place, second)
    undo.callback(subprocess.run, ["umount", second], check=False)
    run("umount", place)
    return device


def _journal_of_a_mounted_file_system(undo: ExitStack, image: Path) -> str:
    journal = loop(undo, image)
    files, place = image.parent / "files", image.parent / "place"
    files.write_bytes(bytes(BYTES))
    data = loop(undo, files)
    run("mke2fs", "-q", "-b", "1024", "-O", "journal_dev", journal)
    run("mke2fs", "-q", "-b", "1024", "-t", "ext4", "-J", f"device={journal}", data)
    place.mkdir()
    run("mount", data, place)
    undo.callback(subprocess.run, ["umount", place], check=False)
    return journal


def _disk_of_a_partition_swapped_to(undo: ExitStack, image: Path) -> str:
    disk, partition = partitioned(undo, image)
    run("mkswap", partition)
    run("swapon", partition)
    undo.callback(subprocess.run, ["swapoff", partition], check=False)
    return disk


def _compressed_memory_swapped_to(undo: ExitStack, _image: Path) -> str:
    control = Path("/sys/class/zram-control")
    if not control.exists():
        pytest.skip("no zram here")
    number = (control / "hot_add").read_text().strip()
    undo.callback((control / "hot_remove").write_text, number)
    Path(f"/sys/block/zram{number}/disksize").write_text(str(BYTES))
    device = f"/dev/zram{number}"
    run("mkswap", device)
    run("swapon", device)
    undo.callback(subprocess.run, ["swapoff", device], check=False)
    return device


def _below_two_loop_devices(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    mount(undo, loop(undo, loop(undo, device)), image.parent / "place")
    return device


def _measured_by_another(undo: ExitStack, image: Path) -> str:
    device = loop(undo, image)
    command = [sys.executable, "-m", "headstack", "measure", device]
    other = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    undo.callback(other.wait)
    undo.callback(other.kill)
    while device not in {os.path.realpath(link) for link in Path(f"/proc/{other.pid}/fd").iterdir()}:
        assert other.poll() is None, "the other measurement ended"
        time.sleep(0.01)
    # From now on it holds the device: it may have been open as a place only.
    time.sleep(0.5)
    return device


IN_USE = [
    _mounted, _mounted_read_only, _mounted_elsewhere, _mounted_at_a_second_place_only, _unmounted_while_a_file_is_open,
    _journal_of_a_mounted_file_system, _swapped_to, _compressed_memory_swapped_to, _disk_of_a_mounted_partition,
    _disk_of_a_partition_swapped_to, _below_two_loop_devices, _measured_by_another,
    _partition_of_a_claimed_disk, _below_device_mapper, _disk_of_a_partition_below_device_mapper, _behind_a_loop_device,
    _behind_a_mounted_loop_device, _disk_of_a_partition_behind_a_loop_device, _partition_of_a_disk_behind_a_loop_device,
    _loop_device_over_a_mounted_device, _loop_device_over_the_file_of_another, _device_mapper_over_such_a_loop_device,
    _opened_exclusively, _by_a_link, _by_another_node,
]  # fmt: skip


@pytest.mark.parametrize("scene", IN_USE, ids=lambda scene: scene.__name__.strip("_"))
def test_a_device_in_use_is_neither_read_nor_written(
    scene: Callable[[ExitStack, Path], str], undo: ExitStack, image: Path
) -> None:
    device = scene(undo, image)
    os.sync()
    # A mounted file system writes to its beginning; Skippy would have written everywhere.
    before = image.read_bytes()[BYTES // 2 :]
    for consent in (("--write", "--yes-destroy", device), ()):
        complaint = refused("measure", device, "skippy" if consent else "skippy-read", *consent)
        assert "in use" in complaint
    os.sync()
    assert image.read_bytes()[BYTES // 2 :] == before


def _file_behind_a_loop_device(undo: ExitStack, image: Path) -> None:
    loop(undo, image)


def _file_behind_a_mounted_loop_device(undo: ExitStack, image: Path) -> None:
    mount(undo, loop(undo, image), image.parent / "place")


def _file_swapped_to(undo: ExitStack, image: Path) -> None:
    image.chmod(0o600)
    run("mkswap", image)
    run("swapon", image)
    undo.callback(subprocess.run, ["swapoff", image], check=False)


def _file_locked(undo: ExitStack, image: Path) -> None:
    file = undo.enter_context(image.open("r+"))
    fcntl.flock(file, fcntl.LOCK_EX)


def _file_locked_as_by_qemu(undo: ExitStack, image: Path) -> None:
    file = undo.enter_context(image.open("r+"))
    byte = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 100, 1, 0)
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, byte)


def _file_locked_by_another_process(undo: ExitStack, image: Path) -> None:
    script = "import fcntl, sys, time; file = open(sys.argv[1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX); print('locked', flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", script, image], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    undo.callback(other.stdout.close)
    undo.callback(other.wait)
    undo.callback(other.kill)
    assert other.stdout.readline() == "locked\n"


def _file_running(undo: ExitStack, image: Path) -> None:
    program = Path("/bin/sleep").read_bytes()
    image.write_bytes(program + bytes(BYTES - len(program)))
    image.chmod(0o700)
    running = subprocess.Popen([image, "60"], executable=image)
    undo.callback(running.wait)
    undo.callback(running.kill)


def _file_of_another_name_behind_a_loop_device(undo: ExitStack, image: Path) -> None:
    other = image.parent / "another-name"
    other.hardlink_to(image)
    loop(undo, other)


def _file_renamed_behind_a_loop_device(undo: ExitStack, image: Path) -> None:
    other = image.parent / "another-name"
    image.rename(other)
    loop(undo, other)
    other.rename(image)


FILES_IN_USE = [
    _file_behind_a_loop_device, _file_behind_a_mounted_loop_device, _file_of_another_name_behind_a_loop_device,
    _file_renamed_behind_a_loop_device, _file_swapped_to, _file_running, _file_locked, _file_locked_by_another_process,
    _file_locked_as_by_qemu,
]  # fmt: skip


@pytest.mark.parametrize("scene", FILES_IN_USE, ids=lambda scene: scene.__name__.strip("_"))
def test_a_file_in_use_is_not_written(scene: Callable[[ExitStack, Path], None], undo: ExitStack, image: Path) -> None:
    scene(undo, image)
    os.sync()
    before = image.read_bytes()[BYTES // 2 :]
    assert "in use" in refused("measure", image, "skippy", "--write", "--yes-destroy", image)
    assert image.read_bytes()[BYTES // 2 :] == before
    assert "is in use" not in headstack("measure", image, "random").err


SIGNATURES = {
    "LVM": (512, b"LABELONE"),
    "Linux software RAID (md)": (4096, bytes.fromhex("fc4e2ba9")),
    "md at the end": (BYTES - 8192, bytes.fromhex("fc4e2ba9")),
    "md of old": (BYTES - 65536, bytes.fromhex("fc4e2ba9")),
    "btrfs": (0x10040, b"_BHRfS_M"),
    "bcache": (4096 + 24, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")),
    "ZFS": ((128 << 10) + 5 * 1024, bytes.fromhex("0cb1ba0000000000")),
    "Ceph": (0, b"bluestore block device"),
}


@pytest.mark.parametrize("of", SIGNATURES)
def test_a_member_of_something_is_not_written(of: str, device: str) -> None:
    at, magic = SIGNATURES[of]
    with Path(device).open("r+b") as file:
        file.seek(at)
        file.write(magic)
    os.sync()
    complaint = refused("measure", device, "skippy", "--write", "--yes-destroy", device)
    assert "bears the signature of " + ("Linux software RAID" if of.startswith("md") else of) in complaint
    assert "wipefs" in complaint
    assert headstack("measure", device, "random").code in {0, 3}
