"""Colours, fonts, sizes and icons from `tokens.json`, as Qt wants them, in light and dark."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTemporaryDir, Signal, Slot
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from sa_builder.errors import BugError
from sa_builder.util.resources import resources_root

Scheme = Literal["light", "dark"]
Preference = Literal["system", "light", "dark"]

_TOKEN = re.compile(r"@([a-z]+)\.([a-z0-9_]+)")
_QSS_ICON_TOKENS = {"check": "text.on_accent"}
_STROKE_PX = 1.5
_ICON_GRID_PX = 16

_PALETTE: tuple[tuple[QPalette.ColorRole, str], ...] = (
    (QPalette.ColorRole.Window, "surface.window"),
    (QPalette.ColorRole.WindowText, "text.primary"),
    (QPalette.ColorRole.Text, "text.primary"),
    (QPalette.ColorRole.ButtonText, "text.primary"),
    (QPalette.ColorRole.HighlightedText, "text.primary"),
    (QPalette.ColorRole.Base, "surface.field"),
    (QPalette.ColorRole.AlternateBase, "surface.panel"),
    (QPalette.ColorRole.Button, "surface.button"),
    (QPalette.ColorRole.Highlight, "accent.text_selection"),
    (QPalette.ColorRole.Accent, "accent.base"),
    (QPalette.ColorRole.BrightText, "text.on_accent"),
    (QPalette.ColorRole.Link, "text.link"),
    (QPalette.ColorRole.LinkVisited, "text.link"),
    (QPalette.ColorRole.PlaceholderText, "text.muted"),
    (QPalette.ColorRole.ToolTipBase, "surface.tooltip"),
    (QPalette.ColorRole.ToolTipText, "text.on_tooltip"),
    (QPalette.ColorRole.Light, "surface.raised"),
    (QPalette.ColorRole.Midlight, "line.subtle"),
    (QPalette.ColorRole.Mid, "line.default"),
    (QPalette.ColorRole.Dark, "line.card"),
    (QPalette.ColorRole.Shadow, "line.field"),
)
_DISABLED_TEXT = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.HighlightedText,
)


def hairline_px(dpr: float) -> float:
    """Width, in logical pixels, of the thinnest line that is a whole number of device pixels."""
    return max(1, round(dpr)) / dpr


class Theme(QObject):
    """What every view takes its looks from; follows the system unless told otherwise.

    Signals:
        changed: colours are others now; every cached brush, pixmap and text must be made anew.
    """

    changed = Signal()

    def __init__(self, preference: Preference = "system", parent: QObject | None = None) -> None:
        """Read the tokens; the application itself is only touched by `apply`.

        Raises:
            BugError: the installation lacks its resources.
        """
        super().__init__(parent)
        self._root = resources_root()
        tokens = (self._root / "themes" / "tokens.json").read_text(encoding="utf-8")
        self._tokens: dict[str, Any] = json.loads(tokens)
        self._preference: Preference = preference
        self._scheme: Scheme = self._wanted_scheme()
        self._app: QApplication | None = None
        self._colors: dict[str, QColor] = {}
        self._svgs: dict[str, str] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
        self._qss_icons = QTemporaryDir()

    # what there is

    @property
    def scheme(self) -> Scheme:
        """The scheme shown now."""
        return self._scheme

    @property
    def preference(self) -> Preference:
        """What the person asked for."""
        return self._preference

    @property
    def pairs(self) -> list[tuple[str, str, float]]:
        """Foreground, background and least contrast, to be held in both schemes."""
        return [(str(one), str(two), float(least)) for one, two, least in self._tokens["pairs"]]

    def color(self, token: str) -> QColor:
        """The colour of a token such as "surface.canvas", in the scheme shown now."""
        known = self._colors.get(token)
        if known is None:
            known = self.color_in(token, self._scheme)
            self._colors[token] = known
        return QColor(known)

    def color_in(self, token: str, scheme: Scheme) -> QColor:
        """The colour of a token in a scheme of one's choice."""
        group, _, name = token.partition(".")
        try:
            text = str(self._tokens["color"][group][name][scheme])
        except KeyError:
            raise BugError(f"No colour token {token!r}.") from None
        if len(text) == 9:
            text = f"#{text[7:]}{text[1:7]}"
        return QColor(text)

    def font(self, style: str, *, tabular: bool = False, weight: int | None = None) -> QFont:
        """The font of a type style: "body", "label", "code", "node_title".

        Args:
            style: a key of `type` in the tokens.
            tabular: figures of equal width, where they align in columns.
            weight: instead of the style's own.
        """
        found = cast("dict[str, Any]", self._tokens["type"][style])
        font = QFont()
        font.setFamilies(cast("list[str]", self._tokens["type"][f"family_{found['family']}"]))
        font.setPixelSize(int(found["size"]))
        font.setWeight(QFont.Weight(weight or int(found["weight"])))
        if tabular:
            font.setFeature(QFont.Tag("tnum"), 1)
        if found["family"] == "mono":
            font.setStyleHint(QFont.StyleHint.Monospace)
            font.setFixedPitch(True)
        return font

    def line_height(self, style: str) -> int:
        """The line height of a type style, in pixels."""
        return int(self._tokens["type"][style]["line"])

    def size(self, name: str) -> int:
        """A length in whole pixels: "row_log", or with its group "radius.card", "space.3"."""
        return round(self.length(name))

    def length(self, name: str) -> float:
        """A length in pixels or a time in ms: "row_log", "line.edge_thin", "motion.open"."""
        group, _, key = name.rpartition(".")
        try:
            return float(self._tokens[group or "size"][key])
        except KeyError:
            raise BugError(f"No size token {name!r}.") from None

    def dash(self, name: str, pen_width_px: float = 1.0) -> list[float]:
        """A dash pattern for `QPen.setDashPattern`, which counts in pen widths."""
        return [float(part) / pen_width_px for part in self._tokens["dash"][name]]

    # icons

    def pixmap(
        self, name: str, token: str = "text.secondary", size_px: int = 16, dpr: float = 1.0
    ) -> QPixmap:
        """An icon drawn in a token's colour, sharp at a device pixel ratio."""
        key = (name, token, size_px, dpr)
        known = self._pixmaps.get(key)
        if known is not None:
            return known
        svg = self._tinted(name, self.color(token), max(size_px, _ICON_GRID_PX))
        renderer = QSvgRenderer(QByteArray(svg.encode()))
        pixmap = QPixmap(round(size_px * dpr), round(size_px * dpr))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
        painter.end()
        pixmap.setDevicePixelRatio(dpr)
        self._pixmaps[key] = pixmap
        return pixmap

    def icon(self, name: str, token: str = "text.secondary", size_px: int = 16) -> QIcon:
        """An icon for a Qt control; must be set again after `changed`."""
        icon = QIcon()
        ratios = {1.0, 2.0}
        for screen in QGuiApplication.screens():
            ratios.add(screen.devicePixelRatio())
        for dpr in sorted(ratios):
            icon.addPixmap(self.pixmap(name, token, size_px, dpr))
            icon.addPixmap(self.pixmap(name, "text.disabled", size_px, dpr), QIcon.Mode.Disabled)
        return icon

    def _tinted(self, name: str, color: QColor, size_px: int = _ICON_GRID_PX) -> str:
        svg = self._svgs.get(name)
        if svg is None:
            path = self._root / "icons" / f"{name}.svg"
            try:
                svg = path.read_text(encoding="utf-8")
            except FileNotFoundError:
                raise BugError(f"No icon {name!r}.") from None
            self._svgs[name] = svg
        if size_px != _ICON_GRID_PX:  # a larger icon keeps the weight of its line
            stroke = _STROKE_PX * _ICON_GRID_PX / size_px
            svg = svg.replace('stroke-width="1.5"', f'stroke-width="{stroke:g}"')
        return svg.replace("currentColor", color.name())

    # the application

    def set_preference(self, preference: Preference) -> None:
        """Follow the system, or stay light or dark."""
        self._preference = preference
        if self._app is not None:
            self._tell_platform(self._app)
        self._take_scheme(self._wanted_scheme())

    def apply(self, app: QApplication) -> None:
        """Give the application its style, palette, font and sheet; before any view is built."""
        self._app = app
        app.setStyle("Fusion")
        self._tell_platform(app)
        app.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)
        self._scheme = self._wanted_scheme()
        self._forget()
        self._dress(app)

    @Slot()
    def _on_system_scheme_changed(self) -> None:
        self._take_scheme(self._wanted_scheme())

    def _take_scheme(self, scheme: Scheme) -> None:
        if scheme == self._scheme:
            return
        self._scheme = scheme
        self._forget()
        if self._app is not None:
            self._dress(self._app)
        self.changed.emit()

    def _wanted_scheme(self) -> Scheme:
        if self._preference != "system":
            return self._preference
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return "dark" if dark else "light"

    def _tell_platform(self, app: QApplication) -> None:
        schemes = {
            "system": Qt.ColorScheme.Unknown,
            "light": Qt.ColorScheme.Light,
            "dark": Qt.ColorScheme.Dark,
        }
        app.styleHints().setColorScheme(schemes[self._preference])

    def _forget(self) -> None:
        self._colors.clear()
        self._pixmaps.clear()

    def _dress(self, app: QApplication) -> None:
        app.setPalette(self._palette())
        app.setFont(self.font("body"))
        app.setStyleSheet(self.style_sheet())

    def _palette(self) -> QPalette:
        palette = QPalette()
        for role, token in _PALETTE:
            palette.setColor(QPalette.ColorGroup.All, role, self.color(token))
        for role in _DISABLED_TEXT:
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text.disabled"))
        return palette

    def style_sheet(self) -> str:
        """The application's sheet, every token replaced."""
        sheets = [
            (self._root / "themes" / name).read_text(encoding="utf-8")
            for name in ("look.qss", "kit.qss")
        ]
        return _TOKEN.sub(self._qss_value, "\n".join(sheets))

    def _qss_value(self, found: re.Match[str]) -> str:
        group, name = found.groups()
        if group != "icon":
            color = self.color(f"{group}.{name}")
            opaque = color.alpha() == 255
            return color.name(QColor.NameFormat.HexRgb if opaque else QColor.NameFormat.HexArgb)
        tint = self.color(_QSS_ICON_TOKENS.get(name, "text.secondary"))
        path = self._qss_icons.filePath(f"{name}-{self._scheme}.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._tinted(name, tint))
        return path
