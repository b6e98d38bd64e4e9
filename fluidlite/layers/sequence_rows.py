"""Sequences joined, padded, cut, and their rows chosen and formed anew."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped, variables_of
from .sequence import SEQUENCES
from .sizes import integers


@layer(family=SEQUENCES)
def sequence_concat(
    f: LayerBuilder, input: Sequence[Variable], name: str | None = None
) -> Variable:
    """Sequences that hold the rows of the first sequences of all inputs, of all second ones, and so
    on.

    Args:
        input: two variables or more, in equally many sequences, with rows of one shape.

    Returns:
        A variable with all rows.

    >>> x, y = (fluid.data(name, [None, 8], lod_level=1) for name in "xy")
    >>> fluid.layers.sequence_concat([x, y]).shape
    (-1, 8)
    """
    return f.sequence_concat(variables_of(input, "input"))


@layer(family=SEQUENCES)
def sequence_pad(
    f: LayerBuilder,
    x: Variable,
    pad_value: Variable,
    maxlen: int | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Sequences made equally long, and how long they are.

    Args:
        x: rows in sequences of one level.
        pad_value: what stands behind them: one number, or one row.
        maxlen: how long they become; as long as the longest one when None.

    Returns:
        Variables [sequences, maxlen, ...] and [sequences], int64.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> zero = fluid.layers.fill_constant([1], "float32", 0.0)
    >>> padded, lengths = fluid.layers.sequence_pad(words, zero, maxlen=20)
    >>> padded.shape
    (-1, 20, 8)
    """
    out, lengths = f.sequence_pad(
        x, stopped(pad_value), padded_length=-1 if maxlen is None else maxlen
    )
    return out, stopped(lengths)


@layer(family=SEQUENCES)
def sequence_unpad(
    f: LayerBuilder, x: Variable, length: Variable, name: str | None = None
) -> Variable:
    """The first rows of each padded sequence, as sequences.

    Args:
        x: [sequences, size, ...].
        length: how many rows each sequence has, [sequences].

    Returns:
        A variable [rows, ...], in sequences.

    >>> padded, length = fluid.data("padded", [4, 20, 8]), fluid.data("length", [4], "int64")
    >>> fluid.layers.sequence_unpad(padded, length).shape
    (-1, 8)
    """
    return f.sequence_unpad(x, stopped(length))


@layer(family=SEQUENCES)
def sequence_reshape(f: LayerBuilder, input: Variable, new_dim: int) -> Variable:
    """The numbers of each sequence in rows of another size.

    Args:
        input: [rows, D], in sequences; the numbers of each fill rows of ``new_dim``.
        new_dim: how many numbers a row has then.

    Returns:
        A variable [rows * D / new_dim, new_dim].

    >>> fluid.layers.sequence_reshape(fluid.data("x", [None, 8], lod_level=1), 4).shape
    (-1, 4)
    """
    return f.sequence_reshape(input, new_dim=new_dim)


@layer(family=SEQUENCES)
def sequence_reverse(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The rows of each sequence, the last one first.

    Returns:
        A variable of the shape of ``x``, in its sequences.

    >>> fluid.layers.sequence_reverse(fluid.data("x", [None, 8], lod_level=1)).shape
    (-1, 8)
    """
    return f.sequence_reverse(x)


@layer(family=SEQUENCES)
def sequence_slice(
    f: LayerBuilder, input: Variable, offset: Variable, length: Variable, name: str | None = None
) -> Variable:
    """Some rows of each sequence that lie one behind the other.

    Args:
        input: rows in sequences of one level.
        offset: the first row, counted from 0 in its sequence, [sequences, 1].
        length: how many rows, [sequences, 1].

    Returns:
        A variable with these rows, in as many sequences.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> offset, length = (fluid.data(name, [None, 1], "int64") for name in ("o", "l"))
    >>> fluid.layers.sequence_slice(words, offset, length).shape
    (-1, 8)
    """
    return f.sequence_slice(input, stopped(offset), stopped(length))


@layer(family=SEQUENCES)
def sequence_scatter(
    f: LayerBuilder, input: Variable, index: Variable, updates: Variable, name: str | None = None
) -> Variable:
    """``input`` with numbers added: those of a sequence to the row of the same number.

    Args:
        input: [n, D].
        index: places in a row, [N, 1] in n sequences, int64.
        updates: what is added there, [N, 1] in the same sequences.

    Returns:
        A variable of the shape of ``input``.

    >>> index = fluid.data("index", [None, 1], "int64", lod_level=1)
    >>> updates = fluid.data("updates", [None, 1], lod_level=1)
    >>> fluid.layers.sequence_scatter(fluid.data("x", [3, 6]), index, updates).shape
    (3, 6)
    """
    return f.sequence_scatter(input, index, updates)


@layer(family=SEQUENCES)
def sequence_enumerate(
    f: LayerBuilder, input: Variable, win_size: int, pad_value: int = 0, name: str | None = None
) -> Variable:
    """Each number of a sequence with those behind it.

    Args:
        input: integers, [rows, 1], in sequences.
        win_size: how many numbers are seen at once.
        pad_value: stands for what lies behind the end.

    Returns:
        A variable [rows, win_size], in the sequences of ``input``.

    >>> words = fluid.data("words", [None, 1], "int64", lod_level=1)
    >>> fluid.layers.sequence_enumerate(words, win_size=3).shape
    (-1, 3)
    """
    return stopped(f.sequence_enumerate(input, win_size=win_size, pad_value=pad_value))


@layer
def lod_reset(
    f: LayerBuilder,
    x: Variable,
    y: Variable | None = None,
    target_lod: Sequence[int] | None = None,
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
