"""define_*: values out, and a rule's sentence for what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from pydantic import BaseModel

from sa_builder.errors import DefinitionError
from sa_builder.spec import definitions, user
from sa_builder.spec.definitions import ToolDefinition
from sa_builder.spec.rules import check, entry_of
from sa_builder.spec.user import (
    Include,
    PromptTool,
    Relationship,
    Side,
    SubPrompt,
    Text,
    define_agent,
    define_handler,
    define_model,
    define_prompt,
    define_tool,
    definition_of,
)


class Request(BaseModel):
    """What a prompt is created with."""

    request: str
    note: str = ""


def test_records_and_dict_literals_make_the_same_agent() -> None:
    written = define_agent(
        name="desk",
        side_a=Side(prompt="front", subagents=[Relationship(agent="triage", blocking=True)]),
        side_b=Side(human=True),
    )
    plain = define_agent(
        name="desk",
        side_a={"prompt": "front", "subagents": [{"agent": "triage", "blocking": True}]},
        side_b={"human": True},
    )

    assert written == plain
    assert type(written.side_a) is definitions.Side


def test_prompt_parts_and_tools_keep_their_kind() -> None:
    prompt = define_prompt(
        "front",
        "Greets",
        [Text("a"), Include("rules"), {"name": "TONE"}],
        "big",
        tools=["look", SubPrompt(name="rules"), PromptTool(name="mail", env={"TO": "x"})],
        required_schema=Request,
    )

    assert [part.kind for part in prompt.prompt if not isinstance(part, str)] == [
        "text",
        "include",
        "env_text",
    ]
    assert prompt.tool_names() == ("look", "rules", "mail")
    assert prompt.required_schema is not None
    assert set(prompt.required_schema["properties"]) == {"request", "note"}


def test_a_tool_takes_its_arguments_from_the_annotation_and_stays_a_function() -> None:
    @define_tool(description="Looks", side_effects="read")
    def execute(state: Any, args: Request) -> str:
        return args.request

    definition = definition_of(execute, "look")

    assert execute(None, Request(request="here")) == "here"
    assert isinstance(definition, ToolDefinition)
    assert definition.name == "look"
    assert definition.args_schema == Request.model_json_schema()
    assert cast(Any, execute).__sa_args__ is Request


def test_a_handler_is_named_by_its_file() -> None:
    @define_handler(description="Passes on")
    async def execute(state: Any, message: Any) -> None:
        return None

    assert definition_of(execute, "pipe").name == "pipe"


ANY = cast(Any, None)
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: Side(promt="x"), "SA014", "did you mean prompt?"),  # pyright: ignore
    (lambda: Side("x"), "SA015", "takes its values by name"),  # pyright: ignore
    (lambda: Side(max_steps=0), "SA016", "must be at least 1"),
    (lambda: Text(3), "SA015", "must be a text"),  # pyright: ignore
    (lambda: Relationship(), "SA013", "agent is missing"),  # pyright: ignore
    (lambda: define_model("a b", "openai", "x"), "SA018", "is not allowed"),
    (lambda: define_model("a", "openai", cast(str, 3)), "SA015", "must be a text"),
    (
        lambda: define_agent(name="x", side_a=Side(human=True), side_b=Side(human=True)),
        "SA030",
        "Both sides are human",
    ),
    (
        lambda: cast(Any, define_agent)(name="x", type="y", side_a={}, side_b={}),
        "SA017",
        "Agents have no type any more",
    ),
    (lambda: cast(Any, define_agent)(name="x", side_a={"prompt": "y"}), "SA013", "side_b"),
    (
        lambda: define_agent(
            name="x", side_a={"handler": "y", "max_steps": 3}, side_b={"human": True}
        ),
        "SA033",
        "max_steps has no meaning",
    ),
    (lambda: cast(Any, define_tool)(definition_of), "SA013", "without its parentheses"),
    (
        lambda: define_prompt("x", "d", "p", "m", tools=[{"agent": "y"}]),
        "SA035",
        "A Relationship stands",
    ),
    (lambda: definition_of(3, "x"), "SA002", "no define_* made"),
    (lambda: definition_of(define_model("a", "openai", "x"), "b"), "SA010", "make the two equal"),
]


@pytest.mark.parametrize(("wrong", "code", "says"), WRONG)
def test_what_is_wrong_is_a_rules_sentence_never_a_dump(
    wrong: Callable[[], Any], code: str, says: str
) -> None:
    with pytest.raises(DefinitionError) as error:
        wrong()

    assert error.value.code == code
    assert says in error.value.text()
    assert "\n" not in error.value.text()
    assert "pydantic" not in error.value.text()


def test_values_and_text_give_the_rules_the_same_entries() -> None:
    agent = define_agent(name="desk", side_a={"prompt": "gone"}, side_b={"human": True})

    findings = check([entry_of(agent)])

    assert [(each.code, each.address) for each in findings] == [
        ("SA020", "agents/desk.side_a.prompt")
    ]


def test_everything_that_definition_files_import_is_there() -> None:
    from sa_builder import spec

    for name in user.__all__:
        assert getattr(spec, name) is getattr(user, name)
