"""The first tab of a log row's details: figures, where the time went, and where it went to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from sa_builder.spec.logs import LogDetails, LogRow
from sa_builder.ui.logs.row_delegate import KIND_GLYPHS, paint_hatched
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import ElidedLabel, Separator, TextLabel, Tile
from sa_builder.ui.widgets.paint import paint_box

_ROW_PX = 24
_LABEL_PX = 164
_BAR_PX = 12
_KIND_TILES = {"message": "human", "child": "subagent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One bar of the waterfall, in milliseconds from the row's start."""

    label: str
    start_ms: float
    end_ms: float
    token: str
    look: Literal["hollow", "filled", "hatched"]
    words: str


def stretches_of(details: LogDetails, related: Sequence[LogRow]) -> list[Stretch]:
    """Where a row's time went: its own parts, then what its step called."""
    row = details.row
    token = KIND_GLYPHS.get(row.kind, ("", "text.secondary"))[1]
    found: list[Stretch] = []
    whole = row.latency_ms if row.latency_ms is not None else row.duration_ms
    first = row.time_to_first_token_ms
    if row.kind == "model" and first is not None:
        found.append(
            Stretch(
                label=tr("Wait for first token"),
                start_ms=0,
                end_ms=first,
                token=token,
                look="hollow",
                words=words.duration(first),
            )
        )
        if whole is not None and whole > first:
            spent = row.generation_ms or whole - first
            rate = f" · {row.output_tokens / spent * 1000:,.0f} tok/s" if row.output_tokens else ""
            count = f" {row.output_tokens:,} {tr('tokens')}" if row.output_tokens else ""
            found.append(
                Stretch(
                    label=f"{tr('Generate')}{count}",
                    start_ms=first,
                    end_ms=whole,
                    token=token,
                    look="filled",
                    words=f"{words.duration(spent)}{rate}",
                )
            )
    elif whole is not None:
        parked = row.status == "parked"
        found.append(
            Stretch(
                label=tr("Waited") if parked or row.kind == "child" else tr("Ran"),
                start_ms=0,
                end_ms=whole,
                token=token,
                look="hatched" if parked else "filled",
                words=words.duration(whole),
            )
        )
    for other in related:
        start = max(0.0, (other.created_at_us - row.created_at_us) / 1000)
        spent = other.duration_ms or 0.0
        parked = other.status == "parked"
        runs = other.status == "running"
        found.append(
            Stretch(
                label=other.title,
                start_ms=start,
                end_ms=start + max(spent, 1.0),
                token=KIND_GLYPHS.get(other.kind, ("", "text.secondary"))[1],
                look="hatched" if parked else "filled",
                words=tr("waits") if parked else tr("runs") if runs else words.duration(spent),
            )
        )
    return found


