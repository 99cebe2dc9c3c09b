from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="assistant_agent",
    side_a=Side(prompt="assistant"),
    side_b=Side(human=True),
    expose_as_tool=True,
    tool_description="Answers questions in a conversation of its own.",
)
