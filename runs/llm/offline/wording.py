"""Owns the sentences that plan, executor and verifier must spell alike: criteria, markers, names of steps."""

import re

NO_AI = "Offline rules, no AI"
RULES_NOTE = f"{NO_AI}: fixed patterns and counts made this. Nobody understood the text."

INVENTORY_FILES = "Every file of the task is listed in {path}, or counted there as not listed"
INVENTORY_LINES = "The lines given in {path} are those that reading the documents showed"
FACTS_OCCUR = "The text of every row of {path} occurs in the document and line that the row names"
FINDINGS_WHOLE = "Every finding in {path} names its document, line, verbatim quote and a recommendation"
QUOTES_OCCUR = "Every quote in {path} occurs verbatim in the document and line it is attributed to"
NOTICES_COMPLETE = "Every finding of {other} is named by its id in {path}"
REFERENCES_OCCUR = "Every reference in {path} (file:line: text) occurs in the file and line that it names"
ADVICE_WHOLE = "Every recommendation in {path} names its evidence: a file, a line and the quote"
PASSAGES_WHOLE = "Every passage in {path} has its file and line"
SUMMARY_COVERS = "Every document of {other} is named in {path}"
ANSWER_FIGURES = "The final answer states the result in figures and names {path}"
ANSWER_NO_AI = "The final answer says that no AI was involved"

ONLY = "Only these documents: "
LEAVE_OUT = "Leave out these documents: "
FEEDBACK = "Requirement from feedback: "
LESSON = "Take into account what happened before: "
REHEARSAL = "Rehearsal: on its first attempt this step leaves {what} out on purpose."
REHEARSAL_MARK = "Rehearsal: on its first attempt"

POINTS = "Points in all: "
NOT_LISTED = "Not listed here: "
REMARKS = "Remarks of the reviewer"


def pattern(template: str) -> re.Pattern[str]:
    """Recognises a criterion made from a template; the blanks become groups."""
    parts = re.split(r"\{(\w+)\}", template)
    made = "".join(f"(?P<{part}>.+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.compile(made + r"\.?")
