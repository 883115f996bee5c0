"""Pictures. Their words are read by OCR if it is installed."""

from runs.documents.document_format import OF_PICTURES, DocumentFormat, Signature, begins
from runs.documents.model.anchors import ON_PAGES

FORMAT = DocumentFormat(
    name="image",
    title="a picture",
    unit="page",
    signatures=(
        *begins(b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*"),
        Signature(((0, b"RIFF"), (8, b"WEBP"))),
    ),
    reader="runs.documents.formats.image.image_reader",
    edition=3,
    packages=("pillow", "tesserocr"),
    limits=OF_PICTURES,
    drawing="runs.documents.formats.image.drawing",
    shown_to_models="picture",
    is_fetched=False,
    anchors=ON_PAGES,
)
