"""Traces that are elsewhere: whatever fsspec opens by its URL."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import IO, Any

from headstack.errors import InputError, package_hint
from headstack.files import check_file_url, of_url

_PIECE = 1 << 22
_ONE_SLASH = re.compile(r"^((?!(?i:file|local):)[A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""The path of a local file is the same after one slash as after three."""

_EXTRAS = {
    **{kind: kind for kind in ("http", "s3", "gcs", "sftp", "ssh", "smb", "abfs")},
    "https": "http",
    "s3a": "s3",
    "gs": "gcs",
    "az": "abfs",
}


def is_url(name: str) -> bool:
    """Whether a name is a URL and not a file."""
    return "://" in name and not Path(name).exists()


def as_given(path: Path) -> str:
    """A path as it was named: one that is a URL has both its slashes again."""
    if path.exists():
        return str(path)
    return "::".join(_ONE_SLASH.sub(r"\1://", link) for link in str(path).split("::"))


def copied(url: str) -> IO[bytes]:
    """Copy what a URL names into a file without a name, which is there until it is closed."""
    url = _slashes_put_back(url)
    check_file_url(url)
    if (path := of_url(url)) is not None:
        url = f"file://{path}"
    fsspec = _fsspec(url)
    target = tempfile.TemporaryFile()  # noqa: SIM115 (whoever asked closes it)
    try:
        with fsspec.open(url, "rb") as source:
            while piece := source.read(_PIECE):
                _written(target, piece)
    except (KeyboardInterrupt, InputError):
        target.close()
        raise
    except Exception as problem:  # each file system of fsspec has exceptions of its own
        target.close()
        raise _unreadable(url, problem) from None
    return target


def _written(target: IO[bytes], piece: bytes) -> None:
    try:
        target.write(piece)
        target.flush()
    except OSError as problem:
        raise InputError(
            f"cannot copy the trace to `{tempfile.gettempdir()}`: {problem.strerror}", "TMPDIR=… names another place"
        ) from None


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
        return InputError(f"cannot open `{url}`: {problem}", _extra_hint(url))
    cause = problem.__cause__
    if isinstance(problem, FileNotFoundError) and isinstance(cause, OSError):
        # A server that does not answer is a file that is not there, to the file system of HTTP.
        return InputError(f"cannot reach `{url}`: {_one_line(cause)}", "is the address right, and the server up?")
    if isinstance(problem, FileNotFoundError):
        return InputError(f"there is nothing at `{url}`", "name a file that is there")
    return InputError(f"cannot read `{url}`: {_one_line(problem)}", "a path, or a URL that fsspec opens")


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split()) or type(problem).__name__


def _extra_hint(url: str) -> str:
    """How to install what fsspec lacks for a URL: it has an extra for each kind, called as the kind is."""
    kinds = [link.partition("://")[0] for link in url.split("::")]
    extras = sorted({_EXTRAS[kind] for kind in kinds if kind in _EXTRAS})
    return package_hint(f"'fsspec[{','.join(extras)}]'") if extras else "install the package it names"
