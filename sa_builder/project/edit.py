"""Edits of one definition file: the smallest spans, each read back before it counts."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sa_builder.errors import EditRefused, ProjectError
from sa_builder.project.addresses import Path, join
from sa_builder.project.literals import (
    Style,
    record_name,
    rewrite_string,
    write_string,
    write_value,
)
from sa_builder.project.nodes import (
    Atom,
    CodeNode,
    ConstNode,
    Declaration,
    Entry,
    ListNode,
    Node,
    RecordNode,
    inner,
    plain,
)
from sa_builder.project.read import FileReading, find_node, read_file
from sa_builder.project.shapes import Code, FileChange
from sa_builder.project.source import Source
from sa_builder.project.splice import Bracket, Rows, Splice, apply
from sa_builder.project.syntax import comments_of, spec_imports
from sa_builder.spec.kinds import Kind
from sa_builder.spec.properties import Property, Shape, child_shape, properties_of


class FileEditor:
    """One file under edit; nothing is written until the caller takes `finish()`.

    Each deed changes the text and, apart from it, what the text should say; `finish` refuses
    unless the two agree.
    """

    def __init__(self, reading: FileReading) -> None:
        """Begin from a reading of the file as it is now.

        Raises:
            EditRefused: the file does not compile, holds no single definition, or is code.
        """
        place = reading.place
        if not reading.compiles:
            raise EditRefused(
                f"{place.path} is not valid Python now, so it cannot be edited here.",
                act=reading.faults[0].sentence if reading.faults else "",
                code="edit.syntax",
            )
        if reading.declaration is None or reading.computed is not None:
            why = f": {reading.computed}" if reading.computed else ""
            raise EditRefused(
                f"{place.address} has no plain definition that could be edited{why}.",
                act=f"Edit {place.path} as text.",
                code="edit.no_definition",
            )
        self._before = reading
        self._reading = reading
        self._kind = place.kind
        self._source = reading.source
        if self._source.encode(self._source.utf8) != self._source.data:
            raise EditRefused(
                f"{place.path} holds bytes that would not survive an edit in "
                f"{self._source.encoding}.",
                act="Save the file as UTF-8.",
                code="edit.encoding",
            )
        self._wanted: Any = _copy(reading.values)
        self._lost_comments: Counter[str] = Counter()
        self._spans: list[tuple[int, int]] = []
        self._inserted = 0
        self._removed = 0
        self._comments_before = Counter(each.text for each in comments_of(self._source))

    @property
    def values(self) -> Mapping[str, Any]:
        """What the definition says with the edits so far."""
        return self._reading.values

    @property
    def lost_comments(self) -> Sequence[str]:
        """Comments that went with what was removed."""
        return list(self._lost_comments.elements())

    # deeds

    def set(self, path: Path, value: Any) -> None:
        """Make the value at a path be this one; what is equal already stays to the byte."""
        value = _normal(value)
        self._set_wanted(path, value)
        self._replace(path, value)

    def unset(self, path: Path) -> None:
        """Take a property or list item out."""
        node, _ = find_node(self._record, path)
        if node is None:
            raise EditRefused(
                f"{self._address(path)} is not written in the file.",
                act="There is nothing to remove.",
                code="edit.not_written",
            )
        self._unset_wanted(path)
        self._remove(path)

    def rename(self, path: Path, key: str, value: Any) -> None:
        """Write another property in the place of one; its comment and row stay."""
        _, entry = find_node(self._record, path)
        parent, _ = find_node(self._record, path[:-1])
        target = inner(parent) if parent is not None else None
        if entry is None or entry.positional or not isinstance(target, RecordNode):
            self.unset(path)
            self.set((*path[:-1], key), value)
            return
        self._refuse_comments(path, entry.start, entry.end)
        wanted = self._wanted
        for step in path[:-1]:
            wanted = wanted[step]
        del wanted[path[-1]]
        wanted[key] = _copy(value)
        style = self._style(path[:-1])
        text = write_value(value, self._shape((*path[:-1], key)), style)
        is_dict = target.callee is None
        written = f"{write_string(key, style)}: {text}" if is_dict else f"{key}={text}"
        self._write(entry.start, entry.end, written)

    def insert(self, path: Path, index: int, value: Any) -> None:
        """Put a value into the list at a path, which is created when it is not written."""
        value = _normal(value)
        node, _ = find_node(self._record, path)
        if node is None:
            self.set(path, [value])
            return
        current = plain(node)
        if not isinstance(current, list):
            raise self._is_code(path, node)
        entries = cast(list[Any], current)
        wanted = [*entries[:index], value, *entries[index:]]
        self._set_wanted(path, wanted)
        self._insert_item(path, index, value)

    def finish(self) -> FileChange:
        """The change of the whole file, after every check.

        Raises:
            EditRefused: the new text does not say exactly what was asked.
        """
        place = self._before.place
        try:
            data = self._source.encode(self._source.utf8)
        except UnicodeEncodeError as error:
            raise EditRefused(
                f"{place.path} is {self._source.encoding} text and cannot hold "
                f"{error.object[error.start : error.end]!r}.",
                act="Save the file as UTF-8 first.",
                code="edit.encoding",
            ) from error
        self._check(data)
        before = self._before.source
        spans = [self._source.span(*span) for span in self._spans]
        return FileChange(
            path=place.path,
            before=before.data,
            after=data,
            spans=spans,
            characters=self._inserted or self._removed,
        )

    # checks

    def _check(self, data: bytes) -> None:
        reading = self._reading
        if reading.source.data != data or not reading.compiles:
            raise self._refusal("the file would no longer compile")
        if reading.declaration is None or reading.computed is not None:
            raise self._refusal("the definition could no longer be read")
        if not same(reading.values, self._wanted):
            raise self._refusal("the text would say something else")
        now = Counter(each.text for each in comments_of(reading.source))
        if now != self._comments_before - self._lost_comments:
            raise self._refusal("a comment would be lost")
        if (
            _newline_kinds(reading.source)
            - _newline_kinds(self._before.source)
            - {self._before.source.newline}
        ):
            raise self._refusal("the line ends would be mixed")

    def _refusal(self, why: str) -> EditRefused:
        return EditRefused(
            f"This edit of {self._before.place.path} is refused: {why}.",
            act="Nothing was changed; edit the file as text.",
            code="edit.read_back",
        )

    def _is_code(self, path: Path, node: Node) -> EditRefused:
        reason = node.reason if isinstance(node, CodeNode) else "a value of another type"
        return EditRefused(
            f"{self._address(path)} is {reason}, so it cannot be edited here.",
            act=f"Edit {self._before.place.path} as text.",
            code="edit.computed",
        )

    # what the text should say

    def _set_wanted(self, path: Path, value: Any) -> None:
        holder = self._holder(path, create=True)
        holder[path[-1]] = _copy(value)

    def _unset_wanted(self, path: Path) -> None:
        del self._holder(path, create=False)[path[-1]]

    def _holder(self, path: Path, *, create: bool) -> Any:
        """The dict or list that holds the last step of a path, in what the text should say."""
        wanted: Any = self._wanted
        for depth, step in enumerate(path):
            fits = isinstance(wanted, list) if isinstance(step, int) else isinstance(wanted, dict)
            if isinstance(wanted, Code):
                raise self._is_code(path[:depth], CodeNode(0, 0, wanted.text, wanted.reason))
            exists = fits and (
                step < len(cast(list[Any], wanted)) if isinstance(step, int) else True
            )
            if not exists:
                raise EditRefused(
                    f"{self._address(path[: depth + 1])} does not exist.",
                    act="Look at what the file says now.",
                    code="edit.not_written",
                )
            if depth == len(path) - 1:
                break
            if create and isinstance(step, str) and step not in wanted:
                wanted[step] = {}
            wanted = wanted[step]
        return wanted

    # making text

    def _replace(self, path: Path, value: Any) -> None:
        node, entry = find_node(self._record, path)
        if node is None:
            self._add(path, value)
            return
        del entry
        if same(plain(node), value):
            return
        target = inner(node)
        if isinstance(node, ConstNode):
            together = (isinstance(target, ListNode) and isinstance(value, list)) or (
                isinstance(target, RecordNode) and isinstance(value, Mapping)
            )
            if not together:
                self._write(
                    node.start,
                    node.end,
                    write_value(value, self._shape(path), self._style(path[:-1])),
                )
                return
            if node.uses != 1:
                raise EditRefused(
                    f"{self._address(path)} is the constant {node.name}, "
                    f"which definitions use {node.uses} times.",
                    act="Edit the constant as text, or write the list in place.",
                    code="edit.shared_constant",
                )
        match target:
            case CodeNode():
                raise self._is_code(path, target)
            case ListNode() if isinstance(value, list):
                self._replace_list(path, target, cast(list[Any], value))
            case RecordNode() if isinstance(value, Mapping) and self._same_record(
                path, target, cast(Mapping[str, Any], value)
            ):
                self._replace_record(path, target, cast(Mapping[str, Any], value))
            case Atom():
                self._replace_atom(path, target, value)
            case _:
                if _holds_code(plain(target)):
                    raise EditRefused(
                        f"{self._address(path)} holds computed values that would be lost.",
                        act=f"Edit {self._before.place.path} as text.",
                        code="edit.computed",
                    )
                self._refuse_comments(path, target.start, target.end)
                text = write_value(value, self._shape(path), self._style(path[:-1]))
                self._write(target.start, target.end, text)

    def _replace_atom(self, path: Path, node: Atom, value: Any) -> None:
        style = self._style(path[:-1])
        start, end = node.inner_start, node.inner_end
        self._refuse_comments(path, start, end)
        if isinstance(node.value, str) and isinstance(value, str):
            text = rewrite_string(self._source.slice(start, end), value, style)
        else:
            text = write_value(value, self._shape(path), style)
        self._write(start, end, text)

    def _refuse_comments(self, path: Path, start: int, end: int) -> None:
        if self._rows().comments_in(start, end):
            raise EditRefused(
                f"{self._address(path)} holds comments that would be lost.",
                act=f"Edit {self._before.place.path} as text.",
                code="edit.comments",
            )

    def _same_record(self, path: Path, node: RecordNode, value: Mapping[str, Any]) -> bool:
        if node.callee is None:
            return True
        return record_name(self._shape(path), value) in (node.callee, None)

    def _replace_record(self, path: Path, node: RecordNode, value: Mapping[str, Any]) -> None:
        old = cast(dict[str, Any], plain(node))
        implied = "kind" if node.callee is not None else ""
        for key in [key for key in old if key not in value and key not in ("**", implied)]:
            self._remove((*path, key))
        for key, item in value.items():
            if key != implied and not (key in old and same(old[key], item)):
                self._replace((*path, key), item)

    def _replace_list(self, path: Path, node: ListNode, value: list[Any]) -> None:
        old = [_key(plain(item)) for item in node.items]
        new = [_key(item) for item in value]
        if sorted(old) == sorted(new):
            self._reorder(path, node, old, new)
            return
        moves = set(old) & set(new)
        matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
        for tag, low, high, new_low, new_high in reversed(matcher.get_opcodes()):
            if tag == "equal":
                continue
            paired = min(high - low, new_high - new_low)
            for index in reversed(range(low + paired, high)):
                if old[index] in moves and old.count(old[index]) <= new.count(old[index]):
                    self._refuse_comments(path, node.items[index].start, node.items[index].end)
                self._remove((*path, index))
            for index in range(paired):
                self._replace((*path, low + index), value[new_low + index])
            for index in range(new_low + paired, new_high):
                self._insert_item(path, low + index - new_low, value[index])

    def _reorder(self, path: Path, node: ListNode, old: list[str], new: list[str]) -> None:
        waiting: dict[str, list[int]] = {}
        for index, key in enumerate(old):
            waiting.setdefault(key, []).append(index)
        order = [waiting[key].pop(0) for key in new]
        splices = self._rows().permutation(_bracket(node), order)
        if splices is None:
            raise EditRefused(
                f"{self._address(path)} holds comments between its items, "
                "so its order cannot be changed here.",
                act=f"Edit {self._before.place.path} as text.",
                code="edit.comments",
            )
        self._apply(splices)

    def _add(self, path: Path, value: Any) -> None:
        """Write a property that is not written yet."""
        parent_path, key = path[:-1], path[-1]
        parent, _ = find_node(self._record, parent_path)
        if parent is None:
            self._add(parent_path, {str(key): value})
            return
        target = inner(parent)
        if isinstance(key, int) or not isinstance(target, RecordNode):
            raise self._is_code(parent_path, target)
        if isinstance(parent, ConstNode) and parent.uses != 1:
            raise EditRefused(
                f"{self._address(parent_path)} is the constant {parent.name}, "
                f"which definitions use {parent.uses} times.",
                act="Edit the constant as text.",
                code="edit.shared_constant",
            )
        if target.closed:
            raise EditRefused(
                f"{self._address(parent_path)} unpacks a dict with **, so nothing can be added.",
                act=f"Edit {self._before.place.path} as text.",
                code="edit.unpacked",
            )
        properties = self._properties(parent_path, target)
        if properties and key not in properties:
            raise EditRefused(
                f"{self._address(parent_path)} has no property {key}.",
                act=f"It has {', '.join(properties)}.",
                code="edit.unknown_property",
            )
        style = self._style(parent_path)
        shape = self._shape(path)
        text = write_value(value, shape, style)
        is_dict = target.callee is None
        written = f"{write_string(key, style)}: {text}" if is_dict else f"{key}={text}"
        index = _place_for(target, key, list(properties))
        self._apply(self._rows().insertion(_bracket(target), index, _utf8(written)))
        self._import_missing()

    def _insert_item(self, path: Path, index: int, value: Any) -> None:
        node, _ = find_node(self._record, path)
        target = inner(node) if node is not None else None
        if not isinstance(target, ListNode):
            raise self._is_code(path, target or CodeNode(0, 0, "", "not written"))
        if isinstance(node, ConstNode) and node.uses != 1:
            raise EditRefused(
                f"{self._address(path)} is the constant {node.name}, "
                f"which definitions use {node.uses} times.",
                act="Edit the constant as text, or write the list in place.",
                code="edit.shared_constant",
            )
        shape = self._shape(path)
        item_shape = child_shape(shape, index, value) if shape is not None else None
        text = write_value(value, item_shape, self._style(path))
        self._apply(self._rows().insertion(_bracket(target), index, _utf8(text)))
        self._import_missing()

    def _remove(self, path: Path) -> None:
        parent_path, key = path[:-1], path[-1]
        parent, _ = find_node(self._record, parent_path)
        target = inner(parent) if parent is not None else None
        if isinstance(parent, ConstNode) and parent.uses != 1:
            raise EditRefused(
                f"{self._address(parent_path)} is the constant {parent.name}, "
                f"which definitions use {parent.uses} times.",
                act="Edit the constant as text.",
                code="edit.shared_constant",
            )
        match target:
            case ListNode() if isinstance(key, int):
                index = key
            case RecordNode() if isinstance(key, str) and (entry := target.entry(key)):
                if entry.positional:
                    raise EditRefused(
                        f"{self._address(path)} is given by its place, "
                        "so it cannot be taken out here.",
                        act=f"Edit {self._before.place.path} as text.",
                        code="edit.positional",
                    )
                index = target.items.index((entry.start, entry.end))
            case _:
                raise EditRefused(
                    f"{self._address(path)} is not written in the file.",
                    act="There is nothing to remove.",
                    code="edit.not_written",
                )
        bracket = _bracket(target)
        rows = self._rows()
        removal = rows.removal(bracket, index)
        start, end = bracket.items[index]
        gone = rows.comments_in(start, end)
        if removal.same_row_comment is not None:
            gone = [*gone, removal.same_row_comment]
        self._lost_comments.update(each.text for each in gone)
        self._apply(removal.splices)

    def _write(self, start: int, end: int, text: str) -> None:
        self._apply([Splice(start, end, _utf8(text))])
        self._import_missing()

    def _apply(self, splices: Sequence[Splice]) -> None:
        """Change the text and read it anew."""
        if not splices:
            return
        old = self._source
        for splice in splices:
            self._inserted += len(splice.new.decode("utf-8", "surrogatepass"))
            self._removed += len(old.slice(splice.start, splice.end))
        utf8, spans = apply(old.utf8, splices)
        self._spans = [_shifted(span, splices) for span in self._spans]
        self._spans = _merged([*self._spans, *spans])
        self._source = _source_of(old, utf8)
        self._reading = read_file(self._before.place, self._source, with_comments=True)
        if self._reading.declaration is None or not self._reading.compiles:
            raise self._refusal("the file would no longer be Python")

    # style

    def _style(self, parent: Path) -> Style:
        """How new text beside or below a path is written."""
        module = self._reading.module
        as_dict = self._dict_style(parent)
        text = self._source.text

        def constructor(name: str) -> str | None:
            if as_dict or module is None:
                return None
            for local, spec_name in module.names.items():
                if spec_name == name:
                    return local
            if module.modules:
                return f"{module.modules[0]}.{name}"
            if name in module.bound or not spec_imports(self._source):
                return None
            self._to_import.append(name)
            return name

        self._to_import: list[str] = []
        return Style(
            quote="'" if text.count("'") > text.count('"') else '"',
            newline=self._source.newline,
            ascii_only=self._source.encoding not in ("utf-8", "utf-8-sig"),
            constructor=constructor,
        )

    def _dict_style(self, parent: Path) -> bool:
        node, _ = find_node(self._record, parent)
        target = inner(node) if node is not None else None
        if isinstance(target, ListNode):
            records = [each for each in map(inner, target.items) if isinstance(each, RecordNode)]
            if records:
                return all(each.callee is None for each in records)
            return self._dict_style(parent[:-1]) if parent else False
        if isinstance(target, RecordNode):
            return target.callee is None
        return self._dict_style(parent[:-1]) if parent else False

    def _import_missing(self) -> None:
        """Add to the file's import what was just written and is not imported yet."""
        for name in dict.fromkeys(self._to_import):
            site = spec_imports(self._source)[0]
            names = [text.split(" as ")[0].strip() for _, _, text in site.names]
            if name in names:
                continue
            index = len(names)
            if names == sorted(names, key=_import_order):
                index = sum(_import_order(each) < _import_order(name) for each in names)
            items = [(start, end) for start, end, _ in site.names]
            if site.open is not None and site.close is not None:
                bracket = Bracket(site.open, site.close, items)
                splices = self._rows().insertion(bracket, index, _utf8(name))
            elif index == len(items):
                splices = [Splice(items[-1][1], items[-1][1], _utf8(f", {name}"))]
            else:
                splices = [Splice(items[index][0], items[index][0], _utf8(f"{name}, "))]
            self._apply(splices)
        self._to_import = []

    # looking

    @property
    def _record(self) -> RecordNode:
        return self._declaration.record

    @property
    def _declaration(self) -> Declaration:
        declaration = self._reading.declaration
        assert declaration is not None
        return declaration

    def _rows(self) -> Rows:
        return Rows(self._source, comments_of(self._source))

    def _address(self, path: Path) -> str:
        return join(self._before.place.address, path)

    def _shape(self, path: Path) -> Shape | None:
        return shape_at(self._kind, path, self._reading.values)

    def _properties(self, path: Path, node: RecordNode) -> Mapping[str, Property]:
        if not path:
            return properties_of(self._kind)
        shape = self._shape(path)
        if shape is None or shape.kind == "mapping":
            return {}
        name = node.callee or record_name(shape, cast(dict[str, Any], plain(node)))
        return properties_of(name) if name is not None else {}


