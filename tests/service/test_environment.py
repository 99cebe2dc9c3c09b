"""The project's .env files, also the broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from sa_builder.errors import ProjectError
from sa_builder.service.environment import ProjectEnvironment, read_env_file


def test_lines_are_read_with_and_without_quotes_comments_and_a_byte_order_mark(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"\xef\xbb\xbfA=1\n# B=2\n\nexport C='three'\n===\nD\n")

    assert read_env_file(file) == {"A": "1", "C": "three"}


def test_what_is_no_text_is_a_sentence_with_the_files_name(tmp_path: Path) -> None:
    (tmp_path / ".env.test").write_bytes(b"A=\xff\xfe")

    with pytest.raises(ProjectError, match=r"\.env\.test .* not UTF-8"):
        ProjectEnvironment(tmp_path, {})


def test_a_folder_in_the_files_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()

    with pytest.raises(ProjectError, match="it is not a file"):
        ProjectEnvironment(tmp_path, {})
