"""Keys of a drive file that have another name now, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstack import Drive


def renamed_sentences(drive: Drive) -> list[str]:
    """Tell of each key that is read by a former name."""
    return [
        f"`{old}` is called `{new}` now; the old name goes with the next version" for old, new in drive.renamed_keys
    ]
