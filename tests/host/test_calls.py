"""What a call gives back, however the user's function is written and however it ends."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from sa_builder.spec.messages import Message
from tests.host.conftest import SNAPSHOT, Sandbox

RETURNS = {
    "'text'": "text",
    "None": None,
    "{'a': [1, 'ü']}": '{"a":[1,"ü"]}',
    "3": "3",
    "Model(x=1)": '{"x":1}',
    "ToolResult(status='success', result='r')": "r",
}


@pytest.mark.parametrize("is_sync", [True, False])
async def test_every_kind_of_return_value(is_sync: bool, sandbox: Sandbox) -> None:
    head = """
        from pydantic import BaseModel
        from sa_builder.spec import ToolResult
        class Model(BaseModel):
            x: int
    """
    for place, value in enumerate(RETURNS):
        sandbox.tool(f"t{place}", f"return {value}", head=head, sync=is_sync)

    results = [(await sandbox.call(f"t{place}")).result for place in range(len(RETURNS))]

    assert results == list(RETURNS.values())


async def test_a_tool_says_itself_that_it_failed(sandbox: Sandbox) -> None:
    sandbox.tool(
        "a",
        "return ToolResult(status='error', error='no', error_code='E1', error_data={'p': 1})",
        head="from sa_builder.spec import ToolResult",
    )

    outcome = await sandbox.call("a")

    assert (outcome.status, outcome.error, outcome.error_code) == ("error", "no", "E1")
    assert outcome.error_data == {"p": 1}


async def test_what_no_model_can_be_told_is_an_error(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return object()")

    outcome = await sandbox.call("a")

    assert outcome.error_type == "unusable_result"
    assert "returned a object" in (outcome.error or "")


@pytest.mark.parametrize("is_sync", [True, False])
@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        ("ValueError('bad\\nnumber')", "ValueError", "ValueError: bad number"),
        ("SystemExit(3)", "SystemExit", "sys.exit(3)"),
        ("KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("asyncio.CancelledError", "CancelledError", "CancelledError"),
        ("RuntimeError('\\ud83c\\0')", "RuntimeError", "RuntimeError: \ufffd\u2400"),
    ],
)
async def test_whatever_is_raised_is_an_outcome(
    raised: str, kind: str, words: str, is_sync: bool, sandbox: Sandbox
) -> None:
    sandbox.tool("a", f"print('before')\nraise {raised}", sync=is_sync)

    outcome = await sandbox.call("a")

    assert (outcome.status, outcome.error_type) == ("error", kind)
    assert words in (outcome.error or "")
    assert "agents/tools/a.py" in (outcome.traceback or "")
    assert "sa_builder/host" not in (outcome.traceback or "")
    assert outcome.captured_output == "before\n"


async def test_arguments_are_validated_against_the_tool_s_own_model(sandbox: Sandbox) -> None:
    sandbox.write(
        "tools/add.py",
        """
        from pydantic import BaseModel, Field
        from sa_builder.spec import define_tool
        class Args(BaseModel):
            x: int = Field(gt=0)
            name: str
        @define_tool(description="x")
        async def execute(state, args: Args):
            Args.model_validate({})
        """,
    )

    wrong = await sandbox.call("add", arguments={"x": "many"})
    inside = await sandbox.call("add", arguments={"x": "1", "name": "n"})

    assert wrong.error_type == "invalid_arguments"
    assert wrong.error is not None
    assert wrong.error.startswith(
        "The arguments do not fit add. x: Input should be a valid integer"
    )
    assert "(got 'many'); name: Field required." in wrong.error
    assert inside.error_type == "ValidationError"


async def test_a_handler_gets_its_message(sandbox: Sandbox, message: Message) -> None:
    sandbox.write(
        "handlers/h.py",
        """
        from sa_builder.spec import define_handler
        @define_handler(description="d")
        async def execute(state, message):
            return f"{message.role} {message.content} {state.agent_name}"
        """,
    )

    outcome = await sandbox.call("h", kind="handler", message=message)

    assert outcome.result == "user hi bot"


@pytest.mark.parametrize("is_sync", [True, False])
async def test_state_is_asked_over_the_channel(is_sync: bool, sandbox: Sandbox) -> None:
    wait = "" if is_sync else "await "
    sandbox.state.answers = {
        "env": lambda given: f"value of {given['name']}",
        "get_parent_thread": lambda _: SNAPSHOT.model_copy(update={"thread_id": "p1"}),
        "set_value": lambda _: None,
        "get_messages": lambda _: [
            Message(id="m", thread_id="t1", role="user", content="c")  # pyright: ignore
        ],
    }
    sandbox.tool(
        "a",
        f"""
        parent = {wait}state.get_parent_thread()
        {wait}parent.set_value("k", [1])
        found = {wait}state.get_messages(limit=5)
        return [{wait}state.env("A"), parent.thread_id, found[0].content]
        """,
        sync=is_sync,
    )

    outcome = await sandbox.call("a")

    assert json.loads(outcome.result or outcome.error or "") == ["value of A", "p1", "c"]
    asked = [(thread, method) for _, thread, method, _ in sandbox.state.asked]
    assert asked == [
        ("t1", "get_parent_thread"),
        ("p1", "set_value"),
        ("t1", "get_messages"),
        ("t1", "env"),
    ]


@pytest.mark.parametrize("is_sync", [True, False])
async def test_a_refusal_of_the_runtime_is_a_lookup_error(is_sync: bool, sandbox: Sandbox) -> None:
    wait = "" if is_sync else "await "
    sandbox.tool(
        "a",
        f"""
        try:
            {wait}state.env("A")
        except LookupError as error:
            return str(error)
        """,
        sync=is_sync,
    )

    assert (await sandbox.call("a")).result == "No env here."


async def test_output_belongs_to_the_call_that_wrote_it(sandbox: Sandbox) -> None:
    sandbox.tool(
        "a",
        """
        print("out", state.thread_id)
        print("err", file=sys.stderr)
        logging.getLogger("mine").info("log %s", 1)
        await asyncio.sleep(0.01)
        await asyncio.to_thread(print, "from a worker")
        """,
    )
    sandbox.tool("b", "print('x' * 100_000)", sync=True)

    outcomes = await asyncio.gather(sandbox.call("a"), sandbox.call("b"), sandbox.call("a"))

    said = "out t1\nerr\nINFO mine: log 1\nfrom a worker\n"
    assert outcomes[0].captured_output == outcomes[2].captured_output == said
    assert outcomes[1].captured_output.startswith("x" * 1000)
    assert 64 * 1024 <= len(outcomes[1].captured_output) < 64 * 1024 + 100


async def test_calls_run_side_by_side(sandbox: Sandbox) -> None:
    sandbox.state.answers = {"env": lambda _: "x"}
    meet = """
        import threading
        BARRIER = threading.Barrier(4)
    """
    sandbox.tool("a", "BARRIER.wait(5)\nreturn state.env('X')", head=meet, sync=True)

    outcomes = await asyncio.gather(*(sandbox.call("a") for _ in range(4)))

    assert [outcome.result for outcome in outcomes] == ["x"] * 4


async def test_a_large_result_comes_through(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'é' * 3_000_000")

    assert (await sandbox.call("a")).result == "é" * 3_000_000


@pytest.mark.parametrize("is_sync", [True, False])
async def test_http_in_test_mode_goes_to_the_mocks(is_sync: bool, sandbox: Sandbox) -> None:
    def answer(given: Mapping[str, Any]) -> dict[str, Any]:
        body = json.dumps({"got": base64.b64decode(given["body_base64"]).decode()})
        return {
            "status": 201,
            "headers": {"content-type": "application/json", "content-encoding": "gzip"},
            "body_base64": base64.b64encode(body.encode()).decode(),
        }

    sandbox.state.answers = {"http": answer}
    wait = "" if is_sync else "await "
    sandbox.tool(
        "a",
        f"""
        response = {wait}state.http.post("https://api.example/x", content="hi")
        return [response.status_code, response.json()]
        """,
        sync=is_sync,
    )

    outcome = await sandbox.call("a", test_mode=True)

    assert json.loads(outcome.result or outcome.error or "") == [201, {"got": "hi"}]
    asked = sandbox.state.asked[0]
    assert asked[2] == "http"
    assert (asked[3]["method"], asked[3]["url"]) == ("POST", "https://api.example/x")


REACHES = {
    "socket": "socket.create_connection(('127.0.0.1', 9), 1)",
    "name": "socket.getaddrinfo('api.example', 443)",
    "urllib": "urllib.request.urlopen('http://127.0.0.1:9/')",
    "httpx": "httpx.get('http://127.0.0.1:9/')",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
}


@pytest.mark.parametrize("way", REACHES)
async def test_any_other_connection_is_refused_in_test_mode(way: str, sandbox: Sandbox) -> None:
    head = "import socket, urllib.request, httpx"
    sandbox.tool("a", REACHES[way], head=head, sync=True)
    sandbox.tool("b", f"await asyncio.to_thread(lambda: {REACHES[way]})", head=head)

    for name in ("a", "b"):
        outcome = await sandbox.call(name, test_mode=True)
        assert outcome.status == "error"
        assert "Make the request through state.http" in (outcome.error or "")


async def test_live_http_reaches_a_server(sandbox: Sandbox) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    sandbox.tool("a", f"async with state.http as http:\n    return (await http.get('{url}')).text")
    sandbox.tool("b", f"return state.http.get('{url}').text", sync=True)

    async with server:
        for name in ("a", "b", "a"):
            assert (await sandbox.call(name)).result == "hi"


async def test_the_project_s_folder_is_where_user_code_stands(sandbox: Sandbox) -> None:
    (sandbox.root / "data.txt").write_text("found")
    (sandbox.root / "mylib.py").write_text("NAME = 'mine'")
    (sandbox.root / "pydantic.py").write_text("raise ValueError")
    sandbox.tool("a", "return open('data.txt').read() + mylib.NAME", head="import mylib", sync=True)

    assert (await sandbox.call("a")).result == "foundmine"
    assert not list(sandbox.root.rglob("*.pyc"))
