from sa_builder.spec import define_prompt

prompt = define_prompt(
    name="repo_assistant",
    tool_description="Looks after GitHub repositories together with a person",
    prompt="""You look after GitHub repositories together with a person.
To triage an issue, create an issue_triage subagent and give it the whole request.
An owner, a repository and an issue number are needed: ask the person for what is missing.
Afterwards say which labels were added and why, or what kept them from being added.""",
    model="conversational",
    include_chat=True,
    include_past_tools=True,
)
