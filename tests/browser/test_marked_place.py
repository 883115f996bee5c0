"""A link to a place in a file: the mark itself is in view, below everything that sticks to an edge."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.site import Site

PLACES = {
    "at the bottom of a page": "report.pdf?words=keys were handed over",
    "a cell under the head of a sheet": "book.xlsx?at=Rents!Y40",
    "the last cell": "book.xlsx?at=Rents!Z81",
    "a cell in the first columns": "book.xlsx?at=Rents!A31",
    "a paragraph far below": "lease.docx?words=agreed on point 90",
    "a comment": "lease.docx?at=cm7.p1",
    "a row of a table": "ledger.csv?line=350&view=table",
    "a line of a text": "notes.txt?line=380",
}
MARKED = ":is(main, dialog) :is(.leaf rect, mark, aside.hit-line, tr.hit-line)"
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
IN_VIEW = """(hit) => {
  const mark = hit.matches(".source tr") ? hit.querySelector("mark") : hit;
  const box = mark.getBoundingClientRect();
  const [x, y] = [box.left + Math.min(box.width / 2, 8), box.top + Math.min(box.height / 2, 12)];
  const seen = document.elementFromPoint(x, y);
  return Boolean(seen) && (seen === mark || mark.contains(seen));
}"""


@pytest.fixture(scope="module")
def files(site: Site, me: str) -> str:
    return f"{site.url}/runs/{site.write('long_documents', me)}/files/"


def opened(page: Page, address: str, mark: str) -> None:
    """The page at this address, once its document has been read."""
    for _ in range(100):
        page.goto("about:blank")
        page.goto(address)
        if page.locator(mark).count():
            break
        page.wait_for_timeout(200)
    page.wait_for_function("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")


@pytest.mark.parametrize("size", ["desk", pytest.param("phone", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("place", PLACES)
def test_the_mark_is_in_view(blank: Page, files: str, place: str, size: str) -> None:
    blank.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
    opened(blank, f"{files}{PLACES[place]}#hit", "#hit")
    assert blank.locator(MARKED).first.evaluate(IN_VIEW)


@pytest.mark.parametrize("place", PLACES)
def test_the_mark_is_in_view_in_the_panel(blank: Page, files: str, place: str) -> None:
    opened(blank, f"{files}{PLACES[place]}#hit", "#hit")
    blank.evaluate(
        """(address) => {
          const link = document.createElement("a");
          link.href = `${address}#hit`;
          link.textContent = "to the place";
          document.querySelector("main").prepend(link);
        }""",
        f"{files}{PLACES[place]}",
    )
    blank.get_by_role("link", name="to the place").click()
    mark = blank.locator("dialog :is(.leaf-crop, mark, aside.hit-line)").first
    mark.wait_for()
    blank.wait_for_timeout(300)
    assert mark.evaluate(IN_VIEW)
