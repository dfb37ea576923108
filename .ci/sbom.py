"""Lay the list of crates that a wheel carries beside it: `dist/NAME.cdx.json`.

It is CycloneDX, written by maturin into `*.dist-info/sboms`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile


def main() -> None:
    """Copy the list out of each wheel; a wheel without one is an error."""
    for name in map(Path, sys.argv[1:]):
        with ZipFile(name) as wheel:
            lists = [entry for entry in wheel.namelist() if ".dist-info/sboms/" in entry and "cyclonedx" in entry]
            if len(lists) != 1:
                sys.exit(f"{name}: {len(lists)} lists of crates in .dist-info/sboms, not one")
            name.with_suffix(".cdx.json").write_bytes(wheel.read(lists[0]))


if __name__ == "__main__":
    main()
