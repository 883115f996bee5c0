"""Guesses the encoding of bytes that do not state one: the likeliest, and others that are about as likely.

A statistical model of letters and pairs of bytes (chardet) rates how well the bytes fit each encoding. It is unreliable
for short texts, so each implausible word counts against an encoding: a word in two scripts, or with a capital or a sign
inside.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import chardet
import regex

MAX_BYTES = 100_000
"""Bytes of a sample that are examined. A character may be cut off at its end."""
_MAX_CHARACTERS = 20_000
"""Characters of a sample whose words are examined one by one."""
_CLOSE, _CLOSE_IF_SHORT, _SHORT = 0.4, 0.3, 10
"""An encoding with at least this share of the best score is about as likely as the best one. The second value applies
to samples with fewer than `_SHORT` words that are not ASCII.
"""
_ASIAN = frozenset({"cp932", "gb18030", "big5", "cp949", "euc_jp"})
_ALPHABETS = frozenset({"cp1251", "cp1253", "cp1255", "cp1256", "cp866", "cp874", "koi8_r"})
_TINY = 14
"""With fewer non-ASCII bytes, all encodings of one of these two groups count as equally likely, unless a reading has an
odd word: nearly all bytes, or pairs of bytes, are letters in each of them.
"""
_UNKNOWN = 0.01
"""The lowest rating of an encoding. The model cannot judge a few bytes."""
_ALL_ODD = 1e-9  # keeps the order of encodings in which all words are odd
_MANY_ODD = 0.1  # share of odd words from which on a reading looks wrong
_NOT_ASCII = bytes(range(128, 256))
_MODELS = {
    "big5": "big5hkscs",
    "euc_jp": "euc_jis_2004",
    "iso8859_2": "iso8859-2",
    "koi8_r": "koi8-r",
    "mac_roman": "mac-roman",
}
"""Codecs that chardet calls otherwise."""
_COMMON = {"gb18030": "gb2312", "cp949": "euc_kr"}
"""Characters that only the larger of two character sets has are rare."""
NOT_TEXT = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_WORD = re.compile(r"\S{0,60}[^\x00-\x7f\s]\S{0,60}")
_ODD = regex.compile(
    r"""
    # words of two scripts; Latin letters next to Chinese, Japanese and Korean ones are usual
      [\p{Latin}&&\p{L}][\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}]
    | [\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}][\p{Latin}&&\p{L}]
    | [\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}][\p{Han}\p{Hangul}]
    | [\p{Han}\p{Hangul}][\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}]
    | \p{Ll}[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]{1,2}(?:\p{Ll}|\s|$) | (?<!\S)[\p{Han}\p{Hangul}]\p{Ll}
    # capitals, signs and digits inside words
    | (?<=\p{Ll})[\p{Lu}--[A-Z]] | (?<=[\p{Ll}--[a-z]])\p{Lu}
    | (?<=\p{L})[[^\p{L}\p{M}\p{N}\x00-\x7f\u3000-\u303f\uff00-\uff60]--[’‑·—…]](?=\p{L})
    | (?<=\p{L})[\p{No}ⁿªº](?=\p{L})
    | (?<=\p{L})[‚„¢¥] | [^\x00-\x7f]\\ | [ªº](?=\p{L}) | (?<!\S)[©®¶±¬†‡•€£¥¢](?=\p{Ll})
    | [\u2200-\u22ff](?=\p{L}) | (?<=\p{L})[\u2200-\u22ff]
    | (?<!\p{L})[[\p{Latin}\p{Cyrillic}\p{Greek}]--[a-zA-Zⁿªº]](?=[0-9])
    # letters that are no word
    | (?<!\S)[\p{Thai}\p{Hebrew}](?!\S)
    # letters that begin no word, and more that are not ASCII than any word has in a row
    | (?<!\p{L})[ąęńĄĘŃß] | [\p{Latin}--[a-zA-Z]]{5}
    # frames, half-width and presentation forms, accents by themselves, and characters without a meaning
    | [\p{Co}\p{Cn}\p{Sk}ƒⁿ¤¦¬¸\u2300-\u25ff\u3100-\u312f\ufe30-\ufe6f\uff61-\uff9f\ufb1d-\ufdff\ufe70-\ufefe]
    """,
    regex.VERBOSE | regex.VERSION1,
)
"""Matches words that no one writes, and that appear where bytes are decoded with the wrong encoding."""
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_ICELANDIC, _WITH_ICELANDIC = re.compile("[ðÐþÞýÝ]"), re.compile("[áéíóúæÁÉÍÓÚÆ]")
"""Windows-1252 has Icelandic letters where Windows-1254 has Turkish ones. In Icelandic they come with other accented
letters.
"""


class Candidate(NamedTuple):
    """An encoding, the sample decoded with it, its score, and the share of odd words among those that are not ASCII."""

    codec: str
    text: str
    score: float
    odd: float

    @property
    def looks_wrong(self) -> bool:
        """Whether so many words are odd that the right encoding is probably not among those that were tried."""
        return self.odd >= _MANY_ODD


def ranked(sample: bytes, likely: Mapping[str, float]) -> list[Candidate]:
    """Returns the encodings that the sample may be in, the likeliest first.

    `likely` maps the encodings to try to how common they are.
    """
    sample = sample[:MAX_BYTES]
    fits = _fits(sample, likely)
    found = list[Candidate]()
    for codec, often in likely.items():
        text = _beginning(sample, codec)
        if text is not None:
            share = _odd_share(codec, text)
            score = (fits.get(codec, 0) + _UNKNOWN) * often * ((1 - share) ** 2 + _ALL_ODD)
            found.append(Candidate(codec, text, score, share))
    best = dict[str, float]()  # of encodings with the same reading, the most common one comes first
    for one in found:
        best[one.text] = max(best.get(one.text, 0), one.score)
    found.sort(key=lambda one: (best[one.text], likely[one.codec]), reverse=True)
    return [one._replace(score=best[one.text]) for one in found]


def alternatives(sample: bytes, best: Candidate, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yields other readings of the sample that are about as likely as the best one."""
    group = next((some for some in (_ASIAN, _ALPHABETS) if best.codec in some), frozenset())
    is_tiny = len(sample) - len(sample.translate(None, _NOT_ASCII)) < _TINY
    is_short = len(_WORD.findall(best.text[:_MAX_CHARACTERS])) < _SHORT
    least = best.score * (_CLOSE_IF_SHORT if is_short else _CLOSE)
    texts = {best.text}
    for one in found:
        is_as_likely = is_tiny and one.codec in group and not one.odd
        if (one.score >= least or is_as_likely) and one.text not in texts:
            texts.add(one.text)
            yield one


