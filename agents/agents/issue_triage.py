from sa_builder.spec import SessionTool, Side, define_agent

agent = define_agent(
    name="issue_triage",
    # The report leaves through submit_triage; a plain reply leaves through return_reply.
    side_a=Side(
        prompt="issue_triager",
        stop_on_response=True,
        max_steps=5,
        session_stop=SessionTool(name="submit_triage", message_property="report"),
    ),
    side_b=Side(handler="return_reply"),
    expose_as_tool=True,
    tool_description=(
        "Reads one GitHub issue, picks its labels and adds them. "
        "Needs the owner, the repository and the issue number."
    ),
)
