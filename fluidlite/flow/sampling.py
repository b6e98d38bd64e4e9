"""Random tensors, and tensors of what is there, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..eager.engine import located
from ..eager.recording import TensorRecord
from ..errors import ArgumentError
from ..functions import arithmetic, counting, creation, elementary, noise
from ..ground.brain_float import kind_of
from ..ground.dtypes import DType, as_dtype
from ..opdef.operand import appends
from .generators import Generator, drawing_from
from .kinds import dtype_of
from .spelling import ONEFLOW
from .tensor import Tensor, made, tensor

if TYPE_CHECKING:
    from ..functions.arguments import ArrayLike, DTypeLike, Numbers
    from .devices import DeviceLike
    from .spelling import Function


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Numbers that are drawn as often as weights say.

    Args:
        input: the weights, [classes] or [rows, classes].
        num_samples: how many.
        replacement: whether one may come again.
        generator: draws them; the default one when None.

    >>> fluid.flow.multinomial(fluid.flow.tensor([0.0, 1.0]), 1).tolist()
    [1]
    """
    with drawing_from(generator):
        return counting.multinomial(input, num_samples, replacement)


def _alike(
    input: Tensor,
    drawn: Callable[..., Tensor],
    in_run: Callable[[Tensor], Tensor],
    dtype: DTypeLike = None,
) -> Tensor:
    """Random numbers in the shape of a tensor."""
    kind = as_dtype(input.array.dtype) if dtype is None else dtype
    if input.appends is not None:
        return elementary.cast(in_run(input), kind)
    return drawn(list(input.array.shape), kind)


def _like(drawn: Function, in_run: Function, said: str) -> Function:
    """What draws numbers in the shape of a tensor."""
    doc = f"Random numbers in the shape of a tensor, {said}"
    draws: dict[str, Any] = dict(fixed={"drawn": drawn, "in_run": in_run}, scope=globals())
    return ONEFLOW(
        _alike, f"{drawn.__name__}_like", doc, order="input, *, dtype", then=made, **draws
    )


rand_like: Function = _like(
    creation.rand,
    noise.uniform_like,
    """equally likely everywhere in [0, 1).

    >>> fluid.flow.rand_like(fluid.flow.zeros(2, 3)).shape
    oneflow.Size([2, 3])
    """,
)
randn_like: Function = _like(
    creation.randn,
    noise.normal_like,
    """of mean 0 and deviation 1.

    >>> fluid.flow.randn_like(fluid.flow.zeros(2, 3)).shape
    oneflow.Size([2, 3])
    """,
)


def _randint(
    low: int,
    high: int | Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    dtype: DTypeLike = "int64",
    generator: Generator | None = None,
) -> Tensor:
    """Random integers from one number up to, without, another one.

    Args:
        low: the first one; 0 where it is left out, as in ``randint(10, (3,))``.
        high: the one behind the last.
        size: the shape.
        dtype: the element type.
        generator: draws them; the default one when None.
    """
    sizes: Any = high if isinstance(high, (list, tuple)) else size
    if high is None or sizes is high:
        low, high = 0, low
    with drawing_from(generator):
        return creation.randint(low, cast("int", high), list(sizes), dtype)


randint: Function = ONEFLOW(
    _randint,
    "randint",
    """Random integers from one number up to, without, another one.

    >>> bool((fluid.flow.randint(3, (10,)) < 3).all())
    True
    """,
    order="low, high, size, *, dtype, generator",
    then=made,
)


def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    dtype: DTypeLike = None,
    generator: Generator | None = None,
    device: DeviceLike = None,
) -> Tensor:
    """Random integers in the shape of a tensor; see :func:`randint`.

    >>> fluid.flow.randint_like(fluid.flow.zeros(2, 3), 0, 5).shape
    oneflow.Size([2, 3])
    """
    first, end = (0, low) if high is None else (low, high)

    def in_run(x: Tensor) -> Tensor:
        return elementary.floor(noise.uniform_like(elementary.cast(x, "float64"), first, end))

    with drawing_from(generator):
        drawn = _alike(input, partial(creation.randint, first, end), in_run, dtype)
    return made(drawn, device)


