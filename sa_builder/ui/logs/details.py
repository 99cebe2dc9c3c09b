"""Everything that was kept of one log row, in tabs that are filled when they are looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from sa_builder.spec.logs import Act, LogDetails, LogRow
from sa_builder.ui.logs.curl import as_curl
from sa_builder.ui.logs.journal import JournalView
from sa_builder.ui.logs.overview import Overview
from sa_builder.ui.logs.payload_view import PayloadView
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.blocks import Block, CodeBlock, HeadBlock, NoticeBlock, TextBlock
from sa_builder.ui.threads.fold_blocks import ToolBlock
from sa_builder.ui.threads.transcript import Transcript
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState
from sa_builder.ui.widgets.marks import Separator

TABS = (
    "Overview",
    "Request",
    "Response",
    "System prompt",
    "Messages",
    "Tools",
    "Reasoning",
    "Error",
    "Journal",
    "Raw",
)
_GATE_CHARS = 256 * 1024
_TILES = {"user": "human", "assistant": "prompt", "tool": "tool", "system": "prompt"}


class BlocksPage(QStackedWidget):
    """Blocks, or words where there are none."""

    def __init__(self, theme: Theme, icon: str, empty: tuple[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self.transcript = Transcript(theme, self)
        self.addWidget(self.transcript)
        self.addWidget(EmptyState(theme, icon, *empty, parent=self))

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Show blocks from their top."""
        self.setCurrentIndex(0 if blocks else 1)
        self.transcript.set_blocks(blocks, fresh=True)
        self.transcript.scroll_to_start()


