"""What makes reads slow, in words: only what chance does not explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.shown import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results.analyses import Analysis, Bursts, Effect

VAGUE = 100
"""An interval that ends at so many times its beginning says nothing."""
LARGEST = 1000
_STOPS = {
    "pause": "the device pauses",
    "retries": "retries look like this",
    "pause-or-retries": "the device pauses, or tries a request again",
}
_WORDS = {
    "flush": "writes are flushed",
    "mixed": "writes come in bursts",
    "cache-flush": "the cache is flushed",
    "discard": "sectors are discarded",
    "after-write": "a write came just before, and nothing waits",
    "queue": "others are in the queue",
    "slow-region": "{} is read",
    "process": "{} has requests outstanding",
    "process-phases": "{} is at work",
    "slow-process": "{} reads",
    **dict.fromkeys(_STOPS, "{}"),
    "late-reads": "single reads{}",
}


def sentence(about: Analysis) -> str:
    """The causes that were found, or that there are none, and what was compared."""
    effects = _effects(about)
    found = sorted((each for each in effects if each["found"]), key=_importance, reverse=True)
    if found:
        return " ".join(_said(each, about["bursts"]) for each in found)
    compared = [each for each in effects if each["times_as_long"] is not None]
    if compared:
        return "No cause found: " + "; ".join(_compared(each) for each in compared) + "."
    return "No cause found: too little happened beside the reads to compare them with."


def fleet_sentence(fleet: Mapping[str, Any]) -> str:
    """The device that stands out among several, or that none does."""
    outlier, devices = fleet["outlier"], len(fleet["ranked"])
    if outlier:
        return (
            f"Device {outlier['device']} stands out: its {outlier['measure']} of {number(outlier['value_ms'], 3)} ms is "
            f"{outlier['times_as_long']:.2f} times that of the {devices - 1} others."
        )
    if devices < 4:
        return f"No device stands out: {devices} devices are too few to say what is usual."
    return f"No device stands out: the {devices} devices differ no more than chance explains."


def rows(about: Analysis) -> list[list[str]]:
    """A row a candidate: occurrences, reads in them and around them, times as long with the interval, whether found."""
    return [
        [_when(each), number(each["occurrences"]), number(each["reads"]), number(each["reads_around"]),
         *(["–", "–"] if each["times_as_long"] is None else
           [_ratio(each["times_as_long"]), f"{_ratio(each['low'])} … {_ratio(each['high'])}"]),
         "yes" if each["found"] else "no"]
        for each in _effects(about)
        if each["occurrences"]
    ]  # fmt: skip


COLUMNS = [
    "when",
    "occurrences",
    "reads then",
    "reads before and after",
    "times as long",
    "95 % interval",
    "more than chance",
]


def _effects(about: Analysis) -> list[Effect]:
    return [*(about["bursts"]["effects"] if about["bursts"] else []), *about["effects"]]


def _said(effect: Effect, bursts: Bursts | None) -> str:
    period = bursts["flush_period_s"] if bursts and effect["cause"] == "flush" else None
    if effect["cause"] in _STOPS:
        times, why = f"{effect['occurrences']:,} times {_name(effect)}", _STOPS[effect["cause"]]
        return f"{times}, while two requests or more wait: {why}."
    if effect["cause"] == "late-reads":
        return f"{effect['occurrences']:,} {_when(effect)}."
    if effect["cause"] == "slow-region":
        return (
            f"Reads of {_name(effect)} take {_times(effect)} as long, from arrival to completion in the geometric mean, as like reads "
            "elsewhere at that time."
        )
    if effect["cause"] == "slow-process":
        return f"Reads of {_name(effect)} take {_times(effect)} as long as like reads of others at that time."
    when = _when(effect) + (f" every {period:.3g} s" if period else "")
    if effect["cause"] == "process":
        return f"When {when}, others' reads take {_times(effect)} as long as beside other processes."
    if effect["cause"] == "process-phases":
        return (
            f"When {when}, in {effect['occurrences']:,} phases, others' reads take {_times(effect)} as long as like reads shortly "
            "before and after."
        )
    if effect["cause"] == "queue":
        return f"Reads that find others in the queue take {_times(effect)} as long as reads shortly before or after."
    return f"When {when}, reads take {_times(effect)} as long as reads shortly before or after."


def _importance(effect: Effect) -> float:
    # A device that pauses comes first: while it does, requests of all kinds pile up. Single reads come last: they are few.
    if effect["cause"] in _STOPS:
        return float("inf")
    return 0.0 if effect["cause"] == "late-reads" else effect["times_as_long"] or 0.0


def _when(effect: Effect) -> str:
    return _WORDS[effect["cause"]].format(_name(effect))


def _name(effect: Effect) -> str:
    """Names of processes are anybody's: no escape sequence of one reaches a terminal or a page."""
    return "".join(sign if sign.isprintable() else "?" for sign in effect["name"] or "")


def _compared(effect: Effect) -> str:
    if effect["cause"] == "slow-region":
        return "no region is much slower than like reads elsewhere"
    if effect["cause"] == "process":
        return "no process delays others much more than the rest do"
    if effect["high"] > max(1.0, effect["low"] * VAGUE):
        return f"when {_when(effect)}, reads are too few to tell"
    why = "which delays none" if effect["high"] < 1 else "which chance explains"
    return f"when {_when(effect)}, reads take {_times(effect)} as long, {why}"


def _times(effect: Effect) -> str:
    return f"{_ratio(effect['times_as_long'])} times ({_ratio(effect['low'])} to {_ratio(effect['high'])})"


def _ratio(times: float) -> str:
    """How many times as long; of few reads an interval may end anywhere."""
    return f"{times:.2f}" if times < LARGEST else f"over {LARGEST:,}"
