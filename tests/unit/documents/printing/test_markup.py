"""Markdown as blocks: what is nested too deeply for the parser is said to be left out."""

import pytest

from runs.documents.printing.markup import MAX_NESTING, TOO_DEEP, blocks_here


@pytest.mark.parametrize("mark", ["- ", "> ", "1. "])
def test_what_is_left_out_is_said(mark: str) -> None:
    assert blocks_here(f"{mark * 30}Text", "known:", 1)[0] == TOO_DEEP


@pytest.mark.parametrize(("mark", "levels"), [("- ", 2), ("> ", 1)])
def test_what_is_just_not_too_deep_is_whole(mark: str, levels: int) -> None:
    def found(times: int) -> tuple[bool, bool]:
        blocks = blocks_here(f"{mark * times}Text", "known:", 1)
        return blocks[0] == TOO_DEEP, "Text" in str(blocks)

    assert found(MAX_NESTING // levels - 1) == (False, True)
    assert found(MAX_NESTING // levels) == (True, False)
