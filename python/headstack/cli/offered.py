"""What a shell offers where a name of the library, a scheduler or a study is asked for; files it offers itself."""

from __future__ import annotations


def systems(_context: object) -> list[str]:
    """Names of drives and systems."""
    from headstack import library_drives, library_systems

    return [*library_drives(), *library_systems()]


def drives(_context: object) -> list[str]:
    """Names of drives."""
    from headstack import library_drives

    return list(library_drives())


def workloads(_context: object) -> list[str]:
    """Names of workloads."""
    from headstack import library_workloads

    return list(library_workloads())


def designs(_context: object) -> list[str]:
    """Names of designs."""
    from headstack import library_designs

    return list(library_designs())


def schedulers(_context: object) -> list[str]:
    """Names of scheduling algorithms, in the host's driver and in the drives."""
    from headstack import schedulers as known

    names = [each["name"] for each in known() if not each["is_modifier"]]
    return [*names, *(f"drive:{name}" for name in names)]


def studies(_context: object) -> list[str]:
    """Names of studies."""
    from headstack.studies import STUDIES

    return [*STUDIES, "all"]
