"""The corrected drive as a file for people: the evidence in its head comment, one line a value."""

from __future__ import annotations

import json
import textwrap
import tomllib
from typing import Any

_WIDTH = 120


def drive_file(text: str, head: list[str]) -> str:
    """Write a drive file with the paragraphs of a head comment, its lists and its provenance in few lines."""
    body, entries = text.split("\n[provenance", 1)[0], tomllib.loads(text)["provenance"]
    comment = "\n#\n".join("\n".join(f"# {line}" for line in textwrap.wrap(part, _WIDTH - 2)) for part in head)
    lines = [f"{toml_value(key)} = {toml_value(entry)}" for key, entry in sorted(entries.items())]
    return f"{comment}\n\n{compact(body).strip()}\n\n[provenance]\n" + "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A value as TOML text."""
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items()) + " }"
    # Strings, numbers and switches are written as in JSON.
    return json.dumps(value, ensure_ascii=False)


def compact(text: str) -> str:
    """Write lists that stand one number a line in as few lines as fit."""
    lines, out = text.split("\n"), []
    index = 0
    while index < len(lines):
        line = lines[index]
        if not line.endswith(" = ["):
            out.append(line)
            index += 1
            continue
        end = lines.index("]", index)
        value: Any = tomllib.loads("\n".join(lines[index : end + 1]))
        key, items = next(iter(value.items()))
        written = f"{key} = {toml_value(items)}"
        if len(written) > _WIDTH:
            words = [toml_value(item) for item in items]
            # Points must not be broken in two: their blanks are hidden from the wrapping.
            flowing = ", ".join(word.replace(" ", "\0") for word in words) + ","
            wrapped = textwrap.wrap(flowing, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
            written = "\n".join([f"{key} = [", *(f"    {row}" for row in wrapped), "]"]).replace("\0", " ")
        out.append(written)
        index = end + 1
    return "\n".join(out)
