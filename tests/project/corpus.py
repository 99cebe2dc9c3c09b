"""Definition files as people write them, for edits to be tried on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TIDY: Final = """from sa_builder.spec import Relationship, Side, define_agent

# Side A only routes.
agent = define_agent(
    name="desk",
    side_a=Side(
        prompt="front",  # the front desk
        subagents=[
            # the one that writes
            Relationship(agent="triage", blocking=True, init_user_message_property="request"),
            Relationship(agent="mailer"),  # sends mail
            # nothing below
        ],
    ),
    side_b=Side(human=True),
)
"""

CRAMPED: Final = """from sa_builder import spec as s
agent=s.define_agent(name='desk',side_a=s.Side(prompt='front',max_steps=3,subagents=[s.Relationship(agent='triage')]),side_b=s.Side(human=True))
"""

DICTS: Final = """from sa_builder.spec import define_agent

agent = define_agent(
    name="desk",
    side_a={"prompt": "front", "subagents": [{"agent": "triage", "blocking": True}]},
    side_b={"human": True},  # a person
    env={"REGION": "eu",
         "TIER": "gold"},
)
"""

HANGING: Final = '''from sa_builder.spec import (
    Relationship as R,
    Side,
    define_agent,
)

SUBAGENTS = [
    R(agent="triage"),
    R(agent="mailer")  # no comma here
]

agent = define_agent("desk", Side(prompt="front",
                                  max_steps=7,
                                  subagents=SUBAGENTS), Side(human=True),
                     description=("Two parts, "
                                  "joined"), icon=u"x")


def unrelated(agent_name: str) -> str:
    """Odd     spacing stays."""
    return  f"{agent_name}"
'''

TUPLES: Final = '''from sa_builder.spec import Relationship, Side, define_agent

agent = define_agent(
\tname="desk",
\tside_a=Side(
\t\thandler="pipe",
\t\tsubagents=(Relationship(agent="triage"),),
\t),
\tside_b=Side(human=True), hooks=("one", "two",),
\tdescription="""A long one
  over rows # no comment
""",
)'''

PROMPT: Final = '''"""A prompt with everything."""
from pydantic import BaseModel, Field

from sa_builder.spec import EnvText, Include, PromptTool, SubPrompt, Text, define_prompt


class Request(BaseModel):
    """What it is created with."""

    request: str = Field(description="which")
    files: list[str] = []


prompt = define_prompt(
    name="front",
    tool_description='Greets "people"',
    prompt=[
        Text("Hello \\u00e9 \\n"),
        Include("rules"),  # shared
        EnvText("TONE"),
    ],
    model="big",
    required_schema=Request,
    tools=[
        "look", "write",  # two a row
        SubPrompt(name="rules", include_errors=False),
        PromptTool(name="mail", env={"TO": "me"}),
        *[],
    ][:4],
    env={"A": "1"},
)
'''

AGENTS: Final[Mapping[str, str]] = {
    "tidy": TIDY,
    "cramped": CRAMPED,
    "dicts": DICTS,
    "hanging": HANGING,
    "tuples": TUPLES,
}

OTHERS: Final[Mapping[str, str]] = {
    "agents/agents/triage.py": """from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="triage",
    side_a=Side(prompt="sorter"),
    side_b=Side(handler="pipe"),
    expose_as_tool=True,
    tool_description="Sorts",
    max_session_turns=4,
)
""",
    "agents/agents/mailer.py": """from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="mailer",
    side_a=Side(handler="pipe"),
    side_b=Side(human=True),
    description="Sends one mail.",
)
""",
    "agents/prompts/front.py": """from sa_builder.spec import define_prompt

prompt = define_prompt(
    name="front",
    tool_description="Greets",
    prompt="Be kind.",
    model="big",
    tools=["look"],
)
""",
    "agents/prompts/sorter.py": """from pydantic import BaseModel

from sa_builder.spec import define_prompt


class Request(BaseModel):
    request: str
    note: str = ""


prompt = define_prompt(
    name="sorter",
    tool_description="Sorts",
    prompt="Sort.",
    model="big",
    required_schema=Request,
    tools=["look", "done"],
)
""",
    "agents/models/big.py": """from sa_builder.spec import define_model

model = define_model(name="big", provider="openrouter", model="x/y", fallbacks=["small"])
""",
    "agents/models/small.py": """from sa_builder.spec import define_model

model = define_model(name="small", provider="offline", model="echo")
""",
    "agents/tools/look.py": """from pydantic import BaseModel

from sa_builder.spec import ThreadState, ToolResult, define_tool


class LookArgs(BaseModel):
    where: str


@define_tool(description="Looks.", side_effects="read")
async def execute(state: ThreadState, args: LookArgs) -> ToolResult:
    return ToolResult(result=args.where)
""",
    "agents/tools/done.py": """from pydantic import BaseModel

from sa_builder.spec import ThreadState, ToolResult, define_tool


class DoneArgs(BaseModel):
    report: str


@define_tool(description="Ends.")
async def execute(state: ThreadState, args: DoneArgs) -> ToolResult:
    return ToolResult(result=args.report)
""",
    "agents/handlers/pipe.py": """from sa_builder.spec import Message, ThreadState, define_handler


@define_handler(description="Passes on.")
async def execute(state: ThreadState, message: Message) -> None:
    await state.inject_message(role="assistant", content=message.content or "")
""",
}
