"""Files that are whole or not there; what is not a file (`/dev/null`, a pipe) is written through."""

from __future__ import annotations

import errno
import os
import re
import stat
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from headstack.errors import PAGE_PACKAGES, InputError, package_hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_SCHEME = re.compile(r"^(?P<kind>[A-Za-z][A-Za-z0-9+.-]+):/+")
"""How a URL begins, also one of which a path object made one slash of two."""


def local(path: str | Path) -> Path:
    """A path with `~` for the home folder, unless there is something of that very name."""
    here = Path(path)
    if not str(path).startswith("~") or Path(here.parts[0]).exists():
        return here
    try:
        return here.expanduser()
    except RuntimeError:
        raise InputError(f"`{path}`: there is no user `{here.parts[0][1:]}` whose folder is known") from None


_FILE = re.compile(r"^(?:file|local):(?P<slashes>/*)(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
"""The URL of a local file."""
_HOST = re.compile(r"^(?:file|local)://(?!/)", re.IGNORECASE)
"""The URL of a file whose path has no slash: the first name of it is that of a host."""
_HERE = re.compile(r"^(?:file|local)://localhost(?=/)", re.IGNORECASE)
"""The host that is this machine."""
_BARE = re.compile(r"^file:(?!/)", re.IGNORECASE)
"""A URL without a slash: some take it for a file here, and what writes Parquet for one in the root folder."""


def of_url(name: str) -> str | None:
    """The path that the URL of a local file names; `None` of whatever else."""
    found = _FILE.match(_HERE.sub("file://", name))
    if found is None or "::" in name or not found["slashes"] or len(found["slashes"]) == 2:
        return None
    return f"/{found['rest']}"


def to_read(path: str | Path) -> Path:
    """The path of an input as it was named: `~` is the home folder, `file://` a local file; other URLs stay what they are."""
    name = str(path)
    if not name.startswith("~") and not _FILE.match(name):
        return Path(path)
    if Path(name).exists():
        return Path(name)
    if (meant := of_url(name)) is not None:
        return Path(meant)
    check_file_url(name)
    return local(path)


def named(name: str) -> str:
    """What may be a name of the library or a path: the path, if it begins with `~/` or is the URL of a local file."""
    is_path = name.startswith("~/") or of_url(name) is not None
    return str(to_read(name)) if is_path and "\n" not in name else name


def check_file_url(name: str) -> None:
    """Refuse `file://name`: some take it for `/name`, some for a file here, and by the standard `name` is a host."""
    if _BARE.match(name) and not Path(name).exists():
        raise _without_slash(name)
    if _HOST.match(name) and not _HERE.match(name) and not Path(name).exists():
        rest = _HOST.sub("", name)
        meant = local(rest).absolute() if rest else Path("/path")
        raise InputError(
            f"`{name}` names a host and no path",
            f"a local file has three slashes: `file://{meant}`, or leave `file://` out",
        )


def _without_slash(name: str) -> InputError:
    rest = _BARE.sub("", name)
    return InputError(
        f"`{name}` is the URL of a file without its slashes",
        f"leave `file:` out: `{rest}`" if rest else "a local file has three: `file:///path`",
    )


def to_write(path: str | Path) -> Path:
    """The path of an output as it was named: `~` and `file://` are what they are to inputs; nothing is written to other URLs."""
    if _BARE.match(str(path)):
        raise _without_slash(str(path))
    if Path(str(path).partition("/")[0] or "/").exists() and not _SCHEME.match(str(path)):
        # A folder that is there, even by the name of somebody's home. Not one called `s3:`: what named a URL may have made it.
        return Path(path)
    kinds = [found["kind"].lower() for link in str(path).split("::") if (found := _SCHEME.match(link))]
    if not kinds:
        return local(path)
    if kinds in (["file"], ["local"]):
        check_file_url(str(path))
        return Path(of_url(str(path)) or path)
    raise InputError(
        f"cannot write to `{url(path) or path}`: traces are read from URLs, and nothing is written to one",
        "name a local path, and copy what is written there",
    )


def url(path: str | Path) -> str | None:
    """The URL that a path was named as, with both its slashes, unless it is that of a local file."""
    found = _SCHEME.match(str(path))
    if found is None or found["kind"].lower() in ("file", "local"):
        return None
    return _SCHEME.sub(r"\g<kind>://", str(path))


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file that is either complete or not there."""
    from headstack._core import write_whole as write

    write(to_write(path), text)


def write_toml(path: str | Path, text: str) -> None:
    """Write a drive or system file, under a name that is none of another kind."""
    check_toml(to_write(path))
    write_whole(path, text)


def write_together(texts: Mapping[Path, str]) -> None:
    """Write several text files: all of them, or, if one cannot be written, none."""
    from headstack._core import Together

    with Together():
        for path, text in texts.items():
            write_whole(path, text)


def make_folder(path: Path) -> None:
    """Make the folder that a file goes into, and those above it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot create the folder `{path.parent}`: {problem.strerror}") from None


def check_creatable(path: Path) -> None:
    """Refuse, before any work is done, an output whose folder neither is there nor could be made."""
    above = path.parent
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir():
        raise InputError(f"cannot create `{path}`: `{above}` is not a directory")
    check_writable(path if above == path.parent else above / path.name)


def check_page(path: Path) -> None:
    """Refuse a page whose name says that something else is in it."""
    _check_name(path, "an HTML page", ".html", (".txt",))


def check_toml(path: Path) -> None:
    """Refuse a drive or system file whose name says that something else is in it."""
    _check_name(path, "a TOML file", ".toml", (".txt",))


def check_saved(path: Path) -> None:
    """Refuse, before any work is done, a drive or system file that could not be written."""
    check_toml(path)
    check_writable(path)


def _check_name(path: Path, what: str, suffix: str, also: Sequence[str] = ()) -> None:
    """Refuse a name that is another kind of file's; a folder is refused elsewhere."""
    if path.suffix.lower() in OF_A_KIND - {suffix, *also} and not path.is_dir():
        name = Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem
        raise InputError(f"`{path}` would be {what} by the name of another", f"name it `{name}{suffix}`")


def check_report(path: Path) -> None:
    """Refuse, before any work is done, a page that could not be written or drawn."""
    check_page(path)
    check_writable(path)
    check_packages("a page", PAGE_PACKAGES)


def parquet(path: str | Path | None, *, converts: bool = True) -> Path | None:
    """The path of a Parquet file to be written; refused where the name says that something else is in it.

    What is in it `converts` to other forms if it is a table of requests.
    """
    if path is None or Path(path).suffix.lower() not in OTHER_SUFFIXES:
        return None if path is None else to_write(path)
    bare = Path(path).with_suffix("") if Path(path).suffix.lower() in PACKED else Path(path)
    hint = f"name it `{bare.with_suffix('.parquet').name}`"
    others = "; `headstack trace convert` makes CSV and others of it" if converts else ""
    raise InputError(f"`{path}` would be a Parquet file by the name of another", hint + others)


# Nothing that is written is packed by its name; what reads it would unpack it.
PACKED = frozenset([".gz", ".bz2", ".xz", ".zst", ".zip"])
OTHER_SUFFIXES = PACKED | {".csv", ".tsv", ".txt", ".json", ".html", ".toml", ".xlsx", ".arrow", ".feather"}


OF_A_KIND = OTHER_SUFFIXES | {".parquet", ".png", ".svg", ".pdf"}


def check_packages(what: str, names: Sequence[str]) -> None:
    """Refuse, before any work is done, what needs packages that are not installed."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise InputError(f"{what} needs the Python package `{missing[0]}`", package_hint(*missing))


def check_writable(path: Path) -> None:
    """Refuse, before any work is done, an output that could not be written."""
    try:
        path.stat()
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise InputError(f"cannot create `{path}`: its links lead in a circle", "remove the link") from None
    # A link is replaced where it points to; so is one that points to nothing yet.
    place = Path(os.path.realpath(path)) if path.is_symlink() and not path.exists() else path
    directory = place.parent
    if not directory.is_dir():
        raise InputError(f"cannot create `{path}`: No such file or directory")
    if path.is_dir():
        raise InputError(f"cannot create `{path}`: it is a directory", f"name a file in it: `{path / 'NAME'}`")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"cannot create `{path}`: no permission to write to it")
    if (path.is_file() or not path.exists()) and not os.access(place.resolve().parent, os.W_OK):
        raise InputError(f"cannot create `{path}`: no permission to write to `{directory}`")


def is_named_pipe(path: Path) -> bool:
    """Whether this is a pipe by name, not one that a shell opened (`/dev/fd/63`)."""
    # Whether somebody reads it cannot be asked: to open and close it would be the end of what they read.
    try:
        return path.parts[:2] not in (("/", "dev"), ("/", "proc")) and stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False
