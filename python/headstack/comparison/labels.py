"""What metrics are called for readers where nothing else names them; `--fail-if` and JSON name them by their keys."""

from __future__ import annotations

_LABELS = {
    "p999": "p99.9",
    "demerit": "relative demerit",
    "demerit_ms": "absolute demerit",
    "mae": "error per request",
    "model_mean": "mean of the model",
    "measured_mean": "mean of the measured times",
    "capacity_sectors": "capacity",
    "rotation_ms": "time of a revolution",
    "rotation_rpm": "rotational speed",
    "sectors_per_track": "sectors per track in the outer zone",
    "head_switch_ms": "head switch",
    "seek_single_ms": "single-cylinder seek",
    "seek_mean_ms": "average seek",
    "seek_longest_ms": "full-stroke seek",
}
_PARTS = ("reads", "writes")
_UNITS = ("_ms", "_us", "_kib", "_mb_per_s", "_percent")


def label(metric: str) -> str:
    """A metric in words: `reads_mae` is the error per request of reads. Its unit stands beside it."""
    part, _, rest = metric.partition("_")
    if part in _PARTS and rest:
        return f"{label(rest)}, {part}"
    if metric in _LABELS:
        return _LABELS[metric]
    unit = next((unit for unit in _UNITS if metric.endswith(unit)), "")
    return metric.removesuffix(unit).replace("_", " ")
