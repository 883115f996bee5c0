"""The words that make a clause worth a second look: vague, left blank, missing. English, some German."""

import re
from dataclasses import dataclass

PLACEHOLDER = "Placeholder"
MISSING_DATE = "Missing date"
MISSING_AMOUNT = "Missing amount"
MISSING_PARTY = "Missing party"
VAGUE = "Vague term"
ADDRESSED = "Text addressed to software"
KINDS = (PLACEHOLDER, MISSING_DATE, MISSING_AMOUNT, MISSING_PARTY, VAGUE, ADDRESSED)
SEVERAL = {MISSING_PARTY: "missing parties", ADDRESSED: "texts addressed to software"}
"""Of several, where an s is not enough."""


@dataclass(frozen=True)
class Rule:
    """`why` and `advice` may name the words found with {term}."""

    kind: str
    pattern: re.Pattern[str]
    why: str
    advice: str


def _rule(kind: str, pattern: str, why: str, advice: str) -> Rule:
    return Rule(kind, re.compile(pattern, re.IGNORECASE), why, advice)


_LATER = (
    r"[^.;]{0,30}\b(?:to be|yet to be|still to be) (?:mutually )?"
    r"(?:agreed|determined|fixed|confirmed|defined|specified|named)"
)
RULES = (
    _rule(
        PLACEHOLDER,
        r"\[(?:insert|date|name|amount|address|party|company|number|title|to be|tbd|tbc|todo|xx+|●|•|…|\.\.\.|_+)"
        r"[^\]\n]{0,60}\](?!\()|(?<![\w-])(?:TBD|TBC|TBA|XXX|TODO|FIXME|t\.b\.d\.|n\.n\.)(?![\w-])|\blorem ipsum\b|"
        r"<(?:name|date|amount|company|address)>",
        "“{term}” was never filled in; the clause is incomplete as it stands.",
        "Fill in “{term}”, or delete the clause if it does not apply.",
    ),
    _rule(
        MISSING_AMOUNT,
        rf"\b(?:amount|sum|price|fees?|rent|cap|limit|remuneration|compensation|penalty|deposit)\b{_LATER}",
        "No amount is stated; until the parties agree there may be none, or the clause may be void.",
        "State the amount and currency, or a formula and who calculates it.",
    ),
    _rule(
        MISSING_DATE,
        rf"\b(?:date|day|deadline|term|period|time)\b{_LATER}",
        "No date is stated; nothing can begin, end or be late on a date that is left open.",
        "State the date, or the event from which it can be counted.",
    ),
    _rule(
        VAGUE,
        r"\b(?:(?:commercially )?(?:all reasonable|reasonable|best) (?:commercial )?(?:efforts|endeavou?rs)|"
        r"market standards?|industry standards?|customary|state of the art|good industry practice|generally accepted|"
        r"marktüblich\w*|branchenüblich\w*|(?:appropriate|adequate|sufficient|suitable|satisfactory|"
        r"angemessene[nrs]?) (?:measures?|means|steps|levels?|quality|insurance|security|compensation|manner))\b|"
        r"\betc\.|\band so on\b",
        "“{term}” sets no standard that a third person could measure; each side will read it in its own favour.",
        "Name the result that is owed, or the list, norm or minimum against which it can be checked.",
    ),
    _rule(
        VAGUE,
        r"\b(?:as soon as (?:reasonably |is )?(?:possible|practicable)|promptly|in a timely manner|in due course|"
        r"without undue delay|within (?:a )?reasonable (?:time|period)|at (?:the )?earliest convenience|shortly|"
        r"(?:on|upon|with|subject to) reasonable (?:prior )?(?:written )?notice|from time to time|"
        r"at any time(?! of)|periodically|regularly|zeitnah|baldmöglichst|gelegentlich|von Zeit zu Zeit)\b",
        "“{term}” leaves open when, so that no one can be late or too early.",
        "Replace “{term}” by a number of hours or days and say what starts the period.",
    ),
    _rule(
        VAGUE,
        r"\b(?:where|if|when|as) (?:necessary|appropriate|possible|practicable|required)\b|"
        r"\bto the extent (?:possible|practicable)\b|\bgegebenenfalls\b",
        "“{term}” leaves it to one side to judge whether there is a duty at all.",
        "Say in which cases the duty arises, or who decides on it.",
    ),
    _rule(
        ADDRESSED,
        r"\b(?:ignore|disregard|forget) (?:all |any |your |the )*(?:previous |above |prior |earlier )*"
        r"(?:instructions?|prompts?|rules)\b|\byou are now\b|\bsystem prompt\b|"
        r"\b(?:mark|report|rate|judge) (?:this|everything|all) as (?:passed|approved|done)\b",
        "“{term}” speaks to a program that reads the document, not to a party. It was text here and had no effect.",
        "Ask who put this passage into the document and why, and have it removed.",
    ),
)
"""In this order: words that one rule has taken are not looked at by the next."""

