"""The likeliest tags of sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eager.recording import eager
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.layer import Layer

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


def viterbi_decode(
    potentials: Tensor,
    transition_params: Tensor,
    lengths: Tensor,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The tags of each sentence with the greatest sum of scores.

    Args:
        potentials: scores of tags, [sentences, words, tags].
        transition_params: the score of each tag (column) behind each one (row), [tags, tags].
        lengths: how many words each sentence has, [sentences], int64.
        include_bos_eos_tag: whether the last row has the scores of first tags, and the one before
            it those of last tags.
        name: accepted.

    Returns:
        the sums, [sentences], and the tags, [sentences, words of the longest one], int64, 0 behind
        the last word.

    Raises:
        ShapeError: the shapes do not fit together.
        OutOfRangeError: a length is below 0, or above the number of words.

    >>> scores = fluid.to_tensor([[[0.0, 2.0], [1.0, 0.0]]])
    >>> ways, lengths = fluid.to_tensor([[0.0, 0.0], [-3.0, 0.0]]), fluid.to_tensor([2])
    >>> best, tags = fluid.paddle.text.viterbi_decode(scores, ways, lengths, False)
    >>> best.tolist(), tags.tolist()
    ([2.0], [[1, 1]])
    """
    found: Any = eager.viterbi_decode(
        potentials, transition_params, lengths, include_bos_eos_tag=include_bos_eos_tag
    )
    return found


class ViterbiDecoder(Layer):
    """A layer that gives the tags of each sentence with the greatest sum of scores.

    Args:
        transitions: the score of each tag (column) behind each one (row), [tags, tags].
        include_bos_eos_tag: whether the last row has the scores of first tags, and the one before
            it those of last tags.
        name: accepted.
    """

    def __init__(
        self, transitions: Tensor, include_bos_eos_tag: bool = True, name: str | None = None
    ) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag
        self.name = name

    def forward(self, potentials: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The sums and the tags: see :func:`viterbi_decode`.

        Args:
            potentials, lengths: see :func:`viterbi_decode`.
        """
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)


list_public_names(globals())
api_boundaries(globals())
