"""A large drive with few cylinders: the zones, tracks and rates of the large one, and a rebuild that is soon over."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from math import ceil
from pathlib import Path

import headstack

MODEL = "nearline-18tb"
# What is rebuilt holds 16 TB. Data sheets of that class say 261 MB/s for the outermost tracks where those of 18 TB say 270: fewer
# sectors on a track, at the same speed.
SHEET_MB_PER_S, MODEL_MB_PER_S = 261.0, 270.0
# Sectors of the host in one of the media.
PHYSICAL = 8
# Cylinders of each zone: the write caches of twelve such drives hold little of what one of them has lost.
CYLINDERS = 16
# Those of the groups in which the model's tracks follow one another.
GROUP_CYLINDERS = 16
LARGE_TB = 16.0


@cache
def _text(cylinders: int) -> str:
    """The drive file, with so many cylinders in each zone, and the linear density of a drive of 16 TB."""
    text = _thinned(headstack.System(MODEL).drive_toml())
    number = {"first_cylinder": -cylinders, "last_cylinder": -1}

    def next_bound(match: re.Match[str]) -> str:
        number[match[1]] += cylinders
        return f"{match[1]} = {number[match[1]]}"

    text = re.sub(r"(?m)^(first_cylinder|last_cylinder) = \d+", next_bound, text)
    text = re.sub(r"(?m)^group_cylinders = \d+", f"group_cylinders = {GROUP_CYLINDERS}", text)
    return _filled(re.sub(r"(?m)^cylinders = \d+", f"cylinders = {number['last_cylinder'] + 1}", text))


def _filled(text: str) -> str:
    """The drive file with all of its sectors in use."""
    layout = tomllib.loads(text)["layout"]
    cylinders = ((zone["last_cylinder"] + 1 - zone["first_cylinder"], zone) for zone in layout["zone"])
    sectors = layout["heads"] * sum(count * zone["sectors_per_track"] for count, zone in cylinders)
    return re.sub(r"(?m)^capacity_sectors = [\d_]+", f"capacity_sectors = {sectors - sectors % PHYSICAL}", text)


def _thinned(text: str) -> str:
    """The drive file with fewer sectors on a track; skews are the angles they were, or a little more."""

    def fewer(match: re.Match[str]) -> str:
        slots = float(match[2]) * SHEET_MB_PER_S / MODEL_MB_PER_S / PHYSICAL
        if match[1] == "sectors_per_track":
            return f"{match[1]} = {PHYSICAL * round(slots)}"
        # A switch must still be over before the next sector comes.
        return f"{match[1]} = {float(PHYSICAL * ceil(slots))}"

    return re.sub(r"(?m)^(sectors_per_track|track_skew_sectors|cylinder_skew_sectors) = ([\d.]+)", fewer, text)


def write_small(folder: Path, cylinders: int = CYLINDERS) -> str:
    """Write the drive file, with so many cylinders in each zone; its name for a system file beside it."""
    (folder / "small.toml").write_text(_text(cylinders), encoding="utf-8")
    return "small.toml"


def write_full(folder: Path) -> str:
    """Write the drive file with all cylinders of the model, over which requests seek; its name for a system file beside it."""
    (folder / "full.toml").write_text(_filled(_thinned(headstack.System(MODEL).drive_toml())), encoding="utf-8")
    return "full.toml"


def media_mb_per_s() -> float:
    """Mean rate over the whole surface: sectors of a track, and the skew to the next cylinder's, by revolutions."""
    file = tomllib.loads(_text(CYLINDERS))
    zones = file["layout"]["zone"]
    sectors = sum(zone["sectors_per_track"] for zone in zones)
    revolutions = sum(1 + zone["cylinder_skew_sectors"] / zone["sectors_per_track"] for zone in zones)
    return 512 * sectors / revolutions * file["rotation_rpm"] / 60 / 1e6
