"""fio's sizes, counts and times."""

from __future__ import annotations

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIMES = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "ms": 1e-3, "us": 1e-6}
SECTOR = 512


def bytes_of(word: str) -> float:
    """Bytes of `4k`, `1m`, `512`."""
    word = word.strip().lower().removesuffix("b").removesuffix("i")
    number = word.rstrip("kmgtp")
    return float(number) * 1024.0 ** _POWERS[word[len(number) :]]


def count_of(word: str) -> float:
    """A number, of which `k` are 1,000."""
    word = word.strip().lower()
    number = word.rstrip("kmgtp")
    return float(number) * 1000.0 ** _POWERS[word[len(number) :]]


def seconds_of(word: str) -> float:
    """Seconds of `10`, `5m`, `200ms`."""
    word = word.strip().lower()
    number = word.rstrip("smhdu")
    return float(number) * _TIMES[word[len(number) :]]
