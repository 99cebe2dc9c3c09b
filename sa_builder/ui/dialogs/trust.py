"""The one question before a folder's own code runs for the first time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from sa_builder.ui.dialogs.sheet import Sheet
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, TextLabel


class TrustDialog(Sheet):
    """Says what would run and from where; accepted means "trust and run"."""

    def __init__(
        self, theme: Theme, root: Path, counts: tuple[tuple[str, str, int], ...], parent: QWidget
    ) -> None:
        """Ask about a folder.

        Args:
            counts: icon, words and number of what has code of its own.
        """
        super().__init__(theme, "Run the code of this project?", parent, width_px=520)
        self.setObjectName("trust_dialog")
        path = ElidedLabel(theme, str(root), "code", "text.secondary", parent=self)
        path.setAccessibleName(f"Folder {root}")
        self.body.addWidget(path)
        self.body.addSpacing(8)
        sentence = (
            "A new thread imports the Python files under agents/ and calls their tools and "
            "handlers, as you, with your files and network. They run in a process of their own, "
            "never in this window."
        )
        self.body.addWidget(TextLabel(theme, sentence, wrap=True, parent=self))
        rows = QVBoxLayout()
        rows.setContentsMargins(0, 8, 0, 8)
        rows.setSpacing(6)
        for icon, words, count in counts:
            row = QHBoxLayout()
            row.setSpacing(8)
            row.addWidget(Glyph(theme, icon, f"kind.{icon}", parent=self))
            row.addWidget(TextLabel(theme, f"{count} {words}", parent=self))
            row.addStretch(1)
            rows.addLayout(row)
        self.body.addLayout(rows)
        later = (
            "Drawing, editing and checking read text only and need no trust. You are asked once "
            "for each folder; Settings takes it back."
        )
        self.body.addWidget(TextLabel(theme, later, "small", "text.muted", wrap=True, parent=self))
        self.look_button = self.add_button("Only look")
        self.trust_button = self.add_button("Trust and run", "primary")
        self.look_button.clicked.connect(self._on_look_clicked)
        self.trust_button.clicked.connect(self._on_trust_clicked)
        self.trust_button.setFocus()

    @Slot()
    def _on_look_clicked(self) -> None:
        self.done(QDialog.DialogCode.Rejected)

    @Slot()
    def _on_trust_clicked(self) -> None:
        self.done(QDialog.DialogCode.Accepted)