BLANK = re.compile(r"_{4,}|\.{6,}|…{2,}")
EMPTY_ROW = re.compile(r"\s*\|\s*(?P<label>[^|]*\w[^|]*?)\s*\|\s*(?:-|–|—|\?|n/a)?\s*\|\s*")
EMPTY_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*(?P<label>[^*]{2,60}?):?\*\*:?|(?P<plain>[A-ZÄÖÜ][\w /]{2,40}):)\s*")
LACKING = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        MISSING_AMOUNT: r"\b(?:amount|fees?|rent|deposit|price|sum|penalty|remuneration|salary|cap|premium|betrag|"
        r"miete|kaution|preis|vergütung|EUR|CHF|USD|GBP)\b|[€$£]",
        MISSING_DATE: r"\b(?:dated?|day|term|commencement|start|begin|expir\w+|end|deadline|effective|datum|beginn|"
        r"ende|frist)\b",
        MISSING_PARTY: r"\b(?:between|party|parties|name|client|customer|supplier|landlord|tenant|vertragspartei|"
        r"firma)\b",
    }.items()
}
"""What a blank lacks shows in the words before it."""
LEFT_BLANK = (
    "This was left blank: what hangs on it can be neither computed nor enforced as the clause stands.",
    "Fill it in, or delete the clause if it does not apply.",
)
PAYS = re.compile(
    r"\b(?:shall|must|will|has to|have to|agrees? to) (?:also )?pay\b(?P<what>[^.;]{0,60}?\b(?:penalty|fees?|"
    r"compensation|deposit|rent|charge|sum|amount|price|remuneration))\b",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(
    r"\b(?:stated|set out|specified|agreed in|listed|defined|according to|pursuant to|schedule|annex|appendix|"
    r"exhibit|clause|section|article)\b|_{4,}",
    re.IGNORECASE,
)
UNSTATED = (
    "A payment is owed, and the clause neither states its amount nor says where it stands.",
    "State the amount and its currency, or how it is computed.",
)
ACTS = re.compile(
    r"\b[Tt]he (?P<role>(?:[A-Z][a-z]+ )?(?:Guarantor|Agent|Auditor|Subcontractor|Contractor|Broker|Insurer|Licensor|"
    r"Licensee|Landlord|Tenant|Client|Customer|Supplier|Provider|Controller|Processor|Buyer|Seller|Purchaser|Vendor|"
    r"Lender|Borrower|Employer|Employee|Consultant|Trustee|Expert|Lessor|Lessee|Operator|Manager|Surveyor|Architect|"
    r"Bank|Notary|Company|Distributor|Owner))\s+(?:shall|may|must|will|undertakes|agrees|warrants)\b"
)
DEFINED_TERM = re.compile(r"[“\"„‘«]\s*(?:the )?([A-Z][\w -]{1,40}?)\s*[”\"“’»]|\*\*([A-Z][\w -]{1,40}?):?\*\*")
