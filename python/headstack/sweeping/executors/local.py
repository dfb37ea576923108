"""All cores of this machine: threads of this process, for the interpreter's lock is released while a run is simulated."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LocalExecutor(ThreadPoolExecutor):
    """Threads that serve runs, and leave them in the middle when they are told to shut down."""

    is_remote = False

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads or cores(), thread_name_prefix="sweep")
        self._stopping = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Serve a call, which is told by `goes_on` whether it is still wanted."""
        return super().submit(partial(fn, goes_on=self._goes_on), *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; with `cancel_futures` also what is under way, within a tenth of a second."""
        if cancel_futures:
            self._stopping.set()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _goes_on(self) -> bool:
        return not self._stopping.is_set()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
