"""One self-contained page: charts, tables and what to cite, readable without a network."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headstack.files import check_page, write_whole
from headstack.report import origin, style
from headstack.report.bundle import bundle
from headstack.shown import kept_together, with_minus

if TYPE_CHECKING:
    from pathlib import Path

    from markupsafe import Markup

    from headstack.report.vega import Chart


@dataclass(frozen=True)
class Number:
    """A key number at the top of the page."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Section:
    """A chart, a table, or both, under a title.

    `lead` is what to read if nothing else is; `half` lets two sections stand side by side, `dense` sets a wide table in
    small type. `notes`, one for each row, stand below the row's claim.
    """

    title: str
    text: str = ""
    chart: Chart | None = None
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    text_columns: int = 1
    half: bool = False
    dense: bool = False
    lead: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """A page; `answer` is what it says in a sentence or two, with the number."""

    title: str
    subtitle: str
    numbers: list[Number]
    sections: list[Section]
    notices: list[str] = field(default_factory=list)
    cite: list[tuple[str, str]] = field(default_factory=list)
    answer: str = ""

    def html(self) -> str:
        """The page as one HTML document."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("headstack.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, finalize=_minus,
        )  # fmt: skip
        environment.filters |= {"prose": _prose, "apart": _apart}
        charts = [_specification(section.chart) for section in self.sections if section.chart is not None]
        return environment.get_template("page.html.jinja").render(
            page=self,
            cite=[*self.cite, *origin.rows()] if self.cite else [],
            charts=charts,
            script=bundle() if charts else "",
            font=style.FONT,
        )

    def write(self, path: Path) -> None:
        """Write the page beside its name, then rename it: nobody ever sees half of it."""
        check_page(path)
        write_whole(path, _SILENT.sub("\ufffd", self.html()))


# Control characters, and those that turn the direction of what follows: names of files may hold them.
_SILENT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


_CODE = re.compile(r"`([^`\n]+)`")


def _prose(text: str) -> Markup:
    """Words of a page, what is to be typed as code: its backticks are for terminals."""
    from markupsafe import Markup, escape

    parts = _CODE.split(with_minus(text))
    said = [
        f"<code>{escape(part)}</code>" if place % 2 else str(escape(kept_together(part)))
        for place, part in enumerate(parts)
    ]
    return Markup("".join(said))  # noqa: S704 (escaped above)


_INTERVAL = re.compile(r"^(\S+(?: %)?) (\([^()]+ to [^()]+\))$")


def _apart(cell: str) -> str | Markup:
    """A number with its interval, which may stand below it where a table is wide; other cells as they are."""
    from markupsafe import Markup, escape

    found = _INTERVAL.match(with_minus(cell))
    parts = [f'<span class="kept">{escape(part)}</span>' for part in found.groups()] if found else []
    return Markup(" ".join(parts)) if parts else cell  # noqa: S704 (escaped above)


def _minus(value: object) -> object:
    """Plain text with minus signs; what is marked up, or marked to be copied, stays as it is."""
    from markupsafe import Markup

    return with_minus(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _specification(chart: Chart) -> str:
    # `<` could end the script the text stands in.
    return json.dumps({**chart.to_dict(), "config": style.CONFIG}, separators=(",", ":")).replace("<", "\\u003c")
