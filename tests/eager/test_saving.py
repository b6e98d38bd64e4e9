"""Hooks around what is kept for gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, OverwrittenError, ShapeError

hooks = fluid.autograd.saved_tensors_hooks


class Store:
    """Keeps tensors under numbers."""

    def __init__(self):
        self.arrays, self.read = [], []

    def pack(self, tensor):
        self.arrays.append(tensor.clone().numpy())
        return len(self.arrays) - 1

    def unpack(self, number):
        self.read.append(number)
        return fluid.to_tensor(self.arrays[number])


def leaf(values):
    return fluid.to_tensor(np.array(values, "float64"), stop_gradient=False)


def function(x):
    """Operators that keep inputs, outputs, lists, nothing; with several outputs."""
    a, b = fluid.split(fluid.concat([fluid.exp(x), x * x]), 2)
    values, _ = fluid.topk(a * b + fluid.nn.functional.softmax(x), 2)
    return fluid.nn.functional.layer_norm(fluid.matmul(values, values) * x, [3]) * x


def test_gradients_of_every_order_are_the_same():
    found = []
    for packed in (False, True):
        store, x = Store(), leaf([0.5, -1.0, 2.0])
        if packed:
            with hooks(store.pack, store.unpack):
                y = function(x)
        else:
            y = function(x)
        (slope,) = fluid.grad(y, x, create_graph=True)
        (second,) = fluid.grad((slope * slope).sum(), x)
        found.append([y.tolist(), slope.tolist(), second.tolist()])
    np.testing.assert_allclose(found[0][0], found[1][0], 0)
    for plain, packed in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(packed, plain, 1e-13)
    assert len(set(store.read)) > 5


def test_what_is_kept_is_packed_and_nothing_else():
    store, x = Store(), leaf([1.0, 2.0])
    with hooks(store.pack, store.unpack):
        y = (x + x) * 2.0  # a sum keeps nothing
        assert not store.arrays
        z = fluid.tanh(y)
    z * z
    assert [a.tolist() for a in store.arrays] == [z.tolist()]
    assert not store.read
    z.backward()
    assert store.read == [0]


def test_values_may_be_kept_smaller():
    x = leaf([1.0, 2.0])
    with hooks(lambda t: t.numpy().astype("float16"), lambda a: fluid.to_tensor(a.astype(float))):
        y = x * x
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_inner_hooks_win_and_outer_ones_come_back():
    outer, inner, x = Store(), Store(), leaf([1.0])
    with hooks(outer.pack, outer.unpack):
        with hooks(inner.pack, inner.unpack):
            x * x
        assert (len(outer.arrays), len(inner.arrays)) == (0, 2)
        x * x
    x * x
    assert (len(outer.arrays), len(inner.arrays)) == (2, 2)


def test_a_result_that_is_written_in_place_is_still_missed():
    store, x = Store(), leaf([1.0])
    with hooks(store.pack, store.unpack):
        y = fluid.tanh(x)
    y.add_(x)
    with pytest.raises(OverwrittenError):
        y.backward()


def test_what_does_not_come_back_is_refused():
    x = leaf([1.0])
    with hooks(lambda t: t, lambda t: 3):
        y = x * x
    with pytest.raises(ArgumentError, match="expected unpack to give a tensor, got 3"):
        y.backward()
    with hooks(lambda t: t, lambda t: fluid.zeros([2])):
        y = x * x
    with pytest.raises(ShapeError, match=r"give back float64\[1\], got float32\[2\]"):
        y.backward()
    with pytest.raises(ArgumentError, match="expected pack_hook to be a function, got 3"):
        hooks(3, 4)
