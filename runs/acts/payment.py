"""A payment or a transfer of money: an amount, and who gets it."""

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal

from runs.acts.shape import DETAILS, MOMENT, PEOPLE, TEXT, Field, Remark, Shape, ShapedCall, Wording, canonical, names
from runs.text.numbers import MAX_FIGURE_CHARACTERS, numbers_in

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
    accounts = [value.strip() for value in call.values("To the account") if isinstance(value, str)]
    if not call.value("To"):
        yield Remark("warn", "To whom", f"no name is given{', only an account' if any(accounts) else ''}")
    ibans = [re.sub(r"\s", "", account).upper() for account in accounts]
    if any(_IBAN.fullmatch(iban) and not _is_valid(iban) for iban in ibans):
        yield Remark("bad", "Wrong account number", "its check digits do not fit: it is mistyped or made up")
    if not call.value("From the account"):
        yield Remark("warn", "From which account", "unknown; the call does not say")
    if not call.value("Purpose"):
        yield Remark("warn", "Purpose", "none is given")


def _money(call: ShapedCall) -> Remark:
    """The amount with its currency, how often it is paid, and the sum."""
    currency = _currency(call)
    unit = f" {currency}" if currency else ""
    if call.differs("Amount"):
        return Remark("bad", "Pays", "not known how much: the call names several amounts")
    if call.differs("Currency"):
        return Remark("bad", "Pays", "not known in which currency: the call names several")
    written = _written(call.value("Amount"))
    unit_of_text = next((number.unit for number in numbers_in(written[:MAX_FIGURE_CHARACTERS])), "")
    if currency and unit_of_text not in ("", currency.upper()):
        return Remark(
            "bad", "Pays", f"not known in which currency: the amount is “{written}”, the currency “{currency}”"
        )
    amounts = _amounts(call.value("Amount"))
    if len(amounts) > 1:
        return Remark("bad", "Pays", _ambiguous(written, amounts, unit))
    if not amounts:
        return Remark("warn", "Amount", "it cannot be read as a number: see below")
    (amount,) = amounts
    decimals = _decimals(amount)
    said = [f"{amount:,.{decimals}f}{unit or ' (no currency given)'}"]
    if _is_in_cents(call):
        said.append("in the smallest unit, such as cents")
    every, count = _named(call, _EVERY), _named(call, _TIMES)
    numbers = _amounts(count)
    times = numbers[0] if len(numbers) == 1 else None
    repeats = call.value("Repeats") is not None or count is not None
    if len(numbers) > 1:
        said.append(f"{_each(every)}{_ambiguous(str(count), numbers, ' times')}")
    elif repeats and times is not None:
        said.append(f"{_each(every)}{times:,f} times, {amount * times:,.{decimals}f}{unit} in total")
    elif repeats:
        said.append(f"{_each(every)}without an end that the call names")
    return Remark("calm" if currency and not repeats else "warn", "Pays", ", ".join(said))


def _each(every: object) -> str:
    if not isinstance(every, str) or not every.strip() or len(every) > 40:
        return "again and again, "
    return f"{every.strip()}, " if every.strip().lower().endswith("ly") else f"every {every.strip()}, "


def _currency(call: ShapedCall) -> str:
    """The currency of its own argument, or the one in the amount: an object, or a text such as “5 EUR”."""
    own = call.text("Currency") or str(_inside(call.value("Amount"), _CURRENCY) or "").strip()[:20]
    if own or not (written := _written(call.value("Amount"))):
        return own
    return next((number.unit for number in numbers_in(written)), "")


def _is_in_cents(call: ShapedCall) -> bool:
    name = next(iter(call.labelled.get("Amount", ())), "")
    schema = call.schemas.get(name)
    told = schema.get("description") if isinstance(schema, dict) else ""
    return canonical(name) in names("amountcents amountincents amountminor") or bool(_SMALLEST.search(str(told)))


def _written(value: object) -> str:
    """An amount as the call has it; empty for what is no number and no text."""
    if isinstance(value, dict):
        value = _inside(value, _VALUE)
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _amounts(value: object) -> list[Decimal]:
    """All that an amount can mean, the smallest first: 1 and 1,000 for the text “1.000”. JSON numbers have one value.
    Empty for what is not one number, or has too many digits.
    """
    written = _written(value)
    found = [] if len(written) > MAX_FIGURE_CHARACTERS else list(numbers_in(written))
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(written)) or found[0].comparison:
        return []
    is_text = isinstance(value, str) or (isinstance(value, dict) and isinstance(_inside(value, _VALUE), str))
    values = found[0].values if is_text else [Decimal(written)]
    amounts = sorted({-one if found[0].is_negative and is_text and one > 0 else one for one in values})
    return amounts if all(abs(one.adjusted()) < MAX_DIGITS for one in amounts) else []


def _ambiguous(written: str, amounts: Sequence[Decimal], unit: str) -> str:
    said = " or as ".join(f"{one:,.{_decimals(one)}f}{unit}" for one in amounts)
    return f"“{written}” is ambiguous: it can be read as {said}"


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
            is_decisive=True,
        ),
        Field("Currency", _CURRENCY, TEXT, is_decisive=True),
        Field(
            "To",
            names(
                "to recipient recipientname payee payeename beneficiary beneficiaryname creditor creditorname "
                "accountholder merchant vendor supplier"
            ),
            PEOPLE,
            is_decisive=True,
        ),
        Field(
            "To the account",
            names(
                "iban toiban recipientiban payeeiban creditoriban beneficiaryiban recipientaccount creditoraccount "
                "beneficiaryaccount toaccount destinationaccount destination accountnumber"
            ),
            PEOPLE | {"integer"},
            is_decisive=True,
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
