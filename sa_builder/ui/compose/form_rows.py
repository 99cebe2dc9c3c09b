"""The rows of the inspector's form: a dot, a label, and a field for each kind of value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QIntValidator, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.shapes import Code, FieldValue
from sa_builder.ui.compose.deed_menu import Deed, open_menu
from sa_builder.ui.compose.words import KIND_OF_FOLDER, words_of
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, Segments, Toggle
from sa_builder.ui.widgets.marks import Chip, ElidedLabel, TextLabel

_ON_WORDS: Final = {
    "blocking": ("parent waits", "parent goes on"),
    "primary": ("primary", "not in lists"),
    "expose_as_tool": ("exposed", "not exposed"),
    "immediate": ("starts with the thread", ""),
}
_READ_ONLY: Final = frozenset({"name"})
_LISTS: Final = ("names", "records")
_MOST_SEGMENT_LETTERS: Final = 22


class FormRow(QWidget):
    """One property.

    Signals:
        set_wanted: object; the new value of the property, None takes it out of the file.
        address_chosen: str; an address that is to be shown.
    """

    set_wanted = Signal(object)
    address_chosen = Signal(str)

    def __init__(self, theme: Theme, field: FieldValue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.field = field
        self.setToolTip(field.help)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 3, 12, 3)
        outer.setSpacing(2)
        row = QHBoxLayout()
        row.setSpacing(0)
        dot = QWidget(self)
        dot.setFixedSize(12, theme.size("field"))
        written_dot(theme, field.written, parent=dot).move(0, 12)
        row.addWidget(dot, 0, Qt.AlignmentFlag.AlignTop)
        label = ElidedLabel(theme, field.label, "label", "text.secondary", parent=self)
        label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        label.setFixedSize(theme.size("form_label") - 4, theme.size("field"))
        row.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        row.addSpacing(4)
        self.editor = self._editor()
        self.editor.setAccessibleName(field.label)
        self.editor.setAccessibleDescription(field.help)
        row.addWidget(self.editor, 1)
        self._coming = TextLabel(theme, "", "body", "accent.on_tint", parent=self)
        self._coming.setObjectName("coming_value")
        self._coming.setFixedHeight(theme.size("field"))
        self._coming.hide()
        row.addWidget(self._coming, 1, Qt.AlignmentFlag.AlignTop)
        outer.addLayout(row)
        if field.problem:
            words = TextLabel(
                theme, field.problem, "small", "state.failed_text", wrap=True, parent=self
            )
            words.setContentsMargins(theme.size("form_label") + 12, 0, 0, 2)
            outer.addWidget(words)

    def show_coming(self, value: str | None) -> None:
        """Show a value that a drop would write in place of the field; None shows the field."""
        if value is not None:
            self._coming.setText(f"+  {value}" if self.field.type in _LISTS else value)
        self.editor.setVisible(value is None)
        self._coming.setVisible(value is not None)

    def _editor(self) -> QWidget:
        field, value = self.field, self.field.value
        if isinstance(value, Code):
            return self._code(value.text, value.reason)
        if field.name in _READ_ONLY:
            return self._read_only(words_of(value), self.tr("The name is the file's name."))
        match field.type:
            case "bool":
                return self._toggle()
            case "choice":
                short = sum(len(one) for one in field.choices) <= _MOST_SEGMENT_LETTERS
                return self._segments() if len(field.choices) <= 3 and short else self._combo()
            case "name":
                return self._combo()
            case "int":
                return self._line(QIntValidator(0, 1_000_000))
            case "text":
                return self._line(None)
            case "long_text":
                return self._long()
            case "names":
                return self._names()
            case "records" if field.name == "subagents":
                return self._subagents()
            case _:
                return self._read_only(words_of(value), "") if value else self._none()

    def _toggle(self) -> QWidget:
        field = self.field
        is_on = bool(value_or_default(field))
        toggle = Toggle(self._theme)
        toggle.setChecked(is_on)
        toggle.setAccessibleName(field.label)
        toggle.clicked.connect(lambda: self._set(toggle.isChecked()))
        holder = QWidget()
        holder.setFixedHeight(self._theme.size("field"))
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(toggle)
        on, off = _ON_WORDS.get(field.name, ("", ""))
        row.addWidget(TextLabel(self._theme, on if is_on else off, "small", "text.secondary"), 1)
        return holder

    def _segments(self) -> QWidget:
        field = self.field
        shown = str(value_or_default(field))
        segments = Segments(
            self._theme, [(one, one) for one in field.choices], value=shown, name=field.label
        )
        segments.value_chosen.connect(self._set)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 2, 0, 2)
        row.addWidget(segments)
        row.addStretch(1)
        return holder

    def _line(self, validator: QIntValidator | None) -> QLineEdit:
        field = self.field
        line = QLineEdit()
        if validator is not None:
            validator.setParent(line)
            line.setValidator(validator)
        line.setText("" if field.value is None else str(field.value))
        line.setCursorPosition(0)
        line.setPlaceholderText(field.placeholder or words_of(field.default))
        if field.problem:
            line.setProperty("state", "error")
        is_number = validator is not None

        def apply() -> None:
            text = line.text()
            self._set((int(text) if is_number else text) if text else None)

        line.editingFinished.connect(apply)
        return line

    def _long(self) -> QPlainTextEdit:
        field = self.field
        box = _LongText()
        box.setObjectName("form_text")
        box.setPlainText("" if field.value is None else str(field.value))
        box.setPlaceholderText(field.placeholder)
        text = box.toPlainText()
        height = 46 if len(text) < 60 else 82 if len(text) < 160 else 160
        box.setFixedHeight(height)
        box.setFont(self._theme.font("small"))
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.left.connect(lambda: self._set(box.toPlainText() or None))
        return box

    def _combo(self) -> QComboBox:
        field, theme = self.field, self._theme
        combo = _Combo()
        combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if not field.required:
            combo.addItem(field.placeholder or words_of(field.default) or self.tr("none"), None)
        choices = list(field.choices)
        if field.value is not None and field.value not in choices:
            choices.insert(0, str(field.value))
        for choice in choices:
            kind = _kind_of(field.name, choice)
            if kind is None:
                combo.addItem(choice, choice)
            else:
                icon = theme.icon(kind_icon(kind), kind_token(kind))
                combo.addItem(icon, choice.split("/", 1)[-1], choice)
        combo.setCurrentIndex(max(0, combo.findData(field.value)))
        if field.problem:
            combo.setProperty("state", "error")
        combo.activated.connect(lambda: self._set(combo.currentData()))
        return combo

    def _names(self) -> QWidget:
        field = self.field
        names = [str(one) for one in field.value or () if isinstance(one, str)]
        holder, column = _column()
        if len(names) != len(field.value or ()):
            return self._code(words_of(field.value), "")
        for place, name in enumerate(names):
            chip = Chip(self._theme, name, removable=True, parent=holder)
            chip.removed.connect(self._without(names, place))
            chip.clicked.connect(self._opener(f"{field.address}[{place}]"))
            column.addWidget(chip, 0, Qt.AlignmentFlag.AlignLeft)
        rest = [one for one in field.choices if one not in names]
        if field.choices and not rest:
            return holder if names else self._none()
        add = Button(self._theme, self.tr("Add a name"), "quiet", icon="plus", small=True)
        if field.choices:
            add.clicked.connect(lambda: self._offer(add, names, rest))
            column.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            line = QLineEdit()
            line.setPlaceholderText(self.tr("Add a name"))
            line.returnPressed.connect(
                lambda: self._set([*names, line.text()]) if line.text() else None
            )
            column.addWidget(line)
        return holder

    def _subagents(self) -> QWidget:
        field = self.field
        entries: list[object] = list(field.value or ())
        if not entries:
            return self._none()
        holder, column = _column()
        for place, entry in enumerate(entries):
            is_read = isinstance(entry, dict)
            name = words_of(cast("dict[str, object]", entry).get("agent") if is_read else entry)
            link = Button(self._theme, name, "quiet", icon="subagent", small=True)
            link.clicked.connect(self._opener(f"{field.address}[{place}]"))
            column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        return holder

    def _code(self, text: str, reason: str) -> QLineEdit:
        line = self._read_only(text, reason and self.tr("Computed: {0}.").format(reason))
        line.setFont(self._theme.font("code"))
        line.addAction(
            self._theme.icon("code", "text.muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        return line

    def _read_only(self, text: str, reason: str) -> QLineEdit:
        line = QLineEdit(text)
        line.setReadOnly(True)
        line.setCursorPosition(0)
        line.setToolTip(f"{text}\n{reason}".strip())
        return line

    def _none(self) -> QWidget:
        words = TextLabel(self._theme, self.tr("none"), "body", "text.muted")
        words.setFixedHeight(self._theme.size("field"))
        words.setContentsMargins(9, 0, 0, 0)
        return words

    def _set(self, value: object) -> None:
        field = self.field
        shown = value_or_default(field)
        if value == field.value or (value == shown and not field.written):
            return
        self.set_wanted.emit(None if value == field.default else value)

    def _without(self, names: list[str], place: int) -> Callable[[], None]:
        return lambda: self._set([one for at, one in enumerate(names) if at != place])

    def _opener(self, address: str) -> Callable[[], None]:
        return lambda: self.address_chosen.emit(address)

    def _offer(self, at: QWidget, names: list[str], choices: list[str]) -> None:
        deeds = [Deed(words=one, act=partial(self._set, [*names, one])) for one in choices]
        open_menu(self._theme, deeds, at.mapToGlobal(at.rect().bottomLeft()), self)


class _Combo(QComboBox):
    """A combo box that the wheel scrolls past."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, e: QWheelEvent) -> None:
        e.ignore()


