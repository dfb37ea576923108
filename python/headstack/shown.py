"""Numbers as people read them, which know what they are exactly: `--csv` prints that."""

from __future__ import annotations

import re
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Part(NamedTuple):
    """One of the numbers that a text tells: which of them it is (empty where it needs no name), and its unit."""

    label: str
    exact: float | str | None
    unit: str = ""


class Shown(str):
    """A text for people, and the numbers in it for other programs."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, text: str, *parts: Part) -> Shown:
        """Keep the text, and what it tells."""
        made = super().__new__(cls, text)
        made.parts = parts
        return made

    def __getnewargs__(self) -> tuple[object, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (str(self), *self.parts)


def shown(text: str, exact: float | str | None, unit: str = "") -> Shown:
    """A text that tells one number, written as nobody else writes it."""
    return Shown(text, Part("", exact, unit))


def number(value: float | None, digits: int = 2, unit: str = "") -> Shown:
    """Write a number for people: thousands apart, a fixed number of decimals, – where there is none."""
    text = _written(value, digits)
    return Shown(f"{text} {unit}" if unit and value is not None else text, Part("", value, unit))


def error_ms(value: float | None, unit: str = "") -> Shown:
    """Write an error in ms: two decimals, or two figures where those would be nothing, down to a nanosecond."""
    small = value is not None and 5e-7 <= abs(value) < 0.01
    return number(value, min(6, 1 - floor(log10(abs(value or 1.0)))) if small else 2, unit)


def signed(value: float, digits: int = 3, unit: str = "") -> Shown:
    """Write a difference: with its sign, but for what comes to nothing in so many decimals."""
    text = f"{value:+,.{digits}f}"
    text = text if text.strip("+-0.,") else text[1:]
    return Shown(f"{text} {unit}" if unit else text, Part("", value, unit))


def capacity(size_bytes: int) -> Shown:
    """Write a capacity as makers do, in powers of ten."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size_bytes >= size:
            return shown(f"{size_bytes / size:,.2f} {unit}", size_bytes, "B")
    return number(size_bytes, 0, "B")


def of_unit(value: float | None, unit: str, digits: int = 2) -> Shown:
    """Write a number whose unit stands elsewhere: in the title, or above the column."""
    return Shown(_written(value, digits), Part("", value, unit))


def percent(share: float | None, digits: int = 0) -> Shown:
    """Write a share of 1 as a percentage."""
    value = None if share is None else float(f"{100 * share:.15g}")
    return number(value, digits, "%")


def several(template: str, *values: str | float | None) -> Shown:
    """Numbers in words: each `{}` of the template is one of the values, and what stands around it says which.

    `several("{} IOPS, {} MiB/s", number(iops, 1), number(rate))` reads as it stands, and is two numbers with their units for
    other programs. Where the words around a number do not tell it apart, its braces do: `{highest LBA}`.
    """
    pieces, names = _PLACE.split(template)[::2], _PLACE.findall(template)
    written = [value if isinstance(value, str) else number(value) for value in values]
    text = "".join(piece + value for piece, value in zip(pieces, [*written, ""], strict=True))
    parts: list[Part] = []
    for place, value in enumerate(written):
        unit, after = _unit(_following(pieces[place + 1]))
        label = names[place] or " ".join(filter(None, (_before(pieces[place], place == 0), after)))
        inner = value.parts if isinstance(value, Shown) else (Part("", str(value)),)
        parts += [
            Part(" ".join(filter(None, (label, part.label))), part.exact, part.unit or unit) for part in inner
        ]  # fmt: skip
    return Shown(text, *parts)


_PLACE = re.compile(r"\{([^{}]*)\}")


def between(separator: str, low: float | None, high: float | None, digits: int = 0) -> Shown:
    """Write a range: once where both ends are the same number, which are two numbers for other programs nevertheless."""
    ends = number(low, digits), number(high, digits)
    text = str(ends[0]) if low == high else separator.join(ends)
    return Shown(text, Part("from", low), Part("to", high))


def joined(separator: str, texts: list[Shown]) -> Shown:
    """Several texts in a row, with all that they tell."""
    return Shown(separator.join(texts), *(part for text in texts for part in text.parts))


