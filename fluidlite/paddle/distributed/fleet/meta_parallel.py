"""``paddle.distributed.fleet.meta_parallel``: layers that several processes of a model divide.

There is one process for a model here, which has all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ....ground.docstrings import Family
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling
from ....ground.tracebacks import api_boundaries
from ....nn import Embedding, Layer, Linear
from ....nn.functional import cross_entropy
from ....opdef.operand import Operand

__all__ = [
    "ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding",
]  # fmt: skip


_SPELLED = Spelling({}, without=["bias_attr", "padding_idx", "sparse"])
_LAYERS = Family(
    {
        "in_features": "the size of what it is given.",
        "out_features": "the size of what it gives.",
        "has_bias": "whether it adds a bias.",
        "name": "what its parameters are called after.",
        **dict.fromkeys(
            ("gather_output", "input_is_parallel", "fuse_matmul_bias", "mp_group"),
            "accepted: nothing is divided.",
        ),
    }
)


@from_fields
class _WholeLinear(Linear):
    is_mp: ClassVar[bool] = False

    has_bias: bool | None = None
    divided: bool = True
    fuse_matmul_bias: bool = False
    mp_group: object = None

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        super().begin({**given, "bias_attr": None if given["has_bias"] else False})


@_LAYERS
class ColumnParallelLinear(_WholeLinear):
    """A linear layer, whose columns one process has.

    Args:
        weight_attr: of the weight.
    """

    __init__: Callable[..., None] = _SPELLED(
        _WholeLinear.__init__,
        order="self, in_features, out_features, weight_attr, has_bias, gather_output, "
        "fuse_matmul_bias, mp_group, name",
        divided="gather_output",
    )


@_LAYERS
class RowParallelLinear(_WholeLinear):
    """A linear layer, whose rows one process has.

    Args:
        weight_attr: of the weight.
    """

    __init__: Callable[..., None] = _SPELLED(
        ColumnParallelLinear.__init__,
        defaults={"has_bias": True, "input_is_parallel": False},
        gather_output="input_is_parallel",
    )


def _alone(made: None, mp_group: object = None) -> None:
    return None


@_LAYERS
class VocabParallelEmbedding(Embedding):
    """A table of rows, all of which one process has.

    Args:
        num_embeddings: how many rows there are.
        embedding_dim: their size.
        weight_attr: of the table.
    """

    is_mp: ClassVar[bool] = False
    __init__: Callable[..., None] = _SPELLED(
        Embedding.__init__,
        order="self, num_embeddings, embedding_dim, weight_attr, mp_group, name",
        then=_alone,
    )


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
