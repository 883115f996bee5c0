"""Abbreviations that mean the same in several languages, for searches that must not miss a law because of its language.

| subject | English, German, French, Spanish, Italian, Dutch |
|---|---|
| General Data Protection Regulation | GDPR, DSGVO, DS-GVO, RGPD, AVG |
| data processing agreement | DPA, AVV |
| data protection impact assessment | DPIA, DSFA, AIPD, EIPD |
| data protection officer | DPO, DSB, DPD |
| value added tax | VAT, MwSt, MWST, USt, TVA, IVA, BTW |
| general terms and conditions | GTC, AGB, CGV, CGC |
| non-disclosure agreement | NDA, GHV |
| anti-money laundering | AML, GwG, LBC, LCB-FT |
| artificial intelligence | AI, KI, IA |
| European Union | EU, UE |

The table is short on purpose: words of a language are not translated.
"""

from collections.abc import Sequence

_SAME = (
    "GDPR DSGVO DS-GVO RGPD AVG",
    "DPA AVV",
    "DPIA DSFA AIPD EIPD",
    "DPO DSB DPD",
    "VAT MwSt MWST USt TVA IVA BTW",
    "GTC AGB CGV CGC",
    "NDA GHV",
    "AML GwG LBC LCB-FT",
    "AI KI IA",
    "EU UE",
)
_OTHERS = {
    name.casefold(): tuple(other for other in line.split() if other.casefold() != name.casefold())
    for line in _SAME
    for name in line.split()
}


def in_other_languages(abbreviation: str) -> Sequence[str]:
    """The abbreviations with the same meaning in other languages; empty if the table has none."""
    return _OTHERS.get(abbreviation.casefold(), ())
