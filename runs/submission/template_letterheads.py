"""The letterhead that a saved template gives to the reports on its runs."""

from runs import isolation
from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.isolation import ChildFailed, Limits
from runs.models import Template
from runs.models.runs import OwnLetterhead
from runs.store import blobs, event_log, garbage_collection
from runs.submission import run_templates
from runs.text.text_limits import too_long

MAX_LINE = 200
"""Characters of an organisation and of a footer."""
_LIMITS = Limits(megabytes=400, cpu_seconds=5, seconds=15)


def change_letterhead(
    template: Template, organisation: str, footer: str, logo: bytes | None, *, keep_logo: bool
) -> None:
    """Set the letterhead for runs that are submitted from now on. Without a new `logo` the old one may be kept.

    If everything is empty, the letterhead of the settings is used. Raises InvalidInput with a sentence.
    """
    lines = {"organisation": " ".join(organisation.split()), "footer": " ".join(footer.split())}
    for name, line in lines.items():
        if problem := too_long(line, MAX_LINE, f"The {name}"):
            raise InvalidInput(problem)
    before = template.letterhead.logo if template.letterhead else ""
    after = _stored(logo) if logo is not None else before if keep_logo else ""
    template.letterhead = OwnLetterhead(**lines, logo=after) if any([*lines.values(), after]) else None
    with event_log.writing():
        template.save(update_fields=["letterhead"])
        if before != after:
            garbage_collection.discard([before] if before else [])
        run_templates.record(AuditKind.TEMPLATE_CHANGED, template, "letterhead")


def _stored(logo: bytes) -> str:
    """The SHA-256 of the picture that was made of a file. It is decoded in an isolated process."""
    try:
        return blobs.put(isolation.run("runs.documents.printing.logos.logo", logo, _LIMITS)).sha256
    except InvalidInput as error:
        raise InvalidInput(f"The logo {error}.") from error
    except ChildFailed as error:
        raise InvalidInput(f"The logo could not be read: {error}.") from error


def delete_template(template: Template) -> None:
    """Delete a template. Its logo stays as long as something else uses it."""
    logo = template.letterhead.logo if template.letterhead else ""
    with event_log.writing():
        run_templates.record(AuditKind.TEMPLATE_DELETED, template)
        template.delete()
        garbage_collection.discard([logo] if logo else [])
