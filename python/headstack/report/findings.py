"""What was measured, as rows of words and numbers: for terminals, pages and notebooks."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.shown import Part, Shown, between, number, shown, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results.measurements import BandwidthFit, ReplayScore, ReplayScores

DIFFERENCES = frozenset(
    ("read_after_read_ms", "write_after_read_ms", "write_settle_difference_ms", "inward_seek_extra_ms")
)
"""Values that may lie on either side of zero: no percentage of them means anything."""
NAMES = {
    "rotation_ms": "time of a revolution",
    "write_settle_difference_ms": "seek to a write, longer than to a read",
    "inward_seek_extra_ms": "seek inwards, longer than the mean of both directions",
    "mtm_ms": "minimum time to media, writes",
    "mtm_read_ms": "minimum time to media, reads",
    "head_positioning_ms": "head positioning (width of the dive)",
    "head_switch_ms": "head switch, reads",
    "cylinder_switch_ms": "cylinder switch, reads",
    "write_head_switch_ms": "head switch, writes",
    "write_cylinder_switch_ms": "cylinder switch, writes",
    "seek_single_ms": "single-cylinder seek",
    "seek_longest_ms": "longest seek measured",
    "read_after_read_ms": "extra delay of a seek to a read, after a read",
    "write_after_read_ms": "extra delay of a seek to a write, after a read",
    "hit_overhead_ms": "overhead of a cache hit",
    "bus_mb_per_s": "bus",
    "write_bus_mb_per_s": "bus, writes",
    "write_cache_kib": "write cache",
    "write_cache_runs": "writes that the write cache holds",
    "destage_ms": "time of a random write when the write cache is full",
    "destage_mb_per_s": "large random writes when the write cache is full",
    "stall_ms": "length of a stall",
    "stall_interval_s": "from one stall to the next",
    "read_queue_gain": "IOPS of reads with a queue, over queue depth 1",
    "write_queue_gain": "IOPS of writes with a queue, over queue depth 1",
}
_UNIT_ENDINGS = ("_mb_per_s", "_kib", "_sectors", "_ms", "_rpm")
MOST_DIGITS = 4
ROUNDING = 1e-7
"""What is so near a whole number, and has no scatter, was a whole number before it was computed with."""
METHODS = {"regression": "all points", "two-points": "two points"}


def name(parameter: str) -> str:
    """A parameter's name in words, its unit left to its own column."""
    if parameter in NAMES:
        return NAMES[parameter]
    if parameter == "rotation_rpm":
        return "rotational speed"
    for ending in _UNIT_ENDINGS:
        parameter = parameter.removesuffix(ending)
    return parameter.replace("_", " ")


def amount(parameter: Mapping[str, Any], *, most_digits: int = MOST_DIGITS) -> Shown:
    """A value with the digits its uncertainty lets stand; where only bounds are known, these."""
    value, low, high = parameter["value"], parameter["lower"], parameter["upper"]
    return Shown(
        _amount(value, low, high, parameter["ci95"], most_digits),
        Part("", value),
        Part("at least", low),
        Part("at most", high),
    )


def _amount(value: float | None, low: float | None, high: float | None, ci95: float | None, most_digits: int) -> str:
    if value is not None:
        return _written(value, ci95, most_digits)
    if low not in (None, 0.0) and high is not None:
        return f"{_written(low, None)} … {_written(high, None)}"
    if high is not None:
        return f"≤ {_written(high, None)}"
    return "–" if low is None else f"≥ {_written(low, None)}"


def _written(value: float, ci95: float | None, most_digits: int = MOST_DIGITS) -> Shown:
    if abs(value - round(value)) <= ROUNDING * abs(value) and not ci95:
        return shown(number(round(value)), value)
    return number(float(value), min(_digits(ci95), most_digits))


def _digits(ci95: float | None) -> int:
    """Decimals that show two digits of the uncertainty."""
    if not ci95:
        return 3
    return min(max(1 - floor(log10(ci95)), 0), MOST_DIGITS)


def parameter_rows(values: Mapping[str, Any]) -> list[list[str]]:
    """A row a value: name, value or bounds, half width of the 95 % interval, unit, how it was found."""
    rows = []
    for each in values["parameters"]:
        ci95 = each["ci95"]
        parts = [each["method"], each["note"]]
        if each["name"] in {"zones", "cylinders"} and not has_zones(values):
            parts = ["the first zone is taken for the whole device: the probe `zones` was not run"]
        if each["value"] is not None and (each["lower"] is not None or each["upper"] is not None):
            parts.append(f"it lies within {_written(each['lower'] or 0.0, None)} … {_written(each['upper'], None)}")
        said = [part for part in parts if part]
        how = said[0] if len(said) == 1 else " ".join(map(_sentence, said))
        width = _width(ci95)
        rows.append([name(each["name"]), amount(each), width, each["unit"], how])
    return rows


def has_zones(values: Mapping[str, Any]) -> bool:
    """Whether the probe that looks for zones was run; without it the first zone stands for the whole device."""
    return bool(values["zones"]) and "zones" in values["finished"]


def sectors_of_tracks(values: Mapping[str, Any]) -> str:
    """How many sectors tracks have, from the outermost zone to the innermost."""
    zones = [number(zone["sectors_per_track"]) for zone in values["zones"]]
    if not zones:
        return number(values["sectors_per_track"], 0)
    return zones[0] if len(set(zones)) == 1 else f"{zones[0]} … {zones[-1]}"


def _width(ci95: float | None) -> Shown:
    least = 10.0**-MOST_DIGITS
    if ci95 == 0:
        return shown("exact", 0.0)
    return shown(f"< {least:g}", ci95) if ci95 is not None and ci95 < least else number(ci95, _digits(ci95))


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")


