"""Convolution over trees."""

from __future__ import annotations

from typing import Any

from ...errors import ShapeError
from ...functions.arguments import DTypeLike
from ...ground.fields import from_fields
from ...ir.variable import Variable
from ...layers.layer import LayerBuilder, layer
from ...opdef.spec import agree
from ...param_attr import Attr
from ..layer import PARAMETERS, Layer


@layer("tree_conv", act=True)
def _tree_conv(
    f: LayerBuilder,
    nodes_vector: Variable,
    edge_set: Variable,
    weight: Variable,
    bias: Variable | None,
    max_depth: int,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    out: Variable = f.tree_conv(nodes_vector, edge_set, weight, max_depth=max_depth)
    return out if bias is None else f.elementwise_add(out, bias, axis=3)


@PARAMETERS
@from_fields
class TreeConv(Layer):
    """Convolution over trees: for each node features of what is below it, by place.

    Mou et al., Convolutional neural networks over tree structures for programming language
    processing, AAAI 2016.

    Args:
        feature_size: how many features a node has.
        output_size: how many features a filter gives.
        num_filters: how many filters there are.
        max_depth: how many layers of nodes a window has; at least 2.
        param_attr: of the filter, [feature_size, 3, output_size, num_filters].
        bias_attr: of the bias, [num_filters]; there is none where this is None or False.
        name: accepted, without meaning.

    >>> with fluid.dygraph.guard():
    ...     conv = fluid.dygraph.TreeConv(3, 6, num_filters=2)
    ...     nodes = fluid.dygraph.to_variable(np.ones([1, 3, 3], "float32"))
    ...     edges = fluid.dygraph.to_variable(np.array([[[1, 2], [1, 3]]], "int32"))
    ...     conv(nodes, edges).shape
    [1, 3, 6, 2]
    """

    feature_size: int
    output_size: int
    num_filters: int = 1
    max_depth: int = 2
    act: str | None = "tanh"
    param_attr: Attr = None
    bias_attr: Attr = None
    name: str | None = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        self.begin_with(given)
        filters, bias_attr = self._num_filters, self._bias_attr
        self.bias: Any | None = None
        if bias_attr is not None and bias_attr is not False:
            self.bias = self.create_parameter([filters], bias_attr, is_bias=True)
        shape = [self._feature_size, 3, self._output_size, filters]
        self.weight: Any = self.create_parameter(shape, self._param_attr)

    def forward(self, nodes_vector: Variable, edge_set: Variable) -> Variable:
        """The features of all nodes, [batch, nodes, output_size, num_filters].

        Args:
            nodes_vector: features of nodes, [batch, nodes, feature_size].
            edge_set: edges (parent, child), nodes counted from 1, and zeros behind the last one:
                [batch, edges, 2].

        Raises:
            ShapeError: shapes do not fit.
        """
        if len(nodes_vector.shape) != 3 or not agree(nodes_vector.shape[2], self._feature_size):
            raise ShapeError(
                f"expected nodes_vector of shape [batch, nodes, {self._feature_size}], got "
                f"{list(nodes_vector.shape)}"
            )
        return _tree_conv(
            nodes_vector,
            edge_set,
            self.weight,
            self.bias,
            self._max_depth,
            act=self._act,
            name=self._full_name,
        )
