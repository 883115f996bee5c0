"""Whether evidence may be related to what it is to prove. Code cannot judge that: it marks evidence that shares nothing
with it. Everything here is linear in the length of the texts.
"""

import regex

from runs.text.negations import NEGATION
from runs.text.normalisation import Strength, caseless, spelled
from runs.text.numbers import numbers_in, spelled_values, value_keys
from runs.text.truncate import quoted

_NAME = regex.compile(r"(?<=[\p{L}\p{N},;)]\s)[\"“„'(]*(\p{Lu}[\p{L}\p{N}]{2,})|\b(\p{Lu}{2,})\b")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|\p{L}{3,}")
_ENDING = regex.compile(r"(?<=\p{L}{3})(?:ies|ing|ed|es|en|er|em|ly|e|s|n|y)$")
_MODEL = r"(?:ai|ki|llms?|models?|modelle?|assistants?|agents?|verifiers?|reviewers?|chatgpt|gpt|claude)"
_CRITERIA = r"(?:acceptance\s+|success\s+)?criteri(?:on|a)|kriteri(?:um|en)"
_PASSED = (
    r"(?:passed|met|done|verified|proven|proved|fulfilled|satisfied|approved|compliant"
    r"|bestanden|erfüllt|bewiesen|geprüft)"
)
_TO_A_MODEL = regex.compile(
    rf"\b(?:(?:note|instruction|message|dear|attention|hinweis|anweisung|nachricht)s?\s+(?:to|for|an|für)\s+"
    rf"(?:the\s+|any\s+|all\s+|die\s+|das\s+|den\s+|alle?\s+)?(?:[\p{{L}}-]+\s+)?{_MODEL}\b"
    rf"|(?:to|an)\s+(?:the|das|die|den|any|all)\s+(?:ai|ki|language|verifying|reviewing|prüfende[ns]?)[\s-]+{_MODEL}\s*[:,]"
    r"|(?:ai|llm|language)\s+(?:models?|assistants?|agents?)\s*[:,]"
    r"|(?<![\p{L},]\s)(?:verifier|llm|ai|ki|chatgpt|claude)(?:\s+(?:instruction|note|prompt))?\s*:\s"
    rf"|(?:ai|ki|llm)[\s-]+{_MODEL}\s+(?:should|must|shall|may|will)\s+"
    r"(?:treat|mark|approve|accept|ignore|report|quote|cite|pass|consider|assume)\b"
    r"|ignore\s+(?:all|any|the|your)\s+(?:previous|earlier|other|prior)?\s*(?:instructions?|rules?|criteria)"
    r"|(?:quote|cite|use|zitiere|nutze|verwende)\s+(?:this|diese[nrs]?)\s+"
    r"(?:line|sentence|passage|text|paragraph|clause|zeile|satz|stelle|absatz)"
    r"|(?:quote|cite|use)\s[^.]{0,40}\sas\s+(?:evidence|proof)\b"
    r"|(?:this|the|diese[rs]?)\s+(?:line|sentence|passage|paragraph|quote|zeile|satz|stelle)\s+(?:is|serves|counts|suffices|proves"
    r"|confirms|ist|beweist|belegt|bestätigt)\s[^.]{0,40}?(?:evidence|proof|compliance|statement|beweis|beleg|criteri|kriteri)"
    rf"|(?:every|all|each|these|this|alle|jedes|dieses|diese)\s+(?:of\s+the\s+|the\s+)?(?:{_CRITERIA})\s+"
    r"(?:is|are|has|have|sind|ist|gelten|gilt)\b"
    rf"|(?:mark|report|judge|verify|treat|count|consider|accept)\s+(?:it|this|everything|all|(?:this|the|every|each|all|any)\s+"
    rf"(?:{_CRITERIA}|statements?|results?|steps?))\s+(?:as\s+)?{_PASSED}\b)"
    r"|</?(?:verifier|system|assistant|instructions?)>",
    regex.IGNORECASE,
)
_HEADING = regex.compile(r"\s*#{1,6}\s")
SHARED_STEMS = 2
STEM = 6
"""Letters that two words share if they are forms of one word, or one is part of the other, as in German."""


def doubt_about(statement: str, quote: str) -> str:
    """Returns why the quote may have nothing to do with the statement, or an empty string.

    They must share a figure or a name if the statement has any, and a word in any form if it is a heading. If they
    share most of their words, both must be negated or neither. A quote that speaks to a model, or about its own use as
    evidence, proves only that someone wrote it.
    """
    if _TO_A_MODEL.search(quote):
        return "it speaks to a model, or about being evidence"
    # A reference to a line contains the line word for word, and the other way round.
    one, other = sorted((caseless(text) for text in (statement, quote)), key=len)
    if " " in one and one in other:
        return ""
    wanted = marks_of(statement)
    if wanted and not wanted & {*marks_of(quote), *spelled_values(quote), *caseless(quote).split()}:
        return f"it shares no figure and no name with {quoted(statement)}"
    if _HEADING.match(statement) and not stems_of(statement) & stems_of(quote):
        return f"{quoted(statement)} is a heading that shares no word with it"
    return f"only one of them is negated: {quoted(statement)}" if contradict(statement, quote) else ""


