"""Runs of the intra-disk study by load and design, and rows that compare two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.studies.framework import Row, at_least, at_most, not_testable

if TYPE_CHECKING:
    from headstack.studies.intra_disk.loads import Load
    from headstack.studies.intra_disk.runs import Outcome

LOADS = ("financial", "websearch", "tpcc", "tpch")
TITLES = {"financial": "Financial", "websearch": "Websearch", "tpcc": "TPC-C", "tpch": "TPC-H"}
NEEDS = "needs the excerpts of real traces (--data)"


class Found:
    """Outcomes by load and design, and rows made of them."""

    def __init__(self, loads: list[Load], outcomes: dict[tuple[str, str], Outcome]) -> None:
        self.loads = {load.name: load for load in loads}
        self.outcomes = outcomes

    def __call__(self, load: str, design: str) -> Outcome:
        """The outcome of a design under a load."""
        return self.outcomes[load, design]

    def has(self, load: str) -> bool:
        """Whether the load could be run."""
        return load in self.loads

    def ratio(self, load: str, over: str, under: str) -> float:
        """Mean response of a design over that of another."""
        return self(load, over).mean / self(load, under).mean

    def means(self, load: str, *names: str) -> str:
        """Mean responses, for a note, and how much of the time the drives worked, which decides how long requests wait."""
        told = ", ".join(f"{name} {self(load, name).mean:,.1f}" for name in names)
        busy = ", ".join(f"{100 * self(load, name).utilisation:.0f}" for name in names)
        late = [name for name in names if not self(load, name).keeps_up]
        return f"means {told} ms, the busiest drive at work {busy} % of the time" + (
            f"; {' and '.join(late)} cannot keep up, so that waits grow to the end" if late else ""
        )


def compare(
    found: Found,
    id_: str,
    load: str,
    claim: str,
    over: str,
    under: str,
    bound: float,
    *,
    least: bool = False,
    note: str = "",
) -> Row:
    """A row on the mean response of one design over that of another."""  # fmt: skip
    text = f"{claim}, {TITLES[load]}: mean response, {over} over {under}"
    if not found.has(load):
        return not_testable(f"{id_}-{load}", text, bound, "times", NEEDS)
    row = at_least if least else at_most
    told = "; ".join(filter(None, (note, found.means(load, over, under))))
    return row(f"{id_}-{load}", text, bound, found.ratio(load, over, under), "times", note=told)
