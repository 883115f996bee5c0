"""The words that numbers are written with. Knows nothing of Django.

| words | languages |
|---|---|
| zero to ninety-nine, with their values (`WORD_VALUES`), hundred to billion (`value_of`) | English, German |
| multiples, tens, numbers below twenty: parts of others, as in `one hundred and twenty` | English, German, French, |
| | Spanish, Portuguese, Italian |
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

_ENGLISH = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_GERMAN = """
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
achtzehn neunzehn
"""
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
ENGLISH, ENGLISH_TENS = tuple(_ENGLISH.split()), tuple(_ENGLISH_TENS.split())
"""From 0 to 19, and from 20 to 90."""
_LARGE = {"hundred": 100, "hundert": 100, "thousand": 1_000, "tausend": 1_000, "dozen": 12, "dutzend": 12, "half": 0.5}
_LARGER = dict.fromkeys(("million", "millionen"), 10**6) | dict.fromkeys(("milliarde", "milliarden", "billion"), 10**9)
_LARGER["trillion"] = 10**12

_MULTIPLE_WORDS = """
hundred thousand million billion trillion hundert tausend million millionen milliarde milliarden cent cents mille
millions milliard milliards cien ciento cientos mil millón millones cem cento milhão milhões mila milione milioni
"""
_TEN_WORDS = """
vingt trente quarante cinquante soixante veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa vinte trinta
quarenta cinquenta sessenta oitenta
"""
_SMALL_WORDS = """
deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize dos tres cuatro cinco siete ocho nueve
diez once doce trece catorce quince três quatro sete oito nove dez doze
"""
MULTIPLES = frozenset(_MULTIPLE_WORDS.split())
TENS = frozenset(("dreissig", *ENGLISH_TENS, *_GERMAN_TENS.split(), *_TEN_WORDS.split()))
BELOW_TWENTY = frozenset((*ENGLISH[1:], *_GERMAN.split()[1:], *_SMALL_WORDS.split()))


def _values() -> dict[str, Decimal]:
    found = {name: Decimal(str(value)) for name, value in _LARGE.items()}
    german = _GERMAN.split()
    for words in (ENGLISH, tuple(german)):
        found |= {word: Decimal(value) for value, word in enumerate(words)}
    for place, (ten, zehn) in enumerate(zip(ENGLISH_TENS, _GERMAN_TENS.split(), strict=True), 2):
        found |= {ten: Decimal(10 * place), zehn: Decimal(10 * place)}
        for value in range(1, 10):
            one, eins = ENGLISH[value], "ein" if value == 1 else german[value]  # as in einundzwanzig
            found[f"{ten}-{one}"] = found[f"{eins}und{zehn}"] = Decimal(10 * place + value)
    return found | {word.casefold(): value for word, value in found.items()}  # dreissig


WORD_VALUES: Mapping[str, Decimal] = _values()
"""The whole numbers below a hundred in English and German, and a few others."""
NOT_JOINED = frozenset(("zero", "null", "half", "dozen", "dutzend"))
"""These are parts of no other number."""
_VALUES = {**WORD_VALUES, **{word: Decimal(value) for word, value in _LARGER.items()}}


def value_of(words: Sequence[str]) -> Decimal | None:
    """What number words in small letters come to one after the other, such as 1 046 of `one thousand forty-six`. None
    where they are no one number.
    """
    total = current = Decimal(0)
    last = Decimal(0)
    for word in words:
        value = _VALUES.get(word)
        if value is None or word in NOT_JOINED:
            return None
        if value >= 100:
            if last >= value or current >= value or (value > 100 and 0 < total < value):
                return None
            current = max(current, Decimal(1)) * value
            if value > 100:
                total, current = total + current, Decimal(0)
        elif current % 100 == 0 or (value < 10 and current % 10 == 0 and current % 100 >= 20):
            current += value
        else:
            return None
        last = value
    return total + current


NUMBER_WORDS = MULTIPLES | TENS | BELOW_TWENTY | WORD_VALUES.keys()
