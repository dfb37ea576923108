"""What is counted, in words, and sizes in full."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Write a count and what is counted."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(value: float) -> str:
    """Write a size in full, with its thousands apart: 1,048,576 and 0.5."""
    return f"{value:,.12g}"
