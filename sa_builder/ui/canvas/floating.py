"""Where on the canvas the floating panels stand, also while it is scrolled under them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QWidget

from sa_builder.ui.canvas.overlays import DragBanner, DropCard, Minimap, ZoomControl
from sa_builder.ui.theme import Theme

_ROOMY_PX = (800, 420)
"""Width and height from which on the minimap hides less than it helps."""
_GAP_PX = 12


class Floating:
    """Banner, words of a drop, zoom control and minimap.

    They are part of the viewport, which scrolling takes along: a neighbour over it would cost a
    whole repaint at each step. So they are put back after each scrolling.
    """

    def __init__(self, theme: Theme, viewport: QWidget) -> None:
        self.banner = DragBanner(theme, viewport)
        self.drop_card = DropCard(theme, viewport)
        self.zoom_control = ZoomControl(theme, viewport)
        self.minimap = Minimap(theme, viewport)
        self._homes: dict[QWidget, QPoint] = {}

    def remember(self) -> bool:
        """Before a scrolling: note where all stand; says whether this is the first of its act."""
        if self._homes:
            return False
        floating = (self.banner, self.drop_card, self.zoom_control, self.minimap)
        self._homes = {widget: widget.pos() for widget in floating}
        return True

    def put_back(self) -> None:
        """After all scrolling of one act, and before it is painted."""
        for widget, home in self._homes.items():
            widget.move(home)
        self._homes = {}

    def announce_repaint(self) -> None:
        """Before all of the viewport is painted anew.

        Of two dirty widgets Qt paints an opaque parent by itself when it was the first to ask, and
        then its children with what lies under them a second time.
        """
        self.zoom_control.update()
        self.minimap.update()

    def place(self, room: QSize, *, has_cards: bool) -> None:
        """Put all into their corners of a canvas of this size."""
        self.put_back()
        zoom, minimap, banner = self.zoom_control, self.minimap, self.banner
        zoom.adjustSize()
        zoom.move(_GAP_PX, room.height() - zoom.height() - _GAP_PX + 1)
        minimap.move(
            room.width() - minimap.width() - _GAP_PX, room.height() - minimap.height() - _GAP_PX + 1
        )
        has_room = room.width() >= _ROOMY_PX[0] and room.height() >= _ROOMY_PX[1]
        minimap.setVisible(has_room and has_cards)
        banner.move(max(_GAP_PX, (room.width() - banner.width()) // 2), 10)

    def place_drop_card(self, canvas: QRect, home: QRect, goal: QRect) -> None:
        """Put the words of a drop under the card in the hand, or where they cover neither end.

        Args:
            home: the card whose port is in the hand.
            goal: the card that the magnet holds.
        """
        self.put_back()
        card = self.drop_card
        room = canvas.adjusted(_GAP_PX, 48, -_GAP_PX - card.width(), -_GAP_PX - card.height())
        places = (
            QPoint(home.left(), home.bottom() + 20),
            QPoint(home.left(), home.top() - 20 - card.height()),
            QPoint(goal.left(), goal.bottom() + 20),
            QPoint(goal.left(), goal.top() - 20 - card.height()),
        )
        rects = [
            card.rect().translated(
                max(room.left(), min(place.x(), room.right())),
                max(room.top(), min(place.y(), room.bottom())),
            )
            for place in places
        ]
        free = [one for one in rects if not one.intersects(home) and not one.intersects(goal)]
        card.move((free or rects)[0].topLeft())
