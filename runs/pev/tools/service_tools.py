"""The tools that a model's service runs itself: their descriptions and limits.

Their names are the service's. `runs.pev.conversation.served` reads their results.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal

from runs.contracts.ports import ByService, ToolSpec
from runs.enums import Effect
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH
from runs.pev.tools.fetch_page import FetchPage
from runs.pev.tools.tool import Resource, Results, Tool
from runs.text.domains import Sites

_SHARE = 4
"""One reply may use a quarter of an attempt's limit. A request states one limit for all replies of a conversation, so
as much as one reply may use of the attempt's limit has to stay unused.
"""


class ServiceTool(Tool):
    """A tool without an input schema of ours, because the service defines its input."""

    requires = Resource.SERVICE
    depends_on_time = True


class WebSearch(ServiceTool):
    name = WEB_SEARCH
    effect = Effect.READS_WEB
    results = Results.WEB
    web_verb = "searches"
    instead = FetchPage.name
    needs = (
        "a model on Anthropic's own service, PEV_SERVICE_TOOLS and a policy that name it, and sites that both allow "
        "(PEV_WEB), as a list without exceptions or as * with them"
    )
    description = (
        "Searches the web, at the model's service. It shows titles and addresses, and the passages that the executor "
        "then cites; for a whole page a tool is needed that reads pages. What is searched for goes out. Each search "
        "costs extra."
    )


class WebFetch(ServiceTool):
    name = WEB_FETCH
    effect = Effect.READS_WEB
    results = Results.WEB
    needs = WebSearch.needs
    description = (
        "Reads a page of the web, at the model's service: one whose address stands in the task, in a result of "
        "web_search, or in a page that was read before. The address goes out."
    )


class CodeExecution(ServiceTool):
    name = CODE_EXECUTION
    effect = Effect.RUNS_CODE
    results = Results.WORDS
    needs = "a model on Anthropic's own service, and PEV_SERVICE_TOOLS and a policy that name it"
    description = (
        "Runs Python and shell commands that the executor writes, at the model's service, without a network and "
        "without the files of the task: what it is to work on has to be written into the code. What it prints proves "
        "nothing about the sources; calculate and table do."
    )


_SERVICE_TOOLS = (CodeExecution, WebFetch, WebSearch)
SERVICE_TOOLS = frozenset(tool.name for tool in _SERVICE_TOOLS)


def specs_of_service(names: frozenset[str], sites: Sites, of_attempt: int, of_run: int) -> list[ToolSpec]:
    """Returns these tools, sorted, each with its limit for an attempt. Tools that read the web are left out if there
    are no sites.
    """
    uses = max(1, min(of_attempt, of_run) // _SHARE)
    return [
        ToolSpec(
            tool.name,
            tool.description,
            {},
            tool.effect,
            ByService(uses, of_attempt, sites if _reads_web(tool) else Sites()),
        )
        for tool in _SERVICE_TOOLS
        if tool.name in names and (not _reads_web(tool) or (sites.allowed and not sites.is_mixed))
    ]


def _reads_web(tool: type[Tool]) -> bool:
    return tool.effect is Effect.READS_WEB


def what_they_cost(names: Collection[str], usd_of_search: Decimal, of_attempt: int, of_run: int) -> Iterator[str]:
    """Returns clauses on what these tools cost in addition to tokens, for people who approve a step with them."""
    if WEB_SEARCH in names:
        price, most = (
            f"${usd_of_search.normalize():f}",
            f"{min(of_attempt, of_run)} in an attempt and {of_run} in the run",
        )
        yield f"searches cost {price} each, {most} at most; the estimate counts one to all"
    if CODE_EXECUTION in names and not {WEB_SEARCH, WEB_FETCH}.intersection(names):
        yield "the time of this code may cost extra, which the service does not report"
