"""Results as tables: for charts, for pages, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.shown import Shown, number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from headstack._core import Table

PHASES = ("queue", "overhead", "seek", "rotation", "transfer", "bus", "other")


def completions_frame(table: Table) -> pl.DataFrame:
    """Completions as the charts want them: times in ms and s, words as strings."""
    import polars as pl

    def ms(name: str) -> pl.Expr:
        return (pl.col(name) / 1e6).alias(name.removesuffix("_ns") + "_ms")

    return (
        pl.DataFrame(table)
        .select(
            "id",
            "device",
            "drive",
            "lba",
            "sectors",
            pl.col("op").cast(pl.String),
            pl.col("cache").cast(pl.String),
            (pl.col("arrival_ns") / 1e9).alias("arrival_s"),
            ((pl.col("finish_ns") - pl.col("arrival_ns")) / 1e6).alias("response_ms"),
            ((pl.col("finish_ns") - pl.col("start_ns")) / 1e6).alias("service_ms"),
            *(ms(f"{phase}_ns") for phase in PHASES),
        )
        .sort("id")
    )


def large(value: int) -> str:
    """Write a count for people, in millions where all its digits would be a long row."""
    return number(value) if value < 10_000_000 else f"{value / 1e6:,.1f} M"


def size(size_bytes: float) -> Shown:
    """Write a size in powers of two."""
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return shown(f"{size_bytes / scale:,.4g} {unit}", size_bytes, "B")
    return shown(f"{size_bytes:,.0f} B", size_bytes, "B")


def span(seconds: float) -> Shown:
    """Write a length of time in the unit that suits it."""
    for unit, scale in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * scale:
            return shown(f"{seconds / scale:,.2f} {unit}", seconds, "s")
    return shown(f"{seconds:,.3f} s", seconds, "s")


LONG_MS = 10_000
"""From here on a time is told in s."""


def duration(ms: float | None) -> str:
    """Write a time for people: ms, or s where ms would be a long row of digits."""
    [text] = durations(ms)
    return text


def durations(*times_ms: float | None) -> list[str]:
    """Times that are compared in a sentence, in one unit."""
    longest = max((ms for ms in times_ms if ms is not None), default=0.0)
    if longest < LONG_MS:
        digits = 4 if longest < 0.1 and len(times_ms) > 1 else 2
        return ["–" if ms is None else f"{number(ms, digits)} ms" for ms in times_ms]
    return ["–" if ms is None else f"{number(ms / 1000, 1 if ms >= LONG_MS else 3)} s" for ms in times_ms]


def brief(ms: float) -> str:
    """A time in three figures, which fast devices need, or as `duration` has it."""
    return f"{ms:.3g} ms" if ms < 999.5 else duration(ms)


def key_numbers(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The numbers an engineer looks for first: label, value, detail."""
    response = summary["response_ms"]
    interval = response["mean_ci95"]
    detail = "" if interval is None else f"± {duration(interval)} (95 %)"
    busiest = max(summary["drives"], key=lambda drive: drive["utilisation"])
    return [
        ("mean response", duration(response["mean"]), detail),
        ("median", duration(response["p50"]), f"p90: {duration(response['p90'])}"),
        ("p99", duration(response["p99"]), f"p99.9: {duration(response['p999'])}"),
        ("max", duration(response["max"]), f"of {plural(summary['requests'], 'request')}"),
        ("throughput", f"{number(summary['iops'], 1)} IOPS", f"{number(summary['mib_per_s'])} MiB/s"),
        ("drive utilisation", f"{100 * busiest['utilisation']:.1f} %",
         "mechanism busy" if len(summary["drives"]) == 1 else f"the busiest, {busiest['name']}"),
    ]  # fmt: skip


def key_numbers_html(summary: Mapping[str, Any]) -> str:
    """The key numbers as a small table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th><td style='text-align:right'>{escape(value)}</td>"
        f"<td style='text-align:left'>{escape(detail)}</td></tr>"
        for label, value, detail in key_numbers(summary)
    )
    title = escape(f"{summary['system']} under {summary['workload']}")
    return f"<table><caption style='text-align:left'><b>{title}</b></caption><tbody>{rows}</tbody></table>"


def provenance_words(provenance: Mapping[str, Any]) -> str:
    """Where a system's values come from, as shares."""
    counts = provenance["values"]
    total = sum(counts.values()) or 1
    return ", ".join(f"{100 * count / total:.0f} % {kind}" for kind, count in counts.items())


def assumed_notice(provenance: Mapping[str, Any]) -> str:
    """What to say first about results that rest on assumptions."""
    share = provenance["assumed_share"]
    if share == 0:
        return ""
    strength = "Treat absolute numbers as illustrations." if share > 0.25 else ""
    return (
        f"{100 * share:.0f} % of the values that describe the drives are assumed: nobody has published or measured them. "
        f"{strength}"
    ).strip()


def citation(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What to state so that others get the same numbers."""
    pairs = [
        ("tool", f"headstack {summary['version']}"),
        ("system", summary["system"]),
        ("workload", summary["workload"]),
    ]
    if "replay" in summary:
        pairs.append(("replay", summary["replay"]))
    pairs += [
        ("seed", str(summary["seed"])),
        ("configuration", summary["config_hash"]),
        ("drive values", f"{provenance_words(summary['provenance'])}; "
                         f"assumed share {100 * summary['provenance']['assumed_share']:.0f} %"),
    ]  # fmt: skip
    return pairs
