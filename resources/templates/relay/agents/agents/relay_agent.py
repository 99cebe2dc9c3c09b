from sa_builder.spec import Relationship, Side, define_agent

agent = define_agent(
    name="relay_agent",
    side_a=Side(
        handler="relay_pipe",
        subagents=[
            Relationship(
                agent="assistant_agent",
                immediate=True,
                max_instances=1,
                parent_communication="explicit",
            ),
        ],
    ),
    side_b=Side(human=True),
)
