"""Owns the words that make a clause worth a second look: vague, left blank, missing."""

import re
from dataclasses import dataclass

from runs.llm.offline.texts import word_set

PLACEHOLDER = "Placeholder"
MISSING_DATE = "Missing date"
MISSING_AMOUNT = "Missing amount"
MISSING_PARTY = "Missing party"
VAGUE = "Vague term"
ADDRESSED = "Text addressed to software"
KINDS = (PLACEHOLDER, MISSING_DATE, MISSING_AMOUNT, MISSING_PARTY, VAGUE, ADDRESSED)


@dataclass(frozen=True)
class Rule:
    """`why` and `recommendation` may name the words found with {term}."""

    kind: str
    pattern: re.Pattern[str]
    why: str
    recommendation: str


def _rule(kind: str, pattern: str, why: str, recommendation: str, flags: re.RegexFlag = re.IGNORECASE) -> Rule:
    return Rule(kind, re.compile(pattern, flags), why, recommendation)


_LATER = (
    r"(?:to be|yet to be|still to be) (?:mutually )?"
    r"(?:agreed|determined|fixed|confirmed|defined|specified|named)"
)

VAGUE_RULES = (
    _rule(
        VAGUE,
        r"\b(?:commercially )?(?:reasonable|best|all reasonable) (?:commercial )?(?:efforts|endeavou?rs)\b",
        "“{term}” sets no standard that a third person could measure; whether it was met is decided in a dispute.",
        "Name the result that is owed, or list the measures that count as sufficient.",
    ),
    _rule(
        VAGUE,
        r"\b(?:as soon as (?:reasonably |is )?(?:possible|practicable)|promptly|in a timely manner|in "
        r"due course|"
        r"without undue delay|within (?:a )?reasonable (?:time|period)|at (?:the )?earliest convenience|"
        r"shortly|zeitnah|baldmöglichst)\b",
        "“{term}” leaves the deadline open, so that nobody can be late.",
        "Replace “{term}” by a number of hours or days and say what starts the period.",
    ),
    _rule(
        VAGUE,
        r"\b(?:from time to time|at any time(?! of)|periodically|regularly|gelegentlich|von Zeit zu Zeit)\b",
        "“{term}” lets one side act as often and whenever it likes.",
        "Limit how often this may happen and ask for notice in writing a fixed number of days before.",
    ),
    _rule(
        VAGUE,
        r"\b(?:market standards?|industry standards?|customary|marktüblich\w*|branchenüblich\w*|state of "
        r"the art|good industry practice|generally accepted)\b",
        "“{term}” refers to a measure that is written down nowhere in the document.",
        "Name the index, norm or list that applies, with its date, and who decides in case of doubt.",
    ),
    _rule(
        VAGUE,
        r"\b(?:on|upon|with|subject to) reasonable (?:prior )?(?:written )?notice\b",
        "“{term}” does not say how long before notice must be given.",
        "State the period of notice and its form.",
    ),
    _rule(
        VAGUE,
        r"\b(?:where|if|when|as) (?:necessary|appropriate|possible|practicable|required)\b|\bto the "
        r"extent (?:possible|practicable)\b|\bgegebenenfalls\b",
        "“{term}” leaves it to one side to judge whether there is a duty at all.",
        "Say in which cases the duty arises, or who decides on it.",
    ),
    _rule(
        VAGUE,
        r"\b(?:appropriate|adequate|sufficient|suitable|satisfactory|angemessene[nrs]?) (?:measures?|"
        r"means|steps|levels?|quality|insurance|security|compensation|manner)\b|\betc\.|\band so on\b",
        "“{term}” can be read narrowly or widely; both sides will do so in their own favour.",
        "List what is meant, or name a minimum that can be checked.",
    ),
)

ADDRESSED_RULE = _rule(
    ADDRESSED,
    r"\b(?:ignore|disregard|forget) (?:all |any |your |the )*(?:previous |above |prior |earlier "
    r")*(?:instructions?|prompts?|rules)\b|"
    r"\byou are now\b|\bsystem prompt\b|\b(?:mark|report|rate|judge) (?:this|everything|all) as "
    r"(?:passed|approved|done)\b",
    "“{term}” speaks to a program that reads the document, not to a party. Here it was treated as text "
    "and had no effect.",
    "Ask who put this passage into the document and why, and have it removed.",
)

LATER_RULES = (
    _rule(
        MISSING_AMOUNT,
        r"\b(?:amount|sum|price|fees?|rent|cap|limit|remuneration|compensation|penalty|"
        rf"deposit)\b[^.;]{{0,30}}\b{_LATER}",
        "No amount is stated; until the parties agree there may be none, or the clause may be void.",
        "State the amount and currency, or a formula and who calculates it.",
    ),
    _rule(
        MISSING_DATE,
        rf"\b(?:date|day|deadline|term|period|time)\b[^.;]{{0,30}}\b{_LATER}",
        "No date is stated; nothing can begin, end or be late on a date that is left open.",
        "State the date, or the event from which it can be counted.",
    ),
)

