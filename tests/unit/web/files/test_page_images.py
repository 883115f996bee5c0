"""The part of a page that is cut out around a place."""

from runs.store.page_pictures import Rectangle
from runs.web.files.page_images import Leaf


def test_what_is_around_the_place_is_cut_out_of_the_page() -> None:
    leaf = Leaf(2, 6, "", [Rectangle(0.6, 0.5, 0.9, 0.52)], (), height=1.5)
    assert leaf.units == 1_500
    assert leaf.boxes == [(600, 750, 300, 30)]
    assert leaf.crop == (525, 710, 450, 110)
    assert (leaf.before, leaf.after) == (1, 3)


def test_a_place_across_the_page_is_not_cut_out() -> None:
    assert Leaf(1, 1, "", [Rectangle(0.05, 0.5, 0.95, 0.52)], ()).crop is None
    assert Leaf(1, 1, "", (), ()).crop is None
    assert (Leaf(1, 1, "", (), ()).before, Leaf(1, 1, "", (), ()).after) == (0, 0)
