"""The rows of the welcome page, and the zone one may drop things on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.marks import paint_key_cap
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered


class StartRow(QPushButton):
    """One way to begin: icon, line, second line, keys."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        title: str,
        sub: str,
        keys: tuple[str, ...] = (),
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = icon
        self._sub = sub
        self._keys = keys
        self.setProperty("kit", True)
        self.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sub)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        FocusRing(theme, self, theme.size("radius.button"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(300, 52)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 52)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        if self.underMouse():
            box = QRectF(self.rect()).adjusted(0, 2, 0, -2)
            paint_box(painter, box, theme.size("radius.button"), fill=theme.color("surface.hover"))
        glyph = theme.pixmap(self._icon_name, "text.secondary", 20, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(0, 0, 20, self.height()), glyph)
        top = self.height() / 2 - 17
        painter.setFont(theme.font("body", weight=500))
        painter.setPen(theme.color("text.primary"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(32, top, self.width() - 32, 18), middle, self.text())
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.muted"))
        right = self._paint_keys(painter)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.muted"))
        room = right - 40
        shown = QFontMetrics(painter.font()).elidedText(
            self._sub, Qt.TextElideMode.ElideRight, int(room)
        )
        painter.drawText(QRectF(32, top + 18, room, 16), middle, shown)

    def _paint_keys(self, painter: QPainter) -> float:
        right = float(self.width())
        painter.setFont(self._theme.font("code_small"))
        for key in reversed(self._keys):
            width = max(18, painter.fontMetrics().horizontalAdvance(key) + 12)
            rect = QRectF(right - width, (self.height() - 18) / 2, width, 18)
            paint_key_cap(painter, self._theme, rect, key)
            right -= width + 4
        return right


class RecentRow(QPushButton):
    """A project that was open: name, path, how much is in it, when."""

    def __init__(
        self,
        theme: Theme,
        path: Path,
        content: str,
        when: str,
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.path = path
        self._content = content
        self._when = when
        self.setProperty("kit", True)
        self.setText(path.name)
        self.setToolTip(str(path))
        self.setAccessibleName(f"Open {path}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        FocusRing(theme, self, 2)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(300, 48)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 48)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        width = float(self.width())
        if self.underMouse():
            painter.fillRect(self.rect(), theme.color("surface.hover"))
        painter.fillRect(QRectF(0, 0, width, 1), theme.color("line.default"))
        glyph = theme.pixmap("folder", "text.secondary", 16, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(0, 0, 16, self.height()), glyph)
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        left = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font("small", tabular=True))
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(QRectF(0, 7, width, 17), right, self._content)
        painter.setPen(theme.color("text.muted"))
        painter.drawText(QRectF(0, 24, width, 16), right, self._when)
        painter.setFont(theme.font("body", weight=500))
        painter.setPen(theme.color("text.primary"))
        room = width - 28 - 160
        self._draw_elided(painter, QRectF(28, 7, room, 17), self.text(), left)
        painter.setFont(theme.font("code_small"))
        painter.setPen(theme.color("text.muted"))
        self._draw_elided(painter, QRectF(28, 24, room, 16), _short(self.path), left)

    def _draw_elided(
        self, painter: QPainter, rect: QRectF, text: str, flags: Qt.AlignmentFlag
    ) -> None:
        mode = Qt.TextElideMode.ElideMiddle
        shown = painter.fontMetrics().elidedText(text, mode, int(rect.width()))
        painter.drawText(rect, flags, shown)


class DropZone(QWidget):
    """Takes a project folder or a thread file.

    Signals:
        path_dropped: a pathlib.Path.
    """

    path_dropped = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_hot = False
        self.setFixedHeight(56)
        self.setAcceptDrops(True)
        self.setAccessibleName("Drop a project folder or a thread.db here")
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        pen = QPen(theme.color("accent.base" if self._is_hot else "line.field"), 1)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(theme.color("accent.tint") if self._is_hot else Qt.BrushStyle.NoBrush)
        radius = theme.size("radius.card")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        token = "accent.on_tint" if self._is_hot else "text.secondary"
        text = "Drop a project folder or a thread.db here"
        painter.setFont(theme.font("body"))
        width = painter.fontMetrics().horizontalAdvance(text) + 26
        x = (self.width() - width) / 2
        glyph = theme.pixmap("import", token, 16, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(x, 0, 16, self.height()), glyph)
        painter.setPen(theme.color(token))
        box = QRectF(x + 26, 0, width, self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_path(event.mimeData()) is not None:
            self._is_hot = True
            self.update()
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._is_hot = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._is_hot = False
        self.update()
        path = dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.path_dropped.emit(path)


def dropped_path(mime: QMimeData) -> Path | None:
    """The folder or database in what is dragged; None when it is neither."""
    for url in mime.urls():
        path = Path(url.toLocalFile())
        if url.isLocalFile() and (path.is_dir() or path.suffix == ".db"):
            return path
    return None


def _short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
