"""What a calibration says about retries, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstack.results.validations import RetriesFound, ScoresOverSeeds


def retries_words(found: RetriesFound) -> str:
    """How often the drive retries, by the training requests, in one sentence or two."""
    late = len(found["reads"]["revolutions"]) + len(found["writes"]["revolutions"])
    media = found["reads"]["on_media"] + found["writes"]["on_media"]
    otherwise = found["reads"]["late_otherwise"] + found["writes"]["late_otherwise"]
    share = found["late_share"]
    if share is None:
        return "no request waited for the media"
    text = (
        f"{late:,} of {media:,} requests on the media are late by two or more whole revolutions, {otherwise:,} by other times; "
        f"at most {share['ci95'][1]:.2g} of all (95 %)"
    )
    values = {row["name"].rpartition(".")[2]: row for row in found["parameters"]}
    if not values:
        return f"{text}. Not identifiable: `[soft_errors]` is left as it was"
    told = "; ".join(
        f"{name} {row['value']:.3g} ({row['ci95'][0]:.2g} to {row['ci95'][1]:.2g})" for name, row in values.items()
    )
    where = "in the corrected drive" if found["is_in_drive"] else "not in the corrected drive without `--retries`"
    return f"{text}. {told}: {where}"


def demerit_with_retries(scored: ScoresOverSeeds, without_percent: float) -> str:
    """The demerit of a drive with its retries and without."""
    demerit = scored["demerit_percent"]
    low, high = demerit["range"]
    return (
        f"demerit with retries {demerit['median']:.2f} % in the median of {scored['seeds']} seeds ({low:.2f} to {high:.2f}), "
        f"{without_percent:.2f} % without"
    )
