"""What a module of the project imports, read from its syntax tree, and what goes in circles."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One name of the project that a module asks for."""

    module: str
    """Full dotted name, such as "agents.lib.github"; it need not exist."""
    line: int
    while_importing: bool
    """False inside a function, where it runs long after the import."""


def imports_of(tree: ast.Module, *, module: str, is_package: bool) -> Sequence[Imported]:
    """Every import of the `agents` package in a module, in the order of the text.

    `from agents.lib import x` may mean a module or a name in one, so both are given.
    """
    return tuple(_walk(tree.body, module, is_package, while_importing=True))


def _walk(
    body: Iterable[ast.AST], module: str, is_package: bool, *, while_importing: bool
) -> Iterator[Imported]:
    for node in body:
        match node:
            case ast.Import():
                for alias in node.names:
                    yield from _found(alias.name, node.lineno, while_importing)
            case ast.ImportFrom():
                base = _base_of(node, module, is_package)
                yield from _found(base, node.lineno, while_importing)
                for alias in node.names:
                    yield from _found(f"{base}.{alias.name}", node.lineno, while_importing)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from _walk(
                    ast.iter_child_nodes(node), module, is_package, while_importing=False
                )
            case ast.If(test=test) if _is_type_checking(test):
                yield from _walk(node.body, module, is_package, while_importing=False)
                yield from _walk(node.orelse, module, is_package, while_importing=while_importing)
            case _:
                yield from _walk(
                    ast.iter_child_nodes(node),
                    module,
                    is_package,
                    while_importing=while_importing,
                )


def _found(name: str, line: int, while_importing: bool) -> Iterator[Imported]:
    if name == "agents" or name.startswith("agents."):
        yield Imported(module=name, line=line, while_importing=while_importing)


def _base_of(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    kept = len(parts) - node.level + (1 if is_package else 0)
    return ".".join([*parts[: max(0, kept)], *([node.module] if node.module else [])])


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case _:
            return False


def circles(graph: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    """Each name that lies on a circle of a directed graph → the shortest way round from it.

    A way begins with the name and does not repeat it at the end.
    """
    return {
        name: way
        for part in _connected_parts(graph)
        if len(part) > 1 or any(name in graph[name] for name in part)
        for name in sorted(part)
        if (way := _way_round(graph, part, name))
    }


def _connected_parts(graph: Mapping[str, Sequence[str]]) -> Iterator[frozenset[str]]:
    """Tarjan's strongly connected components, without recursion."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    on_stack: dict[str, None] = {}
    for root in graph:
        if root in order:
            continue
        path: list[tuple[str, Iterator[str]]] = [(root, iter(graph.get(root, ())))]
        order[root] = lowest[root] = len(order)
        on_stack[root] = None
        while path:
            name, following = path[-1]
            for target in following:
                if target not in graph:
                    continue
                if target not in order:
                    order[target] = lowest[target] = len(order)
                    on_stack[target] = None
                    path.append((target, iter(graph.get(target, ()))))
                    break
                if target in on_stack:
                    lowest[name] = min(lowest[name], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == order[name]:
                    members: set[str] = set()
                    while name not in members:
                        members.add(on_stack.popitem()[0])
                    yield frozenset(members)


def _way_round(
    graph: Mapping[str, Sequence[str]], part: frozenset[str], start: str
) -> tuple[str, ...]:
    came_from: dict[str, str] = {}
    waiting = [start]
    for name in waiting:
        for target in graph[name]:
            if target == start:
                way = [name]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return tuple(reversed(way))
            if target in part and target not in came_from:
                came_from[target] = name
                waiting.append(target)
    return ()
