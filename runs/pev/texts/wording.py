"""Words of others inside sentences of ours: on one line, in quotation marks, cut where they are long."""


def one_spaced(text: str, piece: int = 1_000_000) -> str:
    """`" ".join(text.split())`, piece by piece: a list of all words takes up to 20 times the memory of the text."""
    parts: list[str] = []
    apart = False  # whether white space lies between what was taken so far and what comes
    for start in range(0, len(text), piece):
        part = text[start : start + piece]
        words = " ".join(part.split())
        apart = bool(parts) and (apart or part[0].isspace())
        if words:
            parts += [" ", words] if apart else [words]
            apart = part[-1].isspace()
    return "".join(parts)


def quoted(text: str, limit: int = 80) -> str:
    """The text on one line in quotation marks, cut after `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return f"“{line[:limit]}…”" if len(line) > limit or len(text) > 4 * limit else f"“{line}”"
