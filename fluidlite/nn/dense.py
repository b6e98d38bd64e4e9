"""Linear maps, tables, and what thins out, flattens or compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from ..eager.tensor import Tensor
from ..functions.arguments import Integers
from ..functions.views import flatten
from ..ground.docstrings import Family
from ..ground.fields import from_fields, options_of
from ..modules.embedding import need_row
from ..param_attr import Attr
from . import functional as F
from .activation import FunctionLayer, TrainedFunction
from .layer import TensorLayer

DROPOUTS = Family(
    {
        "p": "the probability of 0.",
        "axis": "dimensions along which elements are chosen; all when None.",
        "mode": "as of :func:`~fluidlite.nn.functional.dropout`.",
        "data_format": "ends in C where the channels come last.",
        "name": "stands in the names of programs' variables.",
    }
)


PARAMETERS = Family(
    {"bias_attr": "of the bias; False for none.", "name": "stands in the names of the parameters."}
)


class _Learned(TensorLayer):
    """A layer with a weight and a bias."""

    def _make(self, given: dict[str, Any], weight: list[int], bias: list[int]) -> None:
        """Make them, in these shapes.

        Args:
            given: the arguments by name.
            weight, bias: shapes.
        """
        TensorLayer.__init__(self, given["name"])
        self.weight: Any = self.create_parameter(weight, given["weight_attr"])
        self.bias: Any = self.create_parameter(bias, given["bias_attr"], is_bias=True)


@PARAMETERS
@from_fields
class Linear(_Learned):
    """``x weight + bias``, along the last dimension.

    Args:
        in_features: the last size of the input.
        out_features: the last size of the output.
        weight_attr: of the weight, [in_features, out_features].

    >>> fluid.nn.Linear(4, 3)(fluid.ones([2, 4])).shape
    [2, 3]
    """

    in_features: int
    out_features: int
    weight_attr: Attr = None
    bias_attr: Attr = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        outputs = given["out_features"]
        self._make(given, [given["in_features"], outputs], [outputs])
        self._weight_attr, self._bias_attr = given["weight_attr"], given["bias_attr"]
        self.name = given["name"]

    def forward(self, input: Tensor) -> Tensor:
        """The output."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        sizes = f"in_features={rows}, out_features={columns}"
        return f"{sizes}, dtype={self._element_type.plain}{self._called()}"


@PARAMETERS
@from_fields
class Bilinear(_Learned):
    """``x1 weight[k] x2^T + bias[k]``, for each k.

    Args:
        in1_features, in2_features: the last sizes of the inputs.
        out_features: the last size of the output.
        weight_attr: of the weight, [out_features, in1_features, in2_features].
        bias_attr: of the bias, [1, out_features]; False for none.

    >>> fluid.nn.Bilinear(2, 3, 4)(fluid.ones([5, 2]), fluid.ones([5, 3])).shape
    [5, 4]
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight_attr: Attr = None
    bias_attr: Attr = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        left, right, outputs, *_ = given.values()
        self._make(given, [outputs, left, right], [1, outputs])

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The output, [N, out_features]."""
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        names = ("out_features", "in1_features", "in2_features")
        sizes = dict(zip(names, self.weight.shape))
        sizes["out_features"] = sizes.pop("out_features")
        told = ", ".join(f"{name}={size}" for name, size in sizes.items())
        return f"{told}, dtype={self._element_type.plain}{self._called()}"


