"""A step, an action or a criterion in the form of others, put into that of the contract."""

import json
import re
from collections.abc import Collection, Set

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.enums import About, Complexity
from runs.errors import PathRefused
from runs.pev.agents import DELEGATE
from runs.pev.contracts import PlanStep
from runs.pev.imports.notes import NOTHING, ConversionNotes, each_of, value_in_words, with_contract_names, without_state
from runs.pev.tools.registry import TOOL_NAMES
from runs.text.paths import clean_path
from runs.text.truncate import truncate_line

PURPOSE = "As the description of the step says."
DONE = "What the description of the step asks for has been done."
NO_TOOL = "\0"
"""Of an action that becomes a part of the description. Cannot come from outside: NUL characters are refused."""
NAME_CHARS = 80
"""Of a step without a name: the beginning of what it is to do."""
_STEP = {
    "id": "step_id",
    "step_number": "step_id",
    "task_id": "step_id",
    "instruction": "description",
    "instructions": "description",
    "objective": "description",
    "task": "description",
    "title": "name",
    "task_name": "name",
    "depends_on": "dependencies",
    "dependent_task_ids": "dependencies",
    "complexity": "estimated_complexity",
    "postconditions": "acceptance_criteria",
    "success_conditions": "acceptance_criteria",
    "success_criteria": "acceptance_criteria",
    "outputs": "expected_outputs",
    "output_files": "expected_outputs",
    "input_files": "inputs",
    "tools": "tools_needed",
    "parameters": "params",
    "args": "params",
}
_EXPECTED = ("expected_output", "output", "output_file", "deliverable")
_TO_DESCRIPTION = (
    *("agent", "preconditions", "ready_criteria", "constraints", "notes", "rationale", "type", "priority"),
    "params",
)
"""What they say of a step."""
DEPENDENCIES = frozenset({"dependencies", "depends_on", "dependent_task_ids"})
_OTHER = frozenset(
    {"step", "task", "instruction", "instructions", "objective", "action", "agent", "tools_needed", *_EXPECTED}
    | {"preconditions", "postconditions"}
)
"""A step with one of these is not in the form of the contract: it may lack what that asks for."""
_WHOLE = frozenset(name for name, field in PlanStep.model_fields.items() if field.is_required())
_ACTION = {
    "name": "tool",
    "action": "tool",
    "description": "purpose",
    "parameters": "params",
    "arguments": "params",
    "args": "params",
}
_CRITERION = {"criterion": "text", "description": "text", "condition": "text", "postcondition": "text"}
_OUTPUT = {"file": "path", "filename": "path", "name": "path"}
_PATHS = frozenset({"path", *_OUTPUT})
_RESULTS = (
    r"\S+\.[a-z]{2,5}|report|summary|output|answer|result|memo|list|table|diagram|overview|index"
    r"|bericht|zusammenfassung|ausgabe|antwort|ergebnis|liste|tabelle|diagramm|übersicht|verzeichnis"
)
_MADE = (
    "created|written|generated|produced|saved|contains?|exists?|has|have"
    "|erstellt|geschrieben|erzeugt|gespeichert|enthält|enthalten|vorhanden|existiert|hat|haben"
)
_OF_OUTPUT = re.compile(
    r"\A(?:the |an? |each |every |one |this |der |die |das |eine? |jede[rs]? |diese[rs]? )?(?:\w+ ){0,2}"
    rf"(?:{_RESULTS})\b.{{0,40}}?\b(?:{_MADE})\b"
    r"|\b\d[\d,.]{0,19} (?:words|characters|wörter|worte|zeichen)\b"
    r"|\b(?:valid|gültiges) (?:json|csv|markdown|yaml)\b"
    r"|\bformat(?:ted)? (?:as|is|of)\b|\bim format\b",
    re.IGNORECASE,
)
"""Criteria that say how a result is to look: it is their subject, or they name its length or format."""
_TOOLS = TOOL_NAMES - {DELEGATE}
"""Of plans from elsewhere: what begins with “delegate” is an action in words."""
_BEGINS_WITH_TOOL = re.compile(rf"\s*({'|'.join(sorted(_TOOLS))})\b[\s:–—-]*(.*)", re.DOTALL)
_FILE = re.compile(r"\S*[^\s/.]\.[A-Za-z]\w{0,9}")
_PATTERN = re.compile(r"\S+|.*[/*].*|.*\.\w+")
STEP_SYNONYMS = {**_OUTPUT, **_ACTION, **_CRITERION, **_STEP}
"""What other plans call the fields of steps, and of what these are made of."""


def is_other(step: JsonValue) -> bool:
    # `agent` is a field of the contract as well, if all other fields of the contract are there.
    return isinstance(step, str) or (
        isinstance(step, dict) and not _OTHER.isdisjoint(step.keys() - {"agent"} if _is_whole(step) else step.keys())
    )


def _is_whole(step: JsonObject) -> bool:
    """Whether it has all that the contract asks for, under its names."""
    return step.keys() >= _WHOLE