_DELIMITER = re.compile(r"[,;:()±…–=]| and | to | from | of | at | in ")
_UNIT = re.compile(r"(%|ms|s|min|h|rpm|W|J|B|[KMGT]i?B(?:/s)?|IOPS|ticks|revolutions)(?:$|(?= ))")


def _before(text: str, is_first: bool) -> str:
    """What is said of a number before it."""
    if text.rstrip().endswith("±"):
        return "± 95 %"
    found = list(_DELIMITER.finditer(text))
    if found and found[-1][0].strip() in {"from", "to"}:
        return found[-1][0].strip()
    said = text[found[-1].end() :] if found else (text if is_first else "")
    return said.strip()


def _following(text: str) -> str:
    """What is said of a number behind it."""
    found = _DELIMITER.search(text)
    return text[: found.start() if found else None].strip()


def _unit(text: str) -> tuple[str, str]:
    """The unit that words begin with, and the rest of them."""
    found = _UNIT.match(text)
    return ("", text) if found is None else (found[1], text[found.end() :].strip())


def _written(value: float | None, digits: int) -> str:
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
    # Nothing, whichever side it was rounded from.
    return text.lstrip("-") if not text.strip("-0.,") else text


def grouped(text: str) -> str:
    """A sentence of the core, its large whole numbers with their thousands apart, as everywhere.

    What is quoted to be typed, lines of files, names, paths and dates stay as they are, and so does what follows an equals sign or an option, and
    the number of a device or a request, which is its name.
    """
    return _LARGE.sub(lambda found: found[1] or f"{int(found[2]):,}", text)


# As errors in TOML quote it.
_LINE_OF_A_FILE = r"^ *\d+ \| .*$"
_LARGE = re.compile(
    rf"({_LINE_OF_A_FILE}|`[^`\n]*`|\"[^\"\n]*\"|--?[A-Za-z][\w-]* \d+|= \d+|\b(?:device|request|process|port|seed|pid) \d+)|"
    r"(?:(?<![^\s(\[–−…])|(?<=\s-))(\d{4,})(?![\w/=-]|[.,:]\w)",
    re.MULTILINE,
)


_MINUS = re.compile(rf"({_LINE_OF_A_FILE}|`[^`\n]*`)|(?<![^\s(\[|])-(?=\.?\d)", re.MULTILINE)


def with_minus(text: str) -> str:
    """The text with the minus sign before its negative numbers, for pages and terminals.

    A hyphen stays one in names, in dates and in what is quoted to be typed. Where the sign is not known, and in what
    programs read, it is a hyphen again or never was anything else.
    """
    return _MINUS.sub(lambda found: found[1] or "\u2212", text)


def made_by(summary: Mapping[str, Any]) -> Shown:
    """What to state so that others get the same numbers."""
    told = summary["seed"], summary["config_hash"][:12], summary["version"]
    names = ("seed", "configuration", "headstack")
    return Shown(
        ", ".join(f"{name} {value}" for name, value in zip(names, told, strict=True)),
        *map(Part, names, told),
    )


# A number stays with its unit, whether that is `ms` or "sectors"; words such as "and" are no units.
_NO_UNIT = (
    "a|about|after|all|an|and|are|as|at|before|below|beside|but|by|can|does|each|for|from|goes|had|has|have|if|in|into|is|it|its|"
    "may|more|not|of|on|once|only|or|since|so|than|that|the|then|there|they|to|too|under|until|was|were|what|when|where|which|"
    "while|who|will|with|without"
)
_KEPT_TOGETHER = re.compile(
    rf"(?<![\w.,=])(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?) (?=[%×±°]|\+/-|(?!(?:{_NO_UNIT})\b)[A-Za-zµ])"
)
_TIMES = re.compile(r"(?<=\u00a0[x×±]) (?=\d)|(?<=\u00a0\+/-) (?=\d)|(?<=±) (?=\d)")
_NAMED = re.compile(r"\b((?:LBA|cylinder|head|sector|track|zone|device|point|seed)) (?=\d)")


def kept_together(text: str) -> str:
    """The text with no-break spaces in what a line must not end in: between a number and its unit, a noun and its number."""
    kept = _TIMES.sub("\u00a0", _KEPT_TOGETHER.sub("\\1\u00a0", text))
    return _NAMED.sub("\\1\u00a0", kept)
