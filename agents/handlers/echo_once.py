from sa_builder.spec import Message, ThreadState, define_handler


@define_handler(description="Sends the first message back and ends the session.")
async def execute(state: ThreadState, message: Message) -> None:
    await state.inject_message(role="assistant", content=f"Received: {message.content or ''}")
    await state.stop_session()
