"""Where a fio job goes: its region, and how its requests are spread over that."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from headstack.fio.units import SECTOR, bytes_of

if TYPE_CHECKING:
    from headstack.fio.job import Job

# fio's words for a popularity, and the workload's.
_POPULARITY = {"zipf": "zipf", "pareto": "pareto", "normal": "normal_percent"}
_ANY = ", ".join(["random", *_POPULARITY, "zoned", "zoned_abs"])


@dataclass(frozen=True)
class _Region:
    """A part of the disk, in percent of it or in sectors; `end` is the first that is no longer part of it."""

    start: float
    end: float
    in_percent: bool

    def part(self, start_share: float, end_share: float) -> list[float]:
        """`[from, to]` as a workload file has it."""
        length = self.end - self.start
        return self.between(self.start + start_share * length, self.start + end_share * length)

    def between(self, start: float, end: float) -> list[float]:
        return [start, end] if self.in_percent else [int(start), int(end) - 1]

    @property
    def unit(self) -> str:
        return "percent" if self.in_percent else "lba"


def place(job: Job, clone: int) -> list[str]:
    """Lines of a workload file on where the requests of a job's clone go.

    Raises
    ------
    InputError
        If a workload cannot say it.
    """
    region = _region(job, clone)
    word = job.keys.get("random_distribution", "random")
    kind, _, rest = word.partition(":")
    if kind in ("zoned", "zoned_abs"):
        return [*_runs(job), *_zones(job, region, word)]
    whole = (region.start, region.end) == (0.0, 100.0) and region.in_percent
    lines = [] if whole else [f"range_{region.unit} = {region.part(0.0, 1.0)}"]
    if kind in _POPULARITY:
        lines.append(_popularity(job, kind, rest))
    elif kind != "random":
        raise job.problem("random_distribution", word, "no workload can say this", f"one of {_ANY}")
    return [*lines, *_runs(job), *_stride(job, is_popular=kind in _POPULARITY)]


def _region(job: Job, clone: int) -> _Region:
    words = {
        "offset": job.keys.get("offset", "0"),
        "offset_increment": job.keys.get("offset_increment", "0"),
        "size": job.keys.get("size", "100%"),
    }
    # A zero is one in bytes and in percent.
    units = {word.endswith("%") for key, word in words.items() if key == "size" or word.strip("0") != ""}
    if len(units) > 1:
        raise job.problem(
            "offset", words["offset"], f"bytes beside percent (size={words['size']})",
            "give `offset`, `offset_increment` and `size` in bytes, or all in percent",
        )  # fmt: skip
    in_percent = units.pop()

    def number(key: str) -> float:
        if not in_percent:
            return (job.value(key, bytes_of) or 0.0) // SECTOR if key in job.keys else 0.0
        return (
            job.value(key, lambda word: float(word.rstrip("%"))) or 0.0
            if key in job.keys
            else float(key == "size") * 100.0
        )

    start = number("offset") + clone * number("offset_increment")
    end = start + number("size")
    if in_percent and start >= 100.0:
        raise job.problem("offset", words["offset"], f"clone {clone} begins beyond the end of the disk", "fewer clones")
    if end - start < (0.0 if in_percent else 1.0) or end == start:
        raise job.problem("size", words["size"], "is less than a sector", "size=10g")
    return _Region(start, min(end, 100.0) if in_percent else end, in_percent)


def _runs(job: Job) -> list[str]:
    """Sequential requests go on from the last one of their direction, and from a file's beginning at first."""
    random = job.value("percentage_random", float)
    share = 1.0 if job.is_sequential else 1.0 - (100.0 if random is None else random) / 100.0
    if share < 0.0:
        raise job.problem("percentage_random", job.keys["percentage_random"], "is not a percentage", "0 to 100")
    if not share:
        return []
    lines = [f"sequential_fraction = {share}", 'run_start = "first"']
    return [*lines, "separate_directions = true"] if 0 < job.read_fraction < 1 else lines