def _normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    args: Numbers = (),
    size: Sequence[int] | None = None,
    dtype: DTypeLike = None,
    generator: Generator | None = None,
) -> Tensor:
    """Random numbers of a normal distribution.

    Args:
        mean, std: numbers, or tensors of one shape, which the result has then.
        args: the shape where both are numbers.
        size: the same, by its name.
        dtype: element type; the default one when None.
        generator: draws them; the default one when None.
    """
    like = next((each for each in (mean, std) if appends([each]) is not None), None)
    if like is not None:
        return arithmetic.add(arithmetic.multiply(noise.normal_like(like), std), mean)
    parts = [
        each.array if isinstance(each, TensorRecord) else np.asarray(each) for each in (mean, std)
    ]
    given: Any = args or size or ()
    shape = list(given) or list(np.broadcast_shapes(parts[0].shape, parts[1].shape))
    kind = dtype or next((as_dtype(p.dtype) for p in parts if p.ndim), None)
    with drawing_from(generator):
        drawn = creation.randn(shape, kind)
    array = np.asarray(drawn.array * parts[1] + parts[0], drawn.array.dtype)
    return drawn.results(array)


normal: Function = ONEFLOW(
    _normal,
    "normal",
    order="mean, std, *args, size, dtype, generator",
    then=made,
    doc="""
    >>> fluid.flow.normal(0.0, 1.0, (2, 3)).shape
    oneflow.Size([2, 3])
    """,
)


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Ones with the probabilities that a tensor holds, or with one for all, and zeros else.

    >>> fluid.flow.bernoulli(fluid.flow.tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    with drawing_from(generator):
        return creation.bernoulli(input if p is None else creation.full_like(input, p))


def as_tensor(data: ArrayLike, dtype: DTypeLike = None, device: DeviceLike = None) -> Tensor:
    """What it is given, where that is such a tensor; else a tensor of it; see :func:`tensor`.

    >>> fluid.flow.as_tensor([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor with a copy of an array.

    >>> fluid.flow.from_numpy(np.ones(2, "float32")).tolist()
    [1.0, 1.0]
    """
    return tensor(np.asarray(ndarray))


def to_dlpack(tensor: Tensor) -> object:
    """The elements of a tensor, for another library that reads DLPack.

    >>> fluid.flow.from_dlpack(fluid.flow.to_dlpack(fluid.flow.tensor([1.0, 2.0]))).tolist()
    [1.0, 2.0]
    """
    return tensor.numpy().__dlpack__()


class _Capsule(NamedTuple):
    """What NumPy takes where it is given a capsule of elements."""

    capsule: Any

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: object) -> Tensor:
    """A tensor with a copy of the elements of another library's.

    Args:
        ext_tensor: what has them for DLPack, or what :func:`to_dlpack` gives.

    >>> fluid.flow.from_dlpack(fluid.flow.to_dlpack(fluid.flow.ones(2))).tolist()
    [1.0, 1.0]
    """
    given: Any = ext_tensor
    source = given if hasattr(given, "__dlpack__") else _Capsule(given)
    return tensor(np.array(np.from_dlpack(source)))


def set_num_threads(num: int) -> None:
    """Accepted: ``FLUIDLITE_NUM_THREADS`` says how many threads there are.

    Args:
        num: a number from 1 on.

    Raises:
        ArgumentError: it is none.

    >>> fluid.flow.set_num_threads(2)
    """
    if not isinstance(num, int) or num < 1:
        raise located(ArgumentError, f"expected a number from 1 on, got {num!r:.60}")


def is_tensor(obj: object) -> bool:
    """Whether something is a tensor.

    >>> fluid.flow.is_tensor(fluid.flow.tensor([1.0])), fluid.flow.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether a tensor holds fractions.

    >>> x = fluid.flow.tensor([1.0])
    >>> fluid.flow.is_floating_point(x), fluid.flow.is_floating_point(fluid.flow.tensor([1]))
    (True, False)
    """
    return bool(kind_of(input.array.dtype) == "f")


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0.

    >>> x = fluid.flow.tensor([3.0])
    >>> fluid.flow.is_nonzero(x), fluid.flow.is_nonzero(fluid.flow.tensor([0]))
    (True, False)
    """
    return bool(input if input.appends is None else input.array)


def numel(input: Tensor) -> int:
    """The number of elements.

    >>> fluid.flow.numel(fluid.flow.zeros(2, 3))
    6
    """
    return int(input.array.size)


def get_default_dtype() -> DType:
    """The element type of fractions that are given without one.

    >>> fluid.flow.get_default_dtype()
    oneflow.float32
    """
    return dtype_of(np.empty(0, arithmetic.get_default_dtype()))


def set_default_dtype(dtype: DTypeLike) -> None:
    """Set the element type of fractions that are given without one; see ``fluid``'s.

    >>> fluid.flow.set_default_dtype(fluid.flow.float64)
    >>> fluid.flow.tensor([1.0]).dtype
    oneflow.float64
    >>> fluid.flow.set_default_dtype(fluid.flow.float32)
    """
    arithmetic.set_default_dtype(dtype)
