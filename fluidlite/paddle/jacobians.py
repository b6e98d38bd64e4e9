"""Matrices of derivatives whose rows are computed at their use."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..backward import gradients as gradients_of_variables
from ..eager.engine import gradients_of, tensors_in
from ..eager.mode import enable_grad
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, GradientShapeError, OutOfRangeError
from ..functions.creation import assign, zeros_like
from ..functions.shaping import concat, reshape, stack
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from ..opdef.operand import Operands

Index = int | slice | tuple[int | slice, ...]


def derivatives(ys: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Any] | None = None) -> Any:
    """The gradients of tensors or of variables, which can be differentiated again.

    Args:
        ys: what is differentiated.
        xs: with respect to what.
        seeds: what each is weighted with; ones when None.

    Returns:
        a gradient for each of ``xs``; zeros for those that take no part.
    """
    weights = [None] * len(ys) if seeds is None else list(seeds)
    if any(isinstance(each, Variable) for each in (*ys, *xs)):
        found = gradients_of_variables(list(ys), list(xs), weights) or [None]
    else:
        found = gradients_of(ys, xs, weights, retain_graph=True, create_graph=True)
    return [_flowing_zeros(x) if each is None else each for each, x in zip(found, xs)]


def _flowing_zeros(like: Any) -> Any:
    """Zeros that can be differentiated, as other gradients can."""
    zeros = zeros_like(like)
    zeros.stop_gradient = False
    return zeros


def operands_in(what: str, given: Any) -> list[Any]:
    """A tensor or a variable, or some of them, as a list.

    Raises:
        ArgumentError: something else, or nothing.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    if listed and all(isinstance(each, Variable) for each in listed):
        return listed
    return tensors_in(what, given)


def evaluated(function: Callable[..., Any], xs: Operands) -> tuple[list[Any], Any, list[Any]]:
    """The arguments of a function as operands that want gradients, what it gives, and that as a
    list.
    """
    arguments = [_watched(each) for each in operands_in("xs", xs)]
    with enable_grad():
        value = function(*arguments)
    return arguments, value, operands_in("what the function returns", value)


def _watched(operand: Any) -> Any:
    """An operand as one that wants a gradient."""
    if operand.stop_gradient:
        is_tensor = isinstance(operand, TensorRecord)
        alone = operand.results(operand.array) if is_tensor else assign(operand)
        alone.stop_gradient = False
        return alone
    with enable_grad():
        return assign(operand) if isinstance(operand, TensorRecord) else operand


