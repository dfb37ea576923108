"""A Linux guest whose own blktrace traces its disk: what we read of it against blkparse and btt, to the last digit.

Boots a kernel under qemu (about 10 s): `make test-guest`. Skipped where qemu cannot be had.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import headstack
from guest_machine import NoGuest, boot, set_up

pytestmark = pytest.mark.guest


def said(*command: str | Path, cwd: Path | None = None) -> str:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, cwd=cwd).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the guest's trace, and the one that blkparse merged from it."""
    try:
        cache = set_up()
    except NoGuest as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("guest")
    assert len(boot(folder, cache)) == 2
    said("blkparse", "-q", "-O", "-i", folder / "guest", "-d", folder / "merged.bin")
    return folder


@pytest.fixture(scope="module")
def about(folder: Path) -> dict[str, Any]:
    return headstack("trace", "analyze", folder / "guest", "--json").json()


def test_every_event_is_counted_as_blkparse_does(folder: Path, about: dict[str, Any]) -> None:
    listed = said("blkparse", "-q", "-i", folder / "guest", "-f", "%a\n").split("\n")
    actions = Counter(line for line in listed if re.fullmatch("[A-Z]{1,2}", line))
    assert about["events"]["by_action"] == dict(actions)
    entries = re.search(r"Events \(guest\): (\d+) entries", summary(folder))
    assert entries is not None
    assert about["events"]["entries"] == int(entries[1])
    # The guest did what it was told: reads and writes, merged and split, and a flush.
    assert {"Q", "G", "M", "I", "D", "C", "X"} <= set(actions)
    assert about["flushes"] >= 1
    assert (about["orphans"], about["undispatched"]) == (0, 0)
    assert not any(about["loss"].values()), about["loss"]


def summary(folder: Path) -> str:
    return said("blkparse", "-i", "guest", cwd=folder)


def test_bytes_are_blkparses(folder: Path, about: dict[str, Any]) -> None:
    total = summary(folder).split("Total (guest):")[1]
    for kind, name in (("queued", "Queued"), ("dispatched", "Dispatches"), ("completed", "Completed")):
        for direction in ("read", "write"):
            told = re.search(rf"{direction.title()}s? {name}: +([\d,]+), +([\d,]+)KiB", total)
            assert told is not None, (kind, total)
            events, kib = (int(word.replace(",", "")) for word in told.groups())
            ours = about["events"][kind]
            assert (ours[f"{direction}s"], ours[f"{direction}_bytes"] // 1024) == (events, kib), (kind, direction)


def test_times_between_layers_are_btts(folder: Path, about: dict[str, Any]) -> None:
    # btt leaves files where it runs.
    table = said("btt", "-i", folder / "merged.bin", cwd=folder)
    rows = re.findall(
        r"^(Q2Q|Q2G|G2I|Q2M|I2D|M2D|D2C|Q2C)\w* +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)$", table, re.MULTILINE
    )
    assert len(rows) == 8
    for name, least, mean, most, count in rows:
        ours = about["btt"][name.lower()]
        assert (f"{ours['min_s']:.9f}", f"{ours['max_s']:.9f}") == (least, most), name
        assert ours["count"] == int(count), name
        # A mean that ends in half a nanosecond is printed either way: btt adds seconds as floating-point numbers.
        assert abs(ours["mean_s"] - float(mean)) < 0.51e-9, name


def test_the_requests_are_those_the_guest_made(about: dict[str, Any]) -> None:
    # Past the page cache: 10 single reads, 8 MiB in large ones, 4 × 8 by four readers. Through it: 500 blocks, and at most
    # two windows of 128 KiB read ahead.
    through_cache = about["bytes_read"] - (10 + 2048 + 4 * 8) * 4096
    assert 500 * 4096 <= through_cache <= 500 * 4096 + 2 * (128 << 10)
    assert about["bytes_written"] == 10 * 8192 + 300 * 4096


def test_text_of_blkparse_says_the_same(folder: Path, about: dict[str, Any]) -> None:
    text = folder / "guest.txt"
    text.write_text(said("blkparse", "-i", folder / "guest"))
    from_text = headstack("trace", "analyze", text, "--json").json()
    for key in (
        "requests",
        "reads",
        "writes",
        "flushes",
        "bytes_read",
        "bytes_written",
        "response_ms",
        "btt",
        "merges",
    ):
        assert from_text[key] == about[key], key
