"""The points of a result at its gate: shown once, and accepted or sent back one by one."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateStatus, Outcome
from runs.models import Run
from runs.web.frame.run_frame import RunFrame
from runs.web.gates.decision_form import Problem
from runs.web.run.overview import OVERVIEW, run_page
from runs.web.site.requests import RunRights
from tests import factories
from tests.integration.web.deciding import address, form, gate_of

pytestmark = pytest.mark.django_db


REPORT = "Three points need attention in two documents.\n\n" + "\n".join(
    f"- F{number}: clause {number} names no date" for number in (1, 2, 3)
)


@pytest.fixture(scope="module")
def number(rows_of_module: None) -> int:
    return factories.step_gate().pk


@pytest.fixture
def waiting(number: int, db: None) -> Run:
    """One run at a step gate, which each test gives its own report; that is rolled back."""
    return Run.objects.get(pk=number)


@pytest.mark.slow
def test_points_that_are_sent_back_become_requests_and_the_others_stay(alice_client: Client) -> None:
    run = factories.reporting(REPORT)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert [f'name="back" value="{number}"' in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    gate = gate_of(run)
    sent = form(gate, "reject", "Be brief.") | {"back": ["2", "3"], "note-2": "Quote the clause."}
    assert alice_client.post(address(gate), sent).status_code == 302
    gate.refresh_from_db()
    assert [(one.request, one.words) for one in gate.comments] == [
        (1, "Be brief."),
        (2, "On point 2 “F2: clause 2 names no date”: Quote the clause."),
        (
            3,
            "On point 3 “F3: clause 3 names no date”: This is not right yet. Look at it again and change it.",
        ),
    ]
    page = alice_client.get(f"/runs/{run.pk}/steps/").text
    assert "Quote the clause." in page
    history = alice_client.get(f"/runs/{run.pk}/history/").text
    said = "Be brief. · Quote the clause. (on F2) · This is not right yet. Look at it again and change it. (on F3)"
    assert [said in text for text in (page, history, alice_client.get(f"/runs/{run.pk}/").text)] == [True, True, True]


@pytest.mark.slow
def test_more_points_than_can_be_judged_at_once_are_said_at_the_button_and_stay_ticked(alice_client: Client) -> None:
    run = factories.reporting("\n".join(f"- F{number}: clause {number} names no date" for number in range(1, 121)))
    gate = gate_of(run)
    sent = form(gate, "reject", "") | {"back": [str(number) for number in range(1, 102)], "note-101": "Quote it."}
    answer = alice_client.post(address(gate), sent)
    assert answer.status_code == 422
    assert "These are 101 requests; at most 100 can be made, since each is judged by itself." in answer.text
    assert len(re.findall(r'name="back" value="\d+"[^>]* checked', answer.text)) == 101
    assert "Quote it." in answer.text
    assert gate_of(run) == gate


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verb": "approve", "back": ["2"]}, "1 point is ticked to be sent back,"),
        ({"verb": "reject", "back": ["4"]}, "This result has no point 4."),
        ({"verb": "reject", "back": ["0", "-1", "x", "1e3", "²", "99999"]}, "Say what should be different"),
        (
            {"verb": "reject", "back": ["1", "2"], "note-2": "x" * 9_000},
            "What you wrote about point 2 is too long by 7,000 characters; 2,000 fit.",
        ),
    ],
)
def test_points_that_cannot_be_sent_back_are_said_and_kept(
    alice_client: Client, waiting: Run, change: dict[str, Any], says: str
) -> None:
    gate = gate_of(factories.reporting(REPORT, waiting))
    answer = alice_client.post(address(gate), form(gate, "reject") | change)
    gate.refresh_from_db()
    assert (answer.status_code, gate.status) == (422, GateStatus.OPEN)
    assert says in answer.text
    assert ("checked" in answer.text) is ("2" in change["back"])


def test_words_of_several_lines_go_back_whole(alice_client: Client, waiting: Run) -> None:
    gate = gate_of(factories.reporting(REPORT, waiting))
    words = "\n".join(["x"] * 1_000)
    sent = form(gate, "reject") | {"back": ["1"], "note-1": words.replace("\n", "\r\n")}
    assert alice_client.post(address(gate), sent).status_code == 302
    gate.refresh_from_db()
    assert [one.text for one in gate.comments] == [words]


ROWS = "| Clause | Risk |\n|---|---|\n| 4.2 <img src=x> | *high* |\n| 7.1 | low |\n"


def test_rows_of_tables_are_sent_back_with_their_cells(alice_client: Client, waiting: Run) -> None:
    csv = "Party,Amount\n<script>alert(1)</script>,=1+1\nKestrel,3\n"
    run = factories.reporting(f"Two tables.\n\n{ROWS}\nThe end.", waiting, rows_csv=csv)
    page = alice_client.get(f"/runs/{run.pk}/").text
    fold = page.split(f'id="gate-{gate_of(run).pk}-points"')[1].split("</details>")[0]
    assert '<summary>Points <span class="count">2</span> <span class="faint">and 2 table rows</span>' in fold
    assert [name in fold for name in ('<th scope="col">Clause</th>', "<em>high</em>", "Kestrel</td>")] == [True] * 3
    assert [f'name="back" value="{number}"' in fold for number in (1, 2, 3, 4, 5)] == [True] * 4 + [False]
    assert 'Send back<span class="visually-hidden"> row 1 of rows.csv</span>' in fold
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in fold
    assert ("<script" in fold, "<img" in fold) == (False, False)
    gate = gate_of(run)
    sent = form(gate, "reject") | {"back": ["1", "4"], "note-4": "Look at the annex."}
    assert alice_client.post(address(gate), sent).status_code == 302
    gate.refresh_from_db()
    assert [(one.request, one.words) for one in gate.comments] == [
        (
            1,
            "On row 1 of table 1 of the report “Clause: 4.2 <img src=x>; Risk: *high*”: "
            "This is not right yet. Look at it again and change it.",
        ),
        (2, "On row 2 of rows.csv “Party: Kestrel; Amount: 3”: Look at the annex."),
    ]


@pytest.mark.slow
def test_thousands_of_rows_are_cut_and_that_is_said(alice_client: Client) -> None:
    run = factories.reporting("One table.", rows_csv="a,b\n" + "1,2\n" * 5_000)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert page.count('name="back"') == 500
    assert "Further rows are in the file: 500 can be sent back one by one." in page


def test_a_report_stands_on_the_page_once(alice_client: Client, waiting: Run) -> None:
    run = factories.reporting(f"{REPORT}\n\n## Remarks\n\nThe annex is missing.", waiting)
    page, preview = alice_client.get(f"/runs/{run.pk}/").text, '<div class="gate-findings">'
    assert page.count(preview) == 1  # the table of points takes its place when it is opened
    page = page.replace(page.partition(preview)[2].partition("</div>")[0], "")
    assert [page.count(words) for words in ("Three points need", "clause 2 names", "The annex is")] == [1, 1, 0]
    rest = alice_client.get(f"{address(gate_of(run))}report/").text
    assert [rest.count(words) for words in ("Three points need", "clause 2 names", "The annex is")] == [0, 0, 1]


def findings_of(page: str) -> list[str]:
    preview = page.partition('<div class="gate-findings">')[2].partition("</div>")[0]
    return [
        " ".join(unescape(re.sub("<[^>]*>", " ", one)).split()) for one in re.findall("<li.*?</li>", preview, re.DOTALL)
    ]


def test_the_most_severe_points_are_shown_before_anything_is_opened(alice_client: Client, waiting: Run) -> None:
    rows = "".join(f"| {name} | {clause} | {risk} | {do} |\n" for name, clause, risk, do in (
        ("F1", "Notice", "low", ""),
        ("F2", "Fee", "High", "State the **amount**."),
        ("F3", "Rent", "", ""),
        ("F4", "Term", "critical", ""),
        ("F5", "Place", "medium", ""),
    ))  # fmt: skip
    table = f"Five.\n\n| No. | Clause | Severity | Recommendation |\n|---|---|---|---|\n{rows}"
    page = alice_client.get(f"/runs/{factories.reporting(table, waiting).pk}/").text
    assert findings_of(page) == [
        "F4 critical Term no citation",
        "F2 High Fee no citation State the amount.",
        "F3 Rent no citation",
    ]
    assert "and 2 more under “Points”" in page


def test_the_only_point_of_a_result_is_shown_whole(alice_client: Client, waiting: Run) -> None:
    text = f"The fee is missing ({LEASE}, line 41). {'It has to be stated. ' * 10}"
    page = alice_client.get(f"/runs/{factories.reporting(f'One point.\n\n- {text}\n\nMore.', waiting).pk}/").text
    [shown] = findings_of(page)
    assert shown.startswith("The fee is missing")
    assert (
        shown.count("It has to be stated."),
        shown.endswith("Büro lease, line 41 names a place, but quotes nothing"),
    ) == (10, True)
    assert ('name="back"' in page, "The point has no sound citation" in page) == (False, True)
    rest = alice_client.get(f"{address(gate_of(waiting))}report/").text
    assert ("The fee is" in rest, "More." in rest) == (False, True)


def test_one_point_beside_a_table_is_no_point(alice_client: Client, waiting: Run) -> None:
    page = alice_client.get(f"/runs/{factories.reporting(f'Two.\n\n- Alone.\n\n{ROWS}', waiting).pk}/").text
    assert (len(findings_of(page)), "Alone." in page) == (2, False)


def lead_of(page: str) -> list[str]:
    found = re.findall(r'class="gate-lead[^"]*">(.*?)</(?:div|p)>\s*<(?:ul|details)', page, re.DOTALL)
    return [" ".join(unescape(re.sub("<[^>]*>", "", lead)).split()) for lead in found]


def test_the_first_words_of_the_result_are_those_below_its_heading_or_those_of_its_file(
    alice_client: Client, waiting: Run
) -> None:
    listed = "# Points\n\n- F1: no date\n- F2: no sum"
    written = "# Points that need attention\n\nThe **lease** has [two](<lease.md#L1>) gaps.\n"
    page = alice_client.get(f"/runs/{factories.reporting('# Review\n\nTwo points are open.', waiting).pk}/").text
    assert lead_of(page) == ["Two points are open."]
    factories.reporting(listed, waiting, points_md=written)
    page = alice_client.get(f"/runs/{waiting.pk}/").text
    assert lead_of(page) == ["The lease has two gaps. The full result"]
    assert "data-source>The full result</a>" in page


def test_points_are_open_if_nothing_else_says_what_the_result_is(alice_client: Client, waiting: Run) -> None:
    attempt = gate_of(waiting).attempt
    assert attempt is not None
    attempt.overlay = {}
    attempt.save()
    page = alice_client.get(f"/runs/{factories.reporting('# Points\n\n- F1: one\n- F2: two', waiting).pk}/").text
    assert (lead_of(page), re.findall(r'<details class="fold" id="gate-\d+-points"( open)?>', page)) == ([], [" open"])


LEASE, DATA = factories.LEASE, factories.DATA


def cells_of(page: str) -> list[list[str]]:
    """The words of each row of points, cell by cell; of a picture its name."""
    rows = re.findall(r"<tr(?: data-broken)?><th scope=\"row\">.*?</tr>", page, re.DOTALL)
    named = [re.sub(r'<span role="img" aria-label="([^"]*)"[^>]*>', r"\1", row) for row in rows]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in named]
    return [[" ".join(unescape(re.sub("<[^>]*>", "", cell)).split()) for cell in row] for row in cells]


def test_points_are_a_table_with_id_kind_text_source_and_mark_the_failing_first(
    alice_client: Client, waiting: Run
) -> None:
    page = alice_client.get(f"/runs/{factories.reporting(factories.cited(), waiting).pk}/").text
    back = [f"Send back point {number}" for number in (1, 2, 3)]
    broken = f"broken citation: {LEASE}#L41. “no such words” does not occur in {LEASE}"
    more = f"see {DATA}, line 7, and more. <i>"
    places = f"line 7 of {DATA}Büro lease, line 50-52line 9"
    assert cells_of(page) == [
        [
            "F2",
            "Missing amount",
            f"a fee “no such words” [{broken}]",
            "line 41",
            "citation not found",
            back[1],
        ],
        ["F1", "Placeholder", "TBD “parking spaces TBD”", "line 23", "citation found", back[0]],
        ["F3", "Vague term", more, places, "names a place, but quotes nothing", back[2]],
    ]
    links = re.findall(r'<a href="([^"]*)" data-source(="again" tabindex="-1")? title=', page.split('-points"')[1])
    inline = re.findall(r'<a data-source href="([^"]*)"[^>]*>', page)
    assert [address for address, again in links if again] == inline
    assert len(links) == 5


def test_points_about_clauses_pages_and_cells_have_their_source_severity_and_recommendation(
    alice_client: Client, waiting: Run
) -> None:
    findings = "# Findings\n\n## F1: Notice\n\n- **Severity:** high\n- Recommendation: Name a **number** of days.\n"
    report = f"""Four points.

