"""Layers that multiply by matrices, and look rows of them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import unique_name
from ...errors import ArgumentError
from ...functions.arguments import DTypeLike
from ...ground.fields import from_fields
from ...ground.protected import answers_protected
from ...initializer import Constant
from ...ir.variable import Variable
from ...layers.layer import LayerBuilder, layer
from ...layers.nn import EMBEDDING, dropout, padding_row, prelu
from ...layers.operator_layers import LayerCall, operator_layer
from ...layers.sampled_loss import nce
from ...param_attr import Attr
from ..layer import PARAMETERS, Layer


@layer("linear", act=True)
def _linear(
    f: LayerBuilder,
    input: Variable,
    weight: Variable,
    bias: Variable | None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    out: Variable = f.matmul(input, weight)
    return out if bias is None else f.elementwise_add(out, bias, axis=out.ndim - 1)


_embedding: Callable[..., Variable] = operator_layer(
    """
    _embedding(input: Ids, weight: W, is_sparse, is_distributed, remote_prefetch, padding_idx,
        name) -> lookup_table_v2
    """,
    stem="embedding",
)


@operator_layer.signature("_bilinear(x, y, weight, bias, act, name) -> bilinear_tensor_product")
def _bilinear(f: LayerBuilder, call: LayerCall) -> Variable:
    out = f.block.create_var(name=unique_name.generate("_generated_var"), dtype=call.x.dtype)
    f.into("bilinear_tensor_product", call.ins, {"Out": out})
    return out


@PARAMETERS
@from_fields
class Linear(Layer):
    """``act(input weight + bias)``, along the last dimension.

    Args:
        input_dim: the last size of the input.
        output_dim: the last size of the output.
        param_attr: of the weight, [input_dim, output_dim].

    >>> with fluid.dygraph.guard():
    ...     linear = fluid.dygraph.Linear(4, 3, act="relu")
    ...     y = linear(fluid.dygraph.to_variable(np.ones([2, 5, 4], "float32")))
    >>> y.shape, linear.weight.name
    ([2, 5, 3], 'linear_0.w_0')
    """

    input_dim: int
    output_dim: int
    param_attr: Attr = None
    bias_attr: Attr = None
    act: str | None = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        self.begin_with(given)
        sizes = [self._input_dim, self._output_dim]
        self.weight: Any = self.create_parameter(sizes, self._param_attr)
        self.bias: Any = self.create_parameter(sizes[1:], self._bias_attr, is_bias=True)

    def forward(self, input: Variable) -> Variable:
        """The output."""
        return _linear(input, self.weight, self.bias, act=self._act, name=self._full_name)

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape)


@EMBEDDING
@from_fields
class Embedding(Layer):
    """The rows of a table of weights that ids select.

    >>> with fluid.dygraph.guard():
    ...     table = fluid.dygraph.Embedding([10, 4])
    ...     table(fluid.dygraph.to_variable(np.array([[1, 2, 3]]))).shape
    [1, 3, 4]
    """

    size: Sequence[int]
    is_sparse: bool = False
    is_distributed: bool = False
    padding_idx: int | None = None
    param_attr: Attr = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        size = given["size"]
        if len(size) != 2:
            raise ArgumentError(f"expected size=[number of ids, width of a row], got {size!r}")
        row = padding_row(given["padding_idx"], size[0])
        self.begin_with({**given, "size": list(size), "padding_idx": row})
        self._remote_prefetch = self._is_sparse and not self._is_distributed
        self.weight: Any = self.create_parameter(self._size, self._param_attr)

    def forward(self, input: Variable) -> Variable:
        """The rows, in the shape of the ids."""
        ways = self._is_sparse, self._is_distributed, self._remote_prefetch
        return _embedding(input, self.weight, *ways, self._padding_idx, self._full_name)

    def extra_repr(self) -> str:
        return f"{self._size}"


class Dropout(Layer):
    """The input with random elements set to 0 while the layer trains:
    :func:`~fluidlite.layers.dropout`.

    Args:
        p: the probability of 0.
        seed: fixes the random numbers.
        dropout_implementation: as of the function.
        is_test: of a layer of a program: set nothing to 0 ever.  For eager layers call
            ``eval()``.

    >>> with fluid.dygraph.guard():
    ...     drop = fluid.dygraph.Dropout(0.5)
    ...     drop.eval()
    ...     drop(fluid.dygraph.to_variable(np.ones([4], "float32"))).numpy()
    array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """

    def __init__(
        self,
        p: float = 0.5,
        seed: int | None = None,
        dropout_implementation: str = "downgrade_in_infer",
        is_test: bool = False,
    ) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(f"expected a probability p in [0, 1], got {p!r:.60}")
        # names of fluid 1.8, whose scripts change them between steps
        self._dropout_prob = p
        self._seed = seed
        self._dropout_implementation = dropout_implementation
        self._is_test = is_test

    def forward(self, input: Variable) -> Variable:
        """The input with random elements set to 0."""
        return dropout(
            input,
            self._dropout_prob,
            is_test=not self.training or (self._is_test and isinstance(input, Variable)),
            seed=self._seed,
            name=self._full_name,
            dropout_implementation=self._dropout_implementation,
        )

    def extra_repr(self) -> str:
        return f"{self._dropout_prob}"


@from_fields
class PRelu(Layer):
    """The input where it is positive, else a learned slope times the input:
    :func:`~fluidlite.layers.prelu`.

    Args:
        mode: "all": one slope; "channel": one for each channel; "element": one for each element of
            a row.
        channel: the number of channels, for that mode.
        input_shape: of the input, for the mode "element".
        param_attr: of the slopes, which start at 1.
        dtype: element type of the slopes.

    Raises:
        ArgumentError: ``mode`` is none of the three, or what it needs is missing.

    >>> with fluid.dygraph.guard():
    ...     prelu = fluid.dygraph.PRelu("channel", channel=3)
    ...     prelu(fluid.dygraph.to_variable(np.ones([2, 3, 4, 4], "float32"))).shape
    [2, 3, 4, 4]
    """

    mode: str
    channel: int | None = None
    input_shape: Sequence[int] | None = None
    param_attr: Attr = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the slopes."""
        self.begin_with(given, "prelu")
        self._alpha_shape = [1]
        if self._mode == "channel":
            if self._channel is None:
                raise ArgumentError("mode 'channel' needs the number of channels: channel=...")
            self._alpha_shape = [1, self._channel, 1, 1]
        elif self._mode == "element":
            if self._input_shape is None:
                raise ArgumentError("mode 'element' needs the shape of the input: input_shape=...")
            self._alpha_shape = [1, *self._input_shape[1:]]
        elif self._mode != "all":
            raise ArgumentError(f"expected mode 'all', 'channel' or 'element', got {self._mode!r}")
        start = Constant(1.0)
        self.weight: Any = self.create_parameter(
            self._alpha_shape, self._param_attr, default_initializer=start
        )

    def forward(self, input: Variable) -> Variable:
        """The activated input."""
        return prelu(input, self._mode, param_attr=self.weight, name=self._full_name)


