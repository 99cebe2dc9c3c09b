from sa_builder.spec import define_prompt

prompt = define_prompt(
    name="weather",
    tool_description="Tells the weather of a city",
    prompt="""You tell people what the weather is like.
Look it up with get_weather before you answer, and answer in one or two sentences.
When no city was named, ask for one.""",
    model="conversational",
    include_chat=True,
    include_past_tools=True,
    tools=["get_weather"],
)
