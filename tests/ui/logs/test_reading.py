"""The pure parts: filter, time scale, JSON by the level, cURL, code."""

from __future__ import annotations

import json
import time

import pytest

from sa_builder.client.sample_threads import CHILD, sample_client
from sa_builder.spec.logs import LogDetails, LogRow
from sa_builder.ui.logs.code_view import broken
from sa_builder.ui.logs.curl import as_curl
from sa_builder.ui.logs.filter import read_filter
from sa_builder.ui.logs.json_source import LARGE_CHARS, JsonSource
from sa_builder.ui.logs.overview import nice_step, stretches_of
from sa_builder.ui.logs.time_scale import TimeScale
from sa_builder.ui.threads import words
from sa_builder.util.ids import LogId

SECOND = 1_000_000


def logs_of_child() -> list[LogDetails]:
    return sample_client()._logs[CHILD]  # pyright: ignore[reportPrivateUsage]


def test_a_filter_is_read_into_a_query() -> None:
    found = read_filter("kind:model status:error tokens>1000 slow answer")

    assert found.fault is None
    assert found.kinds == ("model",)
    assert found.statuses == ("failed",)
    assert found.min_tokens == 1001
    assert found.text == "slow answer"
    assert found.terms == ("kind:model", "status:error", "tokens>1000")


def test_a_tool_term_looks_for_tool_rows_of_that_name() -> None:
    found = read_filter("tool:get_github")

    assert (found.kinds, found.text, found.fault) == (("tool",), "get_github", None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind:modell", "No kind is called modell"),
        ("status:broken", "No status is called broken"),
        ("tokens>many", "tokens> needs a whole number"),
        ("kind:", "kind: needs a value"),
        ("model:a tool:b", "No row is of a model and of a tool"),
        ("kind:hook model:a", "model: finds rows of kind model only"),
    ],
)
def test_what_means_nothing_is_said_in_a_sentence(text: str, says: str) -> None:
    fault = read_filter(text).fault

    assert fault is not None
    assert says in fault
    assert fault.endswith(".")


def test_idle_time_is_cut_short_and_busy_time_keeps_its_scale() -> None:
    hour = 3600 * SECOND
    scale = TimeScale([(0, SECOND), (hour, hour + SECOND)])

    assert scale.place(0) == 0
    assert scale.place(hour + SECOND) == 1
    first = scale.place(SECOND) - scale.place(0)
    second = scale.place(hour + SECOND) - scale.place(hour)
    assert first == pytest.approx(second)
    assert first > 0.45


def test_an_empty_scale_places_everything_at_its_start() -> None:
    assert TimeScale([]).place(5) == 0.0


@pytest.mark.parametrize("pad", [0, LARGE_CHARS])
def test_json_is_read_a_level_at_a_time_small_or_large(pad: int) -> None:
    source = JsonSource(json.dumps({"a": [1, {"b c": None}, "x" * (pad + 1)], "t": True}))

    top = source.children("$")
    inner = source.children(top[0].path)

    assert [(one.key, one.type, one.count) for one in top] == [("a", "array", 3), ("t", "true", 0)]
    assert [one.type for one in inner] == ["number", "object", "string"]
    assert source.children(inner[1].path)[0].key == "b c"
    assert source.children(inner[1].path)[0].value == "null"
    assert json.loads(source.json_at(inner[1].path)) == {"b c": None}
    assert source.value_at(inner[2].path) == "x" * (pad + 1)


def test_what_is_no_json_is_refused_small_or_large() -> None:
    for text in ("{oops", "x" * (LARGE_CHARS + 1)):
        with pytest.raises(ValueError):
            JsonSource(text)


def test_curl_names_a_variable_where_a_secret_stood() -> None:
    headers = {"Authorization": "Bearer sk-1234", "x-api-key": "sk-5"}
    details = logs_of_child()[2].model_copy(update={"request_headers": headers})

    text = as_curl(details)

    assert text is not None
    assert "sk-" not in text
    assert '"Authorization: Bearer $API_KEY"' in text
    assert "--data-binary" in text


def test_a_tool_row_makes_no_curl() -> None:
    details = logs_of_child()[1]

    assert as_curl(details) is None


def test_a_model_row_waits_hollow_and_works_filled() -> None:
    logs = logs_of_child()

    found = stretches_of(logs[2], [logs[3].row])

    assert [(one.look, one.label) for one in found] == [
        ("hollow", "Wait for first token"),
        ("filled", "Generate 568 tokens"),
        ("filled", "label_github_issue"),
    ]
    assert found[1].start_ms == 610


def test_a_blocking_child_is_hatched_only_while_it_is_waited_for() -> None:
    waiting = LogRow(
        id=LogId(1), thread_id=CHILD, kind="child", title="triage", turn=1, status="parked",
        created_at_us=0, duration_ms=10.0,
    )  # fmt: skip
    done = waiting.model_copy(update={"status": "done"})

    looks = [stretches_of(LogDetails(row=row), [])[0].look for row in (waiting, done)]

    assert looks == ["hatched", "filled"]


def test_a_row_that_runs_has_no_stretch_yet() -> None:
    row = LogRow(
        id=LogId(1), thread_id=CHILD, kind="model", title="m", turn=1, status="running",
        created_at_us=0,
    )  # fmt: skip

    assert stretches_of(LogDetails(row=row), []) == []


def test_steps_of_an_axis_are_round() -> None:
    assert [nice_step(least) for least in (0.3, 3, 30, 41, 600)] == [1, 5, 50, 50, 1000]


def test_long_lines_are_broken_for_show_in_no_time() -> None:
    begun = time.perf_counter()

    lines = broken("x" * 1_000_000).split("\n")

    assert max(map(len, lines)) <= 4000
    assert sum(map(len, lines)) == 1_000_000
    assert time.perf_counter() - begun < 0.2


def test_costs_stay_exact() -> None:
    assert words.cost("0.0188 USD") == "$0.0188"
    assert words.cost("0.00000125 USD") == "$0.00000125"
    assert words.cost("12.5", "EUR") == "€12.5000"
    assert words.cost(None) == ""


def test_durations_have_the_unit_that_fits() -> None:
    shown = [words.duration(ms) for ms in (0, 0.4, 412, 1924, 75_000, 3_700_000)]

    assert [text.replace("\u2009", " ") for text in shown] == [
        "0 ms",
        "<1 ms",
        "412 ms",
        "1.92 s",
        "1 min 15 s",
        "1 h 1 min",
    ]
