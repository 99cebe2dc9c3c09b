"""The inspector: a form made from the properties of what is selected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, FieldValue
from sa_builder.ui.compose.deed_menu import Deed, open_menu
from sa_builder.ui.compose.form_rows import FormRow, value_or_default, written_dot
from sa_builder.ui.compose.words import definition_of, kind_of, side_letter
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import EmptyState, SectionHeader
from sa_builder.ui.widgets.buttons import Button, IconButton
from sa_builder.ui.widgets.marks import ElidedLabel, Separator, SideDisc, TextLabel, Tile


class FormPanel(QWidget):
    """The form of one definition or relationship.

    Signals:
        edit_wanted: (str title, object callable that makes the Edit).
        address_chosen: str; another address is to be shown.
        agent_opened: str; the composition of this agent is to be shown.
        remove_wanted: str; the relationship at this address is to go.
    """

    edit_wanted = Signal(str, object)
    address_chosen = Signal(str)
    agent_opened = Signal(str)
    remove_wanted = Signal(str)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._address: str | None = None
        self._shown: list[FieldValue] | None = None
        self._folded: set[str] = {"Package"}
        self.setMinimumWidth(280)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._top = QVBoxLayout()
        self._bottom = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._top)
        column.addWidget(self._area, 1)
        column.addLayout(self._bottom)
        self.rows: list[FormRow] = []
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
        """Show what the file says now, at the same place of the form."""
        if self._fields() == self._shown:
            return
        place = self._area.verticalScrollBar().value()
        focused = self._focused_row()
        self._build()
        if focused is not None:
            self._focus_row(*focused)
        self._area.verticalScrollBar().setValue(place)

    def rebuild(self) -> None:
        """Show the file's values again: what was typed could not be written."""
        self._build()

    def show_coming(self, coming: tuple[str, str, str] | None) -> None:
        """Show in its row the value that a drop would write.

        Args:
            coming: property, group and value; None shows what the file says.
        """
        for row in self.rows:
            is_meant = coming is not None and (row.field.name, row.field.group) == coming[:2]
            row.show_coming(coming[2] if coming is not None and is_meant else None)

    def row(self, name: str, group: str | None = None) -> FormRow | None:
        """The row of a property, of a group where several have that name."""
        for row in self.rows:
            if row.field.name == name and group in (None, row.field.group):
                return row
        return None

    def _focused_row(self) -> tuple[str, str] | None:
        focus = self.focusWidget()
        for row in self.rows:
            if focus and focus.hasFocus() and row.isAncestorOf(focus):
                return row.field.name, row.field.group
        return None

    def _focus_row(self, name: str, group: str) -> None:
        row = self.row(name, group)
        if row is None:
            return
        wanted = [row.editor, *row.editor.findChildren(QWidget)]
        for widget in wanted:
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
                widget.setFocus(Qt.FocusReason.OtherFocusReason)
                return

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
        self.rows = []
        _empty(self._top)
        _empty(self._bottom)
        body = QWidget()
        body.setObjectName("panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 12)
        column.setSpacing(0)
        if self._address is None or not fields:
            column.addWidget(
                EmptyState(
                    self._theme,
                    "compose",
                    self.tr("Nothing selected"),
                    self.tr("Click a card or a connection, and its form is here."),
                )
            )
        else:
            self._top.addWidget(self._head(self._address))
            self._top.addWidget(Separator(self._theme))
            self._bottom.addWidget(Separator(self._theme))
            self._bottom.addWidget(self._foot(self._address))
            self._fill(column, fields)
            column.addStretch(1)
        old = cast("QWidget | None", self._area.takeWidget())
        if old is not None:
            old.deleteLater()  # not at once, as setWidget would: a signal of its may be on the way
        self._area.setWidget(body)

    def _fill(self, column: QVBoxLayout, fields: list[FieldValue]) -> None:
        groups: dict[str, list[FieldValue]] = {}
        for field in fields:
            groups.setdefault(field.group, []).append(field)
        for place, (group, members) in enumerate(groups.items()):
            if place:
                column.addWidget(Separator(self._theme))
            holder = QWidget()
            inner = QVBoxLayout(holder)
            inner.setContentsMargins(0, 0, 0, 8)
            inner.setSpacing(0)
            for field in members:
                if not _is_hidden(field, members):
                    inner.addWidget(self._row(field))
            column.addWidget(self._group_head(group, holder))
            column.addWidget(holder)
            holder.setVisible(group not in self._folded)

    def _group_head(self, group: str, holder: QWidget) -> QWidget:
        header = SectionHeader(self._theme, group, folds=True)
        header.set_open(group not in self._folded)

        def fold(is_open: bool) -> None:
            holder.setVisible(is_open)
            if is_open:
                self._folded.discard(group)
            else:
                self._folded.add(group)

        header.open_changed.connect(fold)
        if not group.startswith("Side "):
            return header
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 12, 0)
        row.setSpacing(0)
        row.addWidget(header, 1)
        row.addWidget(SideDisc(self._theme, group[-1]))
        return whole

    def _row(self, field: FieldValue) -> FormRow:
        row = FormRow(self._theme, field)
        # Later, when the focus has gone where it goes: the edit makes the rows anew.
        row.set_wanted.connect(self._setter(field), Qt.ConnectionType.QueuedConnection)
        row.address_chosen.connect(self.address_chosen)
        self.rows.append(row)
        return row

    def _setter(self, field: FieldValue) -> Callable[[object], None]:
        def want(value: object) -> None:
            def make() -> Edit:
                if value is None:
                    return self._project.unset(field.address)
                return self._project.set(field.address, value)

            self.edit_wanted.emit(field.label, make)

        return want

    def _head(self, address: str) -> QWidget:
        theme = self._theme
        head = QWidget()
        head.setFixedHeight(60)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(10)
        row.addWidget(Tile(theme, kind_of(address)))
        name = definition_of(address).split("/", 1)[-1]
        suffix = ""
        if ".subagents[" in address:
            name = self._child_of(address)
            suffix = self.tr("as subagent")
        words = QVBoxLayout()
        words.setSpacing(0)
        title = QHBoxLayout()
        title.setSpacing(5)
        title.addWidget(TextLabel(theme, name, "strong"))
        title.addWidget(ElidedLabel(theme, suffix, "body", "text.secondary"), 1)
        words.addStretch(1)
        words.addLayout(title)
        words.addWidget(ElidedLabel(theme, address, "code_small", "text.muted"))
        words.addStretch(1)
        row.addLayout(words, 1)
        more = IconButton(theme, "more", self.tr("More"))
        more.clicked.connect(lambda: self._offer_more(more, address))
        row.addWidget(more)
        return head

    def _foot(self, address: str) -> QWidget:
        theme = self._theme
        foot = QWidget()
        foot.setFixedHeight(40)
        row = QHBoxLayout(foot)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(7)
        row.addWidget(written_dot(theme, is_written=True))
        row.addWidget(TextLabel(theme, self.tr("written in the file"), "small", "text.secondary"))
        row.addStretch(1)
        if ".subagents[" in address:
            open_child = Button(theme, self.tr("Open agent"), small=True)
            open_child.clicked.connect(lambda: self.agent_opened.emit(self._child_of(address)))
            remove = Button(theme, self.tr("Remove"), "danger", small=True)
            remove.clicked.connect(lambda: self.remove_wanted.emit(address))
            row.addWidget(open_child)
            row.addWidget(remove)
        elif address.startswith("agents/") and not side_letter(address):
            name = address.removeprefix("agents/")
            compose = Button(theme, self.tr("Show composition"), small=True)
            compose.clicked.connect(lambda: self.agent_opened.emit(name))
            row.addWidget(compose)
        return foot

    def _child_of(self, address: str) -> str:
        for field in self._shown or ():
            if field.name == "agent":
                return str(value_or_default(field))
        return address

    def _offer_more(self, at: QWidget, address: str) -> None:
        deeds = [
            Deed(
                icon="code",
                words=self.tr("Show in source"),
                act=partial(self.address_chosen.emit, address),
            ),
            Deed(
                icon="copy",
                words=self.tr("Copy address"),
                act=partial(QGuiApplication.clipboard().setText, address),
            ),
        ]
        open_menu(self._theme, deeds, at.mapToGlobal(QPoint(0, at.height())), self)


def _is_hidden(field: FieldValue, group: list[FieldValue]) -> bool:
    """A property that has no meaning while another is not set, and is not written."""
    needs = {"stop_tool_response_property": "stop_tool"}.get(field.name)
    if needs is None or field.written or field.problem:
        return False
    return not any(one.name == needs and value_or_default(one) for one in group)


def _empty(layout: QVBoxLayout) -> None:
    while item := layout.takeAt(0):
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()
