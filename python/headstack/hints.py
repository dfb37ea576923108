"""What a misspelt word was meant to be."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SET = re.compile(r"cannot set `([^`]*)`")
_KEY = re.compile(r"unknown (field|variant) `([^`]*)`, (expected (?:one of )?(`.*`))")
_NAME = re.compile(
    r"(?:called|named|trace format|parameter) `([^`]*)`|^`([^`]*)` (?:cannot be fitted|is not a parameter)"
)
_WHOLE = re.compile(
    r"invalid (?:type|value): (?:integer|floating point|string|boolean) (`[^`]*`|\"[^\"]*\"), expected [ui](8|16|32|64|size)"
)
_VALUE = re.compile(
    r"invalid type: (?:integer|floating point|string|boolean) (`[^`]*`|\"[^\"]*\"), expected ([a-z0-9 ]+)"
)
_NOT_ONE = re.compile(r"invalid type: (sequence|map), expected ([a-z0-9 ]+)")
_BRACES = re.compile(r"invalid type: unit variant, expected (?:struct|newtype|tuple) variant")
_ONE_OF = "wanted exactly 1 element, more than 1 element"
_NO_WORD = "invalid type: unit variant, expected string only"
_WHERE = re.compile(r"\nin `[^`]*`$")
# A date is a map to the reader.
_SEVERAL = {"sequence": "a list", "map": "a table or a date"}
# What is expected, in the words of the file's reader and in ours.
_KINDS = {"a boolean": "neither true nor false", "a string": "not text: it goes in quotes", "f64": "not a number", "f32": "not a number",
          "a sequence": "not a list: it goes in [brackets]", "a map": "not a table: it goes in {braces}"}  # fmt: skip
# Quoted lines of files and texts stay as they are.
_LONG = re.compile(
    r"(^ *\d+ \| .*$|\"[^\"\n]*\")|(?<![\w.])(-?\d{30,308}\b(?:\.0\b)?|-?\d{309}(?!\d)(?:\.0\b)?)", re.MULTILINE
)
_NEGATIVE = re.compile(r"(?:`([\w.]+)`: )?(?<!\S)(\S{1,60}) must be a finite number, not negative")
_LINE = re.compile(r"^ *\d+ \| [^=\n]*= *([-+\w.]+)", re.MULTILINE)
_KNOWN = re.compile(r"known[^:;]*: ([^;]*)")
_OUT_OF_RANGE = re.compile(r"`([\w.]+)`: \S+ is not between (\S+) and (\S+)$")
_NO_FOLDER = re.compile(r"cannot create `([^`]*)`: No such file or directory")
_DISORDER = re.compile(r"\.parquet: row [0-9]+: the request arrives ")
_ARGUMENT = re.compile(r"`([a-z_]+)`(?= cannot be )")
# Where an option has another name than the argument of the API.
_OPTIONS = {
    "from_s": "--from", "to_s": "--to", "until_s": "--until", "warmup_s": "--warmup",
    "warmup_requests": "--warmup", "within_s": "--within",
}  # fmt: skip


def improved(message: str, hint: str | None, given: Collection[str] = ()) -> tuple[str, str | None]:
    """The message and its hint, with the nearest of the known words where one is near, and options as they were `given`."""
    message, hint = _plain(_short(message), hint)
    if hint is None and (absent := _NO_FOLDER.search(message)):
        return _without_folder(message, absent)
    key = _KEY.search(message)
    if key:
        known = re.findall(r"`([^`]*)`", key[3])
        if near := _nearest(key[2], known):
            return message.replace(", " + key[3], ""), hint or f"did you mean `{near}`?"
        # Of a word for a choice the key is right.
        asked = _SET.search(message)
        # A key within the value that was given: its path is right.
        within = asked is not None and key[2] not in asked[1].split(".")
        if key[1] == "field" and asked and not within and (near := _elsewhere(asked[1])):
            # A plain path is that of a drive alone, and this system has several.
            near = f"drive.*.{near}" if near == asked[1] else near
            meant = f"did you mean `{near}`?" if near != key[2] else f"it is in no table: name it `{near}` alone"
            return message.replace(", " + key[3], ""), hint or meant
        return message.replace(", " + key[3], ""), hint or f"known: {', '.join(known)}"
    if (name := _NAME.search(message)) and hint and (known_words := _KNOWN.match(hint)):
        said, known = name[1] if name[2] is None else name[2], known_words[1].split(", ")
        # Parameters and probes go by groups, too: `controller` and `skippy` for all that begins so.
        groups = [word.partition(".")[0] for word in known if "." in word] if name[2] is not None else []
        groups += ["skippy"] if "skippy-read" in known else []
        if near := _nearest(said, [*dict.fromkeys(groups), *known]):
            return message, f"did you mean `{near}`? {hint}"
    if hint is None and (bound := _OUT_OF_RANGE.search(message)):
        return message, f"give {bound[1]} a number from {bound[2]} to {bound[3]}"
    if hint is None and "missing field `name`" in message:
        # As of an empty file.
        save = "headstack simulate hp-97560 --workload unix-like --save mine.toml"
        return message, f"a drive or system file begins with `name = …`; `{save}` writes a whole one to go by"
    if hint and "--sort" in hint and "damaged" not in hint and _DISORDER.search(message):
        # Its pages have no sum to tell by.
        hint += "; if it was in order when it was written, it is damaged: write it anew"
    if argument := _ARGUMENT.match(message):
        option = _OPTIONS.get(argument[1], "--" + argument[1].replace("_", "-"))
        if option not in given:
            return message, hint
        return message.replace(argument[0], option), hint and hint.replace(argument[0], option)
    return message, hint


def _short(message: str) -> str:
    """The message with numbers of dozens of digits in short: `1e308`, and not as 309 digits."""
    return _LONG.sub(lambda found: found[1] or f"{float(found[2]):g}".replace("e+", "e"), message)


def _without_folder(message: str, absent: re.Match[str]) -> tuple[str, str]:
    """Which folder there is not, where a file cannot be created."""
    from pathlib import Path

    folder = Path(absent[1]).parent
    said = message.replace(absent[0], f"cannot create `{absent[1]}`: there is no folder `{folder}`")
    return said, f"make it (`mkdir -p {folder}`), or name a file in a folder that is there"


def _plain(message: str, hint: str | None) -> tuple[str, str | None]:
    """The message, where it speaks of the types of a program, in words; `cannot set …` names the place already."""
    if _SET.search(message):
        message = _WHERE.sub("", message)
    if whole := _WHOLE.search(message):
        digits = whole[1].strip("`")
        bits = 64 if whole[2] == "size" else int(whole[2])
        if not re.fullmatch(r"-?[0-9]+", digits):
            said = f"{_as_typed(whole[1], message)} is not a whole number"
        elif digits.startswith("-"):
            said = f"{whole[1]} is less than 0"
        else:
            said = f"{whole[1]} is more than {2**bits - 1:,}"
        return message.replace(whole[0], said), hint
    if (value := _VALUE.search(message)) and value[2] in _KINDS:
        return message.replace(value[0], f"{value[1]} is {_KINDS[value[2]]}"), hint
    if negative := _NEGATIVE.search(message):
        # A law of times between requests is told as a whole: which of its values it is, its number says.
        said = f"{negative[2]} is not a finite number of 0 or more"
        name = negative[1]
        return message.replace(negative[0], f"`{name}`: {said}" if name else said), hint or "give a number from 0 on"
    if (told := _of_a_file(message, hint)) is not None:
        return told
    if _ONE_OF in message:
        if (asked := _SET.search(message)) and "." in asked[1]:
            outer, _, inner = asked[1].rpartition(".")
            hint = hint or f"replace the whole: {outer}={{ {inner} = … }}"
        return message.replace(_ONE_OF, "there is one of another kind already, and only one can be"), hint
    if _NO_WORD in message:
        return message.replace(_NO_WORD, "it is none of the words that go there"), hint
    if braces := _BRACES.search(message):
        hint = hint or "for example `{ write-back = {} }` for `write-back`; values go within the inner braces"
        return message.replace(braces[0], "it has values of its own, and goes in braces"), hint
    return message, hint


def _as_typed(value: str, message: str) -> str:
    """A number as it stands in the line that the message quotes: `1e3`, where the reader says 1000.0."""
    with suppress(ValueError):
        if (line := _LINE.search(message)) and float(line[1]) == float(value.strip("`")):
            return f"`{line[1]}`"
    return value


def _of_a_file(message: str, hint: str | None) -> tuple[str, str | None] | None:
    """What is wrong with all of a file, or with a list or table where a value goes."""
    if (several := _NOT_ONE.search(message)) and several[2] in _KINDS:
        return message.replace(several[0], f"{_SEVERAL[several[1]]} is {_KINDS[several[2]]}"), hint
    if "missing field `stream`" in message:
        return message, hint or "a workload file has a table `[[stream]]` for each kind of its requests"
    if "stream did not contain valid UTF-8" in message:
        return message.replace("stream did not contain valid UTF-8", "it is not text"), hint
    return None


def _elsewhere(asked: str) -> str | None:
    """A key of drive files that ends as the one that was asked for, or nearly so: `rotation_rpm` for `spindle.rpm`."""
    import json

    from headstack._core import json_schema

    schema = json.loads(json_schema("drive"))
    word = asked.rpartition(".")[2]
    paths = list(_keys(schema, schema.get("$defs", {})))
    found = [path for path in paths if re.search(rf"(^|[._]){re.escape(word)}$", path)]
    if not found and (near := _nearest(word, [path.rpartition(".")[2] for path in paths])):
        found = [path for path in paths if path.rpartition(".")[2] == near]
    return min(found, key=lambda path: (path.count("."), len(path)), default=None)


def _keys(schema: dict[str, Any], parts: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The paths of all keys below a JSON Schema, by dots."""
    if "$ref" in schema:
        schema = {**parts[schema["$ref"].rpartition("/")[2]], **schema}
    for word in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(word, ()):
            yield from _keys(each, parts, prefix)
    for key, value in schema.get("properties", {}).items():
        yield prefix + key
        yield from _keys(value, parts, f"{prefix}{key}.")


def _nearest(word: str, known: list[str]) -> str | None:
    from difflib import get_close_matches

    # Letters that changed places come first: `stpf` is `sptf`, and not `satf`.
    if same := [each for each in known if sorted(each) == sorted(word)]:
        return same[0]
    found = get_close_matches(word, known, n=1)
    return found[0] if found else None
