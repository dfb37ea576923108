"""Charts as Vega-Lite reads them.

A page needs a small part of that grammar, and altair, which has all of it, takes longer to load than a page to make. What
Python hands out (`Run.plot_response()`) becomes a chart of altair's by `drawn`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair

    Drawn: TypeAlias = altair.Chart | altair.LayerChart

Options: TypeAlias = dict[str, Any]
# Tables of options, under the names that Vega-Lite's documentation has for them.
Axis = Legend = Scale = Marks = Options

_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_SIZE = ("width", "height")
_SHORT = re.compile(r"(?:(?P<sum>sum)\((?P<of>.+)\)|(?P<field>.+)):(?P<type>[QNO])")


def channel(short: str, **options: Any) -> Options:
    """A column on a channel: `NAME:TYPE` with the type Q, N or O, or `sum(NAME):TYPE`; and its options."""
    if not (parts := _SHORT.fullmatch(short)):
        raise ValueError(f"`{short}` is not of the form NAME:Q, NAME:N or NAME:O")
    what: Options = {"field": parts["of"] or parts["field"], "type": _TYPES[parts["type"]]}
    return what | ({"aggregate": "sum"} if parts["sum"] else {}) | options


X = Y = Color = Fill = Order = StrokeDash = Tooltip = YOffset = channel


def value(constant: str | float) -> Options:
    """A constant of a channel: a colour, a size."""
    return {"value": constant}


def datum(constant: str | float) -> Options:
    """A constant on a scale."""
    return {"datum": constant}


@dataclass(frozen=True)
class Chart:
    """A view of a table, or several on top of each other; nothing in it is changed."""

    data: pl.DataFrame | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple[Chart, ...] = ()

    def mark(self, kind: str, **options: Any) -> Chart:
        """Draw the rows as marks of a kind: `line`, `circle`, `bar`."""
        return self.properties(mark={"type": kind, **options})

    def encode(self, **channels: str | Options | Sequence[str | Options]) -> Chart:
        """Put columns on channels, beside those that are there."""
        return self.properties(
            encoding={
                **self.parts.get("encoding", {}),
                **{name: _bare(name, _spelt(what)) for name, what in channels.items()},
            }
        )

    def filter(self, condition: str | Options) -> Chart:
        """Draw only the rows that a condition holds for, or an expression of Vega's."""
        return self.properties(transform=[*self.parts.get("transform", []), {"filter": condition}])

    def properties(self, **values: Any) -> Chart:
        """Set parts of the view: its width, its height."""
        return replace(self, parts={**self.parts, **values})

    def to_dict(self) -> Options:
        """The chart in Vega-Lite's JSON; tables that several layers show are in it once."""
        tables: list[pl.DataFrame] = []
        view = self._view(tables)
        return {**view, "datasets": {_name(number): _rows(table) for number, table in enumerate(tables)}}

    def _view(self, tables: list[pl.DataFrame]) -> Options:
        view = dict(self.parts)
        if self.data is not None:
            number = next((at for at, table in enumerate(tables) if table is self.data), len(tables))
            tables[number:] = tables[number:] or [self.data]
            view["data"] = {"name": _name(number)}
        if self.layers:
            view["layer"] = [layer._view(tables) for layer in self.layers]
        return view


def layer(*layers: Chart, **properties: Any) -> Chart:
    """Charts on top of each other, the first at the bottom; they have one size."""
    sizes = {name: value for each in layers for name, value in each.parts.items() if name in _SIZE}
    bare = (
        replace(each, parts={name: value for name, value in each.parts.items() if name not in _SIZE}) for each in layers
    )
    return Chart(layers=tuple(bare), parts={**sizes, **properties})


def is_equal(column: str, wanted: str) -> Options:
    """The condition that a column has a value."""
    return {"field": column, "equal": wanted}


def drawn(chart: Chart) -> Drawn:
    """The chart as one of altair's, which notebooks show and which can be changed."""
    import altair

    return altair.Chart.from_dict(chart.to_dict())


def _spelt(what: str | Options | Sequence[str | Options]) -> Any:
    """Columns in short spelling written out; a list has several on one channel."""
    if isinstance(what, str):
        return channel(what)
    return what if isinstance(what, dict) else [_spelt(each) for each in what]


def _bare(name: str, what: Any) -> Any:
    """The other end of a span has the type of the first."""
    return {key: each for key, each in what.items() if key != "type"} if name in {"x2", "y2"} else what


def _name(number: int) -> str:
    return f"table-{number + 1}"


def _rows(table: pl.DataFrame) -> list[Options]:
    """The rows, null where JSON has no number."""
    reals = pl.col(pl.Float32, pl.Float64)
    return table.with_columns(pl.when(reals.is_finite()).then(reals)).to_dicts()
