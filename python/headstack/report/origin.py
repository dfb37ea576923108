"""Where a page comes from: the command, the files it read, the commit, the day."""

from __future__ import annotations

import os
import shlex
import subprocess
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import file_digest
from pathlib import Path

LARGEST_HASHED = 1 << 30
"""Files beyond this size are named without a hash: reading them again would take longer than the run."""


@dataclass(frozen=True)
class Origin:
    """A command line, and the files that it reads."""

    words: tuple[str, ...]
    inputs: tuple[Path, ...]


command: ContextVar[Origin | None] = ContextVar("command", default=None)
"""The command that is run; `None` in a program that imports headstack."""


def rows() -> list[tuple[str, str]]:
    """What to cite, beside the configuration."""
    found = []
    if known := _commit():
        found.append(("commit", known))
    typed = command.get()
    if typed is not None:
        found.append(("command", shlex.join(["headstack", *typed.words])))
        found += [("input", f"{path}: {_hash(path)}") for path in dict.fromkeys(typed.inputs) if path.is_file()]
    return [*found, ("date", _today().isoformat(timespec="minutes"))]


def _today() -> datetime:
    # What packagers set to get the same bytes again.
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)


def _hash(path: Path) -> str:
    if path.stat().st_size > LARGEST_HASHED:
        return f"{path.stat().st_size:,} bytes, not hashed"
    with path.open("rb") as file:
        return f"sha256 {file_digest(file, 'sha256').hexdigest()[:16]}"


@cache
def _commit() -> str | None:
    """The commit of the source tree that this package runs from, if it runs from one."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists() or not (root / "pyproject.toml").is_file():
        return None
    git = ("git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
