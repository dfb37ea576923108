"""How tables and facts become lines of text: no number and no name is ever cut.

A table that is too wide for the terminal is tried in turn: with headers and prose on several lines, with rows and columns
exchanged, with narrower prose, without the columns that matter least (a line says which), with long prose below its row, in
bands of columns one below the other, and row by row. A word that is longer than a line runs over its end.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from headstack.shown import Part, Shown, kept_together, with_minus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

GAP = 2
"""Blanks between two columns."""
PROSE = 24
"""A column of prose is not made narrower than this while another arrangement fits."""
NARROW = 16
"""As narrow as prose gets where nothing has to give way to it, if no row of the table then takes more than `TALL` lines."""
TALL = 4
FEW = 8
"""A table of at most so many rows may become one of so many columns."""

_ASCII = {
    "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "±": "+/-", "≤": "<=", "≥": ">=", "→": "->", "√": "sqrt ",
    "µ": "u", "²": "^2", "·": ".", "─": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "█": "#", "▌": "-", "\u00a0": " ",
}  # fmt: skip
_NOTHING = {"", "–", "-"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def ascii_signs(problem: UnicodeError) -> tuple[str, int]:
    """What stands for the characters that an encoding lacks: the error handler `headstack.signs` of codecs."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    lacking = problem.object[problem.start : problem.end]
    return "".join(_ASCII.get(sign, "?") for sign in lacking), problem.end


codecs.register_error("headstack.signs", ascii_signs)


def writable(text: str, encoding: str) -> str:
    """The text with signs that the encoding has."""
    if text.isascii():
        return text
    return text.encode(encoding, "headstack.signs").decode(encoding)


@dataclass(frozen=True)
class Table:
    """What a table says, before anything is known of the width it gets.

    `prose` are the columns whose cells may take several lines; `spare` are the columns that can be left out, the least
    important first.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    prose: frozenset[int] = frozenset()
    caption: str = ""
    spare: Sequence[int] = ()


@dataclass(frozen=True)
class Screen:
    """What the lines are for: a width (`None`: as long as they need), an encoding, and how a title stands out."""

    width: int | None
    encoding: str = "utf-8"
    title: Callable[[str], str] = str


def table_lines(table: Table, screen: Screen) -> list[str]:
    """The lines of a table."""
    cells = _Cells.of(table, screen)
    lines = wrapped(table.title, screen) if table.title else []
    lines = [screen.title(line) for line in lines]
    rule = writable("─", screen.encoding)
    if not cells.rows:
        return [*lines, "none"]
    empty = set() if screen.width is None or _total(_natural(cells)) <= screen.width else cells.empty()
    spare = [index for index in table.spare if index not in empty]
    body, left_out = _arranged(cells, empty, spare, screen.width, rule)
    lines += body
    if table.caption:
        lines += wrapped(table.caption, screen)
    if empty:
        lines += wrapped(f"without values here: {cells.names(empty)}", screen)
    if left_out:
        names = cells.names(left_out)
        lines += wrapped(f"not shown at {screen.width} columns: {names} (--csv and --json have them)", screen)
    return lines


def fact_lines(title: str, pairs: Iterable[tuple[str, str]], screen: Screen) -> list[str]:
    """Names and values, one pair below the other."""
    shown = [tuple(_clean(word, screen.encoding) for word in pair) for pair in pairs]
    lines = [screen.title(line) for line in wrapped(title, screen)] if title else []
    return [*lines, *_record(shown, screen.width)]


def csv_rows(table: Table, name: str) -> list[list[str]]:
    """The header and the rows for other programs, the name of the table in front of each.

    A cell is one number, as exact as it is known, or one text; a unit stands in the header, or in a column of its own where
    rows differ in it. A cell for people with several numbers becomes several columns.
    """
    told = [[_told(cell) for cell in row] for row in table.rows]
    columns: list[list[str]] = []
    for index, column in enumerate(table.columns):
        head = column or ("name" if index == 0 else "value")
        cells = [row[index] for row in told]
        labels = dict.fromkeys(part.label for cell in cells for part in cell) or {"": None}
        for label in labels:
            parts = [next((part for part in cell if part.label == label), Part(label, None)) for cell in cells]
            columns += _csv_columns(f"{head}: {label}" if label else head, parts)
    lines = zip(*columns, strict=True)
    return [["table" if number == 0 else name, *line] for number, line in enumerate(lines)]


def csv_facts(name: str, pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Names and values for other programs: a row for each number, or for each text."""
    rows = [["table", "name", "value", "unit"]]
    for what, value in pairs:
        for part in _told(value):
            label = ": ".join(filter(None, (what or "about", part.label)))
            rows.append([name, label, _exact(part.exact), part.unit])
    return rows


def _csv_columns(head: str, parts: Sequence[Part]) -> list[list[str]]:
    """A column of values with its header, and one of units where one unit does not hold for all."""
    units = {part.unit for part in parts if part.exact is not None}
    values = [_exact(part.exact) for part in parts]
    if len(units) > 1:
        return [[head, *values], [f"{head}, unit", *(part.unit for part in parts)]]
    unit = units.pop() if units else ""
    is_said = not unit or f"({unit})" in head or unit in head.split()
    return [[head if is_said else f"{head} ({unit})", *values]]


