"""Operators of the user's own, in programs and on eager tensors."""

import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    AttributeValueError,
    DefinitionError,
    NoGradientError,
    ShapeError,
)
from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.definition import _REGISTRY, Op, lookup


class user_cube:
    """Out = factor * X^3."""

    signature = "X -> Out"
    factor: float = 1.0

    def infer(self, X):
        if self.factor == 0:
            raise AttributeValueError("expected a factor other than 0")
        return X

    def run(self, xp, X):
        return self.factor * X**3

    def grad(self, f, X, dOut):
        return dict(X=lambda: f.scale(dOut * f.square(X), scale=3.0 * self.factor))


class user_polar:
    """Radius and Angle of the points (X, Y)."""

    signature = "X, Y, Scale? -> Radius, Angle, Inner~"

    def infer(self, X, Y):
        if X.shape != Y.shape:
            raise ShapeError(f"expected X and Y of one shape, got {X.shape} and {Y.shape}")
        return X, X, X

    def run(self, xp, X, Y, Scale):
        squared = X * X + Y * Y
        radius = np.sqrt(squared)
        return radius if Scale is None else radius * Scale, np.arctan2(Y, X), squared

    def grad(self, f, X, Y, dRadius=None, dAngle=None):
        def flow(radial, angular):
            squared = f.square(X) + f.square(Y)
            parts = []
            if dRadius is not None:
                parts.append(dRadius * radial / f.sqrt(squared))
            if dAngle is not None:
                parts.append(dAngle * angular / squared)
            return parts[0] if len(parts) == 1 else parts[0] + parts[1]

        return dict(X=lambda: flow(X, f.scale(Y, scale=-1.0)), Y=lambda: flow(Y, X))


class user_weighted:
    """Out = the sum of w_i * X_i."""

    signature = "X* -> Out"
    weights: list[float] = REQUIRED

    def infer(self, X):
        return X[0]

    def run(self, xp, X):
        return sum(np.float32(w) * x for w, x in zip(self.weights, X))

    def grad(self, f, X, dOut):
        return dict(X=lambda: [f.scale(dOut, scale=w) for w in self.weights])


class user_parity:
    """Out = whether X is odd: an operator that says nothing flows."""

    signature = "X -> Out"
    grad = None

    def run(self, xp, X):
        return X % 2


@pytest.fixture(autouse=True, scope="module")
def operators():
    """The classes above as operators, while these tests run: others go through all operators."""
    before = set(_REGISTRY)
    written = [user_cube, user_polar, user_weighted, user_parity]
    globals().update({each.__name__: fluid.custom_op(each) for each in written})
    yield
    for name in set(_REGISTRY) - before:
        del _REGISTRY[name]


VALUE = np.array([[0.5, -1.25, 2.0]])


def third_order(make, x):
    """1st, 2nd and 3rd derivatives."""
    found, y = [], make(x)
    for _ in range(3):
        (y,) = fluid.grad(y, x, create_graph=True)
        found.append(y)
    return found


def test_eager_at_any_order():
    x = fluid.to_tensor(VALUE, stop_gradient=False)
    y = user_cube(x, factor=2.0)
    assert np.allclose(y.numpy(), 2 * VALUE**3)
    first, second, third = third_order(lambda t: user_cube(t, factor=2.0), x)
    assert np.allclose(first.numpy(), 6 * VALUE**2)
    assert np.allclose(second.numpy(), 12 * VALUE)
    assert np.allclose(third.numpy(), np.full_like(VALUE, 12))


def test_in_a_program_at_any_order():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [None, 3], "float64")
        x.stop_gradient = False
        y = user_cube(x, factor=2.0)
        (first,) = fluid.gradients(y, x)
        (second,) = fluid.gradients(first, x)
        (third,) = fluid.gradients(second, x)
    assert (y.shape, y.name) == ((-1, 3), "user_cube_0.tmp_0")
    types = [op.type for op in main.global_block().ops]
    assert types[0] == "user_cube"
    assert "user_cube_grad" in types
    got = fluid.Executor().run(main, feed={"x": VALUE}, fetch_list=[y, first, second, third])
    expected = [2 * VALUE**3, 6 * VALUE**2, 12 * VALUE, np.full_like(VALUE, 12)]
    for found, wanted in zip(got, expected):
        assert np.allclose(found, wanted)


def test_a_program_with_it_is_printed_and_parsed():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [2, 3], "float64")
        x.stop_gradient = False
        y = user_cube(x, factor=0.5, name="mine")
    assert y.name == "mine.tmp_0"
    parsed = fluid.Program.parse(str(main))
    (op,) = parsed.global_block().ops
    assert (op.type, op.attr("factor")) == ("user_cube", 0.5)
    assert fluid.gradcheck(lambda x: user_cube(x, factor=0.5), {"x": VALUE}, order=3).ok


