"""The tool that asks a person something that no file says. No thread waits: the work continues when
there is an answer.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.base import PERSON
from runs.contracts.ports import ToolResult
from runs.enums import Effect
from runs.pev.delimiters import delimited
from runs.pev.tools.tool import Resource, Results, Tool, ToolContext

_Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
_Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=600)]
_Choice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class AskPerson(Tool):
    name = "ask_person"
    effect = Effect.ASKS
    results = Results.WORDS
    requires = Resource.PEOPLE
    depends_on_time = True
    needs = "a policy that allows questions"
    refusal = "No one can be asked here. Decide yourself, and say what you decided."
    description = (
        "Asks the person who answers for this task, and waits, perhaps for hours. Only for what decides the work, "
        "stands in no file and cannot be left open in the result: one short question that can be answered without "
        "reading anything else, with the likely answers as choices, and why you ask."
    )

    question: Annotated[_Question, Field(description="One question")]
    why: Annotated[
        _Why, Field(description="Why no file answers it and what the answer changes, with file and place")
    ] = ""
    choices: Annotated[
        list[_Choice], Field(max_length=8, description="Likely answers, each with what follows from it; may be empty")
    ] = []

    def run(self, context: ToolContext) -> ToolResult:
        """Returns the answer. Raises AnswerAwaited until there is one, and InvalidInput if no further question may be
        asked.
        """
        people = context.reach.people
        assert people is not None
        answer = people.ask(self.question, self.choices, self.why)
        lead = "has left this to you: decide, and say what you decided" if answer.delegated else "has answered"
        if not answer.words:
            return ToolResult(f"{answer.person} {lead}.")
        source = f"{PERSON}{answer.number}"
        words = delimited("person", answer.words, source)
        return ToolResult(f"{answer.person} {lead}. Quote these words as {source}.\n{words}")
