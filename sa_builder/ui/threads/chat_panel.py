"""The middle column of the Threads page: one thread as a conversation."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from sa_builder.client.base import RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.spec.events import Event, MessageDelta, MessageStored, ThreadChanged
from sa_builder.spec.logs import LogQuery, LogRow
from sa_builder.spec.threads import MessageQuery, SendMessage, ThreadDetails, ThreadQuery
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.composer import Composer
from sa_builder.ui.threads.conversation import Conversation
from sa_builder.ui.threads.list_panel import thread_menu
from sa_builder.ui.threads.transcript import Transcript
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState
from sa_builder.ui.widgets.buttons import IconButton
from sa_builder.ui.widgets.marks import Chip, ElidedLabel, Pill
from sa_builder.util.ids import ThreadId, new_message_id

PAGE_MESSAGES = 100
FRAME_MS = 33
_LOADING_AFTER_MS = 300


class _Title(ElidedLabel):
    """A heading that takes the width of its words and gives it up first."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "heading", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)


class ChatHeader(QWidget):
    """Title, agent, state, and the acts of the open thread.

    Signals:
        list_wished: the list shall be shown or hidden (narrow windows).
        silent_toggled: bool.
    """

    list_wished = Signal()
    silent_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(theme.size("page_header"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 1)
        row.setSpacing(8)
        self.list_button = IconButton(theme, "panel_left", tr("Show the thread list"), parent=self)
        self.list_button.clicked.connect(self.list_wished)
        self.list_button.hide()
        row.addWidget(self.list_button)
        self.title = _Title(theme, self)
        row.addWidget(self.title)
        self.agent = Chip(theme, "", icon="agent", parent=self)
        row.addWidget(self.agent)
        self.pill = Pill(theme, "waiting", "", parent=self)
        row.addWidget(self.pill)
        self.read_only = Chip(theme, tr("read-only"), icon="lock", parent=self)
        self.read_only.hide()
        row.addWidget(self.read_only)
        row.addStretch(1)
        self.silent = IconButton(
            theme, "eye", tr("Show silent messages"), checkable=True, parent=self
        )
        self.silent.toggled.connect(self.silent_toggled)
        row.addWidget(self.silent)
        self.more = IconButton(theme, "more", tr("Acts on this thread"), parent=self)
        row.addWidget(self.more)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        line = self.rect()
        line.setTop(line.bottom())
        painter.fillRect(line, self._theme.color("line.default"))


class ChatPanel(QWidget):
    """Shows a thread's messages as they come and takes what a person writes.

    Signals:
        thread_wished: a child's ThreadId.
        act_wished: an act and the ThreadSummary, as in the list.
        link_wished: the address of a link.
        loaded: the ThreadDetails that are shown now.
        failed: a KnownError.
        list_wished: show or hide the thread list.
        create_wished: "New Thread" of the empty state.
    """

    thread_wished = Signal(str)
    act_wished = Signal(str, object)
    link_wished = Signal(str)
    loaded = Signal(object)
    failed = Signal(object)
    list_wished = Signal()
    create_wished = Signal()

    def __init__(
        self, client: RuntimeClient, tasks: Tasks, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._tasks = tasks
        self._theme = theme
        self.conversation: Conversation | None = None
        self._wanted: ThreadId | None = None
        self._drafts: dict[ThreadId, str] = {}
        self._deltas: list[MessageDelta] = []
        self._dirty = False
        self._has_older = False
        self._loading_older = False
        self.setMinimumWidth(320)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._stack = QStackedWidget(self)
        column.addWidget(self._stack)
        self._empty = EmptyState(
            theme,
            "threads",
            tr("No thread is open"),
            tr("Choose one in the list, or start one: one click gives a running agent."),
            tr("New Thread") if client.writable else None,
            parent=self,
        )
        self._empty.act_wished.connect(self.create_wished)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._make_chat())
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self._on_frame_timeout)
        self._slow = QTimer(self, singleShot=True, interval=_LOADING_AFTER_MS)
        self._slow.timeout.connect(self._on_slow_timeout)

    def _make_chat(self) -> QWidget:
        chat = QWidget(self)
        column = QVBoxLayout(chat)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.header = ChatHeader(self._theme, chat)
        self.header.more.clicked.connect(self._on_more_clicked)
        self.header.silent_toggled.connect(self._on_silent_toggled)
        self.header.list_wished.connect(self.list_wished)
        column.addWidget(self.header)
        self.transcript = Transcript(self._theme, chat)
        self.transcript.older_wished.connect(self._on_older_wished)
        self.transcript.thread_wished.connect(self.thread_wished)
        self.transcript.link_wished.connect(self.link_wished)
        column.addWidget(self.transcript, 1)
        self.composer = Composer(self._theme, chat)
        self.composer.send_wished.connect(self._on_send_wished)
        self.composer.stop_wished.connect(self._on_stop_wished)
        self.composer.continue_wished.connect(self._on_continue_wished)
        holder = QHBoxLayout()
        holder.setContentsMargins(16, 0, 17, 12)
        holder.addWidget(self.composer)
        column.addLayout(holder)
        return chat

    # what the page calls

    @property
    def thread_id(self) -> ThreadId | None:
        """The thread that is, or is about to be, shown."""
        return self._wanted

    @property
    def drafts(self) -> dict[str, str]:
        """What is written and not sent, by thread."""
        drafts: dict[str, str] = {**self._drafts}
        if self._wanted is not None:
            drafts[self._wanted] = self.composer.text
        return {thread_id: text for thread_id, text in drafts.items() if text.strip()}

    def restore_drafts(self, drafts: Mapping[str, str]) -> None:
        """Take drafts of an earlier window; those of this one count more."""
        for thread_id, text in drafts.items():
            self._drafts.setdefault(ThreadId(thread_id), text)

    def show_thread(self, thread_id: ThreadId) -> None:
        """Open a thread; the draft of the one before is kept."""
        self._keep_draft()
        if thread_id != self._wanted:
            # At once, not when it is loaded: what is typed meanwhile belongs to the new thread.
            self.composer.set_text(self._drafts.get(thread_id, ""))
        self._wanted = thread_id
        self._slow.start()
        self._tasks.start(self._open(thread_id), on_error=self._on_failed)

    def forget(self, thread_id: ThreadId) -> None:
        """Let go of a thread that is deleted, and of what was written for it."""
        if self._wanted == thread_id:
            self.show_nothing()
        self._drafts.pop(thread_id, None)

    def show_nothing(self) -> None:
        """Show the empty state: nothing is chosen, or what was is gone."""
        self._keep_draft()
        self._wanted = None
        self.conversation = None
        self._stack.setCurrentIndex(0)

    def take_event(self, event: Event) -> None:
        """Take in what happened; shown at most 30 times a second."""
        if self.conversation is None:
            return
        if isinstance(event, MessageDelta):
            self._deltas.append(event)
        elif isinstance(event, MessageStored):
            self._take_message(event)
        elif isinstance(event, ThreadChanged):
            self._take_thread(event)
        else:
            return
        if not self._frame.isActive():
            self._frame.start()

    def take_logs(self, rows: list[LogRow]) -> None:
        """Learn from log rows how long calls took."""
        if self.conversation is not None and self.conversation.add_logs(rows):
            self._dirty = True
            if not self._frame.isActive():
                self._frame.start()

    def shutdown(self) -> None:
        """Stop every timer and keep what is written."""
        self._keep_draft()
        self._frame.stop()
        self._slow.stop()

    def focus_composer(self) -> None:
        """Put the keyboard where a message is written."""
        self.composer.field.setFocus()

    # loading

    async def _open(self, thread_id: ThreadId) -> None:
        details = await self._client.get_thread(thread_id)
        page = await self._client.list_messages(thread_id, MessageQuery(limit=PAGE_MESSAGES))
        conversation = Conversation(details)
        conversation.add(page.messages)
        conversation.show_silent = self.header.silent.isChecked()
        await self._load_children(conversation)
        if self._wanted != thread_id:
            return
        self._slow.stop()
        self._has_older = page.has_more
        self.conversation = conversation
        self._deltas.clear()
        self._stack.setCurrentIndex(1)
        self._show_details(details)
        self.transcript.set_empty_words(
            tr("No messages yet"),
            f"{tr('What you write below goes to')} {details.summary.agent_name}."
            if self._client.writable
            else tr("Nothing was said in this thread."),
        )
        self.transcript.set_blocks(conversation.blocks(), fresh=True)
        self.loaded.emit(details)

    async def _load_children(self, conversation: Conversation) -> None:
        parent_id = conversation.details.summary.id
        if not conversation.details.children:
            return
        page = await self._client.list_threads(ThreadQuery(parent_id=parent_id, limit=200))
        for summary in page.rows:
            child = conversation.add_child(summary)
            found = await self._client.list_messages(summary.id, MessageQuery(limit=50))
            child.messages.update({message.id: message for message in found.messages})
            await self._learn_durations(conversation, summary.id)

    async def _load_older(self, conversation: Conversation) -> None:
        try:
            query = MessageQuery(before_seq=conversation.oldest_seq, limit=PAGE_MESSAGES)
            page = await self._client.list_messages(conversation.details.summary.id, query)
            self._has_older = page.has_more and bool(page.messages)
            conversation.add(page.messages)
            if self.conversation is conversation:
                self.transcript.set_blocks(conversation.blocks())
        finally:
            self._loading_older = False

    async def _load_child(self, conversation: Conversation, child_id: ThreadId) -> None:
        details = await self._client.get_thread(conversation.details.summary.id)
        conversation.details = details
        page = await self._client.list_messages(child_id, MessageQuery(limit=50))
        child = conversation.children.get(child_id)
        if child is not None:
            child.messages.update({message.id: message for message in page.messages})
            await self._learn_durations(conversation, child_id)
        self._refresh(conversation)

    async def _learn_durations(self, conversation: Conversation, child_id: ThreadId) -> None:
        """Read how long a child's tool calls took; its messages do not say."""
        query = LogQuery(kinds=("tool", "child"), limit=200)
        conversation.add_logs((await self._client.list_logs(child_id, query)).rows)

    # events

    def _take_message(self, event: MessageStored) -> None:
        conversation = self.conversation
        if conversation is None:
            return
        message = event.message
        child = conversation.children.get(message.thread_id)
        if message.thread_id == conversation.details.summary.id:
            is_new = message.id not in conversation.messages
            self._apply_deltas()
            conversation.add([message])
            if is_new and message.role != "tool" and not message.silent:
                self.transcript.add_new()
        elif child is not None:
            self._apply_deltas()
            child.messages[message.id] = message
            child.streams.pop(message.id, None)
        else:
            return
        self._dirty = True

    def _take_thread(self, event: ThreadChanged) -> None:
        conversation = self.conversation
        if conversation is None:
            return
        summary = event.summary
        if summary.id == conversation.details.summary.id:
            details = conversation.details.model_copy(update={"summary": summary})
            conversation.details = details
            self._show_details(details)
            self._dirty = True
        elif summary.parent_id == conversation.details.summary.id:
            is_new = summary.id not in conversation.children
            conversation.add_child(summary)
            self._dirty = True
            if is_new:
                self._tasks.start(
                    self._load_child(conversation, summary.id), on_error=self._on_failed
                )

    def _apply_deltas(self) -> None:
        conversation = self.conversation
        if conversation is None:
            self._deltas.clear()
            return
        for delta in _joined(self._deltas):
            block = conversation.stream(delta)
            if block is None:
                self._dirty = True
            elif not self._dirty:
                self.transcript.block_changed(block)
        self._deltas.clear()

    @Slot()
    def _on_frame_timeout(self) -> None:
        self._apply_deltas()
        if self._dirty and self.conversation is not None:
            self._refresh(self.conversation)

    def _refresh(self, conversation: Conversation) -> None:
        if self.conversation is conversation:
            self._dirty = False
            self.transcript.set_blocks(conversation.blocks())

    @Slot()
    def _on_slow_timeout(self) -> None:
        if self.conversation is None:
            self._empty.set_text(tr("Loading…"), "")

    @Slot()
    def _on_older_wished(self) -> None:
        if self._has_older and not self._loading_older and self.conversation is not None:
            self._loading_older = True
            self._tasks.start(self._load_older(self.conversation), on_error=self._on_failed)

    # header and composer

    def _show_details(self, details: ThreadDetails) -> None:
        summary = details.summary
        header, composer = self.header, self.composer
        header.title.setText(summary.title)
        header.title.updateGeometry()
        header.agent.setText(summary.agent_name)
        header.agent.updateGeometry()
        state = words.state_of_thread(summary)
        header.pill.set_state(state, words.thread_state_word(summary))
        writable = self._client.writable and details.writable
        header.read_only.setVisible(not writable)
        if not writable:
            composer.set_locked(tr("A thread file opened for reading: nothing can be sent."))
            composer.set_running(False)
            composer.set_bar(None)
            return
        if summary.state == "terminated":
            composer.set_locked(tr("This thread was terminated: it takes no more messages."))
            composer.set_running(False)
            composer.set_bar(None)
            return
        composer.set_locked(None)
        side = "A" if details.side_a.startswith("human") else "B"
        composer.set_prompt(f"{tr('Message')} {summary.agent_name} {tr('as side')} {side}")
        composer.set_running(summary.state in ("running", "parked"))
        reason = summary.state_reason or ""
        if summary.state == "failed":
            composer.set_bar("failed", reason or tr("The last turn failed."), tr("Continue"))
        elif summary.state == "parked":
            words_of = reason or tr("This thread waits.")
            sentence = f"{_as_sentence(words_of)} {tr('What you send now is queued.')}"
            composer.set_bar("parked", sentence)
        elif summary.state == "idle" and reason:
            composer.set_bar("parked", _as_sentence(reason), tr("Continue"))
        else:
            composer.set_bar(None)

    def _keep_draft(self) -> None:
        if self._wanted is not None:
            self._drafts[self._wanted] = self.composer.text

    @Slot(str)
    def _on_send_wished(self, text: str) -> None:
        thread_id = self._wanted
        if thread_id is None:
            return
        self.composer.set_text("")
        self.transcript.scroll_to_end()
        self._tasks.start(self._send(thread_id, text))

    async def _send(self, thread_id: ThreadId, text: str) -> None:
        try:
            await self._client.send_message(
                thread_id, SendMessage(content=text, id=new_message_id())
            )
        except KnownError as error:
            if self.thread_id == thread_id and not self.composer.text:
                self.composer.set_text(text)
            else:
                self._drafts[thread_id] = text
            self.failed.emit(error)

    @Slot()
    def _on_stop_wished(self) -> None:
        if self._wanted is not None:
            self._tasks.start(self._client.stop_thread(self._wanted), on_error=self._on_failed)

    @Slot()
    def _on_continue_wished(self) -> None:
        if self.conversation is not None:
            details = self.conversation.details
            side = "b" if details.side_a.startswith("human") else "a"
            self._tasks.start(
                self._client.continue_thread(details.summary.id, side), on_error=self._on_failed
            )

    @Slot()
    def _on_more_clicked(self) -> None:
        if self.conversation is None:
            return
        summary = self.conversation.details.summary
        menu = thread_menu(self._theme, summary, self._client.writable, self)
        menu.triggered.connect(
            lambda action: self.act_wished.emit(str(action.data()), summary)  # pyright: ignore
        )
        button = self.header.more
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    @Slot(bool)
    def _on_silent_toggled(self, on: bool) -> None:
        if self.conversation is not None:
            self.conversation.show_silent = on
            self._refresh(self.conversation)

    def _on_failed(self, error: KnownError) -> None:
        self._slow.stop()
        if self.conversation is None:
            self._empty.set_text(error.sentence, error.act)
        self.failed.emit(error)


def _joined(deltas: list[MessageDelta]) -> list[MessageDelta]:
    """Neighbours of one message as one delta, so that a document grows once a frame."""
    joined: list[MessageDelta] = []
    for delta in deltas:
        last = joined[-1] if joined else None
        if last is not None and last.message_id == delta.message_id and not delta.tool_name:
            joined[-1] = last.model_copy(
                update={
                    "text": last.text + delta.text,
                    "reasoning": last.reasoning + delta.reasoning,
                }
            )
        else:
            joined.append(delta)
    return joined


def _as_sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
