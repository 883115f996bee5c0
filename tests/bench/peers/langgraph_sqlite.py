"""A peer: plan, execute and verify as a LangGraph graph with its SQLite checkpointer. Runs under its own interpreter.

    PYTHON langgraph_sqlite.py [--steps 20] [--runs 3] [--chars 1800]

The models answer at once, so the time is that of the graph and its checkpoints. One checkpoint, written before the next
node begins, lies behind each model reply and each tool result, as in pevsite's journal: ask, tool, ask, verify.
Prints one line of JSON. Needs langgraph and langgraph-checkpoint-sqlite, and nothing of pevsite.
"""

import argparse
import json
import operator
import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

NODES_PER_STEP = 4
Message = dict[str, Any]


class State(TypedDict):
    request: str
    plan: list[str]
    current: int
    messages: Annotated[list[Message], operator.add]
    reports: Annotated[list[Message], operator.add]
    verdicts: Annotated[list[Message], operator.add]


def build_graph(steps: int, text: str) -> Any:
    """Nodes that return what models and tools would; `text` is what a step writes and what it reports."""

    def plan(state: State) -> dict[str, Any]:
        return {"plan": [f"Write file {number}" for number in range(steps)], "current": 0}

    def ask_for_tool(state: State) -> dict[str, Any]:
        use = {"name": "write_file", "input": {"path": f"{state['current']}.md", "content": text}}
        return {"messages": [{"role": "assistant", "tool_use": use}]}

    def run_tool(state: State) -> dict[str, Any]:
        return {"messages": [{"role": "user", "tool_result": f"Wrote {state['current']}.md."}]}

    def ask_for_report(state: State) -> dict[str, Any]:
        return {"reports": [{"step": state["current"], "status": "done", "findings": text, "confidence": 0.9}]}

    def verify(state: State) -> dict[str, Any]:
        evidence = [{"source": f"{state['current']}.md", "quote": text[:100]}]
        verdict = {"step": state["current"], "passed": True, "evidence": evidence, "action": "pass"}
        return {"verdicts": [verdict], "current": state["current"] + 1}

    def next_node(state: State) -> str:
        return "ask_for_tool" if state["current"] < steps else END

    graph = StateGraph(State)
    for node in (plan, ask_for_tool, run_tool, ask_for_report, verify):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "ask_for_tool")
    graph.add_edge("ask_for_tool", "run_tool")
    graph.add_edge("run_tool", "ask_for_report")
    graph.add_edge("ask_for_report", "verify")
    graph.add_conditional_edges("verify", next_node, ["ask_for_tool", END])
    return graph


def measure(steps: int, text: str) -> tuple[float, float]:
    """Milliseconds and database bytes per step of one run on a new database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoints.sqlite"
        with SqliteSaver.from_conn_string(str(path)) as saver:
            app = build_graph(steps, text).compile(checkpointer=saver)
            empty = {"plan": [], "current": 0, "messages": [], "reports": [], "verdicts": []}
            options = {"configurable": {"thread_id": "run"}, "recursion_limit": NODES_PER_STEP * steps + 10}
            began = time.perf_counter()
            end = app.invoke({"request": "Do the work", **empty}, options, durability="sync")
            took = time.perf_counter() - began
            if [verdict["step"] for verdict in end["verdicts"]] != list(range(steps)):
                raise SystemExit("not every step was verified once")
        return 1_000 * took / steps, path.stat().st_size / steps  # closed: the write-ahead log is in the file


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3, help="the median of so many counts")
    parser.add_argument("--chars", type=int, default=1_800, help="length of what a step writes and reports")
    options = parser.parse_args()
    text = ("Clause 4.2 has vague payment terms. " * options.chars)[: options.chars]
    measure(3, text)  # the first run of a process imports and compiles
    figures = [measure(options.steps, text) for _ in range(options.runs)]
    times, sizes = zip(*figures, strict=True)
    print(json.dumps({"ms_per_step": statistics.median(times), "bytes_per_step": statistics.median(sizes)}))


if __name__ == "__main__":
    main()
