"""What the types of results are made of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NotRequired, TypeAlias

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:
    # The schemas need the one that keeps its own fields apart from inherited ones.
    from typing_extensions import TypedDict

if TYPE_CHECKING:
    # Nearly always there: a checker does not ask for `is None` before each use.
    Figure: TypeAlias = float | Any
else:
    # A number; null where there is none.
    Figure = float | None

__all__ = ["Any", "Figure", "NotRequired", "TypedDict"]
