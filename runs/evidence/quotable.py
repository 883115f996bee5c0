"""A source made ready for many quotes, each of which is looked up as evidence is."""

from runs.documents.content import document_of
from runs.documents.places.views import seen_text, without_running
from runs.evidence.finding import Searched
from runs.evidence.passages import Passage, passage_in
from runs.text.normalisation import Markup, find_same_text


class Quotable:
    """Takes the memory of its text several times. Of a document text that cannot be seen is none."""

    def __init__(self, data: bytes, text: str, markup: Markup = Markup.PLAIN) -> None:
        self._markup = markup
        self._document = document_of(data)
        self._texts = [seen_text(self._document) if self._document else text]
        if self._document and (view := without_running(self._document, self._texts[0])):
            self._texts.append(view.text)
        self._searched = Searched(self._texts[0], whole=True)

    def __contains__(self, quote: str) -> bool:
        if quote in self._searched or any(find_same_text(quote, text, self._markup) for text in self._texts):
            return True
        return self._document is not None and isinstance(passage_in(quote, self._document, ""), Passage)
