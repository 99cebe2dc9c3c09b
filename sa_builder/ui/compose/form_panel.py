"""The inspector: a form made from the properties of what is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QIntValidator
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Code, Edit, FieldValue
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Toggle
from sa_builder.ui.widgets.marks import ElidedLabel, Separator, TextLabel, Tile

_KINDS = {"agents": "agent", "prompts": "prompt", "models": "model", "tools": "tool"}


class _LongText(QPlainTextEdit):
    """Several lines; what was typed counts when the focus leaves."""

    left = Signal()

    def focusOutEvent(self, e: QFocusEvent) -> None:
        super().focusOutEvent(e)
        self.left.emit()


class FormPanel(QWidget):
    """The form of one definition or relationship.

    Signals:
        edit_wanted: (str title, object callable that makes the Edit).
        address_chosen: str; another address is to be shown.
    """

    edit_wanted = Signal(str, object)
    address_chosen = Signal(str)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._address: str | None = None
        self._shown: list[FieldValue] | None = None
        self.setMinimumWidth(280)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._area)
        self._build()
        theme.changed.connect(self._build)

    def show_address(self, address: str | None) -> None:
        """Show the form of an address; None says that nothing is selected."""
        if address != self._address:
            self._address = address
            self._build()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        if self._fields() != self._shown:
            self._build()

    def _fields(self) -> list[FieldValue]:
        if self._address is None:
            return []
        try:
            return list(self._project.fields(self._address))
        except KnownError:
            return []

    @Slot()
    def _build(self) -> None:
        fields = self._fields()
        self._shown = fields
        body = QWidget()
        body.setObjectName("panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 12)
        column.setSpacing(0)
        if self._address is None or not fields:
            column.addSpacing(24)
            words = TextLabel(
                self._theme, self.tr("Select a card to see its form."), "body", "text.muted"
            )
            words.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(words)
        else:
            column.addWidget(self._head(self._address))
            group = ""
            for field in fields:
                if field.group != group:
                    group = field.group
                    column.addWidget(Separator(self._theme))
                    title = TextLabel(self._theme, group, "strong")
                    title.setContentsMargins(14, 10, 14, 4)
                    column.addWidget(title)
                column.addWidget(self._row(field))
        column.addStretch(1)
        self._area.setWidget(body)

    def _head(self, address: str) -> QWidget:
        head = QWidget()
        head.setFixedHeight(60)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(10)
        is_relation = ".subagents[" in address
        folder = address.split("/", 1)[0]
        kind = "subagent" if is_relation else _KINDS.get(folder, folder.rstrip("s"))
        row.addWidget(Tile(self._theme, kind))
        words = QVBoxLayout()
        words.setSpacing(0)
        name = address.split("/", 1)[-1].split(".", 1)[0]
        if is_relation:
            name = self.tr("Subagent of {0}").format(name)
        words.addStretch(1)
        words.addWidget(ElidedLabel(self._theme, name, "heading"))
        words.addWidget(ElidedLabel(self._theme, address, "code_small", "text.muted"))
        words.addStretch(1)
        row.addLayout(words, 1)
        return head

    def _row(self, field: FieldValue) -> QWidget:
        whole = QWidget()
        whole.setToolTip(field.help)
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(14, 3, 12, 3)
        outer.setSpacing(2)
        row = QHBoxLayout()
        row.setSpacing(8)
        dot = QFrame()
        dot.setFixedSize(5, 5)
        if field.written:
            colour = self._theme.color("accent.base").name()
            dot.setStyleSheet(f"background: {colour}; border-radius: 2px;")
            dot.setAccessibleName(self.tr("written in the file"))
        label = ElidedLabel(self._theme, field.label, "label", "text.secondary")
        label.setFixedWidth(self._theme.size("form_label"))
        row.addWidget(dot, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(label)
        editor = self._editor(field)
        editor.setAccessibleName(field.label)
        row.addWidget(editor, 1)
        outer.addLayout(row)
        if field.problem:
            outer.addWidget(
                TextLabel(self._theme, field.problem, "small", "state.failed_text", wrap=True)
            )
        return whole

    def _editor(self, field: FieldValue) -> QWidget:
        value = field.value
        if isinstance(value, Code):
            return self._read_only(value.text)
        match field.type:
            case "bool":
                toggle = Toggle(self._theme)
                toggle.setChecked(bool(field.default if value is None else value))
                toggle.clicked.connect(self._setter(field, toggle.isChecked))
                holder = QWidget()
                row = QHBoxLayout(holder)
                row.setContentsMargins(0, 0, 0, 0)
                row.addWidget(toggle)
                row.addStretch(1)
                return holder
            case "choice" | "name":
                return self._combo(field)
            case "int":
                line = self._line(field)
                line.setValidator(QIntValidator(0, 1_000_000, line))
                return line
            case "text":
                return self._line(field)
            case "long_text":
                return self._long(field)
            case _:
                return self._read_only(_words(value))

    def _line(self, field: FieldValue) -> QLineEdit:
        line = QLineEdit()
        line.setText("" if field.value is None else str(field.value))
        line.setPlaceholderText(field.placeholder or _words(field.default))
        if field.problem:
            line.setProperty("state", "error")

        def read() -> Any:
            text = line.text()
            if field.type == "int":
                return int(text) if text else None
            return text or None

        line.editingFinished.connect(self._setter(field, read))
        return line

    def _long(self, field: FieldValue) -> QPlainTextEdit:
        box = _LongText()
        box.setPlainText("" if field.value is None else str(field.value))
        box.setPlaceholderText(field.placeholder)
        box.setFixedHeight(120 if len(box.toPlainText()) > 80 else 52)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        box.left.connect(self._setter(field, lambda: box.toPlainText() or None))
        return box

    def _combo(self, field: FieldValue) -> QComboBox:
        combo = QComboBox()
        choices = list(field.choices)
        shown = field.default if field.value is None else field.value
        if not field.required:
            combo.addItem(field.placeholder or _words(field.default) or self.tr("none"), None)
        if shown is not None and shown not in choices and field.value is not None:
            choices.insert(0, str(shown))
        for choice in choices:
            combo.addItem(choice.split("/", 1)[-1], choice)
        found = combo.findData(field.value)
        combo.setCurrentIndex(max(0, found))
        combo.activated.connect(self._setter(field, combo.currentData))
        return combo

    def _read_only(self, text: str) -> QLineEdit:
        line = QLineEdit(text)
        line.setReadOnly(True)
        line.setFont(self._theme.font("code"))
        line.setCursorPosition(0)
        line.setToolTip(text)
        return line

    def _setter(self, field: FieldValue, read: Callable[[], Any]) -> Callable[..., None]:
        def apply(*_: object) -> None:
            value = read()
            before = field.default if field.value is None else field.value
            if value == field.value or (value == before and not field.written):
                return

            def make() -> Edit:
                if value is None or (value == field.default and field.written):
                    return self._project.unset(field.address)
                return self._project.set(field.address, value)

            self.edit_wanted.emit(field.label, make)

        return apply


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Code):
        return value.text
    if isinstance(value, (list, tuple)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return ", ".join(_words(item) for item in items)
    return str(value)
