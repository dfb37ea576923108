"""A small Linux guest under qemu: a kernel, an initial file system made here, two disks that are files."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).parent / "guest"
CACHE = HERE.parent.parent / ".cache" / "guest"
DISK_BYTES = 256 << 20
BOOT_SECONDS = 150


class NoGuest(Exception):
    """What the guest is made of is not on this machine and cannot be installed."""


def set_up(cache: Path = CACHE) -> Path:
    """Install and unpack what the guest needs; returns the folder of kernel and modules.

    Raises
    ------
    NoGuest
        Where that cannot be had, with the reason.
    """
    done = subprocess.run([HERE / "setup.sh", cache], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        raise NoGuest(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"setup.sh failed: {done.stderr}")
    return cache


def boot(folder: Path, cache: Path = CACHE) -> list[Path]:
    """Boot the guest, let it trace its disk, and return the files that its blktrace wrote, one a CPU."""
    disk, handed_out, initial = folder / "disk.img", folder / "out.img", folder / "initial.cpio"
    initial.write_bytes(_initial_file_system(cache))
    for image, size in ((disk, DISK_BYTES), (handed_out, 32 << 20)):
        with image.open("wb") as file:
            file.truncate(size)
    drives = [
        word
        for image in (disk, handed_out)
        for word in ("-drive", f"file={image},format=raw,if=virtio,cache=writeback")
    ]
    command = [
        "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "512", "-nographic", "-no-reboot",
        "-nodefaults", "-serial", "stdio", "-kernel", str(cache / "vmlinuz"), "-initrd", str(initial),
        "-append", "console=ttyS0 panic=-1 quiet mitigations=off tsc=reliable", *drives,
    ]  # fmt: skip
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BOOT_SECONDS, check=False
    )
    if done.returncode != 0 or "guest: done" not in done.stdout:
        raise RuntimeError(f"the guest did not come to its end:\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}")
    with tarfile.open(handed_out) as handed:
        handed.extractall(folder, filter="data")
    return sorted(folder.glob("guest.blktrace.*"))


def _initial_file_system(cache: Path) -> bytes:
    """A `newc` archive: busybox, blktrace with the libraries it is linked to, the modules, init."""
    blktrace = shutil.which("blktrace", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    busybox = shutil.which("busybox")
    assert blktrace is not None
    assert busybox is not None
    files = {"init": HERE / "init", "bin/busybox": Path(busybox), "bin/blktrace": Path(blktrace)}
    linked = subprocess.run(["ldd", blktrace], capture_output=True, text=True, check=True).stdout
    for word in linked.split():
        if word.startswith("/"):
            files[word.lstrip("/")] = Path(word)
    files |= {f"modules/{module.name}": module for module in (cache / "modules").iterdir()}
    folders = {"proc", "sys", "dev", "tmp"} | {
        str(parent) for name in files for parent in Path(name).parents if str(parent) != "."
    }
    archive = b"".join(_entry(folder, stat.S_IFDIR | 0o755, b"") for folder in sorted(folders))
    archive += b"".join(_entry(name, stat.S_IFREG | 0o755, path.read_bytes()) for name, path in files.items())
    return archive + _entry("TRAILER!!!", 0, b"")


def _entry(name: str, mode: int, content: bytes) -> bytes:
    fields = (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(f"{field:08x}".encode() for field in fields) + name.encode() + b"\0"
    return _padded(head) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
