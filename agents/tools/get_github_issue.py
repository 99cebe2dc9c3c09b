import json
from urllib.parse import quote

from pydantic import BaseModel, Field

from sa_builder.spec import ThreadState, ToolResult, define_tool

MOST_BODY_CHARS = 8000


class IssueArgs(BaseModel):
    """Which issue."""

    owner: str = Field(description="Owner of the repository")
    repo: str = Field(description="Name of the repository")
    number: int = Field(gt=0, description="Number of the issue")


@define_tool(
    description="Read a public GitHub issue: its title, state, labels and text.",
    side_effects="read",
    idempotency="idempotent",
    risk="low",
)
async def execute(state: ThreadState, args: IssueArgs) -> ToolResult:
    path = f"{quote(args.owner, safe='')}/{quote(args.repo, safe='')}"
    response = await state.http.get(
        f"https://api.github.com/repos/{path}/issues/{args.number}",
        headers={
            "Accept": "application/vnd.github+json",
            "User-Agent": "standard-agent-example",
        },
    )
    if not response.is_success:
        return ToolResult(status="error", error=f"GitHub returned {response.status_code}")
    issue = response.json()
    return ToolResult(
        status="success",
        result=json.dumps(
            {
                "title": issue["title"],
                "state": issue["state"],
                "labels": [label["name"] for label in issue["labels"]],
                "body": (issue["body"] or "")[:MOST_BODY_CHARS],
            }
        ),
    )
