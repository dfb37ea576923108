"""What fio measured, from its JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from headstack.results.runs import FioTimes, MeasuredByFio


def results(path: Path) -> list[MeasuredByFio]:
    """What `fio --output-format=json` measured: a row a job and direction.

    Raises
    ------
    InputError
        If the file is not fio's.
    """
    try:
        text = path.read_text()
        about = json.loads(text[text.index("{") :])
        jobs = about["jobs"]
        measured = [row for job in jobs for row in _rows(job)]
    except OSError as problem:
        raise InputError(f"cannot read `{path}`: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"`{path}` is not a result of fio", "write one with fio --output-format=json") from None
    if not measured:
        raise InputError(
            f"`{path}` tells of no read and no write that fio did", "write one with fio --output-format=json"
        )
    return measured


def _rows(job: Mapping[str, Any]) -> Iterable[MeasuredByFio]:
    for direction in ("read", "write"):
        one = job[direction]
        if not one["total_ios"]:
            continue
        latency, scale = (one["lat_ns"], 1e6) if "lat_ns" in one else (one["lat"], 1e3)
        completion = one.get("clat_ns") or one.get("clat") or {}
        percentiles = {
            f"p{float(key):g}".replace(".", ""): value / scale
            for key, value in (completion.get("percentile") or {}).items()
        }
        times = {"mean": latency["mean"] / scale, "std": latency["stddev"] / scale}
        times |= percentiles | {"max": latency["max"] / scale}
        yield {
            "job": job["jobname"],
            "op": direction,
            "requests": one["total_ios"],
            "iops": one["iops"],
            "mib_per_s": one["bw_bytes"] / 2**20 if "bw_bytes" in one else one["bw"] / 1024,
            "response_ms": cast("FioTimes", times),
        }
