"""The tools of the MCP server. None of them approves, rejects, edits, answers, pauses or stops; people do that on the
pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.enums import TokenScope
from runs.web.mcp import looking, submitting, tool_answers, tool_arguments
from runs.web.mcp.tool_answers import ToolAnswer
from runs.web.mcp.tool_arguments import Arguments, Caller

__all__ = ["SCOPES", "TOOLS", "McpTool", "ToolAnswer"]


@dataclass(frozen=True)
class McpTool[Given: Arguments]:
    """One tool: its title, description, arguments, answer and function.

    `reads`: it changes nothing. `scope`: what the access token must allow.
    """

    title: str
    description: str
    arguments: type[Given]
    answer: type[ToolAnswer]
    do: Callable[[Caller, Given], ToolAnswer]
    reads: bool = True
    scope: TokenScope = TokenScope.RUNS_READ


TOOLS: Mapping[str, McpTool[Any]] = {
    "list_templates": McpTool(
        "Templates",
        "Plans that a run may start from instead of one that is written for it.",
        tool_arguments.ListTemplates,
        tool_answers.Templates,
        submitting.list_templates,
    ),
    "submit_run": McpTool(
        "Submit a run",
        "Submit a task with its files. Its plan waits for a person, who approves it on a page; nothing runs before. "
        "Files that usually hold secrets are left out. All files come with this call, at most 4 MB as it is sent.",
        tool_arguments.SubmitRun,
        tool_answers.SubmittedRun,
        submitting.submit_run,
        reads=False,
        scope=TokenScope.RUNS_WRITE,
    ),
    "list_runs": McpTool(
        "Runs",
        "The runs that your user may see, the newest first.",
        tool_arguments.ListRuns,
        tool_answers.Runs,
        looking.list_runs,
    ),
    "run_status": McpTool(
        "State of a run",
        "What a run does now, how far it is, what it has cost, and which questions wait for people on which page.",
        tool_arguments.RunStatusArguments,
        tool_answers.Status,
        looking.run_status,
    ),
    "wait_for_run": McpTool(
        "Wait for a run",
        "Like run_status, but waits some seconds until the run is over or needs a person. Call it again for longer.",
        tool_arguments.WaitForRun,
        tool_answers.Status,
        looking.run_status,
    ),
    "read_report": McpTool(
        "Report of a run",
        "Outcome, open points, answer, decisions and costs as Markdown, or everything that happened as JSON.",
        tool_arguments.ReadReport,
        tool_answers.ReportText,
        looking.read_report,
    ),
    "list_files": McpTool(
        "Files of a run",
        "What the run was given and what it has made of that.",
        tool_arguments.ListFilesArguments,
        tool_answers.Files,
        looking.list_files,
    ),
    "read_file": McpTool(
        "Read a file of a run",
        "One file: text, also that of documents such as PDF and Word, or bytes as a resource; long ones in pieces.",
        tool_arguments.ReadFileArguments,
        tool_answers.FilePiece,
        looking.read_file,
    ),
}
SCOPES = tuple(dict.fromkeys(tool.scope for tool in TOOLS.values()))
"""What the tools need: a token that allows none of these can call no tool."""
