"""From text to nodes: what one definition file says, read without running it."""

from __future__ import annotations

import ast
import re
from typing import Final

from tree_sitter import Node as TreeNode

from sa_builder.project.nodes import (
    Arguments,
    Atom,
    CodeNode,
    ConstNode,
    Declaration,
    Entry,
    ListNode,
    ModuleNodes,
    Node,
    RecordNode,
)
from sa_builder.project.source import Source
from sa_builder.project.syntax import SPEC_MODULES, captured, comments_below, parser, walk
from sa_builder.spec.properties import DECLARATIONS, DECORATED, POSITIONAL, RECORDS

DEEPEST: Final = 200
"""Nesting beyond this is code."""

_PREFIX = re.compile(rb"[A-Za-z]*")

_REASONS: Final = {
    "call": "a call",
    "attribute": "an attribute",
    "subscript": "a subscript",
    "binary_operator": "an expression",
    "boolean_operator": "an expression",
    "not_operator": "an expression",
    "comparison_operator": "an expression",
    "conditional_expression": "a condition",
    "lambda": "a lambda",
    "list_comprehension": "a comprehension",
    "dictionary_comprehension": "a comprehension",
    "set_comprehension": "a comprehension",
    "generator_expression": "a comprehension",
    "await": "an await",
    "set": "a set",
    "named_expression": "an assignment expression",
    "ERROR": "a syntax error",
}


def read_module(source: Source, *, with_comments: bool = False) -> ModuleNodes:
    """Find the define_* calls of a file and read what they say.

    Works on any text: where the syntax is broken, what can still be read is read.
    """
    reader = _ModuleReader(source)
    if with_comments:
        source.comments = comments_below(source, reader.root)
    return reader.read()


