"""Where a message is written: Enter sends, but never what an input method is still making."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered

_LEAST_LINES = 2
_MOST_LINES = 10
_LINE_PX = 20

BarTone = Literal["parked", "failed"]


class MessageField(QPlainTextEdit):
    """The text itself.

    Signals:
        send_wished: Enter, while no input method composes.
        focus_changed: it got or lost the keyboard.
    """

    send_wished = Signal()
    focus_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._preedit = ""
        self.setObjectName("message_field")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setFont(theme.font("body"))
        self.setTabChangesFocus(True)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: 0; padding: 0; }")
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    @property
    def is_composing(self) -> bool:
        """Whether an input method holds text that is not committed."""
        return bool(self._preedit)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._preedit = event.preeditString()
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self._preedit:
            event.accept()
            return
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send_wished.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class SendButton(Button):
    """The accent square with an arrow."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "primary", icon="send", parent=parent)
        self._send_theme = theme
        self.setObjectName("send")
        self.setAccessibleName(tr("Send"))
        self.setToolTip(tr("Send (Enter)"))
        self.setFixedSize(28, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._send_theme
        painter = QPainter(self)
        if not self.isEnabled():
            fill, token = theme.color("surface.field_readonly"), "text.disabled"
        else:
            name = "pressed" if self.isDown() else "hover" if self.underMouse() else "base"
            fill, token = theme.color(f"accent.{name}"), "text.on_accent"
        paint_box(painter, QRectF(self.rect()), 6, fill=fill)
        glyph = theme.pixmap("send", token, 16, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(self.rect()), glyph)


class _StateBar(QWidget):
    """A line above the field that says what the thread waits for, with one act."""

    act_wished = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.tone: BarTone = "parked"
        self.setFixedHeight(34)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 11, 0)
        row.setSpacing(7)
        self._glyph = Glyph(theme, "state_parked", "state.parked", size_px=14, parent=self)
        self.label = ElidedLabel(theme, "", "small", "state.parked_text", parent=self)
        self.button = Button(theme, "", "secondary", small=True, parent=self)
        self.button.setObjectName("continue")
        self.button.clicked.connect(self.act_wished)
        row.addWidget(self._glyph)
        row.addWidget(self.label, 1)
        row.addWidget(self.button)

    def say(self, tone: BarTone, sentence: str, act: str) -> None:
        self.tone = tone
        self._glyph.set_icon(f"state_{tone}", f"state.{tone}")
        self.label.set_token(f"state.{tone}_text")
        self.label.setText(sentence)
        self.button.setVisible(bool(act))
        self.button.setText(act)
        self.button.updateGeometry()
        self.setAccessibleName(sentence)


class Composer(QWidget):
    """Field, hint, Stop and Send in one outlined box, with a bar above when the thread waits.

    Signals:
        send_wished: the text, str.
        stop_wished: the running turn shall end.
        continue_wished: run the side again without a message.
    """

    send_wished = Signal(str)
    stop_wished = Signal()
    continue_wished = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._locked = False
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self.bar = _StateBar(theme, self)
        self.bar.hide()
        self.bar.act_wished.connect(self.continue_wished)
        column.addWidget(self.bar)
        self.field = MessageField(theme, self)
        self.field.send_wished.connect(self._on_field_send_wished)
        self.field.focus_changed.connect(self.update)
        self.field.textChanged.connect(self._on_field_text_changed)
        holder = QVBoxLayout()
        holder.setContentsMargins(12, 10, 10, 0)
        holder.addWidget(self.field)
        column.addLayout(holder)
        column.addLayout(self._make_foot())
        self._grow()
        self._on_field_text_changed()
        theme.changed.connect(self.update)

    def _make_foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 6, 5)
        row.setSpacing(8)
        hint = tr("Enter sends · Shift+Enter new line")
        self.hint = ElidedLabel(self._theme, hint, "caption", "text.muted", parent=self)
        row.addWidget(self.hint, 1)
        self.stop = Button(self._theme, tr("Stop"), "quiet", icon="stop", parent=self)
        self.stop.setObjectName("stop")
        self.stop.clicked.connect(self.stop_wished)
        self.stop.hide()
        row.addWidget(self.stop)
        self.send = SendButton(self._theme, self)
        self.send.clicked.connect(self._on_field_send_wished)
        row.addWidget(self.send)
        return row

    # what the chat calls

    def set_prompt(self, placeholder: str) -> None:
        """What the empty field says."""
        self.field.setPlaceholderText(placeholder)
        self.field.setAccessibleName(placeholder)

    def set_locked(self, reason: str | None) -> None:
        """Refuse writing and say why; None allows it."""
        self._locked = reason is not None
        self.field.setReadOnly(self._locked)
        self.field.setEnabled(not self._locked)
        if reason is not None:
            self.set_prompt(reason)
        self.hint.setVisible(not self._locked)
        self.send.setVisible(not self._locked)
        self._on_field_text_changed()
        self.update()

    def set_running(self, running: bool) -> None:
        """Show Stop while a turn runs."""
        self.stop.setVisible(running)

    def set_bar(self, tone: BarTone | None, sentence: str = "", act: str = "") -> None:
        """Say above the field what the thread waits for; None says nothing."""
        self.bar.setVisible(tone is not None)
        if tone is not None:
            self.bar.say(tone, sentence, act)
        self.update()

    @property
    def text(self) -> str:
        """What is written."""
        return self.field.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a kept draft in."""
        self.field.setPlainText(text)
        cursor = self.field.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.field.setTextCursor(cursor)

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._locked:
            self.field.setFocus()

    def sizeHint(self) -> QSize:
        return QSize(440, super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        focused = self.field.hasFocus()
        fill = color("surface.field_readonly" if self._locked else "surface.field")
        outline = color("line.default" if self._locked else "line.field")
        whole = QRectF(self.rect())
        if focused:
            outline = color("accent.focus")
        if self.bar.isVisible():
            tone = self.bar.tone
            top = QRectF(0, 0, self.width(), 60)
            paint_box(
                painter, top, 6, fill=color(f"state.{tone}_tint"), outline=color(f"state.{tone}")
            )
            body = whole.adjusted(0, 34, 0, 0)
            painter.save()
            painter.setClipRect(body)
            tall = body.adjusted(0, -12, 0, 0)
            width = 2.0 if focused else 1.0
            paint_box(painter, tall, 6, fill=fill, outline=outline, width_px=width)
            painter.restore()
            line = QRect(1, 34, self.width() - 2, 1)
            painter.fillRect(line, color(f"state.{tone}"))
            return
        paint_box(painter, whole, 6, fill=fill, outline=outline, width_px=2.0 if focused else 1.0)

    def _grow(self) -> None:
        document = self.field.document()
        lines = 0
        block = document.begin()
        while block.isValid() and lines < _MOST_LINES:
            lines += max(1, block.layout().lineCount())
            block = block.next()
        lines = min(_MOST_LINES, max(_LEAST_LINES, lines))
        self.field.setFixedHeight(lines * _LINE_PX)

    @Slot()
    def _on_field_text_changed(self) -> None:
        self._grow()
        self.send.setEnabled(bool(self.text.strip()) and not self._locked)

    @Slot()
    def _on_field_send_wished(self) -> None:
        text = self.text.strip()
        if text and not self._locked:
            self.send_wished.emit(text)
