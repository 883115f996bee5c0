"""The documents say what is true: they have every rule that is cited, every setting, every layer, and real names."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from pevsite.environment import FIELDS
from runs.management.commands import document_settings

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT, ROOT / ".github", ROOT / "docs", ROOT / "docs/api", ROOT / "docs/decisions", ROOT / "tests/bench")
PAGES = [page for folder in FOLDERS for page in folder.glob("*.md")]


@pytest.mark.slow
def test_every_rule_that_is_cited_stands_in_the_rules() -> None:
    rules = set(re.findall(r"^\* \*\*([TGDS]\d+[a-z]?)\*\* ", (ROOT / "docs/rules.md").read_text(), re.MULTILINE))
    cited = {
        rule
        for folder in ("pevsite", "runs", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for rule in re.findall(r"\b[TGDS]\d{1,2}[a-z]?\b", path.read_text())  # ruff's codes have three figures
    }
    assert cited - rules == set()


def test_the_page_of_settings_is_made_from_their_table() -> None:
    assert (ROOT / "docs/settings.md").read_text() == document_settings.page()


@pytest.mark.slow
def test_every_variable_that_is_named_is_a_setting() -> None:
    name = re.compile(r"\b(?:PEV|ANTHROPIC)_[A-Z][A-Z_]*[A-Z]\b")
    folders = [path for folder in ("pevsite", "runs") for path in (ROOT / folder).rglob("*.py")]
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {found for path in [*folders, *documents] for found in name.findall(path.read_text())}
    assert {found for found in named if found not in FIELDS} == set()


def test_the_layers_are_drawn_as_the_linter_holds_them() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [[name.strip() for name in layer.split("|")] for layer in contracts[0]["layers"]]
    text = (ROOT / "docs/architecture.md").read_text()
    drawing = text[text.index("```text\n") : text.index("```\n\n`pevsite/`")]
    drawn = [re.findall(r"runs/\w+(?:/|\.py)", line) for line in drawing.splitlines() if line.startswith("runs/")]
    assert drawn == [[path_of(name) for name in layer] for layer in layers]


def test_the_packages_of_pev_are_drawn_as_the_linter_holds_them() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    pev = next(contract for contract in contracts if contract.get("containers") == ["runs.pev"])
    layers = [layer.replace(" ", "").split("|") for layer in pev["layers"]]
    text = (ROOT / "docs/architecture.md").read_text()
    section = text[text.index("## The packages of pev") : text.index("## What runs in a process")]
    drawn = re.findall(r"runs/pev/\w+(?:/|\.py)", section[section.index("```text\n") :])
    assert drawn == [path_of(f"pev/{name}") for layer in layers for name in layer]


def path_of(module: str) -> str:
    return f"runs/{module}/" if (ROOT / "runs" / module).is_dir() else f"runs/{module}.py"


@pytest.mark.slow
def test_paths_and_names_in_the_documents_exist() -> None:
    texts = [path.read_text() for path in PAGES]
    form = re.compile(r"`((?:docs|pevsite|runs|static|templates|tests)/[\w/.-]+)(?:::(\w+))?`")
    named = [found for text in texts for found in form.findall(text)]
    assert len(named) > 80
    assert [path for path, _ in named if not (ROOT / path).exists()] == []
    assert [f"{path}::{name}" for path, name in named if name and name not in names_in(ROOT / path)] == []


@pytest.mark.slow
def test_names_in_docstrings_and_comments_exist() -> None:
    sources = [path.read_text() for folder in ("pevsite", "runs") for path in (ROOT / folder).rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"`((?:pevsite|runs)(?:\.\w+)+)`", text)}
    assert len(named) > 15
    assert {name for name in named if not _is_there(name)} == set()


def _is_there(dotted: str) -> bool:
    """Whether it is a package, a module, or something at the top of a module."""
    path = ROOT / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    module, _, name = dotted.rpartition(".")
    module_path = (ROOT / module.replace(".", "/")).with_suffix(".py")
    return module_path.exists() and name in names_in(module_path)


@cache
def names_in(path: Path) -> set[str]:
    """The functions, classes and constants at the top of a module."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def test_links_between_the_documents_lead_somewhere() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())]
    assert len(links) > 10
    assert [link for page, link in links if not (page.parent / link).exists()] == []


def test_the_first_page_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert (len(lines) <= 120, [line for line in lines if len(line) > 120]) == (True, [])


def test_every_decision_is_in_their_index() -> None:
    folder = ROOT / "docs/decisions"
    named = re.findall(r"\]\(([^)]+)\)", (folder / "README.md").read_text())
    assert named == sorted(path.name for path in folder.glob("0*.md"))


def test_links_to_sections_lead_to_a_heading() -> None:
    texts = [(page, re.sub(r"`[^`\n]*`", "", page.read_text())) for page in PAGES]  # links in code are examples
    links = [(page, link) for page, text in texts for link in re.findall(r"\]\(([^):]*#[^)]+)\)", text)]
    assert len(links) > 30
    lost = []
    for page, link in links:
        name, _, section = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if section not in sections_of(target):
            lost.append((page.name, link))
    assert lost == []


@cache
def sections_of(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
