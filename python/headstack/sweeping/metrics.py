"""The numbers of a run that a sweep asks for, by name: `response_ms.p99` is `p99` in `response_ms` of the run's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.errors import InputError
from headstack.sweeping.reading import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

USD = "usd"
"""The price of the drives, where the sweep file tells it."""
# Known only of systems whose drive files tell their watts, so that a run may lack them.
_SOMETIMES = ("power.average_w", "power.energy_j", USD)


def value(name: str, summary: Mapping[str, Any], prices: Mapping[str, float]) -> float | None:
    """A number of a run; `None` where the run has none."""
    if name == USD:
        return price(summary, prices)
    found: Any = summary
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def price(summary: Mapping[str, Any], prices: Mapping[str, float]) -> float | None:
    """What the drives of a run cost; `None` if the price of one of them is not known."""
    models = [drive["model"] for drive in summary.get("drives", [])]
    if not models or any(model not in prices for model in models):
        return None
    return sum(prices[model] for model in models)


def check(names: Sequence[str], summary: Mapping[str, Any]) -> None:
    """Refuse a metric that no run has."""
    known = dict.fromkeys([*_leaves(summary, ""), *_SOMETIMES])
    for name in names:
        if name not in known:
            raise InputError(f"metrics: a run has no `{name}`", nearest(name, known))


def _leaves(table: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, each in table.items():
        if isinstance(each, dict):
            yield from _leaves(each, f"{above}{key}.")
        elif each is None or (isinstance(each, (int, float)) and not isinstance(each, bool)):
            yield above + key
