"""What is read from TOML: keys, kinds of values, and values as TOML text again."""

from __future__ import annotations

import json
import re
import tomllib
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from headstack import files
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MOST_PARTS = 64
"""The parts of a dotted key, far more than any has that means something."""

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?:^|[{{,\[])[ \t]*(?:{_PART}[ \t]*\.[ \t]*){{{MOST_PARTS}}}", re.MULTILINE)

Value: TypeAlias = bool | int | float | str


class _Endless(float):
    """A number that is none, or beyond all of them, which messages name as it was typed: `1e999` and not `inf`."""

    typed: str

    def __str__(self) -> str:
        return self.typed


def _real(typed: str) -> float:
    value = float(typed)
    if isfinite(value):
        return value
    endless = _Endless(value)
    endless.typed = typed
    return endless


def toml_file(path: Path, what: str) -> dict[str, Any]:
    """The table of a file; `what` says what it should be, for messages."""
    return toml_table(file_text(path, what), path)


def file_text(path: Path, what: str) -> str:
    """The text of a file."""
    try:
        # Some editors begin a text with a byte-order mark.
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        if (url := files.url(path)) is not None:
            raise InputError(
                f"cannot read `{url}`: traces are read from URLs, and nothing else is",
                "copy it here, and name the copy",
            ) from None
        raise InputError(f"cannot read `{path}`: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"`{path}` is not text: {what} a TOML file") from None


def toml_table(text: str, path: Path) -> dict[str, Any]:
    """The table that a text holds."""
    # The reader's memory grows with the square of a dotted key's parts.
    if _LONG_KEY.search(text):
        raise InputError(f"`{path}` holds a key of more than {MOST_PARTS} parts, and no such key means anything")
    try:
        return tomllib.loads(text, parse_float=_real)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"`{path}` is not TOML: {problem}") from None
    except ValueError:
        # Python reads no whole number of so many digits.
        raise InputError(f"`{path}` holds a whole number of thousands of digits", "nothing here is so large") from None
    except RecursionError:
        raise InputError(f"`{path}` holds tables or lists one within another too deeply to be read") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """What a misspelt word was meant to be, as a hint; all words where none is near."""
    names = list(known)
    near = get_close_matches(word, names, 1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(names)}"


def check_table(value: Any, known: Iterable[str], where: str) -> None:
    """Refuse what is not a table, and keys that mean nothing."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be a table", f"its keys: {', '.join(known)}")
    check_keys(value, known, where)


def check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse keys that mean nothing."""
    names = list(known)
    for key in table:
        if key not in names:
            raise InputError(f"{where}: unknown key `{key}`", nearest(key, names))


def text(table: Mapping[str, Any], key: str, where: str) -> str:
    """A text that must be there."""
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        if key not in table:
            raise InputError(f"{where}: `{key}` is missing")
        what = "is empty" if isinstance(value, str) else f"must be a text, not {typed(value)}"
        raise InputError(f"{where}.{key}: {what}", f'{key} = "…"')
    return value.strip()


def number(table: Mapping[str, Any], key: str, where: str) -> int | float:
    """A finite number that must be there."""
    value = table.get(key)
    if not is_number(value):
        if key not in table:
            raise InputError(f"{where}: `{key}` is missing", f"{toml_key(key)} = …")
        raise InputError(f"{where}.{key}: must be a number, not {typed(value)}", number_hint(key, value))
    return value


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether this is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value)


def number_hint(key: str, value: Any, example: str = "") -> str:
    """How a number is typed: the one that stands in quotes without them; else an example."""
    if isinstance(value, str):
        try:
            meant = tomllib.loads(f"number = {value}").get("number")
        except tomllib.TOMLDecodeError:
            meant = None
        if is_number(meant):
            return f"without quotes: {toml_key(key)} = {value.strip()}"
    if example:
        return f"{toml_key(key)} = {example}"
    return "give a finite number" if isinstance(value, float) else "give a number, without quotes"


def toml_key(key: str) -> str:
    """A key as a TOML file writes it."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)


MOST_LETTERS = 60
"""A value that is longer is cut off in messages."""


def typed(value: Any) -> str:
    """A value as it stands in a TOML file, for messages."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**MOST_LETTERS:
        # Python refuses to write out what is far longer.
        return f"a number of more than {MOST_LETTERS} digits"
    # Python writes a plus sign that nobody types.
    written = toml_text(value).replace("e+", "e") if isinstance(value, float) else toml_text(value)
    return written if len(written) <= MOST_LETTERS else f"{written[: MOST_LETTERS - 1]}…"


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        # A whole number that no real one is near.
        return False


def whole(table: Mapping[str, Any], key: str, where: str, least: int, most: int, default: int) -> int:
    """A whole number within bounds; `default` where the key is absent."""
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        what = f"{where}.{key}: {typed(value)} is not a whole number from {least:,} to {most:,}"
        raise InputError(what, number_hint(key, value, str(max(default, least))))
    return value


def toml_text(value: Any) -> str:
    """A value as a TOML file writes it: a text stays a text, whatever it looks like."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_text(each)}" for key, each in value.items()) + "}"
    return str(value)
