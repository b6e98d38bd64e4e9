"""Ranges of fed numbers that suffice for the truths of a traced function."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

from fluidlite.runtime.xla import guard  # noqa: E402
from fluidlite.runtime.xla.ranges import Ranges, looked_at  # noqa: E402


def found(truth, *arrays):
    """The ranges of inputs that suffice for a truth; None where they do not."""
    jaxpr = jax.jit(truth).trace(*arrays).jaxpr.jaxpr
    ranges = Ranges(jaxpr, range(len(arrays)))
    return ranges.found if ranges.suffice(jaxpr.outvars[0]) else None


IDS = np.zeros((2, 3), "int32")


def inside(x, size=5):
    return ((x >= 0) & (x < size)).all()


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: x,
        lambda x: x.reshape(-1),
        lambda x: x.T[:, None],
        lambda x: jnp.concatenate([x, x], 1),
        lambda x: x[:, 1:],
        lambda x: jnp.where(x == -7, 4, x),
        jax.jit(lambda x: x[0]),
    ],
)
def test_what_moves_or_chooses_elements_keeps_their_range(moved):
    assert found(lambda x: inside(moved(x)), IDS) == {0: (0, 4)}


def test_each_comparison_has_its_bound():
    assert found(lambda x: ((x > 1) & (x <= 6)).all(), IDS) == {0: (2, 6)}


def test_the_narrowest_of_several_ranges_is_found():
    assert found(lambda x: inside(x, 9) & inside(x, 4), IDS) == {0: (0, 3)}


@pytest.mark.parametrize(
    "truth",
    [
        lambda x: inside(x + 1),
        lambda x: inside(x.sum()),
        lambda x: inside(x.astype("int8")),
        lambda x: inside(jnp.where(x == 0, 7, x)),
        lambda x: (x != 3).all(),
        lambda x: (x < 5).any(),
        lambda x: (x.astype("float32") < 5).all(),
        lambda x: (x < x[0, 0]).all(),
    ],
)
def test_what_does_not_follow_from_ranges_has_none(truth):
    assert found(truth, IDS) is None


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("least, largest", [(0, 4), (2, 6)])
def test_arrays_are_looked_at_element_by_element(dtype, least, largest):
    within = looked_at({3: (least, largest)}, [2, 3])
    other = np.full(2, 99)
    assert within(other, np.array([[least], [largest]], dtype))
    assert within(other, np.zeros((0, 1), dtype))
    assert not within(other, np.array([least, largest + 1], dtype))
    assert not within(other, np.array([least, 0], dtype) - np.array([0, 1], dtype))
    assert not within(other, np.asfortranarray(np.full((3, 2), largest + 1, dtype))[::2])


def test_what_ranges_refuse_the_function_itself_decides():
    def step(label):
        return [label], [inside(jnp.where(label == -100, 0, label))]

    holds = guard.guard_of(jax.jit(step).trace(IDS), [0])
    assert holds(IDS)
    assert holds(IDS - 100)
    assert not holds(IDS - 1)
    assert not holds(IDS + 5)


def test_what_is_always_true_needs_no_range():
    assert found(lambda x: inside(x) & np.True_, IDS) == {0: (0, 4)}
    assert found(lambda x: True, IDS) == {}
