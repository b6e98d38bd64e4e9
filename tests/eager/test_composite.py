"""Functions of several operators that run as one: the same values, gradients and errors."""

import inspect
import sys
from collections.abc import Callable
from types import FunctionType

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.eager.composite import OFTEN, composite
from fluidlite.eager.listening import Listener, heard_by
from fluidlite.errors import FluidError, OverwrittenError, ReleasedError

RNG = np.random.default_rng(3)
MADE_IN = composite.__code__.co_filename


def numbers(*shape):
    return RNG.standard_normal(shape)


def labels(*shape):
    return RNG.integers(0, 4, shape)


#: function -> makers of arguments: arrays are tensors, those of floats with gradients
CASES: dict[str, list[Callable[[], tuple]]] = {
    "linear": [
        lambda: (numbers(3, 4), numbers(4, 2), numbers(2)),
        lambda: (numbers(2, 3, 4), numbers(4, 2)),
    ],
    "cross_entropy": [
        lambda: (numbers(5, 4), labels(5)),
        lambda: (numbers(5, 4), labels(5, 1), numbers(4) ** 2, 2, "sum"),
        lambda: (numbers(5, 4), numbers(5, 4) ** 2, None, -100, "none", True),
        lambda: (numbers(2, 4, 3), labels(2, 3), None, 1, "mean", False, 1),
        lambda: (numbers(5, 4), labels(5), None, -100, "mean", False, -1, True, 0.1),
    ],
    "mse_loss": [lambda: (numbers(3, 2), numbers(3, 2)), lambda: (numbers(3), numbers(3), "none")],
    "square_error_cost": [lambda: (numbers(3, 2), numbers(3, 2))],
    "l1_loss": [lambda: (numbers(3, 2), numbers(3, 2), "sum")],
    "smooth_l1_loss": [lambda: (numbers(3, 2) * 3, numbers(3, 2), "mean", 0.5)],
    "convolution": [
        lambda: (2, numbers(2, 3, 6, 5), numbers(4, 3, 3, 3), numbers(4), 1, 1),
        lambda: (2, numbers(2, 4, 6, 5), numbers(4, 2, 3, 3), None, [2, 1], [1, 0], 1, 2),
        lambda: (1, numbers(2, 3, 8), numbers(4, 3, 3), numbers(4), 2, 1, 1, 1, "NCL"),
    ],
    "_split": [lambda: (numbers(2, 3, 8), 2)],
    "_weights": [
        lambda: (numbers(2, 3, 8), numbers(2, 2, 5, 4), None, 2),
        lambda: (numbers(2, 3, 8), numbers(2, 2, 5, 4), numbers(3, 5), 2),
    ],
    "_weighted": [lambda: (numbers(2, 2, 3, 5), numbers(2, 2, 5, 4))],
    "_attended": [
        lambda: (numbers(2, 3, 8), numbers(2, 2, 5, 4), numbers(2, 2, 5, 4), None, 2),
        lambda: (numbers(2, 3, 8), numbers(2, 2, 5, 4), numbers(2, 2, 5, 4), numbers(3, 5), 2),
    ],
}
NAMED = [(name, make) for name, makers in CASES.items() for make in makers]


def composites():
    """All functions of the package that run as one, by name."""
    assert paddle.nn.functional  # is loaded
    found = {}
    for module in [m for n, m in sys.modules.items() if n.startswith("fluidlite.")]:
        for value in vars(module).values():
            made_there = isinstance(value, FunctionType) and value.__code__.co_filename == MADE_IN
            if made_there and value.__module__ != composite.__module__:
                found[value.__name__] = value
    return found


FUNCTIONS = composites()


def tensors(arguments):
    return [
        fluid.to_tensor(v, stop_gradient=v.dtype.kind != "f") if isinstance(v, np.ndarray) else v
        for v in arguments
    ]


def of_gradients(given):
    return [t for t in given if isinstance(t, fluid.Tensor) and not t.stop_gradient]


def slopes(function, given, **options):
    """What a function gives, and the gradients of it."""
    out = function(*given)
    wanted = of_gradients(given)
    return [out, *fluid.grad(out, wanted, allow_unused=True, **options)]


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12, 1e-13)


def written_out(name, make):
    """The function after it was called often with arguments of such forms."""
    for _ in range(OFTEN + 2):
        slopes(FUNCTIONS[name], tensors(make()))
    return FUNCTIONS[name]


def type_of_node(function, given):
    """The type of the node behind what a function gives."""
    return function(*given).origin.type


def test_every_function_that_runs_as_one_has_a_case():
    assert {*FUNCTIONS} == {*CASES}


@pytest.mark.parametrize("name, make", NAMED)
def test_values_and_gradients_are_those_of_the_operators(name, make):
    function = written_out(name, make)
    given = tensors(make())  # other elements
    plain = inspect.unwrap(function)
    assert type_of_node(function, given) == name
    same(slopes(function, given), slopes(plain, given))
    first = slopes(function, given, create_graph=True)
    expected = slopes(plain, given, create_graph=True)
    same(first, expected)
    ends = [
        sum((g * g).sum() for g in found[1:] if g is not None and not g.stop_gradient)
        for found in (first, expected)
    ]
    if not isinstance(ends[0], int):
        wanted = of_gradients(given)
        same(*(fluid.grad(end, wanted, allow_unused=True) for end in ends))


