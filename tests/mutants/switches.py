"""All mutants of a file in one text, each behind a switch, so that they are built once.

`if headstack_units::is_mutant(17) { … } else { … }` stands where mutant 17 changes the source. With no switch on, the text does
what the source does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_rust.language()))
_IS_ON = "headstack_units::is_mutant"
_MARK = re.compile(r"/\*(?:M(\d+)|E)\*/")

# What has to be in the crate of units; `MUTANT` in the environment turns one switch on.
SWITCHBOARD = """
static MUTANT: std::sync::LazyLock<u32> =
    std::sync::LazyLock::new(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0));

/// Whether this mutant is switched on.
#[inline]
pub fn is_mutant(number: u32) -> bool {
    *MUTANT == number
}
"""


@dataclass(frozen=True)
class Mutant:
    """A change of the source, as cargo-mutants lists it; lines and columns count from 1."""

    number: int
    room: str
    file: str
    name: str
    genre: str
    replacement: str
    start: tuple[int, int]
    end: tuple[int, int]

    @property
    def change(self) -> str:
        """What is changed, without the place: lines move."""
        return re.sub(r"^(\S+?):\d+:\d+: ", r"\1: ", self.name)


class Switched:
    """A file with its mutants behind switches."""

    def __init__(self, source: bytes, mutants: list[Mutant]) -> None:
        self._source = source
        self._at: dict[int, list[Mutant]] = defaultdict(list)
        self.without_switch: list[Mutant] = []
        tree = _PARSER.parse(source)
        lines = source.splitlines(keepends=True)
        for mutant in mutants:
            start, end = _offset(lines, mutant.start), _offset(lines, mutant.end)
            node = _switchable(mutant, _smallest(tree.root_node, start, end))
            if node is None:
                self.without_switch.append(mutant)
            else:
                self._at[node.id].append(mutant)
        root = tree.root_node
        self.text = (source[: root.start_byte] + self._with_switches(root) + source[root.end_byte :]).decode()

    def mutant_at(self, line: int) -> int | None:
        """Return the mutant whose text a line is in."""
        for text in reversed(self.text.splitlines()[:line]):
            if marks := _MARK.findall(text):
                return int(marks[-1]) if marks[-1] else None
        return None

    def _with_switches(self, node: Node) -> bytes:
        if mutants := self._at.get(node.id):
            if node.type == "block":
                return self._function(node, mutants)
            if node.type == "match_arm":
                return self._arm(node, mutants)
            return self._expression(node, mutants)
        return self._parts(node)

    def _parts(self, node: Node) -> bytes:
        out, at = [], node.start_byte
        for child in node.children:
            out += [self._source[at : child.start_byte], self._with_switches(child)]
            at = child.end_byte
        return b"".join([*out, self._source[at : node.end_byte]])

    def _as_it_is(self, node: Node | None) -> bytes:
        if node is None:
            return b""
        text = self._source[node.start_byte : node.end_byte]
        return text if b"//" in text else text.replace(b"\n", b" ")

    def _function(self, body: Node, mutants: list[Mutant]) -> bytes:
        returns = "".join(f"\n/*M{m.number}*/ if {_IS_ON}({m.number}) {{ return {m.replacement}; }}" for m in mutants)
        return b"{" + returns.encode() + b"\n/*E*/ " + self._parts(body)[1:]

    def _expression(self, node: Node, mutants: list[Mutant]) -> bytes:
        """An operator and its operands, or what an operator stands before: without it then."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right") or node.children[-1]
        ways = b""
        for mutant in mutants:
            changed = self._as_it_is(left) + f" {mutant.replacement} ".encode() + self._as_it_is(right)
            ways += f"\n/*M{mutant.number}*/ if {_IS_ON}({mutant.number}) {{ ".encode() + changed + b" } else "
        return b"(" + ways + b"\n/*E*/ {" + self._parts(node) + b"})"

    def _arm(self, node: Node, mutants: list[Mutant]) -> bytes:
        """A way of a `match` with another guard, or, where it is left out, one that is never true."""
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        assert pattern is not None
        assert value is not None
        guard = pattern.child_by_field_name("condition")
        shape = pattern if guard is None else pattern.children[0]
        condition = b"true" if guard is None else self._with_switches(guard)
        for mutant in mutants:
            instead = "false" if mutant.genre == "MatchArm" else mutant.replacement
            switch = f"\n/*M{mutant.number}*/ (if {_IS_ON}({mutant.number}) {{ {instead} }} else {{ "
            condition = switch.encode() + condition + b" })"
        before = self._source[node.start_byte : shape.end_byte]
        rest = self._source[pattern.end_byte : value.start_byte] + self._with_switches(value)
        return before + b" if " + condition + b"\n/*E*/ " + rest + self._source[value.end_byte : node.end_byte]


def _offset(lines: list[bytes], place: tuple[int, int]) -> int:
    line, column = place
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].decode()[: column - 1].encode())


def _smallest(node: Node, start: int, end: int) -> Node:
    for child in node.children:
        if child.start_byte <= start and end <= child.end_byte:
            return _smallest(child, start, end)
    return node


def _around(node: Node | None, *kinds: str) -> Node | None:
    while node is not None and node.type not in kinds:
        node = node.parent
    return node


def _switchable(mutant: Mutant, node: Node) -> Node | None:
    """Where the switch goes; `None` where a choice at run time cannot stand."""
    match mutant.genre:
        case "FnValue":
            function = _around(node, "function_item")
            if function is None or any(
                c.type == "function_modifiers" and b"const" in (c.text or b"") for c in function.children
            ):
                return None
            returned = function.child_by_field_name("return_type")
            # `impl Trait` is one type: another one cannot be returned as well.
            is_opaque = returned is not None and b"impl " in (returned.text or b"")
            return None if is_opaque else function.child_by_field_name("body")
        case "BinaryOperator":
            found = _around(node, "binary_expression", "compound_assignment_expr")
            in_constant = _around(found, "const_item", "static_item", "token_tree")
            if found is None or in_constant or any(c.type in {"let_condition", "let_chain"} for c in found.children):
                return None
            return found
        case "UnaryOperator":
            return _around(node, "unary_expression")
        case "MatchArm" | "MatchArmGuard":
            return _around(node, "match_arm")
    return None
