"""Machines of a Dask cluster, or processes of this one (`local:N`)."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError, package_hint

if TYPE_CHECKING:
    from collections.abc import Callable

_RETRIES = 3
"""A run whose worker is lost is given to another one so many times."""


class DaskExecutor(Executor):
    """What `distributed` calls an executor, and the client and cluster that belong to it."""

    is_remote = True

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, LocalCluster
        except ModuleNotFoundError as problem:
            raise InputError(
                f"--dask needs the Python package `{problem.name}`", package_hint("dask", "distributed")
            ) from None
        self._cluster = None
        if address.startswith("local:"):
            self._cluster = LocalCluster(
                n_workers=_workers(address),
                threads_per_worker=1,
                processes=True,
                # None: no page in a browser.
                dashboard_address=None,  # pyright: ignore[reportArgumentType]
            )
        try:
            self._client = Client(self._cluster or address, timeout="10s", set_as_default=False)
        except (OSError, ValueError, TimeoutError) as problem:
            raise InputError(
                f"--dask {address}: no scheduler answers there ({problem})", "HOST:PORT of a dask-scheduler, or local:2"
            ) from None
        self._executor = self._client.get_executor(pure=False, retries=_RETRIES)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Serve a call on a worker."""
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; what is under way on workers of ours ends with them."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _workers(address: str) -> int:
    word = address.removeprefix("local:")
    if not word.isdecimal() or not 1 <= int(word) <= 1024:
        raise InputError(f"--dask {address}: `{word}` is not a number of workers", "local:2")
    return int(word)