def zone_rows(values: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and a row a zone."""
    columns = [
        "zone",
        "first LBA",
        "last LBA",
        "cylinders",
        "sectors per track",
        "track skew",
        "cylinder skew",
        "heads",
    ]
    rows = []
    for index, zone in enumerate(values["zones"]):
        cylinders = between(" … ", zone["first_cylinder"], zone["last_cylinder"])
        spares = zone["sectors_per_revolution"] - zone["sectors_per_track"]
        tracks = shown(
            _tracks(zone) + (f" (+{spares:.0f} spare)" if spares > 0.5 else ""),
            None if "sectors_per_track_by_head" in zone else zone["sectors_per_track"],
        )
        rows.append(
            [str(index), number(zone["first_lba"]), number(zone["end_lba"] - 1), cylinders, tracks,
             number(zone["track_skew_sectors"]), number(zone["cylinder_skew_sectors"]), number(zone["heads"])]
        )  # fmt: skip
    return columns, rows


def _tracks(zone: Mapping[str, Any]) -> str:
    """Sectors on the tracks of a zone, head by head where they differ."""
    return ", ".join(map(number, zone.get("sectors_per_track_by_head") or [zone["sectors_per_track"]]))


def bandwidth_rows(values: Mapping[str, Any]) -> list[list[str]]:
    """A row a law: its name, what it was fitted to, what it misses, its value at the start and its change to the end."""
    rows = []
    for fit in values["bandwidth"]["fits"]:
        start = change = "–"
        if fit["law"] != "step":
            ends = [law_at(fit, place) for place in (0.0, 1.0)]
            start, change = number(ends[0], 3), signed(ends[1] - ends[0])
        rows.append([fit["law"].replace("-", " "), METHODS[fit["by"]], number(fit["rms_mib_per_s"], 4), start, change])
    return rows


def law_at(fit: BandwidthFit, place: float) -> float:
    """A fitted law at a place from 0, the start, to 1, the end, in MiB/s."""
    a, b = fit["coefficients"]
    if fit["law"] == "constant-density":
        return max(a + b * place, 0.0) ** 0.5
    return a + b * (place if fit["law"] == "linear" else place * place)


def naive_rows(values: Mapping[str, Any]) -> list[list[str]]:
    """A row a value of the paper's extractor: as it reads it, and what the record shows."""
    naive, sawtooth = values["naive"], values["skippy"][0]
    rows = []
    for key, unit in (("rotation_ms", "ms"), ("sectors_per_track", "sectors"), ("mtm_ms", "ms"), ("heads", ""),
                      ("head_switch_ms", "ms"), ("cylinder_switch_ms", "ms")):  # fmt: skip
        # The lines' heights are skews; the switches themselves stand among the values.
        corrected = values.get(key) if "switch" not in key else None
        if key == "mtm_ms" and corrected is None:
            corrected = sawtooth["mtm_ms"]
        label = name(key).split(",")[0]
        rows.append([f"{label} (height of the line)" if "switch" in key else label,
                     _or_dash(naive[key]), unit, _or_dash(corrected)])  # fmt: skip
    return rows


def _or_dash(value: float | None) -> str:
    return "–" if value is None else _written(value, None)


def replay_rows(replay: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """How well the rebuilt drive replays what was asked of the device: random accesses by kind and depth, and reads by size."""
    columns = ["of", "queue depth", "demerit (%)", "error per request (%)", "mean, measured (ms)", "mean, rebuilt (ms)"]
    scores = [score for score in (replay["reads"], replay["writes"], *replay["queued"]) if score is not None]
    named = [(f"{score['mode']}s", score) for score in scores]
    rows = [
        [
            what,
            str(score["depth"]),
            number(score["demerit_percent"], 2),
            number(score["per_request_percent"], 2),
            number(score["measured_mean_ms"], 3),
            number(score["model_mean_ms"], 3),
        ]
        for what, score in [*named, *_of_sizes(replay)]
    ]
    return columns, rows


def _of_sizes(replay: Mapping[str, Any]) -> list[tuple[str, ReplayScore]]:
    """Reads of several sizes, and what they are."""
    kinds = (("sequential reads", "sequential"), ("random reads", "by_size"))
    return [(f"{what} of {plural(score['sectors'], 'sector')}", score) for what, key in kinds for score in replay[key]]


def replay_warnings(replay: ReplayScores | None) -> list[str]:
    """What to say of a rebuilt drive that does not behave as the device did."""
    if replay is None:
        return []
    scores = [score for score in (replay["reads"], replay["writes"]) if score is not None]
    single = [
        f"the rebuilt drive replays the random {score['mode']}s {fault}: do not trust what it says of {score['mode']}s"
        for score in scores
        if (fault := _fault(score, replay["limit_percent"], replay["limit_per_request_percent"]))
    ]
    of_sizes = [
        f"{what} take {score['model_mean_ms']:.3f} ms on the rebuilt drive and {score['measured_mean_ms']:.3f} on the device: "
        "do not trust what it says of them"
        for what, score in _of_sizes(replay)
        if abs(score["model_mean_ms"] / score["measured_mean_ms"] - 1) * 100 > replay["limit_percent"]
    ]
    return single + of_sizes


def _fault(score: ReplayScore, limit: float, limit_per_request: float) -> str:
    """What is wrong with a score that is beyond a limit. A demerit tells how long accesses take, and not which."""
    if score["demerit_percent"] > limit:
        return f"with a demerit of {score['demerit_percent']:.1f} %, over {limit:.0f} %"
    per_request = score["per_request_percent"]
    if per_request is not None and per_request > limit_per_request:
        return f"with {per_request:.1f} % of error in a single one on average, over {limit_per_request:.0f} %"
    return ""
