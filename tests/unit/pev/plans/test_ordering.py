"""The order of steps: what comes before what, at which level, and where a circle is."""

from hypothesis import given
from hypothesis import strategies as st

from runs.pev.plans.ordering import ancestors, ancestors_of, cycle_in, levels


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Up to eight steps; each depends on some of those before it, so that there is no circle."""
    names = [f"s{n}" for n in range(draw(st.integers(1, 8)))]
    return {name: draw(st.lists(st.sampled_from(names[:i]), max_size=3)) if i else [] for i, name in enumerate(names)}


def test_a_step_that_depends_on_itself_is_a_circle() -> None:
    assert cycle_in({"a": ["a"]}) == ["a", "a"]


def test_a_circle_is_named_from_its_first_step_back_to_it() -> None:
    found = cycle_in({"a": ["c"], "b": ["a"], "c": ["b"], "d": []})
    assert found[0] == found[-1]
    assert sorted(found[1:]) == ["a", "b", "c"]


def test_a_long_chain_costs_no_recursion() -> None:
    chain = {f"s{n}": [f"s{n - 1}"] if n else [] for n in range(5_000)}
    assert cycle_in(chain) == []
    assert levels(chain)["s4999"] == 4_999


def test_levels_count_the_longest_way() -> None:
    assert levels({"a": [], "b": ["a"], "c": ["a", "b"], "d": []}) == {"a": 0, "b": 1, "c": 2, "d": 0}


def test_ancestors_are_all_that_is_finished_before() -> None:
    assert ancestors({"a": [], "b": ["a"], "c": ["b"], "d": []}) == {
        "a": frozenset(),
        "b": {"a"},
        "c": {"a", "b"},
        "d": frozenset(),
    }


@given(graphs())
def test_every_dependency_stands_on_a_lower_level_and_among_the_ancestors(graph: dict[str, list[str]]) -> None:
    level, before = levels(graph), ancestors(graph)
    assert cycle_in(graph) == []
    assert before == {name: ancestors_of(name, graph) for name in graph}
    assert set(level) == set(graph) == set(before)
    for name, dependencies in graph.items():
        for dependency in dependencies:
            assert level[dependency] < level[name]
            assert {dependency} | before[dependency] <= before[name]


@given(graphs(), st.data())
def test_an_edge_back_to_an_ancestor_is_found(graph: dict[str, list[str]], data: st.DataObject) -> None:
    pairs = [(one, other) for other, before in sorted(ancestors(graph).items()) for one in sorted(before)]
    if not pairs:
        return
    early, late = data.draw(st.sampled_from(pairs))
    circle = cycle_in({**graph, early: [*graph[early], late]})
    assert circle[0] == circle[-1]
    assert len(circle) >= 3
