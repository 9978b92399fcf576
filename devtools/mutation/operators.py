# SPDX-License-Identifier: BSD-3-Clause
"""Finds all mutants of a C file: each is one change of its code.

Mutants change executed code and numbers of #define only: no comments, strings, declarations, static
assertions, attributes, log calls or prefetches.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_c
from tree_sitter import Language, Node, Parser

# Offsets in bytes of the start and end of the replaced text; the new text; name of the operator.
Edit = tuple[int, int, str, str]


@dataclass(frozen=True)
class Mutant:
    """One change of a file. `line` and `becomes` have neither indentation nor comments."""

    file: str
    start: int
    end: int
    replacement: str
    operator: str
    function: str
    number: int  # line, from 1
    line: str
    becomes: str
    rule: str = ""  # the rule that a mutant of AREA.toml breaks

    @property
    def text(self) -> tuple[str, str, str]:
        """Identifies the mutant even if its line moves."""
        return self.function, self.line, self.becomes

    def apply(self, text: bytes) -> bytes:
        return text[: self.start] + self.replacement.encode() + text[self.end :]


SWAPPED = {
    "<": ("compare", "<="),
    "<=": ("compare", "<"),
    ">": ("compare", ">="),
    ">=": ("compare", ">"),
    "==": ("compare", "!="),
    "!=": ("compare", "=="),
    "&&": ("logic", "||"),
    "||": ("logic", "&&"),
    "+": ("arithmetic", "-"),
    "-": ("arithmetic", "+"),
    "*": ("arithmetic", "+"),
    "/": ("arithmetic", "*"),
    "%": ("arithmetic", "/"),
    "<<": ("bits", ">>"),
    ">>": ("bits", "<<"),
    "&": ("bits", "|"),
    "|": ("bits", "&"),
    "^": ("bits", "|"),
    "+=": ("arithmetic", "-="),
    "-=": ("arithmetic", "+="),
    "|=": ("bits", "&="),
    "&=": ("bits", "|="),
    "^=": ("bits", "|="),
    "<<=": ("bits", ">>="),
    ">>=": ("bits", "<<="),
}
# Nodes without mutants: not executed, or without effect on the result.
SILENT = {
    "ERROR",
    "array_declarator",
    "attribute_specifier",
    "char_literal",
    "comment",
    "sizeof_expression",
    "string_literal",
    "type_descriptor",
}
SILENT_CALLS = re.compile(
    r"_?static_assert|assert|RTE_BUILD_BUG_ON|RTE_SET_USED|RTE_LOG|printf|fprintf|perror"
    r"|log_(error|warning|notice|info|debug)|log_(no_)?fields|\w*prefetch\w*|\w*alignof\w*|offsetof",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)$")
INTEGERS = re.compile(r"(unsigned|int|long|size_t|ssize_t|u?int\d+_t)( (int|long))*$")
PARSER = Parser(Language(tree_sitter_c.language()))


def text_of(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def edit_of(node: Node, replacement: str, operator: str) -> Edit:
    return node.start_byte, node.end_byte, replacement, operator


def one_more(number: str) -> str | None:
    """The number plus 1 in the same notation; None if it is no integer."""
    match = NUMBER.match(number)
    if match is None:
        return None
    digits, suffix = match.groups()
    if digits[:2] in ("0x", "0X"):
        return f"0x{int(digits, 16) + 1:0{len(digits) - 2}x}{suffix}"
    return None if len(digits) > 1 and digits[0] == "0" else f"{int(digits) + 1}{suffix}"


def mutate_operator(node: Node, _function: Node) -> Iterator[Edit]:
    operator = node.child_by_field_name("operator")
    if operator is not None and (swapped := SWAPPED.get(text_of(operator))):
        yield edit_of(operator, swapped[1], swapped[0])


def mutate_condition(node: Node, _function: Node) -> Iterator[Edit]:
    condition = node.child_by_field_name("condition")
    inner = text_of(condition)
    if condition is None or condition.has_error or inner in ("0", "1", "true", "false", "(true)"):
        return
    if node.type == "conditional_expression":
        yield edit_of(condition, f"!({inner})", "negate")
        return
    if node.type == "if_statement":
        yield edit_of(condition, f"(true || {inner})", "always")
    yield edit_of(condition, f"(false && {inner})", "never")


def mutate_not(node: Node, _function: Node) -> Iterator[Edit]:
    argument = node.child_by_field_name("argument")
    if text_of(node.child_by_field_name("operator")) == "!" and argument is not None:
        yield edit_of(node, text_of(argument), "negate")


def mutate_number(node: Node, _function: Node) -> Iterator[Edit]:
    if changed := one_more(text_of(node)):
        yield edit_of(node, changed, "constant")


def mutate_return(node: Node, function: Node) -> Iterator[Edit]:
    value = node.named_children[0] if node.named_children else None
    if value is None or value.has_error:
        return
    kind = text_of(function.child_by_field_name("type"))
    declarator = function.child_by_field_name("declarator")
    pointer = declarator is not None and declarator.type == "pointer_declarator"
    if value.type in ("true", "false"):
        yield edit_of(value, "false" if value.type == "true" else "true", "return")
    elif pointer and value.type not in ("null", "string_literal"):
        yield edit_of(value, "NULL", "return")
    elif not pointer and kind == "bool" and value.type not in ("unary_expression",):
        yield edit_of(value, f"!({text_of(value)})", "return")
    elif not pointer and INTEGERS.match(kind) and value.type != "number_literal":
        yield edit_of(value, "0", "return")


def mutate_statement(node: Node, _function: Node) -> Iterator[Edit]:
    inner = node.named_children[0] if node.named_children else None
    if inner is not None and inner.type == "call_expression":
        yield edit_of(node, ";", "drop-call")
    elif inner is not None and inner.type in ("assignment_expression", "update_expression"):
        yield edit_of(node, ";", "drop-assignment")


def mutate_jump(node: Node, _function: Node) -> Iterator[Edit]:
    case = node.parent
    last = case is not None and case.type == "case_statement" and case.next_named_sibling is None
    if not (last and node.type == "break_statement"):  # without effect at the end of a switch
        yield edit_of(node, ";", "drop-jump")


OPERATORS: dict[str, Callable[[Node, Node], Iterator[Edit]]] = {
    "assignment_expression": mutate_operator,
    "binary_expression": mutate_operator,
    "break_statement": mutate_jump,
    "conditional_expression": mutate_condition,
    "continue_statement": mutate_jump,
    "do_statement": mutate_condition,
    "expression_statement": mutate_statement,
    "if_statement": mutate_condition,
    "number_literal": mutate_number,
    "return_statement": mutate_return,
    "unary_expression": mutate_not,
    "while_statement": mutate_condition,
}


def is_silent(node: Node) -> bool:
    if node.type == "expression_statement" and node.named_children:
        node = node.named_children[0]
    if node.type == "call_expression":
        name = text_of(node.child_by_field_name("function"))
        return SILENT_CALLS.fullmatch(name) is not None
    return node.type in SILENT


def guards_silent(node: Node) -> bool:
    """Whether an if statement controls only silent nodes, such as a prefetch or a log call."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return False
    then = node.child_by_field_name("consequence")
    if then is None:
        return False
    inner = then.named_children if then.type == "compound_statement" else [then]
    return bool(inner) and all(is_silent(child) for child in inner)


