"""The points that no other one beats in everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")


def front(items: Iterable[T], costs: Callable[[T], Sequence[float]]) -> list[T]:
    """Those of which no other is at least as good in every cost and better in one; equals are all in it."""
    ordered = sorted(((tuple(costs(item)), item) for item in items), key=lambda pair: pair[0])
    kept: list[tuple[tuple[float, ...], T]] = []
    for cost, item in ordered:
        # Whatever beats it comes before it in this order.
        if not any(other != cost and all(a <= b for a, b in zip(other, cost, strict=True)) for other, _ in kept):
            kept.append((cost, item))
    return [item for _, item in kept]
