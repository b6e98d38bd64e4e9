"""Derivatives of functions, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...eager import functional as by_arrays
from ...eager.engine import check_bools, gradients_of, located
from ...eager.mode import enable_grad
from ...eager.recording import TensorRecord, eager
from ...errors import ArgumentError, GradientStateError, ShapeError
from ...functions.shaping import reshape
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling, given_first

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]


def _differentiated(
    second: bool,
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every element of what a function gives by every element of its inputs.

    Args:
        second: differentiate the gradient of the only element.
        func: takes tensors, gives a tensor or a tuple of them.
        inputs: where: a tensor or a tuple of them.
        create_graph: record the derivatives, so that they can be differentiated.
        strict: refuse an output that does not depend on an input; if not, it gives zeros.
        vectorize: accepted: the rows are found one after the other in any case.
        strategy: "reverse-mode"; "forward-mode" is accepted, and the result is the same.

    Returns:
        for an output of shape [a, b] and an input of shape [c] a tensor [a, b, c]; a tuple of them
        for a tuple of inputs, and a tuple of those for a tuple of outputs.

    Raises:
        ArgumentError: an argument is of another kind.
        GradientStateError: with ``strict``, an output does not depend on an input.
    """
    check_bools(create_graph=create_graph, strict=strict, vectorize=vectorize)
    if strategy not in ("reverse-mode", "forward-mode"):
        raise located(
            ArgumentError, f"expected 'reverse-mode' or 'forward-mode', got {strategy!r:.60}"
        )
    listed = _tensors("inputs", inputs)
    value = _checked(func, listed, strict, second)
    if second:
        _need_one(value)
    kept = listed if create_graph else [each.detach() for each in listed]
    outputs = listed if second else _tensors("what the function returns", value)
    derive: Function = by_arrays.hessian if second else by_arrays.jacobian
    found = derive(func if second else _listing(func), kept, create_graph=create_graph)
    rows = [
        _like(inputs, [_shaped(part, y, x) for part, x in zip(row, listed)])
        for row, y in zip(found, outputs)
    ]
    return _like(inputs if second else value, rows)


jacobian: Function = given_first(
    _differentiated,
    False,
    "jacobian",
    """The derivatives of every element of what a function gives by every element of its inputs.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> fluid.flow.autograd.functional.jacobian(lambda x: x * x, x)
    tensor([[2., 0.],
            [0., 4.]], dtype=oneflow.float32)
    """,
)
hessian: Function = given_first(
    _differentiated,
    True,
    "hessian",
    """The second derivatives of a function with one value.

    Returns:
        for an input of shape [a, b] a tensor [a, b, a, b]; a tuple of tuples for several.

    Raises:
        ArgumentError: an argument is of another kind.
        GradientStateError: with ``strict``, the function or its gradient does not depend on an
            input.
        ShapeError: the function gives more than one element.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> fluid.flow.autograd.functional.hessian(lambda x: (x * x * x).sum(), x).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """,
    strategy="outer_jacobian_strategy",
)


def _product(
    func: Function,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
    product: Function = by_arrays.hvp,
) -> tuple[Any, Any]:
    """What a function gives, and a product with its Jacobian or its Hessian.

    Args:
        func: takes tensors, gives a tensor or a tuple of them.
        inputs: where: a tensor or a tuple of them.
        v: the vector: in the shape of what ``func`` gives for ``vjp``, in the shapes of ``inputs``
            else; may be left out where that is one element.
        create_graph: record value and product, so that they can be differentiated.
        strict: refuse an output that does not depend on an input; if not, it gives zeros.
        product: of arrays.

    Raises:
        ArgumentError: an argument is of another kind, or ``v`` is missing.
        ShapeError: ``v`` has another shape, or a Hessian is one of more than one element.
        GradientStateError: with ``strict``, an output, or of a Hessian its gradient, does not
            depend on an input.
    """
    check_bools(create_graph=create_graph, strict=strict)
    listed = _tensors("inputs", inputs)
    value = _checked(func, listed, strict, second=product is by_arrays.hvp)
    if product is by_arrays.hvp:
        _need_one(value)
    outputs = _tensors("what the function returns", value)
    vector = _vector(v, outputs if product is by_arrays.vjp else listed)
    kept = listed if create_graph else [each.detach() for each in listed]
    found, made = product(_listing(func), kept, vector, create_graph)
    like = value if product is by_arrays.jvp else inputs
    return _finished(_like(value, found), create_graph), _finished(_like(like, made), create_graph)


