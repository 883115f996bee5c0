"""The words of the pages with their meaning, each once: for the glossary, and for the folds beside words."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """`key` names it in addresses and templates."""

    key: str
    word: str
    meaning: str


@dataclass(frozen=True)
class Group:
    title: str
    terms: tuple[Term, ...]


GROUPS = (
    Group(
        "The task",
        (
            Term(
                "run",
                "Run",
                "One task that was handed over: the request, your files, the policy, the plans, the outcome.",
            ),
            Term(
                "policy",
                "Policy",
                "What is set before a run starts: who is asked and when, how many attempts and plan "
                "revisions, the limits of cost and time, the models. It does not change afterwards; only "
                "limits are raised, when a decision asks for it.",
            ),
            Term(
                "plan",
                "Plan",
                "A numbered version that never changes: goal, context, steps, what has to be true when it"
                " is done, and what to do if it has to be undone.",
            ),
            Term(
                "step",
                "Step",
                "One unit of a plan: what is done, what its result has to meet, which files it writes, "
                "and which steps come before it.",
            ),
            Term("stage", "Stage", "Steps that depend on nothing but earlier stages. They may run in parallel."),
            Term(
                "agent",
                "Agent",
                "How steps of a kind are done here, under a name: instructions that an administrator wrote, "
                "and where it has them a model and tools of its own. A plan says which step has which.",
            ),
            Term(
                "subagent",
                "Subagent",
                "An agent to which a step may hand parts of its work, where policy and plan say so. Its calls stand "
                "with the attempt, under its name. What it says proves nothing by itself.",
            ),
            Term("template", "Template", "A plan that was kept, to be used again on other files."),
        ),
    ),
    Group(
        "The work",
        (
            Term(
                "attempt",
                "Attempt",
                "One try at a step: it is carried out, then verified. A retry is told everything that was"
                " criticised before.",
            ),
            Term(
                "criterion",
                "Criterion",
                "One statement that can be measured. It is about the sources (the material, the world) or"
                " only about the output (how the result looks).",
            ),
            Term(
                "check",
                "Automatic check",
                "A criterion that code decides: a file exists, has so many words, fits a schema, its "
                "quotes stand in the source. It costs nothing and comes before every AI review.",
            ),
            Term(
                "review",
                "AI review",
                "A criterion that a second model judges, with evidence. “95 % confident” is what that "
                "model said of itself; metrics show how often it was right. In runs without AI, such as "
                "the sample, offline rules judge it, and pages say so.",
            ),
            Term(
                "verdict",
                "Verdict",
                "The judgement of an attempt: each criterion, whether all passed, and what happens next. "
                "Whether it passed is computed from the criteria, never taken from the model.",
            ),
            Term(
                "confidence",
                "Confidence",
                "How sure a model said it was, from 0 to 100 %. It proves nothing; below the minimum that"
                " the policy asks for, an attempt does not pass.",
            ),
            Term(
                "reused",
                "Reused",
                "A result that was taken from an earlier plan version or run, since nothing that it "
                "depends on has changed: of the files, those that the attempt, its checks and its verifier looked at.",
            ),
            Term("run-again", "Run again", "The same task once more: what has not changed is reused."),
        ),
    ),
    Group(
        "Evidence",
        (
            Term(
                "evidence",
                "Evidence",
                "A verbatim quote with its source, or the result of a check. The server looks each quote "
                "up itself. A quote that is not found supports nothing.",
            ),
            Term(
                "unsupported",
                "Unsupported",
                "Claimed to be met, without evidence that stands up. That is not passed.",
            ),
            Term(
                "citation",
                "Citation",
                "A link in a result whose words are a quote and whose target is its place in a source. It"
                " is found, corrected (the words stand elsewhere in that file), or broken.",
            ),
            Term(
                "provenance",
                "Provenance",
                "Where the words of a source come from: your files, a tool, a person, or the run itself. "
                "What the run wrote proves only how the result looks.",
            ),
            Term(
                "weak",
                "Weak evidence",
                "A quote that shares no figure and no name with the statement it is to support. It is "
                "marked for people to look at.",
            ),
            Term(
                "place",
                "Place",
                "Where words stand in a file: a line, a page, a clause, a slide, a cell. Clauses have the "
                "numbers that Word shows, which are not in the file itself.",
            ),
            Term(
                "tracked-changes",
                "Tracked changes",
                "A Word file is read as if all of them were accepted. Deleted words prove nothing; who "
                "deleted them and when is said.",
            ),
            Term(
                "ocr",
                "Read by OCR",
                "Text that was recognised in a picture, with how sure that is. Where it is not sure, a "
                "person has to look.",
            ),
            Term(
                "coverage",
                "Read and not read",
                "Which parts of your files the models were shown, computed from the journal, never asked.",
            ),
        ),
    ),
    Group(
        "Decisions",
        (
            Term(
                "decision",
                "Needs your decision",
                "A question that holds the run, or one step of it, until a person answers. No answer is never a yes.",
            ),
            Term(
                "request-changes",
                "Request changes",
                "Sends a plan or a result back with your words. They become numbered requests, and each "
                "is answered visibly.",
            ),
            Term(
                "high-risk",
                "High-risk step",
                "A step whose mistakes would cost most. By default its result needs your decision.",
            ),
            Term(
                "out-of-attempts",
                "Out of attempts",
                "Every attempt that the policy allows was used and none passed. You decide: another plan,"
                " go on with an open point, or stop.",
            ),
            Term(
                "fingerprint",
                "Fingerprint",
                "A short code of everything that an approval is bound to: plan, files, policy, models, "
                "instructions. If any of it differs, the question is asked again.",
            ),
        ),
    ),
    Group(
        "The outcome",
        (
            Term(
                "open-point",
                "Open point",
                "Anything that keeps a result from being whole, with its cause: a criterion that is not "
                "met, a file that was not read, a broken citation.",
            ),
            Term(
                "succeeded",
                "Succeeded",
                "Every step passed, and everything that had to be true is supported by evidence.",
            ),
            Term(
                "partial",
                "Partial",
                "At least one step passed, or a person accepted a result with open points. The answer "
                "begins with what is missing.",
            ),
            Term("failed", "Failed", "The run ended without a result that counts."),
            Term("stopped", "Stopped", "A person ended the run. What had passed until then is kept."),
            Term(
                "skipped",
                "Skipped",
                "A step that was not carried out, since the run was stopped or a new plan does without it.",
            ),
        ),
    ),
    Group(
        "Programs",
        (
            Term(
                "access-token",
                "Access token",
                "What lets a program of yours submit runs in your name and read what you may see, until it "
                "expires or you revoke it. It decides nothing: plans and results wait for people, on these pages.",
            ),
            Term(
                "mcp",
                "MCP",
                "The protocol that assistants and editors speak (Model Context Protocol). This site is an MCP "
                "server for programs with an access token, where it is set up for that; and steps may call tools "
                "of other MCP servers, if an administrator, the policy and the plan name them.",
            ),
        ),
    ),
    Group(
        "Figures",
        (
            Term(
                "worked",
                "Worked, waited",
                "Two clocks: the time in which the run was at work, and the time in which it waited for a person.",
            ),
            Term(
                "yield",
                "First-pass yield",
                "Of the steps that have ended, those that passed with their first attempt and were not sent back.",
            ),
            Term("recovered", "Recovered", "Steps that failed, were tried again and then passed."),
            Term(
                "budget",
                "Budget",
                "The most that the model calls of a run may cost. Before it is passed, the run asks.",
            ),
        ),
    ),
)
TERMS: Mapping[str, Term] = {term.key: term for group in GROUPS for term in group.terms}
