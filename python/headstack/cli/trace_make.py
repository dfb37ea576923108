"""`headstack trace make`: a trace like another one."""

from __future__ import annotations

import json as js
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUT_NAMES, OUTPUT, RUN, Json, ReadOptions, Strict, WrittenAs
from headstack.counted import plural
from headstack.errors import InputError
from headstack.files import write_whole
from headstack.shown import Shown, shown

if TYPE_CHECKING:
    from headstack import Trace


def make(
    out: Annotated[
        Path | None, Parameter(name=OUT_NAMES, help="What to write, as `trace convert` does.", group=OUTPUT)
    ] = None,
    *,
    like: Annotated[Path | None, Parameter(group=RUN, help="The trace to be like.")] = None,
    model: Annotated[Path | None, Parameter(group=RUN, help="A workload model that `--save-model` wrote.")] = None,
    requests: Annotated[
        int | None, Parameter(group=RUN, help="How many requests; as many as the trace if absent.")
    ] = None,
    seed: Annotated[int, Parameter(group=RUN, help="Seed of all that is random.")] = 0,
    as_: WrittenAs = None,
    save_model: Annotated[Path | None, Parameter(group=OUTPUT, help="Write the fitted model, as JSON.")] = None,
    how: Annotated[ReadOptions, Parameter(name="*")] = ReadOptions(),  # noqa: B008 (immutable)
    strict: Strict = False,
    json: Json = False,
) -> int:
    """Fit a compact workload model to a trace, and make a trace after it."""
    from headstack._core import fit_workload, make_trace

    if (like is None) == (model is None):
        raise InputError("either a trace (`--like`) or a model (`--model`) says what to make", "give one of them")
    if out is None and save_model is None:
        raise InputError("there is nothing to write", "give a file for the trace, or `--save-model`")
    if requests is not None and requests < 1:
        raise InputError(f"--requests {requests} is too few", "1 or more")
    if not 0 <= seed < 2**64:
        raise InputError(f"--seed {seed} is not a seed", "0 to 2^64 - 1")
    text, fitted = "", {}
    if model is not None:
        try:
            text = model.read_text(encoding="utf-8")
            fitted = js.loads(text)
        except UnicodeDecodeError:
            raise InputError(f"`{model}` is not a workload model: it is not text", "--save-model writes one") from None
        except ValueError as problem:
            raise InputError(f"`{model}` is not a workload model: {problem}") from None
    elif like is not None:
        fitted = fit_workload(how.open(like), strict=strict)
        text = js.dumps(fitted)
    count = requests or fitted.get("requests", 0)
    written = make_trace(text, out, requests=count, seed=seed, format=as_) if out is not None else 0
    if save_model is not None:
        write_whole(save_model, js.dumps(fitted, indent=1) + "\n")
    compared: list[dict[str, Any]] = []
    if like is not None and out is not None:
        # In a thread of its own a file appears at once, where those of the command wait for its end.
        with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as other:
            copy = Path(folder) / "made.parquet"
            other.submit(make_trace, text, copy, requests=count, seed=seed).result()
            original = other.submit(_reads_and_writes, how.open(like), Path(folder), strict=strict).result()
            compared = _compared(original, copy, fitted, strict=strict)
    if json:
        files = {"out": out and str(out), "model": save_model and str(save_model)}
        about = {**files, "requests": written, "fitted_to": fitted.get("requests"), "seed": seed}
        output.print_json({**about, "likeness": compared})
    elif out is not None:
        output.sentence(f"{out}: {plural(written, 'request')}")
        _show(compared)
    return 0


DRIVES = ("nearline-18tb", "cheetah-9lp")
SIMULATED = 50_000
# How far off these may be, as VALIDATION.md asks: by ratio, but for what lies between 0 and 1 of itself by difference.
OFF = {
    "requests_per_s": 1.1,
    "mean_bytes": 1.1,
    "seek_median_bytes": 1.1,
    "again_fraction": 1.1,
    "mean_ms": 1.15,
    "p99_ms": 1.15,
    "dispersion": 1.5,
}
APART = {"hurst": 0.05, "read_fraction": 0.05, "sequential_fraction": 0.05}


