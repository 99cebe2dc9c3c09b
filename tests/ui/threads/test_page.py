"""The Threads page with real mouse and key events."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit

from sa_builder.client.base import RuntimeClient
from sa_builder.client.sample_threads import CHILD, TRIAGE, sample_client
from sa_builder.client.scripted import ScriptedClient
from sa_builder.spec.events import MessageDelta
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.spec.threads import (
    AgentSummary,
    CreateThread,
    MissingVariable,
    SendMessage,
    ThreadSummary,
)
from sa_builder.ui.dialogs.sheet import Sheet
from sa_builder.ui.threads.blocks import TextBlock
from sa_builder.ui.threads.list_panel import thread_menu
from sa_builder.ui.threads.memory import ThreadsMemory
from sa_builder.ui.threads.new_thread import NewThreadDialog
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import TextLabel
from sa_builder.util.ids import MessageId, ThreadId
from tests.ui.hands import click, press_key, type_text
from tests.ui.threads.conftest import PageDesk

MakeDesk = Callable[[RuntimeClient], PageDesk]


def answer(number: int, text: str, **more: object) -> Message:
    return Message.model_validate(
        {
            "id": f"answer-{number}",
            "thread_id": TRIAGE,
            "role": "assistant",
            "content": text,
            "side": "a",
            "turn": 6,
            "step": 1,
            **more,
        }
    )


def delta(text: str, number: int = 1) -> MessageDelta:
    return MessageDelta(
        thread_id=TRIAGE, message_id=MessageId(f"answer-{number}"), side="a", turn=6, step=1,
        text=text,
    )  # fmt: skip


def dialog(desk: PageDesk) -> NewThreadDialog:
    desk.run_until(lambda: desk.page.findChild(NewThreadDialog))
    found = desk.page.findChild(NewThreadDialog)
    assert found is not None
    return found


def test_a_click_in_the_list_opens_the_thread(desk: PageDesk) -> None:
    panel = desk.page.list_panel
    index = panel.model.index_of(TRIAGE)

    click(panel.view.viewport(), panel.view.visualRect(index).center())
    desk.run_until(lambda: desk.page.chat.conversation)

    assert desk.page.chat.header.title.text() == "Triage acme/widgets #482"
    assert desk.page.chat.header.pill.text == "parked"
    assert "I am handing this to issue_triage." in desk.page.chat.transcript.text()


def test_what_is_typed_is_sent_and_shown(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    field = desk.page.chat.composer.field

    type_text(field, "Thank you")
    press_key(field, Qt.Key.Key_Return)
    desk.run_until(lambda: "Thank you" in desk.page.chat.transcript.text())

    sent = [wish for name, wish in desk.script.wishes if name == "send_message"]
    assert len(sent) == 1
    thread_id, wish = sent[0]  # pyright: ignore
    assert thread_id == TRIAGE
    assert isinstance(wish, SendMessage)
    assert wish.content == "Thank you"
    assert wish.id is not None
    assert desk.page.chat.composer.text == ""


def test_a_refused_message_comes_back_into_the_field(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    desk.script.change_thread(TRIAGE, state="terminated")
    field = desk.page.chat.composer.field

    type_text(field, "Too late")
    press_key(field, Qt.Key.Key_Return)
    desk.run_until(lambda: "This thread was terminated." in desk.said)

    assert desk.page.chat.composer.text == "Too late"


def test_streamed_text_grows_and_becomes_markdown_at_its_end(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    chat = desk.page.chat

    for part in ("It is ", "**done", "** and `", "labelled`."):
        desk.script.stream(delta(part))
    desk.run_until(lambda: "It is **done** and `labelled`." in chat.transcript.text())
    plain = chat.transcript.blocks[-1]
    desk.script.store_message(answer(1, "It is **done** and `labelled`."))
    desk.run_until(lambda: chat.transcript.blocks[-1] is not plain)
    whole = chat.transcript.blocks[-1]

    assert isinstance(plain, TextBlock)
    assert isinstance(whole, TextBlock)
    assert whole.document(chat.transcript.ink).toPlainText() == "It is done and labelled."
    assert chat.transcript.text().count("labelled") == 1


def test_five_hundred_deltas_lay_out_at_most_thirty_times_a_second(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    chat = desk.page.chat
    changes: list[str] = []
    settle = chat.transcript._settle  # pyright: ignore[reportPrivateUsage]

    def counted(anchor: tuple[str, float] | None) -> None:
        changes.append("settle")
        settle(anchor)

    chat.transcript._settle = counted  # pyright: ignore[reportPrivateUsage]
    for number in range(500):
        desk.script.stream(delta(f"word{number} "))
    desk.run_until(lambda: "word499" in chat.transcript.text())
    desk.settle()

    assert len(changes) <= 8


def test_a_tool_call_shows_its_result_when_it_comes(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    call = ToolCall(id="c9", name="get_weather", arguments_json='{"city": "Oslo"}')
    desk.script.store_message(answer(2, "", tool_calls=[call]))
    desk.run_until(lambda: "get_weather" in desk.page.chat.transcript.text())

    desk.script.store_message(
        answer(3, "4 °C, rain", role="tool", name="get_weather", tool_call_id="c9",
               tool_status="success")
    )  # fmt: skip
    desk.run_until(lambda: "4 °C, rain" in desk.page.chat.transcript.text())
    desk.press("Unfold tool call get_weather")

    assert desk.target("Fold tool call get_weather")


def test_a_child_is_shown_inline_and_opens(desk: PageDesk) -> None:
    desk.open(TRIAGE)

    desk.press("Unfold tool call get_github_issue")
    desk.press("Open issue_triage")
    desk.run_until(
        lambda: (found := desk.page.chat.conversation) and found.details.summary.id == CHILD
    )

    assert desk.page.chat.header.title.text() == "acme/widgets #482"
    row = desk.page.list_panel.view.currentIndex()
    assert row.data() == "triage-482"


def test_silent_messages_are_hidden_until_asked_for(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    desk.script.store_message(answer(4, "A child reports.", role="user", silent=True))
    desk.settle()
    hidden = desk.page.chat.transcript.text()

    click(desk.page.chat.header.silent)

    assert "A child reports." not in hidden
    assert "A child reports." in desk.page.chat.transcript.text()


def test_a_failed_thread_says_why_and_can_be_continued(desk: PageDesk) -> None:
    desk.open(ThreadId("sample-summarise-open-pull-requests"))
    composer = desk.page.chat.composer

    assert "429 after 2 retries" in composer.bar.label.text()
    assert "429 after 2 retries" in desk.page.chat.transcript.text()
    click(composer.bar.button)
    desk.run_until(lambda: any(name == "continue_thread" for name, _ in desk.script.wishes))


def test_stop_is_there_while_a_turn_runs(desk: PageDesk) -> None:
    desk.open(ThreadId("sample-what-changed-on-release/2.4?"))

    click(desk.page.chat.composer.stop)
    desk.run_until(lambda: any(name == "stop_thread" for name, _ in desk.script.wishes))
    desk.run_until(lambda: not desk.page.chat.composer.stop.isVisible())


def test_a_draft_waits_for_its_thread(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    type_text(desk.page.chat.composer.field, "half a thought")

    desk.open(CHILD)
    elsewhere = desk.page.chat.composer.text
    desk.open(TRIAGE)

    assert elsewhere == ""
    assert desk.page.chat.composer.text == "half a thought"


def test_one_click_gives_a_running_instance(desk: PageDesk) -> None:
    click(desk.page.list_panel.new_button.main)
    desk.run_until(lambda: desk.page.chat.conversation)

    wishes = [wish for name, wish in desk.script.wishes if name == "create_thread"]
    assert wishes == [CreateThread(agent_name="repo_assistant")]
    assert desk.page.chat.header.agent.text() == "repo_assistant"
    assert desk.page.chat.composer.field.hasFocus()


def test_a_second_press_while_a_thread_starts_makes_no_second_one(desk: PageDesk) -> None:
    click(desk.page.list_panel.new_button.main)
    click(desk.page.list_panel.new_button.main)
    desk.run_until(lambda: desk.page.chat.conversation)
    once = [name for name, _ in desk.script.wishes if name == "create_thread"]
    click(desk.page.list_panel.new_button.main)
    desk.run_until(lambda: len(desk.said) == 4)

    assert len(once) == 1
    assert [name for name, _ in desk.script.wishes].count("create_thread") == 2
    assert desk.said[0] == "Starting a thread of repo_assistant…"


def test_new_thread_starts_the_agent_chosen_last_else_the_one_that_is_shown(
    make_desk: MakeDesk,
) -> None:
    client = ScriptedClient()
    client.add_agents(*(AgentSummary(name=name) for name in ("first", "shown", "other")))
    desk = make_desk(client)
    desk.page.restore(ThreadsMemory(), lambda: "shown")

    for agent_name in (None, "other", None):
        before = desk.page.chat.thread_id
        desk.page.new_thread(agent_name)
        desk.run_until(lambda seen=before: desk.page.chat.thread_id != seen)

    wishes = [wish for name, wish in client.wishes if name == "create_thread"]
    begun = [wish.agent_name for wish in wishes if isinstance(wish, CreateThread)]
    assert begun == ["shown", "other", "other"]
    assert desk.page.memory.last_agent == "other"


def test_the_open_thread_and_what_was_typed_are_there_again(make_desk: MakeDesk) -> None:
    before = make_desk(sample_client())
    before.open(TRIAGE)
    type_text(before.page.chat.composer.field, "And the others?")
    kept: list[ThreadsMemory] = []
    before.page.memory_changed.connect(lambda: kept.append(before.page.memory))
    before.run_until(lambda: kept)

    after = make_desk(sample_client())
    after.page.restore(kept[-1], lambda: None)
    after.run_until(lambda: after.page.chat.conversation)

    assert after.page.chat.thread_id == TRIAGE
    assert after.page.chat.composer.text == "And the others?"


def test_a_thread_that_is_gone_is_not_opened_again(make_desk: MakeDesk) -> None:
    desk = make_desk(sample_client())

    desk.page.restore(ThreadsMemory(open_thread="gone"), lambda: None)
    desk.run_until(lambda: desk.page.list_panel.model.rowCount() > 9)
    desk.settle()

    assert desk.page.chat.thread_id is None
    assert not desk.said


def test_an_agent_that_lacks_a_variable_is_asked_about(desk: PageDesk) -> None:
    desk.page.new_thread("issue_triage")
    asked = dialog(desk)

    type_text(asked.variable_fields["GITHUB_TOKEN"], "ghp_secret")
    echo = asked.variable_fields["GITHUB_TOKEN"].echoMode()
    type_text(asked.tags, "team:core, night")
    click(asked.create_button)
    desk.run_until(lambda: desk.page.chat.conversation)

    (wish,) = [wish for name, wish in desk.script.wishes if name == "create_thread"]
    assert isinstance(wish, CreateThread)
    assert wish.agent_name == "issue_triage"
    assert wish.env == {"GITHUB_TOKEN": "ghp_secret"}
    assert list(wish.tags) == ["team:core", "night"]
    assert echo == QLineEdit.EchoMode.Password


def test_an_agent_with_a_problem_says_it_and_is_not_created(make_desk: MakeDesk) -> None:
    client = ScriptedClient()
    client.add_agents(
        AgentSummary(name="broken", problem="agents/agents/broken.py has no prompt."),
        AgentSummary(
            name="poor",
            missing_variables=[MissingVariable(name="KEY", type="secret", needed_by="tools/pay")],
        ),
    )
    desk = make_desk(client)

    desk.page.new_thread("broken")
    asked = dialog(desk)

    assert not asked.create_button.isEnabled()
    asked.agent.setCurrentIndex(1)
    assert asked.create_button.isEnabled()
    assert list(asked.variable_fields) == ["KEY"]
    asked.reject()


def test_search_and_chips_narrow_the_list(desk: PageDesk) -> None:
    panel = desk.page.list_panel

    type_text(panel.search, "widgets 471")
    desk.run_until(lambda: panel.model.rowCount() == 2)
    panel.search.clear()
    desk.run_until(lambda: panel.model.rowCount() > 9)
    click(panel.chips["Failed"])
    desk.run_until(lambda: panel.model.rowCount() == 2)

    assert panel.chips["Failed"].text() == "Failed 1"
    assert panel.model.index(1, 0).data() == "Summarise open pull requests"


def test_delete_tells_what_goes_and_then_deletes(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    summary = desk.page.list_panel.model.summary_of(TRIAGE)
    assert summary is not None

    desk.page.list_panel.act_wished.emit("delete", summary)
    desk.run_until(lambda: desk.page.findChild(Sheet))
    sheet = desk.page.findChild(Sheet)
    assert sheet is not None
    told = " ".join(label.text() for label in sheet.findChildren(TextLabel))
    confirm = sheet.findChild(Button, "confirm")
    assert confirm is not None
    click(confirm)
    desk.run_until(lambda: desk.page.chat.conversation is None)

    assert "1 child thread" in told
    assert desk.page.list_panel.model.summary_of(TRIAGE) is None


def test_a_menu_offers_only_what_can_be_done(desk: PageDesk) -> None:
    summary = desk.page.list_panel.model.summary_of(TRIAGE)
    assert isinstance(summary, ThreadSummary)

    def offered(writable: bool) -> list[str]:
        menu = thread_menu(desk.page._theme, summary, writable, desk.page)  # pyright: ignore
        acts: list[QAction] = menu.actions()
        names = [str(act.data()) for act in acts if act.data() and act.isEnabled()]
        menu.deleteLater()
        return names

    assert offered(True) == ["rename", "stop", "terminate", "copy_id", "show_file", "delete"]
    assert offered(False) == ["copy_id", "show_file"]


def test_a_narrow_page_puts_logs_into_a_tab_and_the_list_into_a_drawer(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    page = desk.page

    page.resize(900, 700)
    desk.settle(0.01)
    drawer_hidden = not page.list_panel.isVisible()
    page.narrow_tabs.setCurrentIndex(1)
    in_tab = page.logs.isVisible() and not page.chat.isVisible()
    page.narrow_tabs.setCurrentIndex(0)
    click(page.chat.header.list_button)
    drawer_open = page.list_panel.isVisible()
    page.resize(1500, 700)
    desk.settle(0.01)

    assert (drawer_hidden, in_tab, drawer_open) == (True, True, True)
    assert page.list_panel.isVisible()
    assert page.chat.isVisible()
    assert page.logs.isVisible()
    assert page.splitter.indexOf(page.list_panel) == 0


def test_the_scheme_changes_without_losing_anything(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    before = desk.page.chat.transcript.text()

    desk.page._theme.set_preference("dark")  # pyright: ignore[reportPrivateUsage]
    desk.page.grab()

    assert desk.page.chat.transcript.text() == before


def test_older_messages_come_when_the_reader_nears_the_top(make_desk: MakeDesk) -> None:
    client = ScriptedClient()
    thread_id = ThreadId("long")
    client.add_thread(
        ThreadSummary(
            id=thread_id,
            agent_name="a",
            origin_agent_name="a",
            title="Long",
            created_at_us=1,
            updated_at_us=1,
        )
    )
    client.add_messages(
        [
            Message(
                id=MessageId(f"m{number}"),
                thread_id=thread_id,
                role="user",
                content=f"Message {number}",
                side="b",
                turn=number,
            )
            for number in range(1, 251)
        ]
    )
    desk = make_desk(client)
    desk.open(thread_id)
    conversation = desk.page.chat.conversation
    assert conversation is not None
    first = len(conversation.messages)

    desk.page.chat.transcript.verticalScrollBar().setValue(0)
    desk.run_until(lambda: len(conversation.messages) == 200)
    desk.settle()

    assert first == 100
    assert desk.page.chat.transcript.verticalScrollBar().value() > 1000


def test_activity_elsewhere_moves_rows_but_opens_nothing(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    other = ThreadId("sample-where-is-rate-limiting-done?")

    desk.script.change_thread(other, preview="Newest of all")
    desk.script.change_thread(TRIAGE, preview="No, this one")
    desk.settle()

    assert desk.page.chat.thread_id == TRIAGE
    assert desk.page.list_panel.model.index_of(TRIAGE).row() == 1
    marked = desk.page.list_panel.view.currentIndex()
    assert marked == desk.page.list_panel.model.index_of(TRIAGE)


def test_thoughts_and_tool_names_are_seen_while_they_stream(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    thinks = delta("").model_copy(update={"reasoning": "It must be the cache."})

    desk.script.stream(thinks)
    desk.script.stream(delta("").model_copy(update={"tool_name": "get_weather"}))
    desk.script.stream(delta("Here it is."))
    desk.run_until(lambda: "Here it is." in desk.page.chat.transcript.text())

    assert "It must be the cache." in desk.page.chat.transcript.text()
    assert desk.target("Unfold tool call get_weather")


def test_a_failed_message_shows_its_sentence_once(desk: PageDesk) -> None:
    desk.open(TRIAGE)
    sentence = "openrouter refused the key (401). Set OPENROUTER_API_KEY."

    desk.script.store_message(
        answer(7, sentence, status="failed", metadata={"error": True}),
    )
    desk.script.store_message(
        answer(8, "Half an answ", status="failed", metadata={"partial": True}),
    )
    desk.run_until(lambda: "Half an answ" in desk.page.chat.transcript.text())

    text = desk.page.chat.transcript.text()
    assert text.count(sentence) == 1
    assert text.endswith("what had come so far is kept.")
