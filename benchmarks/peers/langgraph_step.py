"""A peer of P1: LangGraph with its SqliteSaver, a model node and a tool node in turns.

Runs in the peers' own virtual environment, started by p1_step.py. The state is one counter, which
favours it: nothing grows. Prints JSON: milliseconds a step, the first and the last twenty.
"""

# pyright: basic, reportMissingImports=false

import json
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

STEPS = int(sys.argv[1])
began: list[float] = []


class State(TypedDict):
    """What is checkpointed."""

    steps: int


def model(state: State) -> State:
    """Stands for an instant model call."""
    began.append(perf_counter())
    return {"steps": state["steps"] + 1}


def tool(state: State) -> State:
    """Stands for an instant tool call."""
    return state


graph = StateGraph(State)
graph.add_node("model", model)
graph.add_node("tool", tool)
graph.add_edge(START, "model")
graph.add_edge("model", "tool")
graph.add_conditional_edges("tool", lambda state: END if state["steps"] >= STEPS else "model")
with (
    tempfile.TemporaryDirectory() as folder,
    SqliteSaver.from_conn_string(str(Path(folder, "peer.db"))) as saver,
):
    compiled = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 4 * STEPS}
    compiled.invoke({"steps": 0}, config, durability="sync")
taken = [(after - before) * 1000 for before, after in pairwise(began)]
print(
    json.dumps(
        {
            "median_ms": statistics.median(taken),
            "first_ms": statistics.median(taken[:20]),
            "last_ms": statistics.median(taken[-20:]),
        }
    )
)
