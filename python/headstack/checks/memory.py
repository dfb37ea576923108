"""A write cache that the drive has no memory for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def memory_sentences(spec: Mapping[str, Any]) -> list[str]:
    """Tell of a write-back cache that is larger than the drive's memory; caches that need no power are refused then."""
    cache = spec.get("write_policy", {}).get("write-back")
    memory = spec["buffer"]["size_kib"]
    if cache is None or cache["size_kib"] <= memory:
        return []
    return [
        f"`write_policy.write-back.size_kib`: {cache['size_kib']:.12g} KiB are more than the drive's memory, "
        f"`buffer.size_kib`, {memory:.12g} KiB: it holds more writes than a drive could, and is faster; "
        f"at most {memory:.12g} would do, or a larger buffer"
    ]
