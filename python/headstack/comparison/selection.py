"""Which requests of a run or a trace are compared: those of some devices, of one direction, of a span of time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from headstack import _core

_MOVES = ("time_scale", "inter_arrival_ms", "lba_offset", "lba_scale", "fit_lba")
_CHOSEN = ("devices", "from_s", "to_s")


def of_trace(trace: _core.Trace) -> pl.DataFrame:
    """The requests of a trace that its options choose."""
    import polars as pl

    options = _options(trace)
    if not any(options[name] not in (None, []) for name in _CHOSEN):
        return pl.DataFrame(trace)
    # Its Arrow stream leaves these options out: where the trace's clock begins, its format knows.
    with TemporaryDirectory(prefix="headstack-") as place:
        chosen = Path(place) / "chosen.parquet"
        trace.convert(chosen, strict=False)
        return pl.read_parquet(chosen)


def of_run(path: Path, trace: _core.Trace) -> pl.DataFrame:
    """The completions of a run that the options of `trace`, which is the same file, choose."""
    import polars as pl

    options = _options(trace)
    rows = pl.read_parquet(path, glob=False)
    if options["op"] is not None:
        # What empties a cache or gives sectors up goes with writes.
        is_read = pl.col("op").cast(pl.String) == "read"
        rows = rows.filter(is_read if options["op"] == "read" else ~is_read)
    if devices := [device for device, _ in options["devices"]]:
        rows = _of_devices(path, rows, devices)
    if options["from_s"] is not None:
        rows = rows.filter(pl.col("arrival_ns") >= options["from_s"] * 1e9)
    if options["to_s"] is not None:
        rows = rows.filter(pl.col("arrival_ns") < options["to_s"] * 1e9)
    return rows


def _of_devices(path: Path, rows: pl.DataFrame, devices: list[int]) -> pl.DataFrame:
    import polars as pl

    known = sorted(rows["device"].unique().to_list())
    if not set(devices) & set(known):
        wanted = " ".join(map(str, devices))
        raise InputError(f"`{path}` holds nothing of device {wanted}", f"devices in it: {' '.join(map(str, known))}")
    return rows.filter(pl.col("device").is_in(devices))


def _options(trace: _core.Trace) -> dict[str, Any]:
    """What the trace was opened with; what moves requests is refused, since they are compared as they were served."""
    from headstack import _core

    options = trace.__getnewargs_ex__()[1]
    plain = _core.Trace(trace.path).__getnewargs_ex__()[1] if any(options[name] for name in _MOVES) else options
    if moved := [name for name in _MOVES if options[name] != plain[name]]:
        raise InputError(
            f"`{moved[0]}` changes requests, and those compared are served already", "leave it out: nothing is run here"
        )
    return options
