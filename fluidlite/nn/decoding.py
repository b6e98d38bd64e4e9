"""Decoding with cells of ``fluid.nn``, on tensors and in programs."""

from __future__ import annotations

from typing import ClassVar

from .. import layers
from ..ground.docstrings import Family
from ..layers import dynamic_decode

__all__ = ["BeamSearchDecoder", "dynamic_decode"]


@Family().like(layers.BeamSearchDecoder)
class BeamSearchDecoder(layers.BeamSearchDecoder):
    """A beam search: at each step the ``beam_size`` paths with the largest probability go on.

    Whether a path is finished, and how long it is, goes with it where it takes another place.

    Args:
        cell: an RNNCellBase, or a function of inputs and states that gives an output and next
            states.

    >>> nn = fluid.nn
    >>> cell, words, scores = nn.GRUCell(4, 5), nn.Embedding(6, 4), nn.Linear(5, 6)
    >>> decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, words, scores)
    >>> ids, last = nn.dynamic_decode(decoder, fluid.zeros([2, 5]), max_step_num=4)
    >>> ids.shape[0], last.log_probs.shape
    (2, [2, 3])
    """

    tracks_own_finished: ClassVar[bool] = True
