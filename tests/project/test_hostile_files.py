"""Files that no one should write: no crash, no byte lost, a problem with a place for each."""

from __future__ import annotations

import os
import time

import pytest

from sa_builder.errors import EditRefused, ProjectError
from sa_builder.project.project import Project
from tests.project.conftest import MakeProject
from tests.project.corpus import TIDY

DESK = "agents/agents/desk.py"

HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "only a comment": b"# nothing\n",
    "a NUL": TIDY.replace("desk", "de\0sk").encode(),
    "not UTF-8": b"x = '\xff\xfe'\n",
    "an unknown encoding": b"# coding: klingon\n" + TIDY.encode(),
    "a mark and another encoding": b"\xef\xbb\xbf# coding: latin-1\n" + TIDY.encode(),
    "UTF-16": TIDY.encode("utf-16"),
    "too deep for Python": TIDY.replace("True", "(" * 5000 + "True" + ")" * 5000).encode(),
    "deep lists": TIDY.replace("human=True", "label=" + "[" * 900 + "]" * 900).encode(),
    "an open string": TIDY.replace('"desk"', '"desk').encode(),
    "an open bracket": TIDY.replace("])", "").encode() + b"(((",
    "tabs and spaces": TIDY.replace("    side_a", "\tside_a").encode()
    + b"def f():\n\tx\n        y\n",
    "binary": bytes(range(256)) * 40,
    "a keyword twice": TIDY.replace('name="desk"', 'name="desk", name="desk"').encode(),
    "a return outside": TIDY.encode() + b"return 1\n",
    "only ERROR": b"agent = define_agent(((((,,,=\n" * 30,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_problem_with_a_place_and_loses_no_byte(
    name: str, make_project: MakeProject
) -> None:
    project = make_project({DESK: HOSTILE[name]})

    problems = [each for each in project.problems() if each.span.path == DESK]
    assert any(each.severity == "error" for each in problems)
    assert all(each.span.line >= 1 and each.span.column >= 1 for each in problems)
    project.graph()
    project.definitions()
    project.fields("agents/desk")
    with pytest.raises((EditRefused, ProjectError)):
        project.connect("agents/desk.side_a", "prompts/sorter")
    assert (project.root / DESK).read_bytes() == HOSTILE[name]


@pytest.mark.parametrize(
    "text",
    [
        TIDY.replace("\n", "\r\n"),
        TIDY.replace("\n", "\r"),
        TIDY.replace("    ", "\t"),
        "\ufeff" + TIDY,
        TIDY.rstrip("\n"),
        TIDY.replace("# Side A", "# \u2028 \x0c \x85 \u00a0 Side A"),
        TIDY.replace("human=True", f"human={'(' * 80}True{')' * 80}"),
        TIDY.replace('prompt="front",', 'prompt \\\n = \\\n "front",'),
        TIDY.replace("name=", "name= # odd\n  "),
        TIDY + f"\nlong = {'x' * 10_000!r}\n",
        "if True:\n    pass\n" + TIDY + "match = 1\nmatch match:\n    case 1: pass\n",
    ],
)
def test_an_odd_file_is_edited_at_one_span_only(text: str, make_project: MakeProject) -> None:
    data = text.encode()
    project = make_project({DESK: data})

    project.connect("agents/desk.side_a", "prompts/sorter")

    assert (project.root / DESK).read_bytes() == data.replace(b'"front"', b'"sorter"')
    project.undo()
    assert (project.root / DESK).read_bytes() == data


def test_a_file_of_a_megabyte_is_read_and_edited(make_project: MakeProject) -> None:
    long = "A row of a very long prompt, one of many thousands of its kind. # no comment\n" * 13_500
    rows = "\n".join(f"x{index} = [{index}, 'text']  # {index}" for index in range(1_000))
    data = f'{TIDY}LONG = """{long}"""\n{rows}'.encode()
    assert len(data) > 1_000_000
    project = make_project({DESK: data})

    project.connect("agents/desk.side_a", "prompts/sorter")

    assert (project.root / DESK).read_bytes() == data.replace(b'"front"', b'"sorter"')


def test_nesting_beyond_the_limit_is_code_and_stays(make_project: MakeProject) -> None:
    deep = "-" * 300 + "1"
    project = make_project({DESK: TIDY.replace("human=True", f"human=True, max_steps={deep}")})

    project.connect("agents/desk.side_a", "prompts/sorter")

    assert deep in (project.root / DESK).read_text()


def test_an_edit_that_only_the_compiler_would_refuse_is_refused(
    make_project: MakeProject,
) -> None:
    project = make_project({"agents/agents/mailer.py": TIDY.replace("desk", "mailer")})

    with pytest.raises(EditRefused):
        project.set("agents/mailer.env", {"A": float("nan")})


def test_helpers_and_other_files_are_no_definitions(make_project: MakeProject) -> None:
    project = make_project(
        {
            "agents/lib/tool.py": "raise SystemExit\n",
            "agents/tools/_shared.py": "x = 1\n",
            "agents/tools/deep/nested.py": "x = 1\n",
            "agents/tools/notes.txt": "x",
            "agents/effects/notify/digest.py": "x = 1\n",
            "agents/endpoints/foo.post.py": "x = 1\n",
        }
    )

    addresses = {each.address for each in project.definitions()}

    assert {"effects/notify/digest", "endpoints/foo.post"} <= addresses
    assert not any("shared" in each or "nested" in each for each in addresses)


def test_a_missing_folder_and_a_folder_without_agents_are_each_a_sentence(tmp_path: object) -> None:
    from pathlib import Path

    root = Path(str(tmp_path))
    with pytest.raises(ProjectError, match="There is no folder"):
        Project.open(root / "nowhere")
    with pytest.raises(ProjectError, match="has no folder named agents"):
        Project.open(root)


def test_refresh_sees_a_change_that_keeps_size_and_is_quick_when_nothing_changed(
    make_project: MakeProject,
) -> None:
    project = make_project()
    path = project.root / DESK
    replacement = path.with_suffix(".new")
    replacement.write_text(TIDY.replace("front", "fr0nt"))
    stamp = path.stat()
    os.utime(replacement, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    os.replace(replacement, path)

    assert project.refresh() == frozenset({DESK})
    before = time.perf_counter()
    assert project.refresh() == frozenset()
    assert time.perf_counter() - before < 1