class Waterfall(QWidget):
    """Bars under one another on a common axis."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._ink = Ink(theme)
        self._stretches: Sequence[Stretch] = ()
        theme.changed.connect(self.update)

    def show_stretches(self, stretches: Sequence[Stretch]) -> None:
        """Show other bars."""
        self._stretches = stretches
        self.setVisible(bool(stretches))
        self.setFixedHeight(self.sizeHint().height())
        self.setAccessibleName("; ".join(f"{one.label} {one.words}" for one in stretches))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, 36 + _ROW_PX * len(self._stretches) + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ink = self._ink
        ink.dpr = self.devicePixelRatioF()
        left, right = float(_LABEL_PX), self.width() - 24.0
        most = max((one.end_ms for one in self._stretches), default=1.0)
        step = nice_step(most / max(2.0, (right - left) / 120))
        end = max(step, -(-most // step) * step)
        scale = (right - left) / end
        at = 0.0
        while at <= end + step / 2:
            x = round(left + at * scale)
            painter.fillRect(QRectF(x, 26, 1, self.height() - 30), ink.color("line.default"))
            last = at + step > end + step / 2
            word = f"{at:,.0f} {tr('ms')}" if last else f"{at:,.0f}"
            width = ink.width("small", word)
            centred = x - (0 if not at else width / 2)
            place = QRectF(min(centred, self.width() - 12 - width), 8, width + 2, 16)
            ink.line(painter, place, word, "small", "text.muted")
            at += step
        for number, one in enumerate(self._stretches):
            self._paint_stretch(painter, one, 32.0 + number * _ROW_PX, left, right, scale)

    def _paint_stretch(
        self, painter: QPainter, one: Stretch, y: float, left: float, right: float, scale: float
    ) -> None:
        ink = self._ink
        label = QRectF(12, y, left - 24, _ROW_PX)
        ink.line(painter, label, one.label, "small", "text.secondary")
        start = left + one.start_ms * scale
        end = min(right, max(start + 3, left + one.end_ms * scale))
        bar = QRectF(start, y + (_ROW_PX - _BAR_PX) / 2, end - start, _BAR_PX)
        hue = ink.color(one.token)
        if one.look == "hatched":
            paint_hatched(painter, self._theme, bar)
        elif one.look == "hollow":
            paint_box(painter, bar, 2, outline=hue, width_px=1.5)
        else:
            paint_box(painter, bar, 2, fill=hue)
        width = ink.width("small", one.words)
        x = end + 7 if end + 7 + width < self.width() - 4 else max(left, start - 7 - width)
        patch = QRectF(x - 2, y + 4, width + 4, 16)
        painter.fillRect(patch, ink.color("surface.panel"))
        place = QRectF(x, y, width + 4, _ROW_PX)
        ink.line(painter, place, one.words, "small", "text.secondary")


def nice_step(least: float) -> float:
    """The next round figure: 1, 2 or 5 times a power of ten."""
    size = 1.0
    while size * 10 <= least:
        size *= 10
    for times in (1, 2, 5):
        if size * times >= least:
            return size * times
    return size * 10


class _Figure(QWidget):
    """A small name, a strong value, a muted note."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(TextLabel(theme, name, "small", "text.secondary", parent=self))
        self.value = ElidedLabel(theme, "", "heading", parent=self)
        self.note = ElidedLabel(theme, "", "small", "text.muted", parent=self)
        column.addWidget(self.value)
        column.addWidget(self.note)


