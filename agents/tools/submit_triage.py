from pydantic import BaseModel, Field

from sa_builder.spec import ThreadState, ToolResult, define_tool


class TriageReport(BaseModel):
    """What the parent is told."""

    report: str = Field(description="The labels that were added, and the reason in one sentence")


@define_tool(
    description="Hand in the finished triage. This ends the session.",
    side_effects="none",
    idempotency="idempotent",
    risk="low",
)
async def execute(state: ThreadState, args: TriageReport) -> ToolResult:
    return ToolResult(status="success", result=args.report)
