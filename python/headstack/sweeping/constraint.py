"""Constraints between axes: comparisons of their values, such as `drives * tb >= 32 or scheduler == "sptf"`."""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headstack.errors import InputError
from headstack.sweeping.reading import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_FORM = "names of axes, numbers, texts, + - * / // %, < <= == != >= >, in, and, or, not"
_MOST_BITS = 1024
"""As far as real numbers go: the work of an operation grows with the digits."""
_WITH_NUMBERS = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Not: operator.not_, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.GtE: operator.ge, ast.Gt: operator.gt, ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip


@dataclass(frozen=True)
class Constraint:
    """A condition that a point must meet."""

    source: str
    where: str
    _root: ast.expr

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for these values of the axes."""
        try:
            return bool(_value(self._root, values))
        except (TypeError, ZeroDivisionError, OverflowError) as problem:
            shown = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise InputError(f"{self.where}: `{self.source}` has no answer for {shown}: {problem}") from None


def read(source: Any, where: str, axes: Iterable[str]) -> Constraint:
    """Read a constraint, and refuse names that are no axis."""
    if not isinstance(source, str):
        raise InputError(f"{where}: must be a text", f"{_FORM}")
    try:
        root = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{where}: `{source}` is not a condition", _FORM) from None
    names = list(axes)
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and node.id not in names:
            raise InputError(f"{where}: `{source}`: no axis is called `{node.id}`", nearest(node.id, names))
        if not isinstance(node, _KNOWN) or (isinstance(node, ast.Constant) and not _is_plain(node.value)):
            raise InputError(f"{where}: `{source}` is more than a condition may hold", _FORM)
    return Constraint(source, where, root)


_KNOWN = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.List, ast.Tuple, ast.Load,
    ast.And, ast.Or, *_OPERATORS,
)  # fmt: skip


def _is_plain(value: object) -> bool:
    return isinstance(value, (bool, int, float, str))


def _calculated(sign: ast.operator, left: Any, right: Any) -> Any:
    # A text or a list many times over would fill the memory.
    if isinstance(sign, _WITH_NUMBERS) and not all(isinstance(each, (int, float)) for each in (left, right)):
        raise TypeError("only numbers can be calculated with")
    if any(isinstance(each, int) and each.bit_length() > _MOST_BITS for each in (left, right)):
        raise OverflowError("a number has more than 300 digits")
    return _OPERATORS[type(sign)](left, right)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return values[name]
        case ast.List(parts) | ast.Tuple(parts):
            return [_value(part, values) for part in parts]
        case ast.UnaryOp(sign, operand):
            return _OPERATORS[type(sign)](_value(operand, values))
        case ast.BinOp(left, sign, right):
            return _calculated(sign, _value(left, values), _value(right, values))
        case ast.BoolOp(word, parts):
            return (all if isinstance(word, ast.And) else any)(_value(part, values) for part in parts)
        case ast.Compare(left, signs, others):
            ends = [_value(each, values) for each in (left, *others)]
            return all(_OPERATORS[type(s)](a, b) for s, a, b in zip(signs, ends[:-1], ends[1:], strict=True))
    raise TypeError("unknown form")
