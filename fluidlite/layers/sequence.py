"""Sequences reduced, normalised, convolved and repeated."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.spellings import Spelling
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers

SEQUENCES = LAYERS.extended({"input": "rows in sequences.", "x": "rows in sequences."})
_sequences = OperatorLayers(SEQUENCES)

_KINDS = ("average", "sum", "sqrt", "max", "last", "first")


@_sequences.signature("sequence_pool(input: X, pool_type: str, is_test, pad_value)")
def sequence_pool(f: LayerBuilder, call: LayerCall) -> Variable:
    """One row for each sequence.

    Args:
        pool_type: ``"sum"``; ``"average"``; ``"sqrt"``, the sum over the root of the length;
            ``"max"``; ``"first"``; ``"last"``.
        is_test: accepted, without meaning here.
        pad_value: what the row of an empty sequence holds.

    Returns:
        A variable [sequences, ...]; of two levels of sequences the outer one is left.

    Raises:
        ArgumentError: there is no such kind.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> fluid.layers.sequence_pool(words, "max").shape
    (-1, 8)
    """
    if not isinstance(call.pool_type, str) or call.pool_type.lower() not in _KINDS:
        raise ArgumentError(f"expected pool_type to be one of {_KINDS}, got {call.pool_type!r}")
    kind = call.pool_type.upper()
    out, index = f.result(), f.new_variable(call.input.dtype, kind == "MAX")
    outs = {"Out": out, "MaxIndex": index}
    f.into("sequence_pool", call.ins, outs, pooltype=kind, **call.attrs)
    spec = index.spec if isinstance(index, Variable) and kind == "MAX" else None
    if spec is not None:
        index.take_spec(spec.with_dtype(call.input.dtype))  # as fluid's programs declare it
    return out


def _one_step(input: Variable, pool_type: str) -> Variable:
    """The first row of each sequence.

    Args:
        input: rows in sequences.

    Returns:
        A variable [sequences, ...], with zeros for an empty sequence.
    """
    return sequence_pool(input, pool_type)


_STEPS = Family(
    example="""
    >>> fluid.layers.{name}(fluid.data("words", [None, 8], lod_level=1)).shape
    (-1, 8)
    """
)
_as_written = Spelling({})
sequence_first_step: Layer = _STEPS(
    _as_written(_one_step, "sequence_first_step", fixed={"pool_type": "first"})
)
sequence_last_step: Layer = _STEPS(
    _as_written(
        _one_step, "sequence_last_step", fixed={"pool_type": "last"}, words={"first": "last"}
    )
)
sequence_softmax: Layer = _sequences("""
    sequence_softmax(input: X, use_cudnn, name)

    >>> scores = fluid.data("scores", [None, 1], lod_level=1)
    >>> fluid.layers.sequence_softmax(scores).shape
    (-1, 1)
""")


@_sequences.signature("""
    sequence_conv(input: X, num_filters: int, filter_size: contextLength = 3,
        filter_stride: contextStride, padding: bool = True, padding_start: int | None,
        bias_attr, param_attr, act, name)
""")
def sequence_conv(f: LayerBuilder, call: LayerCall) -> Variable:
    """A convolution along each sequence, plus a bias; beyond a sequence's ends there are zeros.

    Args:
        input: [rows, D], in sequences.
        num_filters: how many numbers a row of the result has.
        filter_size: how many rows a filter sees at once.
        filter_stride: 1.
        padding: accepted, without meaning here, as in fluid 1.8: there are as many rows as before.
        padding_start: where the first row that is seen lies, from the row that is computed;
            ``-(filter_size // 2)`` when None.
        param_attr: of the filters, [filter_size * D, num_filters].

    Returns:
        A variable [rows, num_filters], in the sequences of ``input``.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> fluid.layers.sequence_conv(words, num_filters=16, act="tanh").shape
    (-1, 16)
    """
    x, start = call.input, call.padding_start
    start = -int(call.filter_size // 2) if start is None else start
    shape = [call.filter_size * x.shape[1], call.num_filters]
    weight = f.weight(call.param_attr, shape, x.dtype)
    attrs = call.attrs | {"contextStart": start}
    out = f.sequence_conv(x, None, weight, paddingTrainable=False, **attrs)
    return f.bias(out, call.bias_attr, [call.num_filters])


@_sequences.signature("row_conv(input: X, future_context_size: int, param_attr, act)")
def row_conv(f: LayerBuilder, call: LayerCall) -> Variable:
    """A look at the rows to come: their weighted sum, with a weight for each feature.

    Amodei et al., Deep Speech 2, ICML 2016.

    Args:
        input: [rows, features] in sequences, or [sequences, rows, features].
        future_context_size: how many rows behind each one are seen.
        param_attr: of the weights, [future_context_size + 1, features].

    Returns:
        A variable of the shape of ``input``, in its sequences.

    >>> fluid.layers.row_conv(fluid.data("x", [None, 8], lod_level=1), 2).shape
    (-1, 8)
    """
    shape = [call.future_context_size + 1, call.input.shape[-1]]
    return f.row_conv(call.input, f.weight(call.param_attr, shape, call.input.dtype))


sequence_expand: Layer = _sequences("""
    sequence_expand(x, y, ref_level, name)

    >>> sentence = fluid.data("sentence", [None, 8])
    >>> words = fluid.data("words", [None, 1], "int64", lod_level=1)
    >>> fluid.layers.sequence_expand(sentence, words).shape
    (-1, 8)
""")
sequence_expand_as: Layer = _sequences("""
    sequence_expand_as(x, y, name)

    >>> sentence = fluid.data("sentence", [None, 8])
    >>> words = fluid.data("words", [None, 1], "int64", lod_level=1)
    >>> fluid.layers.sequence_expand_as(sentence, words).lod_level
    1
""")
