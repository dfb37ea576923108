"""Arguments of another type than a function takes are told by their names, with what is allowed."""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from headstack.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
LONGEST = 60
"""Characters of a value that a message quotes."""

COUNTS = frozenset(("folds", "repeats", "shares", "threads"))
"""Arguments that count something of which there is one at least."""


def checked(*, but: Sequence[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse arguments that are not of the types of the signature; those named by `but` the function looks at itself."""

    def accept(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.cache
        def kinds() -> dict[str, object]:
            parameters = signature.parameters.values()
            named = [each for each in parameters if each.kind is not each.VAR_KEYWORD and each.name not in but]
            return {each.name: _evaluated(each.annotation, function) for each in named}

        @functools.wraps(function)
        def looked_at(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                _tell_near(function.__name__, kwargs, signature)
                # What else is wrong, Python tells itself.
                return function(*args, **kwargs)
            for name, kind in kinds().items():
                if name in given and not (_fits(given[name], kind) and _is_enough(name, given[name])):
                    raise InputError(
                        f"`{function.__name__}` does not take `{name}={_quoted(given[name])}`",
                        f"{name}: {_words(kind)}{_least(name)}",
                    )
            return function(*args, **kwargs)

        return looked_at

    return accept


def _tell_near(name: str, given: Mapping[str, object], signature: inspect.Signature) -> None:
    """Refuse a keyword that is misspelt with the one that was meant."""
    from difflib import get_close_matches

    known = [
        each.name
        for each in signature.parameters.values()
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    for word in given:
        near = [] if word in known else get_close_matches(word, known, 1)
        if near:
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{word}'. Did you mean '{near[0]}'?"
            ) from None


class _Names(dict[str, object]):
    """The names that annotations use; those that only type checkers know allow anything."""

    def __missing__(self, name: str) -> object:
        return Any


def _evaluated(annotation: object, function: Callable[..., object]) -> object:
    if not isinstance(annotation, str):
        return annotation
    from headstack import _core

    names = _Names({**vars(builtins), **vars(typing), **vars(collections.abc), "Path": Path, "_core": _core})
    names.update(function.__globals__)
    try:
        return eval(annotation, {"__builtins__": {}}, names)  # noqa: S307 (annotations of our own)
    except TypeError:
        # A name that only type checkers know has brackets.
        return Any


def _is_enough(name: str, value: object) -> bool:
    return name not in COUNTS or not isinstance(value, int) or value > 0


def _least(name: str) -> str:
    return ", at least 1" if name in COUNTS else ""


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _fits(value: object, kind: object) -> bool:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if kind is None or kind is types.NoneType:
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if kind is int:
        return not isinstance(value, bool) and hasattr(type(value), "__index__")
    if kind is float:
        return not isinstance(value, (bool, str, bytes)) and hasattr(type(value), "__float__") | hasattr(
            type(value), "__index__"
        )
    if kind is Path:
        return isinstance(value, os.PathLike)
    if (origin or kind) in (Sequence, Iterable, list):
        return _is_list(value, origin or kind, parts)
    if origin is tuple:
        return isinstance(value, (tuple, list)) and len(value) == len(parts) and all(map(_fits, value, parts))
    if (origin or kind) is Mapping:
        return isinstance(value, Mapping)
    if (origin or kind) is Callable:
        return callable(value)
    plain = origin or kind
    return isinstance(value, plain) if isinstance(plain, type) else True


def _is_list(value: object, kind: object, parts: tuple[object, ...]) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    # A dictionary gives its keys to who only walks along them; a list it is not.
    if isinstance(value, Mapping) and kind is not Iterable:
        return False
    # What can be walked along once is left whole.
    repeats = isinstance(value, (list, tuple, set, frozenset, Mapping))
    return not (parts and repeats) or all(_fits(each, parts[0]) for each in value)


def _words(kind: object) -> str:
    """What is allowed, in words."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        # A value that is left out needs no word.
        said = [_words(part) for part in parts if part is not types.NoneType]
        return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if (origin or kind) in (Sequence, Iterable, list):
        return f"a list, each of it {_words(parts[0])}" if parts else "a list"
    if origin is tuple:
        return f"a pair: {', '.join(map(_words, parts))}" if len(parts) == 2 else f"a tuple of {len(parts)}"
    plain: dict[object, str] = {
        bool: "True or False", int: "a whole number", float: "a number", str: "a text", Path: "a path", Mapping: "a dictionary",
        Callable: "a function", object: "anything", Any: "anything",
    }  # fmt: skip
    name = getattr(origin or kind, "__name__", str(kind))
    return plain.get(origin or kind, f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}")
