"""Methods of variables are those of tensors, and compute the same."""

import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.imperative.methods import Methods
from fluidlite.symbolic import METHODS

rng = np.random.RandomState(0)
X, Y = (rng.rand(2, 3).astype("float32") + 0.1 for _ in "xy")
Z = rng.rand(3, 2).astype("float32")
IDS = np.array([1, 0])
PLACES = np.array([[0, 2, 1], [2, 2, 0]])
NUMBERS = np.array([[7, -3, 4], [1, 5, -6]])
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "mod", "floor_mod"]
BINARY += ["pow", "maximum", "minimum", "atan2", "equal", "not_equal", "less_than", "less_equal"]
BINARY += ["greater_than", "greater_equal", "logical_and", "logical_or", "logical_xor", "isclose"]
BINARY += [
    "allclose",
    "equal_all",
    "dot",
    "dist",
    "expand_as",
    "logaddexp",
    "hypot",
    "fmax",
    "fmin",
]
BINARY += ["inner", "kron", "view_as"]
#: method -> the arguments of its calls; none where it is not listed
CALLS = {
    **{name: [(Y,)] for name in BINARY},
    "maximum": [(Y,), (0.5,)],
    "outer": [(Y,)],
    "lerp": [(Y, 0.25)],
    **{name: [(Z,)] for name in ("matmul", "mm", "bmm")},
    "mv": [(np.ones(3, "float32"),)],
    "clip": [(0.2, 0.8)],
    "cast": [("float64",)],
    "astype": [("int32",)],
    **{
        name: [(), (0,), ([0, 1],), (-1, True)]
        for name in ("mean", "max", "min", "amax", "amin", "prod", "all", "any", "logsumexp")
    },
    "sum": [(), (0,), ([0, 1],), (1, "float64"), (1, None, True)],
    "var": [(), (0,), (1, False), (0, True, True)],
    "std": [(), (0,), (1, False)],
    "norm": [(), ("fro", 1), (1, 0), (3.0,)],
    "cumsum": [(), (1,)],
    "argmax": [(), (1,), (0, True)],
    "argmin": [(), (1,)],
    "cumprod": [(1,)],
    "median": [(1,)],
    "reshape": [([3, -1],), (3, 2), ([-1],)],
    "flatten": [(), (1,)],
    "squeeze": [(), (0,)],
    "unsqueeze": [(0,), ([0, 2],)],
    "transpose": [([1, 0],), (1, 0)],
    "moveaxis": [(0, 1)],
    "swapaxes": [(0, 1)],
    "split": [(3, 1), ([1, -1], 1)],
    "chunk": [(3, 1)],
    "unstack": [(1,)],
    "unbind": [(1,)],
    "expand": [([4, 2, 3],), ([-1, 3],)],
    "broadcast_to": [([4, 2, 3],)],
    "tile": [([2, 1],), ([2, 1, 1],)],
    "flip": [(0,), ([0, 1],)],
    "roll": [(1,), (1, 1)],
    "repeat_interleave": [(2, 1)],
    "gather": [(IDS,), (IDS, 1)],
    "gather_nd": [(np.array([[0, 1], [1, 2]]),)],
    "index_select": [(IDS,), (IDS, 1)],
    "index_sample": [(PLACES,)],
    "take_along_axis": [(PLACES, 1)],
    "put_along_axis": [(PLACES[:, :2], 5.0, 1, "add")],
    "scatter": [(IDS, Y), (IDS, Y, False)],
    "scatter_nd_add": [(np.array([[0], [1]]), Y)],
    "masked_fill": [(X > 0.5, 2.0)],
    "masked_select": [(X > 0.5,)],
    "where": [(Y, X), (Y, 0.0), (0.0, Y), ()],
    "nonzero": [(), (True,)],
    "sort": [(), (0, True)],
    "argsort": [(), (0,)],
    "topk": [(2,), (1, 0)],
    "tensordot": [(Z, 1), (Y, [[1], [1]])],
    "addmm": [(np.ones([2, 2], "float32"), X, 0.5)],
    "cross": [(Y, 1)],
    **{name: [(NUMBERS,)] for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "diagonal": [(), (1,)],
    "diag_embed": [(), (-1, 0, 1)],
    "rot90": [(), (2,), (3,)],
    "view": [([3, -1],)],
    "unflatten": [(1, [3, -1])],
    "vsplit": [(2,)],
    "diff": [(), (1, 0)],
    "kthvalue": [(2,)],
    "quantile": [(0.3,), (0.3, 1)],
    "index_add": [(IDS, 0, Y), (IDS, 1, X[:, :2])],
    "index_fill": [(IDS, 0, 2.0)],
    "index_put": [([IDS], 2.0)],
    "take": [(IDS,)],
}
#: those of integers
OF_INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}
#: those that look at elements: of tensors only
OF_TENSORS = {
    "bincount": (),
    "bucketize": (np.ones(3, "float32"),),
    "cummax": (1,),
    "cummin": (1,),
    "histogram": (),
    "multinomial": (),
    "unique_consecutive": (),
}
#: the calls that need a size, which is not declared: those of other calls are
NEEDS_SIZES = {("put_along_axis", 0), ("topk", 1), ("unique", 0), ("diagflat", 0), ("quantile", 0)}
REFUSED = {"unique": (), "put_along_axis": (PLACES, 5.0, 1)}
CASES = [
    (name, k)
    for name in METHODS
    if name not in OF_TENSORS
    for k in range(len(CALLS.get(name, [()])))
]


