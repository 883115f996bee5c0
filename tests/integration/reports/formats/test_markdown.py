"""The Markdown report of a run whose answer is hostile; the unit tests of `written` have each way by itself."""

import pytest
from markdown_it import MarkdownIt

from runs.models import Run
from tests import factories
from tests.reporting import as_markdown
from tests.unit.reports.formats.test_markdown import IMAGES, OTHERS, fetched_or_obeyed, sections

pytestmark = pytest.mark.django_db


def test_a_hostile_answer_of_a_run_is_words_and_its_sections_follow() -> None:
    run = factories.finished_succeeded()
    for answer in ("\n\n".join(IMAGES), "\n\n".join(reversed(OTHERS))):
        Run.objects.filter(pk=run.pk).update(answer=answer)
        run.refresh_from_db()
        found = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(as_markdown(run))
        assert fetched_or_obeyed(found) == []
        order = ["Success criteria", "Outcome", "Decisions", "Cost"]
        assert [name for name in sections(found) if name in order] == order
