"""What floats over the canvas: zoom control, minimap, and what a drag says."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sa_builder.project.card_look import kind_token
from sa_builder.project.shapes import GraphNode
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import IconButton
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, KeyCap, Separator, SideDisc, TextLabel
from sa_builder.ui.widgets.paint import paint_box


class _Floating(QWidget):
    """A small panel over the canvas, with the outline and shadow of a card."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = QRectF(self.rect()).adjusted(0, 0, 0, -2)
        radius = self._theme.size("radius.card")
        paint_box(painter, rect.translated(0, 2), radius, fill=self._theme.color("line.shadow"))
        paint_box(
            painter,
            rect,
            radius,
            fill=self._theme.color("surface.card"),
            outline=self._theme.color("line.card"),
        )


class ZoomControl(_Floating):
    """Smaller, the zoom in percent, larger, everything.

    Signals:
        zoom_wished: float; the factor.
        fit_wished: everything is to be seen.
    """

    zoom_wished = Signal(float)
    fit_wished = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 1, 2, 3)
        row.setSpacing(0)
        less = IconButton(theme, "minus", self.tr("Zoom out (-)"), parent=self)
        more = IconButton(theme, "plus", self.tr("Zoom in (+)"), parent=self)
        fit = IconButton(theme, "fit", self.tr("Fit all (1)"), parent=self)
        self._percent = TextLabel(theme, "100 %", "small", "text.secondary", parent=self)
        self._percent.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._percent.setFixedWidth(44)
        less.clicked.connect(lambda: self.zoom_wished.emit(1 / 1.25))
        more.clicked.connect(lambda: self.zoom_wished.emit(1.25))
        fit.clicked.connect(self.fit_wished)
        for widget in (
            less,
            self._percent,
            more,
            Separator(theme, Qt.Orientation.Vertical, length_px=18),
            fit,
        ):
            row.addWidget(widget)

    @Slot(int)
    def show_percent(self, percent: int) -> None:
        """Say how large the canvas is drawn."""
        self._percent.setText(f"{percent} %")


class Minimap(_Floating):
    """The whole graph and what is in sight of it; a click or drag goes there.

    Signals:
        centre_wished: QPointF; a place of the scene that is to be in the middle.
    """

    centre_wished = Signal(QPointF)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setFixedSize(theme.size("minimap_width"), theme.size("minimap_height"))
        self.setAccessibleName(self.tr("Minimap"))
        self._cards: list[tuple[QRectF, str]] = []
        self._whole = QRectF()
        self._sight = QRectF()
        self._picture: QPixmap | None = None
        """The cards as drawn; made anew when they, the scheme or the screen change."""
        theme.changed.connect(self._on_theme_changed)

    def show_cards(self, cards: list[tuple[QRectF, GraphNode]]) -> None:
        """Take the cards anew, rects in scene coordinates."""
        self._cards = [
            (rect, "edge.broken" if node.kind == "missing" else kind_token(node.kind))
            for rect, node in cards
        ]
        whole = QRectF()
        for rect, _ in self._cards:
            whole = whole.united(rect)
        self._whole = whole.adjusted(-40, -40, 40, 40)
        self._picture = None
        self.update()

    def show_sight(self, sight: QRectF) -> None:
        """Say what of the scene is in sight."""
        if sight != self._sight:
            self._sight = sight
            self.update()

    def sizeHint(self) -> QSize:
        return self.size()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._go_to(event.position())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._whole.isEmpty():
            return
        painter = QPainter(self)
        scale, left, top = self._fit()
        if self._picture is None or self._picture.devicePixelRatio() != self.devicePixelRatioF():
            self._picture = self._drawn()
        painter.drawPixmap(0, 0, self._picture)
        sight = self._sight.intersected(self._whole)
        drawn = QRectF(
            left + (sight.x() - self._whole.x()) * scale,
            top + (sight.y() - self._whole.y()) * scale,
            sight.width() * scale,
            sight.height() * scale,
        )
        paint_box(painter, drawn, 3, outline=self._theme.color("accent.selection"), width_px=1.5)

    @Slot()
    def _on_theme_changed(self) -> None:
        self._picture = None

    def _drawn(self) -> QPixmap:
        dpr = self.devicePixelRatioF()
        picture = QPixmap(self.size() * dpr)
        picture.setDevicePixelRatio(dpr)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        scale, left, top = self._fit()
        for rect, token in self._cards:
            drawn = QRectF(
                left + (rect.x() - self._whole.x()) * scale,
                top + (rect.y() - self._whole.y()) * scale,
                max(2.0, rect.width() * scale),
                max(2.0, rect.height() * scale),
            )
            painter.fillRect(drawn, self._theme.color(token))
        painter.end()
        return picture

    def _fit(self) -> tuple[float, float, float]:
        room = QRectF(self.rect()).adjusted(8, 8, -8, -10)
        scale = min(room.width() / self._whole.width(), room.height() / self._whole.height())
        left = room.x() + (room.width() - self._whole.width() * scale) / 2
        top = room.y() + (room.height() - self._whole.height() * scale) / 2
        return scale, left, top

    def _go_to(self, at: QPointF) -> None:
        if self._whole.isEmpty():
            return
        scale, left, top = self._fit()
        self.centre_wished.emit(
            QPointF(
                self._whole.x() + (at.x() - left) / scale, self._whole.y() + (at.y() - top) / scale
            )
        )


