"""Whether words that were found in a text are whole there. “5 days” is in “15 days”, and “valid” in “invalid”; both say
something else.

| inside a number | examples |
|---|---|
| its sign on either side, also with a space or a currency | `-5` `- 5` `-$5` `▲5` `minus 5` `./. 5` `500-` `200 CR` |
| the letters of a currency sign | `US$5` `HK$5` |
| brackets that stand for a sign | `(5)` `($1,200)` |
| what compares it | `<5` `≥ 5` `~5` `±5` |
| digits, separators of all kinds, parts of dates and times | `1,046` `12 345` `5.2` `10:30` `٣٬٠٠٠` |
| a fraction or a power | `5½` `5 1/2` `51⁄2` `10²` `10^6` `5 × 10⁶` `m²` |
| scale words, letters behind money, and percent | `5 million` `5m` `$5 m` `5 %` `5 percent` `5万` |
| numerals of Chinese, Japanese and Korean | `二百四十` `1億2000万` `1억 2천만` |
| numbers in words | `one hundred and twenty` `minus five` |

| inside a word | examples |
|---|---|
| letters of scripts that have capitals, and their marks | `invalid` |
| both sides of a hyphen, at the end of a line too | `non-binding` `non‑binding` `in-⏎competent` |
| both sides of an apostrophe, but for elided articles | `don’t` `tenant’s`; `l’|acheteur` is cut between words |

No signs: a range (`10-20`), the mark of an item in a list or of a quoted passage, a dash between words (`—`), an arrow,
a tag.
"""

import re
import unicodedata

import regex

from runs.text.ignorable import IGNORABLES
from runs.text.numbers import spelled_numbers
from runs.text.numerals import (
    BELOW_TWENTY,
    CJK_MULTIPLES,
    CURRENCY_NAMES,
    HANGUL_MULTIPLES,
    MORE_THAN,
    MULTIPLES,
    NUMBER_WORDS,
    SCALED_CURRENCY,
    SCALES,
    TENS,
    TRUE_MINUS,
    either,
)
from runs.text.scripts import TOUCHING

