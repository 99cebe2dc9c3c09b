"""What is imported, when it is imported again, and how a file that does not load is told."""

from __future__ import annotations

import os
import py_compile
from collections.abc import Sequence

import pytest

from sa_builder.spec.host_wire import HostManifest, LoadProblem
from tests.host.conftest import Sandbox


async def load(sandbox: Sandbox) -> HostManifest:
    return await sandbox.link.refresh(test_mode=False)


def names(manifest: HostManifest) -> Sequence[str]:
    return [definition.name for definition in manifest.definitions]


async def only_problem(sandbox: Sandbox) -> LoadProblem:
    """The one problem of a project in which another file, `good`, loads."""
    sandbox.tool("good", "return 'fine'")
    manifest = await load(sandbox)
    assert names(manifest) == ["good"]
    assert len(manifest.problems) == 1
    return manifest.problems[0]


async def test_every_kind_is_loaded_with_its_values(sandbox: Sandbox) -> None:
    sandbox.write(
        "agents/bot.py",
        """
        from sa_builder.spec import Side, define_agent
        agent = define_agent(name="bot", side_a=Side(handler="h"), side_b=Side(human=True))
        """,
    )
    sandbox.write(
        "handlers/h.py",
        """
        from sa_builder.spec import define_handler
        @define_handler(description="d")
        async def execute(state, message): ...
        """,
    )
    sandbox.write("lib/unused.py", "1 / 0")
    sandbox.write("tools/_private.py", "1 / 0")

    manifest = await load(sandbox)

    assert names(manifest) == ["bot", "h"]
    assert manifest.problems == []
    assert manifest.definitions[0].values["side_a"]["handler"] == "h"
    assert manifest.definitions[0].path == "agents/agents/bot.py"
    assert len(manifest.content_hash) == 64


async def test_helpers_are_imported_absolutely_and_relatively(sandbox: Sandbox) -> None:
    sandbox.write("lib/words.py", "WORD = 'one'")
    sandbox.tool("a", "return WORD", head="from agents.lib.words import WORD")
    sandbox.tool("b", "return words.WORD", head="from ..lib import words")
    await load(sandbox)

    assert (await sandbox.call("a")).result == "one"
    assert (await sandbox.call("b")).result == "one"


async def test_an_edit_reloads_the_file_and_what_imports_it_and_nothing_else(
    sandbox: Sandbox,
) -> None:
    stamp = "import itertools\nCOUNT = itertools.count(1)"
    sandbox.write("lib/words.py", "WORD = 'one'")
    sandbox.write("lib/more.py", "from .words import WORD\nMORE = WORD * 2")
    sandbox.tool("far", "return MORE", head="from agents.lib.more import MORE")
    sandbox.tool("other", "return str(next(COUNT))", head=stamp)
    before = await load(sandbox)
    assert (await sandbox.call("far")).result == "oneone"
    assert (await sandbox.call("other")).result == "1"

    sandbox.write("lib/words.py", "WORD = 'two'")
    after = await load(sandbox)

    assert (await sandbox.call("far")).result == "twotwo"
    assert (await sandbox.call("other")).result == "2"
    assert after.generation == before.generation + 1
    assert after.content_hash != before.content_hash


