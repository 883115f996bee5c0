"""PDF files by pdfium: their text page by page, where words stand on a page, pages as pictures, and some of the pages.

pdfium ends its process on some hostile files and is not safe with threads: one file at a time, in guarded processes.
"""

from runs.documents.formats.pdf.reading import make, read
from runs.documents.formats.pdf.showing import cut, picture, places, thumbnail

__all__ = ["cut", "make", "picture", "places", "read", "thumbnail"]
