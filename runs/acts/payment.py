"""A payment or a transfer of money: an amount, and who gets it."""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal, InvalidOperation

from runs.acts.shape import DETAILS, MOMENT, PEOPLE, TEXT, Field, Remark, Shape, ShapedCall, Wording, canonical, names

_CURRENCY = names("currency currencycode ccy")
_VALUE = names("amount value")
_TIMES = names("times count occurrences installments instalments repetitions numberofpayments payments")
_EVERY = names("every frequency interval period recurrence unit")
_SMALLEST = re.compile(r"\bcents?\b|smallest|minor unit", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
MAX_DIGITS = 15
"""Digits of an amount, and of its multiples, that are written out."""


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    yield _money(call)
    account = call.text("To the account")
    if not call.value("To"):
        yield Remark("warn", "To whom", f"no name is given{', only an account' if account else ''}")
    iban = re.sub(r"\s", "", account).upper()
    if _IBAN.fullmatch(iban) and not _is_valid(iban):
        yield Remark("bad", "Wrong account number", "its check digits do not fit: it is mistyped or made up")
    if not call.value("From the account"):
        yield Remark("warn", "From which account", "unknown; the call does not say")
    if not call.value("Purpose"):
        yield Remark("warn", "Purpose", "none is given")


def _money(call: ShapedCall) -> Remark:
    """The amount with its currency, how often it is paid, and the sum."""
    amount, currency = _number(call.value("Amount")), _currency(call)
    if amount is None:
        return Remark("warn", "Amount", "it cannot be read as a number: see below")
    unit = f" {currency}" if currency else ""
    decimals = _decimals(amount)
    said = [f"{amount:,.{decimals}f}{unit or ' (no currency given)'}"]
    if _is_in_cents(call):
        said.append("in the smallest unit, such as cents")
    every, times = _named(call, _EVERY), _number(_named(call, _TIMES))
    repeats = call.value("Repeats") is not None or times is not None
    if repeats and times is not None:
        said.append(f"{_each(every)}{times:,f} times, {amount * times:,.{decimals}f}{unit} in total")
    elif repeats:
        said.append(f"{_each(every)}without an end that the call names")
    return Remark("calm" if currency and not repeats else "warn", "Pays", ", ".join(said))


def _each(every: object) -> str:
    if not isinstance(every, str) or not every.strip() or len(every) > 40:
        return "again and again, "
    return f"{every.strip()}, " if every.strip().lower().endswith("ly") else f"every {every.strip()}, "


def _currency(call: ShapedCall) -> str:
    return call.text("Currency") or str(_inside(call.value("Amount"), _CURRENCY) or "").strip()[:20]


def _is_in_cents(call: ShapedCall) -> bool:
    name = call.labelled.get("Amount", "")
    schema = call.schemas.get(name)
    told = schema.get("description") if isinstance(schema, dict) else ""
    return canonical(name) in names("amountcents amountincents amountminor") or bool(_SMALLEST.search(str(told)))


def _number(value: object) -> Decimal | None:
    if isinstance(value, dict):
        value = _inside(value, _VALUE)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < MAX_DIGITS else None


def _named(call: ShapedCall, known: Collection[str]) -> object:
    """The first value of such a name in the arguments, or in what they say about repeating."""
    found = call.called(known)
    return _inside(call.value("Repeats"), known) if found is None or isinstance(found, dict | list) else found


def _inside(value: object, known: Collection[str], depth: int = 4) -> object:
    """The first value of such a name in an object and the objects in it."""
    if not isinstance(value, dict) or not depth:
        return value if isinstance(value, str) and known is _EVERY and depth == 4 else None
    here = (one for name, one in value.items() if canonical(name) in known and not isinstance(one, dict | list))
    deeper = (_inside(one, known, depth - 1) for one in value.values() if isinstance(one, dict))
    return next(here, None) or next((one for one in deeper if one is not None), None)


def _decimals(amount: Decimal) -> int:
    """How many decimals are written: none, or two and more."""
    return 0 if amount == amount.to_integral_value() else max(2, -int(amount.normalize().as_tuple().exponent))


def _is_valid(iban: str) -> bool:
    """Whether the check digits of an IBAN fit (ISO 7064, MOD 97-10)."""
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1


SHAPE = Shape(
    "payment",
    (
        Field(
            "Amount",
            names("amount total sum totalamount paymentamount amountcents amountincents amountminor"),
            TEXT | {"integer", "number", "object"},
        ),
        Field("Currency", _CURRENCY, TEXT),
        Field(
            "To",
            names(
                "to recipient recipientname payee payeename beneficiary beneficiaryname creditor creditorname "
                "accountholder merchant vendor supplier"
            ),
            PEOPLE,
        ),
        Field(
            "To the account",
            names(
                "iban toiban recipientiban payeeiban creditoriban beneficiaryiban recipientaccount creditoraccount "
                "beneficiaryaccount toaccount destinationaccount destination accountnumber"
            ),
            PEOPLE | {"integer"},
        ),
        Field("At the bank", names("bic swift swiftcode bankcode sortcode routingnumber bank bankname"), TEXT),
        Field(
            "From the account",
            names(
                "from fromaccount fromiban source sourceaccount debtoriban debtoraccount debitaccount payer "
                "payeraccount"
            ),
            PEOPLE | {"integer"},
        ),
        Field("On", names("date executiondate paymentdate valuedate startdate scheduleddate"), MOMENT, is_moment=True),
        Field(
            "Repeats",
            names("schedule recurrence recurring repeat repeats frequency interval every standingorder"),
            DETAILS,
        ),
        Field("How often", _TIMES, TEXT | {"integer", "number"}),
        Field(
            "Purpose", names("purpose reference memo remittance remittanceinformation note description message"), TEXT
        ),
    ),
    (frozenset({"Amount"}), frozenset({"To", "To the account"})),
    (
        Wording(
            "Ask for this payment?",
            "Ask",
            "Don’t ask",
            "asking for a payment",
            names("charge collect invoice request"),
            is_final=True,
        ),
        Wording("Prepare this payment?", "Prepare", "Don’t prepare", "preparing a payment", names("draft prepare")),
        Wording(
            "Make this payment?",
            "Pay",
            "Don’t pay",
            "making a payment",
            names("pay payment payments payout remit schedule send transfer wire"),
            is_final=True,
        ),
    ),
    remarks=_remarks,
    needs_verb=True,
)
