"""The objective: the mean absolute error per request on the train part, and whether a change of it is more than noise."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack import _core
from headstack.errors import InputError, Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.calibration.parameters import Values

# Contiguous blocks of the train part: errors of neighbouring requests hang together (cache, arm, phase), blocks hardly.
BLOCKS = 24


@dataclass(frozen=True)
class Errors:
    """How far a drive is from the measured times of the train part."""

    # Sum of the absolute errors of each block, in ms, and the number of measured requests.
    blocks: tuple[float, ...]
    requests: int

    @property
    def mae_ms(self) -> float:
        """Mean absolute error per request, in ms."""
        return sum(self.blocks) / self.requests


@dataclass(frozen=True)
class Difference:
    """By how much one drive is better than another, request by request."""

    gain_ms: float
    # The gain over its standard error, by blocks.
    t: float
    # Whether it helps on the even and on the odd blocks alike.
    on_both_halves: bool

    def is_clear(self, t: float = 2.0) -> bool:
        """Whether the gain is more than noise."""
        return self.gain_ms > 0.0 and self.t >= t and self.on_both_halves


def difference(before: Errors, after: Errors) -> Difference:
    """Compare two drives on the same requests."""
    gains = [old - new for old, new in zip(before.blocks, after.blocks, strict=True)]
    count = len(gains)
    mean = sum(gains) / count
    error = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / (count - 1) / count)
    t = mean / error if error > 0.0 else math.copysign(math.inf, mean) if mean else 0.0
    halves = sum(gains[::2]), sum(gains[1::2])
    return Difference(sum(gains) / before.requests, t, min(halves) > 0.0)


class Objective:
    """Drives replayed on the train part; what was evaluated once is remembered.

    Attributes
    ----------
    evaluations
        How many drives were replayed.
    """

    def __init__(
        self,
        toml: str,
        replay: _core.LockedReplay,
        progress: Callable[[int, float], bool | None] | None = None,
    ) -> None:
        self.toml = toml
        self.replay = replay
        self._progress = progress
        self._known: dict[tuple[tuple[str, str], ...], Errors | None] = {}
        self.evaluations = 0

    def rebase(self, toml: str) -> None:
        """Go on from another drive file."""
        self.toml = toml
        self._known.clear()

    def errors(self, values: Values) -> Errors | None:
        """Replay the train part; `None` for a drive that cannot be."""
        overrides = values.overrides()
        key = tuple(sorted(overrides))
        if key not in self._known:
            self._known[key] = self._evaluate(overrides)
        return self._known[key]

    def _evaluate(self, overrides: list[tuple[str, str]]) -> Errors | None:
        self.evaluations += 1
        if self._progress is not None and self._progress(self.evaluations, 0.0) is False:
            raise Interrupted("stopped by `progress`")
        try:
            system = _core.System(toml=self.toml, overrides=overrides)
        except InputError:
            # Bounds that depend on each other (a fence and a buffer, say): the file's check knows them all.
            return None
        errors = [abs(error) for error in self.replay.errors_ms(system) if error is not None]
        count = len(errors)
        edges = [count * block // BLOCKS for block in range(BLOCKS + 1)]
        return Errors(tuple(sum(errors[a:b]) for a, b in itertools.pairwise(edges)), count)
