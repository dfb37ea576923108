"""Studies: experiments that answer a stated question, with the source's numbers beside ours.

One module a study, and one line in `STUDIES`. A module has `TITLE`, `PAPER`, and `run(data, progress)`, which returns rows and
sections; with `finding(ours)`, our numbers by row and those that rows have `besides`, it answers its title in a sentence (empty
where the rows that it needs were not testable). One that takes minutes says how many (`PROCESSOR_S`).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headstack.arguments import checked
from headstack.errors import InputError
from headstack.studies.framework import StudyResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.studies.framework import Progress

STUDIES = {
    "ruemmler-wilkes": "headstack.studies.ruemmler_wilkes",
    "skippy": "headstack.studies.skippy",
    "disksim-validation": "headstack.studies.disksim_validation",
    "scheduling": "headstack.studies.scheduling",
    "johnson": "headstack.studies.johnson",
    "nearline": "headstack.studies.nearline",
    "vickovic": "headstack.studies.vickovic",
    "intra-disk": "headstack.studies.intra_disk",
    "rebuild": "headstack.studies.rebuild",
}


def about(name: str) -> tuple[str, str]:
    """Title and paper of a study."""
    module = import_module(_home(name))
    return module.TITLE, module.PAPER


def processor_s(name: str) -> float:
    """How much processor time a study takes at least; 0 where that is not worth a word."""
    return getattr(import_module(_home(name)), "PROCESSOR_S", 0.0)


def run(name: str, data: Path | None, progress: Progress | None = None) -> StudyResult:
    """Run a study; `data` is the directory of its real data, without which their rows are not testable."""
    module = import_module(_home(name))
    rows, sections = module.run(data, progress)
    ours = {row.id: row.ours for row in rows if row.ours is not None}
    for row in rows:
        ours |= row.besides
    finding = module.finding(ours) if hasattr(module, "finding") else ""
    return StudyResult(name, module.TITLE, module.PAPER, rows, sections, finding)


@checked()
def study(name: str, *, data: str | Path | None = None, progress: Callable[[str], None] | None = None) -> StudyResult:
    """Reproduce a paper, as `headstack study NAME` does: its numbers beside ours.

    Parameters
    ----------
    name
        A study: one of `headstack.studies.STUDIES`.
    data
        Directory of the real data; without it their rows are not testable.
    progress
        Told, in a few words, what the study is doing.
    """
    return run(name, None if data is None else Path(data), progress)


def _home(name: str) -> str:
    if name not in STUDIES:
        raise InputError(f"there is no study called `{name}`", f"known: {', '.join(STUDIES)}")
    return STUDIES[name]
