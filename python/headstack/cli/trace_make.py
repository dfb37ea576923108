"""`headstack trace make`: a trace like another one."""

from __future__ import annotations

import json as js
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headstack.cli import output
from headstack.cli.options import OUTPUT, RUN, Json, ReadOptions, Strict, WrittenAs
from headstack.errors import InputError
from headstack.files import write_whole


def make(
    out: Annotated[Path | None, Parameter(help="What to write, as `trace convert` does.", group=OUTPUT)] = None,
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
        text = model.read_text()
        try:
            fitted = js.loads(text)
        except ValueError as problem:
            raise InputError(f"`{model}` is no workload model: {problem}") from None
    elif like is not None:
        fitted = fit_workload(how.open(like), strict=strict)
        text = js.dumps(fitted)
    count = requests or fitted.get("requests", 0)
    written = make_trace(text, out, requests=count, seed=seed, format=as_) if out is not None else 0
    if save_model is not None:
        write_whole(save_model, js.dumps(fitted, indent=1) + "\n")
    if json:
        files = {"out": out and str(out), "model": save_model and str(save_model)}
        output.print_json({**files, "requests": written, "fitted_to": fitted.get("requests"), "seed": seed})
    elif out is not None:
        output.line(f"{out}: {written:,} requests")
    return 0
