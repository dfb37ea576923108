"""What the types of results are made of."""

from __future__ import annotations

import sys
from typing import Any, NotRequired

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:
    # The schemas need the one that keeps its own fields apart from inherited ones.
    from typing_extensions import TypedDict

__all__ = ["Any", "NotRequired", "TypedDict"]
