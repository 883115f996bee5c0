"""Passages that leave out a negation are widened to their sentence."""

import pytest

from runs.text.negations import with_negation


@pytest.mark.parametrize(
    ("text", "words", "widened"),
    [
        ("First. We don't agree to it. Last.", "agree to it", "We don't agree to it."),
        ("He may not, without consent, assign it. So.", "assign it", "He may not, without consent, assign it."),
        ("He did not pay, nor has he, so far, paid it. So.", "paid it", "He did not pay, nor has he, so far, paid it."),
        ("He didn´t pay it. So.", "pay it", "He didn´t pay it."),
        ("We must no\u200bt agree to it", "agree to it", "We must no\u200bt agree to it"),
        ("We don’t agree to it", "agree to it", "We don’t agree to it"),
        ("A.\n\nThe seller shall not, in any event, be liable. B", "be liable", None),
        ("Without the prior consent of Weber. Yes", "consent of Weber", "Without the prior consent of Weber."),
        ("It is paid no later than 30 days on. So.", "30 days", "It is paid no later than 30 days on."),
        ("Der Vermieter haftet nicht. Er zahlt.", "Der Vermieter haftet", "Der Vermieter haftet nicht."),
        ("Er zahlt keinerlei Miete. Gut.", "Miete", "Er zahlt keinerlei Miete."),
        ("Il n’est pas responsable. Oui.", "est pas responsable", "Il n’est pas responsable."),
        ("Il n'est pas responsable. Oui.", "responsable", "Il n'est pas responsable."),
        ("Er is geen huur verschuldigd. Ja.", "huur verschuldigd", "Er is geen huur verschuldigd."),
        ("갑은 대금을 지급하지 않는다. 끝.", "지급하지", "갑은 대금을 지급하지 않는다."),
        ("Alıcı sorumlu değildir. Son.", "Alıcı sorumlu", "Alıcı sorumlu değildir."),
        ("ผู้เช่าไม่ต้องชำระค่าเช่า", "ต้องชำระ", "ผู้เช่าไม่ต้องชำระค่าเช่า"),
        ("Hyresgästen ansvarar inte. Slut.", "Hyresgästen ansvarar", "Hyresgästen ansvarar inte."),
        ("Prodávající není odpovědný. Ano.", "odpovědný", "Prodávající není odpovědný."),
        ("Az eladó nem felelős. Igen.", "felelős", "Az eladó nem felelős."),
        ("Vânzătorul nu răspunde. Da.", "răspunde", "Vânzătorul nu răspunde."),
        ("Myyjä ei ole vastuussa. Joo.", "ole vastuussa", "Myyjä ei ole vastuussa."),
        ("Penjual tidak bertanggung jawab. Ya.", "bertanggung jawab", "Penjual tidak bertanggung jawab."),
        ("המוכר אינו אחראי לנזק. כן.", "אחראי לנזק", "המוכר אינו אחראי לנזק."),
        ("The tenant is forbidden to sublet it. So.", "sublet it", "The tenant is forbidden to sublet it."),
        ("Der Mieter wird kaum zahlen. So.", "zahlen", "Der Mieter wird kaum zahlen."),
        ("前文。売主は責任を負うものではない。後文。", "責任を負う", "売主は責任を負うものではない。"),
        ("前文。買主は支払う義務を負いません。後文。", "支払う義務", "買主は支払う義務を負いません。"),
        ("매도인은 책임을 진다고 볼 수 없다. 끝.", "책임을 진다", "매도인은 책임을 진다고 볼 수 없다."),
        ("甲方不承担任何责任。乙方承担。", "承担任何责任", "甲方不承担任何责任。"),
        ("乙方未经甲方同意出售。完", "同意出售", "乙方未经甲方同意出售。"),
        ("前文。本契約は解除できない。後文。", "本契約は解除でき", "本契約は解除できない。"),
    ],
)
def test_a_negation_directly_before_or_behind_widens_to_the_sentence(
    text: str, words: str, widened: str | None
) -> None:
    at = text.index(words)
    found = with_negation(text, at, at + len(words))
    assert text[slice(*found)] == (widened or "The seller shall not, in any event, be liable.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("If it is not paid, interest accrues.", "interest accrues"),
        ("He is not only late but rude.", "late but rude"),
        ("It is null and void here.", "void here"),
        ("See No. 5 for the fee.", "the fee"),
        ("Es gilt nicht nur die Miete.", "die Miete"),
        ("It is not so. The fee is due.", "The fee is due"),
        ("a non-binding offer of rent", "offer of rent"),
        ("Not here:\n\n- the rent is due", "the rent is due"),
        ("The rent is due. Not so the fee.", "The rent is due"),
        ("De huur is nu geheel verschuldigd.", "verschuldigd"),
        ("It shall not be read as one of the many other things that are named rent", "named rent"),
    ],
)
def test_a_negation_of_something_else_leaves_the_words_alone(text: str, words: str) -> None:
    at = text.index(words)
    assert with_negation(text, at, at + len(words)) == (at, at + len(words))


def test_a_long_sentence_is_cut_between_words() -> None:
    text = f"{'word ' * 900}it is not due here {'word ' * 900}"
    at = text.index("due here")
    start, end = with_negation(text, at, at + 8)
    assert (end - start < 1_300, "not due here" in text[start:end]) == (True, True)
    assert (text[start - 1], text[end]) == (" ", " ")
