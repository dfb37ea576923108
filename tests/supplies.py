"""The files that the commands of the documents read: made when a command names them, real where only real ones will do."""

from __future__ import annotations

import gzip
import random
import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest

from conftest import DATA, ROOT, data_file, headstack
from test_fleet import frame, written
from test_layout import IOSTAT

if TYPE_CHECKING:
    from collections.abc import Callable


def real(name: str, *beside: str) -> Callable[[Path], None]:
    """A file of the real data, and files that it names."""

    def supply(path: Path) -> None:
        path.symlink_to(data_file(name))
        for pattern in beside:
            for other in sorted((DATA / name).parent.glob(pattern)):
                if not (path.parent / other.name).exists():
                    (path.parent / other.name).symlink_to(other)

    return supply


def _folder(name: str) -> Callable[[Path], None]:
    def supply(path: Path) -> None:
        if not (DATA / name).is_dir():
            pytest.skip(f"needs {name}: set HEADSTACK_DATA to the directory of the real traces (now {DATA})")
        path.symlink_to(DATA / name)

    return supply


def of_the_tree(name: str) -> Callable[[Path], None]:
    """A file of the repository."""
    return lambda path: path.symlink_to(ROOT / name)


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content)  # pyright: ignore[reportReturnType]


@cache
def _made(name: str, *command: str) -> Path:
    """What a command writes, made once; `FILE` in it stands for the file."""
    path = Path(mkdtemp(prefix="headstack-docs-")) / name
    done = headstack(*(str(path) if word == "FILE" else word for word in command))
    assert done.code == 0, done.err
    return path


def made(*command: str) -> Callable[[Path], None]:
    return lambda path: shutil.copy(_made(path.name, *command), path)  # pyright: ignore[reportReturnType]


def converted(system: str, form: str) -> Callable[[Path], None]:
    """A trace with measured times, of a drive that is simulated, in a format of others."""

    def supply(path: Path) -> None:
        run = _made(f"{system}.parquet", *RUN, system, "--requests", "3000", "--out", "FILE")
        shutil.copy(_made(path.name, "trace", "convert", str(run), "FILE", "--as", form), path)

    return supply


def _fleet(path: Path) -> None:
    """Requests of twelve devices."""
    written(frame(), path)


def _volume(path: Path) -> None:
    """A record a line: device, direction, byte, bytes, µs."""
    draw = random.Random(1)
    lines = [
        f"7,{draw.choice('RW')},{draw.randrange(1 << 28) * 512},{draw.choice([4096, 65536])},{number * 9000}"
        for number in range(2000)
    ]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


def _ticks(path: Path) -> None:
    lines = [
        f"{half}: (32,0x10):2:R:{1984 + 8 * number}:{(22127 + 5 * number + wait) % 65536}"
        for number in range(200)
        for half, wait in (("S", 0), ("R", 1 + number % 3))
    ]
    path.write_text("\n".join(lines) + "\n")


RUN = ("simulate", "--workload", "unix-like")
TABLE = "".join(f"{op},{size},512,{rate}\n" for op, rate in (("write", 55.0), ("read", 58.0)) for size in (300, 2000))
SUPPLIES: dict[str, Callable[[Path], None]] = {
    "ajw.1week.srt": real("hp/ajw.1week.srt"),
    "disk.srt": converted("hp-97560", "srt"),
    "host.trace": converted("hp-c2247a", "disksim-validate"),
    "host.srt": converted("hp-c2200a", "srt"),
    "cheetah9LP.trace": real("validate/cheetah9LP.trace"),
    "hp_c2247a.trace": real("validate/hp_c2247a.trace"),
    "cheetah9LP.diskspecs": real("drives/cheetah9LP.diskspecs", "cheetah9LP.*"),
    "hp_c2490a.diskspecs": real("drives/hp_c2490a.diskspecs", "hp_c2490a*"),
    "hp_c2490a.parv": real("validate/hp_c2490a.parv"),
    "synthopen.parv": real("validate/synthopen.parv"),
    "drives/hp-97560.toml": of_the_tree("drives/hp-97560.toml"),
    "drives/hp-c2247a.toml": of_the_tree("drives/hp-c2247a.toml"),
    "drives/": _folder("drives"),
    "traces/run": _folder("blktrace/keks"),
    "host.parquet": made(*RUN, "hp-c2200a", "--requests", "3000", "--out", "FILE"),
    "run.parquet": made(*RUN, "hp-97560", "--requests", "3000", "--out", "FILE"),
    "before.parquet": made(*RUN, "hp-97560", "--requests", "3000", "--out", "FILE"),
    "after.parquet": made(*RUN, "hp-97560", "--requests", "3000", "--set", "rotation_rpm=4100", "--out", "FILE"),
    "reads.parquet": made(
        "simulate",
        "hp-97560",
        "--workload",
        str(ROOT / "examples" / "randread.fio"),
        "--requests",
        "420",
        "--out",
        "FILE",
    ),
    "sda.parquet": made(*RUN, "hp-97560", "--requests", "3000", "--out", "FILE"),
    "sdb.parquet": made("measure", "sim:hp-97560", "--record", "FILE"),
    "streams.parquet": made(
        "measure", "sim:maxtor-maxline-plus-ii", "stream", "--file-mb", "300", "--repeats", "3", "--record", "FILE"
    ),
    "measured.csv": text("op,file_mb,record_kib,mb_per_s\n" + TABLE),
    "volume.csv.gz": _volume,
    "ticks.txt": _ticks,
    "ticks.hist": text("7480 responses took 0 ticks.\n9211 responses took 1 ticks.\n402 responses took 2 ticks.\n"),
    "histogram.txt": text("7480 responses took 0 ticks.\n9211 responses took 1 ticks.\n"),
    "busy.txt": text(IOSTAT),
    "iostat.txt": text(IOSTAT),
    "my-drive.toml": of_the_tree("drives/hp-97560.toml"),
    "mine.csv": converted("hp-97560", "csv"),
    "monday.csv": converted("hp-97560", "csv"),
    "tuesday.csv": converted("hp-97560", "csv"),
    "fleet.parquet": _fleet,
    "candidates.toml": of_the_tree("examples/candidates.toml"),
    "dual-actuator.toml": of_the_tree("examples/dual-actuator.toml"),
    "examples": of_the_tree("examples"),
}


# What a command writes is not made for it.
OUTPUT = r"(?:--out|--save|(?<=measure)(?: \S+)+ --record|--report|--histogram|--save-model|-o|trace make|trace convert \S+) "


def supply(command: str, folder: Path) -> None:
    """Put what a command reads into its folder, unless an earlier command left it there."""
    for name, make in SUPPLIES.items():
        path = folder / name.rstrip("/")
        places = [hit.start() for hit in re.finditer(rf"(?<![\w/.-]){re.escape(name)}", command)]
        written = [hit.end() for hit in re.finditer(OUTPUT, command)]
        if any(place not in written for place in places) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
