"""A project, its threads and its runtime as one: what a client or a command holds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sa_builder.errors import KnownError, ProjectError, RuntimeRefused, StoreError
from sa_builder.providers.base import Provider
from sa_builder.providers.catalog import Providers
from sa_builder.providers.mocks import MockBook
from sa_builder.runtime.engine import Engine
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.host_link import HostLink
from sa_builder.runtime.state_server import ThreadStateServer
from sa_builder.runtime.view import ThreadView
from sa_builder.service.agents import agent_summaries
from sa_builder.service.environment import ProjectEnvironment
from sa_builder.service.thread_secrets import ThreadSecrets
from sa_builder.spec.definitions import ModelDefinition, ToolDefinition
from sa_builder.spec.events import Event, Listener, RuntimeChanged, ThreadChanged
from sa_builder.spec.findings import Entry
from sa_builder.spec.host_wire import HostManifest
from sa_builder.spec.kinds import FOLDERS
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.registry import Registry, revive
from sa_builder.spec.rules import check, entry_of
from sa_builder.spec.threads import (
    AgentSummary,
    CreateThread,
    MessagePage,
    MessageQuery,
    SendMessage,
    ThreadDetails,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.store.layout import DataFolder, ProjectLock
from sa_builder.store.log_tree import read_logs
from sa_builder.store.thread_index import read_page
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.clock import Clock, SystemClock
from sa_builder.util.ids import LogId, MessageId, ThreadId
from sa_builder.util.redact import Redactor

if TYPE_CHECKING:
    from sa_builder.providers.mock_transport import MockTransport

T = TypeVar("T")


class Service:
    """The runtime of one project, on the event loop it is used from.

    It is a `client.base.RuntimeClient`; headless commands use it as it is.
    """

    def __init__(
        self,
        project_root: Path,
        *,
        trusted: Callable[[], bool],
        test_mode: bool | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare; nothing is opened before `start`.

        Args:
            trusted: asked each time user code would run.
            test_mode: None takes what the environment says.
        """
        if not (project_root / "agents").is_dir():
            raise ProjectError(
                f"{project_root} is not a project: it has no agents folder.",
                act="Open a folder with agents/ in it, or make one: sa-builder new DIR.",
                code="project.missing",
            )
        self._root = project_root.resolve()
        self._trusted = trusted
        self._clock: Clock = clock or SystemClock()
        self._folder = DataFolder(self._root)
        self._lock = ProjectLock(self._folder)
        self._environment = ProjectEnvironment(self._root)
        self._test_mode = self._environment.wants_test_mode() if test_mode is None else test_mode
        self._listeners: list[Listener] = []
        self._readers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="sa-reader")
        self._providers = Providers(self._clock)
        self._mocks: MockBook | None = None
        self._transport: MockTransport | None = None
        self._registry = Registry()
        self._manifest: HostManifest | None = None
        self._redactor = Redactor(())
        self._secrets = ThreadSecrets(self._folder)
        self._engine: Engine | None = None
        self._host: HostLink | None = None
        self._running_turns = -1

    # what the engine is given

    @property
    def test_mode(self) -> bool:
        return self._test_mode

    @property
    def host(self) -> HostLink:
        if self._host is None:
            server = ThreadStateServer(lambda: self.engine, self._mock_book)
            self._host = HostLink(project_root=self._root, state_server=server)
        return self._host

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise RuntimeRefused("The runtime is not started.", code="runtime.stopped")
        return self._engine

    async def registry(self) -> Registry:
        """The definitions as the files say now."""
        if not self._trusted():
            raise RuntimeRefused(
                "This folder is not trusted, so its code does not run.",
                act="Trust it to run its agents.",
                code="project.untrusted",
            )
        manifest = await self.host.refresh(test_mode=self._test_mode)
        if self._manifest is None or manifest.content_hash != self._manifest.content_hash:
            self._registry = _registry(manifest)
            self._manifest = manifest
            self._redactor = Redactor(self._known_secrets())
        return self._registry

    def variable(
        self, view: ThreadView, name: str, frame: TurnFrame | None, tool: ToolDefinition | None
    ) -> str | None:
        """Thread, then the project's files and the process, then the agent, then the prompt."""
        own = self._secrets.value(view.id, view.row["parent_id"], name)
        found = own or self._environment.value(name, test_mode=self._test_mode)
        if found is not None:
            return found
        agent = frame.agent if frame else self._registry.agents.get(view.agent_name)
        if agent is not None and name in agent.env:
            return agent.env[name]
        prompt = frame.prompt if frame else None
        return prompt.env.get(name) if prompt is not None else None

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        transport = None
        if self._test_mode or model.provider == "offline":
            from sa_builder.providers.mock_transport import MockTransport

            if self._transport is None:
                self._transport = MockTransport(self._mock_book())
            transport = self._transport
        return self._providers.open(
            model, lambda name: self.variable(view, name, frame, None), transport
        )

    def redact(self, text: str) -> str:
        return self._redactor.text(text)

    # life

    @property
    def writable(self) -> bool:
        return True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def start(self) -> None:
        """Take the project, and go on with what a crash left.

        Raises:
            KnownError: another process runs the project, or its data cannot be opened.
        """
        self._folder.make()
        self._lock.take()
        try:
            self._engine = Engine(self._folder, self, self._clock, self._publish, self._tell_state)
            self._redactor = Redactor(self._known_secrets())
            unfinished = await self._engine.start()
            if unfinished and self._trusted():
                await self._engine.recover(unfinished)
        except BaseException:
            engine, self._engine = self._engine, None
            if engine is not None:
                await engine.close()
            self._lock.release()
            raise
        self._tell_state()

    async def close(self, *, deadline_s: float = 3.0) -> None:
        """Stop accepting, cancel, flush and end within the deadline."""
        engine, self._engine = self._engine, None
        try:
            async with asyncio.timeout(deadline_s):
                if engine is not None:
                    await engine.close()
                if self._host is not None:
                    await self._host.close(deadline_s=min(1.0, deadline_s))
                await self._providers.close()
        except TimeoutError:
            self._publish(
                RuntimeChanged(
                    running_turns=0, test_mode=self._test_mode, sentence="Closing took too long."
                )
            )
        finally:
            self._readers.shutdown(wait=False, cancel_futures=True)
            self._lock.release()

    async def list_agents(self) -> Sequence[AgentSummary]:
        return await self._read(
            lambda: agent_summaries(
                self._root, lambda name: self._environment.value(name, test_mode=self._test_mode)
            )
        )

    async def set_test_mode(self, on: bool) -> None:
        self._test_mode = on
        self._tell_state(force=True)

    # acting

    async def create_thread(self, wish: CreateThread) -> ThreadSummary:
        summary = await self.engine.create(wish)
        if wish.env:
            await self._read(lambda: self._secrets.keep(summary.id, wish.env))
            self._redactor = Redactor(self._known_secrets())
        return summary

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        return await self.engine.box(thread_id).accept(wish, silent=False, is_person=True)

    async def stop_thread(self, thread_id: ThreadId) -> None:
        await self.engine.box(thread_id).stop()

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        await self.engine.box(thread_id).go_on(side)

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        await self.engine.box(thread_id).terminate()

    async def delete_thread(self, thread_id: ThreadId) -> None:
        await self.engine.delete(thread_id)
        await self._read(lambda: self._secrets.forget(thread_id))

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None:
        await self.engine.box(thread_id).change_view(
            lambda tx, view: view.set(tx, title=title, title_is_set=1)
        )

    async def wait_until_rest(self, thread_id: ThreadId) -> ThreadSummary:
        """Wait until the thread, and any child it waits for, can go on no further."""
        while True:
            box = self.engine.box(thread_id)
            await box.at_rest.wait()
            view = await box.view()
            is_waiting = await self._waits_for_running_child(view)
            if box.at_rest.is_set() and not is_waiting:
                return view.summary()
            await asyncio.sleep(0.01)

    async def _waits_for_running_child(self, view: ThreadView) -> bool:
        if view.row["state"] != "parked" or view.row["is_held"]:
            return False
        for reference, row in view.children.items():
            if not row["blocking"]:
                continue
            box = self.engine.box(reference)
            if not box.at_rest.is_set():
                return True
            if await self._waits_for_running_child(await box.view()):
                return True
            if await box.ask(lambda file: file.rows("SELECT 1 FROM outbox LIMIT 1")):
                return True
        return False

    # reading

    async def list_threads(self, query: ThreadQuery) -> ThreadPage:
        if self._engine is not None:
            return await self._engine.index.page(query)
        return await self._read(lambda: read_page(self._folder.registry, query))

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails:
        return await self._from_file(thread_id, ThreadReader.details)

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        return await self._from_file(thread_id, lambda reader: reader.messages(query))

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message:
        return await self._from_file(thread_id, lambda reader: reader.message(message_id))

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        def read(reader: ThreadReader) -> LogPage:
            with contextlib.ExitStack() as opened:

                def child(reference: ThreadId) -> ThreadReader | None:
                    try:
                        found = ThreadReader(self._folder.thread_file(reference))
                    except StoreError:
                        return None
                    opened.callback(found.close)
                    return found

                return read_logs(reader, query, child)

        return await self._from_file(thread_id, read)

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        return await self._from_file(thread_id, lambda reader: reader.log(log_id))

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        return await self._from_file(thread_id, ThreadReader.acts)

    async def thread_file(self, thread_id: ThreadId) -> Path:
        return self._folder.thread_file(thread_id)

    # within

    async def _from_file(self, thread_id: ThreadId, ask: Callable[[ThreadReader], T]) -> T:
        path = self._folder.thread_file(thread_id)

        def read() -> T:
            if not path.exists():
                raise RuntimeRefused(f"There is no thread {thread_id}.", code="thread.missing")
            reader = ThreadReader(path, writable=True)
            try:
                return ask(reader)
            finally:
                reader.close()

        return await self._read(read)

    async def _read(self, ask: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, ask)

    def _mock_book(self) -> MockBook:
        if self._mocks is None:
            self._mocks = MockBook.load(self._root / "agents" / "mocks")
        return self._mocks

    def _known_secrets(self) -> list[str]:
        declared = {
            variable.name
            for tool in self._registry.tools.values()
            for variable in tool.variables
            if variable.type == "secret"
        }
        values = self._environment.secrets(declared, test_mode=self._test_mode)
        return [*values, *self._secrets.values()]

    def _publish(self, event: Event) -> None:
        self._tell(event)
        if isinstance(event, ThreadChanged):
            self._tell_state()

    def _tell_state(self, *, force: bool = False) -> None:
        running = self._engine.running_turns() if self._engine else 0
        if running == self._running_turns and not force:
            return
        self._running_turns = running
        sentence, count = "", 0
        if self._test_mode:
            try:
                count = self._mock_book().count
            except KnownError as error:
                sentence = error.text()
        event = RuntimeChanged(
            running_turns=running,
            test_mode=self._test_mode,
            mock_count=count,
            sentence=sentence,
        )
        self._tell(event)

    def _tell(self, event: Event) -> None:
        """Call every listener; the fault of one is told, and is not that of what runs."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:  # an edge: what a listener does is its own
                if self._engine is not None:
                    with contextlib.suppress(OSError):
                        self._engine.report_bug(error, "a listener")


def _registry(manifest: HostManifest) -> Registry:
    """The definitions that hold; one that breaks a rule is named by the rule's sentence."""
    definitions = [revive(one.kind, dict(one.values)) for one in manifest.definitions]
    problems = {
        _address(problem.path): problem.sentence.rstrip(".") + "." for problem in manifest.problems
    }
    broken = [one for address in problems if (one := _unread(address)) is not None]
    for finding in check([*(entry_of(one) for one in definitions), *broken]):
        if finding.severity == "error":
            problems.setdefault(_owner(finding.address), finding.sentence)
    kept = [one for one in definitions if _owner(entry_of(one).address) not in problems]
    return Registry(kept, content_hash=manifest.content_hash, problems=problems)


def _unread(address: str) -> Entry | None:
    """A definition that did not load: it exists, so what names it is not at fault."""
    folder, _, name = address.partition("/")
    kind = FOLDERS.get(folder)
    if kind is None:
        return None
    return Entry(kind=kind, name=name, stem=name, address=address, known=False)


def _address(path: str) -> str:
    return path.removeprefix("agents/").removesuffix(".py")


def _owner(address: str) -> str:
    return address.split(".", 1)[0]
