from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="assistant",
    side_a=Side(prompt="reply"),
    side_b=Side(human=True),
)
