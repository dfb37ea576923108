"""Sweeps served elsewhere: on a Dask cluster and by jobs of Slurm, the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

import headstack
from conftest import headstack as run_cli
from conftest import refused
from headstack.counted import plural
from headstack.sweeping import folder
from headstack.sweeping.executors.dask import DaskExecutor
from sweeps import BASE, GAP, RPM, Lost, written


def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE + RPM + GAP)
    headstack.sweep(file, tmp_path / "here")
    found = run_cli("sweep", file, "--dask", "local:2", "--out", tmp_path / "there", "--json").json()
    assert (found["points"], found["failed"]) == (6, 0)
    tables = [(tmp_path / place / folder.RESULTS).read_bytes() for place in ("here", "there")]
    assert tables[0] == tables[1]


def test_a_dask_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE.replace("300", "10_000") + RPM + GAP + "[repeats]\ncount = 3\n")
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "headstack", "sweep", file, "--dask", "local:2", "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 100
    while len(list((out / folder.RUNS).glob("[0-9]*"))) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    workers = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if _parent(path.parent) == running.pid and b"spawn_main" in path.read_bytes()
    ]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    said = running.communicate(timeout=100)[1]
    assert running.returncode == 0, said
    headstack.sweep(file, tmp_path / "here")
    assert (out / folder.RESULTS).read_bytes() == (tmp_path / "here" / folder.RESULTS).read_bytes()


def test_a_dask_scheduler_that_is_lost_leaves_runs_to_be_made(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    file = written(tmp_path, BASE.replace("300", "200_000") + RPM + GAP + "[repeats]\ncount = 3\n")
    out, address = tmp_path / "out", tmp_path / "scheduler.json"
    begin = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*begin, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", address], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    worker = subprocess.Popen(
        [*begin, "distributed.cli.dask_worker", "--scheduler-file", address, "--nthreads", "1", "--no-nanny",
         "--no-dashboard", "--local-directory", tmp_path], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        where = _written_address(address)
        running = subprocess.Popen(
            [*begin, "headstack", "sweep", file, "--dask", where, "--out", out, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        _until(lambda: len(list((out / folder.RUNS).glob("[0-9]*"))) >= 2)
        scheduler.kill()
        told, said = running.communicate(timeout=100)
    finally:
        scheduler.kill()
        worker.kill()
    assert running.returncode == 1, said
    done = json.loads(told)
    assert (done["failed"], done["runs"] + done["cancelled"]) == (0, 18)
    assert said.splitlines() == [
        f"warning: the cluster was lost, and {plural(done['cancelled'], 'run')} not made: "
        f"{6 - done['complete']} of 6 points not complete",
        "hint: the same command with --resume goes on; what is done is kept",
        f"wrote {out}",
    ]
    assert done["cancelled"] > 0
    run_cli("sweep", file, "--out", out, "--resume", "--json")
    headstack.sweep(file, tmp_path / "here")
    assert (out / folder.RESULTS).read_bytes() == (tmp_path / "here" / folder.RESULTS).read_bytes()


def test_a_cluster_that_is_lost_before_its_first_run_can_be_left(tmp_path: Path) -> None:
    """The client had given up the scheduler by then, and to cancel what was under way was an internal error."""
    pytest.importorskip("distributed", reason="needs `distributed`: pip install 'headstack[dask]'")
    address = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", address], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        executor = DaskExecutor(_written_address(address))
        asked = [executor.submit(abs, -1) for _ in range(3)]
    finally:
        scheduler.kill()
        scheduler.wait()
    with pytest.raises(CancelledError):
        asked[0].result(timeout=60)
    _until(lambda: executor._client.status == "closed")
    executor.shutdown(cancel_futures=True)
    assert all(future.cancelled() for future in asked)


def _written_address(file: Path) -> str:
    """Where the scheduler listens: its file is there a moment before its text is."""
    _until(lambda: file.exists() and file.read_bytes().rstrip().endswith(b"}"))
    return json.loads(file.read_text())["address"]


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 100
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)


@pytest.mark.parametrize("after", [0, 2])
def test_runs_that_an_executor_cancels_did_not_fail(tmp_path: Path, after: int) -> None:
    file = written(tmp_path, BASE + RPM)
    done = headstack.sweep(file, tmp_path / "out", executor=Lost(after))
    assert (len(done.complete), done.failures, done.cancelled) == (after, [], 3 - after)
    assert (done.summary["cancelled"], done.incomplete) == (3 - after, list(range(after, 3)))
    again = headstack.sweep(file, tmp_path / "out", resume=True)
    assert (again.resumed, len(again.complete), again.cancelled) == (after, 3, 0)


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_jobs_of_submitit_give_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    file = written(tmp_path, BASE + RPM)
    headstack.sweep(file, tmp_path / "here")
    found = run_cli("sweep", file, "--slurm", "local", "--out", tmp_path / "there", "--json").json()
    assert (found["points"], found["failed"]) == (3, 0)
    tables = [(tmp_path / place / folder.RESULTS).read_bytes() for place in ("here", "there")]
    assert tables[0] == tables[1]


def test_jobs_that_slurm_refuses_are_points_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    for name in ("srun", "sbatch", "scancel", "sacct"):
        (tmp_path / name).write_text("#!/bin/sh\necho invalid partition >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    outcome = run_cli(
        "sweep", written(tmp_path, BASE + RPM), "--slurm", "partition=none", "--out", tmp_path / "out", "--json"
    )
    assert outcome.code == 1, outcome
    done = json.loads(outcome.out)
    assert (done["failed"], done["complete"]) == (3, 0)
    assert all("invalid partition" in each["error"] for each in done["failures"])


def test_a_wrong_file_asks_no_cluster_for_anything(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    assert "cannot read" in refused("sweep", tmp_path / "none.toml", "--slurm", "local", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options_of_jobs_may_follow_the_word_local(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs `submitit`: pip install 'headstack[slurm]'")
    file = written(tmp_path, BASE + RPM)
    found = run_cli("sweep", file, "--slurm", "local,timeout_min=5", "--out", tmp_path / "out", "--json").json()
    assert found["complete"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dask", "local:none"), "not a number of workers"),
        (("--dask", "127.0.0.1:1"), "no scheduler answers"),
        (("--slurm", "partition"), "not of the form name=value"),
        (("--slurm", "local", "--threads", "2"), "give one of them"),
        (("--threads", "0"), "needs a thread"),
    ],
)
@pytest.mark.long
def test_an_executor_that_cannot_be_had_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    for option, package in (("--dask", "distributed"), ("--slurm", "submitit")):
        if option in words:
            pytest.importorskip(package)
    message = refused("sweep", written(tmp_path, BASE + RPM), "--out", tmp_path / "out", *words)
    assert said in message


@pytest.mark.parametrize(("option", "package"), [("--dask", "distributed"), ("--slurm", "submitit")])
def test_a_package_that_is_missing_is_named(tmp_path: Path, option: str, package: str) -> None:
    file = written(tmp_path, BASE + RPM)
    code = (
        f"import sys\nsys.modules[{package!r}] = None\nfrom headstack.cli import main\n"
        f"sys.exit(main(['sweep', {str(file)!r}, '--out', {str(tmp_path / 'out')!r}, {option!r}, 'local:1']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"`{package}`" in done.stderr
    # As it is typed: a shell takes brackets without quotes for a pattern.
    assert f"pip install 'headstack[{option[2:]}]'" in done.stderr
