"""Sequential streams: a server, a disk cache and a mechanism (Vickovic, Celar & Mudnic 2010).

A reduced model of a drive, for large files that are written or read from end to end. Its delays stand for all that it leaves
out, and must be fitted before its throughputs mean anything: `headstack study vickovic` shows how far it goes.

>>> from headstack import stream
>>> fast = stream.model("maxtor-maxline-plus-ii")
>>> slow = stream.model("maxtor-maxline-plus-ii", {"cache.write_delay": {"constant_ms": 0.01}})
>>> [m.run("write", file_mb=100, record_kib=8)["mb_per_s"] for m in (fast, slow)]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headstack import notebook, unusual
from headstack._core import StreamModel
from headstack.arguments import checked
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["StreamModel", "model", "throughputs"]

# Its view is drawn in Python.
setattr(StreamModel, "_repr_html_", notebook.stream_model)  # noqa: B010 (the stubs describe the compiled class)


@checked()
def model(source: str | Path | StreamModel, values: Mapping[str, Any] | None = None) -> StreamModel:
    """Make a model of a drive (a library name or a drive file), or take one that was saved, or another with some values replaced.

    `values` are by dotted path, as `StreamModel.spec` has them: `{"cache.command_kib": None, "cache.read_delay":
    {"normal_ms": [0.01, 0.002]}}`. The laws of a delay are those of a workload's times.
    """
    if isinstance(source, StreamModel):
        made = source
    else:
        made = StreamModel(str(source))
        unusual.tell_named(str(source))
    if not values:
        return made
    spec = made.spec
    for path, value in values.items():
        table, _, key = path.partition(".")
        if table not in spec or not key:
            raise InputError(f"a stream model has no value `{path}`", "the tables are server, cache and mechanism")
        spec[table][key] = value
    return StreamModel(json=json.dumps(spec))


@checked()
def throughputs(
    model: StreamModel, op: str, cells: Iterable[tuple[float, float]], *, repeats: int = 15, seed: int = 1
) -> dict[tuple[float, float], float]:
    """Throughput in MB/s for each (file in MB, record in KiB): the mean of `repeats` files, one behind the other."""
    return {
        (file_mb, record_kib): model.run(op, file_mb=file_mb, record_kib=record_kib, repeats=repeats, seed=seed)[
            "mb_per_s"
        ]
        for file_mb, record_kib in cells
    }
