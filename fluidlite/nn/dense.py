"""Linear maps, tables, and what thins out, flattens or compares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..functions.arithmetic import add, matmul, multiply
from ..functions.reduction import sum as total
from ..functions.shaping import flatten, unsqueeze
from ..ground.fields import options_of
from . import functional as F
from .activation import FunctionLayer
from .layer import TensorLayer


class Linear(TensorLayer):
    """``x weight + bias``, along the last dimension.

    Args:
        in_features: the last size of the input.
        out_features: the last size of the output.
        weight_attr: of the weight, [in_features, out_features].
        bias_attr: of the bias; False for none.
        name: stands in the names of the parameters.

    >>> fluid.nn.Linear(4, 3)(fluid.ones([2, 4])).shape
    [2, 3]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """The output."""
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        return f"in_features={rows}, out_features={columns}"


class Bilinear(TensorLayer):
    """``x1 weight[k] x2^T + bias[k]``, for each k.

    Args:
        in1_features, in2_features: the last sizes of the inputs.
        out_features: the last size of the output.
        weight_attr: of the weight, [out_features, in1_features, in2_features].
        bias_attr: of the bias, [1, out_features]; False for none.
        name: stands in the names of the parameters.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The output, [N, out_features]."""
        left = matmul(unsqueeze(unsqueeze(x1, 1), 1), self.weight).squeeze(2)  # [N, out, in2]
        out = total(multiply(left, unsqueeze(x2, 1)), -1)
        return out if self.bias is None else add(out, self.bias)


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

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ArgumentError(
                f"expected padding_idx in [{-num_embeddings}, {num_embeddings}), got {padding_idx}"
            )
        self._padding_idx, self._sparse = padding_idx, bool(sparse)
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None:
            table = np.array(self.weight.numpy())
            table[padding_idx] = 0
            self.weight.set_value(table)

    def forward(self, x: Any) -> Any:
        """The rows, in the shape of the numbers."""
        return F.embedding(x, self.weight, self._padding_idx, self._sparse)

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape)


class Dropout(TensorLayer):
    """The input with random elements set to 0 while the layer trains.

    Args:
        p: the probability of 0.
        axis: dimensions along which elements are chosen; all when None.
        mode: as of :func:`~fluidlite.nn.functional.dropout`.
        name: stands in the names of programs' variables.

    >>> drop = fluid.nn.Dropout(0.5)
    >>> drop.eval()
    >>> drop(fluid.ones([2])).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._options = {"p": p, "axis": axis, "mode": mode}

    def forward(self, x: Any) -> Any:
        """The input with random elements set to 0."""
        return F.dropout(x, training=self.training, **self._options)

    def extra_repr(self) -> str:
        return f"p={self._options['p']}"


class _Channels(TensorLayer):
    """Dropout of whole channels."""

    _function = staticmethod(F.dropout2d)

    def __init__(self, p: float, data_format: str, name: str | None) -> None:
        super().__init__(name)
        self._p, self._format = p, data_format

    def forward(self, x: Any) -> Any:
        """The input with random channels set to 0."""
        return self._function(x, self._p, self.training, self._format)

    def extra_repr(self) -> str:
        return f"p={self._p}"


class Dropout2D(_Channels):
    """The input, [N, C, H, W], with random channels set to 0 while the layer trains.

    Args:
        p: the probability of 0.
        data_format: NCHW or NHWC.
        name: stands in the names of programs' variables.
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)


class Dropout3D(_Channels):
    """The input, [N, C, D, H, W], with random channels set to 0 while the layer trains.

    Args:
        p: the probability of 0.
        data_format: NCDHW or NDHWC.
        name: stands in the names of programs' variables.
    """

    _function = staticmethod(F.dropout3d)

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)


class AlphaDropout(TensorLayer):
    """Dropout that keeps a mean of 0 and a variance of 1, for networks with SELU:
    :func:`~fluidlite.nn.functional.alpha_dropout`.

    Args:
        p: the probability that an element is dropped.
        name: stands in the names of programs' variables.
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__(name)
        self._p = p

    def forward(self, x: Any) -> Any:
        """The input with random elements dropped."""
        return F.alpha_dropout(x, self._p, self.training)

    def extra_repr(self) -> str:
        return f"p={self._p}"


class Flatten(FunctionLayer):
    """The input with some dimensions made one.

    >>> fluid.nn.Flatten()(fluid.ones([2, 3, 4])).shape
    [2, 12]
    """

    @staticmethod
    def function(x: Any, start_axis: int = 1, stop_axis: int = -1) -> Any:
        """The input flattened."""
        return flatten(x, start_axis, stop_axis)

    @options_of(function)
    def __init__(self) -> None: ...


class Identity(TensorLayer):
    """The input.

    Args:
        args, kwargs: accepted, so that it may stand in the place of another layer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class CosineSimilarity(FunctionLayer):
    """The cosine of the angle between vectors along ``axis``."""

    @options_of(F.cosine_similarity, 2)
    def __init__(self) -> None: ...


class PairwiseDistance(FunctionLayer):
    """The distance of each two vectors: :func:`~fluidlite.nn.functional.pairwise_distance`."""

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

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__(name)
        self.axis, self.shape = axis, [int(n) for n in shape]

    def forward(self, x: Any) -> Any:
        """The input in the other shape."""
        sizes = list(x.shape)
        axis = self.axis % len(sizes)
        before = [0 if n < 0 else int(n) for n in sizes[:axis]]
        return x.reshape([*before, *self.shape, *sizes[axis + 1 :]])

    def extra_repr(self) -> str:
        return f"{self.axis}, {self.shape}"
