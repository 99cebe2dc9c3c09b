"""The rules that look from one definition at others. `spec.rules` is the door to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, cast

from sa_builder.spec.findings import (
    ArgumentNames,
    Computed,
    Entry,
    Finding,
    Remedy,
    Values,
    backing_of,
    error,
    removal,
)
from sa_builder.spec.kinds import BUILT_IN_PROVIDERS, FOLDER_OF, Kind

SESSION_TOOLS: Final = ("session_stop", "session_fail", "session_status")
_HINTED: Final = (Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER, Kind.HOOK, Kind.PROVIDER)
_SESSION_ARGUMENTS: Final = ("message_property", "attachments_property")
_INIT: Final = (
    "init_user_message_property",
    "init_attachments_property",
    "init_agent_name_property",
)


def check_together(entries: Sequence[Entry]) -> list[Finding]:
    """Every broken rule that takes more than one definition to see."""
    return _Together(entries).check()


class _Together:
    """The definitions by kind and name."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._by: dict[Kind, dict[str, Entry]] = {}
        self._found: list[Finding] = []
        for entry in entries:
            self._by.setdefault(entry.kind, {}).setdefault(entry.name, entry)
        self._owned = self._relationships()

    def check(self) -> list[Finding]:
        self._check_duplicates()
        for entry in self._entries:
            if not entry.known:
                continue
            match entry.kind:
                case Kind.AGENT:
                    self._check_agent(entry)
                case Kind.PROMPT:
                    self._check_prompt(entry)
                case Kind.MODEL:
                    self._check_model(entry)
                case Kind.TOOL:
                    self._check_names(entry, "uses", (Kind.TOOL,), "SA021")
                case _:
                    pass
        self._check_cycles(Kind.PROMPT, "SA038", "includes", _includes)
        self._check_cycles(Kind.MODEL, "SA039", "falls back to", _fallbacks)
        self._check_reach()
        return self._found

    def _get(self, kind: Kind, name: Any) -> Entry | None:
        return self._by.get(kind, {}).get(name) if isinstance(name, str) else None

    # names

    def _check_duplicates(self) -> None:
        seen: dict[tuple[Kind, str], Entry] = {}
        callables: dict[str, Entry] = {}
        for entry in self._entries:
            first = seen.setdefault((entry.kind, entry.name), entry)
            if first is not entry:
                self._found.append(
                    error(
                        "SA011",
                        entry.address,
                        f"The {entry.kind.value} {entry.name} is declared twice, "
                        f"also in {first.address}; rename one of them.",
                    )
                )
                continue
            exposed = entry.kind is Kind.AGENT and entry.values.get("expose_as_tool") is True
            if entry.kind in (Kind.TOOL, Kind.PROMPT) or exposed:
                other = callables.setdefault(entry.name, entry)
                if other is not entry:
                    self._found.append(
                        error(
                            "SA012",
                            entry.address,
                            f"The {_called(entry)} {entry.name} and the {_called(other)} "
                            f"{other.name} have the same name for a model that calls them; "
                            "rename one of them.",
                        )
                    )

    def _missing(
        self, code: str, address: str, kind: Kind, name: str, who: str, *, entry: bool = False
    ) -> None:
        """Say that nothing declares a name."""
        names = list(self._by.get(kind, {}))
        if kind is Kind.PROVIDER:
            names += BUILT_IN_PROVIDERS
        close = get_close_matches(name, names, n=1)
        word = kind.value
        hint = f"did you mean {close[0]}?" if close else f"create it in agents/{FOLDER_OF[kind]}/."
        fixes: list[Remedy] = []
        if close:
            fixes.append(
                Remedy(
                    title=f"Use {close[0]}",
                    act="set",
                    arguments={"address": address, "value": close[0]},
                )
            )
        fixes.append(
            Remedy(title=f"Create {word}", act="create", arguments={"kind": word, "name": name})
        )
        if entry:
            fixes.append(Remedy(title="Remove entry", act="unset", arguments={"address": address}))
        self._found.append(
            error(code, address, f"{who} {name}; no {word} has this name, {hint}", *fixes)
        )

    def _check_names(self, entry: Entry, key: str, kinds: Sequence[Kind], code: str) -> None:
        for address, name in _names(entry, key):
            if not any(self._get(kind, name) for kind in kinds):
                who = f"{entry.kind.value.capitalize()} {entry.name} lists"
                self._missing(code, address, kinds[0], name, who, entry=True)

    # agents

    def _check_agent(self, entry: Entry) -> None:
        backings: list[Any] = []
        for key in ("side_a", "side_b"):
            side = entry.values.get(key)
            backings.append(backing_of(side))
            if isinstance(side, dict):
                self._check_side(entry, key, cast(Values, side))
        for key in ("hooks", "parent_hooks"):
            self._check_hooks(entry, key)
        self._check_endless(entry, backings)

    def _check_endless(self, entry: Entry, backings: Sequence[Any]) -> None:
        if not all(backing in ("prompt", "handler") for backing in backings):
            return
        if entry.values.get("max_session_turns") is not None or "**" in entry.values:
            return
        sides = [cast(Values, entry.values.get(key)) for key in ("side_a", "side_b")]
        if any(
            side.get(key) is not None for side in sides for key in ("session_stop", "session_fail")
        ):
            return
        self._found.append(
            Finding(
                code="SA044",
                severity="warning",
                address=entry.address,
                sentence="Both sides answer by themselves and nothing ends the session; "
                "give a side a session_stop or the agent max_session_turns.",
                fixes=[
                    Remedy(
                        title="Limit to 20 turns",
                        act="set",
                        arguments={"address": f"{entry.address}.max_session_turns", "value": 20},
                    )
                ],
            )
        )

    def _check_side(self, entry: Entry, key: str, side: Values) -> None:
        address = f"{entry.address}.{key}"
        who = f"Side {key[-1].upper()} of {entry.name}"
        prompt = side.get("prompt")
        handler = side.get("handler")
        if isinstance(prompt, str) and self._get(Kind.PROMPT, prompt) is None:
            self._missing(
                "SA020", f"{address}.prompt", Kind.PROMPT, prompt, f"{who} names the prompt"
            )
        if isinstance(handler, str) and self._get(Kind.HANDLER, handler) is None:
            self._missing(
                "SA023", f"{address}.handler", Kind.HANDLER, handler, f"{who} names the handler"
            )
        self._check_session_tools(address, who, side, self._get(Kind.PROMPT, prompt))
        subagents = side.get("subagents")
        if isinstance(subagents, list):
            for index, relationship in enumerate(cast(list[Any], subagents)):
                if isinstance(relationship, dict):
                    self._check_relationship(
                        f"{address}.subagents[{index}]", who, cast(Values, relationship)
                    )

    def _check_session_tools(
        self, address: str, who: str, side: Values, prompt: Entry | None
    ) -> None:
        if prompt is None or not prompt.known:
            return
        wanted: list[tuple[str, Any, Sequence[tuple[str, Any]]]] = []
        for key in SESSION_TOOLS:
            tool = side.get(key)
            if isinstance(tool, dict):
                values = cast(Values, tool)
                properties = [(f"{key}.{name}", values.get(name)) for name in _SESSION_ARGUMENTS]
                wanted.append((f"{key}.name", values.get("name"), properties))
        response = side.get("stop_tool_response_property")
        wanted.append(
            ("stop_tool", side.get("stop_tool"), [("stop_tool_response_property", response)])
        )
        tools = prompt.values.get("tools", [])
        for key, name, properties in wanted:
            if not isinstance(name, str):
                continue
            if isinstance(tools, list) and name not in _tool_names(cast(list[Any], tools)):
                self._found.append(
                    error(
                        "SA040",
                        f"{address}.{key}",
                        f"{who} ends with {name}, which is not among the tools of its prompt "
                        f"{prompt.name}; add it there.",
                        Remedy(
                            title=f"Add {name} to {prompt.name}",
                            act="connect",
                            arguments={"source": prompt.address, "target": f"tools/{name}"},
                        ),
                    )
                )
            self._check_takes(address, name, properties)

    def _check_takes(self, address: str, name: str, properties: Sequence[tuple[str, Any]]) -> None:
        tool = self._get(Kind.TOOL, name) or self._get(Kind.PROMPT, name)
        if tool is None or not tool.known or tool.arguments is None:
            return
        for key, argument in properties:
            if isinstance(argument, str) and argument not in tool.arguments.names:
                self._found.append(
                    error(
                        "SA041",
                        f"{address}.{key}",
                        f"{name} takes no argument {argument}; {_known_arguments(tool.arguments)}",
                    )
                )

    def _check_relationship(self, address: str, who: str, values: Values) -> None:
        name = values.get("agent")
        child = self._get(Kind.AGENT, name)
        if isinstance(name, str) and child is None:
            self._missing("SA024", f"{address}.agent", Kind.AGENT, name, f"{who} has the subagent")
            self._found[-1] = _with_entry_removal(self._found[-1], address)
        if child is None or not child.known:
            return
        exposed = child.values.get("expose_as_tool", False)
        if exposed is False and "**" not in child.values:
            self._found.append(
                error(
                    "SA025",
                    f"{address}.agent",
                    f"{who} has the subagent {child.name}, which is not exposed; "
                    "give it expose_as_tool=True and a tool_description.",
                    Remedy(
                        title=f"Expose {child.name}",
                        act="set",
                        arguments={"address": f"{child.address}.expose_as_tool", "value": True},
                    ),
                )
            )
        takes = self._child_arguments(child)
        if takes is None:
            return
        for key in _INIT:
            argument = values.get(key)
            if isinstance(argument, str) and argument not in takes.names:
                self._found.append(
                    error(
                        "SA042",
                        f"{address}.{key}",
                        f"{child.name} is not created with an argument {argument}; "
                        f"{_known_arguments(takes)}",
                    )
                )
        if values.get("immediate") is True and takes.required:
            names = ", ".join(sorted(takes.required))
            self._found.append(
                error(
                    "SA043",
                    f"{address}.immediate",
                    f"{child.name} is created at once, but nobody supplies its required "
                    f"{'argument' if len(takes.required) == 1 else 'arguments'} {names}; "
                    "make them optional or the relationship not immediate.",
                )
            )

    def _child_arguments(self, child: Entry) -> ArgumentNames | None:
        side = child.values.get("side_a")
        backing = backing_of(side)
        if backing is None:
            return None
        if backing != "prompt":
            return ArgumentNames()
        prompt = self._get(Kind.PROMPT, cast(Values, side).get("prompt"))
        return prompt.arguments if prompt is not None and prompt.known else None

    def _check_hooks(self, entry: Entry, key: str) -> None:
        for address, name in _names(entry, key):
            if self._get(Kind.HANDLER, name) and not self._get(Kind.HOOK, name):
                self._handler_among(entry, address, name, key)
            elif self._get(Kind.HOOK, name) is None:
                who = f"{entry.kind.value.capitalize()} {entry.name} lists"
                self._missing("SA029", address, Kind.HOOK, name, who, entry=True)

    # prompts and models

    def _check_prompt(self, entry: Entry) -> None:
        model = entry.values.get("model")
        if isinstance(model, str) and self._get(Kind.MODEL, model) is None:
            self._missing(
                "SA022",
                f"{entry.address}.model",
                Kind.MODEL,
                model,
                f"Prompt {entry.name} names the model",
            )
        for address, name in _includes(entry):
            if self._get(Kind.PROMPT, name) is None:
                who = f"Prompt {entry.name} includes"
                self._missing("SA028", address, Kind.PROMPT, name, who)
        self._check_hooks(entry, "hooks")
        owned = self._owned.get(entry.name, {})
        for address, name in _names(entry, "tools"):
            self._check_tool(entry, address, name, owned)

    def _check_tool(self, entry: Entry, address: str, name: str, owned: Mapping[str, str]) -> None:
        if ":" in name:
            return
        if name in owned:
            self._found.append(
                error(
                    "SA035",
                    address,
                    f"Prompt {entry.name} lists {name}, which is a subagent of {owned[name]}; "
                    "the side offers it to the model already, so take it out here.",
                    removal(address),
                )
            )
            return
        if any(self._get(kind, name) for kind in (Kind.TOOL, Kind.PROMPT)):
            return
        agent = self._get(Kind.AGENT, name)
        if agent is not None:
            if agent.known and agent.values.get("expose_as_tool", False) is False:
                self._found.append(
                    error(
                        "SA025",
                        address,
                        f"Prompt {entry.name} hands over to {name}, which is not exposed; "
                        "give it expose_as_tool=True and a tool_description.",
                    )
                )
        elif self._get(Kind.HANDLER, name):
            self._handler_among(entry, address, name, "tools")
        else:
            self._missing(
                "SA021", address, Kind.TOOL, name, f"Prompt {entry.name} lists", entry=True
            )

    def _handler_among(self, entry: Entry, address: str, name: str, key: str) -> None:
        self._found.append(
            error(
                "SA034",
                address,
                f"{name} is a handler and cannot stand among the {key} of "
                f"{entry.kind.value} {entry.name}; a handler backs a side.",
                removal(address),
            )
        )

    def _relationships(self) -> dict[str, dict[str, str]]:
        """Prompt → names of the subagents that the sides it backs own → whose they are."""
        found: dict[str, dict[str, str]] = {}
        for agent in self._by.get(Kind.AGENT, {}).values():
            for key in ("side_a", "side_b"):
                side = agent.values.get(key)
                if not isinstance(side, dict):
                    continue
                values = cast(Values, side)
                prompt, subagents = values.get("prompt"), values.get("subagents")
                if not isinstance(prompt, str) or not isinstance(subagents, list):
                    continue
                owned = found.setdefault(prompt, {})
                for item in cast(list[Any], subagents):
                    if isinstance(item, dict):
                        relationship = cast(Values, item)
                        name = relationship.get("as_") or relationship.get("agent")
                        if isinstance(name, str):
                            owned[name] = f"side {key[-1].upper()} of {agent.name}"
        return found

    def _check_model(self, entry: Entry) -> None:
        provider = entry.values.get("provider")
        if (
            isinstance(provider, str)
            and provider not in BUILT_IN_PROVIDERS
            and self._get(Kind.PROVIDER, provider) is None
        ):
            self._missing(
                "SA027",
                f"{entry.address}.provider",
                Kind.PROVIDER,
                provider,
                f"Model {entry.name} names the provider",
            )
        for address, name in _names(entry, "fallbacks"):
            if self._get(Kind.MODEL, name) is None:
                who = f"Model {entry.name} falls back to"
                self._missing("SA026", address, Kind.MODEL, name, who, entry=True)

    # circles and reach

    def _check_cycles(self, kind: Kind, code: str, verb: str, ahead: Any) -> None:
        """Report each circle once, at the entry of its first definition in project order."""
        done: set[str] = set()
        for start in self._by.get(kind, {}):
            if start in done:
                continue
            path: list[str] = []
            stack: list[Iterator[tuple[str, str]]] = []

            def enter(
                name: str,
                path: list[str] = path,
                stack: list[Iterator[tuple[str, str]]] = stack,
            ) -> None:
                path.append(name)
                entry = self._by[kind][name]
                stack.append(iter(list(ahead(entry)) if entry.known else []))

            enter(start)
            while stack:
                step = next(stack[-1], None)
                if step is None:
                    stack.pop()
                    done.add(path.pop())
                    continue
                address, name = step
                if name in path:
                    circle = [*path[path.index(name) :], name]
                    self._found.append(
                        error(
                            code,
                            address,
                            f"{kind.value.capitalize()} {circle[0]} {verb} itself "
                            f"({' → '.join(circle)}); take one of the steps out.",
                        )
                    )
                elif name not in done and name in self._by.get(kind, {}):
                    enter(name)

    def _check_reach(self) -> None:
        """Hint at definitions that no agent reaches; silent where something is computed."""
        reached: set[tuple[Kind, str]] = set()
        waiting: list[Entry] = list(self._by.get(Kind.AGENT, {}).values())
        while waiting:
            entry = waiting.pop()
            if entry.reach is None:
                if not entry.known or _has_computed(entry.values):
                    return
                entry.reach = list(_references(entry))
            for kinds, name in entry.reach:
                for kind in kinds:
                    target = self._get(kind, name)
                    if target is not None and (kind, name) not in reached:
                        reached.add((kind, name))
                        waiting.append(target)
        for entry in self._entries:
            if entry.kind in _HINTED and (entry.kind, entry.name) not in reached:
                self._found.append(
                    Finding(
                        code="SA045",
                        severity="hint",
                        address=entry.address,
                        sentence=f"No agent reaches the {entry.kind.value} {entry.name}; "
                        "connect it, or delete its file.",
                    )
                )


