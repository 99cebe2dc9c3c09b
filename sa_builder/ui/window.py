"""The window: a frame around pages, and the deeds of its menus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QByteArray, QSize, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QStackedWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from sa_builder.client.base import ClientFactory
from sa_builder.errors import KnownError
from sa_builder.project.shapes import Edit
from sa_builder.spec.events import RuntimeChanged
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.dialogs.about import AboutDialog, ShortcutsDialog, key_caps
from sa_builder.ui.dialogs.new_project import NewProjectDialog
from sa_builder.ui.dialogs.sheet import answer_of, pick_folder, pick_thread_file
from sa_builder.ui.menus import Menus
from sa_builder.ui.options import WindowOptions
from sa_builder.ui.palette_entries import command_entries, definition_entries, thread_finder
from sa_builder.ui.rail import Rail
from sa_builder.ui.session import git_branch
from sa_builder.ui.settings import Settings
from sa_builder.ui.status_bar import StatusBar
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.templates import (
    SAMPLE,
    count_files,
    list_templates,
    make_project,
    openable_sample,
)
from sa_builder.ui.theme import Preference, Theme
from sa_builder.ui.top_bar import TopBar
from sa_builder.ui.welcome.page import WelcomePage
from sa_builder.ui.welcome.rows import dropped_path
from sa_builder.ui.widgets.bars import NoticeBar
from sa_builder.ui.window_actions import add_window_actions, make_theme_menu
from sa_builder.ui.workspace import Workspace

if TYPE_CHECKING:
    from sa_builder.ui.palette import Palette
    from sa_builder.ui.settings_page import SettingsPage

PRODUCT = "Standard Agents Builder"
_WISHED_SIZE = QSize(1600, 1000)
_TITLE_ROOM = QSize(0, 40)
"""What a window manager puts above a window."""
_TEXT_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit)


class MainWindow(QMainWindow):
    """Top bar, rail, pages, status bar.

    Signals:
        shut: everything of it has ended; the window is gone.
    """

    shut = Signal()

    def __init__(
        self,
        theme: Theme,
        settings: Settings,
        factory: ClientFactory,
        options: WindowOptions,
        *,
        version: str,
    ) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self._version = version
        self._is_shutting = False
        self._is_shut = False
        self._palette: Palette | None = None
        self._settings_page: SettingsPage | None = None
        self.tasks = Tasks(self)
        self.actions_registry = ActionRegistry(theme, self)
        self.workspace = Workspace(
            self,
            theme=theme,
            actions=self.actions_registry,
            tasks=self.tasks,
            settings=settings,
            factory=factory,
            options=options,
        )
        add_window_actions(self, self.actions_registry)
        self.setMinimumSize(760, 520)
        self.resize(_WISHED_SIZE.boundedTo(self.screen().availableSize() - _TITLE_ROOM))
        self.setAcceptDrops(True)
        self._pages: dict[str, QWidget] = {}
        self._make_frame()
        self._menus = Menus(self.top_bar.menus, self.actions_registry, self)
        self._recent_menu = QMenu("Open Recent", self)
        self._recent_menu.aboutToShow.connect(self._on_recent_about_to_show)
        self._menus.add_submenu("recent", self._recent_menu)
        self._menus.add_submenu("theme", make_theme_menu(self, self.actions_registry))
        self._connect()
        self._show_content()
        if settings.geometry:
            self.restoreGeometry(QByteArray.fromHex(QByteArray(settings.geometry.encode())))
        if options.test_mode is not None or settings.test_mode is not None:
            on = settings.test_mode if options.test_mode is None else options.test_mode
            self._show_test_mode(bool(on))

    # the frame

    def _make_frame(self) -> None:
        caps = key_caps(QKeySequence("Ctrl+Shift+P"))
        self.top_bar = TopBar(self._theme, caps, self)
        self.setMenuWidget(self.top_bar)
        middle = QWidget(self)
        self.setCentralWidget(middle)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        column.addLayout(row, 1)
        self.rail = Rail(self._theme, middle)
        self.rail.add_page("compose", "compose", "Compose (Ctrl+1)")
        self.rail.add_page("threads", "threads", "Threads (Ctrl+2)")
        self.rail.add_page("settings", "settings", "Settings (Ctrl+,)", at_bottom=True)
        row.addWidget(self.rail)
        right = QVBoxLayout()
        right.setSpacing(0)
        row.addLayout(right, 1)
        self.notice = NoticeBar(self._theme, "failed", "", parent=middle)
        self.notice.hide()
        right.addWidget(self.notice)
        self.stack = QStackedWidget(middle)
        right.addWidget(self.stack, 1)
        self.status = StatusBar(self._theme, middle)
        column.addWidget(self.status)

    def _connect(self) -> None:
        self.top_bar.search_wished.connect(self.open_palette)
        self.top_bar.test_mode_wished.connect(self._on_test_mode_wished)
        self.top_bar.panel_wished.connect(self._on_panel_wished)
        self.rail.page_wished.connect(self.show_page)
        self.status.undo_wished.connect(self.undo)
        self.status.problems_wished.connect(self._on_problems_wished)
        self.notice.act_chosen.connect(self._on_notice_act_chosen)
        self.tasks.failed.connect(self._on_task_failed)
        self._settings.trouble_met.connect(self.show_trouble)
        space = self.workspace
        space.changed.connect(self._show_content)
        space.page_added.connect(self._on_page_added)
        space.page_removed.connect(self._on_page_removed)
        space.page_wished.connect(self.show_page)
        space.said.connect(self.status.say)
        space.written.connect(self._on_written)
        space.problems_counted.connect(self.status.show_problems)
        space.runtime_changed.connect(self._on_runtime_changed)
        space.trouble_met.connect(self.show_trouble)

    # what is open

    @Slot(object)
    def open_later(self, path: Path) -> None:
        """Open a project's folder or a thread's file as soon as the loop runs."""
        space = self.workspace
        opening = space.open_project(path) if path.is_dir() else space.open_archive(path)
        self.tasks.start(opening)

    @Slot()
    def _show_content(self) -> None:
        """Fit the frame to what is open now."""
        project, file = self.workspace.project, self.workspace.archive_file
        if self._palette is not None:
            self._palette.close_palette()
        if project is not None:
            self.setWindowTitle(f"{project.root.name} - {PRODUCT}")
            self.rail.show_only(("compose", "threads", "settings"))
            self.status.show_branch(git_branch(project.root))
            self.status.show_version("")
            self.status.show_runtime("waiting", "runtime idle")
            self.status.say_plain("")
            layout = self._settings.layout_of(project.root)
            self.show_page("threads" if layout.get("page") == "threads" else "compose")
        elif file is not None:
            self.setWindowTitle(f"{file.name} (read-only, offline) - {PRODUCT}")
            self.rail.show_only(("threads", "settings"))
            self.status.show_branch("")
            self.status.show_version("")
            self.status.show_runtime("done", "read-only")
            self.status.show_problems(0, 0, 0)
            self.status.say(f"Read-only: {file}. No project and no runtime are needed.")
        else:
            self.setWindowTitle(PRODUCT)
            self.rail.show_only(())
            self.status.show_branch("")
            self.status.show_problems(0, 0, 0)
            self.status.show_test_mode(False, 0)
            self.status.show_version(self._version)
            self.status.show_runtime("waiting", "runtime not started")
            self.status.say_plain("No project is open. Nothing of yours has been run.")
            self._show_welcome()
        has_content = project is not None or file is not None
        for action_id, possible in (
            ("file.close_project", has_content),
            ("view.compose", project is not None),
            ("view.threads", has_content),
            ("view.settings", True),
            ("run.new_thread", project is not None),
            ("edit.undo", project is not None),
            ("edit.redo", project is not None),
        ):
            action = self.actions_registry.get(action_id)
            if action is not None:
                action.setEnabled(possible)

    def _show_welcome(self) -> None:
        page = self._pages.get("welcome")
        if page is None:
            page = WelcomePage(
                self._theme,
                templates=[name for name, _ in list_templates()],
                sample_files=count_files(SAMPLE),
                keys={
                    "open": key_caps(QKeySequence("Ctrl+O")),
                    "new": key_caps(QKeySequence("Ctrl+Shift+N")),
                },
            )
            page.open_project_wished.connect(self.wish_open_project)
            page.new_project_wished.connect(self.wish_new_project)
            page.open_thread_wished.connect(self.wish_open_thread_file)
            page.open_sample_wished.connect(self._on_open_sample_wished)
            page.copy_sample_wished.connect(self._on_copy_sample_wished)
            page.path_chosen.connect(self.open_later)
            self._add_page("welcome", page)
        cast("WelcomePage", page).show_recent(self._settings.recent)
        self.show_page("welcome")

    def _add_page(self, name: str, page: QWidget) -> None:
        self._pages[name] = page
        self.stack.addWidget(page)

    @Slot(str, QWidget)
    def _on_page_added(self, name: str, page: QWidget) -> None:
        self._add_page(name, page)
        self.workspace.restore_layout(page)

    @Slot(str)
    def _on_page_removed(self, name: str) -> None:
        page = self._pages.pop(name, None)
        if page is not None:
            self.stack.removeWidget(page)

    # pages

    @Slot(str)
    def show_page(self, name: str) -> None:
        """Show a page by its name, making it when it is not there yet."""
        if name == "threads" and name not in self._pages:
            self.workspace.threads_page()
        if name == "settings" and name not in self._pages:
            self._add_page(name, self._make_settings_page())
        page = self._pages.get(name)
        if page is None:
            return
        self.stack.setCurrentWidget(page)
        self.rail.choose(name)
        self.workspace.keep_page(name)
        self._show_panel_buttons()

    @property
    def page_name(self) -> str:
        """The name of the page that is shown."""
        current = self.stack.currentWidget()
        return next((name for name, page in self._pages.items() if page is current), "")

    def show_compose(self) -> None:
        """Bring the Compose page to the front."""
        self.show_page("compose")

    def show_threads(self) -> None:
        """Bring the Threads page to the front."""
        self.show_page("threads")

    def show_settings(self) -> None:
        """Bring the Settings page to the front."""
        self.show_page("settings")

    def _make_settings_page(self) -> SettingsPage:
        from sa_builder.ui.settings_page import SettingsPage

        page = SettingsPage(self._settings, self._theme, self._places())
        page.theme_chosen.connect(self._on_theme_chosen)
        page.test_mode_chosen.connect(self._on_test_mode_chosen)
        return page

    def _places(self) -> list[tuple[str, Path]]:
        return [
            ("Settings", self._settings.folder),
            ("Data", self._settings.data_folder),
            ("Log of faults", self._settings.log_file),
        ]

    def _panels(self) -> dict[str, QWidget]:
        """The panels of the page that is shown, by side: widgets named panel_<side>."""
        page = self.stack.currentWidget()
        found: dict[str, QWidget] = {}
        if page is None:
            return found
        for side in ("left", "bottom", "right"):
            panel = page.findChild(QWidget, f"panel_{side}")
            if panel is not None:
                found[side] = panel
        return found

    def _show_panel_buttons(self) -> None:
        panels = self._panels()
        self.top_bar.show_panels(tuple(panels))
        for side in ("left", "bottom", "right"):
            action = self.actions_registry.get(f"view.panel_{side}")
            if action is not None:
                action.setEnabled(side in panels)

    @Slot(str)
    def _on_panel_wished(self, side: str) -> None:
        panel = self._panels().get(side)
        if panel is not None:
            panel.setVisible(panel.isHidden())

    def toggle_left_panel(self) -> None:
        """Show or hide the panel at the left."""
        self._on_panel_wished("left")

    def toggle_bottom_panel(self) -> None:
        """Show or hide the panel at the bottom."""
        self._on_panel_wished("bottom")

    def toggle_right_panel(self) -> None:
        """Show or hide the panel at the right."""
        self._on_panel_wished("right")

    # deeds of the menus

    @Slot()
    def wish_open_project(self) -> None:
        """Ask for a folder and open it."""
        self.tasks.start(self._open_picked_project())

    async def _open_picked_project(self) -> None:
        folder = await pick_folder(self, "Open a project folder")
        if folder is not None:
            await self.workspace.open_project(folder)

    @Slot()
    def wish_new_project(self) -> None:
        """Ask for a template and a folder, make the project and open it."""
        self.tasks.start(self._make_new_project(None))

    async def _make_new_project(self, template: str | None) -> None:
        dialog = NewProjectDialog(self._theme, self, template=template, start=Path.home())
        answer = await answer_of(dialog)
        if answer == QDialog.DialogCode.Accepted:
            root = make_project(dialog.template, dialog.folder)
            await self.workspace.open_project(root)

    @Slot()
    def wish_open_thread_file(self) -> None:
        """Ask for a thread's file and show it."""
        self.tasks.start(self._open_picked_thread_file())

    async def _open_picked_thread_file(self) -> None:
        file = await pick_thread_file(self, "Open a thread file")
        if file is not None:
            await self.workspace.open_archive(file)

    def wish_close_content(self) -> None:
        """Close the project or thread file; the window stays."""
        self._save_layout()
        self.tasks.start(self.workspace.close())

    @Slot()
    def _on_open_sample_wished(self) -> None:
        self.tasks.start(self._open_sample())

    async def _open_sample(self) -> None:
        root = openable_sample(self._settings.data_folder)
        await self.workspace.open_project(root, test_mode=True, is_ours=True)

    @Slot()
    def _on_copy_sample_wished(self) -> None:
        self.tasks.start(self._make_new_project(SAMPLE))

    def wish_new_thread(self) -> None:
        """Begin a new thread."""
        self.workspace.new_thread()

    @Slot()
    def undo(self) -> None:
        """Take back: in the text field that has the focus, else the last edit of files."""
        field = QApplication.focusWidget()
        if isinstance(field, _TEXT_FIELDS) and not field.isReadOnly():
            field.undo()
        elif self.workspace.compose is not None:
            self.workspace.compose.undo()

    def redo(self) -> None:
        """Do again what was taken back."""
        field = QApplication.focusWidget()
        if isinstance(field, _TEXT_FIELDS) and not field.isReadOnly():
            field.redo()
        elif self.workspace.compose is not None:
            self.workspace.compose.redo()

    @Slot()
    def open_palette(self) -> None:
        """Open the list of definitions, threads and commands."""
        if self._palette is None:
            from sa_builder.ui.palette import Palette

            self._palette = Palette(self._theme, self.tasks, self)
        project, client = self.workspace.project, self.workspace.client
        definitions = project.definitions() if project is not None else ()
        self._palette.open_with(
            definition_entries(definitions, self.workspace.show_definition),
            command_entries(self.actions_registry.all(), definitions, self.workspace.new_thread),
            thread_finder(client, self.workspace.show_thread) if client is not None else None,
        )

    @property
    def palette_view(self) -> Palette | None:
        """The palette, once it was opened."""
        return self._palette

    def show_shortcuts(self) -> None:
        """Show every action that has keys."""
        dialog = ShortcutsDialog(self._theme, self.actions_registry.all(), self)
        self.tasks.start(answer_of(dialog))

    def show_about(self) -> None:
        """Show the version and where things lie."""
        dialog = AboutDialog(self._theme, self._version, self._places(), self)
        self.tasks.start(answer_of(dialog))

    def choose_system_theme(self) -> None:
        """Follow the system."""
        self._choose_theme("system")

    def choose_light_theme(self) -> None:
        """Stay light."""
        self._choose_theme("light")

    def choose_dark_theme(self) -> None:
        """Stay dark."""
        self._choose_theme("dark")

    def _choose_theme(self, preference: Preference) -> None:
        self._settings.set_theme(preference)
        self._on_theme_chosen(preference)

    @Slot(str)
    def _on_theme_chosen(self, preference: str) -> None:
        self._theme.set_preference(cast("Preference", preference))

    def toggle_test_mode(self) -> None:
        """Switch the test mode."""
        self._on_test_mode_wished(not self.top_bar.test_mode_toggle.isChecked())

    @Slot(bool)
    def _on_test_mode_wished(self, on: bool) -> None:
        self._settings.set_test_mode(on)
        self._on_test_mode_chosen(on)

    @Slot(object)
    def _on_test_mode_chosen(self, wish: object) -> None:
        if isinstance(wish, bool):
            self._show_test_mode(wish)
            self.tasks.start(self.workspace.set_test_mode(wish))
        else:
            self.status.say("The project's environment decides from its next opening on.")

    def _show_test_mode(self, on: bool) -> None:
        self.top_bar.set_test_mode(on)
        action = self.actions_registry.get("run.test_mode")
        if action is not None:
            action.setChecked(on)

    @Slot()
    def _on_recent_about_to_show(self) -> None:
        self._recent_menu.clear()
        for project in self._settings.recent:
            action = self._recent_menu.addAction(project.path)
            action.triggered.connect(self._on_recent_triggered)
        if self._recent_menu.isEmpty():
            self._recent_menu.addAction("None yet").setEnabled(False)
            return
        self._recent_menu.addSeparator()
        self._recent_menu.addAction("Clear").triggered.connect(self._settings.clear_recent)

    @Slot()
    def _on_recent_triggered(self) -> None:
        self.open_later(Path(cast("QAction", self.sender()).text()))

    # what is said

    @Slot(str)
    def show_trouble(self, sentence: str) -> None:
        """Say, above the page, what went wrong; stays until it is dismissed."""
        self.notice.set_notice("failed", sentence, (("dismiss", "Dismiss"),))
        self.notice.show()

    @Slot(object)
    def _on_task_failed(self, error: KnownError) -> None:
        self.show_trouble(error.text())

    @Slot(str)
    def _on_notice_act_chosen(self, act: str) -> None:
        self.notice.hide()

    @Slot(object)
    def _on_written(self, edit: object) -> None:
        made = cast("Edit", edit)
        self.status.say_written(made.summary or made.title, undo=not made.is_undone)

    @Slot()
    def _on_problems_wished(self) -> None:
        self.show_page("compose")

    @Slot(object)
    def _on_runtime_changed(self, event: object) -> None:
        change = cast("RuntimeChanged", event)
        self._show_test_mode(change.test_mode)
        self.status.show_test_mode(change.test_mode, change.mock_count)
        running = change.running_turns
        if running:
            words = "1 turn runs" if running == 1 else f"{running} turns run"
            self.status.show_runtime("running", words)
        else:
            self.status.show_runtime("waiting", "runtime idle")
        if change.sentence:
            self.show_trouble(change.sentence)

    # dropping and closing

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_path(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.open_later(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._is_shut:
            event.accept()
            return
        event.ignore()
        if not self._is_shutting:
            self._is_shutting = True
            self.tasks.start(self.shut_down())

    async def shut_down(self) -> None:
        """Stop everything of this window within its deadline, then let it go."""
        self._settings.set_geometry(self.saveGeometry().toHex().toStdString())
        self._save_layout()
        self.hide()
        try:
            await self.workspace.close()
            await self.tasks.close()
        finally:
            self._is_shut = True
            self.close()
            self.shut.emit()

    def _save_layout(self) -> None:
        self.workspace.save_layout({"page": self.page_name})