def step_of(value: JsonValue, number: int, notes: ConversionNotes, *, other: bool) -> JsonValue:
    """The step in the form of the contract. One that is or belongs to an `other` form may lack what that asks for."""
    notes.step, other = str(number), other or is_other(value)
    if isinstance(value, str):
        notes.add("Text is read as the description of a step")
        value = {"description": value}
    if not isinstance(value, dict):
        return value
    forms = _STEP | {"step": "description" if isinstance(value.get("step"), str) else "step_id"}
    if not other and isinstance(value.get("actions"), list):
        del forms["tools"]  # it has both, as in the contract
    made = with_contract_names(value, forms, notes)
    if other and made.get("step_id") is None:
        made["step_id"] = number
    if "step_id" in made:
        made["step_id"] = _id(made["step_id"])
        notes.step = str(made["step_id"])[:60]
    made = without_state(made, notes)
    for name in ("actions", "expected_outputs", "dependencies"):
        if made.get(name) is None:
            made[name] = []
    _dependencies(made)
    _actions(made, notes)
    _fill_name_and_description(made, other)
    criteria = _outputs(made, notes)
    _inputs(made, other, notes)
    _remarks(made, notes, but={"agent"} if _is_whole(value) else set())
    _complexity_of(made, notes)
    if other and made.get("acceptance_criteria") in NOTHING:
        made["acceptance_criteria"] = criteria or [DONE]
        notes.add(
            "What it is expected to give is its criterion" if criteria else "It has no criteria: its description is one"
        )
    read_criteria(made, "acceptance_criteria", paths_of(made), notes)
    return made


def paths_of(step: JsonValue) -> list[str]:
    """The files that a step names as written, in a plan that was not validated yet."""
    outputs = step.get("expected_outputs") if isinstance(step, dict) else None
    found = [
        item.get("path") if isinstance(item, dict) else item for item in (outputs if isinstance(outputs, list) else ())
    ]
    return [path for path in found if isinstance(path, str)]


def _dependencies(made: JsonObject) -> None:
    if not made["dependencies"] and isinstance(made.get("context"), list):
        made["dependencies"] = made.pop("context")
    if isinstance(made["dependencies"], str | int):
        made["dependencies"] = [made["dependencies"]]
    each_of(made, "dependencies", _id)


def _actions(made: JsonObject, notes: ConversionNotes) -> None:
    """Its actions and the tools that it needs. One action in words may be all that is said of the step."""
    actions = made["actions"]
    if not isinstance(actions, list):
        return
    found = list(actions)
    if (action := made.pop("action", None)) is not None:
        if isinstance(action, str) and made.get("description") is None:
            made["description"] = action
            notes.add("Its action is read as its description")
        if isinstance(action, str) and action in _TOOLS and "params" in made:
            action = {"tool": action, "params": made.pop("params")}
        if not isinstance(action, str) or made["description"] is not action or _BEGINS_WITH_TOOL.fullmatch(action):
            found += action if isinstance(action, list) else [action]
    tools = made.pop("tools_needed", None)
    for tool in tools if isinstance(tools, list) else [tools] if tools is not None else []:
        known = not isinstance(tool, str) or _BEGINS_WITH_TOOL.fullmatch(tool)
        found.append(tool if known else {"tool": NO_TOOL, "purpose": f"Needs {tool}"})
        notes.add("The tools that it needs are read as actions" if known else "A tool that is not there is only named")
    made["actions"] = [_action(item) for item in found]


def _outputs(made: JsonObject, notes: ConversionNotes) -> list[JsonValue]:
    """Its outputs; what they are to be like, in words, becomes a part of the description and is given back."""
    outputs = made["expected_outputs"]
    if not isinstance(outputs, list):
        return []
    files, words = [_output(item) for item in outputs], list[str]()
    for name in _EXPECTED:
        value = made.pop(name, None)
        for item in value if isinstance(value, list) else [value]:
            if (isinstance(item, dict) and not _PATHS.isdisjoint(item)) or (isinstance(item, str) and _is_file(item)):
                files.append(_output(item))
            elif item not in NOTHING:
                words.append(value_in_words(item))
    made["expected_outputs"] = files
    if words:
        notes.add("An expected output that is no path is read as a part of the description")
        _add_lines(made, [f"Expected: {text}" for text in words])
    return [f"The result is as expected: {text}" for text in words]


def _is_file(text: str) -> bool:
    try:
        return _FILE.fullmatch(text) is not None and clean_path(text) == text
    except PathRefused:
        return False


def _output(value: JsonValue) -> JsonValue:
    return with_contract_names(value, _OUTPUT) if isinstance(value, dict) else value


def _inputs(made: JsonObject, other: bool, notes: ConversionNotes) -> None:
    """Patterns stay; what else it is given becomes a part of the description."""
    inputs = made.get("inputs")
    listed = inputs if isinstance(inputs, list) else [inputs] if inputs is not None else []
    patterns = [item for item in listed if isinstance(item, str) and not (other and not _PATTERN.fullmatch(item))]
    if "inputs" in made:
        made["inputs"] = list(patterns)
    known = frozenset(patterns)  # of a hostile plan there may be 100,000
    others = [item for item in listed if not isinstance(item, str) or item not in known]
    if words := [value_in_words(item) for item in others if item not in NOTHING]:
        notes.add("An input that is no path is read as a part of the description")
        _add_lines(made, [f"Input: {text}" for text in words])


