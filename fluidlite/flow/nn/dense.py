"""Linear maps, tables, and what has no parameters."""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt
from typing import Any, ClassVar

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions import creation
from ...functions.arguments import DTypeLike
from ...functions.arithmetic import add, get_default_dtype, matmul, multiply
from ...functions.reduction import sum as total
from ...functions.shaping import reshape, unsqueeze
from ...ground.docstrings import Family
from ...ground.dtypes import as_dtype
from ...ground.fields import from_fields, options_of
from ...ground.spellings import Spelling
from ...modules.embedding import need_row
from ..devices import DeviceLike, need_cpu
from ..shapes import flatten
from ..tensor import Tensor
from . import functional as F
from .module import FunctionModule, Module, Parameter

#: modules with parameters of their own
PARAMETERS = Family(
    {
        "bias": "whether there is one.",
        "device": "the CPU, or None.",
        "dtype": "element type of the parameters.",
    }
)


def uniform_parameter(bound: float, dtype: DTypeLike, device: DeviceLike, *shape: int) -> Parameter:
    """A parameter of random numbers between -bound and bound.

    Args:
        bound: the largest size of a number.
        dtype: element type; the default one when None.
        device: the CPU, or None.
        shape: sizes.
    """
    need_cpu(device)
    kind = get_default_dtype() if dtype is None else as_dtype(dtype)
    return Parameter(creation.uniform(list(shape), kind, -bound, bound))


def near_zero(*sizes: int) -> float:
    """The bound of random weights that so many inputs are multiplied with."""
    return 1.0 / sqrt(prod(sizes)) if prod(sizes) else 0.0


class AroundZero(Module):
    """A module whose parameters are random numbers around 0."""

    _bound: float  #: the largest size of one

    def reset_parameters(self) -> None:
        """Draw all parameters of this module anew."""
        for parameter in self.parameters(recurse=False):
            parameter.uniform_(-self._bound, self._bound)


class Learned(AroundZero):
    """A module with a weight, and perhaps a bias, of random numbers around 0."""

    def _make(
        self, shape: list[int], outputs: int, bias: bool, device: DeviceLike, dtype: DTypeLike
    ) -> None:
        """Make them, the weight in a shape whose first size numbers what it makes."""
        bound = self._bound = near_zero(*shape[1:])
        self.weight: Parameter = uniform_parameter(bound, dtype, device, *shape)
        made = uniform_parameter(bound, dtype, device, outputs) if bias else None
        self.register_parameter("bias", made)


class _Product(Learned):
    """What multiplies one input, or two, with a weight.

    Args:
        in1_features, in2_features: the last sizes of the inputs.
        out_features: the last size of the output.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int | None,
        out_features: int,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        inputs = [n for n in (in1_features, in2_features) if n is not None]
        self._make([out_features, *inputs], out_features, bias, device, dtype)
        self.out_features = out_features
        if in2_features is None:
            self.in_features = in1_features


@PARAMETERS
class Linear(_Product):
    """``x weight^T + bias``, along the last dimension.

    Args:
        in_features: the last size of the input.
        out_features: the last size of the output.

    >>> fluid.flow.nn.Linear(4, 3).weight.shape
    oneflow.Size([3, 4])
    """

    in_features: int
    __init__: Callable[..., None] = Spelling({"in1_features": "in_features"})(
        _Product.__init__, fixed={"in2_features": None}
    )

    def forward(self, input: Tensor) -> Tensor:
        """The output."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


