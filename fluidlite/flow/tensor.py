# ruff: noqa: I001 - lists of names are filled by hand
"""Tensors that follow OneFlow's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, overload

import numpy as np

from ..eager import engine
from ..eager.recording import eager
from ..eager.sweep import BackwardPass, described
from ..eager.tensor_core import OPERATOR_FUNCTIONS, TensorCore, need_differentiable
from ..errors import ArgumentError, GradientShapeError, GradientStateError, TruthError
from ..functions.creation import array_of
from ..functions.mixing import DIMENSIONS_FIRST, Promotion, default_float
from .algebra import floor_divide, fmod
from .comparing import (
    isfinite, isinf, isnan, logical_and, logical_not, logical_or, logical_xor,
)  # fmt: skip
from .elementary import (
    acosh, add, asinh, atan2, atanh, clamp, div, erfc, exp2, logsigmoid, maximum, minimum, mul, sub,
)  # fmt: skip
from .functions import (
    all, amax, amin, any, argmax, argmin, log_softmax, logsumexp, max, mean, min, prod, relu,
    softmax, std, sum, var,
)  # fmt: skip
from .shapes import (
    argsort, chunk, cumsum, expand, flatten, flip, gather, index_select, masked_fill,
    masked_select, permute, repeat, reshape, roll, sort, split, squeeze, t, topk, transpose, tril,
    triu, unbind, unsqueeze,
)  # fmt: skip
from . import devices, printing
from .conversion import Conversion
from .inplace import InPlace
from .function_nodes import FunctionNode
from .kinds import Size, dtype_of
from .losses import begin_backward
from .methods import OF_VARIABLES, MoreMethods
from .norms import norm
from .placements import Placed, SbpLike, check_placed, placement
from .sbp import sbp as Sbp
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from threading import Lock

    from ..functions.arguments import ArrayLike, DTypeLike
    from ..ground.dtypes import DType
    from .devices import DeviceLike
    from .spelling import Function

    Gradient = np.ndarray[Any, Any] | TensorCore


class Tensor(Conversion, Placed, MoreMethods, InPlace, TensorCore):  # type: ignore[misc]
    """An array that remembers how it was made, under strict rules.

    What is differentiated has one element or is given a gradient, wants a gradient, and has not
    been released; gradients want gradients themselves only with ``create_graph``; those that
    ``retain_grad`` keeps add up as those of leaves do.  Make one with :func:`tensor`, or, of the
    default element type, with this class.

    Args:
        data: sizes, of which it is made without saying what is in it; or one list, array or number
            that it holds; or a tensor, whose element type it keeps.
        device: the CPU, or None.

    Raises:
        ArgumentError: NumPy makes no array of numbers of it.

    >>> x = fluid.flow.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.], dtype=oneflow.float32)
    >>> fluid.flow.Tensor(2, 3).shape, fluid.flow.Tensor([2, 3])
    (oneflow.Size([2, 3]), tensor([2., 3.], dtype=oneflow.float32))
    """

    def __init_subclass__(cls, results: bool = False, **more: Any) -> None:
        super().__init_subclass__(results=results, **more)

    def __init__(self, *data: ArrayLike, device: DeviceLike = None) -> None:
        devices.need_cpu(device)
        first: Any = data[0] if data else ()
        if len(data) == 1 and isinstance(first, TensorCore):
            source = first if first.stop else eager.assign(first)
            super().__init__(source.array, source.origin, source.stop)
        else:
            super().__init__(filled(data, default_float()))

    sees: ClassVar[bool] = True
    refuses_views: ClassVar[bool] = True
    keeps_results: ClassVar[bool] = True
    byte_masks: ClassVar[bool] = True
    iterates: ClassVar[bool] = True
    accumulates: ClassVar[bool] = True
    accumulates_kept: ClassVar[bool] = True
    gradient_stops: bool = True
    copies_gradients: ClassVar[bool] = False
    flat_zeros: ClassVar[bool] = True
    results: ClassVar[type[Tensor]]
    promotion: ClassVar[Promotion] = DIMENSIONS_FIRST
    operator_functions: ClassVar[Mapping[str, Any]] = {
        **OPERATOR_FUNCTIONS,
        "__floordiv__": floor_divide,
        "__mod__": fmod,
    }
    flowing: ClassVar[tuple[str, bool]] = "requires_grad", True
    retaining: ClassVar[str] = "retain_grad"

    sum = sum
    mean = mean
    prod = prod
    max = max
    min = min
    amax = amax
    amin = amin
    all = all
    any = any
    var = var
    std = std
    norm = norm
    logsumexp = logsumexp
    argmax = argmax
    argmin = argmin
    softmax = softmax
    log_softmax = log_softmax
    relu = relu

    atan2 = atan2  # type: ignore[assignment]
    isfinite = isfinite  # type: ignore[assignment]
    isinf = isinf  # type: ignore[assignment]
    isnan = isnan  # type: ignore[assignment]
    logical_and = logical_and  # type: ignore[assignment]
    logical_not = logical_not  # type: ignore[assignment]
    logical_or = logical_or  # type: ignore[assignment]
    logical_xor = logical_xor  # type: ignore[assignment]
    maximum: ClassVar[Function] = maximum  # type: ignore[assignment]
    minimum: ClassVar[Function] = minimum  # type: ignore[assignment]
    reshape: ClassVar[Function] = reshape
    view: ClassVar[Function] = reshape
    squeeze: ClassVar[Function] = squeeze
    unsqueeze: ClassVar[Function] = unsqueeze
    flatten: ClassVar[Function] = flatten
    transpose: ClassVar[Function] = transpose
    t: ClassVar[Function] = t
    permute = permute
    expand = expand
    repeat = repeat
    split = split
    chunk = chunk
    unbind = unbind
    flip = flip
    roll = roll
    gather = gather
    index_select = index_select
    masked_fill = masked_fill
    masked_select = masked_select
    sort = sort
    argsort = argsort
    topk = topk
    cumsum = cumsum
    tril = tril
    triu = triu

    add = add
    sub = sub
    mul = mul
    div = div
    clamp = clamp
    clip = clamp
    asinh = asinh
    acosh = acosh
    atanh = atanh
    erfc = erfc
    exp2 = exp2
    logsigmoid = logsigmoid

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow through the tensor.

        Raises:
            GradientStateError: when set to False on a result of an operator.
            GradientTypeError: when set to True on integers or truth values.
        """
        return not self.stop

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise engine.located(ArgumentError, f"expected True or False, got {value!r:.60}")
        if not value and not self.is_leaf:
            raise engine.located(
                GradientStateError,
                f"{described(self)} is the result of an operator: requires_grad of leaves "
                f"alone can be set to False; cut it off with detach()",
            )
        if value:
            need_differentiable(self)
        self.stop: bool = not value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad``, and give the tensor itself."""
        self.requires_grad = requires_grad
        return self

    def receive(self, gradient: Gradient, sweep: BackwardPass, lock: Lock) -> None:
        """Take a gradient that a sweep found; a leaf that is frozen by now takes none."""
        if not self.stop:
            super().receive(gradient, sweep, lock)

    def backward(
        self,
        gradient: TensorCore | None = None,
        retain_graph: bool | None = False,
        create_graph: bool = False,
        inputs: TensorCore | Sequence[TensorCore] | None = None,
    ) -> None:
        """Add the gradients of this tensor to ``.grad`` of the leaves that it depends on.

        Args:
            gradient: the cotangent to begin with, of this tensor's shape; None for 1, where the
                tensor has one element.
            retain_graph: keep the graph, so that this can be done again.
            create_graph: record the gradients, so that they can be differentiated; keeps the graph,
                too.
            inputs: the tensors that get a gradient, and no others; all leaves when None.

        Raises:
            GradientStateError: the tensor wants no gradient.
            GradientShapeError: the cotangent is of another shape; there is none, and the tensor has
                more than one element.
            ArgumentError: the cotangent is no tensor.
            ReleasedError: the graph was released by an earlier call.

        >>> x = fluid.flow.tensor(2.0, requires_grad=True)
        >>> (x * x * x).backward(create_graph=True)
        >>> x.grad.requires_grad
        True
        """
        own: Any = self
        if own.appends is not None:
            begin_backward(own, gradient, inputs)
            return
        seeds = engine.seeds_in("gradient", gradient, 1)
        engine.check_bools(retain_graph=retain_graph, create_graph=create_graph)
        need_start(self, seeds[0])
        wanted = None if inputs is None else engine.tensors_in("inputs", inputs)
        engine.sweep_back(
            [self], seeds, retain_graph=retain_graph, create_graph=create_graph, inputs=wanted
        )

    of_variables: ClassVar[dict[str, Any]] = {**OF_VARIABLES, "backward": backward}

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is no leaf; that of leaves is kept anyway.

        Raises:
            GradientStateError: the tensor wants no gradient.
        """
        if self.stop:
            raise engine.located(
                GradientStateError,
                f"{described(self)} wants no gradient, so that there is none to keep; it was "
                f"made of nothing with requires_grad=True",
            )
        self.retain_grads()

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """The sizes, or one of them.

        Args:
            dim: which one; all when None.
        """
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """The number of elements."""
        return int(self.array.size)

    @property
    def shape(self) -> Size:  # type: ignore[override]
        """The sizes."""
        return Size(self.array.shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtype_of(self.array)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return super().__deepcopy__(memo) if self.is_leaf else self.detach().clone()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.array.shape else super().__format__(spec)

    def __and__(self, other: Any) -> Any:
        return logical_and(self, other)

    def __or__(self, other: Any) -> Any:
        return logical_or(self, other)

    def __xor__(self, other: Any) -> Any:
        return logical_xor(self, other)

    __rand__: Final = __and__
    __ror__: Final = __or__
    __rxor__: Final = __xor__

    def __invert__(self) -> Any:
        if self.array.dtype.kind != "b":
            raise engine.located(
                TruthError, f"expected truth values to invert, got {described(self)}"
            )
        x: Any = self
        return logical_not(x)

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise engine.located(
                TruthError, f"expected one element, got shape {list(self.array.shape)}"
            )
        return bool(self.array.item())

    @property
    def grad_fn(self) -> FunctionNode | None:  # type: ignore[override]
        """The operator that gave the tensor; None for leaves."""
        return None if self.is_leaf else FunctionNode(self.origin)

    def __repr__(self) -> str:
        notes = [*self._placing(), f"dtype={self.dtype}"]
        if not self.stop:
            node = self.grad_fn
            notes.append("requires_grad=True" if node is None else f"grad_fn=<{node.name()}>")
        return printing.tensor_text(self.numpy(), notes)


class _Result(Tensor):
    """What the engine makes tensors with: an array, its origin and whether gradients stop."""

    def __new__(cls, array: Any, origin: Any = None, stop: bool = True) -> Any:
        made: Any = _new(Tensor)
        made.array, made.origin, made.stop, made.version = array, origin, stop, 0
        return made


_new = object.__new__
Tensor.results = _Result


class _GlobalResults:
    """What the engine makes results of global tensors with: they lie as the first operand does.

    Args:
        placed: the place of the operand.
    """

    __slots__ = ("placed",)

    frees_all: ClassVar[bool] = Tensor.frees_all
    flat_zeros: ClassVar[bool] = Tensor.flat_zeros

    def __init__(self, placed: tuple[placement, tuple[Sbp, ...]]) -> None:
        self.placed = placed

    def __call__(self, array: Any, origin: Any = None, stop: bool = True) -> Any:
        made = _Result(array, origin, stop)
        where, ways = self.placed
        made._place_at((where, tuple([each.of_rank(array.ndim) for each in ways])))
        return made


Tensor.global_results = _GlobalResults


def filled(data: tuple[Any, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An array of what constructors of tensors are given.

    Args:
        data: sizes; or one list, array, number or tensor.
        dtype: the element type.

    Raises:
        ArgumentError: NumPy makes no array of numbers of it.
    """
    first = data[0] if data else ()
    of_elements = (len(data) == 1 and not isinstance(first, (Size, int))) or not data
    if of_elements or isinstance(first, bool):
        return array_of(first, None).astype(dtype)
    return np.zeros([*first] if isinstance(first, Size) else data, dtype)


def made(
    lenient: Tensor,
    device: DeviceLike = None,
    requires_grad: bool = False,
    placement: placement | None = None,
    sbp: SbpLike = None,
    pin_memory: bool = False,
) -> Tensor:
    """The tensor of this spelling for one of another.

    Args:
        lenient: a new tensor.
        device: the CPU, or None.
        requires_grad: whether gradients flow to it.
        placement: the processes that have it, of which there is one.
        sbp: how its parts lie with them.
        pin_memory: accepted: there is no other device to copy it to.
    """
    placed = check_placed(placement, sbp)
    devices.need_cpu(device)
    if lenient.appends is not None:
        return lenient
    result = lenient if type(lenient) is Tensor else Tensor.results(lenient.array)
    if not isinstance(requires_grad, (bool, np.bool_)):
        raise engine.located(
            ArgumentError, f"expected requires_grad to be a bool, got {requires_grad!r:.60}"
        )
    if requires_grad:
        result.requires_grad = True
    if placed:
        result._place_at(placed)
    return result


def _copied(data: ArrayLike, dtype: DTypeLike = None) -> Tensor:
    """A tensor with a copy of some values.

    Args:
        data: a number, a list, an array, or a tensor: no gradient flows to that.
        dtype: the element type; when None, that of an array, int64 for integers, bool for truth
            values, and the default type for fractions, those of NumPy among them.

    Raises:
        ArgumentError: NumPy makes no array of numbers of it.
        GradientTypeError: integers and truth values have no gradient.
    """
    of_default = dtype is None and isinstance(data, np.floating)
    return Tensor.results(array_of(data, default_float() if of_default else dtype))


tensor: Function = ONEFLOW(
    _copied,
    "tensor",
    """A tensor with a copy of some values.

    >>> fluid.flow.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], dtype=oneflow.float32, requires_grad=True)
    """,
    order="data, *, dtype",
    then=made,
)


def need_start(given: Any, seed: Any) -> None:
    """Refuse what cannot be differentiated.

    Args:
        given: a tensor.
        seed: its cotangent; None for ones.

    Raises:
        GradientStateError: it wants no gradient.
        GradientShapeError: it has more than one element, and there is no cotangent.
    """
    if given.stop:
        raise engine.located(
            GradientStateError,
            f"{described(given)} wants no gradient: neither it nor anything that it was made "
            f"of has requires_grad=True",
        )
    if seed is None and given.array.size != 1:
        raise engine.located(
            GradientShapeError,
            f"expected one element to differentiate, or a gradient to begin with, got shape "
            f"{list(given.array.shape)} and no gradient for {described(given)}; sum it up "
            f"first, or pass a gradient of its shape",
        )