vjp: Function = Spelling({})(
    _product,
    "vjp",
    """The value of a function, and the product of a vector with its Jacobian.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> y, g = fluid.flow.autograd.functional.vjp(lambda x: x * x, x, fluid.flow.ones(2))
    >>> y.tolist(), g.tolist()
    ([1.0, 4.0], [2.0, 4.0])
    """,
    fixed={"product": by_arrays.vjp},
)
jvp: Function = Spelling({})(
    _product,
    "jvp",
    """The value of a function, and the product of its Jacobian with a vector.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> v = fluid.flow.tensor([1.0, 10.0])
    >>> fluid.flow.autograd.functional.jvp(lambda x: x * x, x, v)[1].tolist()
    [2.0, 40.0]
    """,
    fixed={"product": by_arrays.jvp},
)
vhp: Function = Spelling({})(
    _product,
    "vhp",
    """The value of a function, and the product of a vector with its Hessian.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> cubes = lambda x: (x * x * x).sum()
    >>> fluid.flow.autograd.functional.vhp(cubes, x, fluid.flow.tensor([1.0, 10.0]))[1].tolist()
    [6.0, 120.0]
    """,
    fixed={"product": by_arrays.hvp},
)
hvp: Function = Spelling({})(
    _product,
    "hvp",
    """The value of a function, and the product of its Hessian with a vector: the same as
    :func:`vhp`, since a Hessian is symmetric.
    """,
    fixed={"product": by_arrays.hvp},
)


# -- what goes in, and what comes out --------------------------------------------------------------


def _tensors(what: str, given: Any) -> list[Any]:
    listed = list(given) if isinstance(given, tuple) else [given]
    for tensor in listed:
        if not isinstance(tensor, TensorRecord):
            raise located(
                ArgumentError,
                f"expected {what} to be a tensor or a tuple of tensors, got {tensor!r:.60} of "
                f"type {type(tensor).__name__}",
            )
    return listed


def _like(given: Any, found: Sequence[Any]) -> Any:
    return tuple(found) if isinstance(given, tuple) else found[0]


def _listing(func: Function) -> Function:
    """The function, giving a tuple in any case."""

    def listed(*arguments: Any) -> Any:
        value = func(*arguments)
        return value if isinstance(value, tuple) else (value,)

    return listed


def _shaped(part: Any, y: Any, x: Any) -> Any:
    return reshape(part, [*y.array.shape, *x.array.shape])


def _finished(value: Any, create_graph: bool) -> Any:
    """A result, cut off from the graph where that is not wanted."""
    if isinstance(value, tuple):
        return tuple(_finished(each, create_graph) for each in value)
    return value if create_graph else value.detach()


def _watched(listed: Sequence[Any], keep: bool) -> list[Any]:
    """The inputs as tensors that want gradients; connected with what they were made of, or not."""
    connected = [keep and not each.stop for each in listed]
    return [
        eager.assign(each) if flows else each.results(each.array, None, False)
        for each, flows in zip(listed, connected)
    ]


def _vector(v: Any, likes: Sequence[Any]) -> Any:
    """The vector of a product, one tensor for each of some others.

    Raises:
        ArgumentError: it is missing, or of another kind.
        ShapeError: it has another shape.
    """
    if v is None:
        if len(likes) != 1 or likes[0].array.size != 1:
            raise located(
                ArgumentError,
                "expected a vector v; it may be left out only where it is one tensor of one "
                "element",
            )
        return [likes[0].results(np.ones(likes[0].array.shape, likes[0].array.dtype))]
    vector = _tensors("v", v)
    shapes, wanted = ([t.array.shape for t in ts] for ts in (vector, likes))
    if shapes != wanted:
        raise located(
            ShapeError,
            f"expected v of the shapes {[list(s) for s in wanted]}, got "
            f"{[list(s) for s in shapes]}",
        )
    return vector


def _need_one(value: Any) -> None:
    if isinstance(value, tuple) or value.array.size != 1:
        shape = "a tuple" if isinstance(value, tuple) else f"shape {list(value.array.shape)}"
        raise located(ShapeError, f"expected the function to give one element, got {shape}")


def _checked(func: Function, listed: Sequence[Any], strict: bool, second: bool) -> Any:
    """What the function gives.

    Raises:
        GradientStateError: with ``strict``, an output, or the gradient, depends on no input.
    """
    arguments = _watched(listed, keep=False)
    with enable_grad():
        value = func(*arguments)
    if not strict:
        return value
    options: dict[str, Any] = dict(retain_graph=True, create_graph=second)
    for i, output in enumerate(_tensors("what the function returns", value)):
        slopes = [] if output.stop else gradients_of([output], arguments, [None], **options)
        independent = [
            k for k, slope in enumerate(slopes) if slope is None or (second and slope.stop)
        ]
        if not slopes or independent:
            which = f"input {independent[0]}" if independent else "the inputs"
            what = "output" if not second else "the derivative of output"
            raise located(
                GradientStateError,
                f"{what} {i} of the function does not depend on {which}; with strict=False "
                f"that gives zeros",
            )
    return value


list_public_names(globals())
