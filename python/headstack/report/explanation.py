"""The page of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.report import charts
from headstack.report.page import Page, Section
from headstack.report.tables import number
from headstack.stories import summary_line, title

if TYPE_CHECKING:
    from headstack.explanation import Explanation


def explanation_page(explanation: Explanation) -> Page:
    """The page: a timeline, and each step in words."""
    import polars as pl

    steps = [
        {"row": title(story), **{key: step[key] for key in ("label", "start_ms", "end_ms", "note")}}
        for story in explanation.stories
        for step in story["steps"]
    ]
    sections = []
    if steps:
        sections.append(
            Section(
                "Timeline",
                "What the drive did; read-ahead and delayed writes go on after a request is complete.",
                charts.timeline(pl.DataFrame(steps)),
            )
        )
    sections += [
        Section(
            title(story),
            summary_line(story),
            columns=[
                "step",
                "what happens",
                "from (ms)",
                "to (ms)",
                "takes (ms)",
                "cylinder",
                "head",
                "angle (turns)",
            ],
            rows=[
                [
                    step["label"],
                    step["note"],
                    number(step["start_ms"], 3),
                    number(step["end_ms"], 3),
                    number(step["end_ms"] - step["start_ms"], 3),
                    number(step["cylinder"]),
                    number(step["head"]),
                    f"{step['start_turns']:.3f} → {step['end_turns']:.3f}",
                ]
                for step in story["steps"]
            ],
            text_columns=2,
        )
        for story in explanation.stories
    ]
    return Page(
        title=f"What {explanation.system} did",
        subtitle="Requests served one after the other, on one clock",
        numbers=[],
        sections=sections,
    )