class LogDetailsView(QWidget):
    """The tabs.

    Signals:
        said: a sentence for the status bar.
        failed: a KnownError.
        definition_wished: an address.
    """

    said = Signal(str)
    failed = Signal(object)
    definition_wished = Signal(str)

    def __init__(self, theme: Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._details: LogDetails | None = None
        self._related: Sequence[LogRow] = ()
        self._acts: Sequence[Act] = ()
        self._filled: set[str] = set()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.tabs = QTabBar(self)
        self.tabs.setObjectName("log_tabs")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setStyleSheet("QTabBar::tab { padding: 0 6px; }")
        for name in TABS:
            self.tabs.addTab(tr(name))
        self.tabs.currentChanged.connect(self._on_tabs_current_changed)
        strip = QHBoxLayout()
        strip.setContentsMargins(6, 0, 6, 0)
        strip.addWidget(self.tabs)
        column.addLayout(strip)
        column.addWidget(Separator(theme, parent=self))
        self._stack = QStackedWidget(self)
        column.addWidget(self._stack, 1)
        self.overview = Overview(theme, self)
        self.overview.curl_wished.connect(self.copy_as_curl)
        self.overview.definition_wished.connect(self.definition_wished)
        self.journal = JournalView(theme, self)
        self._pages: dict[str, QWidget] = {"Overview": self.overview, "Journal": self.journal}
        self._make_payloads(theme, tasks)
        self._make_block_pages(theme)
        for name in TABS:
            self._stack.addWidget(self._pages[name])
        self._fill: Mapping[str, Callable[[LogDetails], None]] = {
            "Overview": self._fill_overview,
            "Request": lambda one: self.request.show_text(one.request_body),
            "Response": lambda one: self.response.show_text(
                one.response_body if one.response_body is not None else one.result
            ),
            "System prompt": self._fill_system_prompt,
            "Messages": self._fill_messages,
            "Tools": self._fill_tools,
            "Reasoning": self._fill_reasoning,
            "Error": self._fill_error,
            "Journal": lambda one: self.journal.show_acts(self._acts, one),
            "Raw": lambda one: self.raw.show_text(one.model_dump_json(indent=2)),
        }

    def _make_payloads(self, theme: Theme, tasks: Tasks) -> None:
        none = tr("Nothing was sent")
        self.request = PayloadView(
            theme,
            tasks,
            "request.json",
            (none, tr("Only a model call makes a request; choose one in the table.")),
            self,
        )
        self.response = PayloadView(
            theme,
            tasks,
            "response.txt",
            (tr("Nothing came back"), tr("The row still runs, or it failed before an answer.")),
            self,
        )
        self.raw = PayloadView(theme, tasks, "log.json", (tr("Nothing is chosen"), ""), self)
        for name, page in (
            ("Request", self.request),
            ("Response", self.response),
            ("Raw", self.raw),
        ):
            page.said.connect(self.said)
            page.failed.connect(self.failed)
            self._pages[name] = page

    def _make_block_pages(self, theme: Theme) -> None:
        empty = {
            "System prompt": ("prompt", tr("No system prompt"), tr("This row sent none.")),
            "Messages": ("threads", tr("No messages"), tr("This row sent no history.")),
            "Tools": ("tool", tr("No tool calls"), tr("The model called nothing in this step.")),
            "Reasoning": ("note", tr("No reasoning"), tr("The model showed none.")),
            "Error": ("state_done", tr("No error"), tr("This row ended well.")),
        }
        for name, (icon, line, sentence) in empty.items():
            page = BlocksPage(theme, icon, (line, sentence), self)
            page.transcript.link_wished.connect(self._on_link_wished)
            self._pages[name] = page

    # what the panel calls

    @property
    def details(self) -> LogDetails | None:
        """The row in sight."""
        return self._details

    def show_details(
        self, details: LogDetails, related: Sequence[LogRow], acts: Sequence[Act]
    ) -> None:
        """Show a row; the tab stays, the others are filled when they are chosen."""
        same = self._details is not None and self._details.row.id == details.row.id
        if same and self._details == details and self._acts == acts:
            return
        self._details, self._related, self._acts = details, related, acts
        self._filled.clear()
        self._count_tabs(details)
        self._show_tab()

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front, by its name in `TABS`."""
        self.tabs.setCurrentIndex(TABS.index(name))

    def page(self, name: str) -> QWidget:
        """The page of a tab."""
        return self._pages[name]

    @Slot()
    def copy_as_curl(self) -> None:
        """Put the request on the clipboard as a command, without its secrets."""
        text = as_curl(self._details) if self._details is not None else None
        if text is not None:
            QGuiApplication.clipboard().setText(text)
            self.said.emit(tr("Copied as cURL; put your key into API_KEY."))

    # tabs

    def _count_tabs(self, details: LogDetails) -> None:
        calls = len(json_list(details.tool_calls_json))
        if details.arguments_json is not None:
            calls = 1
        counts = {"Tools": calls, "Messages": len(_sent_messages(details))}
        for at, name in enumerate(TABS):
            count = counts.get(name, 0)
            self.tabs.setTabText(at, f"{tr(name)} {count}" if count else tr(name))

    @Slot(int)
    def _on_tabs_current_changed(self, at: int) -> None:
        self._show_tab()

    def _show_tab(self) -> None:
        name = TABS[max(0, self.tabs.currentIndex())]
        self._stack.setCurrentWidget(self._pages[name])
        if self._details is not None and name not in self._filled:
            self._filled.add(name)
            self._fill[name](self._details)

    def _blocks_page(self, name: str) -> BlocksPage:
        return cast("BlocksPage", self._pages[name])

    def _fill_overview(self, details: LogDetails) -> None:
        status = next((act.status for act in self._acts if act.key == details.act_key), "")
        self.overview.show_details(details, self._related, status)

    def _fill_system_prompt(self, details: LogDetails) -> None:
        blocks: list[Block] = []
        for number, part in enumerate(details.prompt_parts):
            blocks += _prompt_part_blocks(number, part)
        if not blocks and details.system_prompt:
            blocks = [TextBlock("system", details.system_prompt, markdown=False, most_px=900)]
            blocks[0].indent_px = 0
        self._blocks_page("System prompt").show_blocks(blocks)

    def _fill_messages(self, details: LogDetails) -> None:
        blocks: list[Block] = []
        for number, message in enumerate(_sent_messages(details)):
            role = str(message.get("role", "?"))
            blocks.append(
                HeadBlock(
                    f"m{number}",
                    tile=_TILES.get(role, "prompt"),
                    name=role,
                    caption=f"{number + 1}",
                    time="",
                )
            )
            text = _content_text(message.get("content"))
            if text:
                blocks.append(TextBlock(f"m{number}/text", text, markdown=False, most_px=900))
            for at, call in enumerate(_list(message.get("tool_calls"))):
                function = _mapping(call.get("function", call))
                blocks.append(
                    ToolBlock(
                        f"m{number}/call{at}",
                        name=str(function.get("name", "?")),
                        arguments_json=str(function.get("arguments", "")),
                        state="done",
                    )
                )
        self._blocks_page("Messages").show_blocks(blocks)

    def _fill_tools(self, details: LogDetails) -> None:
        page = self._blocks_page("Tools")
        blocks: list[Block] = []
        if details.arguments_json is not None:
            row = details.row
            blocks.append(
                ToolBlock(
                    "self",
                    name=row.title,
                    arguments_json=details.arguments_json,
                    state=words.state_of_log(row.status),
                    result=details.result if details.result is not None else row.error,
                    is_error=row.status == "failed",
                    duration_ms=row.duration_ms,
                )
            )
        results = {str(one.get("call_id")): one for one in json_list(details.tool_results_json)}
        for number, call in enumerate(json_list(details.tool_calls_json)):
            result = results.get(str(call.get("id")))
            blocks.append(_call_block(f"call{number}", call, result))
        for block in blocks:
            block.indent_px = 0
            page.transcript.ink.open_keys.add(block.key)
        if details.captured_output:
            head = CodeBlock("output", details.captured_output)
            blocks.append(head)
        page.show_blocks(blocks)

    def _fill_reasoning(self, details: LogDetails) -> None:
        blocks: list[Block] = []
        if details.reasoning_content:
            blocks.append(TextBlock("reasoning", details.reasoning_content, most_px=760))
            blocks[0].indent_px = 0
        self._blocks_page("Reasoning").show_blocks(blocks)

    def _fill_error(self, details: LogDetails) -> None:
        row = details.row
        blocks: list[Block] = []
        if row.error or row.error_type:
            sentence = row.error or str(row.error_type)
            blocks.append(NoticeBlock("error", sentence, "failed"))
            parts = (row.error_type, details.error_origin and f"from {details.error_origin}")
            caption = " · ".join(part for part in parts if part)
            if caption:
                blocks.append(
                    TextBlock("type", caption, markdown=False, style="code", token="text.muted")
                )
            if details.traceback:
                blocks.append(CodeBlock("traceback", details.traceback.rstrip("\n")))
        for block in blocks:
            block.indent_px = 0
            block.gap_px = 8
        self._blocks_page("Error").show_blocks(blocks)

    @Slot(str)
    def _on_link_wished(self, link: str) -> None:
        if link.startswith("definition:"):
            self.definition_wished.emit(link.removeprefix("definition:"))


def _prompt_part_blocks(number: int, part: Mapping[str, Any]) -> list[Block]:
    prompt = str(part.get("prompt") or "")
    path, first, last = part.get("path"), part.get("line_from"), part.get("line_to")
    place = ""
    if path:
        place = f"{path}:{first}" + (f"–{last}" if last and last != first else "")
    title = TextBlock(
        f"part{number}/title",
        f"[{prompt or tr('text')}](definition:prompts/{prompt})  {place}"
        if prompt
        else place or tr("text"),
        style="small",
        token="text.muted",
    )
    text = TextBlock(f"part{number}/text", str(part.get("text") or ""), markdown=False, most_px=900)
    title.indent_px = text.indent_px = 0
    title.gap_px, text.gap_px = 14.0, 4.0
    return [title, text]


def _call_block(key: str, call: Mapping[str, Any], result: Mapping[str, Any] | None) -> ToolBlock:
    arguments = call.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if result is None:
        return ToolBlock(key, name=str(call.get("name")), arguments_json=arguments, state="waiting")
    failed = result.get("status") == "error"
    shown = result.get("error") if failed else result.get("result")
    took = result.get("duration_ms")
    return ToolBlock(
        key,
        name=str(call.get("name")),
        arguments_json=arguments,
        state="failed" if failed else "done",
        result=shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False),
        is_error=failed,
        duration_ms=float(took) if isinstance(took, int | float) else None,
    )


def json_list(text: str | None) -> list[Mapping[str, Any]]:
    """A JSON array of objects; anything else, and what is too long to parse here, is empty."""
    if not text or len(text) > _GATE_CHARS:
        return []
    try:
        return _list(json.loads(text))
    except ValueError:
        return []


def _sent_messages(details: LogDetails) -> list[Mapping[str, Any]]:
    body = details.request_body
    if not body or len(body) > _GATE_CHARS:
        return []
    try:
        found = _mapping(json.loads(body))
    except ValueError:
        return []
    return _list(found.get("messages", found.get("input")))


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [str(part.get("text", part.get("type", ""))) for part in _list(content)]
    return "\n".join(parts)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    return [_mapping(one) for one in cast("list[object]", value)]
