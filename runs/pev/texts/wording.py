"""Words of others inside sentences of ours: on one line, in quotation marks, cut where they are long."""


def quoted(text: str, limit: int = 80) -> str:
    """The text on one line in quotation marks, cut after `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return f"“{line[:limit]}…”" if len(line) > limit or len(text) > 4 * limit else f"“{line}”"