class _ModuleReader:
    """Reads one file; lives only as long as its tree."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = source.tree_text
        self.root = parser().parse(self._data).root_node
        self._result = ModuleNodes(declarations=[])
        self._assigned: dict[str, list[TreeNode]] = {}
        self._classes: dict[str, TreeNode] = {}
        self._others: list[TreeNode] = []
        self._resolving: set[str] = set()
        self._uses: dict[str, list[ConstNode]] = {}
        self._places: dict[str, set[int]] = {}
        self._constants: dict[str, Node | str] = {}

    def read(self) -> ModuleNodes:
        found: list[tuple[TreeNode, TreeNode, str, str | None, TreeNode | None]] = []
        for statement in self.root.named_children:
            match statement.type:
                case "comment":
                    continue
                case "import_from_statement":
                    self._read_import_from(statement)
                case "import_statement":
                    self._read_import(statement)
                case "expression_statement":
                    self._read_expression(statement, found)
                case "decorated_definition":
                    self._read_decorated(statement, found)
                case "class_definition" | "function_definition":
                    self._read_named(statement)
                case _:
                    self._others.append(statement)
        for statement, call, name, bound_to, function in found:
            self._result.declarations.append(
                self._declaration(statement, call, name, bound_to, function)
            )
        self._settle_constants()
        return self._result

    # the module's own statements

    def _read_import_from(self, statement: TreeNode) -> None:
        module = statement.child_by_field_name("module_name")
        module_text = self._text(module) if module is not None else ""
        for node in statement.children_by_field_name("name"):
            name, local = self._import_names(node)
            self._result.bound.add(local)
            if module_text in SPEC_MODULES:
                self._result.names[local] = name
            elif module_text == "sa_builder" and name == "spec":
                self._result.modules.append(local)

    def _read_import(self, statement: TreeNode) -> None:
        for node in statement.children_by_field_name("name"):
            name, local = self._import_names(node)
            self._result.bound.add(local.split(".")[0])
            if name in SPEC_MODULES:
                self._result.modules.append(local)

    def _import_names(self, node: TreeNode) -> tuple[str, str]:
        if node.type == "aliased_import":
            name = node.child_by_field_name("name")
            alias = node.child_by_field_name("alias")
            return self._text(name), self._text(alias)
        text = self._text(node)
        return text, text

    def _read_expression(
        self,
        statement: TreeNode,
        found: list[tuple[TreeNode, TreeNode, str, str | None, TreeNode | None]],
    ) -> None:
        if statement.named_child_count == 0:
            return
        node = statement.named_children[0]
        if node.type == "assignment":
            left = node.child_by_field_name("left")
            right = node.child_by_field_name("right")
            if left is None or right is None:
                return
            if left.type != "identifier":
                self._others.append(statement)
                return
            name = self._text(left)
            self._result.bound.add(name)
            self._assigned.setdefault(name, []).append(right)
            if (declared := self._declared_by(right)) is not None:
                found.append((statement, right, declared, name, None))
        elif node.type == "call" and (declared := self._declared_by(node)) is not None:
            found.append((statement, node, declared, None, None))
        elif node.type not in ("string", "concatenated_string"):
            self._others.append(statement)

    def _read_decorated(
        self,
        statement: TreeNode,
        found: list[tuple[TreeNode, TreeNode, str, str | None, TreeNode | None]],
    ) -> None:
        definition = statement.child_by_field_name("definition")
        if definition is None:
            return
        self._read_named(definition)
        for decorator in statement.named_children:
            if decorator.type != "decorator" or decorator.named_child_count == 0:
                continue
            call = decorator.named_children[0]
            declared = self._declared_by(call) or self._spec_name(call)
            if declared in DECLARATIONS and DECLARATIONS[declared] in DECORATED:
                name = definition.child_by_field_name("name")
                found.append((statement, call, declared, self._text(name), definition))

    def _read_named(self, statement: TreeNode) -> None:
        name = statement.child_by_field_name("name")
        if name is not None:
            text = self._text(name)
            self._result.bound.add(text)
            if statement.type == "class_definition":
                self._classes[text] = statement

    def _declared_by(self, node: TreeNode) -> str | None:
        """define_agent and its like, when the node is a call of one."""
        if node.type != "call":
            return None
        function = node.child_by_field_name("function")
        name = self._spec_name(function) if function is not None else None
        return name if name in DECLARATIONS else None

    def _spec_name(self, node: TreeNode) -> str | None:
        """The spec's own name of an identifier or attribute, when it is one."""
        if node.type == "identifier":
            return self._result.names.get(self._text(node))
        if node.type == "attribute":
            owner = node.child_by_field_name("object")
            name = node.child_by_field_name("attribute")
            if owner is not None and self._text(owner) in self._result.modules:
                return self._text(name)
        return None

    # one definition

    def _declaration(
        self,
        statement: TreeNode,
        call: TreeNode,
        name: str,
        bound_to: str | None,
        function: TreeNode | None,
    ) -> Declaration:
        record = self._record(call, name, 0) if call.type == "call" else None
        if not isinstance(record, RecordNode):
            reason = record.reason if isinstance(record, CodeNode) else "a bare decorator"
            empty = RecordNode(
                start=call.start_byte,
                end=call.end_byte,
                callee=name,
                callee_text=self._text(call),
                entries=[],
                open=call.end_byte,
                close=call.end_byte,
                closed=True,
            )
            return Declaration(
                name=name,
                record=empty,
                start=statement.start_byte,
                end=statement.end_byte,
                bound_to=bound_to,
                computed=reason,
            )
        declaration = Declaration(
            name=name,
            record=record,
            start=statement.start_byte,
            end=statement.end_byte,
            bound_to=bound_to,
        )
        if function is None and bound_to is not None:
            if len(self._assigned.get(bound_to, ())) > 1:
                declaration.computed = f"{bound_to} is assigned more than once"
            elif self._touched_elsewhere(bound_to):
                declaration.computed = f"{bound_to} is changed after it is defined"
        if function is not None:
            self._decorated_function(declaration, statement, function)
        self._read_arguments(declaration, function)
        return declaration

    def _decorated_function(
        self, declaration: Declaration, statement: TreeNode, function: TreeNode
    ) -> None:
        name = function.child_by_field_name("name")
        declaration.function_name = self._text(name)
        if function.type != "function_definition":
            declaration.computed = "it decorates a class"
        elif sum(child.type == "decorator" for child in statement.named_children) > 1:
            first = statement.named_children[0]
            if first.start_byte < declaration.record.start and not (
                first.start_byte <= declaration.record.start < first.end_byte
            ):
                declaration.computed = "another decorator wraps it"

    def _touched_elsewhere(self, name: str) -> bool:
        wanted = name.encode()
        if b"global" in self._data and re.search(
            rb"\bglobal\b[^\r\n]*\b" + re.escape(wanted) + rb"\b", self._data
        ):
            return True
        for statement in self._others:
            if wanted in self._data[statement.start_byte : statement.end_byte]:
                for node in walk(statement):
                    if node.type == "identifier" and self._text(node) == name:
                        return True
        return False

    # values

    def _value(self, node: TreeNode, depth: int) -> Node:
        kind = node.type
        if depth > DEEPEST:
            return self._code(node, "nested too deeply")
        if kind == "string":
            return self._string(node)
        start, end = node.start_byte, node.end_byte
        match kind:
            case "concatenated_string":
                return self._joined(node)
            case "true" | "false" | "none":
                value = {"true": True, "false": False, "none": None}[kind]
                return Atom(start, end, value, start, end)
            case "integer" | "float" | "unary_operator":
                try:
                    value = ast.literal_eval(self._text(node))
                except (ValueError, SyntaxError, MemoryError, RecursionError):
                    return self._code(node, "an expression")
                if isinstance(value, complex):
                    return self._code(node, "a complex number")
                return Atom(start, end, value, start, end)
            case "parenthesized_expression":
                return self._parenthesized(node, depth)
            case "list" | "tuple":
                return self._list(node, depth)
            case "dictionary":
                return self._dict(node, depth)
            case "call":
                function = node.child_by_field_name("function")
                name = self._spec_name(function) if function is not None else None
                if name in RECORDS:
                    return self._record(node, str(name), depth)
                return self._code(node, "a call")
            case "identifier":
                return self._name(node, depth)
            case _:
                return self._code(node, _REASONS.get(kind, "computed"))

    def _code(self, node: TreeNode, reason: str) -> CodeNode:
        start, end = node.start_byte, node.end_byte
        return CodeNode(start, end, self._source.slice(start, end), reason)

    def _string(self, node: TreeNode) -> Node:
        start, end = node.start_byte, node.end_byte
        raw = self._data[start:end]
        quote = raw[:1]
        if (
            raw[:1] in (b'"', b"'")
            and raw.count(quote) == 2
            and raw[-1:] == quote
            and b"\\" not in raw
            and b"\n" not in raw
        ):
            return Atom(start, end, raw[1:-1].decode("utf-8", "surrogatepass"), start, end)
        if node.has_error:
            return self._code(node, "a syntax error")
        prefix = _PREFIX.match(raw)
        letters = prefix.group().lower() if prefix else b""
        if b"f" in letters:
            return self._code(node, "an f-string")
        if b"t" in letters:
            return self._code(node, "a t-string")
        if b"b" in letters:
            return self._code(node, "a bytes literal")
        try:
            value = ast.literal_eval(self._source.slice(start, end))
        except (ValueError, SyntaxError, MemoryError):
            return self._code(node, "a string that Python cannot read")
        return Atom(start, end, value, start, end)

    def _joined(self, node: TreeNode) -> Node:
        parts = [child for child in node.named_children if child.type == "string"]
        values: list[str] = []
        for part in parts:
            match self._string(part):
                case Atom(value=str() as value):
                    values.append(value)
                case CodeNode(reason=reason):
                    return self._code(node, reason)
                case _:
                    return self._code(node, "computed")
        start, end = node.start_byte, node.end_byte
        return Atom(start, end, "".join(values), start, end)

    def _parenthesized(self, node: TreeNode, depth: int) -> Node:
        inside = [child for child in node.named_children if child.type != "comment"]
        if len(inside) != 1 or node.has_error:
            return self._code(node, "an expression")
        match self._value(inside[0], depth + 1):
            case Atom() as atom:
                atom.start, atom.end = node.start_byte, node.end_byte
                return atom
            case ListNode() | RecordNode() | ConstNode() as value:
                value.start, value.end = node.start_byte, node.end_byte
                return value
            case CodeNode(reason=reason):
                return self._code(node, reason)

    def _list(self, node: TreeNode, depth: int) -> Node:
        items: list[Node] = []
        for child in node.named_children:
            if child.type in ("comment", "line_continuation"):
                continue
            if child.type in ("ERROR", "list_splat"):
                return self._code(
                    node, "a syntax error" if child.type == "ERROR" else "an unpacked list"
                )
            items.append(self._value(child, depth + 1))
        start, end = node.start_byte, node.end_byte
        return ListNode(start, end, items, start, end - 1, node.type == "tuple")

    def _dict(self, node: TreeNode, depth: int) -> Node:
        entries: list[Entry] = []
        closed = False
        for child in node.named_children:
            match child.type:
                case "comment" | "line_continuation":
                    continue
                case "dictionary_splat":
                    closed = True
                case "pair":
                    key_node = child.child_by_field_name("key")
                    value_node = child.child_by_field_name("value")
                    key = self._value(key_node, depth + 1) if key_node is not None else None
                    if value_node is None or not isinstance(key, Atom):
                        return self._code(node, "a dict with computed keys")
                    if not isinstance(key.value, str):
                        return self._code(node, "a dict whose keys are not texts")
                    if any(entry.key == key.value for entry in entries):
                        return self._code(node, "a dict that names a key twice")
                    entries.append(
                        Entry(
                            child.start_byte,
                            child.end_byte,
                            key.value,
                            self._value(value_node, depth + 1),
                        )
                    )
                case _:
                    return self._code(node, "a syntax error")
        start, end = node.start_byte, node.end_byte
        items = _item_places(node)
        return RecordNode(start, end, None, "", entries, start, end - 1, closed, items)

    def _record(self, node: TreeNode, callee: str, depth: int) -> Node:
        parts = node.named_children
        function = parts[0] if parts else None
        arguments = parts[-1] if len(parts) == 2 else None
        if arguments is None or arguments.type != "argument_list":
            return self._code(node, "a call")
        entries: list[Entry] = []
        items: list[tuple[int, int]] = []
        closed = False
        places = POSITIONAL.get(callee, ())
        for child in arguments.named_children:
            kind = child.type
            if kind in ("comment", "line_continuation"):
                continue
            start, end = child.start_byte, child.end_byte
            items.append((start, end))
            match kind:
                case "keyword_argument":
                    parts = child.named_children
                    name_node, value_node = parts[0], parts[-1]
                    if len(parts) != 2:
                        name_node = child.child_by_field_name("name")
                        value_node = child.child_by_field_name("value")
                    if name_node is None or value_node is None:
                        return self._code(node, "a syntax error")
                    entry = Entry(
                        start, end, self._text(name_node), self._value(value_node, depth + 1)
                    )
                case "dictionary_splat":
                    closed = True
                    continue
                case "list_splat":
                    return self._code(node, "an unpacked list of arguments")
                case "ERROR":
                    return self._code(node, "a syntax error")
                case _:
                    if len(entries) >= len(places):
                        return self._code(node, "an argument without its name")
                    value = self._value(child, depth + 1)
                    entry = Entry(start, end, places[len(entries)], value, True)
            if any(known.key == entry.key for known in entries):
                return self._code(node, "an argument that is given twice")
            entries.append(entry)
        return RecordNode(
            node.start_byte,
            node.end_byte,
            callee,
            self._text(function) if function is not None else callee,
            entries,
            arguments.start_byte,
            arguments.end_byte - 1,
            closed,
            items,
        )

    # names that stand for literals

    def _name(self, node: TreeNode, depth: int) -> Node:
        name = self._text(node)
        known = self._constants.get(name)
        if known is None:
            known = self._constants[name] = self._constant(name, depth)
        if isinstance(known, str):
            return self._code(node, known)
        use = ConstNode(node.start_byte, node.end_byte, name, known, 0)
        self._uses.setdefault(name, []).append(use)
        self._places.setdefault(name, set()).add(node.start_byte)
        return use

    def _constant(self, name: str, depth: int) -> Node | str:
        assigned = self._assigned.get(name, ())
        if len(assigned) != 1:
            return "a name" if not assigned else "a name that is assigned more than once"
        if name in self._resolving:
            return "a name that stands for itself"
        self._resolving.add(name)
        value = self._value(assigned[0], depth + 1)
        self._resolving.discard(name)
        if isinstance(value, CodeNode):
            return value.reason
        return value

    def _settle_constants(self) -> None:
        """Turn names that are used in other ways into code, and count the uses of the rest."""
        replaced: dict[int, CodeNode] = {}
        for name, uses in self._uses.items():
            places = self._places[name]
            if self._occurrences(name) != len(places) + 1:
                for use in uses:
                    replaced[id(use)] = CodeNode(
                        use.start,
                        use.end,
                        self._source.slice(use.start, use.end),
                        "a name that is also used elsewhere",
                    )
            else:
                for use in uses:
                    use.uses = len(places)
        if replaced:
            for declaration in self._result.declarations:
                _replace_in_record(declaration.record, replaced)

    def _occurrences(self, name: str) -> int:
        wanted = name.encode()
        quick = len(re.findall(rb"(?<!\w)" + re.escape(wanted) + rb"(?!\w)", self._data))
        if quick <= 1:
            return quick
        count = 0
        for node in captured("(identifier) @found", self.root):
            if self._data[node.start_byte : node.end_byte] != wanted:
                continue
            parent = node.parent
            if parent is not None:
                if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
                    continue
                if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
                    continue
            count += 1
        return count

    # argument classes

    def _read_arguments(self, declaration: Declaration, function: TreeNode | None) -> None:
        keyword = "required_schema" if declaration.name == "define_prompt" else "args"
        entry = declaration.record.entry(keyword)
        class_name: str | None = None
        if entry is not None:
            class_name = self._text_of(entry.value)
            if isinstance(entry.value, Atom) and entry.value.value is None:
                declaration.takes_no_arguments = True
                return
        elif declaration.name == "define_prompt":
            declaration.takes_no_arguments = True
            return
        elif declaration.name == "define_tool" and function is not None:
            class_name = self._annotated_class(function)
            if class_name is None:
                declaration.takes_no_arguments = True
                return
        if class_name is not None:
            declaration.arguments = self._class_arguments(class_name, 0)

    def _text_of(self, node: Node) -> str | None:
        if isinstance(node, CodeNode) and node.text.isidentifier():
            return node.text
        return None

    def _annotated_class(self, function: TreeNode) -> str | None:
        parameters = function.child_by_field_name("parameters")
        if parameters is None:
            return None
        named = [child for child in parameters.named_children if child.type != "comment"]
        if len(named) < 2:
            return None
        annotation = named[1].child_by_field_name("type")
        return self._text(annotation) if annotation is not None else ""

    def _class_arguments(self, name: str, depth: int) -> Arguments | None:
        statement = self._classes.get(name)
        if statement is None or depth > 8:
            return None
        found = Arguments([], [])
        bases = statement.child_by_field_name("superclasses")
        has_base = False
        for base in bases.named_children if bases is not None else ():
            text = self._text(base)
            if text in ("BaseModel", "pydantic.BaseModel"):
                has_base = True
            elif text in self._classes and (above := self._class_arguments(text, depth + 1)):
                has_base = True
                found.names.extend(above.names)
                found.required.extend(above.required)
            elif base.type != "comment":
                return None
        body = statement.child_by_field_name("body")
        if body is None or not has_base:
            return None
        for line in body.named_children:
            if line.type != "expression_statement" or line.named_child_count == 0:
                continue
            node = line.named_children[0]
            left = node.child_by_field_name("left") if node.type == "assignment" else None
            if left is None or left.type != "identifier":
                continue
            field_name = self._text(left)
            if field_name == "model_config":
                return None
            annotation = node.child_by_field_name("type")
            if annotation is None or field_name.startswith("_"):
                continue
            if "ClassVar" in self._text(annotation):
                continue
            right = node.child_by_field_name("right")
            whole = self._text(node)
            if "alias" in whole:
                return None
            if field_name not in found.names:
                found.names.append(field_name)
            if _is_required(self._text(right) if right is not None else None):
                if field_name not in found.required:
                    found.required.append(field_name)
            elif field_name in found.required:
                found.required.remove(field_name)
        return found

    def _text(self, node: TreeNode | None) -> str:
        if node is None:
            return ""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")


