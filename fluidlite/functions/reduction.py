"""Functions that make one number of many: sums, means, extremes, norms; and running sums."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from math import prod as product
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, AxisError
from ..ground.callsite import warn_once
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ground.spellings import of_operator, parameters_of
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import add, maximum, subtract, true_divide, truths
from .elementary import cast, floats, sqrt, square
from .items import get_item
from .mixing import promotion_of

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from .arguments import Axes, DTypeLike

F = TypeVar("F", bound=Callable[..., Any])
_REDUCTIONS = Family(
    {
        "x": "a tensor.",
        "axis": "a dimension or a list of them; all when None.",
        "keepdim": "the dimensions stay, with size 1.",
    }
)


def dims_of(x: Any, axis: Axes) -> tuple[int, ...] | None:
    """The dimensions that ``axis`` names, counted from the front; None for all, and if there are
    none.

    Raises:
        AxisError: there is no such dimension.
    """
    if axis is None:
        return None
    if isinstance(axis, Operand):
        axis = axis.array
    if isinstance(axis, np.ndarray):
        axis = axis.tolist()
    listed = list(axis) if isinstance(axis, (list, tuple, range)) else [axis]
    ndim = x.array.ndim
    dims = integers_of(listed, f"axis to be an integer or a list of them, got {axis!r}")
    for dim in dims:
        if not -builtins.max(ndim, 1) <= dim < builtins.max(ndim, 1):
            raise AxisError(
                f"expected axis in [{-ndim}, {ndim}) for shape {list(x.array.shape)}, got {dim}"
            )
    return tuple(dim % ndim for dim in dims) if dims and ndim else None


def integers_of(listed: Iterable[Any], expected: str) -> tuple[int, ...]:
    """Integers, some of which may be tensors of one element.

    Args:
        listed: the numbers.
        expected: for the message: what, and what came.

    Raises:
        ArgumentError: something else is among them.
    """
    numbers = []
    for number in listed:
        if isinstance(number, Operand):
            number = number.array.item()
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise ArgumentError(f"expected {expected}")
        numbers.append(int(number))
    return tuple(numbers)


def scalar_in(what: str, given: Any) -> int:
    """An integer from a number or a tensor of one element; fractions are cut off, as in paddle 2.

    Raises:
        ArgumentError: it is something else.
    """
    if given.__class__ is int:
        return int(given)
    array = given.array if isinstance(given, Operand) else given
    if isinstance(array, np.ndarray) and array.size == 1:
        given = array.item()
    if isinstance(given, (bool, float, np.floating)) and np.isfinite(given):
        return int(given)
    return integers_of([given], f"{what} to be integers, got {given!r:.60}")[0]


def of_number(function: Callable[..., Any], x: Any, axis: Axes, *options: Any) -> Any:
    """What a function along a dimension gives for a tensor without any: as of a vector of one.

    Args:
        function: takes a tensor, a dimension and the options.
        x: a tensor of no dimensions.
        axis: 0 or -1.
        options: what else the function takes.

    Raises:
        ShapeError: it is another dimension.
    """
    dims: Any = axis if isinstance(axis, (list, tuple)) else [axis]
    for dim in dims:
        normal_axis(dim, 1)
    result = function(eager.reshape(x, shape=(1,)), axis, *options)
    if isinstance(result, tuple):
        return tuple(eager.reshape(each, shape=()) for each in result)
    return eager.reshape(result, shape=())


def _reduced(call: Any, x: Any, axis: Any, keepdim: bool) -> Any:
    """A reduction by an operator."""
    if not isinstance(x, Operand):
        raise ArgumentError(
            f"expected a tensor to reduce, got {x!r:.60}; make it one: fluidlite.to_tensor(...)"
        )
    if axis is None or x.array.ndim == 0:
        return call(x, reduce_all=True, keep_dim=bool(keepdim), zero_d=True)
    dims = dims_of(x, axis)
    if dims is None:
        return call(x, reduce_all=True, keep_dim=bool(keepdim), zero_d=True)
    return call(x, dim=dims, keep_dim=bool(keepdim), zero_d=True)


@_REDUCTIONS
def sum(
    x: Tensor,
    axis: Axes = None,
    dtype: DTypeLike = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of the elements, over some dimensions or all.

    Args:
        x: a tensor; truth values and int32 are summed as int64; other integers, too, but in
            paddle 2's words.
        dtype: the element type to sum in.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> float(fluid.sum(x)), fluid.sum(x, axis=0).tolist()
    (10.0, [4.0, 6.0])
    """
    if dtype is not None:
        x = cast(x, dtype)
    elif isinstance(x, Operand) and x.array.dtype.name in promotion_of(x).narrow:
        x = cast(x, "int64")
    return _reduced(eager.reduce_sum, x, axis, keepdim)