PLACEHOLDER_RULE = _rule(
    PLACEHOLDER,
    r"\[(?:insert|date|name|amount|address|party|company|number|title|to "
    r"be|tbd|tbc|todo|xx+|●|•|…|\.\.\.|_+)[^\]\n]{0,60}\](?!\()|"
    r"(?<![\w-])(?:TBD|TBC|TBA|XXX|TODO|FIXME|t\.b\.d\.|n\.n\.)(?![\w-])|\blorem ipsum\b|<(?:name|date|"
    r"amount|company|address)>",
    "“{term}” was never filled in; the clause is incomplete as it stands.",
    "Fill in “{term}”, or delete the clause if it does not apply.",
)

BLANK = re.compile(r"_{4,}|\.{6,}|…{2,}")
EMPTY_ROW = re.compile(r"^\s*\|\s*(?P<label>[^|]*\w[^|]*?)\s*\|\s*(?:-|–|—|\?|n/a)?\s*\|\s*$")
EMPTY_LABEL = re.compile(
    r"^\s*(?:[-*+]\s+)?\*\*(?P<label>[^*]{2,60}?):?\*\*:?\s*$|^\s*(?:[-*+]\s+)?(?P<plain>[A-ZÄÖÜ][\w "
    r"/]{2,40}):\s*$"
)

DATE_WORDS = re.compile(
    r"\b(?:dated?|day|term|commencement|start|begin|expir\w+|end|deadline|effective|datum|beginn|ende|"
    r"frist)\b",
    re.IGNORECASE,
)
AMOUNT_WORDS = re.compile(
    r"\b(?:amount|fees?|rent|deposit|price|sum|penalty|remuneration|salary|cap|premium|betrag|miete|"
    r"kaution|preis|vergütung)\b|"
    r"\b(?:EUR|CHF|USD|GBP)\b|[€$£]",
    re.IGNORECASE,
)
PARTY_WORDS = re.compile(
    r"\b(?:between|party|parties|name|client|customer|supplier|landlord|tenant|vertragspartei|firma)\b",
    re.IGNORECASE,
)

PAYS = re.compile(
    r"\b(?:shall|must|will|has to|have to|agrees? to) (?:also )?pay\b(?P<what>[^.;]{0,60}?\b(?:penalty|"
    r"fees?|compensation|deposit|rent|charge|sum|amount|price|remuneration))\b",
    re.IGNORECASE,
)
REFERRED = re.compile(
    r"\b(?:stated|set out|specified|agreed in|listed|defined|according to|pursuant to|under (?:clause|"
    r"section)|schedule|annex|appendix|exhibit|clause|section|article)\b",
    re.IGNORECASE,
)

ACTS = re.compile(
    r"\b[Tt]he (?P<role>(?:[A-Z][a-z]+ )?[A-Z][a-z]+)\s+(?:shall|may|must|will|undertakes|agrees|warrants)\b"
)
ROLES = word_set(
    "guarantor agent auditor subcontractor sub-contractor contractor broker insurer licensor licensee "
    "landlord tenant client"
    " customer supplier provider controller processor buyer seller purchaser vendor lender borrower "
    "employer employee consultant"
    " trustee expert recipient discloser lessor lessee operator manager surveyor architect bank notary "
    "mediator affiliate"
    " company distributor manufacturer carrier developer owner principal assignee successor representative"
)
DEFINED_TERM = re.compile(r"[“\"„‘«]\s*(?:the )?([A-Z][\w -]{1,40}?)\s*[”\"“’»]|\*\*([A-Z][\w -]{1,40}?):?\*\*")

UNSTATED_WHY = "A payment is owed, and the clause neither states its amount nor says where it stands."
UNSTATED_FILL = "State the amount and its currency, or how it is computed."
WHY = {
    PLACEHOLDER: "A blank was never filled in; the clause is incomplete as it stands.",
    MISSING_DATE: "The date is left blank; terms, deadlines and notices that hang on it cannot be computed.",
    MISSING_AMOUNT: "The amount is left blank; the duty to pay cannot be enforced as it stands.",
    MISSING_PARTY: "The name is left blank; it is open who is bound.",
}
FILL = {
    PLACEHOLDER: "Fill in the blank, or delete the clause if it does not apply.",
    MISSING_DATE: "Fill in the date, or name the event from which it can be counted.",
    MISSING_AMOUNT: "Fill in the amount and its currency.",
    MISSING_PARTY: "Fill in the full name, seat and register number of the party.",
}

_CONTRACT_WORDS = re.compile(
    r"\b(agreement|contract|part(?:y|ies)|shall|clause|lease|landlord|tenant|supplier|liab\w+|"
    r"terminat\w+|govern(?:ed|ing)|jurisdiction|"
    r"vertrag\w*|vereinbarung|parteien|klausel|haftung|kündig\w+|gerichtsstand)\b",
    re.IGNORECASE,
)


def looks_like_a_contract(text: str) -> bool:
    """Only then a missing date or party in the whole document means anything."""
    return len({word.lower() for word in _CONTRACT_WORDS.findall(text)}) >= 4
