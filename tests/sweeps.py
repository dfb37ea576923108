"""Sweep files for the tests of `sweep`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from headstack.sweeping import definition

BASE = '[base]\nsystem = "hp-97560"\nworkload = "thesis-4ms"\nrequests = 300\n'
RPM = '[[axis]]\npath = "rotation_rpm"\nvalues = [4002, 5400, 7200]\n'
GAP = '[[axis]]\nname = "gap"\npath = "workload.stream.0.inter_arrival.exponential_ms"\nvalues = [20.0, 40.0]\n'
NO_ROOM = '[[axis]]\nname = "last"\npath = "workload.stream.0.range_lba"\nvalues = [[0, 1000000], [0, 4000000]]\n'
"""The HP 97560 has fewer sectors than the second of these."""


def written(place: Path, text: str, name: str = "grid.toml") -> Path:
    path = place / name
    path.write_text(text)
    return path


def grid(tmp_path: Path, text: str) -> list[dict[str, Any]]:
    return [point.values for point in definition.load(written(tmp_path, text)).points]


class Lost(Executor):
    """An executor whose cluster is lost after so many runs."""

    def __init__(self, after: int) -> None:
        self.left = after

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.left:
            self.left -= 1
            future.set_result(fn(*args, **kwargs))
        else:
            future.cancel()
        return future
