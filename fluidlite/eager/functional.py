"""Derivatives of functions: Jacobians, Hessians, products with them, and functions over batches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..functions.creation import to_tensor
from ..functions.shaping import reshape, stack, unstack
from ..ground.tracebacks import api_boundary
from ..opdef.operand import Operand, Operands
from .engine import check_bools, gradients_of, located, tensors_in
from .mode import enable_grad
from .recording import eager
from .sweep import described

Function = Callable[..., Any]


def _like(given: Any, found: list[Any]) -> Any:
    """A list of results in the form in which their arguments were given."""
    return tuple(found) if isinstance(given, (list, tuple)) else found[0]


def _watched(given: Any, keep: bool) -> list[Any]:
    """The arguments of a function as tensors that want gradients.

    Args:
        given: a tensor or a list of them.
        keep: stay connected with what the tensors were made of.
    """
    watched = []
    for tensor in tensors_in("xs", given):
        if keep and not tensor.stop:
            watched.append(eager.assign(tensor))
        else:
            alone = tensor.results(tensor.array)
            alone.stop_gradient = False
            watched.append(alone)
    return watched


def _call(function: Function, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What a function gives, as it does, and as a list."""
    with enable_grad():
        found = function(*arguments)
    return found, tensors_in("what the function returns", found)


def _or_zeros(gradients: Sequence[Any], likes: Sequence[Any]) -> list[Any]:
    return [
        t.results(np.zeros(t.array.shape, t.array.dtype)) if g is None else g
        for g, t in zip(gradients, likes)
    ]


def _evaluated(function: Function, xs: Any, create_graph: bool) -> tuple[list[Any], Any, list[Any]]:
    """The arguments of a function, what it gives, and that as a list."""
    check_bools(create_graph=create_graph)
    arguments = _watched(xs, create_graph)
    return arguments, *_call(function, arguments)


def _made(ys: Any, xs: Any, keep: bool) -> tuple[list[Any], Any, list[Any]]:
    """What ``ys``, a function or tensors, are functions of; these, and them as a list."""
    if not callable(ys):
        return tensors_in("xs", xs), ys, tensors_in("ys", ys)
    arguments = _watched(xs, keep)
    return arguments, *_call(ys, arguments)


def _pushed(
    gradients: Sequence[Any], v: Any, likes: Sequence[Any], by: Sequence[Any], create_graph: bool
) -> list[Any]:
    """The gradients, by some tensors, of the product of a vector with gradients.

    Args:
        gradients: None for those that take no part.
        v: the vector, in the shapes of ``likes``; ones when None.
        likes: what the gradients are with respect to.
        by: the tensors.
        create_graph: record the result.
    """
    ones = [t.results(np.ones(t.array.shape, t.array.dtype)) for t in likes]
    directions = ones if v is None else tensors_in("v", v)
    _need_same("v", directions, likes)
    pairs = [(g, d) for g, d in zip(gradients, directions) if g is not None and not g.stop]
    if not pairs:
        return _or_zeros([None] * len(by), by)
    firsts, seconds = ([pair[k] for pair in pairs] for k in (0, 1))
    found = gradients_of(firsts, by, seconds, retain_graph=create_graph, create_graph=create_graph)
    return _or_zeros(found, by)


