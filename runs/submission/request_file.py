"""A request that is too long becomes an input file, and a short request says to read it."""

import uuid
from itertools import count

from django.core.files.base import ContentFile

from runs.errors import InvalidInput
from runs.models import User
from runs.submission import submission_drafts
from runs.submission.intake import Upload
from runs.text.truncate import truncate_line

MAX_FIRST_WORDS = 200
"""Characters of the long request that the short one begins with: the run gets its title from them."""


def move_to_file(owner: User, token: uuid.UUID, request: str) -> str:
    """Keep the request as a file of the draft with this token; returns the request that takes its place.

    Raises InvalidInput for an empty request, and UploadRefused as `submission_drafts.add`.
    """
    if not request.strip():
        raise InvalidInput("There are no words that could go into a file; the request is empty.")
    draft = submission_drafts.of(owner).filter(token=token).first()
    there = submission_drafts.files_of(draft) if draft else {}
    names = (f"request-{number}.md" if number > 1 else "request.md" for number in count(1))
    name = next(name for name in names if name not in there)
    submission_drafts.add(owner, token, [Upload(name, ContentFile(request.encode(), name))])
    first_line = request.strip().partition("\n")[0].lstrip("# ")
    begins = f"{truncate_line(first_line, MAX_FIRST_WORDS)}\n\n" if first_line else ""
    return f"{begins}The whole request is in the file {name}. Read all of it, and do what it asks for."
