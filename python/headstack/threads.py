"""Threads for work that releases the interpreter's lock: simulations and measurements of simulated devices."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Pool(ThreadPoolExecutor):
    """One thread a core. When the work is broken off, what waits is dropped, and nobody waits for what was begun."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads or os.cpu_count() or 1)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown(wait=kind is None, cancel_futures=kind is not None)
