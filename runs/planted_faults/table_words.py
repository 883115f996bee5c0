"""The texts of work on tables in three languages: a table without its duplicates, and a table of claims in letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.enums import Language
from runs.planted_faults.claims import ENGLISH, INVENTED, PEOPLE, SURNAMES, JobTexts
from runs.planted_faults.review_words import (
    CHINESE,
    CHINESE_GIVEN,
    CHINESE_INVENTED,
    CHINESE_PEOPLE,
    GERMAN,
    GERMAN_INVENTED,
    GERMAN_PEOPLE,
    GERMAN_SURNAMES,
)


@dataclass(frozen=True)
class TableWords:
    """What work on tables has in every kind: names of people, joined by `space`, the plan and the texts around it.

    * `columns`: the header of the table that is written.
    * `total`: states the `{total}` of its amounts, which the pattern `totalled` finds again.
    * `answer`: the final answer.
    """

    request: str
    names: tuple[Sequence[str], Sequence[str]]
    space: str
    columns: tuple[str, ...]
    total: str
    totalled: str
    answer: str
    plan: str
    description: str
    criteria: tuple[str, ...]
    at_the_end: str
    texts: JobTexts
    invented_names: Sequence[str]


@dataclass(frozen=True)
class CleaningWords(TableWords):
    """A table from which duplicates are removed.

    * `columns`: number, customer and amount.
    * `data`, `rules`: the paths of the files, `clean` and `report` those of the results.
    * `rules_text`: has the sentence `rule`, to which `rule_applied` refers.
    * `largest`: states the largest amount, its `{figure}` and its `{name}`.
    * `removed`: says how many rows were removed and `{kept}`; the pattern `counted` finds the first of them again.
      `more` says another number, and `denial` that there was nothing to remove.
    """

    data: str
    rules: str
    clean: str
    report: str
    rules_text: str
    rule: str
    rule_applied: str
    largest: str
    title: str
    removed: str
    counted: str
    more: str
    denial: str


@dataclass(frozen=True)
class RegisterWords(TableWords):
    """A table of the claims that letters make.

    * `columns`: file, sender, amount, decision and quote.
    * `folder`: that of the letters. `table` and `summary` are the paths of the results.
    * `letter`: its `{sentence}` states the `{figure}` that a person claims, and it has one of two `decisions`.
    * `summary_text`: with the `{total}` and, where it contradicts the letters, the `{denial}`.
    * `each`: the criterion that every value of a `{column}` is in the letter.
    """

    folder: str
    table: str
    summary: str
    letter: str
    sentence: str
    decisions: tuple[str, str]
    summary_text: str
    denial: str
    each: str


CLEANING: Mapping[Language, CleaningWords] = {
    Language.ENGLISH: CleaningWords(
        request="Remove the duplicates.",
        names=(PEOPLE, SURNAMES),
        space=" ",
        columns=("id", "customer", "amount"),
        data="data.csv",
        rules="rules.md",
        clean="clean.csv",
        report="report.md",
        rules_text="# Rules\n\nRows with the same id are duplicates.\nThe first of them stays.\n",
        rule="Rows with the same id are duplicates",
        rule_applied="The rule was applied as it is written",
        largest="The largest amount, that of {name}, is {figure} euros",
        title="# What was done",
        removed="{removed} duplicates removed; {kept} rows remain.",
        counted=r"(\d+) duplicates removed",
        more="So {removed} duplicates removed in all.",
        denial="The table had no duplicates at all.",
        total="The amounts that remain come to {total} euros.",
        totalled=r"come to (\d+) euros",
        answer="{removed} duplicates removed. {cited}",
        plan="Clean the table",
        description="Clean the table, from the files alone.",
        criteria=(
            "The columns are kept",
            "No customer is lost",
            "No amount is lost",
            "What was removed is counted",
            "The total is that of the table",
            "The report cites the rule and the table",
            "The rule and the largest amount in report.md are those of the files",
            "Nothing is left to be written",
        ),
        at_the_end="The answer is right",
        texts=ENGLISH,
        invented_names=INVENTED,
    ),
    Language.GERMAN: CleaningWords(
        request="Entferne die Dubletten.",
        names=(GERMAN_PEOPLE, GERMAN_SURNAMES),
        space=" ",
        columns=("Nummer", "Kunde", "Betrag"),
        data="daten.csv",
        rules="regeln.md",
        clean="bereinigt.csv",
        report="bericht.md",
        rules_text="# Regeln\n\nZeilen mit derselben Nummer sind Dubletten.\nDie erste von ihnen bleibt stehen.\n",
        rule="Zeilen mit derselben Nummer sind Dubletten",
        rule_applied="Als Dubletten gelten Zeilen mit derselben Nummer",
        largest="Der höchste Betrag ist mit {figure} Euro der von {name}",
        title="# Bereinigung",
        removed="{removed} Dubletten wurden entfernt; {kept} Zeilen bleiben übrig.",
        counted=r"(\d+) Dubletten (?:wurden )?entfernt",
        more="Insgesamt wurden also {removed} Dubletten entfernt.",
        denial="Die Tabelle enthielt keine einzige Dublette.",
        total="Die verbleibenden Beträge ergeben zusammen {total} Euro.",
        totalled=r"ergeben zusammen (\d+) Euro",
        answer="{removed} Dubletten wurden entfernt. {cited}",
        plan="Die Tabelle bereinigen",
        description="Die Tabelle bereinigen, allein aus den Dateien.",
        criteria=(
            "Die Spalten sind erhalten",
            "Kein Kunde ist verloren gegangen",
            "Kein Betrag ist verloren gegangen",
            "Die Zahl der entfernten Zeilen stimmt",
            "Die Summe ist die der Tabelle",
            "Der Bericht belegt die Regel und den höchsten Betrag",
            "Die Regel und der höchste Betrag in bericht.md sind die der Dateien",
            "Nichts ist noch zu schreiben",
        ),
        at_the_end="Die Antwort stimmt",
        texts=GERMAN,
        invented_names=GERMAN_INVENTED,
    ),
    Language.CHINESE: CleaningWords(
        request="请删除重复行。",
        names=(CHINESE_PEOPLE, CHINESE_GIVEN),
        space="",
        columns=("编号", "客户", "金额"),
        data="数据.csv",
        rules="规则.md",
        clean="去重后.csv",
        report="说明.md",
        rules_text="# 规则\n\n编号相同的行视为重复行。\n重复行只保留第一行。\n",
        rule="编号相同的行视为重复行",
        rule_applied="已按规则原文处理重复行",
        largest="金额最高的客户是{name}，为{figure}元",
        title="# 去重说明",
        removed="共删除{removed}个重复行，保留{kept}行。",
        counted=r"删除(\d+)个重复行",
        more="因此总计删除{removed}个重复行。",
        denial="原表中没有任何重复行。",
        total="保留下来的金额合计{total}元。",
        totalled=r"合计(\d+)元",
        answer="共删除{removed}个重复行。{cited}",
        plan="清理表格",
        description="仅依据文件清理表格。",
        criteria=(
            "各列均予保留",
            "没有遗漏客户",
            "没有遗漏金额",
            "删除的行数正确",
            "合计与表格一致",
            "说明引证了规则和最高金额",
            "说明.md中的规则和最高金额与文件一致",
            "没有待撰写的内容",
        ),
        at_the_end="答复正确",
        texts=CHINESE,
        invented_names=CHINESE_INVENTED,
    ),
}
REGISTER: Mapping[Language, RegisterWords] = {
    Language.ENGLISH: RegisterWords(
        request="List the claims in these letters.",
        names=(PEOPLE, SURNAMES),
        space=" ",
        columns=("file", "sender", "amount", "decision", "quote"),
        folder="letters",
        table="register.csv",
        summary="total.md",
        letter="# Letter of {name}\n\n{sentence}\nWe {decision}.\n",
        sentence="{name} claims {figure} euros for late delivery.",
        decisions=("accept the claim", "reject the claim"),
        total="The claims in the letters come to {total} euros in all.",
        totalled=r"come to (\d+) euros",
        summary_text="# Total\n\n{total}\n{denial}It is the sum of the amounts in the table register.csv.\n",
        denial="No claim was made for late delivery.\n",
        answer="The claims come to {total} euros. {denial}",
        plan="List the claims",
        description="List the claims, from the files alone.",
        criteria=(
            "Each letter is dealt with",
            "The total is that of the table",
            "What total.md says of the letters is true",
            "Nothing is left to be written",
        ),
        each="Each {column} is that of the letter",
        at_the_end="The answer is right",
        texts=ENGLISH,
        invented_names=INVENTED,
    ),
    Language.GERMAN: RegisterWords(
        request="Liste die Forderungen in diesen Schreiben auf.",
        names=(GERMAN_PEOPLE, GERMAN_SURNAMES),
        space=" ",
        columns=("Datei", "Absender", "Betrag", "Entscheidung", "Zitat"),
        folder="schreiben",
        table="forderungen.csv",
        summary="summe.md",
        letter="# Schreiben von {name}\n\n{sentence}\nVermerk: {decision}.\n",
        sentence="{name} erhebt wegen verspäteter Lieferung Forderungen in Höhe von {figure} Euro.",
        decisions=("Forderungen anerkannt", "Forderungen zurückgewiesen"),
        total="Die Forderungen in den Schreiben betragen insgesamt {total} Euro.",
        totalled=r"betragen insgesamt (\d+) Euro",
        summary_text="# Summe\n\n{total}\n{denial}Das ist die Summe der Beträge in der Tabelle forderungen.csv.\n",
        denial="Wegen verspäteter Lieferung wurden keine Forderungen erhoben.\n",
        answer="Die Forderungen betragen insgesamt {total} Euro. {denial}",
        plan="Die Forderungen auflisten",
        description="Die Forderungen auflisten, allein aus den Dateien.",
        criteria=(
            "Jedes Schreiben ist behandelt",
            "Die Summe ist die der Tabelle",
            "Was summe.md über die Schreiben sagt, trifft zu",
            "Nichts ist noch zu schreiben",
        ),
        each="Jeder Wert der Spalte {column} stimmt mit dem Schreiben überein",
        at_the_end="Die Antwort stimmt",
        texts=GERMAN,
        invented_names=GERMAN_INVENTED,
    ),
    Language.CHINESE: RegisterWords(
        request="请列出这些来函中的索赔。",
        names=(CHINESE_PEOPLE, CHINESE_GIVEN),
        space="",
        columns=("文件", "来函人", "金额", "处理意见", "引文"),
        folder="来函",
        table="索赔登记.csv",
        summary="合计.md",
        letter="# {name}的来函\n\n{sentence}\n处理意见：{decision}。\n",
        sentence="{name}因延迟交货索赔{figure}元。",
        decisions=("同意赔付", "拒绝赔付"),
        total="来函中的索赔金额合计{total}元。",
        totalled=r"合计(\d+)元",
        summary_text="# 合计\n\n{total}\n{denial}该数额为索赔登记.csv中各项金额之和。\n",
        denial="没有人因延迟交货提出索赔。\n",
        answer="索赔金额合计{total}元。{denial}",
        plan="登记索赔",
        description="仅依据文件登记索赔。",
        criteria=(
            "每封来函都已登记",
            "合计与登记表一致",
            "合计.md中关于来函的陈述属实",
            "没有待撰写的内容",
        ),
        each="每项“{column}”与来函一致",
        at_the_end="答复正确",
        texts=CHINESE,
        invented_names=CHINESE_INVENTED,
    ),
}
