"""How long requests took between the layers of a system, as btt tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.cli import output
from headstack.shown import number, of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping


def show_layers(btt: Mapping[str, Any]) -> None:
    """Print how long requests took between two layers, as btt does."""
    rows = [
        (name.upper(), *(of_unit(row[f"{key}_s"], "s", 9) for key in ("min", "mean", "max")), number(row["count"]))
        for name, row in btt.items()
    ]
    output.line()
    output.table("Between layers (s), by queued piece", ["", "min", "mean", "max", "n"], rows)
