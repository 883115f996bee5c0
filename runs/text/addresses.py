"""Web addresses in texts."""

import re
from collections.abc import Iterator

_ADDRESS = re.compile(r"(?:https?://|(?<![\w.@/:-])www\.(?=\w))[^\s<>\"“”«»|\\^`{}]+", re.IGNORECASE)
_BEHIND = ".,;:!?'’]*_"


def addresses_in(text: str) -> Iterator[tuple[int, int]]:
    """The characters of each web address, with its scheme or beginning with `www.`, without the punctuation and the
    closing brackets behind it.
    """
    for match in _ADDRESS.finditer(text):
        start, end = match.span()
        unopened = match[0].count(")") - match[0].count("(")
        while text[end - 1] in _BEHIND or (text[end - 1] == ")" and unopened > 0):
            unopened -= text[end - 1] == ")"
            end -= 1
        yield start, end


def normal_address(written: str) -> str:
    """The address without parts that do not change the page: capitals of the site, a fragment, a last slash. Without a
    scheme it is read as `https:`.
    """
    written = written if "://" in written else f"https://{written}"
    scheme, _, rest = written.partition("://")
    site, slash, path = rest.partition("#")[0].partition("/")
    port = ":443" if scheme.lower() == "https" else ":80"
    return f"{scheme.lower()}://{site.lower().removesuffix(port)}{slash}{path}".rstrip("/")
