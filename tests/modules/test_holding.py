"""Layers and modules that are lists find their places alike."""

import pytest

import fluidlite as fluid
from fluidlite import errors, flow

LISTS = [(fluid.nn.LayerList, fluid.nn.Linear), (flow.nn.ModuleList, flow.nn.Linear)]


def sizes(held):
    return [each.weight.array.size for each in held]


@pytest.mark.parametrize("kind, make", LISTS)
def test_a_list_takes_and_gives_by_place(kind, make):
    held = kind([make(1, n) for n in (1, 2, 3)])
    held[-1] = make(1, 4)
    held.insert(1, make(1, 5))
    assert sizes(held) == [1, 5, 2, 4]
    assert sizes(held[1:3]) == [5, 2]
    del held[0]
    assert sizes(held.extend([make(1, 6)])) == [5, 2, 4, 6]
    assert [name for name, _ in held.named_children()] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("kind, make", LISTS)
def test_a_place_that_there_is_not_is_refused(kind, make):
    held = kind([make(1, 1)])
    with pytest.raises(errors.OutOfRangeError, match=r"expected an index in \[-1, 1\), got 1"):
        held[1]
    with pytest.raises(errors.ArgumentError, match="expected an integer as an index, got 'a'"):
        held["a"]
    with pytest.raises(IndexError):
        held[-2] = make(1, 2)
    assert sizes(held) == [1]
