"""What is counted, in words, and sizes in full."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Write a count and what is counted."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def the_first(count: int, noun: str) -> str:
    """Write so many from the beginning on: `the first request`, `the first 20 requests`."""
    return f"the first {noun}" if count == 1 else f"the first {count:,} {noun}s"


def kept_runs(count: int) -> str:
    """Say how many runs of a sweep need not be made again."""
    return f"{plural(count, 'finished run')} {'is' if count == 1 else 'are'} kept"


def size(value: float) -> str:
    """Write a size in full, with its thousands apart: 1,048,576 and 0.5."""
    return f"{value:,.12g}"
