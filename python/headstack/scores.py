"""How far a model's times are from measured ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack import _core
from headstack.arguments import checked
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from headstack.results.common import PerRequest
    from headstack.results.validations import DemeritScore

    R = TypeVar("R")


@checked()
def demerit(measured: Sequence[float], model: Sequence[float]) -> DemeritScore:
    """The demerit of a model (Ruemmler & Wilkes 1994), in ms and in percent of the measured mean.

    The root mean square horizontal distance between the distributions of measured and modelled times. Both are sequences of
    times in ms.
    """
    return _scored(_core.demerit, measured, model)


@checked()
def per_request_error(measured: Sequence[float], model: Sequence[float]) -> PerRequest:
    """The error of each request: mean, absolute and root mean square, in ms and percent, and the correlation.

    Both are sequences of times in ms, of the same requests in the same order.
    """
    return _scored(_core.per_request_error, measured, model)


def _scored(
    score: Callable[[Sequence[float], Sequence[float]], R], measured: Sequence[float], model: Sequence[float]
) -> R:
    try:
        return score(measured, model)
    except TypeError:
        raise InputError(
            "`measured` and `model` cannot be read as numbers", "two lists of times in ms, or arrays"
        ) from None
