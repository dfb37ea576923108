"""What a misspelt word was meant to be."""

from __future__ import annotations

import re

_KEY = re.compile(r"unknown (?:field|variant) `([^`]*)`, (expected (?:one of )?(`.*`))")
_NAME = re.compile(r"(?:called|named) `([^`]*)`")


def improved(message: str, hint: str | None) -> tuple[str, str | None]:
    """The message and its hint, with the nearest of the known words where one is near."""
    key = _KEY.search(message)
    if key:
        known = re.findall(r"`([^`]*)`", key[2])
        if near := _nearest(key[1], known):
            return message.replace(", " + key[2], ""), hint or f"did you mean `{near}`?"
        return message.replace(", " + key[2], ""), hint or f"known: {', '.join(known)}"
    name = _NAME.search(message)
    if name and hint and hint.startswith("known: "):
        known = hint.removeprefix("known: ").split(", ")
        if near := _nearest(name[1], known):
            return message, f"did you mean `{near}`? {hint}"
    return message, hint


def _nearest(word: str, known: list[str]) -> str | None:
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1)
    return found[0] if found else None
