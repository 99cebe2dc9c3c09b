"""The tables of a thread's file and of the registry, and how older files come forward.

`PRAGMA user_version` tells a file's version; migrations run in order, each in one transaction.
A newer file is refused with a sentence.
"""

from __future__ import annotations

from pathlib import Path

from sa_builder.errors import StoreError
from sa_builder.store.sqlite import Sqlite

THREAD_VERSION = 1
REGISTRY_VERSION = 1

THREAD_TABLES = """
CREATE TABLE thread (
    id TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    origin_agent_name TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    title_is_set INTEGER NOT NULL DEFAULT 0,
    tags_json TEXT NOT NULL DEFAULT '[]',
    user_id TEXT NOT NULL DEFAULT 'local',
    backing_a TEXT NOT NULL DEFAULT '',
    backing_b TEXT NOT NULL DEFAULT '',
    parent_id TEXT,
    parent_side TEXT,
    relationship TEXT,
    instance_name TEXT,
    blocking INTEGER NOT NULL DEFAULT 0,
    communication TEXT NOT NULL DEFAULT 'implicit',
    arguments_json TEXT NOT NULL DEFAULT '{}',
    env_json TEXT NOT NULL DEFAULT '{}',
    overrides_json TEXT NOT NULL DEFAULT '{}',
    forked_from TEXT,
    state TEXT NOT NULL DEFAULT 'idle',
    state_reason TEXT,
    status_text TEXT,
    session INTEGER NOT NULL DEFAULT 0,
    session_is_open INTEGER NOT NULL DEFAULT 0,
    session_turns INTEGER NOT NULL DEFAULT 0,
    turns_since_person INTEGER NOT NULL DEFAULT 0,
    last_turn INTEGER NOT NULL DEFAULT 0,
    last_side TEXT,
    position_a INTEGER NOT NULL DEFAULT 0,
    position_b INTEGER NOT NULL DEFAULT 0,
    end_request_json TEXT,
    forced_side TEXT,
    is_held INTEGER NOT NULL DEFAULT 0,
    is_stopped INTEGER NOT NULL DEFAULT 0,
    is_paused INTEGER NOT NULL DEFAULT 0,
    breakpoints_json TEXT NOT NULL DEFAULT '[]',
    terminated_at_us INTEGER,
    test_mode INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    cost TEXT,
    currency TEXT,
    preview TEXT NOT NULL DEFAULT '',
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    content TEXT,
    name TEXT,
    tool_calls_json TEXT,
    tool_call_id TEXT,
    tool_status TEXT,
    log_id INTEGER,
    created_at_us INTEGER NOT NULL,
    request_sent_at_us INTEGER,
    response_completed_at_us INTEGER,
    status TEXT NOT NULL,
    silent INTEGER NOT NULL DEFAULT 0,
    parent_id TEXT,
    depth INTEGER NOT NULL DEFAULT 0,
    side TEXT,
    turn INTEGER,
    step INTEGER,
    prompt TEXT,
    reasoning_content TEXT,
    reasoning_details_json TEXT,
    attachments_json TEXT,
    metadata_json TEXT,
    subagent_id TEXT
) STRICT;

CREATE TABLE queue (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    message_id TEXT UNIQUE,
    body_json TEXT NOT NULL,
    created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
    turn INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    side TEXT NOT NULL,
    backing TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL,
    reason TEXT,
    step INTEGER NOT NULL DEFAULT 0,
    resumes_json TEXT NOT NULL DEFAULT '[]',
    definitions_hash TEXT,
    frame_hash TEXT,
    test_mode INTEGER NOT NULL DEFAULT 0,
    started_at_us INTEGER NOT NULL,
    ended_at_us INTEGER
) STRICT;

CREATE TABLE acts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    turn INTEGER NOT NULL,
    step INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 1,
    input_hash TEXT,
    input_json TEXT,
    result_json TEXT,
    child_id TEXT,
    log_id INTEGER,
    started_at_us INTEGER NOT NULL,
    ended_at_us INTEGER
) STRICT;
CREATE INDEX acts_by_turn ON acts (turn, step);

CREATE TABLE logs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '',
    side TEXT,
    turn INTEGER NOT NULL,
    step INTEGER NOT NULL DEFAULT 0,
    depth INTEGER NOT NULL DEFAULT 0,
    act_key TEXT,
    message_id TEXT,
    parent_log_id INTEGER,
    retry_of_log_id INTEGER,
    child_thread_id TEXT,
    status TEXT NOT NULL,
    provider TEXT,
    actual_provider TEXT,
    model TEXT,
    model_name TEXT,
    route_decision TEXT,
    prompt_name TEXT,
    prompt_parts_json TEXT,
    handler_name TEXT,
    tools_called_json TEXT,
    queued_tools_json TEXT,
    provider_tools_json TEXT,
    error TEXT,
    error_type TEXT,
    error_origin TEXT,
    endpoint TEXT,
    status_code INTEGER,
    request_base_id INTEGER,
    request_prefix_bytes INTEGER,
    request_suffix_bytes INTEGER,
    request_body BLOB,
    request_headers_json TEXT,
    response_body TEXT,
    response_headers_json TEXT,
    response_content TEXT,
    reasoning_content TEXT,
    system_prompt_hash TEXT,
    tools_schema_hash TEXT,
    tool_calls_json TEXT,
    tool_results_json TEXT,
    arguments_json TEXT,
    result TEXT,
    traceback TEXT,
    captured_output TEXT,
    definitions_hash TEXT,
    finish_reason TEXT,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    total_tokens INTEGER,
    cost_input TEXT,
    cost_cached TEXT,
    cost_output TEXT,
    cost_total TEXT,
    currency TEXT,
    price_book_version TEXT,
    latency_ms REAL,
    time_to_first_token_ms REAL,
    generation_ms REAL,
    duration_ms REAL,
    is_complete INTEGER NOT NULL DEFAULT 0,
    created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE children (
    reference TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    title TEXT,
    description TEXT,
    relationship TEXT NOT NULL,
    owner_side TEXT NOT NULL,
    blocking INTEGER NOT NULL,
    communication TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox (
    key TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    target_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    body_json TEXT NOT NULL,
    created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE inbox (
    key TEXT PRIMARY KEY,
    received_at_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_values (
    key TEXT PRIMARY KEY,
    value_json TEXT NOT NULL,
    updated_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE files (
    path TEXT PRIMARY KEY,
    is_folder INTEGER NOT NULL DEFAULT 0,
    mime_type TEXT,
    size_bytes INTEGER NOT NULL DEFAULT 0,
    body BLOB,
    metadata_json TEXT,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE effects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    args_json TEXT NOT NULL,
    status TEXT NOT NULL,
    due_at_us INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    ended_at_us INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    replayed_from TEXT
) STRICT;

CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    act_key TEXT NOT NULL,
    action_json TEXT NOT NULL,
    policy TEXT,
    reason TEXT,
    status TEXT NOT NULL,
    decided_by TEXT,
    decision_json TEXT,
    expires_at_us INTEGER,
    created_at_us INTEGER NOT NULL,
    decided_at_us INTEGER
) STRICT;

CREATE TABLE ledger (
    act_key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    agent_name TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost TEXT,
    currency TEXT,
    price_book_version TEXT,
    tags_json TEXT NOT NULL,
    created_at_us INTEGER NOT NULL,
    PRIMARY KEY (act_key, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE sub_agents (
    path TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    deleted_at_us INTEGER
) STRICT;
"""