def vjp(
    func: Function, xs: Operands, v: Operands | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """The value of a function, and the product of a vector with its Jacobian.

    Args:
        func: takes tensors, gives a tensor or several.
        xs: where: a tensor or a list of them.
        v: the vector, in the shape of what ``func`` gives; ones when None.
        create_graph: record the product, so that it can be differentiated.

    Returns:
        what ``func`` gives, and a gradient for each of ``xs``; zeros where it takes no part.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> y, g = fluid.autograd.vjp(lambda x: x * x, x, fluid.to_tensor([1.0, 10.0]))
    >>> g.tolist()
    [2.0, 40.0]
    """
    arguments, value, outputs = _evaluated(func, xs, create_graph)
    seeds = [None] * len(outputs) if v is None else tensors_in("v", v)
    _need_same("v", seeds, outputs)
    gradients = gradients_of(
        outputs, arguments, seeds, retain_graph=create_graph, create_graph=create_graph
    )
    return value, _like(xs, _or_zeros(gradients, arguments))


def jvp(
    func: Function, xs: Operands, v: Operands | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """The value of a function, and the product of its Jacobian with a vector.

    The product of a vector u with the Jacobian is linear in u; its derivative by u is the result,
    so that no operator needs a second rule.

    Args:
        func: takes tensors, gives a tensor or several.
        xs: where: a tensor or a list of them.
        v: the direction, in the shapes of ``xs``; ones when None.
        create_graph: record the product, so that it can be differentiated.

    Returns:
        what ``func`` gives, and its derivative along ``v``, in the same form.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> y, d = fluid.autograd.jvp(lambda x: x * x, x, fluid.to_tensor([1.0, 10.0]))
    >>> d.tolist()
    [2.0, 40.0]
    """
    arguments, value, outputs = _evaluated(func, xs, create_graph)
    seeds = []
    for t in outputs:
        seed = t.results(np.zeros(t.array.shape, t.array.dtype))
        seed.stop = False
        seeds.append(seed)
    pulled = gradients_of(outputs, arguments, seeds, retain_graph=True, create_graph=True)
    return value, _like(value, _pushed(pulled, v, arguments, seeds, create_graph))


def _need_same(what: str, given: Sequence[Any], likes: Sequence[Any]) -> None:
    if len(given) != len(likes):
        raise located(
            ArgumentError, f"expected {what} to be {len(likes)} tensors, got {len(given)}"
        )
    for one, like in zip(given, likes):
        if one is not None and one.array.shape != like.array.shape:
            raise located(
                ShapeError,
                f"expected {what} of shape {list(like.array.shape)} for {described(like)}, "
                f"got {list(one.array.shape)}",
            )


def jacobian(
    ys: Function | Operands, xs: Operands, batch_axis: int | None = None, create_graph: bool = False
) -> Any:
    """The derivatives of every element of ys by every element of xs.

    Args:
        ys: a function of ``xs``, or tensors that were made of them.
        xs: a tensor or a list of them.
        batch_axis: 0: rows of ``ys`` depend on the same rows of ``xs`` alone, and only those
            derivatives are needed; None: all.
        create_graph: record the derivatives, so that they can be differentiated.

    Returns:
        for a tensor of M and one of N elements a tensor [M, N]; with ``batch_axis`` [B, M, N] for
        M and N elements in a row.  A tuple of them for several ``xs``, and a tuple of those for
        several ``ys``.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> fluid.autograd.jacobian(lambda x: fluid.stack([x[0] * x[1], x[0]]), x).tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    check_bools(create_graph=create_graph)
    if batch_axis not in (None, 0):
        raise located(ArgumentError, f"expected batch_axis to be None or 0, got {batch_axis!r}")
    arguments, given, outputs = _made(ys, xs, create_graph)
    rows = [_jacobians(y, arguments, batch_axis is not None, create_graph) for y in outputs]
    return _like(given, [_like(xs, row) for row in rows])


def _jacobians(y: Any, xs: Sequence[Any], batched: bool, create_graph: bool) -> list[Any]:
    """The Jacobians of one tensor by several."""
    shape = y.array.shape
    if batched and not shape:
        raise located(ShapeError, "expected rows along batch_axis, got a tensor of shape []")
    lead = shape[0] if batched else 1
    size = int(np.prod(shape[1:] if batched else shape, dtype="int64"))
    columns: list[list[Any]] = [[] for _ in xs]
    for k in range(size):
        seed = np.zeros((lead, size), y.array.dtype)
        seed[:, k] = 1
        gradients = gradients_of(
            [y], xs, [y.results(seed.reshape(shape))], retain_graph=True, create_graph=create_graph
        )
        for column, gradient in zip(columns, _or_zeros(gradients, xs)):
            rows = (lead, -1) if batched else (-1,)
            column.append(reshape(gradient, rows) if gradient.array.size else gradient)
    axis = 1 if batched else 0
    return [
        stack(column, axis=axis) if column else x.results(np.zeros((0, x.array.size)))
        for column, x in zip(columns, xs)
    ]


def hessian(
    ys: Function | Operands, xs: Operands, batch_axis: int | None = None, create_graph: bool = False
) -> Any:
    """The second derivatives of a function with one value.

    Args:
        ys: a function of ``xs`` that gives a tensor of one element, or one that was made of them.
        xs: a tensor or a list of them.
        batch_axis: 0: ys holds a value for each row of ``xs``, which depends on that row alone.
        create_graph: record the derivatives, so that they can be differentiated.

    Returns:
        a tensor [N, N] for N elements; with ``batch_axis`` [B, N, N] for N elements in a row.  For
        several ``xs`` a tuple of tuples.

    Raises:
        ShapeError: there are several values.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> fluid.autograd.hessian(lambda x: x[0] * x[0] * x[1], x).tolist()
    [[4.0, 2.0], [2.0, 0.0]]
    """
    arguments, _, outputs = _made(ys, xs, create_graph)
    size = outputs[0].array.size
    rows = outputs[0].array.shape[0] if batch_axis == 0 and outputs[0].array.shape else 1
    if len(outputs) != 1 or size != rows:
        raise located(
            ShapeError,
            f"expected one value{' in each row' if batch_axis == 0 else ''} to take the "
            f"Hessian of, got shape {list(outputs[0].array.shape)}",
        )
    gradients = gradients_of(outputs, arguments, [None], retain_graph=True, create_graph=True)
    second = [
        jacobian(g, arguments, batch_axis, create_graph) for g in _or_zeros(gradients, arguments)
    ]
    if isinstance(xs, (list, tuple)):
        return tuple(second)
    return second[0][0]


def value_and_grad(func: Function, argnums: int | Sequence[int] = 0) -> Function:
    """A function that gives the value of ``func`` and its gradients.

    Args:
        func: gives a tensor of one element.
        argnums: the arguments with respect to which.

    Returns:
        a function of the same arguments; its result is a pair of the value and a gradient, or a
        tuple of them where ``argnums`` is a list.

    >>> value, slope = fluid.autograd.value_and_grad(lambda x: x * x)(fluid.to_tensor(3.0))
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    several = not isinstance(argnums, int)
    places = list(argnums) if not isinstance(argnums, int) else [argnums]

    @api_boundary
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        arguments = list(args)
        watched = []
        for place in places:
            if not isinstance(arguments[place], Operand):
                arguments[place] = to_tensor(arguments[place])
            (alone,) = _watched(arguments[place], keep=True)
            arguments[place] = alone
            watched.append(alone)
        with enable_grad():
            value = func(*arguments, **kwargs)
        (output,) = tensors_in("what the function returns", value)
        if output.array.size != 1:
            raise located(ShapeError, f"expected one value, got shape {list(output.array.shape)}")
        gradients = gradients_of([output], watched, [None], retain_graph=False, create_graph=False)
        found = _or_zeros(gradients, watched)
        return value, tuple(found) if several else found[0]

    return wrapped


def vmap(
    func: Function, in_axes: int | Sequence[int | None] | None = 0, out_axes: int = 0
) -> Function:
    """A function of batches: ``func`` on each sample, the results side by side.

    The samples are taken one after the other, in a loop.

    Args:
        func: takes and gives tensors of one sample.
        in_axes: the dimension of the samples in every argument, or one for each; None for an
            argument that all samples share.
        out_axes: the dimension of the samples in the results.

    Raises:
        ShapeError: arguments have different numbers of samples.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> slopes = fluid.autograd.vmap(
    ...     lambda row: fluid.autograd.vjp(lambda v: (v * v).sum(), row)[1]
    ... )
    >>> slopes(x).tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """

    @api_boundary
    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        axes: list[Any] = (
            list(in_axes) if isinstance(in_axes, (list, tuple)) else [in_axes] * len(args)
        )
        if len(axes) != len(args):
            raise located(
                ArgumentError, f"expected {len(args)} in_axes, one for each argument, got {axes}"
            )
        counts = {arg.array.shape[axis] for arg, axis in zip(args, axes) if axis is not None}
        if len(counts) != 1:
            raise located(
                ShapeError, f"expected one number of samples in all arguments, got {sorted(counts)}"
            )
        columns = [
            [arg] * next(iter(counts)) if axis is None else unstack(arg, axis)
            for arg, axis in zip(args, axes)
        ]
        results = [func(*sample) for sample in zip(*columns)]
        if results and isinstance(results[0], (list, tuple)):
            return type(results[0])(stack(list(each), out_axes) for each in zip(*results))
        return stack(results, out_axes)

    return wrapped


def hvp(
    func: Function, xs: Operands, v: Operands | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """The value of a function with one value, and the product of its Hessian with a vector.

    The gradient of the gradient's product with the vector; the Hessian is never made.

    Args:
        func: takes tensors, gives a tensor of one element.
        xs: where: a tensor or a list of them.
        v: the vector, in the shapes of ``xs``; ones when None.
        create_graph: record the product, so that it can be differentiated.

    Returns:
        what ``func`` gives, and the product, for each of ``xs``; zeros where it takes no part.

    Raises:
        ShapeError: there are several values, or ``v`` is of another shape.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> y, product = fluid.autograd.hvp(
    ...     lambda x: (x * x * x).sum(), x, fluid.to_tensor([1.0, 10.0])
    ... )
    >>> product.tolist()
    [6.0, 120.0]
    """
    arguments, value, outputs = _evaluated(func, xs, create_graph)
    if len(outputs) != 1 or outputs[0].array.size != 1:
        shapes = [list(t.array.shape) for t in outputs]
        raise located(ShapeError, f"expected one value to take the Hessian of, got shapes {shapes}")
    first = gradients_of(outputs, arguments, [None], retain_graph=True, create_graph=True)
    return value, _like(xs, _pushed(first, v, arguments, arguments, create_graph))
