"""What connecting says and offers: the words of a drag, and the search for a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sa_builder.project.shapes import Edit, Graph, GraphNode, Target
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.ui.compose.words import definition_of, side_letter

_SIDE_KINDS: Final = (Kind.PROMPT, Kind.HANDLER, Kind.AGENT)
_KINDS: Final = {
    "prompts": (Kind.MODEL, Kind.TOOL, Kind.PROMPT, Kind.AGENT),
    "models": (Kind.MODEL,),
}
_TAKES: Final = {
    "prompts": "takes a model, a tool, a prompt or an exposed agent",
    "models": "takes a fallback model",
}
_PROMPT_DROPS: Final = {
    "model": ("Model", "{who} is answered by {name}."),
    "tool": ("Tool", "{who} may call {name}."),
    "prompt": ("Sub-prompt", "{who} may call {name} as a nested prompt."),
    "agent": ("Handoff", "{who} may hand the thread over to {name}."),
    "hook": ("Hook", "{name} runs for {who}."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWords:
    """What the card beside the hand says."""

    icon: str
    token: str
    title: str
    note: str
    sentence: str
    size: str
    place: str
    row: tuple[str, str, str]
    """The form row that gets a value: property, group, value."""


def kinds_for(source: str) -> tuple[Kind, ...]:
    """The kinds of definitions that may be connected to a port."""
    return _SIDE_KINDS if side_letter(source) else _KINDS.get(source.split("/", 1)[0], ())


def source_words(source: str) -> str:
    """Who is in the hand: "repo_assistant, side A"."""
    name = definition_of(source).split("/", 1)[1]
    letter = side_letter(source)
    return f"{name}, side {letter}" if letter else name


def takes_words(source: str) -> str:
    """What the port in the hand takes."""
    if side_letter(source):
        return "takes a prompt, a handler, a human or an exposed agent"
    return _TAKES.get(source.split("/", 1)[0], "takes nothing")


def drop_words(source: str, node: GraphNode, says: str, edit: Edit) -> DropWords:
    """Say what dropping a port on a card does, from the edit it would make."""
    letter = side_letter(source)
    who = f"Side {letter}" if letter else definition_of(source).split("/", 1)[1]
    kind = str(node.kind)
    note = says
    if letter and kind == "agent":
        title, note, icon = "Subagent", "not blocking", "subagent"
        sentence = f"{who} can start {node.name} as a child thread."
        row = ("subagents", f"Side {letter}", node.name)
    elif letter:
        title, icon = who, kind
        backing = "a human" if kind == "human" else node.name
        sentence = f"{who} is backed by {backing}."
        row = ("backing", f"Side {letter}", node.name)
    elif source.startswith("models/"):
        title, icon = "Fallback", "model"
        sentence = f"{node.name} answers when {who} cannot."
        row = ("fallbacks", "Model", node.name)
    else:
        title, plain = _PROMPT_DROPS.get(kind, ("Connection", "{who} uses {name}."))
        icon, sentence = kind, plain.format(who=who, name=node.name)
        row = ("model", "Prompt", node.name) if kind == "model" else ("tools", "Tools", node.name)
    for extra in edit.notes:
        sentence += f" {extra[:1].upper()}{extra[1:]}."
    return DropWords(
        icon=icon,
        token=f"kind.{icon}",
        title=title,
        note=note,
        sentence=sentence,
        size=_size(edit),
        place=_place(edit),
        row=row,
    )


def release_words(source: str, words: DropWords, node: GraphNode) -> str:
    """The status bar's sentence while the magnet holds."""
    letter = side_letter(source)
    owner = definition_of(source).split("/", 1)[1]
    who = f"side {letter} of {owner}" if letter else owner
    what = f"the {words.title.lower()} " if words.title not in (f"Side {letter}",) else ""
    return f"Release: {who} gets {what}{node.name}. One undo step."


def offered(source: str, targets: list[Target], graph: Graph) -> list[tuple[GraphNode, str]]:
    """The cards that a port may be connected to, with what it does; one human is enough."""
    nodes = {node.id: node for node in graph.nodes}
    found: list[tuple[GraphNode, str]] = []
    has_human = False
    for target in targets:
        node = nodes.get(target.node)
        if node is None or not target.allowed:
            continue
        if node.kind == "human":
            if has_human:
                continue
            has_human = True
        found.append((node, target.says))
    return found


def target_address(node: GraphNode) -> str:
    """How a connection names a card."""
    return "human" if node.kind == "human" else node.id


def new_name(kind: Kind, known: set[str]) -> str:
    """The first free name for a definition that nobody named."""
    number = 1
    while f"{FOLDER_OF[kind]}/new_{kind.value}_{number}" in known:
        number += 1
    return f"new_{kind.value}_{number}"


def _size(edit: Edit) -> str:
    characters = sum(change.characters for change in edit.changes)
    lines = sum(
        max(0, (change.after or b"").count(b"\n") - (change.before or b"").count(b"\n"))
        for change in edit.changes
    )
    if lines:
        return f"+{lines} line{'' if lines == 1 else 's'}"
    return f"{characters} character{'' if characters == 1 else 's'}"


def _place(edit: Edit) -> str:
    if not edit.changes:
        return ""
    first = edit.changes[0]
    line = f":{first.spans[0].line}" if first.spans else ""
    more = f" +{len(edit.changes) - 1}" if len(edit.changes) > 1 else ""
    return f"{first.path.rsplit('/', 1)[-1]}{line}{more}"
