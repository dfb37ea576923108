"""The answer to the study's title: how few arms do what the array does, load by load, and how few drives what four do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.counted import plural
from headstack.studies.intra_disk.found import LOADS, TITLES

if TYPE_CHECKING:
    from headstack.studies.intra_disk.found import Found

# HC-SD and HC-SD-SA(n), by the number of arms.
BY_ARMS = {1: "HC-SD", 2: "SA(2)", 3: "SA(3)", 4: "SA(4)"}


def figures(found: Found, load: str) -> dict[str, float]:
    """What `finding` needs of a load: mean responses of the array and of one drive, and by what times were multiplied."""
    means = {f"{load}-{arms}-ms": found(load, name).mean for arms, name in BY_ARMS.items()}
    scale = found.loads[load].time_scale
    return {f"{load}-md-ms": found(load, "MD").mean, **means} | ({} if scale is None else {f"{load}-time-scale": scale})


def finding(ours: dict[str, float]) -> str:
    """Under which loads one drive takes the array's place, and how few drives of several arms do what four ordinary ones do."""
    return " ".join(filter(None, (_by_load(ours), _excerpts(ours), _drives(ours))))


def _fewest(ours: dict[str, float], load: str) -> tuple[int, float] | None:
    """The fewest arms whose mean is no longer than the array's, else those that come nearest, and what their mean is of it."""
    if f"{load}-md-ms" not in ours:
        return None
    ratios = {arms: ours[f"{load}-{arms}-ms"] / ours[f"{load}-md-ms"] for arms in BY_ARMS}
    best = min(ratios, key=lambda arms: ratios[arms])
    arms = next((arms for arms, ratio in ratios.items() if ratio <= 1), best)
    return arms, ratios[arms]


def _by_load(ours: dict[str, float]) -> str:
    """Of the loads that were run."""
    yes, no = [], []
    for load in LOADS:
        if fewest := _fewest(ours, load):
            arms, ratio = fewest
            (yes if ratio <= 1 else no).append(f"{TITLES[load]} {ratio:.2f}, {plural(arms, 'arm')}")
    parts = [
        f"yes, with the fewest arms that do ({'; '.join(yes)})" if yes else "",
        f"no ({'; '.join(no)})" if no else "",
    ]
    answer = ", ".join(filter(None, parts))
    return f"By the mean response, times the array's: {answer}." if answer else ""


def _excerpts(ours: dict[str, float]) -> str:
    """What real excerpts alone give, beside the loads made after them, whose times are others."""
    told, scales = [], []
    for load in LOADS:
        if fewest := _fewest(ours, f"{load}-excerpt"):
            arms, ratio = fewest
            array, one = ours[f"{load}-excerpt-md-ms"], ours[f"{load}-excerpt-{arms}-ms"]
            word = "yes" if ratio <= 1 else "no"
            told.append(f"{TITLES[load]} {word} ({array:.2f} ms on the array, {one:.2f} with {plural(arms, 'arm')})")
            scales.append(f"{TITLES[load]}'s × {ours[f'{load}-time-scale']:.2f}")
    if not told:
        return ""
    return f"Made loads have the times between arrivals of their excerpts multiplied ({', '.join(scales)}); the real excerpts alone: {', '.join(told)}."


def _drives(ours: dict[str, float]) -> str:
    """How few drives of several arms four ordinary ones are worth, and for how much."""
    two, four = ours.get("e8-8ms-sa2"), ours.get("e8-8ms-sa4")
    if two is None or four is None:
        return ""
    worth = f"four ordinary drives are worth {two:.0f} with two arms or {four:.0f} with four (8 ms between arrivals)"
    dollars = [ours[id_] for id_ in (f"own-{arms}-usd" for arms in (1, 2, 4)) if id_ in ours]
    price = f": {dollars[0]:,.0f} against {dollars[1]:,.0f} and {dollars[2]:,.0f} USD" if len(dollars) == 3 else ""
    return f"At the 90th percentile, {worth}{price}."
