"""Sequences joined, padded, cut, and their rows chosen and formed anew."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped
from .operator_layers import Layer, Layers, OperatorLayers
from .sequence import SEQUENCES
from .sizes import integers

_sequences = OperatorLayers(SEQUENCES)


sequence_concat: Layer = _sequences("""
    sequence_concat(input: X, name)

    >>> x, y = (fluid.data(name, [None, 8], lod_level=1) for name in "xy")
    >>> fluid.layers.sequence_concat([x, y]).shape
    (-1, 8)
""")


def _stopped_lengths(found: tuple[Variable, Variable]) -> tuple[Variable, Variable]:
    return found[0], stopped(found[1])


sequence_pad: Layers = OperatorLayers(SEQUENCES, then=_stopped_lengths).several(
    """
    sequence_pad(x, pad_value, maxlen: padded_length = None, name)

    Returns:
        Variables [sequences, maxlen, ...] and [sequences], int64.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> zero = fluid.layers.fill_constant([1], "float32", 0.0)
    >>> padded, lengths = fluid.layers.sequence_pad(words, zero, maxlen=20)
    >>> padded.shape
    (-1, 20, 8)
    """,
    stops=["pad_value"],
)
sequence_unpad: Layer = _sequences(
    """
    sequence_unpad(x, length, name)

    >>> padded, length = fluid.data("padded", [4, 20, 8]), fluid.data("length", [4], "int64")
    >>> fluid.layers.sequence_unpad(padded, length).shape
    (-1, 8)
    """,
    stops=["length"],
)
sequence_reshape: Layer = _sequences("""
    sequence_reshape(input: X, new_dim)

    >>> fluid.layers.sequence_reshape(fluid.data("x", [None, 8], lod_level=1), 4).shape
    (-1, 4)
""")
sequence_reverse: Layer = _sequences("""
    sequence_reverse(x, name)

    >>> fluid.layers.sequence_reverse(fluid.data("x", [None, 8], lod_level=1)).shape
    (-1, 8)
""")
sequence_slice: Layer = _sequences(
    """
    sequence_slice(input: X, offset, length, name)

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> offset, length = (fluid.data(name, [None, 1], "int64") for name in ("o", "l"))
    >>> fluid.layers.sequence_slice(words, offset, length).shape
    (-1, 8)
    """,
    stops=["length", "offset"],
)
sequence_scatter: Layer = _sequences("""
    sequence_scatter(input: X, index: Ids, updates, name)

    >>> index = fluid.data("index", [None, 1], "int64", lod_level=1)
    >>> updates = fluid.data("updates", [None, 1], lod_level=1)
    >>> fluid.layers.sequence_scatter(fluid.data("x", [3, 6]), index, updates).shape
    (3, 6)
""")
sequence_enumerate: Layer = _sequences(
    """
    sequence_enumerate(input: X, win_size, pad_value, name)

    >>> words = fluid.data("words", [None, 1], "int64", lod_level=1)
    >>> fluid.layers.sequence_enumerate(words, win_size=3).shape
    (-1, 3)
    """,
    is_stopped=True,
)


@layer
def lod_reset(
    f: LayerBuilder, x: Variable, y: Variable | None = None, target_lod: Sequence[int] | None = None
) -> Variable:
    """The rows of ``x`` in other sequences.

    Args:
        x: rows.
        y: a variable whose sequences are taken over; or int32, offsets of one level.
        target_lod: offsets of one level, from 0 to the number of rows, where there is no ``y``.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: neither ``y`` nor ``target_lod`` is given.

    >>> fluid.layers.lod_reset(fluid.data("x", [6, 8]), target_lod=[0, 4, 6]).lod_level
    1
    """
    if y is not None:
        return f.lod_reset(x, y)
    if target_lod is None:
        raise ArgumentError("expected y or target_lod, got neither")
    return f.lod_reset(x, target_lod=integers(target_lod, "target_lod"))


@layer
def lod_append(f: LayerBuilder, x: Variable, level: Variable | Sequence[int]) -> Variable:
    """The rows of ``x`` in one more level of sequences, inside those that there are.

    Args:
        x: rows, in sequences or not.
        level: offsets, from 0 to the number of rows; or a variable whose sequences are taken.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: ``level`` is something else.

    >>> x = fluid.data("x", [6, 8], lod_level=1)
    >>> fluid.layers.lod_append(x, [0, 1, 3, 6]).lod_level
    2
    """
    if is_variable(level):
        return f.lod_reset(x, level, append=True)
    if not isinstance(level, (list, tuple)):
        raise ArgumentError(f"expected level to be a variable or offsets, got {level!r:.60}")
    return f.lod_reset(x, target_lod=integers(level, "level"), append=True)