def strictly(data: bytes, codec: str) -> str | None:
    """Returns the decoded text, or None if bytes are invalid in the encoding or the text has control characters."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if NOT_TEXT.search(text) else text


def _beginning(sample: bytes, codec: str) -> str | None:
    """Like `strictly`, but a sample of full length may end within a character."""
    if len(sample) < MAX_BYTES:
        return strictly(sample, codec)
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None
    return None if NOT_TEXT.search(text) else text


def _fits(sample: bytes, wanted: Iterable[str]) -> dict[str, float]:
    """Returns how well the sample fits each encoding according to the model, from 0 to 1."""
    names = {_MODELS.get(codec, codec): codec for codec in wanted}
    found = chardet.detect_all(
        sample,
        ignore_threshold=True,
        include_encodings=names,
        compat_names=False,
        no_match_encoding=next(iter(names)),  # must be one of the encodings in `include_encodings`
        empty_input_encoding=next(iter(names)),
    )
    return {names[one["encoding"]]: one["confidence"] for one in found if one["encoding"] in names}


def _odd_share(codec: str, text: str) -> float:
    """Returns the share of odd words among those that are not ASCII."""
    words = _WORD.findall(text[:_MAX_CHARACTERS])
    odd = sum(1 for word in words if _is_odd(codec, word))
    if codec in {"cp1252", "cp850"} and _ICELANDIC.search(text) and not _WITH_ICELANDIC.search(text):
        odd = max(odd, len(words) // 2 + 1)
    return min(1.0, odd / max(1, len(words)))


def _is_odd(codec: str, word: str) -> bool:
    if _ODD.search(word):
        return True
    common = _COMMON.get(codec)
    if common and any(len(char.encode(common, "ignore")) != 2 for char in word if not char.isascii()):
        return True  # Python encodes rare Korean syllables in eight bytes
    return codec in _ASIAN - {"cp932", "euc_jp"} and _KANA.search(word) is not None
