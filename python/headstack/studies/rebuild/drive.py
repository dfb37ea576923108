"""A large drive with few cylinders: the zones, tracks and rates of the large one, and a rebuild that is soon over."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import headstack

MODEL = "nearline-18tb"
# Cylinders of each zone: the write caches of twelve such drives hold little of what one of them has lost.
CYLINDERS = 16
# Those of the groups in which the model's tracks follow one another.
GROUP_CYLINDERS = 16
LARGE_TB = 16.0


@cache
def _text(cylinders: int) -> str:
    """The drive file, with so many cylinders in each zone."""
    text = headstack.System(MODEL).drive_toml()
    number = {"first_cylinder": -cylinders, "last_cylinder": -1}

    def next_bound(match: re.Match[str]) -> str:
        number[match[1]] += cylinders
        return f"{match[1]} = {number[match[1]]}"

    text = re.sub(r"(?m)^(first_cylinder|last_cylinder) = \d+", next_bound, text)
    layout = tomllib.loads(text)["layout"]
    tracks = cylinders * layout["heads"]
    sectors = tracks * sum(zone["sectors_per_track"] for zone in layout["zone"])
    sectors -= sectors % 8
    text = re.sub(r"(?m)^group_cylinders = \d+", f"group_cylinders = {GROUP_CYLINDERS}", text)
    text = re.sub(r"(?m)^capacity_sectors = [\d_]+", f"capacity_sectors = {sectors}", text)
    return re.sub(r"(?m)^cylinders = \d+", f"cylinders = {number['last_cylinder'] + 1}", text)


def write_small(folder: Path, cylinders: int = CYLINDERS) -> str:
    """Write the drive file, with so many cylinders in each zone; its name for a system file beside it."""
    (folder / "small.toml").write_text(_text(cylinders), encoding="utf-8")
    return "small.toml"


def media_mb_per_s() -> float:
    """Mean rate over the whole surface: sectors of a track, and the skew to the next cylinder's, by revolutions."""
    file = tomllib.loads(_text(CYLINDERS))
    zones = file["layout"]["zone"]
    sectors = sum(zone["sectors_per_track"] for zone in zones)
    revolutions = sum(1 + zone["cylinder_skew_sectors"] / zone["sectors_per_track"] for zone in zones)
    return 512 * sectors / revolutions * file["rotation_rpm"] / 60 / 1e6
