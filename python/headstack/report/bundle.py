"""The program that draws a page's charts. Bundling it takes longer than all the rest of a page, so it is kept."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

VEGA_LITE = "6.4"
"""The version that charts are written for."""


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which `</script` does not end."""
    kept = cache_folder() / f"vega-{VEGA_LITE}-{version('vl-convert-python')}.js"
    script = _read(kept)
    if script is None:
        script = _made()
        _keep(kept, script)
    return script


def cache_folder() -> Path:
    """Where files lie that can be made anew: below `$XDG_CACHE_HOME`, or `~/.cache`."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(chosen) if Path(chosen).is_absolute() else Path(os.path.expanduser("~")) / ".cache"  # noqa: PTH111
    return home / "headstack"


def _made() -> str:
    import vl_convert

    script = vl_convert.javascript_bundle(snippet="window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return script.replace("</script", "<\\/script")


def _read(path: Path) -> str | None:
    """A script that was kept, if nobody but this user can have written it."""
    try:
        with path.open(encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            is_ours = about.st_uid == os.geteuid() and not about.st_mode & 0o022
            return file.read() if is_ours else None
    except (OSError, UnicodeDecodeError):
        return None


def _keep(path: Path, script: str) -> None:
    """Keep a script, whole or not at all; where that is impossible, it is made anew the next time."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".vega-", delete=False) as file:
            file.write(script)
        Path(file.name).replace(path)
