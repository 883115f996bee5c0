"""Verifiers that wave through, invent, contradict themselves, or are never content."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import Player, labels_of, told, verdict


def quotes(source: str, quote: str) -> Player:
    """Passes everything with this quote."""
    return lambda request, right: Say(json.dumps(verdict(labels_of(request), source, quote)))


def quotes_in_turn(evidence: Sequence[tuple[str, str]]) -> Player:
    """Passes the first criterion with the first of these, the second with the second, and so on."""

    def play(request: Request, right: Answer) -> Answer:
        answer = verdict(labels_of(request), "", "x")
        for result, (source, quote) in zip(answer["criteria_results"], evidence, strict=False):
            result["evidence"] = [{"source": source, "quote": quote}]
        return Say(json.dumps(answer))

    return play


def changed(change: Callable[[dict[str, Any]], object]) -> Player:
    """The right verdict, changed in place; `change` is given the parsed answer."""

    def play(request: Request, right: Answer) -> Answer:
        assert isinstance(right, Say)
        answer = json.loads(right.text)
        change(answer)
        return Say(json.dumps(answer))

    return play


def each_result(**values: Any) -> Player:
    """The right verdict with these values in the result of every criterion."""
    return changed(lambda answer: [result.update(values) for result in answer["criteria_results"]])


def failing(request: Request, **values: Any) -> dict[str, Any]:
    return {**verdict(labels_of(request), "", "", passed=False, action="retry"), **values}


def invents(request: Request, right: Answer) -> Answer:
    """T1: always passes, with a quote that stands nowhere."""
    return quotes("one.md", "this was never written there")(request, right)


def invents_differently(request: Request, right: Answer) -> Answer:
    """T1: asked for evidence once more, it invents another quote."""
    return quotes("one.md", f"invention number {len(request.messages)}")(request, right)


def quotes_another_file(request: Request, right: Answer) -> Answer:
    """T1: the words are true, of another file than the one it names."""
    return quotes("one.md", "Some notes.")(request, right)


def mixes_in_inventions(request: Request, right: Answer) -> Answer:
    """T1: one true quote among invented ones; only the true one may count, and the others are shown as they are."""
    invented = {"source": "one.md", "quote": "the auditors agreed"}
    return changed(lambda answer: [r["evidence"].append(invented) for r in answer["criteria_results"]])(request, right)


def brings_no_evidence(request: Request, right: Answer) -> Answer:
    """T1: passes without a quote."""
    return each_result(evidence=[])(request, right)


def passes_over_a_failure(request: Request, right: Answer) -> Answer:
    """T3: every criterion failed, and yet it passes overall."""
    return Say(json.dumps(failing(request, overall_pass=True, action="pass")))


def fails_over_passes(request: Request, right: Answer) -> Answer:
    """T3: every criterion passed with proof, and yet it fails overall and wants another plan."""
    return changed(lambda answer: answer.update(overall_pass=False, action="replan"))(request, right)


def never_passes(request: Request, right: Answer) -> Answer:
    """Section 3: nothing is ever good enough; attempts and replans are bounded."""
    return Say(json.dumps(failing(request, feedback_for_executor="Not good enough.")))


def content_once(is_content: Callable[[], bool]) -> Player:
    """Judges as it should once that is so; before, nothing is good enough."""
    return lambda request, right: right if is_content() else never_passes(request, right)


def always_replans(request: Request, right: Answer) -> Answer:
    """Section 3: wants another plan each time; replans are bounded."""
    return Say(json.dumps(failing(request, action="replan")))


def cannot_be_done(step_id: str) -> Player:
    """Section 3: says of the work that wrote this step's file that no one can do it."""

    def play(request: Request, right: Answer) -> Answer:
        documents = [part.name for part in told(request) if part.kind == "document"]
        if f"{step_id}.md" not in documents:
            return right
        return Say(json.dumps(failing(request, action="cannot", feedback_for_executor="There is no such figure.")))

    return play


