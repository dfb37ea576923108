"""What makes reads slow, in words: only what chance does not explain. Of what is not named it is said why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.report import asked
from headstack.shown import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headstack.results.analyses import Analysis, Bursts, Effect, Group, InPhases, Ratio

VAGUE = 100
"""An interval that ends at so many times its beginning says nothing."""
LARGEST = 1000
HALF = 0.5
MANY_MS = 1000
NAMES = 8
"""So many devices are named; of more it is said how many."""
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
    "process-queue": "{} is at work",
    "slow-process": "{} reads",
    **dict.fromkeys(_STOPS, "{}"),
    "overload": "{}",
    "late-reads": "single reads{}",
}
_WITHHELD = {
    "small": "which is more than chance explains, and not surely enough to be a cause",
    "arrivals": "which is more than chance explains, but no longer where requests come so close together that a queue is to be expected: "
    "a device that is slow for a while makes a queue, too",
}
"""Why what is not chance is not named."""
_NAMED = {"small": "no: not surely enough", "arrivals": "no: not where requests come close together"}


def sentence(about: Analysis) -> str:
    """The causes that were found, or that there are none, and what was compared."""
    effects = _effects(about)
    found = sorted((each for each in effects if each["found"]), key=_importance, reverse=True)
    if found:
        return " ".join(_said(each, about["bursts"]) for each in found)
    compared = [each for each in effects if each["times_as_long"] is not None]
    none = "No cause found on any device by itself" if _devices_differ(about.get("fleet")) else "No cause found"
    if compared:
        return " ".join([f"{none}.", *(_as_sentence(_compared(each)) for each in compared)])
    return f"{none}: too little happened beside the reads to compare them with."


def _devices_differ(fleet: Mapping[str, Any] | None) -> bool:
    return bool(fleet and (fleet["outlier"] or (fleet["apart"] and fleet["apart"]["found"])))


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def fleet_sentence(fleet: Mapping[str, Any], devices: Sequence[Group] = ()) -> str:
    """The device that stands out among several, how far they are apart, or that they are alike as far as chance goes.

    Of one that stands out it is said what `devices` tell of what is asked of it and not of the others.
    """
    return " ".join(filter(None, (_side_by_side(fleet), asked.apart(_named(fleet), devices))))


def _named(fleet: Mapping[str, Any]) -> list[str]:
    """The devices that are said to be slow."""
    outlier, parted = fleet["outlier"], fleet["apart"]
    if outlier:
        return [outlier["device"]]
    return parted["devices"] if parted and parted["found"] and parted["times_as_long"] > 1 else []


def _side_by_side(fleet: Mapping[str, Any]) -> str:
    outlier, devices, apart = fleet["outlier"], len(fleet["ranked"]), fleet["apart"]
    parted = _parted(apart, devices) if apart and apart["found"] else ""
    if outlier:
        alone = parted and apart["devices"] != [outlier["device"]]
        return (
            f"Device {outlier['device']} stands out: its {outlier['measure']} of {number(outlier['value_ms'], 3)} ms is "
            f"{outlier['times_as_long']:.2f} times that of the {devices - 1} others.{' ' + parted if alone else ''}"
        )
    if parted:
        return parted
    if devices < 4 or not apart:
        return f"No device stands out: {devices} devices are too few to say what is usual."
    if apart["low"] <= 1 <= apart["high"]:
        return f"No device stands out: the {devices} devices differ no more than chance explains."
    return f"No device stands out: the medians of the {devices} devices lie within {apart['slowest_to_fastest']:.2f} times of each other."


def _parted(apart: Mapping[str, Any], devices: int) -> str:
    """Which devices take longer, or less long, than the others, and by how much."""
    group, others = apart["devices"], apart["others"]
    by = f"{apart['times_as_long']:.2f} times ({apart['low']:.2f} to {apart['high']:.2f}) as long in the median"
    if apart["graded"]:
        return (
            f"The {devices} devices differ by more than chance explains: the slowest takes {apart['slowest_to_fastest']:.2f} times as "
            f"long in the median as the fastest, and {_some(group, devices)} {by} as the other {others}."
        )
    rest = f"the {others} others" if others > 1 else "the other"
    return f"{_some(group, devices)} {'take' if len(group) > 1 else 'takes'} {by} as {rest}."


def _some(group: list[str], devices: int) -> str:
    if len(group) == 1:
        return f"Device {group[0]}"
    names = ", ".join(group[:NAMES]) + (", …" if len(group) > NAMES else "")
    return f"{len(group)} of the {devices} devices ({names})"


def rows(about: Analysis) -> list[list[str]]:
    """A row a candidate: occurrences, reads in them and around them, times as long with the interval, whether found."""
    return [
        [_when(each), number(each["occurrences"]), number(each["reads"]), number(each["reads_around"]),
         *(["–", "–"] if each["times_as_long"] is None else
           [_ratio(each["times_as_long"]), f"{_ratio(each['low'])} … {_ratio(each['high'])}"]),
         "yes" if each["found"] else _NAMED.get(each["withheld"] or "", "no")]
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
    "named",
]


def _effects(about: Analysis) -> list[Effect]:
    return [*(about["bursts"]["effects"] if about["bursts"] else []), *about["effects"]]


def _said(effect: Effect, bursts: Bursts | None) -> str:
    period = bursts["flush_period_s"] if bursts and effect["cause"] == "flush" else None
    if effect["cause"] in _STOPS:
        times, why = f"{effect['occurrences']:,} times {_name(effect)}", _STOPS[effect["cause"]]
        return f"{times}, while two requests or more wait: {why}."
    if effect["cause"] == "overload":
        name = _name(effect)
        return f"{name[:1].upper()}{name[1:]}."
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
            f"before and after{_in_phases(effect['phases'])}"
        )
    if effect["cause"] == "process-queue" and effect["phases"]:
        phases = effect["phases"]
        return (
            f"{_name(effect)} fills the queue: when it is at work, in {effect['occurrences']:,} phases, others' reads take "
            f"{_plain(phases)}: {_times(effect)} as long. Of the {number(phases['found_inside'], 1)} requests that they find outstanding on "
            f"average {100 * phases['share_of_queue']:.0f} % are its own; outside its phases they find {phases['found_outside']:.2g}. "
            f"Beside as many they take {_interval(phases['like_queue'])} as long as shortly before and after."
        )
    if effect["cause"] == "queue":
        filled = effect["filled_by"]
        of = (
            f" Of the requests that they find {100 * filled['share']:.0f} % are of {_printable(filled['process'])}."
            if filled
            else ""
        )
        return (
            f"Reads that find others in the queue take {_times(effect)} as long as reads shortly before or after.{of}"
        )
    return f"When {when}, reads take {_times(effect)} as long as reads shortly before or after."


def _in_phases(phases: InPhases | None) -> str:
    """What others' reads take in all in the phases of a process, and whether it is the process that makes them slow."""
    if not phases:
        return "."
    whole = f", beside as many requests. In all they take {_plain(phases)}: {_interval(phases['whole'])} as long."
    if phases["share_of_queue"] >= HALF:
        whole += f" {100 * phases['share_of_queue']:.0f} % of the requests that they find outstanding in its phases are its own."
    if phases["only_time"] and phases["beside"]:
        whole += (
            " Only the time fits: within its phases, reads beside one of its requests take "
            f"{_interval(phases['beside'])} as long as those that are not beside one, so that something else may be slow at these times."
        )
    return whole


