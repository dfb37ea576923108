"""Where a scheduler's name belongs among the values of a system."""

from __future__ import annotations

from headstack.errors import InputError


def scheduler_override(word: str, option: str) -> tuple[str, str]:
    """The value to replace for `NAME` or `host:NAME` (the host's driver) or `drive:NAME` (the drives)."""
    place, colon, name = word.partition(":")
    if not colon:
        place, name = "host", word
    if place not in ("host", "drive"):
        raise InputError(
            f"{option} `{word}`: there are no schedulers in a `{place}`",
            "NAME or host:NAME for the host's driver, drive:NAME for the drives",
        )
    return ("host.scheduler" if place == "host" else "drive.*.controller.scheduler", name)
