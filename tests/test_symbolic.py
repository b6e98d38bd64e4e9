"""Methods of variables are those of tensors, and compute the same."""

import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.methods import Methods
from fluidlite.errors import ArgumentError

X = np.random.RandomState(0).rand(2, 3).astype("float32") + 0.1
METHODS = [name for name, value in vars(Methods).items() if callable(value) and name[0] != "_"]


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"astype", "layer"}))
def test_a_method_of_a_variable_looks_like_that_of_a_tensor(name):
    x = fluid.data("x", [None, 3], "float32")
    method = getattr(x, name)
    assert inspect.signature(method) == inspect.signature(getattr(fluid.ones([2, 3]), name))
    assert method.__doc__ == getattr(Methods, name).__doc__ and name in dir(x)


def test_gradients_flow_through_methods():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    loss = x.square().reshape([-1]).logsumexp() + x.var() + x.max(0).sum()
    (g,) = fluid.gradients(loss, x)
    (found,) = fluid.Executor().run(feed={"x": X}, fetch_list=[g])
    t = fluid.to_tensor(X, stop_gradient=False)
    (t.square().reshape([-1]).logsumexp() + t.var() + t.max(0).sum()).backward()
    np.testing.assert_allclose(found, t.grad.numpy(), rtol=1e-4)


def test_a_line_of_the_user_is_that_of_the_call():
    x = fluid.data("x", [None, 3], "float32")
    y = x.sum(1)
    assert "test_symbolic.py" in repr(y)


def test_a_size_that_is_unknown_is_a_named_error():
    x = fluid.data("x", [None, 3], "float32")
    before = len(fluid.default_main_program().global_block().ops)
    with pytest.raises(
        ArgumentError, match="unstack .* computes with a size of a variable that is unknown"
    ):
        x.unstack()
    assert len(fluid.default_main_program().global_block().ops) == before


def test_there_is_no_other_attribute():
    x = fluid.data("x", [None, 3], "float32")
    assert not hasattr(x, "nonsense") and not hasattr(x, "_nonsense")
    with pytest.raises(AttributeError, match="Variable has no attribute 'nonsense'"):
        x.nonsense  # noqa: B018
