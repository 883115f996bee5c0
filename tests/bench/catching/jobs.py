"""Six kinds of work, each done well or with one fault in it. Deterministic: the same number gives the same job."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from runs.text.arithmetic import calculated
from tests.bench.catching.facts import (
    FAULTS,
    INVENTED,
    NOTE,
    ROUND,
    STUBS,
    Claim,
    Job,
    companies,
    contradiction_of,
    line_of,
    other_figure,
    output,
    people,
    planned,
    sources,
    with_fault,
    with_wrong_figure,
)


def faulty(number: int) -> Job:
    """Faults in turn, each in every kind of work before the next way to plant it."""
    return _work(number)(Random(f"{number} faulty"), FAULTS[number % len(FAULTS)], number)


def sound(number: int) -> Job:
    """The same kind of work with nothing wrong in it."""
    return _work(number)(Random(f"{number} sound"), "", number)


def _work(number: int) -> Callable[[Random, str, int], Job]:
    return WORK[number // len(FAULTS) % len(WORK)]


def contracts(random: Random, fault: str, number: int) -> Job:
    """Notice periods of contracts, and that none of them has a cap on liability."""
    names = companies(random.randrange(3, 7), random)
    contradiction = contradiction_of(number, fault)
    capped = contradiction == "with a source"
    files, claims = {}, []
    for at, name in enumerate(names):
        days, due = str(random.randrange(14, 99)), random.randrange(10, 13)
        path = f"contracts/{name.split()[0].lower()}.md"
        clause = f"{name} may terminate this agreement with {days} days' notice."
        cap = "\n4. Liability cap: the fees of one year." if capped and at == 1 else ""
        files[path] = (
            f"# Agreement with {name}\n\n1. The parties are {name} and Contoso.\n2. {clause}\n"
            f"3. Invoices are due within {due} weeks.{cap}\n"
        )
        says = random.choice(("{name} may terminate with {figure} days' notice", "For {name} it is {figure} days"))
        quote = (
            clause.removesuffix(".") if random.random() < 0.5 else f"terminate this agreement with {days} days' notice"
        )
        claims.append(Claim(path, line_of(files[path], clause), quote, name, days, says))
    told, variant = with_fault(claims, fault, list(files), random)
    lines = [one.cited for one in told]
    count = len(names)
    if contradiction:
        variant = contradiction
        if variant == "in prose":
            lines[0] = f"{told[0].name} may not terminate: [“{told[0].quote}”]({told[0].file}#L{told[0].line})."
        count += variant == "between two figures"
    review = "\n".join(
        [
            "# Notice periods",
            "",
            f"{count} contracts were reviewed.",
            "",
            *(f"- {line}" for line in lines),
            "",
            NO_CAP,
            "",
        ]
    )
    shortest = min(told, key=lambda one: int(one.figure))
    criteria = [
        sources("Each contract is dealt with", kind="covers", path="review.md", files="contracts/"),
        sources("Every notice period is cited", kind="citations", path="review.md", min=len(names)),
        sources("No contract has a cap on liability", kind="absent", path="contracts/", terms=["liability cap"]),
        sources(
            "The number of contracts is right",
            kind="count",
            path="review.md",
            figure=r"(\d+) contracts were reviewed",
            terms=[{"path": "contracts/", "of": "files"}],
        ),
        sources("The parties and notice periods in review.md are those of the contracts"),
        output("Nothing is left to be written", kind="no_placeholders", path="review.md"),
    ]
    return _job(
        ("contracts", "Which notice periods do these contracts have?", files),
        planned("Review the contracts", criteria, {"review.md": True}, [sources("The shortest period is right")]),
        {"review.md": review},
        f"The shortest notice period: {shortest.cited}",
        (fault, variant, random),
    )


NO_CAP = "No contract has a liability cap."


def cleaning(random: Random, fault: str, number: int) -> Job:
    """A table without its duplicates, and a report on what was removed."""
    names = people(random.randrange(5, 10), random)
    rows = [[str(at + 1), name, str(random.randrange(1000, 9999))] for at, name in enumerate(names)]
    doubled = random.sample(rows, random.randrange(2, len(rows)))
    data = _csv(("id", "customer", "amount"), [*rows, *doubled])
    rules = "# Rules\n\nRows with the same id are duplicates.\nThe first of them stays.\n"
    files = {"data.csv": data, "rules.md": rules}
    largest = max(rows, key=lambda row: int(row[2]))
    claims = [
        Claim("rules.md", 3, "Rows with the same id are duplicates", "", "", "The rule was applied as it is written"),
        Claim("data.csv", line_of(data, ",".join(largest)), ",".join(largest), largest[1], largest[2], LARGEST),
    ]
    kept, removed, told, variant = [*rows], len(doubled), claims, ""
    at = random.randrange(len(rows))
    by_statement = number // ROUND % 2 == 0
    match fault:
        case "wrong figure" if not by_statement:
            removed, variant = removed + random.choice((-1, 1)), "of a count"
        case "invented name" if not by_statement:
            kept[at], variant = [rows[at][0], random.choice(INVENTED), rows[at][2]], "in a row"
        case "wrong figure" | "invented name" | "invented source" | "wrong place":
            changed, variant = with_fault(claims[1:], fault, ["rules.md", "data.csv"], random)
            told = [claims[0], *changed]
        case "omitted item":
            kept, variant = [row for row in rows if row is not rows[at]], "a row"
    lines = [f"{removed} duplicates removed; {len(kept)} rows remain.", *(one.cited for one in told)]
    if contradiction := contradiction_of(number, fault):
        variant = contradiction
        more = {
            "with a source": [],
            "between two figures": [f"So {removed + 1} duplicates removed in all."],
            "in prose": ["The table had no duplicates at all."],
        }
        lines += more[variant]
    total = sum(int(row[2]) for row in kept) + (variant == "with a source")
    report = "\n\n".join(["# What was done", *lines, f"The amounts that remain come to {total} euros."]) + "\n"
    removals = [{"path": "data.csv", "of": "rows"}, {"path": "clean.csv", "of": "rows", "minus": True}]
    criteria = [
        output("The columns are kept", kind="csv_columns", path="clean.csv", columns=["id", "customer", "amount"]),
        sources(
            "No customer is lost",
            kind="covers",
            path="clean.csv",
            source="data.csv",
            column="customer",
            in_column="customer",
        ),
        sources(
            "No amount is lost", kind="covers", path="clean.csv", source="data.csv", column="amount", in_column="amount"
        ),
        sources(
            "What was removed is counted",
            kind="count",
            path="report.md",
            figure=r"(\d+) duplicates removed",
            terms=removals,
        ),
        output(
            "The total is that of the table",
            kind="count",
            path="report.md",
            figure=r"come to (\d+) euros",
            terms=[{"path": "clean.csv", "of": "sum", "column": "amount"}],
        ),
        sources("The report cites the rule and the table", kind="citations", path="report.md", min=2),
        sources("The rule and the largest amount in report.md are those of the files"),
        output("Nothing is left to be written", kind="no_placeholders", path="report.md"),
    ]
    return _job(
        ("cleaning", "Remove the duplicates.", files),
        planned("Clean the table", criteria, {"clean.csv": False, "report.md": True}, [sources("The answer is right")]),
        {"clean.csv": _csv(("id", "customer", "amount"), kept), "report.md": report},
        f"{removed} duplicates removed. {told[1].cited}",
        (fault, variant, random),
    )


LARGEST = "The largest amount, that of {name}, is {figure} euros"


def register(random: Random, fault: str, number: int) -> Job:
    """A table of claims made in letters, with a quote for each, and their total."""
    names = people(random.randrange(3, 8), random)
    files, claims, decisions = {}, [], []
    for name in names:
        amount, decision = str(random.randrange(1000, 9999)), random.choice(("accept the claim", "reject the claim"))
        path = f"letters/{name.split()[0].lower()}.md"
        sentence = f"{name} claims {amount} euros for late delivery."
        files[path] = f"# Letter of {name}\n\n{sentence}\nWe {decision}.\n"
        claims.append(Claim(path, 3, sentence, name, amount, ""))
        decisions.append(decision)
    told, variant = with_fault(claims, fault if fault != "omitted item" else "", list(files), random)
    rows = [[one.file, one.name, one.figure, d, one.quote] for one, d in zip(told, decisions, strict=True)]
    at, prose = random.randrange(len(rows)), ""
    if variant == "another line of the file":
        rows[at][0], variant = next(path for path in files if path != rows[at][0]), "another file"
    if fault == "omitted item":
        del rows[at]
        variant = "a row"
    total = sum(int(row[2]) for row in rows)
    if contradiction := contradiction_of(number, fault):
        variant = contradiction
        total += variant == "between two figures"
        if variant == "with a source":
            rows[at][3] = {"a": "reject the claim", "r": "accept the claim"}[rows[at][3][0]]
        prose = "No claim was made for late delivery.\n" if variant == "in prose" else ""
    sums = f"The claims in the letters come to {total} euros in all."
    text = f"# Total\n\n{sums}\n{prose}It is the sum of the amounts in the table register.csv.\n"
    columns = ("file", "sender", "amount", "decision", "quote")
    criteria = [
        sources("Each letter is dealt with", kind="covers", path="register.csv", files="letters/", in_column="file"),
        *(
            sources(
                f"Each {column} is that of the letter",
                kind="quotes_occur",
                path="register.csv",
                column=column,
                source_column="file",
            )
            for column in columns[1:]
        ),
        output(
            "The total is that of the table",
            kind="count",
            path="total.md",
            figure=r"come to (\d+) euros",
            terms=[{"path": "register.csv", "of": "sum", "column": "amount"}],
        ),
        sources("What total.md says of the letters is true"),
        output("Nothing is left to be written", kind="no_placeholders", path="total.md"),
    ]
    return _job(
        ("register", "List the claims in these letters.", files),
        planned(
            "List the claims", criteria, {"register.csv": False, "total.md": False}, [sources("The answer is right")]
        ),
        {"register.csv": _csv(columns, rows), "total.md": text},
        f"The claims come to {total} euros. {prose}".strip(),
        (fault, variant, random),
    )


def interviews(random: Random, fault: str, number: int) -> Job:
    """Themes of interviews in prose, each statement with its citation, and that nobody speaks of refunds."""
    names = people(random.randrange(3, 7), random)
    contradiction = contradiction_of(number, fault)
    spoken = contradiction == "with a source"
    files, claims = {}, []
    for at, name in enumerate(names):
        days = str(random.randrange(10, 60))
        path = f"interviews/{name.split()[0].lower()}.md"
        sentence = f"{name} waited {days} days for an answer and was told why."
        more = "I asked for a refund and got none.\n" if spoken and at == 1 else ""
        files[path] = (
            f"# Interview with {name}\n\nIt took place in the office.\n{sentence}\n{more}The desk was friendly.\n"
        )
        says = random.choice(("{name} waited {figure} days", "An answer took {figure} days, says {name}"))
        quote = f"waited {days} days for an answer" if random.random() < 0.5 else f"{name} waited {days} days"
        claims.append(Claim(path, 4, quote, name, days, says))
    told, variant = with_fault(claims, fault, list(files), random)
    sentences, count = [one.cited for one in told], len(names)
    if contradiction:
        variant = contradiction
        count += variant == "between two figures"
        if variant == "in prose":
            one = told[0]
            sentences[0] = f"{one.name} was never told why: [“and was told why”]({one.file}#L{one.line})."
    themes = (
        f"# Themes\n\n{count} people were asked. Nobody speaks of a refund.\n\n## Waiting\n\n{' '.join(sentences)}\n"
    )
    criteria = [
        sources("Each interview is dealt with", kind="covers", path="themes.md", files="interviews/"),
        sources("Every statement is cited", kind="citations", path="themes.md", min=len(names)),
        sources("Nobody speaks of a refund", kind="absent", path="interviews/", terms=["refund"]),
        sources(
            "The number of people is right",
            kind="count",
            path="themes.md",
            figure=r"(\d+) people were asked",
            terms=[{"path": "interviews/", "of": "files"}],
        ),
        sources("The names, figures and statements in themes.md are those of the interviews"),
        output("Nothing is left to be written", kind="no_placeholders", path="themes.md"),
    ]
    longest = max(told, key=lambda one: int(one.figure))
    return _job(
        ("interviews", "What do these interviews say about waiting?", files),
        planned("Find the themes", criteria, {"themes.md": True}, [sources("The longest time is right")]),
        {"themes.md": themes},
        f"The longest time: {longest.cited}",
        (fault, variant, random),
    )


def looking_up(random: Random, fault: str, number: int) -> Job:
    """Figures of cities from pages of the web, and their sum. There are no files."""
    names = [f"{name.split()[1]}ville" for name in people(random.randrange(3, 6), random)]
    names = list(dict.fromkeys(names))
    pages, claims = {}, []
    for name in names:
        figure = str(random.randrange(11_000, 99_000))
        address = f"https://cities.example/{name.lower()}"
        sentence = f"In 2025 {name} had {figure} inhabitants."
        pages[address] = f"{name} at a glance\n{sentence}\nMost of them were born there.\n"
        quote = sentence.removesuffix(".") if random.random() < 0.5 else f"{name} had {figure} inhabitants"
        claims.append(Claim(address, 2, quote, name, figure, "{name} has {figure} inhabitants"))
    told, variant = with_fault(claims, fault, list(pages), random)
    if fault == "invented source":
        told = [replace(one, file=f"https://{one.file}" if one.file not in pages else one.file) for one in told]
        variant = "an address"
    if fault == "wrong place" and [one.file for one in told] == [one.file for one in claims]:
        at = random.randrange(len(told))
        others = [address for address in pages if address != told[at].file]
        told[at], variant = replace(told[at], file=random.choice(others)), "another page"
    lines = [one.cited for one in told]
    total = sum(int(one.figure) for one in claims if one.name in {other.name for other in told})
    summed = f"{' + '.join(one.figure for one in told)} = {sum(int(one.figure) for one in told)}"
    prose = ""
    if contradiction := contradiction_of(number, fault):
        variant = contradiction
        match variant:
            case "in prose":
                lines[0] = f"{told[0].name} has no inhabitants: [“{told[0].quote}”]({told[0].file})."
            case "between two figures":
                summed = f"{summed.partition(' = ')[0]} = {total + 1}"
            case _:
                prose = "There are no inhabitants in any of these cities.\n\n"
    report = "\n".join(["# Inhabitants", "", *(f"- {line}" for line in lines), "", f"{prose}In all: {summed}.", ""])
    criteria = [
        output("Each city is dealt with", kind="covers", path="report.md", items=names),
        sources("Every figure is cited", kind="citations", path="report.md", min=len(names)),
        sources("The population of each city in report.md is that of its page"),
        output("Nothing is left to be written", kind="no_placeholders", path="report.md"),
    ]
    largest = max(told, key=lambda one: int(one.figure))
    made = _job(
        ("looking up", "How many inhabitants do these cities have?", {}),
        planned("Look the cities up", criteria, {"report.md": True}, [sources("The largest city is right")]),
        {"report.md": report},
        f"The largest city: {largest.cited}",
        ("" if fault == "unread input" else fault, variant, random),
    )
    reads = list(pages)
    if fault == "unread input":
        reads.remove(random.choice(reads))
        variant = "never opened"
    noted = {address: text + NOTE for address, text in pages.items()}
    return replace(made, fault=fault, variant=made.variant or variant, reads=reads, pages=noted)


def calculating(random: Random, fault: str, number: int) -> Job:
    """Rents of tenants from an MCP server, and their average. There are neither files nor addresses to cite."""
    names = people(random.randrange(3, 6), random)
    answers, claims = {}, []
    for name in names:
        rent = str(random.randrange(1_000, 9_999))
        answers[name] = f"Tenant: {name}\n{name} pays {rent} euros a month.\n"
        claims.append(Claim(name, 2, f"{name} pays {rent} euros a month", name, rent, "{name} pays {figure} euros"))
    swapped = fault == "wrong place"
    told, variant = with_fault(claims, "" if swapped else fault, list(answers), random)
    if swapped:
        one, other = told[:2]
        told[:2] = [replace(one, figure=other.figure), replace(other, figure=one.figure)]
        variant = "of another tenant"
    lines = [f"- {one.statement} a month" for one in told]
    if fault == "invented source":
        lines[0], variant = f"{lines[0]}, see https://rents.example/{told[0].file.lower().split()[0]}", "an address"
    summed = " + ".join(one.figure for one in claims)
    computes = f"({summed}) / {len(claims)}"
    average = calculated(computes, 2).figure
    said, prose = average, ""
    if contradiction := contradiction_of(number, fault):
        variant = contradiction
        match variant:
            case "in prose":
                prose = "No rent was found for any of these tenants.\n\n"
            case "between two figures":
                said = other_figure(average.replace(",", "").partition(".")[0], random)
            case _:
                lines[0] = f"- {told[0].name} pays no rent"
    report = "\n".join(["# Rents", "", *lines, "", f"{prose}On average that is {said} euros: {computes}.", ""])
    criteria = [
        output("Each tenant is dealt with", kind="covers", path="report.md", items=names),
        sources("The rents in report.md are those of the register"),
        output("Nothing is left to be written", kind="no_placeholders", path="report.md"),
    ]
    made = _job(
        ("calculating", "What do these tenants pay on average?", {}),
        planned("Compute the average rent", criteria, {"report.md": False}, [sources("The average is right")]),
        {"report.md": report},
        f"The average rent is {average} euros.",
        ("" if fault in {"unread input", "wrong answer"} else fault, variant, random),
    )
    if fault == "wrong answer":
        figure = other_figure(average.replace(",", "").partition(".")[0], random)
        made = replace(made, answer=f"The average rent is {figure} euros.", variant="the result is right")
    reads = list(answers)
    if fault == "unread input":
        reads.remove(random.choice(reads))
        variant = "never asked for"
    noted = {name: text + NOTE for name, text in answers.items()}
    return replace(made, fault=fault, variant=made.variant or variant, reads=reads, pages=noted, computes=computes)


WORK: Sequence[Callable[[Random, str, int], Job]] = (
    contracts,
    cleaning,
    register,
    interviews,
    looking_up,
    calculating,
)


def _job(
    task: tuple[str, str, dict[str, str]],
    plan: dict[str, Any],
    writes: dict[str, str],
    answer: str,
    planted: tuple[str, str, Random],
) -> Job:
    """With what can go wrong in every kind of work: nothing was written, or something was not read."""
    domain, request, files = task
    fault, variant, random = planted
    reads, findings = list(files), f"The result stands in {', '.join(writes)}."
    if fault == "stub":
        stubbed = random.choice([path for path in writes if path.endswith(".md")])
        at = random.randrange(len(STUBS))
        writes, variant, answer = {**writes, stubbed: STUBS[at]}, f"form {at + 1}", f"It is done, see {stubbed}."
    if fault == "unread input":
        reads.remove(random.choice(reads))
        variant = "never opened"
    if fault == "wrong answer":
        answer, variant = with_wrong_figure(answer, random), "the result is right"
    if noted := next((path for path in files if path.endswith(".md")), ""):
        files = {**files, noted: files[noted] + NOTE}
    return Job(domain, request, files, plan, reads, writes, findings, answer, fault, variant)


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