def fails_in_silence(request: Request, right: Answer) -> Answer:
    """Section 4: fails without a word of feedback."""
    answer = failing(request, feedback_for_executor="")
    for result in answer["criteria_results"]:
        result["feedback"] = " "
    return Say(json.dumps(answer))


def quotes_its_own_critique(request: Request, right: Answer) -> Answer:
    """T1: its first verdict becomes the proof of its second."""
    if any(part.kind == "critique" for part in told(request)) or "try 2" in str(request.messages):
        return quotes("one.md", "It does not say enough.")(request, right)
    return Say(json.dumps(failing(request)))


def names_a_label_twice(request: Request, right: Answer) -> Answer:
    """T3: judges one criterion twice, failed and passed, hoping that the last word counts."""
    bad = {"criterion": "c2: again", "passed": False, "evidence": [], "confidence": 1.0, "feedback": "No."}
    return changed(lambda answer: answer["criteria_results"].insert(0, bad))(request, right)


def judges_other_criteria(request: Request, right: Answer) -> Answer:
    """T3: judges criteria that nobody asked for, and not the one that was."""
    return each_result(criterion="C99")(request, right)


def adds_a_criterion(request: Request, right: Answer) -> Answer:
    """T3: slips in a criterion of its own that failed; only those that were asked for count."""
    extra = {"criterion": "C77", "passed": False, "evidence": [], "confidence": 1.0, "feedback": "Mine."}

    def change(answer: dict[str, Any]) -> None:
        answer["criteria_results"].append(extra)
        answer["feedback_for_executor"] = "Mine."

    return changed(change)(request, right)


def takes_back_its_claim(request: Request, right: Answer) -> Answer:
    """T1: asked for evidence once more, it says that the criterion failed after all."""
    return invents(request, right) if len(request.messages) == 1 else never_passes(request, right)


def makes_up_its_verdict(request: Request, right: Answer) -> Answer:
    """Section 4: a certainty, quotes, an action and a field that there are not."""
    evidence = [{"source": "one.md", "quote": "x" * 2_001}, {"source": "one.md", "quote": " \t\n "}]

    def change(answer: dict[str, Any]) -> None:
        answer["criteria_results"][0] |= {"confidence": 7, "evidence": evidence}
        answer |= {"action": "approve", "approved": True}

    return changed(change)(request, right)


def uses_tools(request: Request, right: Answer) -> Answer:
    """Section 4: calls a tool that it was never given."""
    return UseTools(ToolUse("write_file", {"path": "one.md", "content": "Proof."}))


def at(step_id: str, player: Player) -> Player:
    """Judges this step like `player`, and everything else as it should."""
    subject = f"Do {step_id}: "

    def play(request: Request, right: Answer) -> Answer:
        mine = any(part.kind == "subject" and part.text.startswith(subject) for part in told(request))
        return player(request, right) if mine else right

    return play


def only_at_the_end(player: Player) -> Player:
    """Judges steps as it should, and the final answer like `player`."""

    def play(request: Request, right: Answer) -> Answer:
        last = any(part.kind == "subject" and part.text.startswith("The whole task") for part in told(request))
        return player(request, right) if last else right

    return play


def quotes_the_request(source: str, words: str) -> Player:
    """T7: judges criteria as it should, and takes a person's own words in the result as the proof of their request."""

    def change(answer: dict[str, Any]) -> None:
        for result in answer["criteria_results"]:
            if result["criterion"].startswith("R"):
                result["evidence"] = [{"source": source, "quote": words}]

    return changed(change)


def proves(statement: str, source: str, quote: str) -> Player:
    """Passes every criterion of a step with this quote, which it says supports these words; honest at the end."""

    def play(request: Request, right: Answer) -> Answer:
        if any(part.kind == "subject" and part.text.startswith("The whole task") for part in told(request)):
            return right
        return Say(json.dumps(verdict(labels_of(request), source, quote, statement)))

    return play