async def test_nothing_changed_keeps_the_generation(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'x'")
    before = await load(sandbox)

    assert await load(sandbox) == before


async def test_a_quick_edit_of_the_same_length_counts(sandbox: Sandbox) -> None:
    for number in range(8):
        sandbox.tool("a", f"return '{number}'")
        await load(sandbox)
        assert (await sandbox.call("a")).result == str(number)


async def test_stale_bytecode_is_never_run_and_none_is_written(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'old'")
    file = sandbox.root / "agents/tools/a.py"
    compiled = py_compile.compile(
        str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    sandbox.tool("a", "return 'new'")
    sandbox.write("lib/helper.py", "X = 1")
    sandbox.tool("b", "return str(X)", head="from agents.lib.helper import X")
    await load(sandbox)

    assert (await sandbox.call("a")).result == "new"
    found = [str(path) for path in sandbox.root.rglob("*.pyc")]
    assert found == [compiled]


async def test_a_removed_file_is_gone(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'x'")
    sandbox.tool("b", "return 'x'")
    await load(sandbox)

    (sandbox.root / "agents/tools/a.py").unlink()

    assert names(await load(sandbox)) == ["b"]
    assert (await sandbox.call("a")).error_type == "not_loaded"


async def test_a_repaired_file_loads_again(sandbox: Sandbox) -> None:
    sandbox.write("lib/other.py", "")
    sandbox.tool("a", "return GONE", head="from agents.lib.gone import GONE")
    first = await load(sandbox)
    assert "agents.lib.gone, which this project does not have" in first.problems[0].sentence

    sandbox.write("lib/gone.py", "GONE = 'here'")
    second = await load(sandbox)

    assert second.problems == []
    assert (await sandbox.call("a")).result == "here"


PROBLEMS = {
    "exception": ("X = 1\nraise ValueError('bad\\nnumber')", 2, "ValueError: bad number"),
    "sys_exit": ("import sys\n\nsys.exit(3)", 3, "calls sys.exit() while it is imported"),
    "missing_package": ("import not_there_at_all.x", 1, "needs the package not_there_at_all"),
    "syntax_error": ("x = 1\ndef f(:\n", 2, "has a syntax error"),
    "null_byte": ("x = 1\0", None, "null bytes"),
    "nothing_declared": ("x = 1", None, "declares no tool"),
    "keyboard_interrupt": ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
    "deep_recursion": ("def f(): f()\nf()", 1, "RecursionError"),
}


@pytest.mark.parametrize("name", PROBLEMS)
async def test_a_file_that_fails_is_one_problem_with_its_line(name: str, sandbox: Sandbox) -> None:
    text, line, words = PROBLEMS[name]
    (sandbox.root / "agents/tools").mkdir(parents=True)
    (sandbox.root / "agents/tools/bad.py").write_text(text)

    problem = await only_problem(sandbox)

    assert problem.path == "agents/tools/bad.py"
    assert problem.line == line
    assert words in problem.sentence
    assert problem.sentence.startswith("agents/tools/bad.py")


async def test_two_definitions_in_a_file_are_a_problem(sandbox: Sandbox) -> None:
    sandbox.write(
        "tools/bad.py",
        """
        from sa_builder.spec import define_tool
        @define_tool(description="x")
        def one(state): ...
        @define_tool(description="x")
        def two(state): ...
        """,
    )

    assert "declares 2 tools" in (await only_problem(sandbox)).sentence


async def test_an_imported_definition_is_not_the_file_s_own(sandbox: Sandbox) -> None:
    sandbox.write("tools/bad.py", "from agents.tools.good import execute")

    assert "declares no tool" in (await only_problem(sandbox)).sentence


async def test_a_circle_is_a_problem_of_each_file_in_it_with_the_chain(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'x'", head="from agents.lib import middle")
    sandbox.write("lib/middle.py", "import agents.tools.b")
    sandbox.tool("b", "return 'x'", head="\nfrom . import a")
    sandbox.tool("user", "return 'x'", head="from agents.tools import a")
    sandbox.tool("good", "return 'x'")

    manifest = await load(sandbox)

    assert names(manifest) == ["good"]
    said = {problem.path: problem for problem in manifest.problems}
    chain = (
        "imports itself in a circle: agents/tools/a.py → agents/lib/middle.py → "
        "agents/tools/b.py → agents/tools/a.py"
    )
    assert chain in said["agents/tools/a.py"].sentence
    assert said["agents/tools/a.py"].line == 3
    assert "circle" in said["agents/tools/b.py"].sentence
    assert said["agents/tools/user.py"].sentence == (
        "agents/tools/user.py imports agents/tools/a.py, which did not load."
    )


async def test_an_import_inside_a_function_makes_no_circle(sandbox: Sandbox) -> None:
    sandbox.tool("a", "from agents.tools import b\nreturn b.NAME", head="NAME = 'a'")
    sandbox.tool("b", "return 'x'", head="from agents.tools.a import NAME")
    manifest = await load(sandbox)

    assert manifest.problems == []
    assert (await sandbox.call("a")).result == "a"


async def test_a_file_that_kills_the_host_is_left_out_until_it_changes(sandbox: Sandbox) -> None:
    sandbox.write("tools/bad.py", "import os\nos._exit(1)")
    problem = await only_problem(sandbox)
    assert "ended or blocked the code host" in problem.sentence
    assert (await sandbox.call("good")).result == "fine"

    sandbox.tool("bad", "return 'repaired'")

    assert names(await load(sandbox)) == ["bad", "good"]


async def test_agents_means_this_project_and_print_at_import_harms_nothing(
    sandbox: Sandbox,
) -> None:
    sandbox.write("tools/json.py", "raise ValueError")  # no file shadows the standard library
    sandbox.tool("a", "import json\nreturn json.dumps(agents.__path__)", head="import agents")
    sandbox.write("lib/loud.py", "print('loud')")
    sandbox.tool("b", "return 'x'", head="import agents.lib.loud")
    await load(sandbox)

    assert (await sandbox.call("a")).result == f'["{sandbox.root}/agents"]'
    assert (await sandbox.call("b")).captured_output == ""


@pytest.mark.parametrize("text", ["x = " + "-" * 200_000 + "1\n", "x = " + "(" * 5_000])
async def test_a_file_nested_too_deeply_for_python_is_its_own_problem(
    text: str, sandbox: Sandbox
) -> None:
    sandbox.write("tools/deep.py", text)

    problem = await only_problem(sandbox)

    assert problem.path == "agents/tools/deep.py"
    assert "nested" in problem.sentence


async def test_links_and_names_that_no_module_can_have_hold_nothing_up(sandbox: Sandbox) -> None:
    folder = sandbox.root / "agents/tools"
    sandbox.tool("good", "return 'fine'")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "dangling.py").symlink_to("nowhere.py")
    (folder / os.fsdecode(b"_b\xffd.py")).write_text("x = 1\n")

    manifest = await load(sandbox)

    assert names(manifest) == ["good"]
    assert not manifest.problems
