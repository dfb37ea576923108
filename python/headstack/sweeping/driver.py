"""Runs what a sweep still lacks on an executor, and keeps each run as soon as it is there."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from headstack.errors import HeadstackError
from headstack.sweeping import metrics, repeats
from headstack.sweeping.run import Record, Task, failed, run_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor

    from headstack.sweeping.definition import Definition, Point
    from headstack.sweeping.folder import Folder

_LOOK_S = 0.1


class Driver:
    """The state of a sweep that runs: what is done at each point, and what is under way.

    How often a point is repeated depends on the runs of that point only, in the order of their seeds: the same runs are
    made whatever the executor, and however often the sweep was interrupted.
    """

    def __init__(self, definition: Definition, folder: Folder, executor: Executor, kept: Iterable[Record]) -> None:
        self._definition, self._folder, self._executor = definition, folder, executor
        self._done: list[dict[int, float | None]] = [{} for _ in definition.points]
        self._under_way: list[set[int]] = [set() for _ in definition.points]
        self._finished: SimpleQueue[tuple[Task, Future[Record]]] = SimpleQueue()
        for record in kept:
            # What failed is tried again: a file may have been missing.
            if record.error is None:
                self._note(record)
        self.resumed = sum(not self._lacking(point) for point in definition.points)
        """How many points were complete before."""
        self.cancelled = 0
        """How many runs the executor gave up, as one whose cluster is lost does: they were not made, and did not fail."""

    def run(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Run what is lacking. `progress` hears how many runs are done and how many are known to be wanted."""
        done = sum(map(len, self._done))
        under_way = sum(self._submit(point) for point in self._definition.points)
        while under_way:
            task, future = self._next()
            under_way -= 1
            self._under_way[task.point].remove(task.seed)
            try:
                record = _outcome(task, future)
            except CancelledError:
                self.cancelled += 1
                continue
            self._folder.save(replace(record, hint=self._definition.hint(record.hint)))
            self._note(record)
            done += 1
            # Of an executor that gives runs up nothing more is asked.
            under_way += 0 if self.cancelled else self._submit(self._definition.points[task.point])
            if progress is not None:
                progress(done, done + under_way)

    def _next(self) -> tuple[Task, Future[Record]]:
        """The next run that is through. A signal that another thread was given is heard between two looks."""
        while True:
            try:
                return self._finished.get(timeout=_LOOK_S)
            except Empty:
                continue

    def _note(self, record: Record) -> None:
        stop = self._definition.stop
        name = stop.metric if stop is not None else ""
        self._done[record.point][record.seed] = metrics.value(name, record.summary, self._definition.usd)

    def _lacking(self, point: Point) -> list[int]:
        """The seeds that nobody has run and nobody is running."""
        done, under_way = self._done[point.number], self._under_way[point.number]
        return [seed for seed in repeats.wanted(self._definition, done) if seed not in done and seed not in under_way]

    def _submit(self, point: Point) -> int:
        seeds = self._lacking(point)
        for seed in seeds:
            self._under_way[point.number].add(seed)
            task = Task(point.number, seed, point.settings)
            future = self._served(task)
            future.add_done_callback(lambda future, task=task: self._finished.put((task, future)))
        return len(seeds)

    def _served(self, task: Task) -> Future[Record]:
        if not getattr(self._executor, "is_remote", True):
            return self._executor.submit(run_task, task)
        try:
            return self._executor.submit(run_task, task.portable())
        except (HeadstackError, OSError) as problem:
            future: Future[Record] = Future()
            future.set_result(failed(task, problem))
            return future


def _outcome(task: Task, future: Future[Record]) -> Record:
    """What a task came to. A worker that cannot be had again is the task's failure, and the rest goes on."""
    try:
        return future.result()
    except CancelledError:
        raise
    except Exception as problem:
        return failed(task, problem)
