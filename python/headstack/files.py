"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from headstack.errors import InputError


def write_whole(path: Path, text: str) -> None:
    """Write a text file that is either complete or not there."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    except OSError as problem:
        raise InputError(f"cannot create `{path}`: {problem.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes files for their owner alone; this one gets what any new file would have.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException as problem:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise InputError(f"cannot write `{path}`: {problem.strerror}") from None
        raise


def write_together(texts: dict[Path, str]) -> None:
    """Write several text files: all of them, or, if one cannot be written, none that was not there before."""
    fresh = [path for path in texts if not path.exists()]
    try:
        for path, text in texts.items():
            write_whole(path, text)
    except BaseException:
        for path in fresh:
            path.unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> None:
    """Make the folder that a file goes into, and those above it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot create the folder `{path.parent}`: {problem.strerror}") from None


def check_creatable(path: Path) -> None:
    """Refuse, before any work is done, an output whose folder neither is there nor could be made."""
    above = path.parent
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir():
        raise InputError(f"cannot create `{path}`: `{above}` is not a directory")
    check_writable(path if above == path.parent else above / path.name)


def check_report(path: Path) -> None:
    """Refuse, before any work is done, a page that could not be written or drawn."""
    check_writable(path)
    for package in ("altair", "jinja2", "polars", "vl_convert"):
        if find_spec(package) is None:
            raise InputError(f"a page needs the Python package `{package}`", "pip install 'headstack[report]'")


def check_writable(path: Path) -> None:
    """Refuse, before any work is done, an output that could not be written."""
    directory = path.parent
    if not directory.is_dir():
        raise InputError(f"cannot create `{path}`: there is no directory `{directory}`")
    if path.is_dir():
        raise InputError(f"cannot create `{path}`: it is a directory")
    if not os.access(directory, os.W_OK):
        raise InputError(f"cannot create `{path}`: no permission to write to `{directory}`")
