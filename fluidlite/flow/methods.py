# ruff: noqa: I001 - lists of names are filled by hand
"""Further methods of tensors: functions under the same names, and what is written in place."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..eager.mode import no_grad
from ..eager.prepared import stream_guard, generator as streams
from ..eager.writing import Writing
from ..functions import creation, elementary, noise
from ..ground.dtypes import as_dtype
from ..ground.spellings import Spelling
from ..functions.elementary import abs, acos, asin, atan, neg
from .activations import gelu, mish, selu, silu, softplus, softsign
from .algebra import (
    addcdiv, addcmul, addmm, baddbmm, bmm, cross, diag, diagonal, floor_divide, fmod, inner,
    inverse, lerp, mm, mv, outer, rsub, trace,
)  # fmt: skip
from .arranging import (
    argwhere, bincount, broadcast_to, count_nonzero, cumprod, hsplit, index_add, index_fill,
    kthvalue, median, movedim, narrow, nonzero, quantile, repeat_interleave, scatter, scatter_add,
    select, take, take_along_dim, tensor_split, tile, unflatten, unfold,
    unique, vsplit,
)  # fmt: skip
from .shapes import transpose as transpose_
from .filling import (
    kaiming_normal_, kaiming_uniform_, orthogonal_, trunc_normal_, xavier_normal_,
    xavier_uniform_,
)  # fmt: skip
from .placing import as_strided, erfinv, lgamma, nansum, nms
from .comparing import allclose, eq, equal, ge, gt, isclose, le, lt, ne
from .elementary import acosh, asinh, atanh, clamp_max, clamp_min, round
from . import devices, placing, shapes
from . import elementary as own

if TYPE_CHECKING:
    from ..functions.arguments import ArrayLike, DTypeLike, Numbers
    from .devices import DeviceLike
    from .generators import Generator
    from .spelling import Function
    from .tensor import Tensor


_SAME, _SIZE = Spelling({}), "self, *size, dtype, device, requires_grad"


class MoreMethods(Writing, results=False):
    """Functions whose first argument is the tensor."""

    unnoticed_data: ClassVar[bool] = True

    eq = eq
    ne = ne
    gt = gt
    ge = ge
    lt = lt
    le = le
    greater = gt
    greater_than = gt
    greater_equal = ge
    less_than = lt
    less_equal = le
    not_equal = ne
    equal = equal
    allclose = allclose
    isclose = isclose

    mm = mm
    bmm = bmm
    mv = mv
    outer = outer
    inner = inner
    inverse = inverse
    addmm = addmm
    baddbmm = baddbmm
    addcmul = addcmul
    addcdiv = addcdiv
    cross = cross
    lerp = lerp
    fmod = fmod
    floor_divide = floor_divide
    rsub = rsub
    diagonal = diagonal
    diag = diag
    trace = trace

    tile = tile
    movedim = movedim
    swapaxes = transpose_
    swapdims = transpose_
    narrow = narrow
    select = select
    tensor_split = tensor_split
    hsplit = hsplit
    vsplit = vsplit
    repeat_interleave = repeat_interleave
    unflatten = unflatten
    unfold = unfold
    argwhere = argwhere
    unique = unique
    take = take
    take_along_dim = take_along_dim
    scatter = scatter
    scatter_add = scatter_add
    index_add = index_add
    index_fill = index_fill
    cumprod = cumprod
    count_nonzero = count_nonzero
    nonzero = nonzero
    median = median
    kthvalue = kthvalue
    quantile = quantile
    bincount = bincount
    broadcast_to = broadcast_to

    as_strided = as_strided
    nansum = nansum
    erfinv = erfinv
    lgamma = lgamma
    nms = nms
    gelu = gelu
    mish = mish
    selu = selu
    silu = silu
    softplus = softplus
    softsign = softsign
    kaiming_normal_ = kaiming_normal_
    kaiming_uniform_ = kaiming_uniform_
    orthogonal_ = orthogonal_
    trunc_normal_ = trunc_normal_
    xavier_normal_ = xavier_normal_
    xavier_uniform_ = xavier_uniform_

    clamp_min = clamp_min
    clamp_max = clamp_max
    round = round
    negative = neg
    absolute = abs
    arccos = acos
    arcsin = asin
    arctan = atan
    arccosh = acosh
    arcsinh = asinh
    arctanh = atanh

    def in_top_k(self, predictions: Tensor, k: int) -> Tensor:
        """Whether the tensor's number of each row is among its k largest predictions."""
        return placing.in_top_k(self, predictions, k)

    def bernoulli(self, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
        """Ones with the probabilities that the tensor holds, or with one for all; zeros else."""
        chances = self if p is None else creation.full_like(self, p)
        with nullcontext() if generator is None else stream_guard(generator.stream):
            return creation.bernoulli(chances)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the elements, as an array."""
        return np.array(self.array)

    def where(self, condition: Tensor, other: Tensor) -> Tensor:
        """The elements where a condition holds, those of another tensor elsewhere."""
        return own.where(condition, self, other)

    def reshape_as(self, other: Tensor) -> Tensor:
        """The tensor in the shape of another one."""
        return shapes.reshape(self, list(other.array.shape))

    view_as = reshape_as

    def expand_as(self, other: Tensor) -> Tensor:
        """The tensor repeated to the shape of another one."""
        return shapes.expand(self, list(other.array.shape))

    # -- tensors of the same kind ------------------------------------------------------------------

    def new_full(
        self,
        size: Numbers,
        fill_value: float | Tensor,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """One number in the tensor's type.

        Args:
            size: sizes, or a list of them.
            fill_value: the number.
            dtype: another element type.
            device: the CPU, or None.
            requires_grad: whether gradients flow to it.

        >>> fluid.flow.tensor([1.0]).new_full((2,), 7.0).tolist()
        [7.0, 7.0]
        """
        return _new(self, creation.filled(size, fill_value), dtype, device, requires_grad)

    new_zeros: ClassVar[Function] = _SAME(
        new_full,
        "new_zeros",
        """Zeros of the tensor's type.

    >>> fluid.flow.tensor([1.0]).new_zeros(2, 3).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """,
        order=_SIZE,
        fixed={"fill_value": 0},
    )
    new_empty = new_zeros
    new_ones: ClassVar[Function] = _SAME(
        new_full,
        "new_ones",
        """Ones of the tensor's type.

    >>> fluid.flow.tensor([1.0]).new_ones(2).tolist()
    [1.0, 1.0]
    """,
        order=_SIZE,
        fixed={"fill_value": 1},
    )

    def new_tensor(
        self,
        data: ArrayLike,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """A tensor of the same type with a copy of some values."""
        made = creation.to_tensor(data)
        return _new(self, made, dtype, device, requires_grad)

    # -- what there is -----------------------------------------------------------------------------

    def nelement(self) -> int:
        """The number of elements."""
        return int(self.array.size)

    def ndimension(self) -> int:
        """The number of dimensions."""
        return len(self.array.shape)

    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """How many elements lie from one place to the next along each dimension, or one."""
        steps = [int(np.prod(self.array.shape[k + 1 :])) for k in range(len(self.array.shape))]
        return tuple(steps) if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """0: elements are where they begin."""
        return 0

    def is_contiguous(self) -> bool:
        """True: elements lie behind each other always."""
        return True

    # -- random numbers ----------------------------------------------------------------------------

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Tensor:  # type: ignore[override]
        """Draw all elements anew, normally distributed, in place."""
        with no_grad():
            return Writing.normal_(self, mean, std)

    def uniform_(self, a: float = 0.0, b: float = 1.0) -> Tensor:  # type: ignore[override]
        """Draw all elements anew, equally likely in [a, b), in place."""
        return _again(self, streams.get()().random(self.array.shape) * (b - a) + a)

    def exponential_(self, lambd: float = 1.0) -> Tensor:  # type: ignore[override]
        """Draw all elements anew, exponentially distributed with the mean 1 / lambd, in place."""
        with no_grad():
            return Writing.exponential_(self, lambd)

    def bernoulli_(self, p: float = 0.5) -> Tensor:
        """Make all elements 1 with a probability and 0 else, in place."""
        return _again(self, streams.get()().random(self.array.shape) < p)


def _new(x: Any, lenient: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """A tensor of the kind and, unless another is given, of the element type of x."""
    devices.need_cpu(device)
    kind = x.array.dtype if dtype is None else as_dtype(dtype).dtype
    made: Any = x.results(np.asarray(lenient.array, kind))
    if requires_grad:
        made.requires_grad = True
    return made


def _again(x: Any, drawn: Any) -> Any:
    """Write what was drawn to a tensor."""
    made: Any = x.results(np.asarray(drawn, x.array.dtype))
    with no_grad():
        return x.write(lambda old: made)


def _set_wanting(x: Any, requires_grad: bool = True) -> Any:
    """Say whether gradients flow through a variable, and give it."""
    x.stop_gradient = not requires_grad
    return x


def _uniform_(x: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Draw all elements anew in every run, equally likely in [a, b), in place."""
    return x.write(lambda old: noise.uniform_like(old, a, b))


def _bernoulli_(x: Any, p: float = 0.5) -> Any:
    """Make all elements 1 with a probability and 0 else, anew in every run, in place."""
    return x.write(lambda old: elementary.cast(noise.uniform_like(old) < p, old.dtype))


def _same(x: Any, *places: Any, **more: Any) -> Any:
    """The variable, which lies with the only process."""
    return x


#: methods of variables where those of tensors do more than a program needs
OF_VARIABLES: dict[str, Any] = {
    **dict.fromkeys(["global_to_global", "local_to_global", "to_global", "to_local"], _same),
    "is_eager": property(lambda x: False),
    "is_global": property(lambda x: False),
    "is_lazy": property(lambda x: True),
    "is_local": property(lambda x: True),
    "requires_grad": property(lambda x: not x.stop_gradient),
    "requires_grad_": _set_wanting,
    "uniform_": _uniform_,
    "bernoulli_": _bernoulli_,
}
