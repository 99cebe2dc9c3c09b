"""The frame of every dialog: heading, body, buttons; opened, never executed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, ButtonRole
from sa_builder.ui.widgets.marks import Separator, TextLabel


class Sheet(QDialog):
    """A dialog with a heading, a body to fill, and a row of buttons at its foot."""

    def __init__(
        self, theme: Theme, title: str, parent: QWidget | None, *, width_px: int = 480
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumWidth(width_px)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(24, 20, 24, 20)
        self.body.setSpacing(8)
        self.body.addWidget(TextLabel(theme, title, "heading", wrap=True, parent=self))
        whole.addLayout(self.body, 1)
        whole.addWidget(Separator(theme, parent=self))
        self.foot = QHBoxLayout()
        self.foot.setContentsMargins(24, 12, 24, 12)
        self.foot.setSpacing(8)
        self.foot.addStretch(1)
        whole.addLayout(self.foot)

    def add_button(self, text: str, role: ButtonRole = "secondary") -> Button:
        """Put a button at the foot, right of the ones before."""
        button = Button(self.theme, text, role, parent=self)
        button.setAutoDefault(role == "primary")
        button.setDefault(role == "primary")
        self.foot.addWidget(button)
        return button


async def answer_of(dialog: QDialog) -> int:
    """Open a dialog and wait, without a nested loop, for what it is closed with."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def take(code: int) -> None:
        if not answer.done():
            answer.set_result(code)

    dialog.finished.connect(take)
    dialog.open()
    try:
        return await answer
    finally:
        dialog.finished.disconnect(take)
        dialog.close()
        dialog.deleteLater()


async def pick_folder(parent: QWidget, title: str, start: Path | None = None) -> Path | None:
    """Ask for a folder; None when the person thinks better of it."""
    dialog = QFileDialog(parent, title, str(start or Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    return await _picked(dialog)


async def pick_thread_file(parent: QWidget, title: str) -> Path | None:
    """Ask for a thread's database; None when the person thinks better of it."""
    dialog = QFileDialog(parent, title, str(Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilters(["Thread files (*.db)", "All files (*)"])
    return await _picked(dialog)


async def _picked(dialog: QFileDialog) -> Path | None:
    chosen: list[str] = []
    dialog.filesSelected.connect(chosen.extend)
    await answer_of(dialog)
    return Path(chosen[0]) if chosen else None