def test_optional_and_hidden_slots():
    x = fluid.to_tensor([3.0, 1.0], stop_gradient=False)
    y = fluid.to_tensor([4.0, 1.0], stop_gradient=False)
    radius, angle = user_polar(x, y)
    assert np.allclose(radius.numpy(), [5, np.sqrt(2)])
    fluid.autograd.backward([radius, angle])
    assert np.allclose(x.grad.numpy(), [0.6 - 4 / 25, np.sqrt(0.5) - 0.5])
    assert np.allclose(y.grad.numpy(), [0.8 + 3 / 25, np.sqrt(0.5) + 0.5])
    doubled, _ = user_polar(x, y, Scale=fluid.to_tensor([2.0, 2.0]))
    assert np.allclose(doubled.numpy(), [10, 2 * np.sqrt(2)])
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        u, v = fluid.data("u", [2], "float32"), fluid.data("v", [2], "float32")
        assert len(user_polar(u, v)) == 2
    (op,) = main.global_block().ops
    assert op.output_names == ["Angle", "Inner", "Radius"]


def test_list_slots():
    x, y = (fluid.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
    out = user_weighted([x, y], weights=[2.0, -3.0])
    out.backward()
    assert out.tolist() == [-1.0, -2.0]
    assert (x.grad.tolist(), y.grad.tolist()) == ([2.0, 2.0], [-3.0, -3.0])
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        u, v = fluid.data("u", [2], "float32"), fluid.data("v", [2], "float32")
        out = user_weighted([u, v], weights=[2.0, -3.0])
    ones = np.ones(2, "float32")
    (found,) = fluid.Executor().run(main, feed={"u": ones, "v": ones}, fetch_list=[out])
    assert found.tolist() == [-1.0, -1.0]


def test_nothing_flows_where_the_rule_is_none():
    x = fluid.to_tensor([3.0], stop_gradient=False)
    assert user_parity(x).stop_gradient


def test_without_a_rule_backward_says_so():
    @fluid.custom_op
    class user_unruled:
        """Out = X."""

        signature = "X -> Out"

        def run(self, xp, X):
            return X.copy()

    x = fluid.to_tensor([3.0], stop_gradient=False)
    with pytest.raises(NoGradientError, match="user_unruled"):
        user_unruled(x).backward()


def test_a_composition():
    @fluid.custom_op
    class user_composed:
        """Out = X * sigmoid(X)."""

        signature = "X -> Out"

        def expand(self, f, X):
            return X * f.sigmoid(X)

    x = fluid.to_tensor([0.0, 1.0], stop_gradient=False)
    user_composed(x).backward()
    s = 1 / (1 + np.exp(-1.0))
    assert np.allclose(x.grad.numpy(), [0.5, s + s * (1 - s)])


def test_a_class_that_is_an_operator_already():
    class user_written(Op):
        """Out = -X."""

        signature = "X -> Out"

        def run(self, xp, X):
            return -X

        def grad(self, f, dOut):
            return dict(X=lambda: f.scale(dOut, scale=-1.0))

    function = fluid.custom_op(user_written)
    assert function.definition is user_written is lookup("user_written")
    assert function(fluid.to_tensor([1.0])).tolist() == [-1.0]


def test_the_function_looks_like_the_operator():
    assert str(inspect.signature(user_cube)) == (
        "(X: 'Variable', *, factor=1.0, name: 'str | None' = None)"
    )
    assert user_cube.__name__ == "user_cube"
    assert user_cube.__doc__ == "Out = factor * X^3.\n\nArgs:\n    name: of the layer."


def test_bad_calls_are_refused():
    x = fluid.to_tensor([1.0])
    with pytest.raises(ArgumentError, match="expected X to be a variable"):
        user_cube(3.0)
    with pytest.raises(AttributeValueError, match="expected a factor other than 0"):
        user_cube(x, factor=0.0)
    with pytest.raises(AttributeValueError, match="takes a number, got 'two'"):
        user_cube(x, factor="two")
    with pytest.raises(ArgumentError, match="user_cube.*factr"):
        user_cube(x, factr=2.0)
    with pytest.raises(ArgumentError, match="user_weighted.*weights"):
        user_weighted([x])
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        u, v = fluid.data("u", [2], "float32"), fluid.data("v", [3], "float32")
        with pytest.raises(ShapeError, match="X and Y of one shape") as refused:
            user_polar(u, v)
    assert "test_custom_op.py" in str(refused.value)
    assert not main.global_block().ops


def plain(name, **body):
    body = {"signature": "X -> Out", "run": lambda self, xp, X: X, **body}
    return type(name, (), body)


@pytest.mark.parametrize(
    "definition, message",
    [
        (plain("tanh"), "there is an operator tanh already, in fluidlite.ops"),
        (plain("tanh_grad"), "there is a gradient operator tanh_grad already"),
        (plain("user_cube"), "there is an operator user_cube already"),
        (plain("_hidden"), "cannot be called _hidden"),
        (plain("apply"), "cannot be called apply: gradient rules"),
        (plain("block"), "cannot be called block"),
        (plain("user_bare", signature=None), "user_bare needs a signature"),
        (plain("user_named", signature="name -> Out", run=lambda self, xp, name: name), "name can"),
        (lambda x: x, "decorates a class"),
        (Op, "Op is abstract"),
    ],
)
def test_bad_definitions_are_refused(definition, message):
    with pytest.raises(DefinitionError, match=message):
        fluid.custom_op(definition)


def test_a_refused_definition_leaves_its_name_free():
    for _ in range(2):
        with pytest.raises(DefinitionError, match="needs one of run, expand and execute"):
            fluid.custom_op(type("user_kernelless", (), {"signature": "X -> Out"}))
