from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="close_bot",
    side_a=Side(handler="close_command"),
    side_b=Side(human=True),
    description="Closes an issue of acme/widgets on /close and its number. No model is called.",
)