@PARAMETERS
class Bilinear(_Product):
    """``x1^T weight[k] x2 + bias[k]``, for each k.

    Args:
        in1_features, in2_features: the last sizes of the inputs.
        out_features: the last size of the output.

    >>> fluid.flow.nn.Bilinear(2, 3, 4)(fluid.flow.ones(5, 2), fluid.flow.ones(5, 3)).shape
    oneflow.Size([5, 4])
    """

    __init__: Callable[..., None] = Spelling({}, types={"int | None": "int"})(_Product.__init__)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The output."""
        left = matmul(unsqueeze(unsqueeze(input1, -2), -2), self.weight)  # [..., k, 1, n]
        left = reshape(left, [*left.array.shape[:-2], left.array.shape[-1]])
        out = total(multiply(left, unsqueeze(input2, -2)), -1)
        return out if self.bias is None else add(out, self.bias)


@PARAMETERS
@from_fields
class Embedding(Module):
    """The rows of a table that numbers select.

    Args:
        num_embeddings: how many rows there are.
        embedding_dim: their width.
        padding_idx: the number whose row is 0, and gets no gradient.
        max_norm, norm_type, scale_grad_by_freq: as of ``functional.embedding``.
        dtype: element type of the table.

    Raises:
        ArgumentError: ``padding_idx`` is no row.

    >>> fluid.flow.nn.Embedding(10, 4)(fluid.flow.tensor([1, 2, 3])).shape
    oneflow.Size([3, 4])
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    device: DeviceLike = None
    dtype: DTypeLike = None

    def begin(self, given: dict[str, Any]) -> None:
        """Make the table."""
        Module.__init__(self)
        rows, width, padding, *options, device, dtype = given.values()
        need_cpu(device)
        need_row(padding, rows)
        self.num_embeddings, self.embedding_dim, self.padding_idx = rows, width, padding
        self._options = options
        self.weight: Parameter = Parameter(creation.empty([rows, width], dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        self.weight.normal_()
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0.0

    def forward(self, input: Tensor) -> Tensor:
        """The rows, in the shape of the numbers."""
        return F.embedding(input, self.weight, self.padding_idx, *self._options)

    def extra_repr(self) -> str:
        sizes = "{}, {}".format(*self.weight.shape)
        return sizes if self.padding_idx is None else f"{sizes}, padding_idx={self.padding_idx}"


class Identity(FunctionModule):
    """The input; takes any arguments, as a place-holder does.

    >>> fluid.flow.nn.Identity()(fluid.flow.tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(lambda input: input)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


@from_fields
class Flatten(FunctionModule):
    """The input with some dimensions made one."""

    start_dim: int = 1
    end_dim: int = -1
    function: ClassVar[Callable[..., Any]] = staticmethod(flatten)


class CosineSimilarity(FunctionModule):
    """
    >>> x = fluid.flow.tensor([[1.0, 0.0]])
    >>> fluid.flow.nn.CosineSimilarity()(x, fluid.flow.tensor([[1.0, 1.0]])).numpy().round(4)
    array([0.7071], dtype=float32)
    """

    @options_of(F.cosine_similarity, 2)
    def __init__(self) -> None: ...


class _Dropout(Module):
    """A dropout, which drops in training alone."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise located(ArgumentError, f"expected p in [0, 1], got {p!r:.60}")
        self.p = p
        self.inplace = inplace

    function: Any = staticmethod(F.dropout)

    def forward(self, input: Tensor) -> Tensor:
        """The input with random elements, or channels, set to 0."""
        return type(self).function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Elements set to 0 with probability p in training, the others divided by 1 - p.

    >>> fluid.flow.nn.Dropout(0.5).eval()(fluid.flow.tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """


class Dropout1d(_Dropout):
    """The same for whole channels of [N, C, L].

    >>> fluid.flow.nn.Dropout1d(0.5).eval()(fluid.flow.ones(1, 2, 3)).shape
    oneflow.Size([1, 2, 3])
    """

    function: Any = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """The same for whole channels of [N, C, H, W].

    >>> fluid.flow.nn.Dropout2d(0.5).eval()(fluid.flow.ones(1, 2, 3, 3)).shape
    oneflow.Size([1, 2, 3, 3])
    """

    function: Any = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """The same for whole channels of [N, C, D, H, W].

    >>> fluid.flow.nn.Dropout3d(0.5).eval()(fluid.flow.ones(1, 2, 3, 3, 3)).shape
    oneflow.Size([1, 2, 3, 3, 3])
    """

    function: Any = staticmethod(F.dropout3d)
