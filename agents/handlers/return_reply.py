from sa_builder.spec import Message, ThreadState, define_handler


@define_handler(description="Ends the session with side A's text reply as its result.")
async def execute(state: ThreadState, message: Message) -> None:
    # A message that carries tool calls is a step on the way, not the reply.
    if message.tool_calls:
        return
    await state.stop_session(result=message.content or "The triage ended without a reply.")
