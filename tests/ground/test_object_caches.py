"""What is made for an object lives as long as it does, and is copied with nothing."""

import copy
import pickle

import pytest

from fluidlite.ground.belongings import belongings


class Thing:
    pass


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
)
def test_a_copy_begins_without(duplicate):
    thing = Thing()
    belongings(thing)["maker"] = lambda: thing  # which no file takes
    copied = duplicate(thing)
    assert belongings(copied) == {}
    belongings(copied)["maker"] = 1
    assert belongings(copied) == {"maker": 1} and callable(belongings(thing)["maker"])


def test_an_object_without_attributes_keeps_nothing():
    thing = object()
    belongings(thing)["maker"] = 1
    assert belongings(thing) == {}
