"""Arguments that had another name: it still works, and warns."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def formerly(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Accept arguments by their former `names`, each with the name that it has now."""

    def accept(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def renamed(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in names.items():
                if old in kwargs and new not in kwargs:
                    text = f"`{old}` of `{function.__name__}` is called `{new}` now"
                    warnings.warn(text, DeprecationWarning, stacklevel=2)
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return renamed

    return accept
