"""A team in real browsers: one submits, another approves after a mail and a webhook, a third only looks, and an
administrator reads who approved what, and whether that ran.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from standardwebhooks import Webhook

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.conftest import new_context
from tests.browser.screenshots import pictures
from tests.browser.site import Site, served, sign_in
from tests.browser.test_people import invited
from tests.browser.test_story import LONG, approve, gate
from tests.fakes.smtp_server import SmtpServer
from tests.fakes.webhook_receiver import Receiver
from tests.installation import Installation

PHONE = 390
TITLE = "Review these three contracts"
MOST_SECONDS = 60
LINK = re.compile(r"^http://\S+$", re.MULTILINE)


@pytest.fixture(scope="module")
def smtp() -> Iterator[SmtpServer]:
    server = SmtpServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.close()


@pytest.fixture(scope="module")
def team_site(
    smtp: SmtpServer, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory, installation: Installation
) -> Iterator[Site]:
    """A site that sends mails and webhooks, and where a second person approves what is high-risk."""
    data = installation.copy(tmp_path_factory.mktemp("team"))
    with served(
        data,
        PEV_SECOND_PERSON="high_risk",
        PEV_SMTP_HOST="127.0.0.1",
        PEV_SMTP_PORT=str(smtp.port),
        PEV_SMTP_SECURITY="none",
        PEV_MAIL_FROM="pevsite@example.org",
        PEV_WEBHOOKS="hooks.example.org",
        PEV_PRIVATE_HOSTS="127.0.0.1",
    ) as site:
        yield site


class Post:
    """What has reached a person by mail and webhook."""

    def __init__(self, smtp: SmtpServer, receiver: Receiver, address: str) -> None:
        self._smtp, self._receiver, self._address = smtp, receiver, address
        self.secret = ""

    def mail_link(self, subject: str) -> str:
        """The link of the only mail with this subject, as soon as there is one."""
        (mail,) = arrived(
            lambda: [
                mail
                for people, mail in self._smtp.received
                if (people, str(mail["Subject"])) == ([self._address], subject)
            ]
        )
        content = mail.get_payload(decode=True)
        assert isinstance(content, bytes)
        return str(LINK.findall(content.decode().replace("\r\n", "\n"))[0])

    def hooks(self, kind: str) -> list[dict[str, str]]:
        """What all webhooks of this kind are about, whose signatures are right, as soon as there is one."""
        verified = Webhook(self.secret)
        return arrived(
            lambda: [
                {name: sent["data"][name] for name in ("title", "link", "run")}
                for headers, body in self._receiver.received
                if (sent := verified.verify(body, {name.lower(): value for name, value in headers.items()}))["type"]
                == f"notice.{kind}"
            ]
        )


def arrived[Thing](look: Callable[[], list[Thing]]) -> list[Thing]:
    """What is found, as soon as there is something."""
    ends = time.monotonic() + MOST_SECONDS
    while not (found := look()):
        assert time.monotonic() < ends, "nothing has arrived"
        time.sleep(0.05)
    return found


def check(page: Page, name: str) -> None:
    """The page is for everybody, in both themes, and fits a phone."""
    check_both_themes(page)
    check_fits(page, PHONE)
    pictures(page, name)


def someone(browser: Browser, link: str) -> Page:
    """A page in a browser of their own, signed in by this link."""
    page = new_context(browser).new_page()
    sign_in(page, link)
    return page


def invite_a_team(root: Page, site: Site) -> dict[str, str]:
    """The links for everyone. Bob is in the group Legal."""
    people = {"alice": "submitter", "bob": "approver", "vera": "viewer", "charlie": "submitter"}
    links = {name: invited(root, site, name, role) for name, role in people.items()}
    expect(root.get_by_label("User name")).to_have_value("")  # for the next one
    check(root, "people-link")
    root.get_by_label("Name of a new group").fill("Legal")
    root.get_by_role("button", name="Add the group").click()
    expect(root.get_by_text("The group “Legal” is there.")).to_be_visible()
    root.locator("summary", has_text="Roles of bob").click()
    check(root, "people-roles")
    root.locator("details[open]").get_by_label("Legal").check()
    root.get_by_role("button", name="Save the roles of bob").click()
    expect(root.get_by_text("The roles and groups of bob are changed.")).to_be_visible()
    return links


def choose_mail_and_webhook(page: Page, post: Post, receiver: Receiver, address: str) -> None:
    """By the pages of the account: the address is confirmed by the link in a mail, the webhook gets a secret."""
    page.locator(".site-user summary").click()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="Notices").click()
    page.get_by_role("link", name="Add one").click()
    page.get_by_role("textbox").fill(address)
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_text("A mail with a link is on its way.")).to_be_visible()
    check(page, "email-unconfirmed")
    page.goto(post.mail_link("Confirm your e-mail address"))
    check(page, "email-confirm")
    page.get_by_role("button", name="Confirm it").click()
    expect(page.locator("li", has_text="E-mail")).to_contain_text(address)
    page.locator("li", has_text="Webhook").locator("summary").click()
    page.get_by_label("Address", exact=True).fill(receiver.address)
    page.get_by_role("button", name="Save the address").click()
    expect(page.get_by_role("heading", name="The secret of your webhook")).to_be_visible()
    post.secret = page.get_by_label("The secret", exact=True).inner_text()
    check(page, "notices-secret")
    for box in page.get_by_role("checkbox", name="Webhook").all():
        box.check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Your choices are saved.")).to_be_visible()


def share(page: Page, who: str, level: str, said: str) -> None:
    page.get_by_label("Share it with").select_option(label=who)
    page.get_by_label("They may").select_option(label=level)
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_text(said, exact=True)).to_be_visible()


def answer_to_post(page: Page, url: str, **fields: str) -> tuple[int, str]:
    """How the site answers a form that the page does not offer: its status and its page."""
    (token,) = [one["value"] for one in page.context.cookies() if one["name"] == "csrftoken"]
    answer = page.request.post(url, form={**fields, "csrfmiddlewaretoken": token}, headers={"Referer": page.url})
    return answer.status, answer.text()


def test_a_team_decides_and_an_auditor_reads_what_was_approved(
    team_site: Site, browser: Browser, smtp: SmtpServer, receiver: Receiver
) -> None:
    root = someone(browser, team_site.first_link)
    people = {name: someone(browser, link) for name, link in invite_a_team(root, team_site).items()}
    alice, bob, vera, charlie = people.values()
    post = Post(smtp, receiver, "bob@example.org")
    choose_mail_and_webhook(bob, post, receiver, "bob@example.org")

    # Alice submits, is told that she cannot approve, and shares.
    alice.get_by_role("button", name="Try it: three sample contracts").click()
    plan = gate(alice, "plan")
    expect(plan.locator("button[value=approve]")).to_be_disabled(timeout=LONG)
    expect(plan).to_contain_text("It takes a second person to approve. alice submitted the task")
    run = alice.url.partition("#")[0]
    check(alice, "gate-of-alice")
    plan.get_by_role("link", name="Who may approve").click()
    expect(alice.get_by_text("Apart from administrators, no one can yet")).to_be_visible()
    check(alice, "sharing-lacks")
    share(alice, "Legal", "Look and decide", "Legal may look at this run and decide in it.")
    share(alice, "vera", "Look", "vera may look at this run.")
    expect(alice.get_by_text("Apart from administrators, no one can yet")).to_have_count(0)
    check(alice, "sharing")
    alice.goto(run)

    # Bob is told, and follows the link. Vera only looks, and Charlie sees nothing.
    needed = {"title": f"Needs your decision: {TITLE}", "link": run, "run": run.split("/")[-2]}
    assert post.hooks("decision_needed") == [needed]
    bob.goto(post.mail_link(f"Assigned to you: {TITLE}"))
    asked = gate(bob, "plan").locator("form.decide")
    action, digest = asked.get_attribute("action"), asked.locator("[name=digest]").input_value()
    answer = {"verb": "approve", "digest": digest, "reason": ""}
    vera.goto(run)
    expect(gate(vera, "plan")).to_be_visible()
    expect(vera.get_by_text("You may look at this run, but not decide in it.")).to_be_visible()
    assert vera.locator("main button:visible").all_inner_texts() == []
    places = [gate(vera, "plan").locator(part).first.bounding_box() for part in (".gate-head", ".gate-lead")]
    assert places[0]
    assert places[1]
    assert places[1]["y"] - places[0]["y"] - places[0]["height"] < 40, "facts stand next to what it is about"
    check(vera, "gate-of-vera")
    assert charlie.request.get(run).status == 404
    forged = {"vera": "You may look at this run, but not decide in it.", "alice": "A second person has to approve this"}
    for name, sentence in forged.items():
        status, text = answer_to_post(people[name], f"{team_site.url}{action}", **answer)
        assert (status, sentence in text) == (403, True)
    assert answer_to_post(charlie, f"{team_site.url}{action}", **answer)[0] == 404

    # Bob approves the plan and the result, while Alice looks on.
    approve(bob, "plan")
    expect(gate(bob, "step").locator("button[value=approve]")).to_be_enabled(timeout=LONG)
    expect(gate(alice, "step").locator("button[value=approve]")).to_be_disabled(timeout=LONG)
    turn = gate(bob, "step").locator(".gate-turn")
    expect(turn).to_contain_text("Assigned to you")
    expect(turn.locator("form[data-assigned-to=bob]")).to_be_hidden()
    approve(bob, "step")
    for page in (alice, bob, vera):
        expect(page.locator("#run-outcome")).to_be_visible(timeout=LONG)
    ended = {**needed, "title": f"Finished: {TITLE}"}
    assert post.hooks("run_ended") == [ended]
    assert post.mail_link(ended["title"]) == run
    assert post.hooks("decision_needed") == [needed, needed]

    read_the_audit_trail(root, run)
    for page in (root, *people.values()):
        page.context.close()


def read_the_audit_trail(page: Page, run: str) -> None:
    """From the run alone: who approved what, on which basis, and whether that ran. Then all that Bob decided."""
    page.goto(run)
    page.locator("#run-tabs").get_by_role("link", name="History").click()
    page.locator("main").get_by_role("link", name="Audit trail").click()
    decisions = page.locator("[aria-labelledby=decisions-title] li")
    expect(decisions).to_have_count(2)
    expect(decisions.nth(0)).to_contain_text("bob approved version 1 of the plan")
    expect(decisions.nth(0)).to_contain_text("ran with exactly what was approved.")
    expect(decisions.nth(1)).to_contain_text("bob accepted the result of “Find the points that need attention”")
    expect(decisions.nth(1)).to_contain_text("that was approved is the one that was kept.")
    expect(decisions.locator("[data-status=passed]")).to_have_text(["what ran", "what ran"])
    check(page, "audit-of-run")
    exported, *before = [row["kind"] for row in downloaded(page)]
    assert (exported, before[:2]) == ("audit_trail_exported", ["gate_decided", "gate_decided"])
    page.locator(".site-user summary").click()
    page.locator(".site-user").get_by_role("link", name="Audit trail").click()
    page.get_by_label("Person").fill("bob")
    page.get_by_label("Kind").select_option(label="Gate decided")
    page.get_by_role("button", name="Filter").click()
    lines = page.locator("main ol > li")
    expect(lines).to_have_count(2)
    expect(lines.nth(0)).to_contain_text("Gate decided: step findings")
    expect(lines.nth(1)).to_contain_text("Gate decided: plan version 1")
    expect(lines.nth(1)).to_contain_text(re.compile(r"gate \d+ · decision approved · by person"))
    check(page, "audit-of-bob")
    assert [(row["by"], row["kind"]) for row in downloaded(page)] == [("bob", "gate_decided")] * 2


def downloaded(page: Page) -> list[dict[str, str]]:
    """The lines of the file to which the button *CSV* leads."""
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    return list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
