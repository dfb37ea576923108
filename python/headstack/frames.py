"""Tables of the compiled core for libraries that know no Arrow: rows, one by one."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from headstack._core import Table

if TYPE_CHECKING:
    from collections.abc import Iterator


def _rows(self: Table) -> Iterator[tuple[Any, ...]]:
    """The rows as named tuples, of which `pandas.DataFrame` makes columns. Needs polars."""
    import polars as pl

    frame = pl.DataFrame(self)
    row = namedtuple("Row", frame.columns, rename=True)
    return map(row._make, frame.iter_rows())


def teach() -> None:
    """Let tables of the compiled core be gone through row by row."""
    setattr(Table, "__iter__", _rows)  # noqa: B010 (the stubs describe the compiled class)
