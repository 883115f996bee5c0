"""What is shown to find out whether a model sees: files that any program can read."""

import base64
import io

from PIL import Image
from pypdf import PdfReader

from runs.llm import probe


def test_the_pictures_have_one_colour_each() -> None:
    found = [Image.open(io.BytesIO(base64.b64decode(block["source"]["data"]))) for block in probe.pictures()]
    colours = [picture.convert("RGB").getcolors() for picture in found]
    assert colours == [[(64 * 64, (255, 255, 0))], [(64 * 64, (0, 0, 0))]]


def test_the_document_says_the_word() -> None:
    (block,) = probe.document()
    pages = PdfReader(io.BytesIO(base64.b64decode(block["source"]["data"])), strict=True).pages
    assert [page.extract_text() for page in pages] == ["The word is heliotrope."]