class DragBanner(_Floating):
    """One line over a drag: what the port takes, and what empty space does."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(10, 2, 10, 4)
        self._line.setSpacing(8)
        self.setFixedHeight(32)
        self.hide()

    def say(self, *, letter: str, who: str, takes: str) -> None:
        """Show who is in the hand and what fits.

        Args:
            letter: of the side in the hand, or empty.
        """
        theme = self._theme
        while item := self._line.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        parts: list[QWidget] = []
        if letter:
            parts.append(SideDisc(theme, letter, parent=self))
        parts += [
            TextLabel(theme, who, "label", parent=self),
            TextLabel(theme, takes, "small", "text.secondary", parent=self),
            Separator(theme, Qt.Orientation.Vertical, length_px=18, parent=self),
            TextLabel(
                theme, self.tr("empty space: search and create"), "small", "text.muted", parent=self
            ),
            KeyCap(theme, "Esc", parent=self),
            TextLabel(theme, self.tr("cancels"), "small", "text.muted", parent=self),
        ]
        for part in parts:
            self._line.addWidget(part)
            part.show()
        self.setFixedWidth(self._line.sizeHint().width())
        self.show()
        self.raise_()


class DropCard(_Floating):
    """What a drop would do, beside the hand: kind, sentence, and the lines it writes."""

    _WIDTH_PX = 240

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 9, 12, 12)
        column.setSpacing(5)
        top = QHBoxLayout()
        top.setSpacing(7)
        self._glyph = Glyph(theme, "subagent", "kind.subagent", size_px=14, parent=self)
        self._title = TextLabel(theme, "", "label", parent=self)
        self._note = TextLabel(theme, "", "small", "text.muted", parent=self)
        top.addWidget(self._glyph)
        top.addWidget(self._title)
        top.addStretch(1)
        top.addWidget(self._note)
        self._sentence = TextLabel(theme, "", "small", "text.secondary", wrap=True, parent=self)
        bottom = QHBoxLayout()
        bottom.setSpacing(7)
        self._size = TextLabel(theme, "", "label", "diff.added_bar", parent=self)
        self._place = ElidedLabel(theme, "", "code_small", "text.muted", parent=self)
        bottom.addWidget(self._size)
        bottom.addWidget(self._place, 1)
        column.addLayout(top)
        column.addWidget(self._sentence)
        column.addLayout(bottom)
        self.setFixedWidth(self._WIDTH_PX)
        self.hide()

    def say(
        self, *, icon: str, token: str, title: str, note: str, sentence: str, size: str, place: str
    ) -> None:
        """Show a drop in words; `size` is such as "+1 line", `place` a file and line."""
        self._glyph.set_icon(icon, token)
        self._title.setText(title)
        self._note.setText(note)
        self._sentence.setText(sentence)
        self._size.setText(size)
        self._place.setText(place)
        lines = _wrapped_lines(sentence, self._sentence.font(), self._WIDTH_PX - 24)
        self.setFixedHeight(66 + 16 * lines)
        self.show()
        self.raise_()


def _wrapped_lines(text: str, font: QFont, width_px: int) -> int:
    metrics = QFontMetrics(font)
    flags = Qt.TextFlag.TextWordWrap
    rect = metrics.boundingRect(0, 0, width_px, 1000, int(flags), text)
    return max(1, round(rect.height() / max(1, metrics.lineSpacing())))