class Jacobian:
    """The derivatives of every element of a value by every element of others, row by row.

    A row is computed when an index first asks for it, and kept.  What is asked of it as of a tensor
    (``J + 1``, ``J.numpy()``) is asked of all rows.

    Args:
        ys: what is differentiated: their elements, one after the other, are the rows.
        xs: with respect to what: their elements are the columns.
        batched: whether the first dimension of all of them counts samples that do not depend on
            each other, each with a matrix of its own.
        whole: whether there are rows and columns where ``ys`` or ``xs`` is a single element, too.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> J = paddle.autograd.jacobian(x * x, x)
    >>> J.shape, J[1].tolist()
    ([2, 2], [0.0, 4.0])
    """

    def __init__(
        self, ys: Sequence[Any], xs: Sequence[Any], batched: bool, whole: bool = False
    ) -> None:
        self._batched = batched
        lead = [-1] if batched else []
        with enable_grad():
            self._values: Any = concat(
                [reshape(each, [*lead, _size(each, batched)]) for each in ys], axis=len(lead)
            )
        self._xs = list(xs)
        self._rows: dict[int, Any] = {}
        ranks = [{len(each.shape) - len(lead) for each in several} for several in (ys, xs)]
        self._has_rows, self._has_columns = (whole or rank != {0} for rank in ranks)

    @property
    def shape(self) -> Any:
        """The sizes, as a list."""
        columns = sum(_size(x, self._batched) for x in self._xs)
        return [
            *([self._xs[0].shape[0]] if self._batched else []),
            *([self._values.shape[-1]] if self._has_rows else []),
            *([columns] if self._has_columns else []),
        ]

    def _row(self, number: int) -> Any:
        """Row ``number``: [N], or [B, N] for samples."""
        if number not in self._rows:
            with enable_grad():
                value = self._values[..., number]
                found = derivatives([value], self._xs)
                lead = [-1] if self._batched else []
                parts = [reshape(g, [*lead, _size(g, self._batched)]) for g in found]
                self._rows[number] = parts[0] if len(parts) == 1 else concat(parts, axis=len(lead))
        return self._rows[number]

    def __getitem__(self, indexes: Index) -> Any:
        """Some of the derivatives, as a tensor.

        Args:
            indexes: whole numbers and slices.

        Raises:
            OutOfRangeError: there is no such row, or ``...`` is among them.
            ArgumentError: it is neither number nor slice.
        """
        listed: list[Any] = list(indexes) if isinstance(indexes, tuple) else [indexes]
        told = len(listed) > 1 or not self._has_columns
        for index in listed:
            if index is Ellipsis:
                raise OutOfRangeError("derivatives are indexed by numbers and slices, not by ...")
            if isinstance(index, bool) or not isinstance(index, (int, slice)):
                raise ArgumentError(
                    f"expected an index of numbers and slices, got {index!r:.60} of type "
                    f"{type(index).__name__}"
                )
        rank = self._batched + self._has_rows + self._has_columns
        if len(listed) > rank:
            raise OutOfRangeError(f"expected at most {rank} indexes, got {len(listed)}")
        place = int(self._batched)  # of the index of rows
        listed += [slice(None)] * (rank - len(listed))
        if not self._has_rows:
            # as in paddle 2, samples alone keep the dimension of their only row
            listed.insert(place, slice(None) if place and not told else 0)
        if not self._has_columns:
            listed.append(0)
        count = self._values.shape[-1]
        which = listed[place]
        chosen = range(count)[which] if isinstance(which, slice) else [_checked(which, count)]
        if not len(chosen):
            raise ArgumentError(f"{which} takes none of the {count} rows")
        with enable_grad():
            rows = stack([self._row(number) for number in chosen], axis=place)
            listed[place] = slice(None) if isinstance(which, slice) else 0
            found = rows[tuple(listed)]
        is_constant = isinstance(found, TensorRecord) and found.stop
        return found.results(found.array, None, False) if is_constant else found

    def __getattr__(self, name: str) -> Any:
        """What a tensor of all derivatives has by that name."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self[:], name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape})"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """All derivatives as an array of NumPy's."""
        return self[:].numpy().__array__(*args, **kwargs)

    __hash__ = object.__hash__


def _of_all(name: str) -> Callable[..., Any]:
    """An operator of Python's on a tensor of all derivatives."""
    function = getattr(operator, name)

    def applied(self: Jacobian, other: Any) -> Any:
        return function(self[:], other[:] if isinstance(other, Jacobian) else other)

    applied.__name__ = f"__{name}__"
    applied.__doc__ = f"``{name}`` of a tensor of all derivatives."
    return applied


for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le",
    "gt", "ge",
):  # fmt: skip
    setattr(Jacobian, f"__{_name}__", _of_all(_name))


class Hessian(Jacobian):
    """The second derivatives of a value with one element, row by row: see :class:`Jacobian`."""


def _size(each: Any, batched: bool) -> int:
    """How many elements there are, in a sample."""
    size = 1
    for dim in each.shape[1:] if batched else each.shape:
        size *= dim
    return size


def _checked(number: int, count: int) -> int:
    if not -count <= number < count:
        raise OutOfRangeError(f"expected a row of {count}, got {number}")
    return number % count


def need_one_value(ys: Sequence[Any], batched: bool) -> None:
    """Refuse to take second derivatives of several values.

    Raises:
        GradientShapeError: there are several, in a sample.
    """
    if len(ys) != 1 or _size(ys[0], batched) != 1:
        raise GradientShapeError(
            f"expected one value{' in each sample' if batched else ''} to take second derivatives "
            f"of, got shapes {[list(each.shape) for each in ys]}"
        )
    if batched and not ys[0].shape:
        raise OutOfRangeError("expected samples along axis 0, got a value of shape []")


list_public_names(globals())
api_boundaries(globals())
