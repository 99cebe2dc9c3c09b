from typing import Literal

from pydantic import BaseModel, Field

from sa_builder.spec import ThreadState, ToolResult, Variable, define_tool


class LabelArgs(BaseModel):
    """Which issue, and what to label it with."""

    owner: str = Field(pattern=r"^[\w.-]+$", description="Owner of the repository")
    repo: str = Field(pattern=r"^[\w.-]+$", description="Name of the repository")
    number: int = Field(gt=0, description="Number of the issue")
    category: Literal["bug", "feature", "question", "docs"] = Field(description="What it is")
    priority: Literal["high", "medium", "low"] = Field(description="How urgent it is")


@define_tool(
    description="Add a category label and a priority label to a GitHub issue.",
    variables=[
        Variable(
            name="GITHUB_TOKEN",
            type="secret",
            required=True,
            description="A token that may write issues in the repository",
        ),
    ],
    # GitHub keeps a label once however often it is added, so a repeat does no harm.
    side_effects="write",
    idempotency="idempotent",
    risk="medium",
)
async def execute(state: ThreadState, args: LabelArgs) -> ToolResult:
    labels = [args.category, f"priority: {args.priority}"]
    response = await state.http.post(
        f"https://api.github.com/repos/{args.owner}/{args.repo}/issues/{args.number}/labels",
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {await state.env('GITHUB_TOKEN')}",
            "User-Agent": "standard-agent-example",
        },
        json={"labels": labels},
    )
    if not response.is_success:
        return ToolResult(status="error", error=f"GitHub returned {response.status_code}")
    return ToolResult(
        status="success",
        result=f"Added the labels {' and '.join(labels)} to issue {args.number}.",
    )
