from sa_builder.spec import Message, ThreadState, define_handler


@define_handler(description="Passes each message on to the assistant child.")
async def execute(state: ThreadState, message: Message) -> None:
    for child in state.children:
        if child.relationship == "assistant_agent":
            thread = await state.get_child_thread(child.reference)
            if thread is not None:
                await thread.queue_message(role="user", content=message.content or "")
            return
