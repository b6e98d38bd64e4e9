"""The cache of an object stays with it: copies begin with an empty one."""

import copy
import pickle

import pytest

from fluidlite.ground.object_caches import cache_of


class Thing:
    pass


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
)
def test_a_copy_begins_without(duplicate):
    thing = Thing()
    cache_of(thing)["maker"] = lambda: thing  # which no file takes
    copied = duplicate(thing)
    assert cache_of(copied) == {}
    cache_of(copied)["maker"] = 1
    assert cache_of(copied) == {"maker": 1} and callable(cache_of(thing)["maker"])


def test_an_object_without_attributes_keeps_nothing():
    thing = object()
    cache_of(thing)["maker"] = 1
    assert cache_of(thing) == {}
