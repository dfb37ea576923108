"""The scripts beside the benchmarks: the comparison with DiskSim, on a stand-in for its binary; the table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, data_file

FAKE = """#!/bin/sh
test "$3" = ascii && test -f "$1" && test -f "$4" || exit 9
cat > "$2" <<END
IOdriver Response time average:         13.766963
IOdriver Response time std.dev.:        8.5
END
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "headstack"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m headstack "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def versus(fake: str, program: Path | str, folder: Path) -> subprocess.CompletedProcess[str]:
    binary = folder / "disksim"
    binary.write_text(fake, encoding="utf-8")
    binary.chmod(0o755)
    trace = folder / "short.trace"
    trace.write_text("".join(data_file("validate/ascii.trace").read_text().splitlines(keepends=True)[:2000]))
    parv = data_file("validate/ascii.parv")
    words = [binary, parv, trace, "--sources", parv.parent.parent / "drives", "--headstack", program, "--runs", "1"]
    command = [sys.executable, ROOT / "benches" / "versus", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command_may_be_a_relative_path(program: Path, tmp_path: Path) -> None:
    done = versus(FAKE, f"./{program.name}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_both_are_run_on_the_same_trace(program: Path, tmp_path: Path) -> None:
    done = versus(FAKE, program, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = {line.split("  ")[0]: line.split() for line in done.stdout.splitlines()}
    assert lines["requests"][-2:] == ["–", "2,000.000"]
    assert lines["mean response (ms)"][-2] == "13.767"


def test_a_binary_that_fails_is_named(program: Path, tmp_path: Path) -> None:
    done = versus("#!/bin/sh\necho no good >&2\nexit 3\n", program, tmp_path)
    assert done.returncode == 1
    assert "ended with 3" in done.stderr
    assert "no good" in done.stderr
    assert "no overall response time" in versus("#!/bin/sh\nexit 0\n", program, tmp_path).stderr


def test_the_table_has_time_and_rate_of_one_element(tmp_path: Path) -> None:
    for name, ns, elements in (("sptf/100 waiting", 3e3, 1), ("sptf/10 waiting", 2e6, 1000)):
        new = tmp_path / "criterion" / name.replace("/", "_") / "new"
        new.mkdir(parents=True)
        about = {"full_id": name, "throughput": {"Elements": elements}}
        interval = {"lower_bound": ns * 0.9, "upper_bound": ns * 1.1}
        estimate = {"point_estimate": ns, "confidence_interval": interval}
        (new / "benchmark.json").write_text(json.dumps(about))
        (new / "estimates.json").write_text(json.dumps({"mean": estimate, "slope": None}))
    command = [sys.executable, ROOT / "benches" / "table.py", tmp_path, "--markdown"]
    # Without valgrind: nothing is on the path.
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": str(tmp_path)})
    assert "no instructions counted: valgrind is not installed" in done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    assert rows[2] == ["sptf/10 waiting", "2,000", "1,800 to 2,200", "500,000", "–"]
    assert rows[3] == ["sptf/100 waiting", "3,000", "2,700 to 3,300", "333,333", "–"]
