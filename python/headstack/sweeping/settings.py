"""What one run is made of: a system, requests, and how they are run, told by paths and values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.errors import InputError
from headstack.files import check_file_url, named
from headstack.overrides import scheduler_override
from headstack.sweeping.reading import nearest, toml_text, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_KEYS = ("requests", "warmup_requests", "warmup_s", "until_s", "replay")
"""How requests are run; the names are those of `simulate`'s arguments in Python."""
SOURCE_KEYS = ("system", "workload", "trace", "scheduler")
"""What is run."""
TRACE_KEYS = tuple(name for name in signature(_core.Trace).parameters if name != "path")
"""How a trace is read, below `trace.`."""

Texts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Settings:
    """A system with values replaced, what it is fed with, and how it is run.

    Paths of files stand as they are opened; values stand as TOML text, so that what is equal can be told.
    """

    system: str
    overrides: Texts
    workload: str | None
    workload_overrides: Texts
    trace: str | None
    trace_options: tuple[tuple[str, Any], ...]
    run: tuple[tuple[str, Any], ...]

    def build(self) -> Built:
        """Open the files; `InputError` where that is impossible."""
        if self.trace is not None:
            requests = _trace(self.trace, self.trace_options)
        else:
            assert self.workload is not None  # noqa: S101 (one of the two is there)
            requests = _workload(self.workload, self.workload_overrides)
        return Built(system(self.system, self.overrides), requests, self.run)


@dataclass(frozen=True)
class Built:
    """The same with its files read: it can be sent to another machine, but for the trace, which stays a path."""

    system: _core.System
    requests: _core.Workload | _core.Trace
    run: tuple[tuple[str, Any], ...]

    def build(self) -> Built:
        """It is."""
        return self


def of(values: Mapping[str, Any], folder: Path) -> Settings:
    """Sort values by what their paths reach; names of files are looked up beside the sweep file."""
    told = {key: values[key] for key in SOURCE_KEYS if key in values}
    below: dict[str, dict[str, Any]] = {"workload": {}, "trace": {}, "": {}}
    for path, value in values.items():
        head, dot, rest = path.partition(".")
        if dot and head in ("workload", "trace"):
            below[head][rest] = value
        elif path not in SOURCE_KEYS and path not in RUN_KEYS:
            below[""][path] = value
    for key, value in told.items():
        if not isinstance(value, str):
            raise InputError(f"`{key}`: {typed(value)} is not a name", "a name in the library, or a file")
    if "trace" in told:
        check_file_url(told["trace"])
    for option in below["trace"]:
        if option not in TRACE_KEYS:
            raise InputError(f"a trace has no option `trace.{option}`", nearest(option, TRACE_KEYS))
    for key, other in (("workload", "trace"), ("trace", "workload")):
        if below[key] and key not in told:
            raise InputError(f"`{key}.{next(iter(below[key]))}` is set, and the requests come from a {other}")
    overrides = [(path, toml_text(value)) for path, value in below[""].items()]
    if "scheduler" in told:
        overrides.append(scheduler_override(told["scheduler"], "scheduler"))
    return Settings(
        _found(told["system"], folder),
        tuple(overrides),
        _found(told["workload"], folder) if "workload" in told else None,
        tuple((path, toml_text(value)) for path, value in below["workload"].items()),
        _found(told["trace"], folder) if "trace" in told else None,
        tuple((key, _frozen(value)) for key, value in below["trace"].items()),
        tuple((key, values[key]) for key in RUN_KEYS if key in values),
    )


def _found(name: str, folder: Path) -> str:
    """The file beside the sweep file, if there is one; else the name as it stands."""
    beside = folder / name
    return str(beside) if "\n" not in name and beside.is_file() else named(name)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def forget() -> None:
    """Read files anew from now on: they may have changed since the last sweep of this process."""
    for kept in (system, _workload, _trace):
        kept.cache_clear()


# The same system runs with many seeds, and the same load on many systems.
@lru_cache(maxsize=256)
def system(name: str, overrides: Texts) -> _core.System:
    """A system by its name; what has several lines is the text of its file."""
    if "\n" in name:
        return _core.System(toml=name, overrides=list(overrides))
    return _core.System(name, overrides=list(overrides))


@lru_cache(maxsize=256)
def _workload(name: str, overrides: Texts) -> _core.Workload:
    return _core.Workload(name, overrides=list(overrides))


@lru_cache(maxsize=256)
def _trace(path: str, options: tuple[tuple[str, Any], ...]) -> _core.Trace:
    keywords: dict[str, Any] = {key: list(value) if isinstance(value, tuple) else value for key, value in options}
    return _core.Trace(Path(path), **keywords)