_NUMBER = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?: (%|ms|s|B|[KMGT]i?B))?")


def _told(cell: str) -> tuple[Part, ...]:
    """The numbers of a cell, or its text."""
    if isinstance(cell, Shown):
        return cell.parts
    if found := _NUMBER.fullmatch(cell):
        return (Part("", found[1].replace(",", ""), found[2] or ""),)
    return (Part("", None if cell in _NOTHING else cell),)


def _exact(value: float | str | None) -> str:
    """A number with all its digits, a text as it stands, nothing where there is none."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


# ---- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """A table's words as they are written; `fixed` columns hold no prose."""

    columns: list[str]
    rows: list[list[str]]
    prose: frozenset[int]

    @classmethod
    def of(cls, table: Table, screen: Screen) -> _Cells:
        columns = [_clean(name, screen.encoding) for name in table.columns]
        rows = [[_clean(cell, screen.encoding) for cell in row] for row in table.rows]
        return cls(columns, rows, table.prose)

    def names(self, columns: set[int]) -> str:
        return ", ".join(self.columns[index] or "(no name)" for index in sorted(columns))

    def empty(self) -> set[int]:
        """The columns in which no row has anything, but the first."""
        return {index for index in range(1, len(self.columns)) if all(row[index] in _NOTHING for row in self.rows)}

    def without(self, left_out: set[int]) -> _Cells:
        kept = [index for index in range(len(self.columns)) if index not in left_out]
        return _Cells(
            [self.columns[index] for index in kept],
            [[row[index] for index in kept] for row in self.rows],
            frozenset(place for place, index in enumerate(kept) if index in self.prose),
        )

    def exchanged(self) -> _Cells:
        """Rows as columns; the first column, which names the rows, becomes the header."""
        header, *rows = [list(column) for column in zip(self.columns, *self.rows, strict=True)]
        return _Cells(header, rows, frozenset({0}))


def _arranged(
    whole: _Cells, empty: set[int], spare: Sequence[int], width: int | None, rule: str
) -> tuple[list[str], set[int]]:
    """The table, without `empty` columns, in the first arrangement that fits, and the columns left out of it."""
    cells = whole.without(empty)
    widths = _natural(cells)
    if width is None or _total(widths) <= width:
        return _grid(cells, widths, rule), set()
    if widths := _fitted(cells, width, PROSE):
        return _grid(cells, widths, rule), set()
    if len(cells.rows) <= FEW and not cells.prose - {0}:
        turned = cells.exchanged()
        if widths := _fitted(turned, width, PROSE):
            return _grid(turned, widths, rule), set()
    if (widths := _fitted(cells, width, NARROW)) and _tallest(cells, widths) <= TALL:
        return _grid(cells, widths, rule), set()
    left_out: set[int] = set()
    for index in spare:
        left_out.add(index)
        part = whole.without(empty | left_out)
        if widths := _fitted(part, width, PROSE):
            return _grid(part, widths, rule), left_out
    for count in range(len(spare) + 1):
        left_out = set(spare[:count])
        if lines := _below(whole.without(empty | left_out), width, rule):
            return lines, left_out
    return _bands(cells, width, rule) or _records(cells, width), set()


def _below(cells: _Cells, width: int, rule: str) -> list[str]:
    """A grid whose long columns of prose, one or several, stand below their row; nothing where that does not fit."""
    lengths = {index: max(_length(row[index]) for row in cells.rows) for index in cells.prose - {0}}
    long = sorted((index for index in lengths if lengths[index] > PROSE), key=lambda index: -lengths[index])
    for count in range(1, len(long) + 1):
        under = set(long[:count])
        part = cells.without(under)
        # Where all that is long is out of the way, what is left of prose may be narrow.
        if widths := _fitted(part, width, PROSE if count < len(long) else 0):
            texts = [[row[index] for index in sorted(under)] for row in (cells.columns, *cells.rows)]
            return _grid(part, widths, rule, texts, width)
    return []


def _bands(cells: _Cells, width: int, rule: str) -> list[str]:
    """Some columns, and the others below them; each time behind those that tell the rows apart."""
    count = len(cells.columns)
    key = next(
        (end for end in range(1, count) if len({tuple(row[:end]) for row in cells.rows}) == len(cells.rows)), count
    )
    lines: list[str] = []
    start = key
    while start < count:
        fits = None
        for end in range(start + 1, count + 1):
            part = cells.without(set(range(key, count)) - set(range(start, end)))
            widths = _fitted(part, width, PROSE)
            if widths is None:
                break
            fits = end, part, widths
        if fits is None:
            return []
        start, part, widths = fits
        lines += [*([""] if lines else []), *_grid(part, widths, rule)]
    return lines


