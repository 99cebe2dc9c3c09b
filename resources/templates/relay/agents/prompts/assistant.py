from sa_builder.spec import define_prompt

prompt = define_prompt(
    name="assistant",
    tool_description="Answers a question",
    prompt="You are a friendly assistant. Answer briefly, and say so when you do not know.",
    model="conversational",
    include_chat=True,
)
