"""Puts what the program shows, and the sample project, into the package as `sa_builder/_data`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


class BuildWithData(build_py):
    """The stock build, and then the two folders that lie outside the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        data = Path(self.build_lib) / "sa_builder" / "_data"
        for folder in ("resources", "agents"):
            shutil.copytree(HERE / folder, data / folder, ignore=LEFT_OUT, dirs_exist_ok=True)
        shutil.copy2(HERE / ".env.test", data / ".env.test")


setup(cmdclass={"build_py": BuildWithData})
