"""Traces that are elsewhere: whatever fsspec opens by its URL."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

from headstack.errors import InputError, package_hint

_PIECE = 1 << 22
_ONE_SLASH = re.compile(r"^((?!file:|local:)[A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""The path of a local file is the same after one slash as after three."""


def is_url(name: str) -> bool:
    """Whether a name is a URL and not a file."""
    return "://" in name and not Path(name).exists()


def copied(url: str) -> IO[bytes]:
    """Copy what a URL names into a file without a name, which is there until it is closed."""
    url = _slashes_put_back(url)
    fsspec = _fsspec(url)
    target = tempfile.TemporaryFile()  # noqa: SIM115 (whoever asked closes it)
    try:
        with fsspec.open(url, "rb") as source:
            shutil.copyfileobj(source, target, _PIECE)
        target.flush()
    except KeyboardInterrupt:
        target.close()
        raise
    except Exception as problem:  # each file system of fsspec has exceptions of its own
        target.close()
        raise _unreadable(url, problem) from None
    return target


def version(url: str) -> str:
    """What changes when the contents of a URL do, as far as its file system tells."""
    fsspec = _fsspec(url)
    try:
        system, path = fsspec.core.url_to_fs(url)
        return str(system.ukey(path))
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"


def _slashes_put_back(url: str) -> str:
    """A chain of URLs (`zip://a.csv::https://host/b.zip`) of which a path object made one slash of two."""
    first, *others = url.split("::")
    return "::".join([first, *(_ONE_SLASH.sub(r"\1://", link) for link in others)])


def _fsspec(url: str) -> Any:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise InputError(f"`{url}` needs the Python package `fsspec`", package_hint("fsspec")) from None
    return fsspec


def _unreadable(url: str, problem: Exception) -> InputError:
    if isinstance(problem, ModuleNotFoundError):
        return InputError(f"`{url}` needs the Python package `{problem.name}`", package_hint(str(problem.name)))
    if isinstance(problem, ImportError):
        return InputError(f"cannot open `{url}`: {problem}", "install the package it names")
    if isinstance(problem, FileNotFoundError):
        return InputError(f"there is nothing at `{url}`", "name a file that is there")
    text = " ".join(str(problem).split()) or type(problem).__name__
    return InputError(f"cannot read `{url}`: {text}", "a path, or a URL that fsspec opens")