class Overview(QScrollArea):
    """Figures, waterfall, provider and endpoint of one row.

    Signals:
        curl_wished: the request shall be copied as a command.
        definition_wished: the address of the row's prompt, tool or handler.
    """

    curl_wished = Signal()
    definition_wished = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._address: str | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        body = QWidget(self)
        body.setObjectName("panel")
        self.setWidget(body)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 12)
        column.setSpacing(0)
        column.addLayout(self._make_head(body))
        column.addLayout(self._make_figures(body))
        column.addWidget(Separator(theme, parent=body))
        self.waterfall = Waterfall(theme, body)
        column.addWidget(self.waterfall)
        self._line = Separator(theme, parent=body)
        column.addWidget(self._line)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(12, 10, 12, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, 96)
        self._grid.setColumnMinimumWidth(2, 84)
        self._grid.setColumnStretch(1, 3)
        self._grid.setColumnStretch(3, 2)
        column.addLayout(self._grid)
        column.addStretch(1)

    def _make_head(self, body: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, 12, 12, 8)
        row.setSpacing(10)
        self._tile = Tile(self._theme, "model", size_px=28, parent=body)
        row.addWidget(self._tile)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        self._title = ElidedLabel(self._theme, "", "strong", clickable=True, parent=body)
        self._title.clicked.connect(self._on_title_clicked)
        self._caption = ElidedLabel(self._theme, "", "small", "text.muted", parent=body)
        titles.addWidget(self._title)
        titles.addWidget(self._caption)
        row.addLayout(titles, 1)
        self.curl = Button(self._theme, tr("Copy as cURL"), small=True, parent=body)
        self.curl.clicked.connect(self.curl_wished)
        row.addWidget(self.curl)
        return row

    def _make_figures(self, body: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 12, 10)
        row.setSpacing(12)
        self.figures: dict[str, _Figure] = {}
        names = ("Duration", "Input", "Output", "Cost", "Finish")
        for number, name in enumerate(names):
            if number:
                line = Separator(self._theme, Qt.Orientation.Vertical, length_px=50, parent=body)
                row.addWidget(line)
            figure = _Figure(self._theme, tr(name), body)
            self.figures[name] = figure
            row.addWidget(figure, 1)
        return row

    def show_details(self, details: LogDetails, related: Sequence[LogRow], act_status: str) -> None:
        """Show a row.

        Args:
            related: what the same step called, in order.
            act_status: of the row's act in the journal, or nothing.
        """
        row = details.row
        self._tile.set_kind(_KIND_TILES.get(row.kind, row.kind))
        self._title.setText(row.title)
        self._caption.setText(_caption(row))
        self._address = address_of(details)
        self._title.setToolTip(self._address or row.title)
        self.curl.setVisible(bool(details.endpoint and details.request_body is not None))
        self._show_figures(details)
        stretches = stretches_of(details, related)
        self.waterfall.show_stretches(stretches)
        self._line.setVisible(bool(stretches))
        self._show_grid(details, act_status)

    def _show_figures(self, details: LogDetails) -> None:
        row = details.row
        took = row.duration_ms if row.duration_ms is not None else row.latency_ms
        first = row.time_to_first_token_ms
        self._figure(
            "Duration",
            tr("running") if took is None else words.duration(took),
            "" if first is None else f"{tr('first token')} {words.duration(first)}",
        )
        self._figure("Input", _count(row.input_tokens), _part(row.cached_tokens, tr("cached")))
        reasoning = _part(row.reasoning_tokens, tr("reasoning"))
        self._figure("Output", _count(row.output_tokens), reasoning)
        book = details.price_book_version
        note = f"{tr('book')} {book}" if book else tr("no price known")
        cost = words.cost(row.cost_total, row.currency)
        self._figure("Cost", cost or "–", note if row.kind == "model" else "")
        calls = len(row.tools_called)
        note = f"{calls} {tr('call') if calls == 1 else tr('calls')}" if calls else ""
        self._figure("Finish", row.finish_reason or row.status, note)

    def _figure(self, name: str, value: str, note: str) -> None:
        self.figures[name].value.setText(value)
        self.figures[name].note.setText(note)

    def _show_grid(self, details: LogDetails, act_status: str) -> None:
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        row = details.row
        act = " · ".join(part for part in (details.act_key or "", act_status) if part)
        left = (
            (tr("Provider"), details.provider),
            (tr("Model"), details.model),
            (tr("Endpoint"), details.endpoint),
            (tr("Handler"), details.handler_name),
            (tr("Definitions"), (details.definitions_hash or "")[:16]),
        )
        status = "" if details.status_code is None else str(details.status_code)
        right = (
            (tr("Status"), status),
            (tr("Served by"), details.actual_provider),
            (tr("Act"), act),
            (tr("Route"), details.route_decision),
            (tr("Retry of"), "" if row.retry_of_log_id is None else f"log {row.retry_of_log_id}"),
        )
        for column, pairs in ((0, left), (2, right)):
            shown = [(name, value) for name, value in pairs if value]
            for number, (name, value) in enumerate(shown):
                label = TextLabel(self._theme, name, "small", "text.muted", parent=self.widget())
                self._grid.addWidget(label, number, column)
                self._grid.addWidget(self._value(value), number, column + 1)

    def _value(self, text: str) -> QLabel:
        label = ElidedLabel(self._theme, text, "code_small", parent=self.widget())
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _on_title_clicked(self) -> None:
        if self._address:
            self.definition_wished.emit(self._address)


def address_of(details: LogDetails) -> str | None:
    """The definition a row is about, such as "prompts/triage"."""
    row = details.row
    if row.kind == "model" and row.model_name:
        return f"models/{row.model_name}"
    if row.kind == "tool":
        return f"tools/{row.title}"
    if row.kind == "handler":
        return f"handlers/{details.handler_name or row.title}"
    return None


def _caption(row: LogRow) -> str:
    parts = [row.prompt_name or row.detail]
    if row.side:
        parts.append(f"{tr('side')} {row.side.upper()}")
    parts.append(f"{tr('turn')} {row.turn}")
    if row.step:
        parts.append(f"{tr('step')} {row.step}")
    parts.append(f"{tr('log')} {row.id}")
    return " · ".join(part for part in parts if part)


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _part(count: int | None, word: str) -> str:
    return f"{count:,} {word}" if count else ""
