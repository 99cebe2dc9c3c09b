from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="echo_once",
    side_a=Side(handler="echo_once"),
    side_b=Side(human=True),
    description="Sends a message back and ends the session.",
)