def _plain(phases: InPhases) -> str:
    return (
        f"{_ms(phases['inside_ms'])} in the geometric mean in its phases and {_ms(phases['outside_ms'])} outside them"
    )


def _ms(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms >= MANY_MS else f"{ms:.3g} ms"


def _interval(ratio: Ratio) -> str:
    return f"{_ratio(ratio['times_as_long'])} times ({_ratio(ratio['low'])} to {_ratio(ratio['high'])})"


def _importance(effect: Effect) -> float:
    # A device that pauses or is asked for too much comes first: requests of all kinds pile up. Single reads come last: they are few.
    if effect["cause"] in _STOPS or effect["cause"] == "overload":
        return float("inf")
    return 0.0 if effect["cause"] == "late-reads" else effect["times_as_long"] or 0.0


def _when(effect: Effect) -> str:
    return _WORDS[effect["cause"]].format(_name(effect))


def _name(effect: Effect) -> str:
    """Names of processes are anybody's: no escape sequence of one reaches a terminal or a page."""
    return _printable(effect["name"] or "")


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def _compared(effect: Effect) -> str:
    if effect["cause"] == "slow-region":
        return "no region is much slower than like reads elsewhere"
    if effect["cause"] == "process":
        return "no process delays others much more than the rest do"
    if effect["high"] > max(1.0, effect["low"] * VAGUE):
        return f"when {_when(effect)}, reads are too few to tell"
    if effect["high"] < 1:
        why = "which delays none"
    elif effect["low"] <= 1:
        why = "which chance explains"
    else:
        why = _WITHHELD[effect["withheld"] or "small"]
    return f"when {_when(effect)}, reads take {_times(effect)} as long, {why}"


def _times(effect: Effect) -> str:
    return f"{_ratio(effect['times_as_long'])} times ({_ratio(effect['low'])} to {_ratio(effect['high'])})"


def _ratio(times: float) -> str:
    """How many times as long; of few reads an interval may end anywhere."""
    return f"{times:.2f}" if times < LARGEST else f"over {LARGEST:,}"
