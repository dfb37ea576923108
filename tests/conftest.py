"""Helpers: the command line as people run it, small traces, real data where it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("HEADSTACK_DATA") or ROOT.parent / "shared" / "data")


@dataclass(frozen=True)
class Outcome:
    """What a command came to."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The object that was printed, without the name of its schema."""
        assert self.code == 0, self.err
        document = json.loads(self.out)
        assert document.pop("schema").startswith("headstack/")
        return document


def headstack(*words: str | Path, cwd: Path | None = None) -> Outcome:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "headstack", *map(str, words)]
    # Headstack itself uses no name that goes with the next version.
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONWARNINGS": "error::FutureWarning"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def refused(*words: str | Path) -> str:
    """Run a command that must refuse its input: one message, exit code 2, no traceback, nothing on stdout."""
    outcome = headstack(*words)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("error: ") == 1
    assert "Traceback" not in outcome.err
    return outcome.err


def data_file(name: str) -> Path:
    """A file of the real data; without it the test is skipped."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs {name}: set HEADSTACK_DATA to the directory of the real traces (now {DATA})")
    return path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On a slow machine the long tests take turns: HALF_OF_LONG=0 or 1 runs every second of them."""
    half = os.environ.get("HALF_OF_LONG")
    if not half:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    others = long[1 - int(half) :: 2]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)


@pytest.fixture
def ascii_trace(tmp_path: Path) -> Path:
    """Requests of an HP 97560 in DiskSim's ascii format: ms, device, LBA, sectors, 1 for a read."""
    lines = [f"{10 * number}.0 0 {(number * 7919) % 2_000_000} 8 {number % 2}" for number in range(500)]
    path = tmp_path / "small.trace"
    path.write_text("\n".join(lines) + "\n")
    return path


def drive_file(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The file of the HP 97560 with text replaced."""
    text = (ROOT / "drives" / "hp-97560.toml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / "drive.toml"
    path.write_text(text)
    return path