def _reads_and_writes(trace: Trace, folder: Path, *, strict: bool) -> Trace:
    """The trace without its flushes and discards, of which none are made: on a drive they would be compared with nothing."""
    from headstack import Trace

    if not trace.info(strict=strict)["records_skipped"]:
        return trace
    plain = folder / "original.csv"
    trace.convert(plain, strict=strict)
    return Trace(plain)


def _compared(original: Trace, copy: Path, fitted: dict[str, Any], *, strict: bool) -> list[dict[str, Any]]:
    """What original and made trace come to: rows of a name, both values and their ratio."""
    from headstack import Trace
    from headstack._core import trace_likeness

    made = Trace(copy)
    pair = [trace_likeness(original, strict=strict), trace_likeness(made)]
    names = (
        "requests_per_s",
        "read_fraction",
        "mean_bytes",
        "hurst",
        "seek_median_bytes",
        "sequential_fraction",
        "again_fraction",
    )
    values = [(name, *(each[name] for each in pair)) for name in names]
    scales = [{each["scale_s"]: each["index"] for each in one["dispersion"]} for one in pair]
    values += [(f"dispersion_{scale}_s", scales[0][scale], scales[1].get(scale)) for scale in scales[0]]
    devices: list[tuple[int, int | None]] = [(each["device"], 0) for each in fitted["devices"]]
    for drive in DRIVES:
        values += _simulated(drive, (original, made), devices)
    return [
        {
            "what": name,
            "original": first,
            "made": second,
            "ratio": second / first if first and second is not None else None,
            "is_alike": _is_alike(name, first, second),
        }
        for name, first, second in values
    ]


def _is_alike(name: str, original: float | None, made: float | None) -> bool | None:
    """Whether the trace made is as near as it should be; None where nothing is asked, or known."""
    if original is None or made is None:
        return None
    if name in APART:
        return abs(made - original) <= APART[name]
    off = next((off for what, off in OFF.items() if name.startswith(what) or name.endswith(what)), None)
    if off is None:
        return None
    return original == made or (min(original, made) > 0 and max(original, made) / min(original, made) <= off)


def _simulated(
    drive: str, traces: tuple[Trace, Trace], devices: list[tuple[int, int | None]]
) -> list[tuple[str, float, float]]:
    """Mean and p99 of both on a drive, all devices on it, addresses wrapped."""
    from headstack import Trace, simulate

    runs = []
    for trace in traces:
        (path,), keywords = trace.__getnewargs_ex__()
        whole = Trace(path, **{**keywords, "devices": devices, "fit_lba": "wrap"})
        runs.append(simulate(drive, whole, replay="open", requests=SIMULATED, keep=False).summary["response_ms"])
    return [(f"{drive}_{key}_ms", runs[0][key], runs[1][key]) for key in ("mean", "p99")]


def _show(compared: list[dict[str, Any]]) -> None:
    if not compared:
        return
    words = [
        (each["what"].replace("_", " "), *(_word(each[key]) for key in ("original", "made", "ratio")))
        for each in compared
    ]
    output.line()
    caption = f"Simulated: the first {SIMULATED:,} requests, as they arrive, all devices on one drive."
    output.table("The original, and the trace made after it", ["", "original", "made", "ratio"], words, caption=caption)
    _warn(compared)


def _warn(compared: list[dict[str, Any]]) -> None:
    """Say where the trace made does not stand in for the original."""
    misses = [each["what"] for each in compared if each["is_alike"] is False]
    if not misses:
        return
    slow = [drive for drive in DRIVES if any(miss.startswith(drive) for miss in misses)]
    text = f"Further off than it should be: {', '.join(miss.replace('_', ' ') for miss in misses)}."
    if slow:
        text += (
            f" On {' and '.join(slow)} the trace made does not stand in for the original: its requests wait otherwise."
        )
    output.sentence(text)


def _word(value: float | None) -> Shown:
    return shown("–" if value is None else f"{value:,.4g}", value)
