"""The composition as nodes and edges, in a stable order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from sa_builder.project.read import FileReading
from sa_builder.project.shapes import (
    Code,
    EdgeKind,
    Graph,
    GraphEdge,
    GraphNode,
    GraphSide,
    NodeKind,
)
from sa_builder.spec.kinds import BUILT_IN_PROVIDERS, FOLDER_OF, FOLDERS, Kind

Values = Mapping[str, Any]

_SHOWN: Mapping[Kind, NodeKind] = {
    Kind.AGENT: "agent",
    Kind.PROMPT: "prompt",
    Kind.MODEL: "model",
    Kind.TOOL: "tool",
    Kind.HANDLER: "handler",
    Kind.HOOK: "hook",
    Kind.PROVIDER: "provider",
}
_SESSION_WORDS: Mapping[str, str] = {
    "session_stop": "session stop",
    "session_fail": "session fail",
    "session_status": "session status",
}
_DEEDS: Mapping[str, str] = {
    "none": "no effects",
    "read": "reads",
    "write": "writes",
    "destructive": "destroys",
}


def build_graph(
    readings: Mapping[str, FileReading],
    problems: Mapping[str, str],
    broken: Mapping[str, str],
    agent: str | None,
) -> Graph:
    """Draw the whole project, or what one agent reaches.

    Args:
        problems: definition address → its worst problem's sentence.
        broken: address of a value → why it does not hold.
        agent: an agent's name; None for the whole project.
    """
    return _Builder(readings, problems, broken).build(agent)


class _Builder:
    def __init__(
        self,
        readings: Mapping[str, FileReading],
        problems: Mapping[str, str],
        broken: Mapping[str, str],
    ) -> None:
        self._readings = readings
        self._problems = problems
        self._broken = broken
        self._by_name: dict[tuple[Kind, str], str] = {}
        self._ending: set[str] = set()
        for address, reading in readings.items():
            self._by_name.setdefault((reading.place.kind, _name_of(reading)), address)
            for _, side in _sides(reading):
                for key in ("session_stop", "session_fail"):
                    tool = side.get(key)
                    if isinstance(tool, dict):
                        self._ending.add(str(cast(Values, tool).get("name")))

    def build(self, agent: str | None) -> Graph:
        edges_of: dict[str, list[GraphEdge]] = {}
        if agent is None:
            chosen = [
                address
                for address, reading in self._readings.items()
                if reading.place.kind in _SHOWN
            ]
        else:
            start = self._by_name.get((Kind.AGENT, agent.removeprefix("agents/")))
            chosen = self._reached(start, edges_of) if start is not None else []
        for address in chosen:
            if address not in edges_of:
                edges_of[address] = list(self._edges(self._readings[address]))
        nodes: dict[str, GraphNode] = {}
        edges: list[GraphEdge] = []
        for address in chosen:
            nodes[address] = self._node(self._readings[address])
        for address in chosen:
            for edge in edges_of[address]:
                if edge.target not in nodes:
                    nodes[edge.target] = self._other_node(edge)
                edges.append(edge)
        return Graph(nodes=list(nodes.values()), edges=edges)

    def _reached(self, start: str, edges_of: dict[str, list[GraphEdge]]) -> list[str]:
        reached = {start: None}
        waiting = [start]
        while waiting:
            address = waiting.pop(0)
            edges_of[address] = list(self._edges(self._readings[address]))
            for edge in edges_of[address]:
                if edge.target in self._readings and edge.target not in reached:
                    reached[edge.target] = None
                    waiting.append(edge.target)
        return list(reached)

    # nodes

    def _node(self, reading: FileReading) -> GraphNode:
        place, values = reading.place, reading.values
        sides = dict(_sides(reading))
        is_agent = place.kind is Kind.AGENT
        return GraphNode(
            id=place.address,
            kind=_SHOWN[place.kind],
            name=_name_of(reading),
            subtitle=self._subtitle(reading),
            address=place.address,
            side_a=_graph_side(values.get("side_a"), sides.get("side_a")) if is_agent else None,
            side_b=_graph_side(values.get("side_b"), sides.get("side_b")) if is_agent else None,
            problem=self._problems.get(place.address),
        )

    def _subtitle(self, reading: FileReading) -> str:
        values = reading.values
        match reading.place.kind:
            case Kind.AGENT:
                if values.get("expose_as_tool") is True:
                    return "agent · exposed as tool"
                return "agent · not listed" if values.get("primary") is False else "agent · primary"
            case Kind.PROMPT:
                tools = values.get("tools", [])
                if not isinstance(tools, list):
                    return "prompt · computed tools"
                count = len(cast(list[Any], tools))
                if count == 0:
                    return "prompt"
                return f"prompt · {count} tool{'' if count == 1 else 's'}"
            case Kind.MODEL:
                model = values.get("model")
                return model.rsplit("/", 1)[-1] if isinstance(model, str) else "model"
            case Kind.TOOL:
                if reading.place.stem in self._ending:
                    return "tool · ends session"
                deed = values.get("side_effects", "write")
                return f"tool · {_DEEDS.get(str(deed), 'writes')}"
            case Kind.HANDLER:
                return "handler · no model"
            case _:
                return reading.place.kind.value

    def _other_node(self, edge: GraphEdge) -> GraphNode:
        if edge.target.endswith("#human"):
            side = edge.target.removesuffix("#human")
            return GraphNode(
                id=edge.target,
                kind="human",
                name="Human",
                subtitle=f"backs side {side[-1].upper()}",
                address=side,
            )
        address = edge.target.removeprefix("missing:")
        folder, name = address.split("/", 1)
        return GraphNode(
            id=edge.target,
            kind="missing",
            name=name,
            subtitle=f"no {FOLDERS[folder].value} has this name",
            address=edge.target,
            problem=edge.broken or f"No {FOLDERS[folder].value} is named {name}.",
        )

    # edges

    def _edges(self, reading: FileReading) -> Iterator[GraphEdge]:
        address, values = reading.place.address, reading.values
        match reading.place.kind:
            case Kind.AGENT:
                for key, side in _sides(reading):
                    yield from self._side_edges(address, key, side)
                yield from self._list_edges(address, values, "hooks", (Kind.HOOK,), "hook")
            case Kind.PROMPT:
                yield from self._named(address, values, "model", Kind.MODEL, "uses")
                yield from self._tool_edges(address, values)
                parts = values.get("prompt")
                if isinstance(parts, list):
                    for index, part in enumerate(cast(list[Any], parts)):
                        if isinstance(part, dict):
                            name = cast(Values, part).get("prompt")
                            if isinstance(name, str):
                                place = f"{address}.prompt[{index}]"
                                yield self._edge(
                                    place, "uses", address, address, Kind.PROMPT, name, "include"
                                )
                yield from self._list_edges(address, values, "hooks", (Kind.HOOK,), "hook")
            case Kind.MODEL:
                provider = values.get("provider")
                if isinstance(provider, str) and provider not in BUILT_IN_PROVIDERS:
                    yield from self._named(address, values, "provider", Kind.PROVIDER, "uses")
                yield from self._list_edges(address, values, "fallbacks", (Kind.MODEL,), "fallback")
            case _:
                return

    def _side_edges(self, address: str, key: str, side: Values) -> Iterator[GraphEdge]:
        port = f"{address}.{key}"
        if side.get("human") is True:
            yield GraphEdge(
                id=f"{port}.human",
                kind="backing",
                source=port,
                source_node=address,
                target=f"{port}#human",
            )
        for name, kind in (("prompt", Kind.PROMPT), ("handler", Kind.HANDLER)):
            if isinstance(target := side.get(name), str):
                yield self._edge(f"{port}.{name}", "backing", port, address, kind, target)
        subagents = side.get("subagents")
        if isinstance(subagents, list):
            for index, item in enumerate(cast(list[Any], subagents)):
                if not isinstance(item, dict):
                    continue
                relationship = cast(Values, item)
                if isinstance(name := relationship.get("agent"), str):
                    words = [
                        word for word in ("blocking", "immediate") if relationship.get(word) is True
                    ]
                    if relationship.get("parent_communication") == "explicit":
                        words.append("explicit")
                    yield self._edge(
                        f"{port}.subagents[{index}]",
                        "subagent",
                        port,
                        address,
                        Kind.AGENT,
                        name,
                        " · ".join(words),
                    )
        for name, words in _SESSION_WORDS.items():
            tool = side.get(name)
            if isinstance(tool, dict):
                target = cast(Values, tool).get("name")
                if isinstance(target, str):
                    yield self._callable(f"{port}.{name}", "session", port, address, target, words)
        if isinstance(target := side.get("stop_tool"), str):
            yield self._callable(f"{port}.stop_tool", "session", port, address, target, "stop tool")

    def _tool_edges(self, address: str, values: Values) -> Iterator[GraphEdge]:
        tools = values.get("tools")
        if not isinstance(tools, list):
            return
        for index, item in enumerate(cast(list[Any], tools)):
            name: Any = cast(Values, item).get("name") if isinstance(item, dict) else item
            if isinstance(name, str) and ":" not in name:
                yield self._callable(f"{address}.tools[{index}]", "uses", address, address, name)

    def _callable(
        self, place: str, kind: EdgeKind, port: str, node: str, name: str, label: str = ""
    ) -> GraphEdge:
        for target in (Kind.TOOL, Kind.PROMPT, Kind.AGENT):
            if (target, name) in self._by_name:
                handoff = kind == "uses" and target is Kind.AGENT
                return self._edge(
                    place,
                    "handoff" if handoff else kind,
                    port,
                    node,
                    target,
                    name,
                    "handoff" if handoff else label,
                )
        return self._edge(place, kind, port, node, Kind.TOOL, name, label)

    def _list_edges(
        self, address: str, values: Values, key: str, kinds: tuple[Kind, ...], edge: EdgeKind
    ) -> Iterator[GraphEdge]:
        names = values.get(key)
        if not isinstance(names, list):
            return
        for index, name in enumerate(cast(list[Any], names)):
            if isinstance(name, str):
                label = f"fallback {index + 1}" if edge == "fallback" else ""
                yield self._edge(
                    f"{address}.{key}[{index}]", edge, address, address, kinds[0], name, label
                )

    def _named(
        self, address: str, values: Values, key: str, kind: Kind, edge: EdgeKind
    ) -> Iterator[GraphEdge]:
        if isinstance(name := values.get(key), str):
            yield self._edge(f"{address}.{key}", edge, address, address, kind, name)

    def _edge(
        self,
        place: str,
        kind: EdgeKind,
        port: str,
        node: str,
        target_kind: Kind,
        name: str,
        label: str = "",
    ) -> GraphEdge:
        target = self._by_name.get((target_kind, name))
        why = self._broken.get(place)
        if target is None and why is None:
            why = f"No {target_kind.value} is named {name}."
        return GraphEdge(
            id=place,
            kind=kind,
            source=port,
            source_node=node,
            target=target or f"missing:{FOLDER_OF[target_kind]}/{name}",
            label=label,
            broken=why,
        )


def _name_of(reading: FileReading) -> str:
    name = reading.values.get("name")
    return name if isinstance(name, str) else reading.place.stem


def _sides(reading: FileReading) -> Iterator[tuple[str, Values]]:
    if reading.place.kind is Kind.AGENT:
        for key in ("side_a", "side_b"):
            side = reading.values.get(key)
            if isinstance(side, dict):
                yield key, cast(Values, side)


def _graph_side(value: Any, side: Values | None) -> GraphSide:
    if isinstance(value, Code):
        return GraphSide(backing="code", name=value.text)
    if side is None:
        return GraphSide(backing="none", name="nothing")
    if side.get("human") is True:
        return GraphSide(backing="human", name="human")
    for key in ("prompt", "handler"):
        name = side.get(key)
        if isinstance(name, Code):
            return GraphSide(backing="code", name=name.text)
        if isinstance(name, str):
            return GraphSide(backing="prompt" if key == "prompt" else "handler", name=name)
    return GraphSide(backing="none", name="nothing")
