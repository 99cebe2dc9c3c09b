"""The concrete syntax tree of a file: comments, imports, and ways to walk it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node as TreeNode, Parser, Query, QueryCursor

from sa_builder.project.source import Comment, Source

SPEC_MODULES: Final = frozenset({"sa_builder.spec", "sa_builder.spec.user"})
"""Modules whose names are the spec's."""


@cache
def _language() -> Language:
    return Language(tree_sitter_python.language())


@cache
def parser() -> Parser:
    """The one parser of Python."""
    return Parser(_language())


@cache
def _query(pattern: str) -> Query:
    return Query(_language(), pattern)


def captured(pattern: str, root: TreeNode) -> list[TreeNode]:
    """The nodes that a pattern calls @found, in the order of the text."""
    nodes = QueryCursor(_query(pattern)).captures(root).get("found", [])
    return sorted(nodes, key=lambda node: node.start_byte)


@dataclass(frozen=True, slots=True)
class ImportSite:
    """A `from sa_builder.spec import …` at the top of a file; utf8 offsets."""

    names: list[tuple[int, int, str]]
    open: int | None
    """Of its parenthesis, when it has one."""
    close: int | None


def comments_of(source: Source) -> list[Comment]:
    """Every comment of the file, in order; found once a text."""
    if source.comments is None:
        found: list[Comment] = []
        if b"#" in source.utf8:
            found = comments_below(source, parser().parse(source.tree_text).root_node)
        source.comments = found
    return source.comments


def comments_below(source: Source, root: TreeNode) -> list[Comment]:
    """The comments below a node, in order."""
    found: list[Comment] = []
    for node in captured("(comment) @found", root):
        text = source.slice(node.start_byte, node.end_byte).rstrip("\r\n")
        end = node.start_byte + len(text.encode("utf-8", "surrogatepass"))
        found.append(Comment(node.start_byte, end, text))
    return found


def spec_imports(source: Source) -> list[ImportSite]:
    """Where the file imports names of the spec."""
    found: list[ImportSite] = []
    data = source.tree_text
    for statement in parser().parse(data).root_node.named_children:
        if statement.type != "import_from_statement":
            continue
        module = statement.child_by_field_name("module_name")
        if module is None or data[module.start_byte : module.end_byte].decode() not in SPEC_MODULES:
            continue
        names = [
            (node.start_byte, node.end_byte, source.slice(node.start_byte, node.end_byte))
            for node in statement.children_by_field_name("name")
        ]
        opened = [child for child in statement.children if child.type == "("]
        closed = [child for child in statement.children if child.type == ")"]
        found.append(
            ImportSite(
                names,
                opened[0].start_byte if opened else None,
                closed[-1].start_byte if closed else None,
            )
        )
    return found


def walk(node: TreeNode) -> Iterator[TreeNode]:
    """Every node below, in the order of the text, without recursion."""
    cursor = node.walk()
    while True:
        current = cursor.node
        if current is not None:
            yield current
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while True:
            if not cursor.goto_parent():
                return
            if cursor.goto_next_sibling():
                break
