"""The tokens hold what the look promises, and reach the application."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sa_builder.errors import BugError
from sa_builder.ui.theme import Theme, hairline_px

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
KINDS = ("agent", "prompt", "handler", "human", "model", "tool", "subagent", "hook", "policy")
STATES = ("running", "waiting", "done", "failed", "parked")


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _luminance(color: QColor) -> float:
    red, green, blue = (_linear(part) for part in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: QColor, two: QColor) -> float:
    low, high = sorted((_luminance(one), _luminance(two)))
    return (high + 0.05) / (low + 0.05)


def _lab(color: QColor) -> tuple[float, float, float]:
    red, green, blue = (_linear(part) for part in (color.redF(), color.greenF(), color.blueF()))
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883

    def bend(part: float) -> float:
        return part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116

    fx, fy, fz = bend(x), bend(y), bend(z)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _delta_e(one: QColor, two: QColor) -> float:
    """CIEDE2000. Source: Sharma, Wu and Dalal, 2005."""
    l1, a1, b1 = _lab(one)
    l2, a2, b2 = _lab(two)
    mean_c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dl, dc = l2 - l1, c2 - c1
    big_dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh / 2))
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    mh = (h1 + dh / 2) % 360
    t = (
        1
        - 0.17 * math.cos(math.radians(mh - 30))
        + 0.24 * math.cos(math.radians(2 * mh))
        + 0.32 * math.cos(math.radians(3 * mh + 6))
        - 0.20 * math.cos(math.radians(4 * mh - 63))
    )
    sl = 1 + 0.015 * (ml - 50) ** 2 / math.sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    turn = 60 * math.exp(-(((mh - 275) / 25) ** 2))
    rt = -math.sin(math.radians(turn)) * 2 * math.sqrt(mc**7 / (mc**7 + 25**7))
    return math.sqrt(
        (dl / sl) ** 2 + (dc / sc) ** 2 + (big_dh / sh) ** 2 + rt * (dc / sc) * (big_dh / sh)
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_pair_holds_its_contrast(theme: Theme, scheme: Literal["light", "dark"]) -> None:
    weak = [
        (front, back, round(found, 2))
        for front, back, least in theme.pairs
        if (found := _contrast(theme.color_in(front, scheme), theme.color_in(back, scheme))) < least
    ]

    assert weak == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("group", "names"), [("kind", KINDS), ("state", STATES)])
def test_hues_of_a_group_stay_apart(
    theme: Theme, scheme: Literal["light", "dark"], group: str, names: tuple[str, ...]
) -> None:
    hues = [theme.color_in(f"{group}.{name}", scheme) for name in names]

    nearest = min(_delta_e(one, two) for one, two in itertools.combinations(hues, 2))

    assert nearest >= 8


def test_delta_e_agrees_with_published_values() -> None:
    black, white = QColor("#000000"), QColor("#ffffff")

    assert _delta_e(black, white) == pytest.approx(100, abs=0.1)
    assert _delta_e(white, white) == 0


def test_the_sheet_has_no_token_left(theme: Theme) -> None:
    assert "@" not in theme.style_sheet()


def test_another_preference_recolours_the_application(
    theme: Theme, qapp: QApplication, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(theme.changed):
        theme.set_preference("dark")

    window = qapp.palette().color(QPalette.ColorGroup.Active, QPalette.ColorRole.Window)
    assert theme.scheme == "dark"
    assert window == QColor("#141619")


def test_colours_with_alpha_are_read_in_qts_order(theme: Theme) -> None:
    assert theme.color_in("surface.scrim", "dark").alpha() == 0x80


def test_pixmaps_are_sharp_and_tinted(theme: Theme) -> None:
    pixmap = theme.pixmap("agent", "accent.base", 16, 2.0)

    assert pixmap.width() == 32
    assert pixmap.deviceIndependentSize().width() == 16
    image = pixmap.toImage()
    opaque = {
        image.pixelColor(x, y).name()
        for x in range(32)
        for y in range(32)
        if image.pixelColor(x, y).alpha() == 255
    }
    assert opaque == {theme.color("accent.base").name()}


def test_unknown_names_are_bugs(theme: Theme) -> None:
    for ask in (lambda: theme.color("surface.nothing"), lambda: theme.size("nothing")):
        with pytest.raises(BugError):
            ask()
    with pytest.raises(BugError):
        theme.pixmap("nothing")


def test_figures_align_when_asked(theme: Theme, qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    font = theme.font("body", tabular=True)

    assert font.pixelSize() == 13
    assert [tag.toString().toStdString() for tag in font.featureTags()] == ["tnum"]


@pytest.mark.parametrize(("dpr", "width"), [(1.0, 1.0), (1.25, 0.8), (2.0, 1.0), (1.5, 2 / 1.5)])
def test_a_hairline_is_whole_device_pixels(dpr: float, width: float) -> None:
    assert hairline_px(dpr) == pytest.approx(width)
