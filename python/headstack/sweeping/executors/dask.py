"""Machines of a Dask cluster, or processes of this one (`local:N`)."""

from __future__ import annotations

import logging
import os
import signal
import threading
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError, extra_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RETRIES = 3
"""A run whose worker is lost is given to another one so many times."""
_LOOK_S = 0.5
_GRACE_S = 2.0
"""So long after the scheduler was lost results are still taken: some are on their way."""


class DaskExecutor(Executor):
    """What `distributed` calls an executor, and the client and cluster that belong to it.

    Runs of a cluster that is lost are cancelled, which is all there is to know: until it is shut down, nothing is logged.
    """

    is_remote = True

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, LocalCluster
        except ModuleNotFoundError as problem:
            raise InputError(f"--dask needs the Python package `{problem.name}`", extra_hint("dask")) from None
        self._cluster = None
        self._logged = ExitStack()
        if address.startswith("local:"):
            with _deaf_to_ctrl_c():
                self._cluster = LocalCluster(
                    n_workers=_workers(address),
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
        try:
            self._client = Client(self._cluster or address, timeout="10s", set_as_default=False)
        # What answers in another protocol sends lengths that no memory holds.
        except (OSError, ValueError, TimeoutError, MemoryError) as problem:
            raise InputError(
                f"--dask {address}: no scheduler answers there ({problem})", "HOST:PORT of a dask-scheduler, or local:2"
            ) from None
        self._executor = self._client.get_executor(pure=False, retries=_RETRIES)
        # What breaks with a scheduler that is gone logs a traceback for each connection, and asyncio others.
        self._logged.enter_context(_unlogged())
        self._under_way: set[Future[Any]] = set()
        self._is_lost = False
        self._lock, self._closing = threading.Lock(), threading.Event()
        threading.Thread(target=self._watch, name="dask", daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Serve a call on a worker; it is cancelled where the scheduler is gone."""
        from distributed.client import ClosedClientError

        future: Future[Any] = Future()
        try:
            served = self._executor.submit(fn, *args, **kwargs)
        except (ClosedClientError, OSError):
            _give_up(future)
            return future
        with self._lock:
            self._under_way.add(future)
        served.add_done_callback(lambda served: self._settle(future, served))
        return future

    def _settle(self, future: Future[Any], served: Future[Any]) -> None:
        """Pass on what a call came to, unless it was given up meanwhile."""
        with self._lock:
            self._under_way.discard(future)
        if served.cancelled():
            self._is_lost = True
            _give_up(future)
            return
        with suppress(InvalidStateError):
            problem = served.exception()
            future.set_result(served.result()) if problem is None else future.set_exception(problem)

    def _watch(self) -> None:
        """Give up what is under way once the scheduler is lost: `distributed` waits without end for some results."""
        while not self._closing.wait(_LOOK_S):
            if not self._is_lost and self._client.status == "running":
                continue
            self._closing.wait(_GRACE_S)
            with self._lock:
                open_ones, self._under_way = self._under_way, set()
            for future in open_ones:
                _give_up(future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; with `cancel_futures` what is under way is given up, and workers of ours end in the middle of it."""
        from distributed.client import ClosedClientError

        self._closing.set()
        is_there = not self._is_lost and self._client.status == "running"
        # A client that has given up its scheduler says with an error that there is nothing to cancel any more.
        with suppress(ClosedClientError):
            self._executor.shutdown(wait=wait and not cancel_futures and is_there)
        with self._logged:
            _undisturbed(lambda: self._end(in_the_middle=cancel_futures))

    def _end(self, *, in_the_middle: bool) -> None:
        if in_the_middle and self._cluster is not None:
            # A worker that is asked to end finishes its run first; one that is just gone is begun again.
            for nanny in self._cluster.workers.values():
                nanny.close_gracefully()
                if nanny.pid:
                    with suppress(ProcessLookupError):
                        os.kill(nanny.pid, signal.SIGKILL)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Connections that break because workers are ended are no news to whoever ended them."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _give_up(future: Future[Any]) -> None:
    """Cancel a future, and tell those who wait for it."""
    if future.cancel():
        with suppress(RuntimeError, InvalidStateError):
            future.set_running_or_notify_cancel()


def _undisturbed(work: Callable[[], None]) -> None:
    """Do what must be done to its end, whatever signal comes meanwhile; processes would be left behind."""
    thread = threading.Thread(target=work, name="closing")
    thread.start()
    heard: KeyboardInterrupt | None = None
    while thread.is_alive():
        try:
            thread.join(0.1)
        except KeyboardInterrupt as signal_:
            heard = signal_
    if heard is not None:
        raise heard


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes begun meanwhile do not hear Ctrl-C, which a terminal sends to all: whoever began them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _workers(address: str) -> int:
    word = address.removeprefix("local:")
    if not word.isdecimal() or not 1 <= int(word) <= 1024:
        raise InputError(f"--dask {address}: `{word}` is not a number of workers", "local:2")
    return int(word)
