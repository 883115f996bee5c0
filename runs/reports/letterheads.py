"""The letterhead of a report: that of the run's template, or else that of the settings."""

import base64

from django.conf import settings

from runs.documents.printing.blocks import Letterhead, span
from runs.models import Run
from runs.store import blobs


def letterhead_of(run: Run) -> Letterhead:
    """They are never mixed: an organisation must not be shown with the logo of another one."""
    own = run.letterhead
    if own is None:
        return Letterhead(settings.REPORT_ORGANISATION, settings.REPORT_LOGO, settings.REPORT_FOOTER)
    return Letterhead(span(own.organisation).text, picture(own.logo), span(own.footer).text)


def picture(sha256: str) -> str:
    """The picture in base64; empty if there is none, or the store has lost it."""
    try:
        return base64.b64encode(blobs.read(sha256)).decode() if sha256 else ""
    except FileNotFoundError:
        return ""