def _item_places(node: TreeNode) -> list[tuple[int, int]]:
    return [
        (child.start_byte, child.end_byte)
        for child in node.named_children
        if child.type not in ("comment", "line_continuation")
    ]


def _is_required(default: str | None) -> bool:
    if default is None:
        return True
    text = default.strip()
    if not re.match(r"(pydantic\.)?Field\s*\(", text):
        return text == "..."
    inside = text[text.index("(") + 1 : -1].strip()
    first = inside.split(",", 1)[0].strip()
    if "default=" in inside.replace(" ", "") or "default_factory" in inside:
        return "default=..." in inside.replace(" ", "")
    return first in ("", "...") or bool(re.match(r"\w+\s*=[^=]", first))


def _replace_in_record(record: RecordNode, replaced: dict[int, CodeNode]) -> None:
    for entry in record.entries:
        entry.value = _replaced(entry.value, replaced)


def _replaced(node: Node, replaced: dict[int, CodeNode]) -> Node:
    match node:
        case ListNode():
            node.items = [_replaced(item, replaced) for item in node.items]
        case RecordNode():
            _replace_in_record(node, replaced)
        case ConstNode():
            if id(node) in replaced:
                return replaced[id(node)]
            node.target = _replaced(node.target, replaced)
            if isinstance(node.target, CodeNode):
                return CodeNode(node.start, node.end, node.name, node.target.reason)
        case Atom() | CodeNode():
            pass
    return node
