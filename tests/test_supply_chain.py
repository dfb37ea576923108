"""What a wheel is made of: the list of its crates lies beside it; doubled crates have a reason."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from typing import TYPE_CHECKING
from zipfile import ZipFile

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def laid_beside(wheel: Path, *entries: str) -> subprocess.CompletedProcess[str]:
    with ZipFile(wheel, "w") as archive:
        for entry in entries:
            archive.writestr(entry, f'"{entry}"')
    command = [sys.executable, ROOT / ".ci" / "sbom.py", wheel]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_list_of_crates_lies_beside_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "headstack-1.whl"
    entry = "headstack-1.dist-info/sboms/headstack-python.cyclonedx.json"
    assert laid_beside(wheel, "headstack/__init__.py", entry).returncode == 0
    assert (tmp_path / "headstack-1.cdx.json").read_text() == f'"{entry}"'
    assert "0 lists" in laid_beside(wheel, "headstack/__init__.py").stderr


def test_doubled_crates_are_those_that_have_a_reason() -> None:
    versions = defaultdict(set)
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]:
        versions[package["name"]].add(package["version"])
    doubled = {name: found for name, found in versions.items() if len(found) > 1}
    skipped = [entry["crate"].split("@") for entry in tomllib.loads((ROOT / "deny.toml").read_text())["bans"]["skip"]]
    assert all(any(re.match(rf"{version}\b", each) for each in doubled.get(name, ())) for name, version in skipped)
    left = {
        name: {each for each in found if not any(name == n and re.match(rf"{v}\b", each) for n, v in skipped)}
        for name, found in doubled.items()
    }
    assert {name: found for name, found in left.items() if len(found) > 1} == {}
