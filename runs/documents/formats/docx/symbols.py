"""Signs and form fields of Word, as the characters that they show."""

from runs.documents.formats.docx.names import W, is_on, number, val
from runs.documents.formats.package_parts import Element
from runs.documents.formats.symbols import sign_of


def symbol(element: Element) -> str:
    try:
        code = int(element.get(f"{W}char", "")[:8], 16)
    except ValueError:
        code = -1
    return sign_of(element.get(f"{W}font", ""), code)


def form_field(element: Element) -> str:
    """What a form field shows that has no text of its own: a box, ticked or not, or the chosen one of several words."""
    if (box := element.find(f"{W}checkBox")) is not None:
        state = box.find(f"{W}checked")
        return "☒" if is_on(box.find(f"{W}default") if state is None else state) else "☐"
    if (choices := element.find(f"{W}ddList")) is not None:
        entries = choices.findall(f"{W}listEntry")
        chosen = choices.find(f"{W}result")
        at = number(choices.find(f"{W}default") if chosen is None else chosen)
        return (val(entries[at]) or "") if at < len(entries) else ""
    return ""
