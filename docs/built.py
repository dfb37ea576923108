"""Check the built pages: they must load nothing from elsewhere, and show every formula.

Run by `make docs`. A page that needs a network is of no use to a reader without one, and tells others who reads it.
"""

from __future__ import annotations

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path

# What a browser fetches by itself; a link that waits for a click may lead anywhere.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
UNFETCHED = {"canonical", "next", "prev", "author", "index", "search"}


class Page(HTMLParser):
    """Counts the formulas of a page, and lists what it fetches from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.formulas = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count a formula, and look where what a tag fetches comes from."""
        self.formulas += tag == "math"
        values = dict(attrs)
        address = values.get(FETCHED.get(tag, "")) or ""
        if address.startswith(("http:", "https:", "//")) and values.get("rel") not in UNFETCHED:
            self.fetched.append(f"<{tag}> {address}")


def main(built: Path) -> int:
    """Look at all pages below a directory."""
    wrong, formulas, pages = [], 0, sorted(built.rglob("*.html"))
    for path in pages:
        page = Page()
        page.feed(path.read_text())
        formulas += page.formulas
        wrong += [f"{path.relative_to(built)}: {each}" for each in page.fetched]
    if wrong or not formulas:
        print("\n".join(wrong) or f"no formula on any of {len(pages)} pages", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages with {formulas} formulas: nothing is fetched from elsewhere")
    return 0


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Look whether built pages fetch anything from elsewhere.")
    words.add_argument("folder", type=Path, help="the built documentation")
    sys.exit(main(words.parse_args().folder))
