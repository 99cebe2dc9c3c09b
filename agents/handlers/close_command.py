import re

import httpx

from sa_builder.spec import Message, ThreadState, define_handler

REPOSITORY = "acme/widgets"
COMMAND = re.compile(r"/close\s+(\d+)")


async def close_issue(state: ThreadState, number: str) -> str:
    """Close the issue, and say in one sentence what came of it."""
    try:
        token = await state.env("GITHUB_TOKEN")
    except LookupError:
        return f"Issue {number} is still open. No GITHUB_TOKEN is set."

    try:
        response = await state.http.patch(
            f"https://api.github.com/repos/{REPOSITORY}/issues/{number}",
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {token}",
                "User-Agent": "standard-agent-example",
            },
            json={"state": "closed"},
        )
    except httpx.HTTPError:
        return f"Issue {number} is still open. GitHub did not respond."
    if not response.is_success:
        return f"Issue {number} is still open. GitHub returned {response.status_code}."
    return f"Closed issue {number}: {response.json()['title']}."


@define_handler(description="Closes a GitHub issue on /close and its number.")
async def execute(state: ThreadState, message: Message) -> None:
    command = COMMAND.fullmatch((message.content or "").strip())
    if command is None:
        reply = "Send /close and an issue number, such as /close 42."
    else:
        reply = await close_issue(state, command[1])
    await state.inject_message(role="assistant", content=reply)