def _fill_name_and_description(made: JsonObject, other: bool) -> None:
    """Name and description, each from the other where it is missing."""
    if made.get("description") is None and "name" in made:
        made["description"] = made["name"]
    if made.get("name") is None and other and isinstance(description := made.get("description"), str):
        made["name"] = truncate_line(description, NAME_CHARS)


def _remarks(made: JsonObject, notes: ConversionNotes, but: Set[str]) -> None:
    """What else is said of the step becomes a part of its description."""
    for name in (name for name in _TO_DESCRIPTION if name in made and name not in but):
        value = made.pop(name)
        if value not in NOTHING:
            notes.add(f"Its {name} is read as a part of the description")
            below = "\n" if isinstance(value, dict | list) else " "
            _add_lines(made, [f"{name.replace('_', ' ').capitalize()}:{below}{value_in_words(value)}"])


def _add_lines(made: JsonObject, lines: list[str]) -> None:
    if isinstance(description := made.get("description"), str):
        made["description"] = "\n\n".join([description, *lines])


_COMPLEXITY = {
    Complexity.LOW: frozenset(("low", "easy", "simple", "trivial", "small", "niedrig", "einfach")),
    Complexity.MEDIUM: frozenset(("medium", "moderate", "normal", "average", "mittel")),
    Complexity.HIGH: frozenset(("high", "hard", "difficult", "complex", "large", "hoch", "schwierig", "komplex")),
}


def _complexity_of(made: JsonObject, notes: ConversionNotes) -> None:
    value = made.get("estimated_complexity")
    if value is None:
        made["estimated_complexity"] = Complexity.MEDIUM.value
        notes.add("It does not say how complex it is: medium")
    elif (word := _complexity_named(value)) is None:
        return
    else:
        made["estimated_complexity"] = word.value
        if value != word.value and (not isinstance(value, str) or value.strip().lower() != word.value):
            notes.add(f"Complexity {value} is {word.value}")


def _complexity_named(value: JsonValue) -> Complexity | None:
    """What other tools call it: a number from 1 to 10, or a word."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if not word.isdecimal() or len(word) > 2:
            return next((complexity for complexity, words in _COMPLEXITY.items() if word in words), None)
        value = int(word)
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(1, 11):
        return None
    return Complexity.LOW if value <= 3 else Complexity.MEDIUM if value <= 7 else Complexity.HIGH


def read_criteria(made: JsonObject, name: str, outputs: Collection[str], notes: ConversionNotes) -> None:
    """Criteria in words or as objects. Where a criterion does not say what it is about, that is guessed from its words
    and from the files that are written, and noted for people.
    """
    if isinstance(text := made.get(name), str):
        made[name] = [text]
    each_of(made, name, lambda one: _criterion(one, notes))
    criteria = made.get(name)
    names = {part.casefold() for path in outputs for part in (path, path.rpartition("/")[2])} - {""}
    what = "success criterion" if name == "success_criteria" else "criterion"
    for number, one in enumerate(criteria if isinstance(criteria, list) else (), 1):
        # an export of ours says `null` where nothing is known, and is read back unchanged
        if isinstance(one, dict) and "about" not in one and not one.get("check") and _is_of_output(one, names):
            one["about"] = About.OUTPUT.value
            notes.add(f"Guessed from its words: {what} {number} is about how the result looks, not about the sources")


def _is_of_output(criterion: JsonObject, names: Set[str]) -> bool:
    text = criterion.get("text")
    if not isinstance(text, str):
        return False
    words = {word.strip(".,;:()“”\"'`") for word in text.casefold().split()}
    return not words.isdisjoint(names) or _OF_OUTPUT.search(text) is not None


def _criterion(value: JsonValue, notes: ConversionNotes) -> JsonValue:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        return value
    return without_state(with_contract_names(value, _CRITERION), notes, "id")


def _id(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _action(value: JsonValue) -> JsonValue:
    """An action of the contract; text that begins with no tool is marked, so that the others keep their numbers."""
    if isinstance(value, str):
        found = _BEGINS_WITH_TOOL.fullmatch(value)
        return {"tool": found[1], "purpose": found[2] or PURPOSE} if found else {"tool": NO_TOOL, "purpose": value}
    if not isinstance(value, dict):
        return value
    made = with_contract_names(value, _ACTION)
    params, purpose = made.pop("params", None), made.get("purpose")
    if params not in (None, {}):
        details = f"with {json.dumps(params, ensure_ascii=False)}"
        made["purpose"] = f"{purpose} ({details})" if isinstance(purpose, str) else purpose or details
    return {"purpose": PURPOSE} | {name: item for name, item in made.items() if (name, item) != ("purpose", None)}
