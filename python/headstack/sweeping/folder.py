"""The folder of a sweep: a manifest that says which sweep it is, and a file for each finished run.

A run's file appears when it is whole, so that a process that is killed leaves only whole runs; what has a file is done.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.counted import kept_runs
from headstack.errors import InputError
from headstack.sweeping.run import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from headstack.sweeping.definition import Definition

KIND = "headstack sweep"
SCHEMA_VERSION = 1
MANIFEST, SWEEP, RUNS, RESULTS = "manifest.json", "sweep.toml", "runs", "results.parquet"
_TOLD = frozenset(["identity", "version", "file"])
JOBS = "slurm"
"""Where jobs of a cluster keep their files; it may be there before anything else."""


@dataclass(frozen=True)
class Folder:
    """Where the runs of a sweep are kept."""

    path: Path

    def save(self, record: Record) -> None:
        """Keep a run; it is on the disk when this returns."""
        file = self.path / RUNS / f"{record.point:06}-{record.seed}.parquet"
        self._write(file, _frame([record]))

    def records(self) -> Iterable[Record]:
        """The runs that are kept, in order of point and seed."""
        # A new sweep begins without reading tables: what reads them takes longer to load than the rest.
        if not self._files():
            return
        for row in self._runs().iter_rows(named=True):
            cdf = list(zip(row["cdf_ms"], row["cdf_share"], strict=True))
            summary = json.loads(row["summary"])
            yield Record(row["point"], row["seed"], summary, cdf, row["wall_s"], row["error"], row["hint"])

    def _files(self) -> list[Path]:
        return sorted((self.path / RUNS).glob("[0-9]*.parquet"))

    def _runs(self) -> pl.DataFrame:
        import polars as pl

        files = self._files()
        if not files:
            return _frame([])
        reason = "it is not the file of a run"
        try:
            runs = pl.read_parquet(files, glob=False)
            if runs.schema == _schema():
                return runs.sort("point", "seed")
        except (OSError, pl.exceptions.PolarsError) as problem:
            reason = " ".join(str(problem).split())
        broken = next((file for file in files if not _is_readable(file)), self.path)
        raise InputError(f"cannot read `{broken}`: {reason}", "remove it: --resume makes that run again")

    def manifest(self) -> dict[str, Any]:
        """What the folder says it is; `InputError` where it is not a sweep's."""
        try:
            known = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            known = None
        if not isinstance(known, dict) or known.get("kind") != KIND or not known.keys() >= _TOLD:
            raise InputError(f"`{self.path}` is not the folder of a sweep", "headstack sweep FILE --out DIR makes one")
        return known

    def write_results(self, rows: pl.DataFrame) -> Path:
        """The table of all runs, whole."""
        file = self.path / RESULTS
        self._write(file, rows)
        return file

    def _write(self, file: Path, rows: pl.DataFrame) -> None:
        try:
            _core.write_at_once(file, _parquet(rows))
        except InputError as problem:
            kept = sum(file.is_file() for file in self._files())
            done = f"{kept_runs(kept)}; --resume goes on once the folder can be written to"
            raise InputError(str(problem), problem.hint or done) from None


def opened(path: Path, definition: Definition, *, resume: bool) -> Folder:
    """The folder for a sweep: a new one, or, to go on, one that holds the same sweep."""
    folder, identity = Folder(path), definition.identity()
    if path.exists() and not path.is_dir():
        raise InputError(f"`{path}` is a file, and results need a folder")
    if path.is_dir() and not _is_new(path, definition.text):
        known = folder.manifest()
        if known.get("identity") != identity:
            raise InputError(
                f"`{path}` holds another sweep ({known.get('file')}, version {known.get('version')})",
                "choose another folder: the file, what it names, or headstack has changed since",
            )
        if not resume:
            raise InputError(f"`{path}` holds runs of this sweep", "--resume goes on with it")
        if (path / RESULTS).is_symlink():
            raise InputError(f"`{path / RESULTS}` is a link, and what it leads to would be replaced", "remove the link")
        (path / RUNS).mkdir(exist_ok=True)
        return folder
    try:
        (path / RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot create the folder `{path}`: {problem.strerror}") from None
    _core.write_at_once(path / SWEEP, definition.text.encode())
    manifest = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "version": _core.VERSION,
        "identity": identity,
        "file": str(definition.path.resolve()),
        "summary": definition.summary,
        "points": len(definition.points),
        "axes": {each.name: each.paths for each in definition.axes},
        "metrics": definition.metrics,
    }
    _core.write_at_once(path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    return folder


def _is_new(path: Path, text: str) -> bool:
    """Whether a folder holds nothing, or what this sweep has there before the manifest: it was killed as it began."""
    names = {each.name for each in path.iterdir() if not each.name.startswith(".")}
    if not names <= {JOBS, SWEEP, RUNS} or (RUNS in names and any((path / RUNS).iterdir())):
        return False
    # Another text of that name is somebody's file, which would be replaced.
    return SWEEP not in names or _holds(path / SWEEP, text)


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_bytes() == text.encode()
    except OSError:
        return False


def _is_readable(file: Path) -> bool:
    import polars as pl

    try:
        return pl.scan_parquet(file, glob=False).collect_schema() == _schema()
    except (OSError, pl.exceptions.PolarsError):
        return False


def _schema() -> pl.Schema:
    """The columns of a run's file."""
    import polars as pl

    return pl.Schema({
        "point": pl.Int64, "seed": pl.UInt64, "error": pl.String, "hint": pl.String, "summary": pl.String,
        "cdf_ms": pl.List(pl.Float64), "cdf_share": pl.List(pl.Float64), "wall_s": pl.Float64,
    })  # fmt: skip


def _frame(records: list[Record]) -> pl.DataFrame:
    import polars as pl

    rows = [
        {
            "point": each.point, "seed": each.seed, "error": each.error, "hint": each.hint,
            "summary": json.dumps(each.summary, separators=(",", ":")),
            "cdf_ms": [ms for ms, _ in each.cdf], "cdf_share": [share for _, share in each.cdf], "wall_s": each.wall_s,
        }
        for each in records
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_schema())


def _parquet(frame: pl.DataFrame) -> bytes:
    target = io.BytesIO()
    frame.write_parquet(target, compression="zstd", statistics=False)
    return target.getvalue()