def of(name):
    return PLACES if name in OF_INTEGERS else X


def in_program(name, arguments, rows):
    """What a method of a variable gives; arrays among the arguments are fed, too."""
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        feed, given = {}, []
        for k, value in enumerate((of(name), *arguments)):
            if isinstance(value, np.ndarray):
                shape = [rows if n == 2 else n for n in value.shape] if value.ndim == 2 else None
                value_name = f"x{k}"
                feed[value_name] = value
                value = fluid.data(value_name, shape or value.shape, str(value.dtype))
            given.append(value)
        out = getattr(given[0], name)(*given[1:])
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        return fluid.Executor().run(fluid.default_main_program(), feed=feed, fetch_list=outs)


def at_once(name, arguments):
    arrays = (of(name), *arguments)
    given = [fluid.to_tensor(v) if isinstance(v, np.ndarray) else v for v in arrays]
    out = getattr(given[0], name)(*given[1:])
    return [v.numpy() for v in (out if isinstance(out, (list, tuple)) else [out])]


@pytest.mark.parametrize("rows", [2, None])
@pytest.mark.parametrize("name, k", CASES)
def test_a_method_of_a_variable_computes_what_that_of_a_tensor_does(name, k, rows):
    arguments = CALLS.get(name, [()])[k]
    if name in REFUSED and rows:
        with pytest.raises(ArgumentError, match="has no elements before the program runs"):
            in_program(name, REFUSED[name], rows)
        return
    if rows is None and (name, k) in NEEDS_SIZES:
        arguments = REFUSED.get(name, arguments)
        with pytest.raises(ArgumentError, match="before the program runs|is unknown"):
            in_program(name, arguments, rows)
        return
    found, wanted = in_program(name, arguments, rows), at_once(name, arguments)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.shape == (other.shape or (1,))
        assert one.dtype == other.dtype or {one.dtype.kind, other.dtype.kind} <= {"i", "u"}
        np.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OF_TENSORS)
def test_a_method_that_looks_at_elements_says_so(name):
    with pytest.raises(ArgumentError, match="has no elements before the program runs"):
        in_program(name, OF_TENSORS[name], 2)


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"astype"}))
def test_a_method_of_a_variable_looks_like_that_of_a_tensor(name):
    x = fluid.data("x", [None, 3], "float32")
    method = getattr(x, name)
    assert inspect.signature(METHODS[name]) == inspect.signature(getattr(Methods, name))
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
    with pytest.raises(ArgumentError, match="a size of the variable is unknown"):
        x.unstack()
    assert len(fluid.default_main_program().global_block().ops) == before


def test_there_is_no_other_attribute():
    x = fluid.data("x", [None, 3], "float32")
    assert not hasattr(x, "nonsense") and not hasattr(x, "_nonsense")
    with pytest.raises(AttributeError, match="Variable has no attribute 'nonsense'"):
        x.nonsense  # noqa: B018