REGISTRY_TABLES = """
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    agent_name TEXT NOT NULL,
    parent_id TEXT,
    state TEXT NOT NULL,
    title TEXT NOT NULL,
    search_text TEXT NOT NULL,
    summary_json TEXT NOT NULL,
    is_busy INTEGER NOT NULL DEFAULT 0,
    updated_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_by_time ON threads (updated_at_us DESC, id DESC);
CREATE INDEX threads_by_parent ON threads (parent_id, updated_at_us DESC);
CREATE INDEX threads_busy ON threads (id) WHERE is_busy = 1;
"""


def ensure_thread_tables(file: Sqlite, path: Path) -> None:
    """Make a new thread file, or bring an older one forward."""
    _ensure(file, path, THREAD_TABLES, THREAD_VERSION)


def ensure_registry_tables(file: Sqlite, path: Path) -> None:
    """Make a new registry, or bring an older one forward."""
    _ensure(file, path, REGISTRY_TABLES, REGISTRY_VERSION)


def refuse_newer(file: Sqlite, path: Path, known: int) -> int:
    """The file's version.

    Raises:
        StoreError: a newer version of the product wrote it.
    """
    version = file.version
    if version > known:
        raise StoreError(
            f"{path.parent.name}/{path.name} was written by a newer version (schema {version},"
            f" this one reads up to {known}).",
            act="Open it with that version.",
            code="store.newer",
        )
    return version


def _ensure(file: Sqlite, path: Path, tables: str, version: int) -> None:
    if refuse_newer(file, path, version) == version:
        return
    file.run("BEGIN IMMEDIATE")
    try:
        if file.version == 0:
            file.run(tables)
            file.run(f"PRAGMA user_version={version}")
        file.run("COMMIT")
    except BaseException:
        file.roll_back()
        raise
