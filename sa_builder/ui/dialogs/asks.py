"""The window's questions, awaited one at a time on the GUI thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog, QWidget

from sa_builder.project.project import Project
from sa_builder.ui.dialogs.sheet import answer_of
from sa_builder.ui.dialogs.trust import TrustDialog
from sa_builder.ui.settings import Settings
from sa_builder.ui.theme import Theme

_WITH_CODE = (
    ("tool", "tools", "tools"),
    ("handler", "handlers", "handlers"),
    ("hook", "hooks", "hooks"),
)


async def ask_for_trust(
    theme: Theme, settings: Settings, project: Project, parent: QWidget
) -> bool:
    """Whether a project's code may run: known already, or asked now."""
    root: Path = project.root
    if settings.is_trusted(root):
        return True
    kinds = [str(summary.kind) for summary in project.definitions()]
    counts = tuple(
        (kind, words, kinds.count(kind)) for kind, words, _ in _WITH_CODE if kind in kinds
    )
    dialog = TrustDialog(theme, root, counts, parent)
    if await answer_of(dialog) != QDialog.DialogCode.Accepted:
        return False
    settings.set_trusted(root, True)
    return True
