"""Whether a window can be shown at all, found out before Qt would abort over it."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Literal

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

WAYLAND_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libwayland-client.so.0", "libwayland-client0"),
    ("libwayland-cursor.so.0", "libwayland-cursor0"),
    ("libwayland-egl.so.1", "libwayland-egl1"),
)
"""What the Wayland plugin loads besides."""

_WITHOUT_DISPLAY = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
Kind = Literal["x11", "wayland"]
_LIBRARIES_OF: dict[Kind, tuple[tuple[str, str], ...]] = {
    "x11": X11_LIBRARIES,
    "wayland": WAYLAND_LIBRARIES,
}
_VARIABLE_OF: dict[Kind, str] = {"x11": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}
_PLATFORM_OF: dict[Kind, str] = {"x11": "xcb", "wayland": "wayland"}


def needs_display() -> bool:
    """Whether the platform Qt would choose shows its windows on a display."""
    return sys.platform.startswith("linux") and _wished_platform() not in _WITHOUT_DISPLAY


def has_display() -> bool:
    """Whether X11 or Wayland is there, as far as the environment tells."""
    return bool(_kinds())


def shows_windows() -> bool:
    """Whether a person would see a window of ours, as far as the environment tells."""
    if _wished_platform() in _WITHOUT_DISPLAY:
        return False
    return has_display() or not needs_display()


def missing_packages() -> list[str]:
    """Debian packages whose libraries are not there, in order; empty elsewhere than Linux.

    Of two kinds of display one suffices, for Qt takes the other when one fails.
    """
    if not sys.platform.startswith("linux"):
        return []
    missing = _missing(LIBRARIES)
    kinds = _kinds() if needs_display() else []
    if kinds and not any(_can_load(kind) for kind in kinds):
        missing += _missing(_LIBRARIES_OF[kinds[0]])
    return missing


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
    if not needs_display():
        return
    kinds = _kinds()
    if not kinds:
        raise KnownError(
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            act="Start it in a desktop session, or use the commands that need no window: "
            "sa-builder check, run, threads, logs.",
            code="window.no_display",
        )
    if not any(_can_load(kind) and _ANSWERS[kind]() for kind in kinds):
        variable = _VARIABLE_OF[kinds[0]]
        raise KnownError(
            f"The display {os.environ[variable]} does not answer.",
            act=f"Correct {variable}, allow this user to use it, or unset it.",
            code="window.no_display",
        )


def _wished_platform() -> str:
    return os.environ.get("QT_QPA_PLATFORM", "").split(":", 1)[0]


def _kinds() -> list[Kind]:
    """The displays that the environment names and Qt may take."""
    wished = _wished_platform().split("-", 1)[0]
    named: list[Kind] = [
        kind for kind, variable in _VARIABLE_OF.items() if os.environ.get(variable)
    ]
    if wished not in _PLATFORM_OF.values():
        return named
    return [kind for kind in named if _PLATFORM_OF[kind] == wished]


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


def _answers_wayland() -> bool:
    """Whether the compositor's socket takes a connection."""
    path = os.path.join(
        os.environ.get("XDG_RUNTIME_DIR", ""), os.environ.get("WAYLAND_DISPLAY", "")
    )
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


_ANSWERS: dict[Kind, Callable[[], bool]] = {"x11": _answers_x11, "wayland": _answers_wayland}


def _can_load(kind: Kind) -> bool:
    return not _missing(_LIBRARIES_OF[kind])


def _missing(libraries: Sequence[tuple[str, str]]) -> list[str]:
    return [package for name, package in libraries if not _loads(name)]


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