@from_fields
class Embedding(TensorLayer):
    """The rows of a table that numbers select.

    Args:
        num_embeddings: how many rows there are.
        embedding_dim: their width.
        padding_idx: the number whose row is 0, and gets no gradient.
        sparse: gradients have only the rows that were used.
        weight_attr: of the table.
        name: stands in the name of the table.

    Raises:
        ArgumentError: ``padding_idx`` is no row.

    >>> fluid.nn.Embedding(10, 4)(fluid.to_tensor([[1, 2, 3]])).shape
    [1, 3, 4]
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None = None
    sparse: bool = False
    weight_attr: Attr = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        rows, width, padding, sparse, attr, name = given.values()
        TensorLayer.__init__(self, name)
        need_row(padding, rows)
        self._padding_idx, self._sparse = padding, bool(sparse)
        self.weight: Any = self.create_parameter([rows, width], attr)
        self._num_embeddings, self._embedding_dim, self._weight_attr = rows, width, attr
        if padding is not None:
            table = np.array(self.weight.numpy())
            table[padding] = 0
            self.weight.set_value(table)

    def forward(self, x: Tensor) -> Tensor:
        """The rows, in the shape of the numbers."""
        return F.embedding(x, self.weight, self._padding_idx, self._sparse)

    def extra_repr(self) -> str:
        sizes = "{}, {}".format(*self.weight.shape)
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        return f"{sizes}{padding}, sparse={self._sparse}{self._called()}"


@from_fields
class _Dropout(TrainedFunction):
    """Something set to 0 while the layer trains."""

    p: float = 0.5
    _inputs: ClassVar[tuple[str, ...]] = ("input",)


@DROPOUTS
@from_fields
class Dropout(_Dropout):
    """The input with random elements set to 0 while the layer trains.

    >>> drop = fluid.nn.Dropout(0.5)
    >>> drop.eval()
    >>> drop(fluid.ones([2])).tolist()
    [1.0, 1.0]
    """

    axis: Integers | None = None
    mode: str = "upscale_in_train"
    name: str | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.dropout)


@from_fields
class _ChannelDropout(_Dropout):
    """Whole channels set to 0 while the layer trains."""

    data_format: str = "NCHW"
    name: str | None = None


@DROPOUTS
class Dropout2D(_ChannelDropout):
    """The input, [N, C, H, W], with random channels set to 0 while the layer trains.

    >>> fluid.nn.Dropout2D(0.5)(fluid.ones([1, 2, 3, 3])).shape
    [1, 2, 3, 3]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(F.dropout2d)


@DROPOUTS
@from_fields
class Dropout3D(_ChannelDropout):
    """The input, [N, C, D, H, W], with random channels set to 0 while the layer trains.

    >>> fluid.nn.Dropout3D(0.5)(fluid.ones([1, 2, 3, 3, 3])).shape
    [1, 2, 3, 3, 3]
    """

    data_format: str = "NCDHW"
    function: ClassVar[Callable[..., Any]] = staticmethod(F.dropout3d)


@DROPOUTS
@from_fields
class AlphaDropout(_Dropout):
    """Dropout that keeps a mean of 0 and a variance of 1, for networks with SELU:
    :func:`~fluidlite.nn.functional.alpha_dropout`.

    >>> layer = fluid.nn.AlphaDropout(0.5)
    >>> layer.eval()
    >>> layer(fluid.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    name: str | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.alpha_dropout)


@from_fields
class Flatten(FunctionLayer):
    """The input with some dimensions made one.

    >>> fluid.nn.Flatten()(fluid.ones([2, 3, 4])).shape
    [2, 12]
    """

    start_axis: int = 1
    stop_axis: int = -1
    _inputs: ClassVar[tuple[str, ...]] = ("input",)
    _shown: ClassVar[str] = "name?"
    function: ClassVar[Callable[..., Any]] = staticmethod(flatten)


class Identity(TensorLayer):
    """The input.

    Args:
        args, kwargs: accepted, so that it may stand in place of another layer.

    >>> fluid.nn.Identity()(fluid.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class CosineSimilarity(FunctionLayer):
    _shown = "axis eps"

    @options_of(F.cosine_similarity, 2)
    def __init__(self) -> None: ...


class PairwiseDistance(FunctionLayer):
    _shown = "p epsilon? keepdim? name?"

    @options_of(F.pairwise_distance, 2)
    def __init__(self) -> None: ...


class Unflatten(TensorLayer):
    """One dimension as several.

    Args:
        axis: the dimension.
        shape: their sizes; -1 for one that follows from the others.
        name: stands in the names of programs' variables.

    >>> fluid.nn.Unflatten(1, [2, -1])(fluid.ones([3, 6])).shape
    [3, 2, 3]
    """

    def __init__(self, axis: int, shape: Iterable[int], name: str | None = None) -> None:
        super().__init__(name)
        self.axis = axis
        self.shape: Any = shape

    def forward(self, input: Tensor) -> Tensor:
        """The input in the other shape."""
        sizes = list(input.shape)
        axis = self.axis % len(sizes)
        before = [0 if n < 0 else int(n) for n in sizes[:axis]]
        return input.reshape([*before, *map(int, self.shape), *sizes[axis + 1 :]])

    def extra_repr(self) -> str:
        return f"axis={self.axis}, shape={self.shape}{self._called()}"
