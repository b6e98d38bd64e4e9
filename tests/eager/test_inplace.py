"""Writing in place: versions, what is refused, what shares elements."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import InplaceError, OverwrittenError, ShapeError


def leaf(values):
    return fluid.to_tensor(np.array(values, "float32"), stop_gradient=False)


def test_versions_count_writes_but_not_new_values():
    x = fluid.to_tensor([1.0, 2.0])
    x[0] = 3.0
    x.add_(fluid.to_tensor([1.0, 1.0]))
    assert x.inplace_version == 2
    x.set_value(np.zeros(2, "float32"))
    assert x.inplace_version == 2
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("write", [lambda x: x.__setitem__(0, 5.0), lambda x: x.add_(1.0)])
def test_a_leaf_that_wants_a_gradient_is_not_written(write):
    x = leaf([1.0, 2.0])
    x.name = "w"
    with pytest.raises(InplaceError) as error:
        write(x)
    assert "tensor 'w' (float32[2]) is a leaf" in str(error.value)
    assert "no_grad" in str(error.value)
    assert __file__ in str(error.value)
    with fluid.no_grad():
        write(x)
    assert x.is_leaf
    assert not x.stop_gradient


def test_a_leaf_that_wants_a_gradient_is_assigned_what_has_no_past():
    x, v = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    fluid.assign((v * 2.0).detach(), x)
    assert (x.tolist(), x.is_leaf, x.stop_gradient) == ([6, 8], True, False)
    fluid.sum(x * x).backward()
    np.testing.assert_array_equal(x.grad, [12, 16])
    assert v.grad is None
    with pytest.raises(InplaceError, match="is a leaf that wants a gradient"):
        fluid.assign(v * 2.0, x)
    assert x.tolist() == [6, 8]


def test_what_backward_needs_must_not_be_assigned_to():
    x = leaf([1.0, 2.0])
    loss = fluid.sum(x * x)
    fluid.assign(fluid.zeros([2]), x)
    with pytest.raises(OverwrittenError):
        loss.backward()


def test_a_parameter_is_assigned_its_new_value_by_a_layer():
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(2, 1)
        before = layer.weight
        fluid.layers.assign((layer.weight * 0.0 + 2.0).detach(), layer.weight)
        assert layer.weight is before
        out = layer(fluid.dygraph.to_variable(np.ones([1, 2], "float32")))
        out.backward()
        np.testing.assert_array_equal(out.numpy(), [[4]])
        np.testing.assert_array_equal(layer.weight.gradient(), [[1], [1]])


def test_an_element_that_is_overwritten_gets_no_gradient():
    x, v = leaf([1.0, 2.0, 3.0]), leaf(4.0)
    m = x * 2.0
    m[1] = v * v
    fluid.sum(m * m).backward()
    np.testing.assert_array_equal(x.grad, [8, 0, 24])
    np.testing.assert_array_equal(v.grad, 256)


def test_a_constant_becomes_a_result():
    x, base = leaf([1.0, 2.0]), fluid.zeros([3])
    base[1:] = x * 3.0
    assert not base.is_leaf
    fluid.sum(base * base).backward()
    np.testing.assert_array_equal(x.grad, [18, 36])


def test_what_backward_needs_must_not_be_overwritten():
    x = leaf([1.0, 2.0])
    m = fluid.exp(x)
    m.name = "scores"
    z = m * m
    m[0] = 5.0
    with pytest.raises(OverwrittenError) as error:
        fluid.sum(z).backward()
    message = str(error.value)
    assert "operator elementwise_mul needs tensor 'scores' (float32[2])" in message
    assert "clone()" in message


def test_a_result_that_backward_needs_must_not_be_overwritten():
    x = leaf([1.0, 2.0])
    m = fluid.exp(x)
    m[0] = 5.0
    with pytest.raises(OverwrittenError, match=f"operator exp needs its result.*{__file__}"):
        fluid.sum(m).backward()


def test_what_backward_does_not_need_may_be_overwritten():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    m = x * 2.0
    z = m + w
    m[0] = 5.0
    fluid.sum(z).backward()
    np.testing.assert_array_equal(x.grad, [2, 2])


def test_a_write_uses_the_elements_from_before():
    x = leaf([0.5, 1.0])
    m = x * 1.0
    m.sin = None  # tensors have attributes like any object
    m.write(fluid.sin)
    fluid.sum(m).backward()
    np.testing.assert_allclose(x.grad, np.cos([0.5, 1.0]), 1e-6)


def test_a_write_keeps_shape_and_type():
    x = fluid.to_tensor([1.0, 2.0])
    with pytest.raises(InplaceError, match="cannot change the shape"):
        x.add_(fluid.ones([3, 2]))
    x.add_(fluid.ones([2], "float64"))
    assert x.dtype == fluid.float32
    x.unsqueeze_(0)
    assert x.shape == [1, 2]


def test_detached_tensors_share_what_is_written():
    x = leaf([1.0, 2.0])
    m = x * 1.0
    d = m.detach()
    z = m * m
    d[0] = 7.0
    assert m.tolist() == [7, 2]
    assert m.inplace_version == d.inplace_version == 1
    with pytest.raises(OverwrittenError):
        fluid.sum(z).backward()


def test_detach_in_place_cuts_off():
    x = leaf([1.0, 2.0])
    m = x * x
    m.detach_()
    fluid.sum(m * x).backward()
    np.testing.assert_array_equal(x.grad, [1, 4])


def test_new_values_are_what_backward_sees():
    x = leaf([1.0, 2.0])
    y = fluid.sum(x * x)
    x.set_value(np.array([10.0, 20.0]))
    y.backward()
    np.testing.assert_array_equal(x.grad, [20, 40])
    with pytest.raises(ShapeError, match=r"expected a value of shape \[2\].*got \[3\]"):
        x.set_value(np.zeros(3))


def test_arrays_that_were_given_or_taken_are_not_written():
    array = np.ones(2, "float32")
    x = fluid.to_tensor(array)
    taken, copied = x.numpy(), x.clone()
    x[0] = 5.0
    x.zero_()
    assert array.tolist() == taken.tolist() == [1, 1]
    assert copied.tolist() == [1, 1]
    taken[0] = 9.0
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        ("add_", (1.0,), [2, 5]),
        ("subtract_", (1.0,), [0, 3]),
        ("multiply_", (2.0,), [2, 8]),
        ("divide_", (2.0,), [0.5, 2]),
        ("scale_", (2.0, 1.0), [3, 9]),
        ("clip_", (2.0, 3.0), [2, 3]),
        ("sqrt_", (), [1, 2]),
        ("rsqrt_", (), [1, 0.5]),
        ("reciprocal_", (), [1, 0.25]),
        ("zero_", (), [0, 0]),
        ("fill_", (7,), [7, 7]),
        ("exp_", (), np.exp([1, 4])),
        ("tanh_", (), np.tanh([1, 4])),
    ],
)
def test_functions_that_write_in_place(name, arguments, expected):
    x = fluid.to_tensor([1.0, 4.0])
    assert getattr(x, name)(*arguments) is x
    np.testing.assert_allclose(x, expected, 1e-6)
    assert x.inplace_version == 1