def test_some_gradients_alone_are_found():
    make = CASES["linear"][0]
    linear, (x, w, b) = written_out("linear", make), tensors(make())
    (alone,) = fluid.grad(linear(x, w, b), w)
    out = linear(x, w, b)
    fluid.autograd.backward([out, out * 2.0])
    np.testing.assert_allclose(w.grad.numpy(), 3 * alone.numpy())
    np.testing.assert_allclose(b.grad.numpy(), [9.0, 9.0])
    assert x.grad.shape == [3, 4]


def test_a_tensor_in_two_places_has_one_gradient():
    make = lambda: (numbers(3, 3), numbers(3, 3))
    mse = written_out("mse_loss", make)
    linear = written_out("linear", make)
    for create_graph in (False, True):
        (x,) = tensors([numbers(3, 3)])
        (slope,) = fluid.grad(mse(x, x), x, create_graph=create_graph)
        assert not slope.numpy().any()
        (found,) = fluid.grad(linear(x, x).sum(), x, create_graph=create_graph)
        (expected,) = fluid.grad(fluid.matmul(x, x).sum(), x)
        same([found], [expected])


def test_tensors_that_stop_gradients_give_one_that_does():
    make = CASES["linear"][0]
    linear = written_out("linear", make)
    x, w, b = tensors(make())
    with fluid.no_grad():
        for _ in range(OFTEN + 2):
            assert linear(x, w, b).stop_gradient
    assert not linear(x, w, b).stop_gradient
    w.stop_gradient = b.stop_gradient = True
    for _ in range(OFTEN + 2):
        assert fluid.grad(linear(x, w, b).sum(), x)[0].shape == [3, 4]


def test_a_write_in_place_is_noticed_where_the_value_is_read():
    make = CASES["linear"][0]
    linear, (x, w, b) = written_out("linear", make), tensors(make())
    h = x * 1.0
    out = linear(h, w, b)
    h.add_(fluid.ones([1], "float64"))
    with pytest.raises(OverwrittenError, match="linear needs a tensor of type float64"):
        out.sum().backward()
    h = b * 1.0
    out = linear(x, w, h)
    h.add_(fluid.ones([1], "float64"))  # no gradient reads a bias
    out.sum().backward()


def test_a_graph_is_gone_back_once_or_kept():
    make = CASES["linear"][0]
    linear, given = written_out("linear", make), tensors(make())
    out = linear(*given).sum()
    out.backward(retain_graph=True)
    out.backward()
    with pytest.raises(ReleasedError):
        out.backward()
    np.testing.assert_allclose(given[2].grad.numpy(), [6.0, 6.0])


def test_who_listens_hears_each_operator():
    make = CASES["linear"][0]
    linear, given = written_out("linear", make), tensors(make())
    heard = []

    class Names(Listener):
        def ran(self, op, ins, outs):
            heard.append(op.type)

    with heard_by(Names()):
        linear(*given)
    assert heard == ["matmul", "elementwise_add"]
    assert linear(*given).origin.type == "linear"


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("linear", lambda: (numbers(3, 4), numbers(5, 2), numbers(2))),
        ("cross_entropy", lambda: (numbers(5, 4), np.full(5, 4))),
        ("mse_loss", lambda: (numbers(3), numbers(3), "middle")),
    ],
)
def test_errors_are_those_of_the_operators(name, arguments):
    function, given = written_out(name, CASES[name][0]), tensors(arguments())
    texts = []
    for call in (function, inspect.unwrap(function)):
        for _ in range(OFTEN + 2):
            with pytest.raises(FluidError) as caught:
                call(*given)
        texts.append(str(caught.value).split("\n")[0])
    assert texts[0] == texts[1]


def test_many_forms_are_forgotten(monkeypatch):
    monkeypatch.setattr("fluidlite.eager.composite.MOST_FORMS", 4)
    linear = FUNCTIONS["linear"]
    forms = inspect.getclosurevars(linear).nonlocals["forms"]
    for n in range(2, 40):
        x, w, b = tensors((numbers(n, 3), numbers(3, 2), numbers(2)))
        expected = x.numpy() @ w.numpy() + b.numpy()
        np.testing.assert_allclose(linear(x, w, b).numpy(), expected, 1e-12)
        assert len(forms) <= 4


def test_large_tensors_are_kept_by_no_more_than_their_operators():
    logits = fluid.zeros([1025, 256]) * fluid.to_tensor(1.0, stop_gradient=False)
    right = fluid.zeros([1025], "int64")
    for _ in range(OFTEN + 2):
        loss = FUNCTIONS["cross_entropy"](logits, right)
    assert loss.origin.type != "cross_entropy"


def test_gradients_of_one_tensor_in_two_places_are_no_model_for_those_of_two():
    x, y = tensors((numbers(3, 3), numbers(3, 3)))
    plain = inspect.unwrap(FUNCTIONS["linear"])
    for given in [(x, x)] * 2 * (OFTEN + 2) + [(x, y)]:
        distinct = list({id(t): t for t in given}.values())
        slopes = []
        for function in (FUNCTIONS["linear"], plain):
            out = function(*given).tanh()
            first = fluid.grad(out, distinct, create_graph=True)
            squares = sum((g * g).sum() for g in first)
            second = fluid.grad(squares, distinct, create_graph=True)
            third = fluid.grad(sum((g * g).sum() for g in second), distinct)
            slopes.append([*first, *second, *third])
        same(*slopes)