def mutate_node(node: Node, function: Node) -> Iterator[Edit]:
    if is_silent(node) or guards_silent(node):
        return
    if operator := OPERATORS.get(node.type):
        yield from operator(node, function)
    for child in node.children:
        yield from mutate_node(child, function)


def mutate_body(function: Node) -> Iterator[Edit]:
    """Mutants of a function. One makes a void function return at once."""
    body = function.child_by_field_name("body")
    declarator = function.child_by_field_name("declarator")
    if body is None:
        return
    if (
        text_of(function.child_by_field_name("type")) == "void"
        and declarator is not None
        and declarator.type == "function_declarator"
    ):
        yield body.start_byte + 1, body.start_byte + 1, " return;", "return"
    yield from mutate_node(body, function)


def name_of(function: Node) -> str:
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return text_of(node)


def mutate_define(node: Node) -> Iterator[Edit]:
    value = node.child_by_field_name("value")
    match = re.match(r"(\w+)\s*(/[/*].*)?$", text_of(value), re.DOTALL)
    if value is not None and match is not None and (changed := one_more(match[1])):
        yield value.start_byte, value.start_byte + len(match[1]), changed, "constant"


def mutate_file(node: Node) -> Iterator[tuple[str, Edit]]:
    """Yields each edit with the name of its function, or "" for a #define."""
    if node.type == "function_definition":
        if not SILENT_CALLS.fullmatch(name := name_of(node)):
            yield from ((name, edit) for edit in mutate_body(node))
    elif node.type == "preproc_def":
        yield from (("", edit) for edit in mutate_define(node))
    elif not is_silent(node):
        for child in node.children:
            yield from mutate_file(child)


def one_line(text: str) -> str:
    """The text in one line, without comments, which may change."""
    return " ".join(re.sub(r"/\*.*?(\*/|$)", " ", text, flags=re.DOTALL).split())


def make_mutant(file: str, text: bytes, function: str, edit: Edit, rule: str = "") -> Mutant:
    start, end, replacement, operator = edit
    first = text.rfind(b"\n", 0, start) + 1
    last = text.find(b"\n", end)
    last = len(text) if last < 0 else last
    number = text.count(b"\n", 0, start) + 1
    line = one_line(text[first:last].decode())
    becomes = one_line((text[first:start] + replacement.encode() + text[end:last]).decode())
    return Mutant(file, start, end, replacement, operator, function, number, line, becomes, rule)


@lru_cache(512)
def tree_of(text: bytes) -> Node:
    """The syntax tree of a file. Cached, as each chosen mutant needs it."""
    return PARSER.parse(text).root_node


@lru_cache(512)
def mutants_of(file: str, text: bytes) -> tuple[Mutant, ...]:
    """All mutants of a file, in the order of their positions."""
    return tuple(make_mutant(file, text, name, edit) for name, edit in mutate_file(tree_of(text)))


def function_at(text: bytes, start: int) -> str:
    """The name of the function that contains the byte at `start`; "" outside of functions."""
    node: Node | None = tree_of(text).descendant_for_byte_range(start, start)
    while node is not None and node.type != "function_definition":
        node = node.parent
    return name_of(node) if node is not None else ""


@lru_cache(512)
def code_lines(text: bytes) -> int:
    """The number of lines in functions that have more than braces and comments."""
    lines: set[int] = set()

    def walk(node: Node) -> None:
        if node.type == "comment":
            return
        if not node.children and text_of(node) not in ("{", "}", ";"):
            lines.add(node.start_point[0])
        for child in node.children:
            walk(child)

    def find(node: Node) -> None:
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None:
            walk(body)
        else:
            for child in node.children:
                find(child)

    find(tree_of(text))
    return len(lines)