def shape_at(kind: Kind, path: Path, values: Mapping[str, Any]) -> Shape | None:
    """The shape that the spec gives to a place of a definition."""
    if not path:
        return None
    prop = properties_of(kind).get(str(path[0]))
    if prop is None:
        return None
    shape: Shape | None = prop.shape
    value: Any = values.get(str(path[0]))
    for step in path[1:]:
        if shape is None:
            return None
        shape = child_shape(shape, step, value if not isinstance(value, Code) else None)
        value = _child(value, step)
    return shape


def same(left: Any, right: Any) -> bool:
    """Equal in value and in type, all the way down (True is not 1)."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        left_map, right_map = cast(Mapping[Any, Any], left), cast(Mapping[Any, Any], right)
        return left_map.keys() == right_map.keys() and all(
            same(value, right_map[key]) for key, value in left_map.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        left_list, right_list = cast(list[Any], left), cast(list[Any], right)
        return len(left_list) == len(right_list) and all(
            same(mine, theirs) for mine, theirs in zip(left_list, right_list, strict=True)
        )
    return _is_same_atom(cast(object, left), cast(object, right))


def _is_same_atom(left: object, right: object) -> bool:
    return type(left) is type(right) and left == right


def _child(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        items = cast(list[Any], value) if isinstance(value, list) else []
        return items[step] if step < len(items) else None
    return cast(Mapping[str, Any], value).get(step) if isinstance(value, Mapping) else None


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list):
        return [_copy(item) for item in cast(list[Any], value)]
    return value


def _normal(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _normal(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in cast(Sequence[Any], value)]
    return value


def _key(value: Any) -> str:
    return repr(value)


def _holds_code(value: Any) -> bool:
    if isinstance(value, Code):
        return True
    if isinstance(value, Mapping):
        return any(map(_holds_code, cast(Mapping[str, Any], value).values()))
    return isinstance(value, list) and any(map(_holds_code, cast(list[Any], value)))


def _bracket(node: ListNode | RecordNode) -> Bracket:
    if isinstance(node, ListNode):
        items = [(item.start, item.end) for item in node.items]
        return Bracket(node.open, node.close, items, node.is_tuple)
    return Bracket(node.open, node.close, node.items)


def _place_for(node: RecordNode, key: str, order: Sequence[str]) -> int:
    """Where a new keyword goes: after the nearest earlier property in spec order."""
    if key not in order:
        return len(node.items)
    rank = order.index(key)
    best: Entry | None = None
    best_rank = -1
    positional = 0
    for entry in node.entries:
        positional += entry.positional
        if entry.key in order and best_rank < order.index(entry.key) < rank:
            best, best_rank = entry, order.index(entry.key)
    index = node.items.index((best.start, best.end)) + 1 if best is not None else 0
    return max(index, positional)


def _import_order(name: str) -> tuple[int, str]:
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1 if name[:1].isupper() else 2), name


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _newline_kinds(source: Source) -> set[str]:
    text = source.text
    kinds: set[str] = set()
    if "\r\n" in text:
        kinds.add("\r\n")
        text = text.replace("\r\n", "")
    if "\n" in text:
        kinds.add("\n")
    if "\r" in text:
        kinds.add("\r")
    return kinds


def _source_of(old: Source, utf8: bytes) -> Source:
    try:
        return Source(old.path, old.encode(utf8))
    except (UnicodeEncodeError, ProjectError) as error:
        raise EditRefused(
            f"{old.path} is {old.encoding} text and cannot hold the new value.",
            act="Save the file as UTF-8 first.",
            code="edit.encoding",
        ) from error


def _shifted(span: tuple[int, int], splices: Sequence[Splice]) -> tuple[int, int]:
    """Where a span of the old text stands after splices; what they cut off it is gone."""
    return _moved(span[0], splices, is_end=False), _moved(span[1], splices, is_end=True)


def _moved(at: int, splices: Sequence[Splice], *, is_end: bool) -> int:
    shift = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        is_insertion_there = splice.start == splice.end == at
        if splice.end <= at and not (is_end and is_insertion_there):
            shift += len(splice.new) - (splice.end - splice.start)
        elif splice.start < at:
            return splice.start + shift + (len(splice.new) if is_end else 0)
    return at + shift


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
