"""A new project: which template, what name, where."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from sa_builder.ui.dialogs.sheet import Sheet
from sa_builder.ui.templates import list_templates
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import TextLabel

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class NewProjectDialog(Sheet):
    """Asks for a template and a folder; accepted only with a name that can be one."""

    def __init__(
        self, theme: Theme, parent: QWidget, *, template: str | None = None, start: Path
    ) -> None:
        super().__init__(theme, "New project from a template", parent, width_px=560)
        self.setObjectName("new_project_dialog")
        self._folder = start
        grid = QGridLayout()
        grid.setContentsMargins(0, 8, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        self.template_box = QComboBox(self)
        self._says: dict[str, str] = {}
        for name, says in list_templates():
            self.template_box.addItem(name)
            self._says[name] = says
        if template is not None:
            self.template_box.setCurrentText(template)
        self._about = TextLabel(theme, "", "small", "text.muted", wrap=True, parent=self)
        self.name_field = QLineEdit(self)
        self.name_field.setPlaceholderText("my-agents")
        self.place_field = QLineEdit(str(start), self)
        self._choose = Button(theme, "Choose…", parent=self)
        place = QHBoxLayout()
        place.setSpacing(8)
        place.addWidget(self.place_field, 1)
        place.addWidget(self._choose)
        for row, (word, widget) in enumerate(
            (("Template", self.template_box), ("Name", self.name_field), ("In folder", None))
        ):
            label = TextLabel(theme, word, "label", "text.secondary", parent=self)
            grid.addWidget(label, row * 2, 0)
            if widget is None:
                grid.addLayout(place, row * 2, 1)
                label.setBuddy(self.place_field)
            else:
                grid.addWidget(widget, row * 2, 1)
                widget.setAccessibleName(word)
                label.setBuddy(widget)
        self.place_field.setAccessibleName("In folder")
        grid.addWidget(self._about, 1, 1)
        grid.setColumnStretch(1, 1)
        self.body.addLayout(grid)
        self._outcome = TextLabel(theme, "", "small", "text.secondary", wrap=True, parent=self)
        self.body.addWidget(self._outcome)
        cancel = self.add_button("Cancel")
        self.create_button = self.add_button("Create project", "primary")
        cancel.clicked.connect(self.reject)
        self.create_button.clicked.connect(self._on_create_clicked)
        self._choose.clicked.connect(self._on_choose_clicked)
        self.template_box.currentTextChanged.connect(self._on_changed)
        self.name_field.textChanged.connect(self._on_changed)
        self.place_field.textChanged.connect(self._on_changed)
        self._on_changed()
        self.name_field.setFocus()

    @property
    def template(self) -> str:
        """The chosen template."""
        return self.template_box.currentText()

    @property
    def folder(self) -> Path:
        """The folder to make."""
        place = Path(self.place_field.text().strip() or ".").expanduser()
        return place / (self.name_field.text().strip() or self.name_field.placeholderText())

    @Slot()
    def _on_changed(self) -> None:
        self._about.setText(self._says.get(self.template, ""))
        sentence = self._refusal()
        self.create_button.setEnabled(not sentence)
        self._outcome.set_token("state.failed_text" if sentence else "text.secondary")
        self._outcome.setText(sentence or f"Makes {self.folder}")

    def _refusal(self) -> str:
        name = self.name_field.text().strip() or self.name_field.placeholderText()
        if _NAME.fullmatch(name) is None:
            return "A name has letters, digits, dots, dashes and underscores."
        folder = self.folder
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                return f"{folder} is not empty. Choose another name or folder."
        except OSError as error:
            return f"{folder} cannot be read: {error.strerror}."
        return ""

    @Slot()
    def _on_create_clicked(self) -> None:
        if not self._refusal():
            self.done(QDialog.DialogCode.Accepted)

    @Slot()
    def _on_choose_clicked(self) -> None:
        picker = QFileDialog(self, "Folder for the new project", self.place_field.text())
        picker.setFileMode(QFileDialog.FileMode.Directory)
        picker.setOption(QFileDialog.Option.ShowDirsOnly, True)
        picker.fileSelected.connect(self.place_field.setText)
        picker.finished.connect(picker.deleteLater)
        picker.open()
