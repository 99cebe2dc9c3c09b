"""A scripted client full of plausible threads: what pictures and view tests begin with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sa_builder.client.scripted import ScriptedClient
from sa_builder.spec.logs import Act, LogDetails, LogRow
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.spec.threads import AgentSummary, ChildEntry, MissingVariable, ThreadSummary
from sa_builder.util.clock import Clock, SystemClock
from sa_builder.util.ids import ActKey, LogId, MessageId, ThreadId

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
TRIAGE = ThreadId("7d3c6a52-0b0e-4f61-9a53-0f6f1c1d0482")
CHILD = ThreadId("0198f2aa-5e3b-4c1d-8f77-3a1be22f9d10")

_ANSWER = (
    "A regression with a clear range: sign-out clears the wrong cache key since 2.4.0. That is a"
    " **bug** with **high** priority, because every user on a shared device is affected."
)
_ISSUE: Mapping[str, Any] = {
    "number": 482,
    "title": "Signing out leaves the previous user's data on the screen",
    "state": "open",
    "labels": [],
    "user": {"login": "mara"},
    "body": "Since 2.4.0, after signing out, the next person sees my dashboard for a second.",
}
_SYSTEM = (
    "You triage issues of a repository.\nRead the issue first, then choose one category and one"
    " priority.\nCall label_github_issue once, then submit_triage."
)


def sample_client(clock: Clock | None = None) -> ScriptedClient:
    """Nine threads in every state; the first one waits for its child, which runs a tool."""
    client = ScriptedClient(clock=clock or SystemClock())
    now_us = client.clock.now_us()
    client.add_agents(
        AgentSummary(
            name="repo_assistant",
            description="Answers questions on a repository and hands issues to triage.",
            human_side="b",
        ),
        AgentSummary(
            name="issue_triage",
            description="Reads an issue, labels it, and reports.",
            missing_variables=(
                MissingVariable(
                    name="GITHUB_TOKEN",
                    type="secret",
                    description="A token that may write labels",
                    needed_by="tools/label_github_issue",
                ),
            ),
        ),
        AgentSummary(name="weather_agent", human_side="b"),
    )
    _add_triage(client, now_us)
    for row in _OTHERS:
        _add_other(client, now_us, row)
    return client


_OTHERS: tuple[tuple[str, str, str, str, str | None, str, str, float], ...] = (
    # title, agent, state, preview, reason, cost, tag, hours ago
    (
        "What changed on release/2.4?",
        "repo_assistant",
        "running",
        "What changed on release/2.4?",
        "Reading the last 40 commits of release/2.4",
        "0.0312 USD",
        "",
        0.02,
    ),
    (
        "Where is rate limiting done?",
        "repo_assistant",
        "awaiting_human",
        "In gateway/limits.py: a token bucket per client, refilled every second.",
        None,
        "0.0094 USD",
        "",
        0.2,
    ),
    (
        "Triage acme/widgets #479",
        "issue_triage",
        "idle",
        "bug, priority: medium. Labels added.",
        None,
        "0.0171 USD",
        "",
        0.64,
    ),
    (
        "Summarise open pull requests",
        "repo_assistant",
        "failed",
        "Summarise open pull requests",
        "openrouter: 429 after 2 retries, no fallback left",
        "0.0000 USD",
        "",
        1.1,
    ),
    (
        "Draft notes for 2.3.1",
        "repo_assistant",
        "awaiting_human",
        "Here is a first draft with three sections.",
        None,
        "0.0407 USD",
        "user:jane",
        25.0,
    ),
    (
        "Close stale issues older than a year",
        "repo_assistant",
        "parked",
        "Close stale issues older than a year",
        "Outcome unknown: close_issue was cut off",
        "0.0226 USD",
        "",
        30.0,
    ),
    (
        "Triage acme/widgets #471",
        "issue_triage",
        "idle",
        "docs, priority: low. Labels added.",
        None,
        "0.0159 USD",
        "",
        31.0,
    ),
    (
        "Why does CI fail on Windows?",
        "repo_assistant",
        "awaiting_human",
        "The path separator in conftest.py line 41.",
        None,
        "0.0133 USD",
        "",
        33.0,
    ),
)


def _add_other(
    client: ScriptedClient,
    now_us: int,
    row: tuple[str, str, str, str, str | None, str, str, float],
) -> None:
    title, agent, state, preview, reason, cost, tag, hours = row
    at_us = now_us - int(hours * HOUR_US)
    thread_id = ThreadId(f"sample-{title.lower().replace(' ', '-')}")
    client.add_thread(
        ThreadSummary(
            id=thread_id,
            agent_name=agent,
            origin_agent_name=agent,
            title=title,
            tags=(tag,) if tag else (),
            state=state,  # pyright: ignore[reportArgumentType]
            state_reason=reason,
            preview=preview,
            created_at_us=at_us - MINUTE_US,
            updated_at_us=at_us,
            message_count=2,
            total_tokens=1800,
            cost=cost,
        ),
        side_b="handler return_reply" if agent == "issue_triage" else "human",
    )
    messages = [_said(thread_id, "b", 1, title, at_us - MINUTE_US)]
    if state != "running" and preview != title:
        messages.append(_said(thread_id, "a", 2, preview, at_us))
    if state == "failed":
        failed = _said(thread_id, "a", 2, "", at_us)
        messages.append(
            failed.model_copy(update={"status": "failed", "metadata": {"error": reason}})
        )
    client.add_messages(messages)


def _said(thread_id: ThreadId, side: str, turn: int, text: str, at_us: int) -> Message:
    return Message(
        id=MessageId(f"{thread_id[:8]}-{thread_id[-4:]}-{side}{turn}"),
        thread_id=thread_id,
        role="assistant" if side == "a" else "user",
        content=text or None,
        side="a" if side == "a" else "b",
        turn=turn,
        step=1,
        created_at_us=at_us,
    )


def _add_triage(client: ScriptedClient, now_us: int) -> None:
    start = now_us - 4 * MINUTE_US
    summary = ThreadSummary(
        id=TRIAGE,
        agent_name="repo_assistant",
        origin_agent_name="repo_assistant",
        title="Triage acme/widgets #482",
        tags=("team:core",),
        state="parked",
        state_reason="Waits for issue_triage (triage-482)",
        preview="Please triage acme/widgets #482. It came in last night, nobody looked yet.",
        created_at_us=start,
        updated_at_us=now_us - 5 * SECOND_US,
        message_count=4,
        total_tokens=2186,
        cost="0.0239 USD",
    )
    entry = ChildEntry(
        reference=CHILD,
        name="triage-482",
        relationship="issue_triage",
        blocking=True,
        created_at_us=start + 231 * SECOND_US,
        status="running",
    )
    client.add_thread(summary, children=[entry], side_a="prompt repo_assistant")
    client.add_thread(
        ThreadSummary(
            id=CHILD,
            agent_name="issue_triage",
            origin_agent_name="issue_triage",
            title="acme/widgets #482",
            parent_id=TRIAGE,
            relationship="issue_triage",
            instance_name="triage-482",
            blocking=True,
            state="running",
            state_reason="label_github_issue",
            created_at_us=start + 231 * SECOND_US,
            updated_at_us=now_us - 5 * SECOND_US,
            message_count=4,
            total_tokens=3721,
            cost="0.0137 USD",
        ),
        side_a="prompt issue_triager",
        side_b="handler return_reply",
    )
    client.add_messages(_triage_messages(start))
    client.add_messages(_child_messages(start))
    client.add_logs(_triage_logs(start))
    client.add_logs(_child_logs(start))
    client.add_acts(CHILD, _child_acts(start))


def _triage_messages(start: int) -> list[Message]:
    asked = start + 229 * SECOND_US
    call = ToolCall(
        id="call_1",
        name="subagent_create",
        arguments_json=json.dumps(
            {
                "relationship": "issue_triage",
                "name": "triage-482",
                "arguments": {"request": "acme/widgets #482"},
            }
        ),
    )
    hand_over = (
        "I am handing this to issue_triage. It reads the issue, picks a category and a priority,"
        " and adds both labels. I will tell you what it added and why."
    )
    return [
        _said(TRIAGE, "b", 1, "Which repositories can you see?", start),
        _said(
            TRIAGE,
            "a",
            2,
            "Any public one. Give me owner, repository and issue number.",
            start + 4 * SECOND_US,
        ),
        _said(
            TRIAGE,
            "b",
            3,
            "Please triage acme/widgets #482. It came in last night, nobody looked yet.",
            asked,
        ),
        _said(TRIAGE, "a", 4, hand_over, asked + SECOND_US).model_copy(
            update={"tool_calls": (call,)}
        ),
    ]


def _child_messages(start: int) -> list[Message]:
    at = start + 231 * SECOND_US
    read = ToolCall(
        id="call_2",
        name="get_github_issue",
        arguments_json='{"owner": "acme", "repo": "widgets", "number": 482}',
    )
    label = ToolCall(
        id="call_3",
        name="label_github_issue",
        arguments_json='{"owner": "acme", "repo": "widgets", "number": 482,'
        ' "labels": ["bug", "priority: high"]}',
    )
    result = Message(
        id=MessageId("child-result-1"),
        thread_id=CHILD,
        role="tool",
        name="get_github_issue",
        tool_call_id="call_2",
        tool_status="success",
        content=json.dumps(_ISSUE),
        side="a",
        turn=2,
        step=1,
        log_id=LogId(2),
        request_sent_at_us=at + SECOND_US,
        response_completed_at_us=at + SECOND_US + 412_000,
        created_at_us=at + 2 * SECOND_US,
    )
    return [
        _said(CHILD, "b", 1, "acme/widgets #482", at),
        _said(CHILD, "a", 2, "", at + SECOND_US).model_copy(
            update={"tool_calls": (read,), "id": MessageId("child-a1")}
        ),
        result,
        _said(CHILD, "a", 2, _ANSWER, at + 3 * SECOND_US).model_copy(
            update={
                "step": 2,
                "tool_calls": (label,),
                "reasoning_content": "The stack trace points at the session cache, so this is"
                " most likely the key that sign-out clears. It began with 2.4.0.",
            }
        ),
    ]


def _row(
    thread_id: ThreadId, number: int, kind: str, title: str, at_us: int, **more: Any
) -> LogRow:
    return LogRow.model_validate(
        {
            "id": number,
            "thread_id": thread_id,
            "kind": kind,
            "title": title,
            "side": "a",
            "turn": 2,
            "status": "done",
            "created_at_us": at_us,
            **more,
        }
    )


def _model(first_ms: float, whole_ms: float, tokens: tuple[int, int], cost: str) -> dict[str, Any]:
    return {
        "model_name": "conversational",
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
        "total_tokens": sum(tokens),
        "cost_total": cost,
        "currency": "USD",
        "time_to_first_token_ms": first_ms,
        "latency_ms": whole_ms,
        "generation_ms": whole_ms - first_ms,
        "duration_ms": whole_ms,
        "finish_reason": "tool_calls",
    }


def _triage_logs(start: int) -> list[LogDetails]:
    asked = start + 229 * SECOND_US
    failed = {
        "turn": 2,
        "step": 1,
        "detail": "attempt 1",
        "status": "failed",
        "error": "openrouter answered 503: the upstream is overloaded.",
        "error_type": "server_error",
        "duration_ms": 380.0,
        "total_tokens": 0,
        "time_to_first_token_ms": 300.0,
    }
    second = {"turn": 2, "step": 1, "detail": "attempt 2", "finish_reason": "stop"}
    human: dict[str, Any] = {"side": "b", "duration_ms": 1.0}
    rows = [
        _row(TRIAGE, 1, "message", "message", start, turn=1, detail="5 words", **human),
        _row(TRIAGE, 2, "model", "conversational", start + 22_000, **failed),
        _row(
            TRIAGE,
            3,
            "model",
            "conversational",
            start + 2_435_000,
            **{**_model(420, 1180, (941, 41), "0.0051"), **second},
            retry_of_log_id=2,
        ),
        _row(TRIAGE, 4, "message", "message", asked, turn=3, detail="13 words", **human),
        _row(
            TRIAGE,
            5,
            "model",
            "conversational",
            asked + 27_000,
            **{**_model(380, 1320, (1100, 104), "0.0051"), "turn": 4, "step": 1},
            tools_called=["subagent_create"],
        ),
        _row(
            TRIAGE,
            6,
            "child",
            "subagent_create",
            asked + 1_456_000,
            turn=4,
            step=1,
            detail="triage-482",
            status="parked",
            duration_ms=9200.0,
            child_thread_id=CHILD,
        ),
    ]
    return [_details(row) for row in rows]


def _child_logs(start: int) -> list[LogDetails]:
    at = start + 230_498_000
    rows = [
        _row(
            CHILD,
            1,
            "model",
            "conversational",
            at,
            **{**_model(340, 1150, (1204, 107), "0.0054"), "step": 1},
            tools_called=["get_github_issue"],
            prompt_name="issue_triager",
        ),
        _row(CHILD, 2, "tool", "get_github_issue", at + 1_188_000, step=1, duration_ms=412.0),
        _row(
            CHILD,
            3,
            "model",
            "conversational",
            at + 1_612_000,
            **{**_model(610, 1924, (1842, 568), "0.0083"), "step": 2},
            cached_tokens=1311,
            reasoning_tokens=214,
            tools_called=["label_github_issue"],
            prompt_name="issue_triager",
        ),
        _row(
            CHILD,
            4,
            "tool",
            "label_github_issue",
            at + 3_579_000,
            step=2,
            status="running",
            duration_ms=None,
        ),
    ]
    return [_details(row) for row in rows]


def _details(row: LogRow) -> LogDetails:
    if row.kind == "tool":
        done = row.status == "done"
        return LogDetails(
            row=row,
            act_key=ActKey(f"{row.turn}/{row.step}/1"),
            arguments_json='{"owner": "acme", "repo": "widgets", "number": 482}',
            result=json.dumps(_ISSUE) if done else None,
            is_complete=done,
        )
    if row.kind != "model":
        return LogDetails(row=row)
    messages: list[Mapping[str, Any]] = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": "acme/widgets #482"},
    ]
    calls = [
        {"id": f"call_{row.id}", "name": name, "arguments": '{"owner": "acme", "number": 482}'}
        for name in row.tools_called
    ]
    if row.step == 2:
        function = {"name": "get_github_issue", "arguments": '{"number": 482}'}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_2", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "call_2", "content": json.dumps(_ISSUE)},
        ]
    request = {"model": "anthropic/claude-sonnet-4.5", "stream": True, "messages": messages}
    return LogDetails(
        row=row,
        act_key=ActKey(f"{row.turn}/{row.step}/model"),
        provider="openrouter",
        actual_provider="anthropic",
        model="anthropic/claude-sonnet-4.5",
        endpoint="https://model.example/api/v1/chat/completions",
        status_code=503 if row.status == "failed" else 200,
        request_body=json.dumps(request),
        request_headers={"Authorization": "Bearer •••", "Content-Type": "application/json"},
        response_body='{"choices": [{"finish_reason": "tool_calls"}]}',
        reasoning_content="The stack trace points at the session cache." if row.step == 2 else None,
        system_prompt=_SYSTEM,
        prompt_parts=[
            {
                "prompt": row.prompt_name or "repo_assistant",
                "path": f"agents/prompts/{row.prompt_name or 'repo_assistant'}.py",
                "line_from": 12,
                "line_to": 14,
                "text": _SYSTEM,
            }
        ],
        tool_calls_json=json.dumps(calls),
        tool_results_json="[]",
        price_book_version="2026-11-24",
    )


def _child_acts(start: int) -> list[Act]:
    at = start + 230_498_000
    spans = (
        ("2/1/model", "model", "conversational", 1, 0, 1_150_000, "done"),
        ("2/1/1", "tool", "get_github_issue", 2, 1_188_000, 1_600_000, "done"),
        ("2/2/model", "model", "conversational", 3, 1_612_000, 3_536_000, "done"),
        ("2/2/1", "tool", "label_github_issue", 4, 3_579_000, None, "started"),
    )
    return [
        Act.model_validate(
            {
                "key": key,
                "kind": kind,
                "name": name,
                "status": status,
                "started_at_us": at + begin,
                "ended_at_us": None if end is None else at + end,
                "log_id": log_id,
            }
        )
        for key, kind, name, log_id, begin, end, status in spans
    ]
