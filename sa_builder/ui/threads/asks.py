"""The page's small questions: a new title, and whether to end or delete a thread."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from sa_builder.spec.threads import ThreadSummary
from sa_builder.ui.dialogs.sheet import Sheet, answer_of
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.marks import TextLabel


async def ask_title(theme: Theme, summary: ThreadSummary, parent: QWidget) -> str | None:
    """A new title; None when the person thinks better of it."""
    sheet = Sheet(theme, tr("Rename thread"), parent, width_px=420)
    line = QLineEdit(summary.title, sheet)
    line.setAccessibleName(tr("Title"))
    line.setObjectName("title")
    line.selectAll()
    sheet.body.addWidget(line)
    sheet.add_button(tr("Cancel")).clicked.connect(sheet.reject)
    accept = sheet.add_button(tr("Rename"), "primary")
    accept.clicked.connect(sheet.accept)
    line.setFocus()
    code = await answer_of(sheet)
    title = line.text().strip()
    return title if code == QDialog.DialogCode.Accepted and title else None


async def ask_terminate(theme: Theme, summary: ThreadSummary, parent: QWidget) -> bool:
    """Whether to refuse a thread new work for good."""
    return await _confirmed(
        theme,
        parent,
        tr("Terminate this thread?"),
        f"“{summary.title}” {tr('takes no more messages afterwards. Everything stays readable.')}",
        tr("Terminate"),
    )


async def ask_delete(
    theme: Theme, summary: ThreadSummary, child_count: int, parent: QWidget
) -> bool:
    """Whether to remove a thread from the disk, told what goes with it."""
    parts = [f"{summary.message_count:,} {tr('messages')}", tr("its log rows and journal")]
    if child_count:
        word = tr("child thread") if child_count == 1 else tr("child threads")
        parts.append(f"{child_count} {word}")
    sentence = (
        f"“{summary.title}” {tr('is removed from the disk with')} {', '.join(parts)}. "
        f"{tr('This cannot be undone.')}"
    )
    title = tr("Delete this thread?")
    return await _confirmed(theme, parent, title, sentence, tr("Delete"))


async def _confirmed(theme: Theme, parent: QWidget, title: str, sentence: str, act: str) -> bool:
    sheet = Sheet(theme, title, parent, width_px=440)
    label = TextLabel(theme, sentence, "body", "text.secondary", wrap=True, parent=sheet)
    sheet.body.addWidget(label)
    keep = sheet.add_button(tr("Cancel"))
    keep.clicked.connect(sheet.reject)
    accept = sheet.add_button(act, "danger")
    accept.setObjectName("confirm")
    accept.clicked.connect(sheet.accept)
    keep.setFocus()
    return await answer_of(sheet) == QDialog.DialogCode.Accepted
