"""The words and signs that numbers are written with, and what digits come to: for numbers in texts and in cells.

| words | languages |
|---|---|
| zero to ninety-nine, with their values (`WORD_VALUES`), hundred to billion (`value_of`) | English, German |
| multiples, tens, numbers below twenty: parts of others, as in `one hundred and twenty` | English, German, French, |
| | Spanish, Portuguese, Italian |
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from functools import lru_cache

MAX_DIGITS = 30
EXACT = Context(prec=100)
"""More digits than a sum of as many numbers of 30 digits as fit into a file can have. The usual context has 28."""
SPACES = " \u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
FRACTION_DIGITS = 12
"""Of fractions that go on for ever, such as a third; those that have fewer are exact."""
FRACTIONS = {
    sign: Decimal(str(unicodedata.numeric(sign))).quantize(Decimal(1).scaleb(-FRACTION_DIGITS)).normalize()
    for sign in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
DIGITS = re.compile(
    rf"(?:\d{{1,3}}[{SPACES}])?\d{{1,3}}⁄\d{{1,3}}(?!\d)|\d{{1,3}}[{SPACES}]\d{{1,2}}/\d{{1,2}}(?![\d/])"
    rf"|\d{{1,3}}(?:[{SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*"
    rf"|\.\d+(?![.\d])|[{''.join(FRACTIONS)}]"
)
THOUSANDS = {".": ",", ",": "."}
"""By decimal mark the mark that separates thousands, if not apostrophes or spaces do."""
CURRENCIES = {
    "USD": "US$|$|dollar|dollars",
    "EUR": "€|euro|euros",
    "GBP": "£|pound|pounds",
    "JPY": "¥|yen|円",
    "CNY": "RMB|CN¥|yuan|元",
    "CHF": "Fr.|SFr.|francs|Franken",
    "INR": "₹|Rs.|Rs|rupees",
    "KRW": "₩|won",
    "RUB": "₽|roubles|rubles",
    "SEK": "",
    "NOK": "",
    "DKK": "",
    "PLN": "zł",
    "CZK": "Kč",
    "HUF": "Ft",
    "TRY": "₺",
    "BRL": "R$",
    "AUD": "A$|AU$",
    "CAD": "C$|CA$",
    "SGD": "S$",
    "HKD": "HK$",
    "NZD": "NZ$",
    "MXN": "",
    "ZAR": "",
    "ILS": "₪",
    "THB": "฿",
    "TWD": "NT$",
}
UNITS = {
    "%": "percent|per cent|pct|Prozent|pour cent",
    "‰": "permille|Promille",
    "second": "seconds|sec|s|Sekunden",
    "minute": "minutes|min|mins|Minuten",
    "hour": "hours|hr|hrs|h|Stunde|Stunden|heures",
    "day": "days|Tag|Tage|Tagen|jours",
    "week": "weeks|Woche|Wochen|semaines",
    "month": "months|Monat|Monate|Monaten|mois",
    "year": "years|yr|yrs|Jahr|Jahre|Jahren|ans",
    "mm": "millimetres|millimeters|Millimeter",
    "cm": "centimetres|centimeters|Zentimeter",
    "m": "metre|metres|meter|meters|Meter",
    "km": "kilometre|kilometres|kilometer|kilometers|Kilometer",
    "m²": "m2|sqm|sq m|square metres|square meters|Quadratmeter",
    "km²": "km2|sq km|sq. km|square kilometre|square kilometres|square kilometers|Quadratkilometer",
    "ha": "hectare|hectares|Hektar",
    "l": "L|litre|litres|liter|liters|Liter",
    "mg": "milligrams|Milligramm",
    "g": "gram|grams|Gramm",
    "kg": "kilogram|kilograms|Kilogramm",
    "t": "tonne|tonnes|ton|tons|Tonnen",
    "kW": "",
    "MW": "",
    "GW": "",
    "kWh": "",
    "MWh": "",
    "GWh": "",
    "byte": "bytes|Bytes",
    "kB": "KB|kilobytes",
    "MB": "megabytes",
    "GB": "gigabytes",
    "TB": "terabytes",
    "°C": "℃",
    "°F": "",
}
_SCALE_WORDS = {
    2: "hundred",
    3: (
        "thousand|Tausend|Tsd.|mille|mila|mil|duizend|tysiąc|tysiące|tysięcy|tys.|tisíc|tusen|tusind|tuhatta|ezer|mii"
        "|nghìn|ribu|тыс.|тыс|тысяча|тысячи|тысяч|тис.|тисяч|хиляди|χιλιάδες|ألف|آلاف|אלף|हज़ार|हजार|พัน"
    ),
    4: "หมื่น",
    5: "lakh|lakhs|लाख|แสน",
    6: (
        "million|millions|Million|Millionen|mn|mln|Mio.|Mio|millón|millones|milione|milioni|milhão|milhões|miljoen"
        "|milion|miliony|milionów|milionů|miljon|miljoner|milj.|miljoonaa|millioner|millió|milioane|milyon|triệu|juta"
        "|млн|миллион|миллиона|миллионов|мільйон|мільйонів|милиона|εκατ.|εκατομμύρια|مليون|ملايين|میلیون|מיליון"
        "|मिलियन|ล้าน"
    ),
    7: "crore|crores|करोड़|करोड",
    9: (
        "billion|billions|bn|Milliarde|Milliarden|milliard|milliards|Mrd.|Mrd|miliardo|miliardi|miljard|miliardy|miliardów"
        "|mld|mia.|miljarder|milliarder|milliárd|miliarde|milyar|tỷ|miliar|bilhão|bilhões|млрд|миллиард|миллиарда"
        "|миллиардов|мільярд|мільярдів|δισ.|مليار|میلیارد|מיליארד"
    ),
    12: "trillion|tn|Billionen|billones",
}
SCALES = {word: exponent for exponent, words in _SCALE_WORDS.items() for word in words.split("|")}
_OF_KOREAN = {"천": 3, "만": 4, "십만": 5, "백만": 6, "천만": 7, "억": 8, "십억": 9, "백억": 10, "천억": 11, "조": 12}
SCALES |= {
    f"{scale}{gap}{money}": exponent
    for scale, exponent in _OF_KOREAN.items()
    for gap in ("", " ")
    for money in ("원", "달러", "유로")
}
"""Korean ones before money alone: 5조 is Article 5, and many words begin with the same syllables."""
SCALED_CURRENCY = rf"(?:[TkKM](?=[{SPACES}]?(?:[€$£]|(?:EUR|USD|GBP|CHF)(?![^\W\d_])))|m(?=[€$£]))"
"""The letter before a currency that belongs to the digits, as in TEUR, k€ and M €."""
APART_FROM_MONEY = r"[kKmMB](?![\w&])"
"""The letter that is a scale behind an amount of money even with a space before it, as in €5 m."""
CJK_SCALES = {"万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12}
CJK_POWERS = dict(zip("十拾百佰千仟", (1, 1, 2, 2, 3, 3), strict=True))
_DIGITS_OF_CJK = "〇零 一壱壹 二弐贰貳两兩 三参叁參 四肆 五伍 六陆陸 七柒 八捌 九玖"
CJK_DIGITS = {digit: value for value, digits in enumerate(_DIGITS_OF_CJK.split()) for digit in digits}
CJK_MULTIPLES = "".join((*CJK_SCALES, *CJK_POWERS))
CJK_COMPOUND = re.compile(rf"(?:\d{{1,18}}(?:[.,]\d{{1,9}}){{0,6}}[{CJK_MULTIPLES}]{{1,2}}){{1,5}}(?:\d{{2,4}}(?!\d))?")
CJK_NUMERAL = rf"[{''.join(CJK_DIGITS)}{CJK_MULTIPLES}]{{1,30}}"
_CJK_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|[{''.join(CJK_DIGITS)}]+|[{CJK_MULTIPLES}]")
LETTER_SCALES = {"k": 3, "K": 3, "T": 3, "M": 6, "B": 9, "만": 4, "억": 8}
"""Only directly behind the digits, or next to a currency. A small m is a million next to a currency, or a metre."""


def _names(*kinds: Mapping[str, str]) -> dict[str, str]:
    return {
        spelling: name
        for kind in kinds
        for name, spellings in kind.items()
        for spelling in (name, *filter(None, spellings.split("|")))
    }


def either(words: Mapping[str, object]) -> str:
    longest_first = sorted(words, key=lambda word: -len(word))
    return "|".join(
        re.escape(word) + (r"(?![^\W\d_])" if word[-1].lower() != word[-1].upper() else "") for word in longest_first
    )


CURRENCY_NAMES = _names(CURRENCIES)
NAME_OF = CURRENCY_NAMES | _names(UNITS)
CODES = {spelling: name for spelling, name in CURRENCY_NAMES.items() if not spelling.islower()}
"""What may stand before an amount: codes and signs. Words such as “won” and “pound” mean something else there."""
ABOUT = {"about", "approx", "approx.", "approximately", "around", "roughly", "nearly", "almost", "circa", "ca.", "c."}
ABOUT |= {"rund", "etwa", "zirka", "environ", "~", "≈", "∼"}
COMPARISONS = {"<": "<", "≤": "≤", "<=": "≤", "⩽": "≤", ">": ">", "≥": "≥", ">=": "≥", "⩾": "≥"}
MINUS = "-−–﹣－‐‑⁻"
POWER = re.compile(
    rf"[eE]([-+]?\d{{1,9}})(?!\w)|[{SPACES}]?[×x*][{SPACES}]?10(?:(?:\^|\*\*)([-−]?\d{{1,3}})|([⁻]?[⁰¹²³⁴-⁹]{{1,3}}))"
)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


def cjk_value(numeral: str, mark: str) -> Decimal | None:
    """The value of a numeral such as 1億2000万 or 二百四十; None where it has none."""
    total = section = Decimal(0)
    number: Decimal | None = None
    last_power, last_scale = 9, 99
    for token in _CJK_TOKEN.findall(numeral):
        if power := CJK_POWERS.get(token):
            if power >= last_power:
                return None
            section += (1 if number is None else number) * 10**power
            number, last_power = None, power
        elif scale := CJK_SCALES.get(token):
            section += number or 0
            if scale >= last_scale or not section:
                return None
            total += section.scaleb(scale)
            number, section, last_power, last_scale = None, Decimal(0), 9, scale
        elif token[0] in CJK_DIGITS:
            number = Decimal("".join(str(CJK_DIGITS[digit]) for digit in token))
        else:
            number = read(token, mark)
            if number is None:
                return None
    return total + section + (number or 0)


STEP_OF_FRACTION = Decimal("0.001")


@lru_cache(maxsize=65_536)
def read_digits(digits: str) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...]]:
    """Each value that the digits can mean, with what one unit of its last digit is worth."""
    if digits in FRACTIONS:
        return (FRACTIONS[digits],), (STEP_OF_FRACTION,)
    if "/" in digits or "⁄" in digits:
        value = read_fraction(digits)
        return ((value,), (STEP_OF_FRACTION,)) if value is not None else ((), ())
    if digits.isdecimal() and len(digits) <= MAX_DIGITS:  # most of them, and the marks do not matter
        return (Decimal(digits),), (Decimal(1),)
    found: dict[Decimal, Decimal] = {}
    for mark in THOUSANDS:
        value = read(digits, mark)
        if value is not None:
            decimals = len(digits.rpartition(mark)[2]) if mark in digits else 0
            found.setdefault(value, Decimal(1).scaleb(-decimals))
    return tuple(found), tuple(found.values())


def read_fraction(digits: str) -> Decimal | None:
    """The value of 5 1/2; None where the fraction is not less than one, as in 51⁄2: it may be 5 and a half."""
    *whole, over, under = re.split(r"\D", digits)
    if not int(over) < int(under):
        return None
    part = (Decimal(over) / Decimal(under)).quantize(Decimal(1).scaleb(-FRACTION_DIGITS)).normalize()
    return Decimal("".join(whole) or 0) + part


def _written(mark: str) -> str:
    """An expression for digits with this decimal mark, and with one kind of separator of thousands at most. Commas may
    separate lakhs and crores too, as in 12,34,567.
    """
    lakhs = r"|(?!0)\d{1,2}(?:,\d{2})+,\d{3}" if mark == "." else ""
    return (
        rf"(?P<whole>\d*{lakhs}|(?!0+\D)\d{{1,3}}(?P<separator>[{THOUSANDS[mark]}'’{SPACES}])\d{{3}}(?:(?P=separator)\d{{3}})*)"
        rf"(?:[{mark}](?P<decimals>\d+))?"
    )


_WRITTEN = {".": re.compile(_written(".")), ",": re.compile(_written(","))}


def read(digits: str, mark: str) -> Decimal | None:
    """The value with this decimal mark; None where the digits cannot be read so."""
    found = _WRITTEN[mark].fullmatch(digits)
    if found is None:
        return None
    whole, separator, decimals = found.groups()
    whole = whole.replace(separator or ",", "")
    if len(whole) + len(decimals or "") > MAX_DIGITS:
        return None
    return Decimal(f"{whole}.{decimals or '0'}").normalize(EXACT)


def in_digits(value: Decimal) -> str:
    """A value with separators of thousands, without zeros at its end."""
    return f"{value.normalize(EXACT):,f}"


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
