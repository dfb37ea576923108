"""The page of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headstack import __version__
from headstack.report import charts
from headstack.report.page import Page, Section
from headstack.shown import number
from headstack.timelines import happened, summary_line, title

if TYPE_CHECKING:
    from headstack.explanation import Explanation
    from headstack.results.runs import Timeline


def explanation_page(explanation: Explanation) -> Page:
    """The page: a timeline, and each step in words."""
    import polars as pl

    # A run may have gone on for hours before: the axis begins with the first request that is shown.
    origin = min((timeline["arrival_ms"] for timeline in explanation.timelines), default=0.0)
    steps = [
        {
            "row": title(timeline),
            "label": step["label"],
            "start_ms": step["start_ms"] - origin,
            "end_ms": step["end_ms"] - origin,
            "note": str(happened(step)),
        }
        for timeline in explanation.timelines
        for step in sorted(timeline["steps"], key=lambda step: (step["start_ms"], step["end_ms"]))
    ]
    sections = []
    if steps:
        sections.append(
            Section(
                "Timeline",
                "What was done for each request. Steps overlap, as the bus moves data while the media turn; read-ahead and delayed "
                "writes go on after a request is complete. The phases of a request count each instant once.",
                charts.timeline(pl.DataFrame(steps)),
            )
        )
    sections += [
        Section(
            title(timeline),
            summary_line(timeline),
            columns=[
                "step",
                "what happens",
                "from (ms)",
                "to (ms)",
                "takes (ms)",
                "cylinder",
                "head",
                "angle (revolutions)",
            ],
            rows=[
                [
                    step["label"],
                    happened(step),
                    number(step["start_ms"] - origin, 3),
                    number(step["end_ms"] - origin, 3),
                    number(step["end_ms"] - step["start_ms"], 3),
                    number(step["cylinder"]),
                    number(step["head"]),
                    f"{step['start_revolutions']:.3f} → {step['end_revolutions']:.3f}",
                ]
                for step in timeline["steps"]
            ],
            text_columns=2,
        )
        for timeline in explanation.timelines
    ]
    return Page(
        title=f"What {explanation.system} did",
        subtitle="What was done for each request, on one clock"
        + (f"; 0 ms is {number(origin, 3)} ms after the start" if origin else ""),
        answer=answer(explanation),
        numbers=[],
        sections=sections,
        cite=[("tool", f"headstack {__version__}"), ("system", explanation.system)],
    )


def answer(explanation: Explanation) -> str:
    """How long the last request took, and what most of it went on."""
    if not explanation.timelines:
        return ""
    timeline = explanation.timelines[-1]
    times = cast("dict[str, float]", timeline["phases_ms"])
    phase, time = max(times.items(), key=lambda each: each[1])
    share = 100 * time / (timeline["response_ms"] or 1)
    name = title(timeline)
    if phase == "other":
        phase = f"waiting, as {_reason(timeline)}"
    elif phase == "queue":
        phase = "in a queue"
    return f"{name[:1].upper()}{name[1:]}: {timeline['response_ms']:,.3f} ms, {share:.0f} % of it {phase} ({time:,.3f} ms)."


def _reason(timeline: Timeline) -> str:
    """What the longest wait was for."""
    waits = [step for step in timeline["steps"] if step["label"] == "wait"]
    longest = max(waits, key=lambda step: step["end_ms"] - step["start_ms"], default=None)
    return happened(longest) if longest else "the mechanism was busy with other work"
