"""What is counted, in words."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Write a count and what is counted."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
