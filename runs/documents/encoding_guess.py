"""Which encoding bytes are in that do not say it: the likeliest one, and those that are about as likely.

A model of letters and pairs of bytes (chardet) judges how well the bytes fit each encoding. It is unsure of short
texts, so an encoding also loses for each word that no one writes: of two scripts, with a capital or a sign inside.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import chardet
import regex

MAX_BYTES = 100_000
"""What is judged of a sample, which may be cut off within a character."""
_MAX_CHARACTERS = 20_000
"""Of a sample, in which words are looked at one by one."""
_CLOSE, _CLOSE_IF_SHORT, _SHORT = 0.4, 0.3, 10
"""From this share of the best score on, an encoding is about as likely as the best one; the second of samples with
fewer than so many words that are not all ASCII.
"""
_ASIAN = frozenset({"cp932", "gb18030", "big5", "cp949", "euc_jp"})
_ALPHABETS = frozenset({"cp1251", "cp1253", "cp1255", "cp1256", "cp866", "cp874", "koi8_r"})
_TINY = 14
"""With fewer bytes that are not ASCII, all encodings of one of these two groups are as likely in which nothing is odd:
nearly all bytes, or pairs of them, are letters in each.
"""
_UNKNOWN = 0.01
"""The least that an encoding is taken to fit: of a few bytes the model knows next to nothing."""
_ALL_ODD = 1e-9
_MANY_ODD = 0.1
_NOT_ASCII = bytes(range(128, 256))
_MODELS = {
    "big5": "big5hkscs",
    "euc_jp": "euc_jis_2004",
    "iso8859_2": "iso8859-2",
    "koi8_r": "koi8-r",
    "mac_roman": "mac-roman",
}
"""Other names of codecs, as chardet has them."""
_COMMON = {"gb18030": "gb2312", "cp949": "euc_kr"}
"""Characters that only the larger of these sets has are rare."""
NOT_TEXT = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_WORD = re.compile(r"\S{0,60}[^\x00-\x7f\s]\S{0,60}")
_ODD = regex.compile(
    r"""
    # words of two scripts; Latin letters beside Chinese, Japanese and Korean ones are usual
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
"""What no one writes, and what appears where bytes are read in the wrong encoding."""
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_ICELANDIC, _WITH_ICELANDIC = re.compile("[ðÐþÞýÝ]"), re.compile("[áéíóúæÁÉÍÓÚÆ]")
"""Where Turkish letters are in Windows-1254, Windows-1252 has Icelandic ones, which come with others of Icelandic."""


class Candidate(NamedTuple):
    """An encoding, what the sample says in it, and the share of odd words among those that are not all ASCII."""

    codec: str
    text: str
    score: float
    odd: float

    @property
    def looks_wrong(self) -> bool:
        """Whether so many words are odd that the encoding is probably another one, which is not among those tried."""
        return self.odd >= _MANY_ODD


def ranked(sample: bytes, likely: Mapping[str, float]) -> list[Candidate]:
    """The encodings that the sample may be in, the likeliest first. `likely` has those that come into question, with
    how often each is met.
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
    """Those that are about as likely as the best one and read the sample otherwise."""
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
    """The text in this encoding; None for bytes that it does not have, and for control characters."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if NOT_TEXT.search(text) else text


def _beginning(sample: bytes, codec: str) -> str | None:
    """As `strictly`, of bytes that may be cut off within a character where they are as many as a sample may have."""
    if len(sample) < MAX_BYTES:
        return strictly(sample, codec)
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None
    return None if NOT_TEXT.search(text) else text


def _fits(sample: bytes, wanted: Iterable[str]) -> dict[str, float]:
    """How well the sample fits each encoding by the model, from 0 to 1."""
    names = {_MODELS.get(codec, codec): codec for codec in wanted}
    found = chardet.detect_all(
        sample,
        ignore_threshold=True,
        include_encodings=names,
        compat_names=False,
        no_match_encoding=next(iter(names)),  # must be among the others
        empty_input_encoding=next(iter(names)),
    )
    return {names[one["encoding"]]: one["confidence"] for one in found if one["encoding"] in names}


def _odd_share(codec: str, text: str) -> float:
    """The share of odd words among those that are not all ASCII."""
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
        return True  # Python writes rare Korean syllables in eight bytes
    return codec in _ASIAN - {"cp932", "euc_jp"} and _KANA.search(word) is not None
