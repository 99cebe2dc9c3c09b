"""Builds the bundle into packaging/dist/sa-builder, with its icon and desktop entry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent
BUNDLE = HERE / "dist" / "sa-builder"
ICON_SIZES_PX = (16, 32, 48, 128, 256)


def main() -> int:
    """Build everything; returns the exit code."""
    icons = make_icons(HERE / "build" / "icons")
    environment = os.environ | {
        "SA_REPO": str(REPO),
        "SA_ICON": str(icons[256]),
        "QT_QPA_PLATFORM": "offscreen",
    }
    subprocess.run(
        [
            sys.executable,
            "-m",
            "PyInstaller",
            "--noconfirm",
            "--log-level=WARN",
            f"--distpath={HERE / 'dist'}",
            f"--workpath={HERE / 'build'}",
            str(HERE / "sa_builder.spec"),
        ],
        env=environment,
        check=True,
    )
    share = BUNDLE / "share"
    for size, picture in icons.items():
        place = share / "icons" / "hicolor" / f"{size}x{size}" / "apps"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy2(picture, place / "sa-builder.png")
    applications = share / "applications"
    applications.mkdir(parents=True, exist_ok=True)
    shutil.copy2(HERE / "linux" / "sa-builder.desktop", applications)
    shutil.copy2(REPO / "LICENSE", BUNDLE)
    files = [one for one in BUNDLE.rglob("*") if one.is_file() and not one.is_symlink()]
    size_mb = sum(one.stat().st_size for one in files) / 1e6
    print(f"Built {BUNDLE.relative_to(REPO)}: {size_mb:,.0f} MB")
    return 0


def make_icons(folder: Path) -> dict[int, Path]:
    """The program's icon in each size, from the drawing in resources/icons."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication(["icons"])
    folder.mkdir(parents=True, exist_ok=True)
    drawing = (REPO / "resources" / "icons" / "agent.svg").read_text(encoding="utf-8")
    renderer = QSvgRenderer(drawing.replace("currentColor", "#ffffff").encode())
    made: dict[int, Path] = {}
    for size in ICON_SIZES_PX:
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(QColor("#4457d6"))
        painter.drawRoundedRect(0, 0, size, size, size * 0.22, size * 0.22)
        margin = size * 0.2
        painter.translate(margin, margin)
        scale = (size - 2 * margin) / max(1, renderer.defaultSize().width())
        painter.scale(scale, scale)
        renderer.render(painter)
        painter.end()
        made[size] = folder / f"sa-builder-{size}.png"
        image.save(str(made[size]))
    del application
    return made


if __name__ == "__main__":
    sys.exit(main())
