"""Whether a request speaks of files that ought to be attached, in a few languages. A guess, for a question only."""

import re

_THINGS = {
    ("these", "this", "attached", "enclosed", "uploaded", "following", "my", "our"): (
        r"files?|documents?|contracts?|agreements?|leases?|invoices?|papers?|pdfs?|folders?|project|code|codebase"
        r"|repository|interviews?|transcripts?|spreadsheets?|tables?"
    ),
    (r"diese[rsnm]?", r"(?:beigefügt|angehängt|beiliegend|folgend)e[rsnm]?", r"(?:mein|unser)e?[rsnm]?"): (
        r"dateien|datei|dokumente?n?|verträgen?|vertrags?|unterlagen|rechnungen|projekte?s?|ordner|codes?|tabellen?"
        r"|interviews?|protokollen?"
    ),
    ("ces", "cet", "cette", "ce", "mes", "nos", "notre", "mon"): (
        r"fichiers?|documents?|contrats?|factures?|dossiers?|projet|code|entretiens?|tableaux?"
    ),
    (r"est[eoa]s?", "mis?", r"nuestr[oa]s?"): (
        r"archivos?|ficheros?|documentos?|contratos?|facturas?|carpetas?|proyecto|código|entrevistas?"
    ),
    (r"quest[eoia]", "i miei", "i nostri", "il mio", "il nostro"): (
        r"file|documenti?|contratt[oi]|fatture|cartell[ae]|progetto|codice|interviste"
    ),
    (r"est[ea]s?", r"ess[ea]s?", r"meus?", r"noss[oa]s?"): (
        r"arquivos?|ficheiros?|documentos?|contratos?|faturas?|pastas?|projeto|código|entrevistas?"
    ),
    ("deze", "dit", "bijgevoegde", "mijn", "onze"): (
        r"bestand(?:en)?|document(?:en)?|contract(?:en)?|facturen|map(?:pen)?|project|code|interviews?"
    ),
}
"""What points at something, and what there is to point at, by language."""
_ATTACHED = r"(?:documents?|fichiers?|contrats?|documentos?|archivos?|contratos?|documenti?|contratti)\s+" + (
    r"(?:ci-)?(?:joints?|adjunt[oa]s?|allegati?|anexad[oa]s?|em anexo)"
)
_MENTION = re.compile(
    "|".join(
        [
            *(rf"\b(?:{'|'.join(words)})\s+(?:[\w-]+\s+){{0,2}}(?:{things})\b" for words, things in _THINGS.items()),
            rf"\b{_ATTACHED}\b",
        ]
    ),
    re.IGNORECASE,
)
_LONGEST = 60


def mention_in(request: str) -> str:
    """The first words of a request that point at files, such as “these three contracts”; nothing if none do."""
    found = _MENTION.search(request)
    return " ".join(found[0].split())[:_LONGEST] if found else ""
