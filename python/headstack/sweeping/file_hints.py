"""Hints that name options of a command, in the keys of a sweep file, which has no such options."""

from __future__ import annotations

import re

from headstack.sweeping.settings import RUN_KEYS, SOURCE_KEYS, TRACE_KEYS

_OPTION = re.compile(r"`?--([a-z][a-z-]+)(?:[ =](?!or |and )([\w.:,/-]*[\w…]))?`?")
_SWITCHES = ("sort", "skip_zero_length")


def in_keys(hint: str | None) -> str | None:
    """The hint, with `--fit-lba wrap` as `"trace.fit_lba" = "wrap"` and where that goes; others as they are."""
    if hint is None:
        return None
    tables: list[str] = []

    def key(option: re.Match[str]) -> str:
        name, value = option[1].replace("-", "_"), option[2] or ""
        rest = ""
        if name in _SWITCHES:
            value, rest = "true", f" {value}" if value else ""
        elif name == "device" and value.isdecimal():
            name, value = "devices", f"[{value}]"
        elif value and not re.fullmatch(r"-?[0-9.]+", value):
            value = f'"{value}"'
        is_of_base = name in (*RUN_KEYS, *SOURCE_KEYS)
        if not is_of_base and name not in TRACE_KEYS:
            return option[0]
        tables.append("[base]" if is_of_base else "[base.set]")
        written = name if is_of_base else f'"trace.{name}"'
        return f"`{written} = {value}`{rest}" if value else f"`{written}`"

    said = _OPTION.sub(key, hint)
    return f"{said}, in {tables[0]}" if tables else hint