def _called(entry: Entry) -> str:
    return "exposed agent" if entry.kind is Kind.AGENT else entry.kind.value


def _with_entry_removal(finding: Finding, address: str) -> Finding:
    remedy = Remedy(title="Remove entry", act="unset", arguments={"address": address})
    return error(finding.code, finding.address, finding.sentence, *finding.fixes, remedy)


def _known_arguments(arguments: ArgumentNames) -> str:
    if not arguments.names:
        return "it takes none."
    return f"it takes {', '.join(sorted(arguments.names))}."


def _tool_names(tools: Sequence[Any]) -> set[str]:
    """The names among a prompt's tools; with a computed one, every name may be there."""
    names: set[str] = set()
    for tool in tools:
        if isinstance(tool, Computed):
            return _Everything()
        name: Any = cast(Values, tool).get("name") if isinstance(tool, dict) else tool
        if isinstance(name, Computed):
            return _Everything()
        if isinstance(name, str):
            names.add(name)
    return names


class _Everything(set[str]):
    """A set that holds every name."""

    def __contains__(self, _: object) -> bool:
        return True


def _names(entry: Entry, key: str) -> Iterator[tuple[str, str]]:
    """Address and name of each entry of a list property that can be read."""
    values = entry.values.get(key)
    if not isinstance(values, list):
        return
    for index, item in enumerate(cast(list[Any], values)):
        place = f"{entry.address}.{key}[{index}]"
        if isinstance(item, dict):
            record = cast(Values, item)
            if "agent" in record:
                continue
            item, place = record.get("name"), f"{place}.name"
        if isinstance(item, str):
            yield place, item


