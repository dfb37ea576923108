"""The lock of Python packages covers everything that development and pages need."""

from __future__ import annotations

import re
import tomllib
from itertools import chain

from conftest import ROOT


def test_every_requirement_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], *chain(*extras)]
    lines = [line for line in (ROOT / "python.lock").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9a-z.]+", line) for line in lines)
    locked = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    names = {re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    assert names <= locked, names - locked