def _popularity(job: Job, kind: str, rest: str) -> str:
    value, _, center = rest.partition(":")
    try:
        law = f"{_POPULARITY[kind]} = {float(value)}"
        where = f", center_percent = {100.0 * float(center)}" if center and float(center) >= 0 else ""
    except ValueError:
        raise job.problem("random_distribution", f"{kind}:{rest}", f"is not {kind}:NUMBER", f"{kind}:0.5") from None
    return f"popularity = {{ {law}{where} }}"


def _zones(job: Job, region: _Region, word: str) -> list[str]:
    """Each range is taken equally often: one that is used more stands there more often."""
    kind, _, zones = word.partition(":")
    is_absolute = kind == "zoned_abs"
    form = f"{kind}:SHARE/{'SIZE' if is_absolute else 'PERCENT'}:…"
    example = "zoned_abs:50/10g:50/90g" if is_absolute else "zoned:50/10:50/90"
    try:
        pairs = [zone.partition("/") for zone in zones.split(":")]
        shares = [round(float(share)) for share, _, _ in pairs]
        widths = [bytes_of(width) // SECTOR if is_absolute else float(width) for _, _, width in pairs]
    except (ValueError, KeyError):
        raise job.problem("random_distribution", word, f"is not {form}", example) from None
    if sum(shares) != 100 or min(shares) < 0 or min(widths) <= 0 or (not is_absolute and sum(widths) > 100.0001):
        limit = "" if is_absolute else ", widths to 100 at most"
        raise job.problem("random_distribution", word, f"shares must add up to 100{limit}", example)
    if is_absolute and region.in_percent and (region.start, region.end) != (0.0, 100.0):
        raise job.problem("random_distribution", word, "bytes beside an offset or a size in percent", "all in bytes")
    unit = gcd(*shares)
    ranges, at = [], 0.0
    for share, width in zip(shares, widths, strict=True):
        if is_absolute:
            first = 0.0 if region.in_percent else region.start
            part = [int(first + at), int(first + at + width) - 1]
        else:
            part = region.part(at / 100.0, min((at + width) / 100.0, 1.0))
        ranges += [part] * (share // unit)
        at += width
    return [f"ranges_{'lba' if is_absolute else region.unit} = {ranges}"]


def _stride(job: Job, *, is_popular: bool) -> list[str]:
    """`zonemode=strided`, or the distance after each request that `rw=read:64k` says."""
    mode = job.keys.get("zonemode", "strided" if "zonesize" in job.keys else "none")
    gap = job.keys.get("rw", job.keys.get("readwrite", "")).partition(":")[2]
    if mode == "none" and not gap:
        return []
    if mode not in ("none", "strided"):
        raise job.problem("zonemode", mode, "no workload can say this", "zonemode=strided, or none")
    if is_popular:
        raise job.problem("zonemode", mode, "popular blocks within zones cannot be said", "random_distribution=random")
    if mode == "strided":
        if gap:
            raise job.problem("rw", job.keys["rw"], "a distance beside zones cannot be said", "zonemode=none")
        transfer, skip = job.value("zonesize", bytes_of), job.value("zoneskip", bytes_of) or 0.0
        span = job.value("zonerange", bytes_of) or transfer
        if not transfer or not span:
            raise job.problem("zonemode", mode, "needs a `zonesize`", "zonesize=1m")
    else:
        span = transfer = job.mean
        skip = _gap(job, gap)
    return [f"stride = {{ span_kib = {span / 1024}, transfer_kib = {transfer / 1024}, skip_kib = {skip / 1024} }}"]


def _gap(job: Job, gap: str) -> float:
    word = job.keys.get("rw", job.keys.get("readwrite", ""))
    if not job.is_sequential:
        raise job.problem("rw", word, "runs of so many requests cannot be said", "percentage_random, or no `:`")
    try:
        distance = bytes_of(gap)
    except (ValueError, KeyError):
        distance = -1.0
    if distance < 0 or job.smallest != job.mean or 0 < job.read_fraction < 1:
        raise job.problem(
            "rw",
            word,
            "only a distance upwards after each of equal requests of one direction can be said",
            "rw=read:64k",
        )
    return distance