def _includes(entry: Entry) -> Iterator[tuple[str, str]]:
    parts = entry.values.get("prompt")
    if not isinstance(parts, list):
        return
    for index, part in enumerate(cast(list[Any], parts)):
        if isinstance(part, dict):
            name = cast(Values, part).get("prompt")
            if isinstance(name, str):
                yield f"{entry.address}.prompt[{index}].prompt", name


def _fallbacks(entry: Entry) -> Iterator[tuple[str, str]]:
    return _names(entry, "fallbacks")


def _references(entry: Entry) -> Iterator[tuple[Sequence[Kind], str]]:
    """Every name that a definition refers to, with the kinds it may be of."""
    values = entry.values
    for _, name in _names(entry, "hooks"):
        yield (Kind.HOOK,), name
    match entry.kind:
        case Kind.AGENT:
            for _, name in _names(entry, "parent_hooks"):
                yield (Kind.HOOK,), name
            for key in ("side_a", "side_b"):
                side: Any = values.get(key)
                if isinstance(side, dict):
                    yield from _side_references(cast(Values, side))
        case Kind.PROMPT:
            if isinstance(model := values.get("model"), str):
                yield (Kind.MODEL,), model
            for _, name in _names(entry, "tools"):
                yield (Kind.TOOL, Kind.PROMPT, Kind.AGENT), name
                if name.startswith("provider:"):
                    yield (Kind.PROVIDER,), name.split(":", 1)[1]
            for _, name in _includes(entry):
                yield (Kind.PROMPT,), name
        case Kind.MODEL:
            if isinstance(provider := values.get("provider"), str):
                yield (Kind.PROVIDER,), provider
            for _, name in _names(entry, "fallbacks"):
                yield (Kind.MODEL,), name
        case Kind.TOOL:
            for _, name in _names(entry, "uses"):
                yield (Kind.TOOL, Kind.PROMPT), name
        case _:
            return


def _side_references(side: Values) -> Iterator[tuple[Sequence[Kind], str]]:
    if isinstance(prompt := side.get("prompt"), str):
        yield (Kind.PROMPT,), prompt
    if isinstance(handler := side.get("handler"), str):
        yield (Kind.HANDLER,), handler


def _has_computed(values: Any) -> bool:
    """Whether a place that may name other definitions is computed."""
    for key in ("side_a", "side_b", "prompt", "handler", "model", "provider"):
        if isinstance(values.get(key), Computed):
            return True
    for key in ("tools", "fallbacks", "uses", "hooks"):
        value: Any = values.get(key)
        if isinstance(value, Computed):
            return True
        if isinstance(value, list) and any(
            isinstance(item, Computed) for item in cast(list[Any], value)
        ):
            return True
    return "**" in values or any(
        isinstance(values.get(key), dict) and _has_computed(values[key])
        for key in ("side_a", "side_b")
    )