def contradict(statement: str, quote: str) -> bool:
    """Whether one of them is negated, the other is not, and they say much the same otherwise. A clause that allows
    something to one party may well prove that the other may not do it: there they share less.
    """
    if bool(NEGATION.search(statement)) == bool(NEGATION.search(quote)):
        return False
    one, other = (stems_of(NEGATION.sub(" ", text)) for text in (statement, quote))
    shared = len(one & other)
    return shared >= SHARED_STEMS and 3 * shared >= 2 * min(len(one), len(other))


def unrelated_to_request(words: str, quote: str) -> str:
    """Why the quote may have nothing to do with what a person asked for; empty if they share a figure, a name, or in
    any form a word that says something.
    """
    shared = (stems_of(words) | marks_of(words)) & (stems_of(quote) | marks_of(quote))
    return "" if shared else "it shares no word with what was asked for"


def marks_of(text: str) -> set[str]:
    """Figures by their values, and names: words with a capital inside a sentence."""
    # Figures count by their values without signs: a loss of 5 may be written as -5.
    return {key for number in numbers_in(text) for key in value_keys(number)} | {
        caseless(match[1] or match[2]) for match in _NAME.finditer(text)
    }


def in_german(text: str) -> bool:
    """Whether a text has more of the usual words of German than of English."""
    words = _WORD.findall(caseless(text))
    return sum(word in _GERMAN for word in words) > sum(word in _ENGLISH for word in words)


def tells_nothing(word: str) -> bool:
    """Whether a word of a plan says nothing about the subject of its step."""
    return _stem(folded(word)) in _STOP_STEMS | _OF_PLANS


def stem_of(word: str) -> str:
    """The part that the forms of a word share."""
    return _stem(folded(word))


def stems_of(text: str) -> set[str]:
    """Each word without its usual ending, except words that occur in every text."""
    return {_stem(word) for word in _WORD.findall(folded(text))} - _STOP_STEMS


def _stem(word: str) -> str:
    return str(_ENDING.sub("", word))[:STEM]


def folded(text: str) -> str:
    """The text in small letters, without accents and invisible characters, so that forms of one word are equal."""
    return spelled(text, Strength.COULD_BE)


_USUAL_ENGLISH = """
about added all also and another any are but can complete correct could did does done each every for from has have
here into its more must new not now only other our please request result shall should some such than that the their
them then there these they this those too use very was were what when where which will with would you your
"""
_USUAL_GERMAN = """
aber alle allem allen aller alles als auch auf aus bei beim bitte das dass dem den der des dich die dies diese
dieser dieses doch durch ein eine einem einen einer eines etwas für hat hier ihr ihre ist jede jeden jeder jedes
jetzt kann kein keine mehr mit muss müssen nach neu nicht noch nun nur oder sein sich sie sind soll sollen sollte
sollten über und uns vom von vor war was wenn werden wie wird wurde wurden zum zur
"""
_ENGLISH, _GERMAN = frozenset(_USUAL_ENGLISH.split()), frozenset(_USUAL_GERMAN.split())
_STOP_STEMS = frozenset(_stem(folded(word)) for word in _ENGLISH | _GERMAN)
"""Stems of words that say nothing about the subject, in English and German."""
_USUAL_IN_PLANS = """
agreement analyse analyze answer appear applicable apply ascertain assess available check cite clause concern
contain content contract count cover data deal describe detail detect determine directory document evidence examine
exist explain explore extract figure file final find finding folder found give given identify include inspect
investigate item line list locate look material meet mention name none note nothing occur output page part path
person place point present project purpose quote read reason reference related relevant report review say scan
search section sentence set show source stand state step stub stuff summary task tell text thing title tool type
whether word work write written yes analysieren analyse angeben anwendbar auflisten aufgabe bericht beschreiben
beleg bestimmen datei dateien dokument dokumente enthalten ergebnis ermitteln erkennen erwähnen falls fest
feststellen finden gegeben gibt nennen ordner klausel projekt prüfen prüfe quelle regelung relevant satz schritt
schreiben seite stehen stelle stellen suche suchen text titel unterlagen vertrag verzeichnis vorhanden vorliegen
wort zeile zitieren zusammenfassung
"""
_OF_PLANS = frozenset(_stem(folded(word)) for word in _USUAL_IN_PLANS.split())
"""Stems of words that occur in plans whatever their steps are about."""
