"""Words that turn what a clause says into its opposite, and passages that leave one out.

| language | words |
|---|---|
| English | no, not, never, none, nothing, nobody, nowhere, neither, nor, without, cannot, words in n't |
| | hardly, unable, prohibited, forbidden, refrain, fail to, refuse to |
| German | nicht, nichts, kein…, nie, niemals, niemand, nirgends, ohne, weder, kaum |
| French | ne, n’, pas, jamais, aucun…, nul, sans, ni, rien |
| Spanish, Italian, Portuguese | no, nunca, jamás, ningun…, nadie, sin; non, nessun…, niente, senza; não, nenhum…, sem |
| Dutch, Polish, Russian | niet, geen, nooit, zonder; nie, bez; не, нет, без |
| Czech, Slovak, Hungarian, Romanian, Finnish | není, nesmí, nemůže; nie; nem, sem; nu, fără; ei, eivät |
| Indonesian, Malay | tidak, bukan, tanpa |
| Chinese, Japanese | 不 未 无 無 非 没 沒 勿 莫; ない ません ず at the end of the clause |
| Swedish, Danish, Norwegian, Greek | inte, icke, ikke, ingen, aldrig, uden, utan; δεν, μην, χωρίς |
| Arabic, Persian, Urdu | لا لم لن ليس غير بدون دون; نیست; نہیں |
| Hebrew, Hindi, Vietnamese | לא אין אינו ללא; नहीं न बिना; không chưa |
| Korean, Turkish, Thai | 안 못, and 않 아니 없 at the end of the clause; değil behind it, asla; ไม่ ห้าม |

No negations are “No. 5”, “not only” and “nicht nur”. Romanian “nu” is one in front of some verbs and of the words
themselves, since Dutch and Swedish have the same word for “now”.
"""

from itertools import islice

import regex

from runs.text.ignorable import IGNORABLES
from runs.text.sentences import sentence_around

MAX_WORDS_BETWEEN = 5
"""Between a negation and words that it still denies: “shall not in any event be liable”."""
_REACH = 400  # characters before and after a quote that are searched for a negation
_WORDS = (
    r"(?:no(?!\.?\s*\d)|not(?!\s+only\b)|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|hardly|scarcely|unable"
    r"|prohibited|forbidden|refrains?|(?:fail|refuse)(?:s|d|ed)?\s+to|\p{L}+n['’´`ʼ]t"
    r"|nicht(?!\s+nur\b)|nichts|kein\p{L}*|nie|niemals|niemand|nirgends|ohne|weder|kaum"
    r"|ne|pas|jamais|aucun\p{L}*|nuls?|nulles?|sans|ni|rien|nunca|jamás|ning[uú]n\p{L}*|nadie|tampoco|sin"
    r"|non(?![-‐‑\w])|nessun\p{L}*|niente|senza|não|nenhuma?|sem|niet|geen|nooit|zonder"
    r"|inte|icke|ikke|ingen|inget|inga|aldrig|aldri|uden|utan|bez|не|нет|без|никто|нельзя|ни|немає|δεν|δε|μην|χωρίς|ουδείς"
    r"|není|nejsou|nebude|nesmí|nemůže|nemá|nem|nu(?=\s+(?:este|sunt|va|vor|poate|pot|are|au|se|trebuie|răspund\p{L}*)|\s*\Z)|fără|ei|eivät|tidak|bukan|tanpa|asla|hiçbir"
    r"|لا|لم|لن|ليس|غير|بدون|دون|نیست|نہیں|לא|אין|אינ[והםן]|ללא|नहीं|न|बिना|không|chưa|안|못)"
)
NEGATION = regex.compile(rf"\b{_WORDS}\b", regex.IGNORECASE)
_ELIDED = r"\bn['’](?=\p{L}|\Z)"
_HAN = r"[不未无無非没沒勿莫]|ไม่|ห้าม"
_BEFORE = regex.compile(rf"\b{_WORDS}\b|{_ELIDED}|{_HAN}", regex.IGNORECASE)
_CLAUSE_END = r"[\p{Han}\p{Hiragana}\p{Katakana}]{0,20}?"
_KOREAN_END = r"[\p{Hangul}\x20]{0,20}?"
_BEHIND = regex.compile(
    rf"[^\S\n]{{0,3}}\n?[^\S\n]{{0,3}}\b{_WORDS}\b"
    rf"|{_CLAUSE_END}(?:ない|なく|なかった|ません|ずに?(?!\p{{L}}))|{_KOREAN_END}(?:않|아니|없)|\s?değil",
    regex.IGNORECASE,
)
_STOPS = regex.compile(r"[.;:!?()\[\]。；：！？、，“”„«»\"|]|\n\s*\n|\n\s*(?:[-*•]|\d{1,3}[.)])\s")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*")


def is_negated(text: str, start: int, end: int) -> bool:
    """Whether a negation in the same clause stands directly before these characters, or is the next word."""
    first = max(0, start - _REACH)
    before = IGNORABLES.sub("", text[first:start])
    if any(_reaches(before[found.end() :]) for found in _BEFORE.finditer(before)):
        return True
    return _BEHIND.match(text, end, min(len(text), end + _REACH)) is not None


def _reaches(between: str) -> bool:
    """Whether a negation before these words still denies what comes behind them: a pair of commas only puts something
    between, as in “may not, without consent, assign it”.
    """
    if _STOPS.search(between) or between.count(",") % 2:
        return False
    return sum(1 for _ in islice(_WORD.finditer(between), MAX_WORDS_BETWEEN + 1)) <= MAX_WORDS_BETWEEN


def with_negation(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters as they are, or their whole sentence where a negation stands directly before or behind them."""
    return sentence_around(text, start, end) if is_negated(text, start, end) else (start, end)