- F1 ({LEASE}, clause 4.2(b)): vague term
- F2 ({DATA}, page 3): no date
- F3 ({LEASE}, Rents!B7): no sum
- F4 ({DATA}, section 5): no party

| Document | Points |
|---|---|
| {LEASE} | 2 |
| {DATA} | 2 |
"""
    page = alice_client.get(f"/runs/{factories.reporting(report, waiting, findings_md=findings).pk}/").text
    rows = cells_of(page)
    assert [row[:5] for row in rows[:4]] == [
        ["F1", "vague term", "high", "Name a number of days.", "clause 4.2(b)"],
        ["F3", "no sum", "", "", "Rents!B7"],
        ["F2", "no date", "", "", "page 3"],
        ["F4", "no party", "", "", "section 5"],
    ]
    groups = re.findall(r'<th colspan="20" scope="rowgroup">([^<]*?) <span class="count">(\d)</span>', page)
    assert groups == [("Büro lease", "2"), ("Data processing agreement", "2")]
    assert re.findall(r";(at=[^#&]*)#hit", page.split('-points"')[1].split("gate-findings")[0]) == [
        "at=4.2%28b%29",
        "at=Rents%21B7",
        "at=page%3D3",
        "at=5",
    ]
    assert [len(row) for row in rows[4:]] == [3, 3], "an overview has no box: document, number, and its own number"
    assert page.count('name="back"') == 4


def test_rows_of_a_table_show_their_ids_and_whether_what_they_cite_was_found(
    alice_client: Client, waiting: Run
) -> None:
    rows = f"| Id | Kind | Quote |\n|---|---|---|\n| **R1** | date | [“parking spaces TBD”](<{LEASE}#L23>) |\n"
    rows += f"| R2 | sum | [“no such words”](<{LEASE}#L41>) |\n| R3 | sum | none |\n"
    page = alice_client.get(f"/runs/{factories.reporting(rows, waiting).pk}/").text
    found = cells_of(page)
    assert [(row[0], row[1], row[3]) for row in found] == [
        ("R2", "sum", "citation not found"),
        ("R1", "date", "citation found"),
        ("R3", "sum", "no citation"),
    ]
    assert re.findall(r'<th scope="col">(\w+)</th>', page)[:4] == ["Id", "Kind", "Quote", "Cited"]


def test_without_any_citation_there_is_no_column_for_them(alice_client: Client, waiting: Run) -> None:
    page = alice_client.get(f"/runs/{factories.reporting(REPORT, waiting).pk}/").text
    assert cells_of(page)[0] == ["F1", "clause 1 names no date", "Send back point 1"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (factories.step_gate, "which “Request changes” does. To accept all the same, take the ticks away."),
        (factories.exhausted_gate, "which “Try again” does. To accept with open points all the same, take the ticks"),
    ],
)
def test_an_approval_does_not_drop_what_is_ticked_and_names_the_button(
    alice_client: Client, make: Callable[[], Run], says: str
) -> None:
    gate = gate_of(make())
    sent = form(gate, "approve", "Fine.") | {"back": ["1", "2"], "note-2": "Quote it."}
    answer = alice_client.post(address(gate), sent)
    gate.refresh_from_db()
    assert (answer.status_code, gate.status, gate.comments) == (422, GateStatus.OPEN, [])
    assert f"2 points are ticked to be sent back, {says}" in answer.text


def test_a_run_is_stopped_whatever_is_ticked(alice_client: Client, waiting: Run) -> None:
    gate = gate_of(waiting)
    assert alice_client.post(address(gate), form(gate, "stop") | {"back": ["77"]}).status_code == 302
    waiting.refresh_from_db()
    assert waiting.outcome == Outcome.CANCELLED


@pytest.mark.parametrize("other", [0, 1])
def test_what_was_ticked_at_another_gate_is_not_ticked_at_this_one(waiting: Run, other: int) -> None:
    run = factories.reporting(REPORT, waiting)
    problem = Problem(gate_of(run).pk + other, "Not so.", "", notes={2: "Quote it."})
    frame = RunFrame(run, rights=RunRights(decides=True))
    shown = OVERVIEW.replaced(run_page(run), ["gates"], frame=frame, problem=problem)
    assert (shown.count(" checked"), shown.count("Quote it.")) == ((0, 0) if other else (1, 1))


def test_a_broken_citation_is_said_with_the_point_it_stands_in(alice_client: Client, waiting: Run) -> None:
    lost = f"[“no such words”](<{LEASE}#L41>)"
    report = f"Two.\n\n- F1: date\n- F2: sum,\n  {lost}\n- third {lost}\n\n{ROWS}| 8.1 | {lost} |\n\nAnd {lost}.\n"
    page = alice_client.get(f"/runs/{factories.reporting(report, waiting).pk}/").text
    assert re.findall("<strong>Broken citation</strong> in ([^:]*): ", page) == [
        "F2",
        "point 3",
        "row 3 of table 1 of the report",
        "line 14 of the report",
    ]


def lines_of(page: str) -> str:
    return page[page.index('<ul class="gate-lines">') : page.index('<div class="gate-folds">')]


@pytest.mark.slow
def test_points_without_a_citation_are_counted_before_what_is_fine(alice_client: Client) -> None:
    """All criteria are met, one of them with a quote: of the points that says nothing. Approving is no plain way on."""
    said = []
    for report in (factories.points(200), f"{factories.cited()}\n{ROWS}"):
        page = alice_client.get(f"/runs/{factories.reporting(report).pk}/").text
        lines = lines_of(page)
        assert '<button class="button" name="verb" value="approve"' in page
        said.append(re.findall(r'<li data-mark="warn"><strong>([^<]*)</strong></li>', lines))
        assert re.search(
            r'<li data-mark="calm">\s*<strong>3 of 3 criteria met, but (none of the 200|2 of 3) points', lines
        )
        assert 0 < lines.find("sound citation") < lines.index("3 of 3 criteria")
    assert said == [["None of the 200 points has a sound citation"], ["2 of 3 points have no sound citation"]]


@pytest.mark.slow
def test_points_are_not_counted_where_nobody_asks_for_sources(alice_client: Client) -> None:
    run = factories.reporting(REPORT, factories.step_gate(sources_needed=False))
    whole = factories.reporting(REPORT.replace(" names", f" [“parking spaces TBD”](<{LEASE}#L23>) names"))
    pages = [alice_client.get(f"/runs/{one.pk}/").text for one in (run, whole)]
    assert ["points cited" in page for page in pages] == [False, False]
    assert all('<button class="button primary" name="verb" value="approve"' in page for page in pages)


def test_a_criterion_about_every_file_says_how_many_were_looked_at(alice_client: Client, waiting: Run) -> None:
    attempt = gate_of(waiting).attempt
    assert attempt is not None
    first, *rest = attempt.verdict.results
    attempt.verdict.results = [first.model_copy(update={"looked_at": 1, "out_of": 3, "unit": "files"}), *rest]
    attempt.verdict.save()
    lines = lines_of(alice_client.get(f"/runs/{waiting.pk}/").text)
    assert f'<li data-mark="warn"><strong>1 of 3 files have evidence</strong> {first.text}</li>' in lines


def test_one_quote_for_several_criteria_and_coverage_are_on_the_pages_of_gate_and_step(alice_client: Client) -> None:
    run = factories.sampled()
    gate = gate_of(run)
    assert gate.step is not None
    lines = lines_of(alice_client.get(f"/runs/{run.pk}/").text)
    assert "<strong>One quote supports 3 criteria</strong> <q>dealt with as soon as possible</q>" in lines
    assert "<strong>6 of 23 points have evidence</strong> Each point quotes its clause." in lines
    step = " ".join(alice_client.get(f"/runs/{run.pk}/steps/{gate.step.pk}/").text.split())
    fold = " ".join(alice_client.get(f"/runs/{run.pk}/gates/{gate.pk}/criteria/").text.split())
    for page in (step, fold):
        assert "<strong>One quote supports 3 criteria</strong> <q>dealt with as soon as possible</q>" in page
        assert page.count("6 of 23 points have evidence") == 1
