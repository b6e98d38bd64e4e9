"""Elements that are put at places which are named several times."""

import numpy as np
import pytest

from fluidlite.backend import numpy_


@pytest.mark.parametrize("turned", [False, True])
def test_of_places_that_are_named_twice_the_last_one_stays_in_every_layout(turned):
    index = np.array([[0, 0, 2], [1, 0, 2]])
    values = np.arange(6.0).reshape(2, 3)
    if turned:
        index, values = np.asfortranarray(index)[:, ::-1], values[:, ::-1]
    wanted = np.zeros(3)
    for place, value in zip(index.ravel(), values.ravel()):
        wanted[place] = value
    assert numpy_.scatter_set(np.zeros(3), index, values).tolist() == wanted.tolist()
    assert numpy_.scatter_set(np.zeros(3), (index,), values).tolist() == wanted.tolist()