class _LongText(QPlainTextEdit):
    """Several lines; what was typed counts when the focus leaves."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self._before: str | None = None

    def focusInEvent(self, e: QFocusEvent) -> None:
        super().focusInEvent(e)
        self._before = self.toPlainText()

    @Slot()
    def focusOutEvent(self, e: QFocusEvent) -> None:
        super().focusOutEvent(e)
        if self._before is not None and self.toPlainText() != self._before:
            self._before = None
            self.left.emit()


def written_dot(theme: Theme, is_written: bool, parent: QWidget | None = None) -> QFrame:
    """The mark of a value that stands in the file; without one an equal space."""
    dot = QFrame(parent)
    dot.setFixedSize(5, 5)
    if is_written:
        dot.setStyleSheet(f"background: {theme.color('accent.base').name()}; border-radius: 2px;")
        dot.setAccessibleName("written in the file")
    return dot


def _column() -> tuple[QWidget, QVBoxLayout]:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 2, 0, 2)
    column.setSpacing(4)
    return holder, column


def _kind_of(name: str, choice: str) -> str | None:
    if choice == "human":
        return "human"
    folder, has_folder, _ = choice.partition("/")
    if has_folder:
        return KIND_OF_FOLDER.get(folder)
    return {"agent": "agent", "model": "model", "stop_tool": "tool"}.get(name)


def value_or_default(field: FieldValue) -> Any:
    """What counts: the value in the file, else the default."""
    return field.default if field.value is None else field.value