@answers_protected
@PARAMETERS
@from_fields
class BilinearTensorProduct(Layer):
    """Products of rows of two inputs and learned matrices between them, plus a bias:
    :func:`~fluidlite.layers.bilinear_tensor_product`.

    Args:
        input1_dim, input2_dim: the last sizes of the inputs, [N, input1_dim] and [N, input2_dim].
        output_dim: how many matrices there are.
        name: accepted for old scripts.
        param_attr: of the matrices, [output_dim, input1_dim, input2_dim].
        bias_attr: of the bias, [1, output_dim]; False for none.

    >>> with fluid.dygraph.guard():
    ...     product = fluid.dygraph.BilinearTensorProduct(4, 2, 5)
    ...     x, y = (fluid.dygraph.to_variable(np.ones([3, n], "float32")) for n in (4, 2))
    ...     product(x, y).shape
    [3, 5]
    """

    input1_dim: int
    input2_dim: int
    output_dim: int
    name: str | None = None
    act: str | None = None
    param_attr: Attr = None
    bias_attr: Attr = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        self.begin_with(given)
        sizes = [self._output_dim, self._input1_dim, self._input2_dim]
        self.weight: Any = self.create_parameter(sizes, self._param_attr)
        self.bias: Any = self.create_parameter([1, sizes[0]], self._bias_attr, is_bias=True)

    def forward(self, x: Variable, y: Variable) -> Variable:
        """The products."""
        return _bilinear(x, y, self.weight, self.bias, act=self._act, name=self._full_name)


@answers_protected
@PARAMETERS
@from_fields
class NCE(Layer):
    """Noise-contrastive estimation: the loss of telling right classes from random ones:
    :func:`~fluidlite.layers.nce`.

    Args:
        num_total_classes: how many classes there are.
        dim: the last size of the input, [N, dim].
        sample_weight: a factor for the loss of each row, [N, 1].
        param_attr: of the weight, [num_total_classes, dim].
        bias_attr: of the bias, [num_total_classes, 1]; there is none without it, as in fluid 1.8.
        num_neg_samples: how many random classes there are for each row; 10 when None.
        sampler, custom_dist, seed, is_sparse: as of the function.

    >>> with fluid.dygraph.guard():
    ...     loss = fluid.dygraph.NCE(20, 4, num_neg_samples=5)
    ...     x = fluid.dygraph.to_variable(np.ones([2, 4], "float32"))
    ...     loss(x, fluid.dygraph.to_variable(np.array([[3], [7]]))).shape
    [2, 1]
    """

    num_total_classes: int
    dim: int
    sample_weight: Variable | None = None
    param_attr: Attr = None
    bias_attr: Attr = None
    num_neg_samples: int | None = None
    sampler: str = "uniform"
    custom_dist: Sequence[float] | None = None
    seed: int = 0
    is_sparse: bool = False
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        count = given["num_neg_samples"]
        self.begin_with({**given, "num_neg_samples": 10 if count is None else count})
        sizes = [self._num_total_classes, self._dim]
        self.weight: Any = self.create_parameter(sizes, self._param_attr)
        self.bias: Any = None
        if self._bias_attr:
            self.bias = self.create_parameter([sizes[0], 1], self._bias_attr, is_bias=True)

    def forward(
        self, input: Variable, label: Variable, sample_weight: Variable | None = None
    ) -> Variable:
        """The loss of each row."""
        return nce(
            input,
            label,
            self.weight.shape[0],
            self._sample_weight if sample_weight is None else sample_weight,
            param_attr=self.weight,
            bias_attr=False if self.bias is None else self.bias,
            num_neg_samples=self._num_neg_samples,
            name=self._full_name,
            sampler=self._sampler,
            custom_dist=self._custom_dist,
            seed=self._seed,
            is_sparse=self._is_sparse,
        )