def _tallest(cells: _Cells, widths: Sequence[int]) -> int:
    return max(len(_wrap(cell, width)) for row in cells.rows for cell, width in zip(row, widths, strict=True))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _natural(cells: _Cells) -> list[int]:
    """The widths at which nothing is wrapped."""
    return [
        max(_length(name), *(_length(row[index]) for row in cells.rows)) for index, name in enumerate(cells.columns)
    ]


def _fitted(cells: _Cells, width: int, prose: int) -> list[int] | None:
    """Widths that fit, with headers and prose on several lines; `None` where there are none."""
    natural = _natural(cells)
    least = []
    for index, name in enumerate(cells.columns):
        column = [row[index] for row in cells.rows]
        word = max(_longest_word(text) for text in (name, *column))
        whole = max(_length(cell) for cell in column)
        least.append(max(word, min(whole, prose)) if index in cells.prose else max(word, whole))
    if _total(least) > width:
        return None
    # The headers of numbers wrap before prose does; of several, the widest column gives way first.
    widths = natural
    while _total(widths) > width:
        wide = [index for index in range(len(widths)) if widths[index] > least[index]]
        index = max(wide, key=lambda index: (index not in cells.prose, widths[index]))
        widths[index] -= 1
    return widths


def _grid(
    cells: _Cells,
    widths: Sequence[int],
    rule: str,
    under: Sequence[Sequence[str]] = (),
    width: int = 0,
) -> list[str]:
    """Rows of columns; `under` is what stands below the header and below each row, in the whole `width`."""

    def below(row: int) -> list[str]:
        texts = under[row] if under else ()
        return ["  " + part for text in texts if text not in _NOTHING for part in _wrap(text, max(width - 2, 1))]

    lines = _row(cells.columns, widths, cells.prose, bottom=True) if any(cells.columns) else []
    lines += below(0)
    lines.append(rule * _total(widths))
    for number, row in enumerate(cells.rows):
        lines += [*_row(row, widths, cells.prose), *below(number + 1)]
    return lines


def _row(row: Sequence[str], widths: Sequence[int], prose: frozenset[int], *, bottom: bool = False) -> list[str]:
    """A row as one or more lines; `bottom` lets short cells stand on the last of them."""
    cells = [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    if bottom:
        tallest = max(map(len, cells))
        cells = [[""] * (tallest - len(cell)) + cell for cell in cells]
    return [
        (" " * GAP).join(_padded(text, width, left=index in prose) for index, (text, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in zip_longest(*cells, fillvalue="")
    ]  # fmt: skip


def _padded(text: str, width: int, *, left: bool) -> str:
    blanks = " " * (width - _length(text))
    return text + blanks if left else blanks + text


def _records(cells: _Cells, width: int) -> list[str]:
    """Row by row: a line for every column."""
    lines: list[str] = []
    for row in cells.rows:
        if lines:
            lines.append("")
        pairs = [(name, cell) for name, cell in zip(cells.columns, row, strict=True) if cell]
        lines += _record(pairs, width)
    return lines


def _record(pairs: Sequence[tuple[str, ...]], width: int | None) -> list[str]:
    """Names on the left, values on the right of them; below them where a name takes too much room."""
    label = max((_length(name) for name, _ in pairs), default=0)
    lines = []
    for name, value in pairs:
        indent = label + GAP
        if width is None:
            parts = [value]
        else:
            beside = width - indent
            if max(beside, 0) < min(_longest_word(value), width - 2) or beside < min(PROSE // 2, _length(value)):
                lines.append(name.rstrip())
                lines += ["  " + part for part in _wrap(value, max(width - 2, 1))]
                continue
            parts = _wrap(value, beside)
        lines.append((_padded(name, indent, left=True) + parts[0]).rstrip())
        lines += [" " * indent + part for part in parts[1:]]
    return lines


# ---- words -----------------------------------------------------------------------------------------------------------


def _clean(text: str, encoding: str) -> str:
    """Without what could move the cursor, in signs that the encoding has."""
    return writable(with_minus(_CONTROL.sub(lambda found: " " if found[0] in "\n\t" else "?", text)), encoding)


@cache
def _length(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii() or all(ord(sign) < 0x300 or 0x2000 <= ord(sign) < 0x2600 for sign in text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _words(text: str) -> list[str]:
    """What may stand on lines of its own: words, a number with its unit."""
    return [word.replace("\u00a0", " ") for word in kept_together(text).split(" ")]


def _longest_word(text: str) -> int:
    return max(map(_length, _words(text)))


def _wrap(text: str, width: int) -> list[str]:
    """Lines of whole words, each as long as the width lets it be."""
    if _length(text) <= width:
        return [text]
    lines: list[str] = []
    current: str | None = None
    for word in _words(text):
        longer = word if current is None else f"{current} {word}"
        if current is None or _length(longer) <= width:
            current = longer
        else:
            lines.append(current.rstrip())
            current = word
    return [*lines, current or ""]


def wrapped(text: str, screen: Screen) -> list[str]:
    """Prose on a screen: lines of whole words."""
    shown = _clean(text, screen.encoding)
    return [shown] if screen.width is None else _wrap(shown, screen.width)
