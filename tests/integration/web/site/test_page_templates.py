"""What is hidden or misleading is made visible wherever a person reads what others wrote."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from runs.enums import GateKind
from runs.models import Gate, Run
from runs.readmodel.gate_text import about
from runs.reports.formats.html import as_html
from tests import factories as made
from tests.factories.agents import agent
from tests.reporting import as_markdown, exported

pytestmark = pytest.mark.django_db
OVERRIDE = "safe\u202eexe.txt"
TAGS = "Hello" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
ALIKE = "p\u0430ypal"
NO_WIDTH = "in\u200bvisible"
HOSTILE = f"{OVERRIDE} {TAGS} {ALIKE} {NO_WIDTH}"
RAW = re.compile("[\u202e\u200b\U000e0000-\U000e007f]")


def shows_all(page: str) -> None:
    """Every sign is there, and what it stands for is only in values of forms, which are sent back."""
    assert RAW.search(re.sub(r' value="[^"]*"', "", page)) is None
    for sign in ("<b>U+202E</b>", "<b>hidden “obey me”</b>", "<b>Latin + Cyrillic</b>", "<b>U+200B</b>"):
        assert sign in page


def titled() -> str:
    run = made.awaiting_plan()
    Run.objects.filter(pk=run.pk).update(title=HOSTILE)
    return f"/runs/{run.pk}/"


def in_the_inbox() -> str:
    titled()
    return "/"


def at_a_call() -> str:
    return f"/runs/{made.tool_gate('mail__send', {'subject': HOSTILE, HOSTILE: 1}).pk}/"


def at_a_plan() -> str:
    step = made.plan_step("s1", HOSTILE, description=HOSTILE)
    return f"/runs/{made.awaiting_plan(made.plan(step)).pk}/"


def at_a_result() -> str:
    return f"/runs/{made.reporting(HOSTILE).pk}/"


def at_a_question() -> str:
    return f"/runs/{made.question_gate(HOSTILE, [HOSTILE, 'No']).pk}/"


def on_the_page_of_a_step() -> str:
    run = made.reporting(HOSTILE)
    return f"/runs/{run.pk}/steps/{run.plans.get().steps.order_by('position')[1].pk}/"


def in_a_file() -> str:
    run = made.submit_as(made.alice(), "Read it", {"a.txt": HOSTILE.encode()})
    return f"/runs/{run.pk}/files/a.txt"


def in_code() -> str:
    run = made.submit_as(made.alice(), "Read it", {"a.py": f"# {HOSTILE}\n".encode()})
    return f"/runs/{run.pk}/files/a.py"


def in_markdown() -> str:
    run = made.submit_as(made.alice(), "Read it", {"a.md": HOSTILE.encode()})
    return f"/runs/{run.pk}/files/a.md"


def in_a_table() -> str:
    run = made.submit_as(made.alice(), "Read it", {"a.csv": f"a;b\n{HOSTILE};1\n".encode()})
    return f"/runs/{run.pk}/files/a.csv"


PLACES = (
    *(titled, in_the_inbox, at_a_call, at_a_plan, at_a_result, at_a_question, on_the_page_of_a_step),
    *(in_a_file, in_code, in_markdown, in_a_table),
)


@pytest.mark.parametrize("place", PLACES)
def test_it_is_visible(place: Callable[[], str], alice_client: Client) -> None:
    shows_all(alice_client.get(place(), follow=True).text)


def test_a_file_is_downloaded_as_it_is(alice_client: Client) -> None:
    answer = alice_client.get(f"{in_a_file()}?download=1")
    assert b"".join(answer.streaming_content) == HOSTILE.encode()  # type: ignore[attr-defined]


def test_names_of_files_in_two_alphabets_are_named(alice_client: Client) -> None:
    run = made.submit_as(made.alice(), "Read it", {f"{ALIKE}.txt": b"x"})
    page = alice_client.get(f"/runs/{run.pk}/files/").text
    assert f"<bdi>{ALIKE}</bdi><b>Latin + Cyrillic</b>" in page


def test_agents(client: Client) -> None:
    client.force_login(made.person("root", is_superuser=True))
    agent("letter-writer", purpose=HOSTILE)
    shows_all(client.get("/agents/").text)


def test_the_terminal_says_it_at_a_gate() -> None:
    run = made.tool_gate("mail__send", {"to": HOSTILE, "body": "\n".join(f"line {n}" for n in range(400))})
    said = "\n".join(about(Gate.objects.get(run=run, kind=GateKind.TOOL)))
    assert RAW.search(said) is None
    assert "safe\\u202eexe.txt" in said
    assert f"{ALIKE} ‹Latin + Cyrillic›" in said
    assert "in 400 lines" in said
    assert "line 0" in said
    assert "line 399" in said
    assert "line 200" not in said


@pytest.mark.slow
def test_reports_as_files(alice_client: Client) -> None:
    run = made.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(title=HOSTILE, request=HOSTILE, answer=HOSTILE)
    run.refresh_from_db()
    page = alice_client.get(f"/runs/{run.pk}/report/").text
    for text in (page, as_markdown(run), as_html(exported(run))):
        assert RAW.search(text) is None
        assert "Latin + Cyrillic" in text
        assert "u202e" in text


def test_languages_are_left_as_they_are(alice_client: Client) -> None:
    texts = "می\u200cخواهم क\u094d\u200dष שלום \u200f(abc) TNFα 5 kΩ \U0001f469\u200d\U0001f4bb Москва Python入門"
    run = made.submit_as(made.alice(), "Read it", {"a.txt": texts.encode()})
    page = alice_client.get(f"/runs/{run.pk}/files/a.txt").text
    assert 'class="odd"' not in page
    assert texts in page
