"""Starts the window. The one module of this room that knows Qt, and only when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from sa_builder.cli.version import VERSION
from sa_builder.client.base import RuntimeClient
from sa_builder.errors import ProjectError


class Clients:
    """Makes the window's clients; loads the runtime when a project wants one."""

    def local(
        self, project_root: Path, *, trusted: Callable[[], bool], test_mode: bool | None
    ) -> RuntimeClient:
        """The embedded runtime of a project."""
        from sa_builder.client.local import LocalClient

        return LocalClient(project_root, trusted=trusted, test_mode=test_mode)

    def archive(self, thread_file: Path) -> RuntimeClient:
        """A thread's file, read-only."""
        from sa_builder.client.archive import ArchiveClient

        return ArchiveClient(thread_file)


def open_window(place: str | None, options: Sequence[str] = ()) -> int:
    """Show the window until it is closed.

    Args:
        place: a project's folder, a thread's file, or None for the welcome page.
        options: of `--test-mode`, `--live`, `--trust`.

    Returns:
        The exit code.

    Raises:
        KnownError: nothing is at that place, or no window can be shown here.
    """
    path = Path(place) if place is not None else None
    if path is not None and not path.exists():
        raise ProjectError(
            f"There is no command and no folder called {place}.",
            act="See sa-builder --help.",
            code="project.missing",
        )
    is_file = path is not None and path.is_file()
    application = importlib.import_module("sa_builder.ui.application")
    test_mode = True if "--test-mode" in options else False if "--live" in options else None
    return int(
        application.run_window(
            None if is_file else path,
            path if is_file else None,
            Clients(),
            application.WindowOptions(
                test_mode=test_mode, trusted="--trust" in options, version=VERSION
            ),
        )
    )


def png_of(svg: str) -> bytes:
    """A drawing as a picture, twice as large so that it is sharp."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication(
        ["sa-builder", "-platform", "offscreen"]
    )
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    image = QImage(renderer.defaultSize() * 2, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType]
    picture = bytes(buffer.data().data())
    del application
    return picture
