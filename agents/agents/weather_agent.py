from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="weather_agent",
    side_a=Side(prompt="weather", max_steps=4),
    side_b=Side(human=True),
    description="Tells what the weather is like in a city.",
)
