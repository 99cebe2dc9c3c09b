"""Whether a window can be shown at all, found out before Qt would abort over it."""

from __future__ import annotations

import ctypes
import os
import sys

from sa_builder.errors import KnownError

LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libGL.so.1", "libgl1"),
    ("libEGL.so.1", "libegl1"),
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libdbus-1.so.3", "libdbus-1-3"),
    ("libfreetype.so.6", "libfreetype6"),
    ("libglib-2.0.so.0", "libglib2.0-0"),
)
"""What Qt's own libraries load, with the Debian package of each."""

X11_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-shm.so.0", "libxcb-shm0"),
    ("libxcb-sync.so.1", "libxcb-sync1"),
    ("libxcb-util.so.1", "libxcb-util1"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
)
"""What the X11 plugin loads besides."""

_WITHOUT_DISPLAY = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


def needs_display() -> bool:
    """Whether the platform Qt would choose shows its windows on a display."""
    wished = os.environ.get("QT_QPA_PLATFORM", "").split(":", 1)[0]
    return sys.platform.startswith("linux") and wished not in _WITHOUT_DISPLAY


def has_display() -> bool:
    """Whether X11 or Wayland is there, as far as the environment tells."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def shows_windows() -> bool:
    """Whether a person would see a window of ours, as far as the environment tells."""
    if os.environ.get("QT_QPA_PLATFORM", "").split(":", 1)[0] in _WITHOUT_DISPLAY:
        return False
    return has_display() or not needs_display()


def missing_packages() -> list[str]:
    """Debian packages whose libraries are not there, in order; empty elsewhere than Linux."""
    if not sys.platform.startswith("linux"):
        return []
    wanted = list(LIBRARIES)
    if needs_display() and os.environ.get("DISPLAY"):
        wanted += X11_LIBRARIES
    return [package for name, package in wanted if not _loads(name)]


def check_display() -> None:
    """Make sure that Qt can show a window.

    Raises:
        KnownError: no display, or system libraries are missing; its act is the one command.
    """
    missing = missing_packages()
    if missing:
        raise KnownError(
            f"Qt needs system libraries that are not installed: {', '.join(missing)}.",
            act=f"Install them with: sudo apt-get install -y {' '.join(missing)}",
            code="window.libraries",
        )
    if needs_display() and not has_display():
        raise KnownError(
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            act="Start it in a desktop session, or use the commands that need no window: "
            "sa-builder check, run, threads, logs.",
            code="window.no_display",
        )
    if needs_display() and not os.environ.get("WAYLAND_DISPLAY") and not _answers_x11():
        raise KnownError(
            f"The display {os.environ['DISPLAY']} does not answer.",
            act="Correct DISPLAY, allow this user to use it, or unset it.",
            code="window.no_display",
        )


def _answers_x11() -> bool:
    """Whether DISPLAY takes a connection; asked of the library that Qt will use."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # Qt brings its own
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    try:
        return xcb.xcb_connection_has_error(connection) == 0
    finally:
        xcb.xcb_disconnect(connection)


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
