"""The exceptions of headstack: one tree, rooted in `HeadstackError`."""

from __future__ import annotations

PAGE_PACKAGES = ("jinja2", "polars", "vl_convert")
"""What pages need beyond the base install, as Python imports them."""


def package_hint(*modules: str) -> str:
    """How to install packages that are named as Python imports them."""
    return "pip install " + " ".join({"vl_convert": "vl-convert-python"}.get(name, name) for name in modules)


def extra_hint(extra: str) -> str:
    """How to install what an extra of headstack brings; the quotes keep shells from taking the brackets for a pattern."""
    return f"pip install 'headstack[{extra}]'"


class HeadstackError(Exception):
    """Anything headstack raises on purpose.

    Parameters
    ----------
    message
        What is wrong, and where.
    hint
        What to do about it, where there is something to do.
    """

    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        # Tracebacks show notes; the command prints the hint itself.
        if hint:
            self.add_note(f"hint: {hint}")


class InputError(HeadstackError):
    """A drive, system, workload or trace file, or an option, cannot be used; nothing was written."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        from headstack import hints

        # The message of what is compiled lists all keys; here the hint names the one that was meant.
        super().__init__(*hints.improved(message.rstrip(), hint))


class Interrupted(HeadstackError):
    """The caller's `progress` asked to stop; unfinished outputs were removed. Ctrl-C raises `KeyboardInterrupt`."""


class InternalError(HeadstackError):
    """A defect of headstack itself: please report it."""
