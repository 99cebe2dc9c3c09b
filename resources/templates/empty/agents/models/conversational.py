from sa_builder.spec import define_model

model = define_model(
    name="conversational",
    provider="openrouter",
    model="anthropic/claude-sonnet-5.5",
)
