"""Jobs of a Slurm cluster, by submitit; runs that are asked for together become one array of jobs."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Executor, Future
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError, extra_hint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import submitit

    _Asked = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]

_POLL_S = 0.5
_DEFAULTS = {"name": "headstack", "timeout_min": 60, "cpus_per_task": 1}


class SlurmExecutor(Executor):
    """submitit's executor with futures of the standard library. `local` serves jobs as processes of this machine."""

    is_remote = True

    def __init__(self, options: str, folder: Path) -> None:
        try:
            import submitit
        except ModuleNotFoundError:
            raise InputError("--slurm needs the Python package `submitit`", extra_hint("slurm")) from None
        parameters = {**_DEFAULTS, **_parameters(options)}
        try:
            is_local = options.partition(",")[0].strip() == "local"
            self._executor = submitit.AutoExecutor(folder, cluster="local" if is_local else "slurm")
            self._executor.update_parameters(**parameters)
        except (NameError, TypeError, ValueError, AssertionError, RuntimeError) as problem:
            raise InputError(f"--slurm {options}: {problem}", "partition=long,timeout_min=60") from None
        self._asked: list[_Asked] = []
        self._jobs: list[tuple[Future[Any], submitit.Job[Any]]] = []
        self._lock, self._stopping = threading.Lock(), threading.Event()
        self._poller = threading.Thread(target=self._poll, name="slurm", daemon=True)
        self._poller.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Serve a call in a job, which is sent off within half a second, with the others of that time."""
        future: Future[Any] = Future()
        with self._lock:
            self._asked.append((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; with `cancel_futures` the jobs under way are cancelled."""
        self._stopping.set()
        self._poller.join()
        for future, job in self._jobs:
            if cancel_futures:
                job.cancel(check=False)
                future.set_exception(CancelledError())
            elif wait:
                _settle(future, job)

    def _poll(self) -> None:
        while not self._stopping.wait(_POLL_S):
            with self._lock:
                asked, self._asked = self._asked, []
            if asked:
                self._send_off(asked)
            waiting, self._jobs = self._jobs, []
            for future, job in waiting:
                if job.done():
                    _settle(future, job)
                else:
                    self._jobs.append((future, job))

    def _send_off(self, asked: list[_Asked]) -> None:
        """Make an array of jobs of them; what keeps Slurm from taking it is what each of them came to."""
        try:
            with self._executor.batch():
                jobs = [self._executor.submit(fn, *args, **kwargs) for _, fn, args, kwargs in asked]
        except Exception as problem:
            for future, *_ in asked:
                future.set_exception(problem)
            return
        self._jobs += [(each[0], job) for each, job in zip(asked, jobs, strict=True)]


def _settle(future: Future[Any], job: submitit.Job[Any]) -> None:
    try:
        future.set_result(job.result())
    except Exception as problem:
        future.set_exception(problem)


# What submitit knows under the same name on every cluster; everything else is an option of Slurm.
_SHARED = (
    "name",
    "timeout_min",
    "mem_gb",
    "nodes",
    "cpus_per_task",
    "gpus_per_node",
    "tasks_per_node",
    "stderr_to_stdout",
)


def _without_local(options: str) -> str:
    first, _, rest = options.partition(",")
    return rest if first.strip() == "local" else options


def _parameters(options: str) -> dict[str, Any]:
    """Read `partition=long,timeout_min=60`."""
    found: dict[str, Any] = {}
    for pair in filter(None, _without_local(options).split(",")):
        name, _, value = (word.strip() for word in pair.partition("="))
        if not name or not value:
            raise InputError(
                f"--slurm {options}: `{pair}` is not of the form name=value", "partition=long,timeout_min=60"
            )
        found[name if name in _SHARED else f"slurm_{name}"] = int(value) if value.isdecimal() else value
    return found
