"""``paddle.distributed.fleet.meta_parallel``: layers that several processes of a model divide.

There is one process for a model here, which has all of them.
"""

from __future__ import annotations

from typing import Any

from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import Embedding, Layer, Linear
from ....nn.functional import cross_entropy
from ....opdef.operand import Operand
from ....param_attr import ParamAttr

__all__ = [
    "ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding",
]  # fmt: skip


class ColumnParallelLinear(Linear):
    """A linear layer, whose columns one process has.

    Args:
        in_features: the size of what it is given.
        out_features: the size of what it gives.
        weight_attr: of the weight.
        has_bias: whether it adds a bias.
        gather_output, fuse_matmul_bias, mp_group: accepted: nothing is divided.
        name: what its parameters are called after.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttr | None = None,
        has_bias: bool | None = None,
        gather_output: bool = True,
        fuse_matmul_bias: bool = False,
        mp_group: object = None,
        name: str | None = None,
    ) -> None:
        bias_attr = None if has_bias else False
        super().__init__(in_features, out_features, weight_attr, bias_attr, name)
        self.is_mp: bool = False


class RowParallelLinear(Linear):
    """A linear layer, whose rows one process has.

    Args:
        in_features: the size of what it is given.
        out_features: the size of what it gives.
        weight_attr: of the weight.
        has_bias: whether it adds a bias.
        input_is_parallel, fuse_matmul_bias, mp_group: accepted: nothing is divided.
        name: what its parameters are called after.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttr | None = None,
        has_bias: bool = True,
        input_is_parallel: bool = False,
        fuse_matmul_bias: bool = False,
        mp_group: object = None,
        name: str | None = None,
    ) -> None:
        bias_attr = None if has_bias else False
        super().__init__(in_features, out_features, weight_attr, bias_attr, name)
        self.is_mp: bool = False


class VocabParallelEmbedding(Embedding):
    """A table of rows, all of which one process has.

    Args:
        num_embeddings: how many rows there are.
        embedding_dim: their size.
        weight_attr: of the table.
        mp_group: accepted: nothing is divided.
        name: what its parameter is called after.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weight_attr: ParamAttr | None = None,
        mp_group: object = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, weight_attr=weight_attr, name=name)
        self.is_mp: bool = False


class ParallelCrossEntropy(Layer):
    """The cross entropy of each row, all of which one process has.

    Args:
        mp_group: accepted: nothing is divided.
        name: accepted.
        ignore_index: the label of rows that are left out.
    """

    def __init__(
        self, mp_group: object = None, name: str | None = None, ignore_index: int = -100
    ) -> None:
        super().__init__()
        self.ignore_index: int = ignore_index

    def forward(self, input: Operand, label: Operand) -> Any:
        """The loss of each row, [..., 1].

        Args:
            input: [..., classes].
            label: [..., 1], whole numbers.
        """
        scores: Any = input
        labels: Any = label
        return cross_entropy(scores, labels, reduction="none", ignore_index=self.ignore_index)


list_public_names(globals())
api_boundaries(globals())