_SOFT_BREAK = re.compile("\u00ad(?=[^\\S\n]*[\n\f])")
"""A visible soft hyphen, because the line ends there."""
_REACH = 40
"""Characters before and after a passage that decide."""
_LINES = 2_000
"""Characters in which the surrounding lines are searched for."""
_WITHIN = frozenset(".,'’ʼ/:⁄∕٫٬，．：／˙·_")
"""Between two digits they are part of the number, the date or the time."""
_DASHES = "-‐‑‒–−﹣－⁻₋"
_HYPHENS = "-‐‑‒–﹣－\ufffe\x02"
LINE_HYPHENS = tuple("-‐‑\ufffe\x02")
"""If a line ends with one of them, its last word may continue in the next line. A dash never breaks a word."""
_CURRENCY = r"(?:[\p{Sc}]|\b[A-Z]{1,3}\p{Sc}?|\bFr\.|\bRs\.)"
_GAP = r"[^\S\n]{0,3}"
_NUMBER = rf"{_CURRENCY}?{_GAP}[\p{{Nd}}¼-¾⅐-⅞]"
_NUMBER_NEXT = regex.compile(_NUMBER)
_SIGN_WORD = (
    r"(?:\b(?i:minus|negative|moins|menos|meno|mínusz?|miinus|eksi|минус|мінус|μείον|âm|ناقص|سالب)\b"
    r"|マイナス|[負负]|零下|영하|ลบ)"
)
_SIGNED = regex.compile(
    rf"(?P<sign>[{_DASHES}▲△⁒]|\./\.|[<>＜＞≤≥≦≧⩽⩾≠~～〜≈∼±∓]=?|{_SIGN_WORD}(?:{_GAP}\n)?|[百千万]分之)"
    rf"(?P<gap>{_GAP}){_CURRENCY}?{_GAP}\Z"
)
_WORD_TOUCHING = regex.compile(rf"(?<!\p{{Nd}}[{TOUCHING}]{{0,3}})[{TOUCHING}]\Z")
"""The end of a word behind which a minus sign may follow at once, as in 增长−5%; in 10元−20元 it is none."""
_ITEM = regex.compile(rf"(?:\A|\n)[^\S\n]*(?P<mark>[{_DASHES}>])[^\S\n]+\Z")
_OPENED = regex.compile(rf"\({_GAP}{_CURRENCY}?{_GAP}\Z")
_CLOSED = regex.compile(rf"{_GAP}{_CURRENCY}?{_GAP}[\p{{Nd}}.,'’ \u00a0\u2007\u2009\u202f]+[^\S\n]?[%‰]?\)")
_IN_BRACKETS = regex.compile(rf"\({_GAP}{_CURRENCY}?{_GAP}[\p{{Nd}}.,'’ \u00a0\u2007\u2009\u202f]*\p{{Nd}}\Z")
_CLOSES = regex.compile(r"[^\S\n]?[%‰]?\)")
_GROUP_BEFORE = regex.compile(r"(?<!\p{Nd})\p{Nd}{1,3}[ \xa0\u2000-\u200a\u202f\u205f\u3000]?\Z")
_GROUP_AFTER = regex.compile(r"[ \xa0\u2000-\u200a\u202f\u205f\u3000]?\p{Nd}{3}(?!\p{Nd})")
"""The groups of digits in 1 000."""
_COMPOUND_BEFORE = regex.compile(rf"\p{{Nd}}[{CJK_MULTIPLES}{HANGUL_MULTIPLES}]{{1,2}}\Z")
_APART = (
    (
        regex.compile(r"\p{Nd}[십백천]?[만억][ ]?\Z"),
        regex.compile(r"[ ]?(?:\p{Nd}[\p{Nd}.,]{0,18}[천만]|\p{Nd},\p{Nd}{3}(?!\p{Nd})|\p{Nd}{2,4}[원명])"),
    ),
    (
        regex.compile(r"(?<!제[ ]?)\p{Nd}[십백천]?조[ ]?\Z"),
        regex.compile(r"[ ]?\p{Nd}[\p{Nd}.,]{0,18}[십백천]?억"),
    ),
)
"""Parts of 1조 2천억, 1억 2천만 and 12만 3,450, which Korean writes apart."""
_FRACTION = "¼-¾⅐-⅞"
_DIGIT_BEFORE = regex.compile(rf"[\p{{Nd}}]{_GAP}\Z")
_FRACTION_NEXT = regex.compile(
    rf"{_GAP}(?:[{_FRACTION}]|(?<!\p{{Nd}})\p{{Nd}}{{1,2}}[/⁄]\p{{Nd}}{{1,3}}(?![\p{{Nd}}/]))"
)
_POWER_NEXT = regex.compile(
    rf"[²³⁴-⁹⁺⁻⁰ⁿ]|¹[⁰¹²³⁴-⁹]|\^[({{−-]?\w|\*\*[({{−-]?\d|{_GAP}[×x·*]{_GAP}10(?:\^|\*\*|[⁰¹²³⁴-⁹⁻])"
)
_HANGUL_SCALES = frozenset(HANGUL_MULTIPLES)
_MORE_NEXT = regex.compile(rf"[{MORE_THAN}][{CJK_MULTIPLES}{HANGUL_MULTIPLES}]")
_UNIT_BEFORE = regex.compile(r"\p{Nd}[^\S\n]?(?:[kcdmµμ]?m|in|ft)\Z")
_SCALE = (
    rf"(?:[%‰％٪]|(?i:per\s?cent|pct|percentage|prozent|prozentpunkte?|pour\s?cent|por\s?ciento|procent|permille|promille"
    rf"|{either(SCALES)}|basis\spoints|bps?|dozen)(?!\p{{Latin}})|(?:CR|DR)\b|{SCALED_CURRENCY}|[万萬億亿兆千百十割])"
)
_SCALE_NEXT = regex.compile(rf"(?:{_GAP}|[^\S\n]?\n[^\S\n]?)-?{_SCALE}")
_SCALE_FIRST = regex.compile(rf"{_GAP}{_SCALE}")
_OF_NUMBERS = "0123456789.,'’ \u00a0\u2007\u2009\u202f"
_MONEY = regex.compile(rf"{_CURRENCY}\Z")
_LETTER_NEXT = regex.compile(rf"{_GAP}[kKmMbB](?![\w&])")
"""The letter of a scale, as in $5 m."""
_OF_SIGN = regex.compile(r"(?<!\p{L})[A-Z]{1,3}\Z")
"""Letters before the sign of a currency, as in US$5."""
_MINUS_BEHIND = regex.compile(r"[-−﹣－](?![\w\s]*\w)|[-−﹣－](?=\s)(?!\s*\p{Nd})")
_POINT_FIRST = regex.compile(rf"(?:\A|[\s{_DASHES}(\p{{Sc}}])[.,]\Z")
"""A number that begins with its decimal point, as in -.50."""
_DATE_CHARACTERS = 10
_DATE = regex.compile(
    r"(?<!\p{Nd})(?:\p{Nd}{4}([-‐‑–])\p{Nd}{1,2}\1\p{Nd}{1,2}|\p{Nd}{1,2}([-‐‑–])\p{Nd}{1,2}\2\p{Nd}{4})(?!\p{Nd})"
)
_NUMERALS = frozenset("〇零一二三四五六七八九十百千万萬億亿兆壱壹弐贰貳参叁參肆伍陆陸柒捌玖拾佰仟两兩廿卅")
_PERCENT = frozenset("%％‰割成")
_SIGNED_NUMERAL = re.compile(r"(?:[百千万]分之|マイナス|[負负]|零下)\Z")
_LINE_END = rf"[{''.join(LINE_HYPHENS)}][^\S\n]*[\n\f]\s*"
_BROKEN = regex.compile(rf"\p{{L}}\p{{M}}*(?:[{_HYPHENS}]|{_LINE_END})\Z")
_BREAKS = regex.compile(rf"(?:[{_HYPHENS}]|{_LINE_END})\p{{L}}")
_APOSTROPHES = "'’ʼ＇"
_ELIDED = regex.compile(
    rf"(?<!\p{{L}})(?:[dlmstcj]|qu|jusqu|lorsqu|puisqu|quoiqu|un|gl|dell|nell|all|sull|dall|quest|quell)[{_APOSTROPHES}]\Z",
    regex.IGNORECASE,
)
_WORD_BEFORE = regex.compile(r"(?<!\p{L})(\p{L}{1,20})(?:\s{1,5}(?:and|et|y|e|und))?[\s-]{0,5}\Z", regex.IGNORECASE)
_WORD_AFTER = regex.compile(r"[\s-]{0,5}(?:(?:and|et|y|e|und)\s{1,5})?(\p{L}+)", regex.IGNORECASE)
_SIGN_BEFORE = regex.compile(rf"{_SIGN_WORD}\s{{1,5}}\Z")
_CURRENCY_LAST = regex.compile(rf"\s(?:US\s)?(?:{'|'.join(filter(str.isalpha, CURRENCY_NAMES))})\Z")
_MARK = regex.compile(r"(?![\u0591-\u05c7\u064b-\u065f\u0670\u06d6-\u06ed])\p{Mn}")
_TAG = re.compile(r"<[^<>\n]{1,40}>\Z|[-=]>\s?\Z")


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether a passage begins and ends neither inside a number nor inside a word of a script that has capitals: only
    those surely put spaces between words.
    """
    return not (
        _cuts(text, start) or _cuts(text, end) or _cuts_before(text, start, end) or _cuts_behind(text, start, end)
    )


def _around(text: str, at: int) -> tuple[str, str]:
    """The visible characters before and after the passage."""
    before, after = _within(text, at, _REACH)
    if min(len(before), len(after)) < _REACH // 2:  # at an end of the text, or where much is not seen
        before, after = _within(text, at, _LINES)
    return before, after


def _within(text: str, at: int, reach: int) -> tuple[str, str]:
    first = max(at - reach, 0)
    near = _SOFT_BREAK.sub("-", text[first : at + reach])
    return IGNORABLES.sub("", near[: at - first])[-_REACH:], IGNORABLES.sub("", near[at - first :])[:_REACH]


def _cuts(text: str, at: int) -> bool:
    """Whether this place is inside a word or a number, on whichever side the passage is."""
    before, after = _around(text, at)
    if not before or not after:
        return False
    left, right = before[-1], after[0]
    if _has_case(left) and _has_case(right):
        return not (left.islower() and right.isupper())  # so words are joined where a PDF file leaves out a space
    # A mark belongs to the letter before it, except the points that Arabic and Hebrew may leave out.
    if _MARK.match(right) and not left.isspace():
        return True
    if left.isdecimal() and (right.isdecimal() or _has_case(right)):
        return True
    if (left in _NUMERALS and right in _NUMERALS) or _cuts_spelled(before, after) or _cuts_compound(before, after):
        return True
    if left in _WITHIN and right.isdecimal() and (before[-2:-1].isdecimal() or _POINT_FIRST.search(before)):
        return True
    if left.isdecimal() and right in _WITHIN and after[1:2].isdecimal():
        return True
    if right.isdecimal() or left.isdecimal():
        start = max(len(before) - _DATE_CHARACTERS, 0)
        near, middle = before[start:] + after[:_DATE_CHARACTERS], len(before) - start
        if any(date.start() < middle < date.end() for date in _DATE.finditer(near)):
            return True
    if _cuts_word(before, after, left, right):
        return True
    if _DIGIT_BEFORE.search(before) and (_FRACTION_NEXT.match(after) or _SCALE_FIRST.match(after)):
        return True
    if left.isdecimal() and (right in _HANGUL_SCALES or _POWER_NEXT.match(after) or _MORE_NEXT.match(after)):
        return True
    if (right in "²³" and _UNIT_BEFORE.search(before)) or (
        unicodedata.category(right) == "Sc" and _OF_SIGN.search(before)
    ):
        return True
    is_at_space = left.isspace() is not right.isspace()
    return is_at_space and bool(_GROUP_BEFORE.search(before) and _GROUP_AFTER.match(after))


def _cuts_word(before: str, after: str, left: str, right: str) -> bool:
    """Whether a hyphen or an apostrophe here joins two parts of a word."""
    if _has_case(right) and _BROKEN.search(before):
        return True
    if _has_case(left) and (behind := _BREAKS.match(after)) and _has_case(behind[0][-1]):
        return True
    if left in LINE_HYPHENS and _BROKEN.search(before) and after.lstrip()[:1] and _has_case(after.lstrip()[0]):
        return "\n" in after[: len(after) - len(after.lstrip())]
    if left in _APOSTROPHES and _has_case(right) and _has_case(before[-2:-1] or " "):
        return not _ELIDED.search(before)
    return (
        right in _APOSTROPHES
        and _has_case(left)
        and _has_case(after[1:2] or " ")
        and not _ELIDED.search(before + right)
    )


def _cuts_spelled(before: str, after: str) -> bool:
    """Whether this place is inside a number in words: in “one hundred and twenty”, “one hundred” is another number."""
    left, right = _WORD_BEFORE.search(before), _WORD_AFTER.match(after)
    if left is None or right is None:
        return False
    first, second = left[1].casefold(), right[1].casefold()
    if second in MULTIPLES:
        return first in MULTIPLES or first in TENS or first in BELOW_TWENTY
    return (second in BELOW_TWENTY and (first in TENS or first in MULTIPLES)) or (second in TENS and first in MULTIPLES)


def _cuts_compound(before: str, after: str) -> bool:
    """Whether this place is between two parts of a number such as 1億2000万."""
    if after[0].isdecimal() and _COMPOUND_BEFORE.search(before):
        return True
    return any(first.search(before) and second.match(after) for first, second in _APART)


def _cuts_before(text: str, start: int, end: int) -> bool:
    """Whether something before the passage belongs to the number at its beginning."""
    before, after = _around(text, start)
    if after[:1] in _NUMERALS and _SIGNED_NUMERAL.search(before):
        return True
    if (word := _WORD_AFTER.match(after)) and word.start(1) == 0 and _SIGN_BEFORE.search(before):
        return word[1].casefold() in NUMBER_WORDS
    if not before or not _NUMBER_NEXT.match(after.lstrip()):
        return False
    if _OPENED.search(before) and (closed := _CLOSED.match(after)):
        is_bare = closed[0][:-1].strip().isdecimal()
        spelled_out = _is_spelled_out(before if is_bare else _without_currency(before))
        return not spelled_out or end - start > len(closed[0]) - 1
    signed = _SIGNED.search(before)
    if signed is None:
        return False
    sign, ahead = signed["sign"], before[: signed.start()]
    if sign[0] in _DASHES:
        if ahead[-1:].isalnum() and not (sign in TRUE_MINUS and _WORD_TOUCHING.search(ahead)):
            return False  # 20 of 10-20 is a number
        if signed["gap"] and ahead.rstrip()[-1:].isdecimal():
            return False
    elif sign[0] == ">" and _TAG.search(before[: signed.end("sign")]):
        return False
    item = _ITEM.search(text[max(start - _REACH, 0) : start])
    return not (item and _is_of_list(text, start, item["mark"]))


def _is_spelled_out(before: str) -> bool:
    """Whether the bracket that repeats a number in words opens, as in “thirty (30) days”."""
    words = regex.sub(rf"\({_GAP}{_CURRENCY}?{_GAP}\Z", "", before).rstrip()
    last = regex.split(r"\s", words)[-1]
    return any(number.start == 0 for number in spelled_numbers(last))


def _without_currency(before: str) -> str:
    """The number without the currency in words, as in “one thousand euros (EUR 1,000)”; empty if there is none."""
    words = _OPENED.sub("", before).rstrip()
    return _CURRENCY_LAST.sub("", words) if _CURRENCY_LAST.search(words) else ""


def _cuts_behind(text: str, start: int, end: int) -> bool:
    """Whether something after the passage belongs to the number at its end."""
    before, after = _around(text, end)
    if before[-1:] in _NUMERALS and after[:1] in _PERCENT:
        return True
    if not after or not before or not before[-1].isdecimal():
        return False
    if _SCALE_NEXT.match(after) or _MINUS_BEHIND.match(after):
        return True
    if _LETTER_NEXT.match(after) and _MONEY.search(before.rstrip(_OF_NUMBERS)):
        return True
    bracket = _IN_BRACKETS.search(before)
    return bool(bracket and _CLOSES.match(after) and end - start >= len(bracket[0]))


def _is_of_list(text: str, at: int, mark: str) -> bool:
    """Whether the mark at the beginning of a line is that of an item, and no sign: the line before or behind begins
    with it as well, or a colon ends the text before. The mark of a quotation in Markdown is no sign either.
    """
    begin = text.rfind("\n", 0, at) + 1
    before = text[max(begin - _LINES, 0) : begin].rstrip()
    above = before[before.rfind("\n") + 1 :].lstrip()
    end = text.find("\n", at, at + _LINES)
    below = text[end + 1 : end + 1 + _REACH].lstrip() if end >= 0 else ""
    is_item = any(line[:1] == mark and not line[1:2].strip() for line in (above[:2], below[:2]))
    return mark == ">" or before[-1:] == ":" or is_item


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()
