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
from itertools import groupby

from runs.text.scripts import JOINED_LETTER, TOUCHING, touches

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
    rf"|\d{{1,3}}(?:[{SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?"
    r"|[０-９]{1,3}(?:，[０-９]{3})+(?![０-９])(?:．[０-９]+)?|[０-９]+(?:．[０-９]+)+"
    rf"|\d+(?:[.,'’]\d+)*|\.\d+(?![.\d])|[{''.join(FRACTIONS)}]"
)
_WIDE_MARKS = {ord("．"): ".", ord("，"): ","}
"""Between digits of the same width. The wide comma between others separates clauses."""
THOUSANDS = {".": ",", ",": "."}
"""By decimal mark the mark that separates thousands, if not apostrophes or spaces do."""
CURRENCIES = {
    "USD": "US$|$|dollar|dollars|美元|美金|米ドル|달러|ดอลลาร์",
    "EUR": "€|euro|euros|欧元|歐元|ユーロ|유로|ยูโร",
    "GBP": "£|pound|pounds|英镑|英鎊|英ポンド|파운드",
    "JPY": "¥|￥|yen|円|日元|日圓|日圆|엔|เยน",
    "CNY": "RMB|CN¥|yuan|元|圆|圓|人民币|人民幣|人民元|人民币元|人民幣元|위안|หยวน",
    "CHF": "Fr.|SFr.|francs|Franken|瑞士法郎|スイスフラン",
    "INR": "₹|Rs.|Rs|rupees|卢比|盧比|ルピー|루피",
    "KRW": "₩|won|韩元|韓元|ウォン|원",
    "RUB": "₽|roubles|rubles|卢布|盧布|ルーブル|루블",
    "SEK": "",
    "NOK": "",
    "DKK": "",
    "PLN": "zł",
    "CZK": "Kč",
    "HUF": "Ft",
    "TRY": "₺",
    "BRL": "R$",
    "AUD": "A$|AU$|澳元",
    "CAD": "C$|CA$|加元",
    "SGD": "S$",
    "HKD": "HK$|港元|港币|港幣",
    "NZD": "NZ$",
    "MXN": "",
    "ZAR": "",
    "ILS": "₪",
    "THB": "฿|泰铢|泰銖|バーツ|밧|바트|บาท",
    "TWD": "NT$|台币|台幣|新台币|新台幣",
}
UNITS = {
    "%": "％|percent|per cent|pct|Prozent|pour cent|パーセント|퍼센트|เปอร์เซ็นต์",
    "‰": "permille|Promille",
    "second": "seconds|sec|s|Sekunden|秒|秒钟|秒鐘|초|วินาที",
    "minute": "minutes|min|mins|Minuten|分钟|分鐘|分間|분|นาที",
    "hour": "hours|hr|hrs|h|Stunde|Stunden|heures|小时|小時|個小時|个小时|時間|시간|ชั่วโมง",
    "day": "days|Tag|Tage|Tagen|jours|天|日|日間|일|일간|วัน",
    "week": "weeks|Woche|Wochen|semaines|周|週|週間|个星期|個星期|주|주간|สัปดาห์",
    "month": "months|Monat|Monate|Monaten|mois|个月|個月|箇月|ヶ月|ヵ月|か月|カ月|ケ月|개월|เดือน",
    "year": "years|yr|yrs|Jahr|Jahre|Jahren|ans|年|年間|周年|년|년간|ปี",
    "mm": "millimetres|millimeters|Millimeter|㎜|毫米|ミリメートル|밀리미터|มิลลิเมตร",
    "cm": "centimetres|centimeters|Zentimeter|㎝|厘米|公分|センチメートル|센티미터|เซนติเมตร",
    "m": "metre|metres|meter|meters|Meter|米|公尺|メートル|미터|เมตร",
    "km": "kilometre|kilometres|kilometer|kilometers|Kilometer|㎞|公里|千米|キロメートル|킬로미터|กิโลเมตร",
    "m²": "m2|sqm|sq m|square metres|square meters|Quadratmeter|㎡|平方米|平方公尺|平方メートル|제곱미터|ตารางเมตร",
    "km²": (
        "km2|sq km|sq. km|square kilometre|square kilometres|square kilometers|Quadratkilometer|㎢|平方公里|平方千米"
        "|平方キロメートル|제곱킬로미터|ตารางกิโลเมตร"
    ),
    "ha": "hectare|hectares|Hektar|公顷|公頃|ヘクタール|헥타르|เฮกตาร์",
    "l": "L|litre|litres|liter|liters|Liter|升|公升|リットル|리터|ลิตร",
    "mg": "milligrams|Milligramm|㎎|毫克|ミリグラム|밀리그램|มิลลิกรัม",
    "g": "gram|grams|Gramm|克|グラム|그램|กรัม",
    "kg": "kilogram|kilograms|Kilogramm|㎏|公斤|千克|キログラム|킬로그램|กิโลกรัม",
    "t": "tonne|tonnes|ton|tons|Tonnen|吨|噸|公吨|公噸|トン|톤|ตัน",
    "kW": "千瓦|キロワット|킬로와트",
    "MW": "兆瓦|メガワット|메가와트",
    "GW": "",
    "kWh": "千瓦时|千瓦時|キロワット時|킬로와트시",
    "MWh": "",
    "GWh": "",
    "byte": "bytes|Bytes",
    "kB": "KB|kilobytes",
    "MB": "megabytes",
    "GB": "gigabytes",
    "TB": "terabytes",
    "°C": "℃|摄氏度|攝氏度",
    "°F": "",
}
_OTHER_WORDS = {
    "元": "件宵年始旦气氣素组組",
    "円": "形滑",
    **dict.fromkeys("圆圓", "形圈桌满滿滑心柱珠"),
    "天": "主使气気氣津然皇空",
    "日": "元圓报報曜本期程記記語语",
    "周": "知边辺邊围圍",
    "年": "級级終终金齡龄齢",
    "米": "ド国國飯饭",
    "克": "拉服隆",
    "升": "值級级職职降高",
    "원": "칙형",
    "엔": "진",
    "일": "반본",
    "주": "식요제택",
    "초": "과등",
    "분": "기야의석",
}
"""Letters that make another word of a unit: 元素 is an element, and 3분기 the third quarter."""
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
    7: "crore|crores|करोड़|करोड|สิบล้าน",
    8: "ร้อยล้าน",
    9: (
        "billion|billions|bn|Milliarde|Milliarden|milliard|milliards|Mrd.|Mrd|miliardo|miliardi|miljard|miliardy|miliardów"
        "|mld|mia.|miljarder|milliarder|milliárd|miliarde|milyar|tỷ|miliar|bilhão|bilhões|млрд|миллиард|миллиарда"
        "|миллиардов|мільярд|мільярдів|δισ.|مليار|میلیارد|מיליארד|พันล้าน"
    ),
    10: "หมื่นล้าน",
    11: "แสนล้าน",
    12: "trillion|tn|Billionen|billones|ล้านล้าน",
}
SCALES = {word: exponent for exponent, words in _SCALE_WORDS.items() for word in words.split("|")}
_OF_KOREAN = {"천": 3, "만": 4, "십만": 5, "백만": 6, "천만": 7, "억": 8, "십억": 9, "백억": 10, "천억": 11, "조": 12}
SCALES |= _OF_KOREAN
_BEFORE_MONEY = rf"(?=[{SPACES}]?(?:원|달러|유로|엔|위안))"
"""Where Korean scales count: 5조 is Article 5, and many words begin with the same syllables."""
SCALED_CURRENCY = rf"(?:[TkKM](?=[{SPACES}]?(?:[€$£]|(?:EUR|USD|GBP|CHF)(?!{JOINED_LETTER})))|m(?=[€$£]))"
"""The letter before a currency that belongs to the digits, as in TEUR, k€ and M €."""
APART_FROM_MONEY = rf"[kKmMB](?!&|[^\W{TOUCHING}])"
"""The letter that is a scale behind an amount of money even with a space before it, as in €5 m."""
CJK_SCALES = {"万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12}
CJK_POWERS = dict(zip("十拾百佰千仟", (1, 1, 2, 2, 3, 3), strict=True))
_DIGITS_OF_CJK = "〇零 一壱壹 二弐贰貳两兩 三参叁參 四肆 五伍 六陆陸 七柒 八捌 九玖"
CJK_DIGITS = {digit: value for value, digits in enumerate(_DIGITS_OF_CJK.split()) for digit in digits}
CJK_MULTIPLES = "".join((*CJK_SCALES, *CJK_POWERS))
MULTIPLE = rf"(?!千[克帕焦瓦米]|兆[字帕比瓦赫]|百[分帕])[{CJK_MULTIPLES}]"
"""A multiple, unless it begins a unit such as 千克, a kilogram."""
_BEFORE_MULTIPLE = r"\d{1,18}(?:(?:[.,]|(?<=[０-９])[．，](?=[０-９]))\d{1,9}){0,6}"
_REST = r"\d{2,4}(?!\d)|\d,\d{3}(?![\d,])"
CJK_COMPOUND = re.compile(rf"(?:{_BEFORE_MULTIPLE}(?:{MULTIPLE}){{1,3}}){{1,5}}(?:{_REST})?")
CJK_NUMERAL = rf"[{''.join(CJK_DIGITS)}{CJK_MULTIPLES}]{{1,30}}"
_TO_CJK = dict(zip("십백천만억조", "十百千万億兆", strict=True))
HANGUL_MULTIPLES = "".join(_TO_CJK)
MORE_THAN = "多余餘여"
"""Between digits and a multiple, as in 10多万: more than that."""
_HANGUL_MULTIPLE = rf"(?:[십백천]?[만억]|[십백천]?조(?=[{SPACES}]?(?:원|달러|유로|엔|위안|\d))|[십백천])"
"""5조 is Article 5, and five trillion before money or the next part of the number."""
HANGUL_COMPOUND = re.compile(
    rf"{_BEFORE_MULTIPLE}{_HANGUL_MULTIPLE}(?:[{SPACES}]?{_BEFORE_MULTIPLE}{_HANGUL_MULTIPLE}){{0,4}}"
    rf"(?:{_REST}|[{SPACES}](?:\d,\d{{3}}(?![\d,])|\d{{2,4}}(?=[원명])))?"
)
_ZEROS = CJK_SCALES | CJK_POWERS
_LAST_PART = re.compile(rf"(\d[\d.,]*)([{CJK_MULTIPLES}]*)")
_REST_OF_THOUSANDS = re.compile(r"(?<=[万億])(\d),(\d{3})\Z")
"""The comma in 12万3,450 is no decimal mark."""
_PLAIN_NUMERAL = _WIDE_MARKS | str.maketrans(_TO_CJK | dict.fromkeys(SPACES, ""))
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
    """An expression for one of these words, the longest first. Words of one length that may stand in front of the same
    characters share the condition for them, because compiling it takes a hundred times as long as compiling a word.
    """
    longest_first = sorted(words, key=lambda word: (-len(word), _end(word)))
    return "|".join(f"(?:{'|'.join(map(re.escape, same))}){end}" for end, same in groupby(longest_first, _end))


def _end(word: str) -> str:
    return rf"(?!{JOINED_LETTER})" if word[-1].lower() != word[-1].upper() else _not_before(word)


def _not_before(word: str) -> str:
    if word in _OF_KOREAN:
        return _BEFORE_MONEY
    return f"(?![{_OTHER_WORDS[word]}])" if word in _OTHER_WORDS else ""


CURRENCY_NAMES = _names(CURRENCIES)
NAME_OF = CURRENCY_NAMES | _names(UNITS)
SHARED_SIGNS = {"$": ("USD", "AUD", "CAD", "SGD", "HKD", "NZD"), "¥": ("JPY", "CNY")}
"""Signs that several currencies have; each is read as the first of them."""
_WORDS_IN_FRONT = ("人民币", "人民幣", "港币", "港幣", "台币", "台幣", "新台币", "新台幣")
CODES = {
    spelling: name
    for spelling, name in CURRENCY_NAMES.items()
    if spelling in _WORDS_IN_FRONT or not (spelling.islower() or (spelling[-1].isalpha() and touches(spelling[-1])))
}
"""What may stand before an amount: codes and signs. Words such as “won” and “pound” mean something else there."""
SHARES = {"百分之": "%", "千分之": "‰", "ร้อยละ": "%"}
"""Words before a number that make a share of it."""
ABOUT = {"about", "approx", "approx.", "approximately", "around", "roughly", "nearly", "almost", "circa", "ca.", "c."}
ABOUT |= {"rund", "etwa", "zirka", "environ", "~", "≈", "∼"}
_ABOUT_TOUCHING = (
    "约",
    "約",
    "大约",
    "大約",
    "大概",
    "近",
    "将近",
    "將近",
    "接近",
    "およそ",
    "ほぼ",
    "ประมาณ",
    "ราว",
    "เกือบ",
)
_ABOUT_HANGUL = ("약", "대략", "거의")
ABOUT |= {*_ABOUT_TOUCHING, *_ABOUT_HANGUL}
_NOT_ABOUT = (
    "亲親签簽公契特制协協合守婉婚密履最条條毀毁解訂订規规誓践踐違违邀邻鄰附隐隱靠預预临臨确確简簡節节紐纽締缔背赴爽"
)
_OTHER_ABOUT = rf"(?<![{_NOT_ABOUT}])(?<!(?<![主需])要)(?<!(?<![手持連连陆陸])[續续])"
"""Behind other letters than those with which these make another word, such as 合约, a contract, and 最近, recently."""
ABOUT_IN_FRONT = rf"{_OTHER_ABOUT}(?:{'|'.join(_ABOUT_TOUCHING)})|(?<!\w)(?:{'|'.join(_ABOUT_HANGUL)})"
"""Words that stand directly before the digits. 약 is none behind another letter, as in 계약, a contract."""
COMPARISONS = {"<": "<", "≤": "≤", "<=": "≤", "⩽": "≤", ">": ">", "≥": "≥", ">=": "≥", "⩾": "≥"}
MINUS = "-−–﹣－‐‑⁻"
TRUE_MINUS = frozenset("−﹣－⁻")
"""Signs behind a letter that touches figures too, where a hyphen joins both: 附件-2."""
POWER = re.compile(
    rf"[eE]([-+]?\d{{1,9}})(?![^\W{TOUCHING}])|[{SPACES}]?[×x*][{SPACES}]?10(?:(?:\^|\*\*)([-−]?\d{{1,3}})|([⁻]?[⁰¹²³⁴-⁹]{{1,3}}))"
)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")


def cjk_value(numeral: str, mark: str) -> Decimal | None:
    """The value of a numeral such as 1億2000万, 1억 2000만, 1.8万亿 or 二百四十; None where it has none."""
    total = section = part = Decimal(0)
    number: Decimal | None = None
    last_power, last_scale, scale_before = 9, 99, 99
    plain, is_after_scale = _plain(numeral), False
    for token in _CJK_TOKEN.findall(plain):
        is_scaled, is_after_scale = is_after_scale, token in CJK_SCALES
        if power := CJK_POWERS.get(token):
            if power >= last_power:
                return None
            section += (1 if number is None else number) * 10**power
            number, last_power = None, power
        elif scale := CJK_SCALES.get(token):
            section += number or 0
            if is_scaled and last_scale < scale < scale_before - last_scale:  # 万亿: the second scale multiplies
                total += part.scaleb(scale) - part
                part, last_scale = part.scaleb(scale), last_scale + scale
                continue
            if scale >= last_scale or not section:
                return None
            part = section.scaleb(scale)
            total += part
            number, section, last_power, scale_before, last_scale = None, Decimal(0), 9, last_scale, scale
        elif token[0] in CJK_DIGITS:
            number = Decimal("".join(str(CJK_DIGITS[digit]) for digit in token))
        else:
            number = read(token, mark)
            if number is None:
                return None
    return total + section + (number or 0)


def _plain(numeral: str) -> str:
    return _REST_OF_THOUSANDS.sub(r"\1\2", numeral.translate(_PLAIN_NUMERAL))


def cjk_step(numeral: str, mark: str) -> Decimal:
    """What one unit of the last digit of such a numeral is worth: a tenth of 万 in 33.6万."""
    *_, (digits, multiples) = _LAST_PART.findall(_plain(numeral))
    decimals = len(digits.rpartition(mark)[2]) if mark in digits else 0
    return Decimal(1).scaleb(sum(_ZEROS[one] for one in multiples) - decimals)


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
    digits = digits.translate(_WIDE_MARKS)
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