@_REDUCTIONS
def mean(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean of the elements, over some dimensions or all.

    That of integers is an integer, rounded towards zero, with a warning; that of truth values says
    whether some is true.

    >>> x = fluid.to_tensor([1, 2])
    >>> float(fluid.mean(x.astype("float32")))
    1.5
    """
    kind = x.array.dtype.kind if isinstance(x, Operand) else "f"
    if kind not in "biu":
        return mean_of_fractions(x, axis, keepdim)
    warn_once(
        f"mean: that of {x.array.dtype} is {x.array.dtype}, without a fraction, as in paddle; for "
        f"the mean write mean(x.astype('float32'))"
    )
    if kind == "b":
        return any(x, axis, keepdim)
    exact = true_divide(cast(sum(x, axis, None, keepdim), "float64"), counted(x, axis, keepdim))
    return cast(exact, x.dtype)


def mean_of_fractions(x: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """The mean of elements that count as floats.

    Args:
        x, axis, keepdim: as of :func:`mean`.
    """
    return _reduced(eager.reduce_mean, floats(x), axis, keepdim)


def _of_elements(
    x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """A reduction by an operator."""
    return _reduced(eager.operator, x, axis, keepdim)


def _of_truths(
    x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """A reduction of truth values by an operator."""
    return _reduced(eager.operator, truths(x), axis, keepdim)


def _reduction(template: F, name: str, doc: str, operator: str | None = None) -> F:
    """The reduction by another operator."""
    return _REDUCTIONS(of_operator(template, name, doc, operator))


max: Final = _reduction(
    _of_elements,
    "max",
    """The largest element, over some dimensions or all; each of equal ones gets the gradient.

    >>> x = fluid.to_tensor([1.0, 3.0, 3.0], stop_gradient=False)
    >>> fluid.max(x).backward()
    >>> x.grad.tolist()
    [0.0, 1.0, 1.0]
    """,
    "reduce_max",
)
min: Final = _reduction(
    _of_elements,
    "min",
    """The smallest element, over some dimensions or all; each of equal ones gets the gradient.

    >>> fluid.min(fluid.to_tensor([[3.0, 1.0], [2.0, 4.0]]), axis=1).tolist()
    [1.0, 2.0]
    """,
    "reduce_min",
)
amax: Final = _reduction(
    _of_elements,
    "amax",
    """The largest element, over some dimensions or all; equal ones share the gradient.

    >>> x = fluid.to_tensor([1.0, 3.0, 3.0], stop_gradient=False)
    >>> fluid.amax(x).backward()
    >>> x.grad.tolist()
    [0.0, 0.5, 0.5]
    """,
)
amin: Final = _reduction(
    _of_elements,
    "amin",
    """The smallest element, over some dimensions or all; equal ones share the gradient.

    >>> fluid.amin(fluid.to_tensor([[3.0, 1.0], [2.0, 4.0]]), axis=1).tolist()
    [1.0, 2.0]
    """,
)
all: Final = _reduction(
    _of_truths,
    "all",
    """Whether all elements are true.

    >>> fluid.all(fluid.to_tensor([[True, False], [True, True]]), axis=1).tolist()
    [False, True]
    """,
    "reduce_all",
)
any: Final = _reduction(
    _of_truths,
    "any",
    """Whether some element is true.

    >>> fluid.any(fluid.to_tensor([[True, False], [False, False]]), axis=1).tolist()
    [True, False]
    """,
    "reduce_any",
)


@_REDUCTIONS
def prod(
    x: Tensor,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """The product of the elements, over some dimensions or all; its gradient is right at zeros.

    >>> fluid.prod(fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
    [2.0, 12.0]
    """
    if dtype is not None:
        x = cast(x, dtype)
    elif isinstance(x, Operand) and x.array.dtype == np.dtype("bool"):
        x = cast(x, "int64")
    return _reduced(eager.reduce_prod, x, axis, keepdim)


@_REDUCTIONS
def count_nonzero(
    x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """How many elements are not 0.

    >>> fluid.count_nonzero(fluid.to_tensor([[1, 0], [2, 3]]), axis=1).tolist()
    [1, 2]
    """
    return sum(truths(x), axis, "int64", keepdim)


def counted(x: Any, axis: Axes, keepdim: bool) -> Any:
    """How many elements a reduction makes one of; a tensor where it is known in a run only."""
    dims = dims_of(x, axis)
    shape = x.array.shape if dims is None else [x.array.shape[d] for d in dims]
    if -1 in shape:
        return sum(eager.fill_any_like(x, value=1.0), axis, keepdim=keepdim)
    return float(product(shape))


def rows_of(x: Any) -> Any:
    """How many rows there are; a tensor where it is known in a run only."""
    rows = x.array.shape[0]
    if rows != -1:
        return float(rows)
    known_in_run = eager.slice(eager.shape(x), axes=(0,), starts=(0,), ends=(1,))
    return cast(eager.reshape(known_in_run, shape=()), x.dtype)


@_REDUCTIONS
def var(
    x: Tensor,
    axis: Axes = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean square distance from the mean.

    Args:
        unbiased: divide by one less than the number of elements; that of one element is 0.

    >>> fluid.var(fluid.to_tensor([1.0, 3.0, 5.0])).item()
    4.0
    """
    return variance(x, axis, unbiased, keepdim, 1.0)


def variance(x: Tensor, axis: Axes, unbiased: bool, keepdim: bool, least: float) -> Tensor:
    """The mean square distance from the mean, as :func:`var` and others have it.

    Args:
        x, axis, unbiased, keepdim: as of :func:`var`.
        least: what the squares of one element are divided by, where it is ``unbiased``.
    """
    x = floats(x)
    squares = square(subtract(x, mean(x, axis, True)))
    if not unbiased:
        return mean(squares, axis, keepdim)
    free: Any = counted(x, axis, keepdim) - 1.0
    if not isinstance(free, float):
        free = maximum(free, least)
    elif free <= 0.0:
        free = np.nan if free < 0.0 else least  # of no elements, or of one
    return true_divide(sum(squares, axis, keepdim=keepdim), free)


@parameters_of(var)
def std(*given: Any) -> Tensor:
    """The root of the mean square distance from the mean.

    >>> fluid.std(fluid.to_tensor([1.0, 3.0, 5.0])).item()
    2.0
    """
    return sqrt(var(*given))


@_REDUCTIONS
def logsumexp(
    x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The logarithm of the sum of e^x, without overflow.

    >>> float(fluid.logsumexp(fluid.to_tensor([1000.0, 1000.0])))
    1000.693...
    """
    x = floats(x)
    dims = dims_of(x, axis)
    if dims is None:
        return eager.logsumexp(x, reduce_all=True, keepdim=bool(keepdim), zero_d=True)
    return eager.logsumexp(x, axis=dims, keepdim=bool(keepdim), zero_d=True)


@_REDUCTIONS
def norm(
    x: Tensor,
    p: float | str = "fro",
    axis: Axes = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The p-norm of the elements: (the sum of |x|^p)^(1/p).

    Args:
        p: a number, inf and -inf among them; "fro" is 2.

    >>> float(fluid.norm(fluid.to_tensor([3.0, 4.0])))
    5.0
    """
    if isinstance(p, str) and p != "fro":
        raise ArgumentError(
            f"norm: expected p to be a number or 'fro', got {p!r:.60}; "
            f"paddle.linalg.svd(x)[1].sum(-1) is the nuclear norm"
        )
    order = 2.0 if p == "fro" else float(p)
    dims = dims_of(x, axis)
    if order == 2.0 and (dims is None or len(dims) > 1):
        return _reduced(eager.frobenius_norm, x, axis, keepdim)
    if dims is None:
        out = eager.p_norm(eager.reshape(x, shape=(-1,)), porder=order, axis=0)
        return eager.reshape(out, shape=(1,) * x.array.ndim if keepdim else ())
    if len(dims) == 1:
        return eager.p_norm(x, porder=order, axis=dims[0], keepdim=keepdim)
    rest = [k for k in range(x.array.ndim) if k not in dims]
    sizes = [x.array.shape[k] for k in rest]
    rows = eager.reshape(eager.transpose(x, axis=(*rest, *dims)), shape=(*sizes, -1))
    out = eager.p_norm(rows, porder=order, axis=len(rest))
    if not keepdim:
        return out
    kept = [1 if k in dims else n for k, n in enumerate(x.array.shape)]
    return eager.reshape(out, shape=tuple(kept))


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y.

    >>> fluid.dist(fluid.to_tensor([0.0, 0.0]), fluid.to_tensor([3.0, 4.0])).item()
    5.0
    """
    return norm(subtract(x, y), p)


def cumsum(
    x: Tensor, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """The sums of all elements up to each one.

    Args:
        x: a tensor.
        axis: along which dimension; when None, x is flattened.
        dtype: the element type to sum in.

    >>> fluid.cumsum(fluid.to_tensor([1.0, 2.0, 3.0])).tolist()
    [1.0, 3.0, 6.0]
    """
    if dtype is not None:
        x = cast(x, dtype)
    if axis is None:
        return eager.cumsum(eager.reshape(x, shape=(-1,)), axis=0)
    if not x.array.ndim:
        return of_number(cumsum, x, axis)
    return eager.cumsum(x, axis=axis)


def cumprod(
    x: Tensor, dim: int | None = None, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """The products of all elements up to each one.

    Args:
        x: a tensor.
        dim: along which dimension; when None, x is flattened.
        dtype: the element type to multiply in.

    >>> fluid.cumprod(fluid.to_tensor([1.0, 2.0, 3.0]), 0).tolist()
    [1.0, 2.0, 6.0]
    """
    if dtype is not None:
        x = cast(x, dtype)
    if dim is None:
        x, dim = eager.reshape(x, shape=(-1,)), 0
    return eager.cumprod(x, dim=one_axis(x, dim) if x.array.ndim else dim)


def one_axis(x: Any, axis: Any) -> int:
    """A dimension, counted from the front.

    Args:
        x: a tensor.
        axis: an integer, or a tensor of one.

    Raises:
        ArgumentError: the axis is no integer.
        AxisError: there is no such dimension.
    """
    if isinstance(axis, Operand):
        axis = axis.array.item()
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise ArgumentError(f"expected an axis that is an integer, got {axis!r:.60}")
    return normal_axis(int(axis), x.array.ndim)


def up_to_each(combine: Callable[[Any, Any], Any], x: Any, axis: int) -> Any:
    """What an associative function makes of all elements up to each one, in a number of steps that
    is the logarithm of theirs.

    Args:
        combine: the function of two tensors.
        x: a tensor.
        axis: the dimension, whose size is known.

    Raises:
        ArgumentError: the axis is no integer.
        AxisError: there is no such dimension.
    """
    along = one_axis(x, axis)
    size, before = +x.array.shape[along], (slice(None),) * along
    step = 1
    while step < size:  # each one is made of twice as many elements as before
        ends = [get_item(x, (*before, part)) for part in (slice(step, None), slice(None, -step))]
        x = eager.concat([get_item(x, (*before, slice(step))), combine(*ends)], axis=along)
        step *= 2
    return x


def median(
    x: Tensor, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The element in the middle of the order, or the mean of the two that are.

    Args:
        x: a tensor.
        axis: along which dimension; all elements when None.
        keepdim: the dimension stays, with size 1.

    >>> fluid.median(fluid.to_tensor([3.0, 1.0, 2.0])).item()
    2.0
    """
    x = floats(x)
    ndim = x.array.ndim
    if axis is None:
        flat = eager.reshape(x, shape=(-1,))
        out = median(flat, 0)
        return eager.reshape(out, shape=(1,) * ndim) if keepdim else out
    if not ndim:
        return of_number(median, x, axis)
    (dim,) = dims_of(x, axis) or (0,)
    size = +x.array.shape[dim]
    if not size:  # there is none: 0 / 0
        return mean(x, dim, keepdim)
    ordered, _ = eager.argsort(x, axis=dim)
    low, high = (size - 1) // 2, size // 2
    index = np.asarray([low, high])
    middle = mean(eager.index_select(ordered, index, dim=dim), dim, keepdim)
    lost = eager.where(eager.isnan_v2(x), x, eager.fill_zeros_like(x))
    return add(middle, sum(lost, dim, keepdim=keepdim))


def argmax(
    x: Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """The place of the largest element; the first one where several are.

    Args:
        x: a tensor.
        axis: along which dimension; of the flattened tensor when None.
        keepdim: the dimension stays, with size 1.
        dtype: int64 or int32.

    >>> fluid.argmax(fluid.to_tensor([[1.0, 3.0], [5.0, 2.0]]), axis=1).tolist()
    [1, 0]
    """
    return _place(eager.arg_max, x, axis, keepdim, dtype)


@parameters_of(argmax)
def argmin(*given: Any) -> Tensor:
    """The place of the smallest element; the first one where several are.

    >>> fluid.argmin(fluid.to_tensor([[3.0, 1.0], [2.0, 4.0]]), axis=1).tolist()
    [1, 0]
    """
    return _place(eager.arg_min, *given)


def _place(
    call: Any, x: Any, axis: int | None, keepdim: bool, dtype: Any, name: str | None = None
) -> Any:
    kind = as_dtype(dtype)
    if axis is None or not x.array.ndim:
        normal_axis(axis or 0, x.array.ndim or 1)
        out = call(eager.reshape(x, shape=(-1,)), axis=0, dtype=kind)
        return eager.reshape(out, shape=(1,) * x.array.ndim if keepdim else ())
    return call(x, axis=axis, keepdims=keepdim, dtype=kind)
