"""What can be compared, read from files or taken from objects: times request by request, or named values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.comparison import selection
from headstack.errors import InputError
from headstack.files import to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from headstack.measure import Measurement
    from headstack.run import Run
    from headstack.validation import Validation

    Comparable = str | Path | Run | _core.Drive | _core.Trace | Validation | Measurement

KINDS = {
    "run": "the completions of a run (`simulate --out`) or its summary (`simulate --json`)",
    "trace": "a trace with measured times",
    "validation": "the scores of a model (`validate --json`)",
    "measurement": "what probes found (`measure --json`), a drive file or a drive of the library",
}


@dataclass(frozen=True)
class Value:
    """A number with the half width of its 95 % interval, where that is known.

    `label` is what readers see where the key says too little; `has_ratio` is false of differences, which lie around zero.
    """

    value: float
    unit: str
    ci95: float | None = None
    label: str = ""
    has_ratio: bool = True


@dataclass(frozen=True)
class Source:
    """One of the things that are compared.

    `times`, where it has them, are one row a request, in the order of arrival: `key` (what makes two requests the same)
    and `ms`. `values` are what is known by name. A drive file is compared with measurements, too, and says that it is none.
    """

    name: str
    kind: str
    values: dict[str, Value] = field(default_factory=dict)
    times: pl.DataFrame | None = None
    is_drive: bool = False
    words: dict[str, str] = field(default_factory=dict)
    """Values of a drive that are words: its scheduler, its write policy."""
    keys: dict[str, object] = field(default_factory=dict)
    """Every value of a drive file by its path, those of lists together."""

    @property
    def noun(self) -> str:
        """What it is called for readers."""
        return "drive" if self.is_drive else self.kind


def read(given: Comparable, time: str, open_trace: Callable[[Path], _core.Trace]) -> Source:
    """Read a file, a drive of the library or an object; `time` is `response` or `service`, for those that have times."""
    if isinstance(given, (str, Path)):
        return _file(to_read(given), time, open_trace)
    return _object(given, time)


def _object(given: Run | _core.Drive | _core.Trace | Validation | Measurement, time: str) -> Source:
    from headstack.measure import Measurement
    from headstack.run import Run
    from headstack.validation import Validation

    if isinstance(given, _core.Drive):
        return _drive(given.describe()["name"], given)
    if isinstance(given, _core.Trace):
        return _requests(given.path, time, lambda _: given)
    if isinstance(given, Run):
        return _run(given, time)
    if isinstance(given, Validation):
        name = f"{given.summary['system']} against {given.summary['workload']}"
        return Source(name, "validation", _scores(given.summary))
    if isinstance(given, Measurement):
        return Source(given.device, "measurement", _parameters(given.found["parameters"]))
    raise InputError(f"what is a `{type(given).__name__}` cannot be compared", _what_can(given))


def _what_can(given: object) -> str:
    if isinstance(given, _core.System):
        return "a system is compared by its runs; only drives are by their values"
    return "give runs, drives, traces, validations, measurements or files of them: two or more of a kind"


def _run(run: Run, time: str) -> Source:
    """A run by its completions; by its summary where they were not kept."""
    import polars as pl

    name = f"{run.summary['system']} under {run.summary['workload']}"
    try:
        rows = run.completions
    except InputError:
        return Source(name, "run", _summary(run.summary["response_ms" if time == "response" else "service_ms"]))
    return _timed(name, pl.DataFrame(rows), time, is_run=True)


def _file(path: Path, time: str, open_trace: Callable[[Path], _core.Trace]) -> Source:
    if not path.exists() and str(path) in _core.library_drives():
        return _drive(str(path), _core.Drive(str(path)))
    if not path.is_file():
        raise InputError(f"cannot read `{path}`: {_why_not(path)}", f"{_near(path)}name {'; '.join(KINDS.values())}")
    if path.suffix == ".toml":
        return _drive(path.name, _core.Drive(str(path)))
    if path.suffix == ".json":
        return _document(path, time)
    return _requests(path, time, open_trace)


def _why_not(path: Path) -> str:
    if path.is_dir():
        return "it is a folder; the folder of a sweep is compared alone, point by point"
    if str(path) in _core.library_systems():
        return "a system of the library is compared by its runs; only drives are by their values"
    # A file is read more than once.
    return "it is not a regular file: write it to one first" if path.exists() else "no such file"


def _near(path: Path) -> str:
    """The file beside it, or the drive of the library, that a name which is not there was meant to be."""
    if path.exists() or str(path) in _core.library_systems():
        return ""
    beside = [str(path.parent / each.name) for each in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(str(path), [*beside, *_core.library_drives()], 1)
    return f"did you mean `{near[0]}`? " if near else ""


def _document(path: Path, time: str) -> Source:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise InputError(f"`{path}` is not JSON: {problem}") from None
    except RecursionError:
        raise InputError(f"`{path}` is not ours: it is nested too deeply to be read") from None
    try:
        source = _known(path, document, time)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"`{path}` looks like a file of headstack, and parts of it are missing or of another kind"
        ) from None
    if source is None:
        raise InputError(f"`{path}` holds nothing that can be compared", f"name {'; '.join(KINDS.values())}")
    return source


def _known(path: Path, document: Any, time: str) -> Source | None:
    """What a file of ours holds; errors of all kinds where one like it does not."""
    if isinstance(document, dict) and "demerit_percent" in document:
        return Source(path.name, "validation", _scores(document))
    if isinstance(document, dict) and f"{time}_ms" in document and "phases_ms" in document:
        return Source(path.name, "run", _summary(document[f"{time}_ms"]))
    if isinstance(document, dict) and isinstance(document.get("parameters"), list) and "rotating" in document:
        return Source(path.name, "measurement", _parameters(document["parameters"]))
    return None


def _parameters(found: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    return {each["name"]: _parameter(each) for each in found if each["value"] is not None}


def _parameter(found: Mapping[str, Any]) -> Value:
    """What probes found, by the name that `measure` shows."""
    from headstack.report.findings import DIFFERENCES, name

    key = found["name"]
    return Value(float(found["value"]), found["unit"], found["ci95"], name(key), key not in DIFFERENCES)


def _summary(times: Mapping[str, Any]) -> dict[str, Value]:
    names = ("mean", "p50", "p90", "p99", "p999", "max")
    known = {name: times[name] for name in names if times[name] is not None}
    return {name: Value(value, "ms", times["mean_ci95"] if name == "mean" else None) for name, value in known.items()}


def _scores(document: Mapping[str, Any]) -> dict[str, Value]:
    values = {
        "demerit": Value(document["demerit_percent"], "%"),
        "demerit_ms": Value(document["demerit_ms"], "ms"),
        "model_mean": Value(document["model_mean_ms"], "ms"),
        "measured_mean": Value(document["measured_mean_ms"], "ms"),
    }
    for kind in ("", "reads", "writes"):
        scores = document[kind] if kind else document
        if scores["requests"]:
            values[f"{kind}_mae".lstrip("_")] = Value(scores["per_request"]["mae_ms"], "ms")
            if kind:
                values[f"{kind}_demerit"] = Value(scores["demerit_percent"], "%")
    return values


def _drive(name: str, drive: _core.Drive) -> Source:
    about = drive.describe()
    words = {
        "write policy": next(iter(about["write_policy"]))
        if isinstance(about["write_policy"], dict)
        else str(about["write_policy"]),
        "scheduler": about["controller"]["scheduler"],
        "read-ahead": str(cache["read_ahead"]) if (cache := about["cache"]) else "none",
    }
    keys: dict[str, object] = {}
    for path, value in _leaves(drive.spec(), ""):
        # Of a list, what differs anywhere differs.
        keys[path] = (keys[path], value) if path in keys else value
    return Source(name, "measurement", _drive_values(about), is_drive=True, words=words, keys=keys)


_ABOUT = ("name", "summary", "provenance")
"""Keys of a drive file that say nothing of what the drive does."""


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Every value of a drive file by its dotted path, with `*` for the elements of a list of tables."""
    if isinstance(value, dict):
        for key, each in value.items():
            if path or key not in _ABOUT:
                yield from _leaves(each, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for each in value:
            yield from _leaves(each, f"{path}.*")
    else:
        yield path, value


def _drive_values(about: Mapping[str, Any]) -> dict[str, Value]:
    seek = about["seek"]
    cache = about["cache"] or {"segments": 0, "segment_kib": 0}
    return {
        "capacity_sectors": Value(about["capacity_sectors"], "sectors"),
        "rotation_ms": Value(about["rotation_ms"], "ms"),
        "rotation_rpm": Value(about["rotation_rpm"], "rpm"),
        "cylinders": Value(about["cylinders"], ""),
        "actuators": Value(about["actuators"], ""),
        "heads": Value(about["heads"], "", label="heads of each actuator"),
        "heads_total": Value(about["heads"] * about["actuators"], "", label="heads"),
        "zones": Value(len(about["zones"]), ""),
        "sectors_per_track": Value(about["zones"][0]["sectors_per_track"], "sectors"),
        "head_switch_ms": Value(about["head_switch_ms"], "ms"),
        "seek_single_ms": Value(seek["single_cylinder_ms"], "ms"),
        "seek_mean_ms": Value(seek["distance_weighted_ms"], "ms"),
        "seek_longest_ms": Value(seek["full_stroke_ms"], "ms"),
        "bus_read_mb_per_s": Value(about["bus"]["read_mb_per_s"], "MB/s", label="rate of the bus, reads"),
        "bus_write_mb_per_s": Value(about["bus"]["write_mb_per_s"], "MB/s", label="rate of the bus, writes"),
        "buffer_kib": Value(about["buffer"]["size_kib"], "KiB"),
        "cache_segments": Value(cache["segments"], "", label="segments of the cache"),
        "segment_kib": Value(cache["segment_kib"], "KiB"),
        **_controller_values(about["controller"]),
    }


def _controller_values(controller: Mapping[str, Any]) -> dict[str, Value]:
    names = {
        "read_overhead_ms": "overhead of a read",
        "write_overhead_ms": "overhead of a write",
        "hit_overhead_ms": "overhead of a cache hit",
        "read_completion_ms": "completion of a read",
        "write_completion_ms": "completion of a write",
        "overhead_beside_seek_ms": "overhead beside the seek",
    }
    known = {key: name for key, name in names.items() if controller.get(key) is not None}
    values = {key: Value(controller[key], "ms", label=name) for key, name in known.items()}
    return {**values, "queue_depth": Value(controller["queue_depth"], "")}


def _requests(path: Path, time: str, open_trace: Callable[[Path], _core.Trace]) -> Source:
    import polars as pl

    is_run = False
    if path.suffix == ".parquet":
        try:
            columns = pl.scan_parquet(path, glob=False).collect_schema()
        except (OSError, pl.exceptions.PolarsError) as problem:
            raise InputError(f"cannot read `{path}`: {' '.join(str(problem).split())}") from None
        if {"probe", "series"} <= columns.keys():
            raise InputError(
                f"`{path}` is the record of a measurement, and what it shows is compared",
                f"make a file of that first: `headstack measure --from {path} --json > {path.stem}.json`",
            )
        is_run = "queue_ns" in columns
    trace = open_trace(path)
    frame = selection.of_run(path, trace) if is_run else selection.of_trace(trace)
    return replace(_timed(str(path), frame, time, is_run=is_run), name=path.name)


def _timed(said: str, frame: pl.DataFrame, time: str, *, is_run: bool) -> Source:
    """The times of a table of requests; messages call it what is `said`."""
    import polars as pl

    if frame.is_empty():
        raise InputError(f"no request of `{said}` is left to compare", "none is chosen, or none is whole")
    begin = "arrival_ns" if time == "response" else "start_ns"
    if not {begin, "finish_ns"} <= set(frame.columns):
        raise InputError(f"`{said}` has no measured times", "compare traces that have them, or runs")
    measured = frame.filter(pl.col("finish_ns").is_not_null() & pl.col(begin).is_not_null())
    if measured.is_empty():
        raise InputError(
            f"`{said}` has no measured times", f"no request has a {time} time: compare runs, or other traces"
        )
    number = pl.col("id") if is_run else pl.int_range(pl.len(), dtype=pl.UInt64)
    times = measured.sort("arrival_ns", maintain_order=True).select(
        key=pl.struct(number.alias("id"), "lba", "sectors", pl.col("op").cast(pl.String)),
        ms=(pl.col("finish_ns").cast(pl.Int64) - pl.col(begin).cast(pl.Int64)) / 1e6,
    )
    return Source(said, "run" if is_run else "trace", times=times)
