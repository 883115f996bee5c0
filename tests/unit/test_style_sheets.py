"""Style sheets: one scale of type, which tokens.css owns."""

import re
from itertools import pairwise

from tests.installation import ROOT

STYLES = ROOT / "static" / "css"
OF_THE_SCALE = re.compile(r"var\(--size-[a-z]+\)|inherit|0|[\d.]+em|[\d.]+pt")
"""Or a part of what is around it, or on paper."""


def test_every_size_of_type_is_one_of_the_scale() -> None:
    found = {
        f"{path.name}: {size}"
        for path in STYLES.rglob("*.css")
        for size in re.findall(r"[{;\s]font-size:\s*([^;]+);", path.read_text())
        if path.name != "icons.css" and not OF_THE_SCALE.fullmatch(size)
    }
    assert found == set()


def test_the_ranks_of_a_page_differ_in_size() -> None:
    text = (STYLES / "tokens.css").read_text()
    sizes = [float(size) for size in re.findall(r"--size-\w+: ([\d.]+)rem;", text.partition("@media")[0])]
    assert sizes == sorted({*sizes}), "each rank once, the smallest first"
    assert all(larger / size >= 1.08 for size, larger in pairwise(sizes))
