from sa_builder.spec import Relationship, Side, define_agent

agent = define_agent(
    name="repo_assistant",
    side_a=Side(
        prompt="repo_assistant",
        subagents=[
            Relationship(
                agent="issue_triage",
                blocking=True,
                init_user_message_property="request",
            ),
        ],
    ),
    side_b=Side(human=True),
)
