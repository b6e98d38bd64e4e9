"""Recurrent networks over sequences of several lengths, as one operator each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from .layer import LAYERS, LayerBuilder
from .operator_layers import LayerCall, OperatorLayers

#: recurrent networks over sequences of several lengths
_NETS = LAYERS.extended(
    {
        "c_0": "the cell there; given where ``h_0`` is.",
        "use_peepholes": "whether the gates see the cell.",
        "is_reverse": "whether a sequence begins at its end.",
        "gate_activation": 'of the gates: ``"sigmoid"``, ``"tanh"``, ``"relu"`` or ``"identity"``.',
        "cell_activation": "of the cell; likewise.",
        "candidate_activation": "of the candidate; likewise.",
        "dtype": "the element type of the parameters.",
    }
)
_nets = OperatorLayers(_NETS)


@_nets.signature("""
    dynamic_lstm(input, size: int, h_0, c_0, param_attr, bias_attr, use_peepholes, is_reverse,
        gate_activation, cell_activation, candidate_activation, dtype: DTypeLike = "float32",
        name) -> lstm
""")
def dynamic_lstm(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable]:
    """A long short-term memory over sequences of several lengths.

    Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997.

    Args:
        input: sequences of rows, [n, 4 k]: what the input adds to the candidate and to the gates of
            input, forgetting and output.
        size: 4 k.
        h_0: the state before the first row, [number of sequences, k]; zero when None.
        param_attr: of the weights: [k, 4 k].
        bias_attr: of the bias: [1, 4 k], with peepholes [1, 7 k].

    Returns:
        The states and the cells, sequences of the lengths of ``input``, [n, k] each.

    Raises:
        ArgumentError: ``size`` is no multiple of 4, or ``bias_attr`` is False.
        ShapeError: ``input`` or a state has another size.

    >>> x = fluid.data("x", [None, 8], lod_level=1)
    >>> state, cell = fluid.layers.dynamic_lstm(x, 8)
    >>> state.shape, state.lod_level
    ((-1, 2), 1)
    """
    width, bias = _sizes(call.size, call.bias_attr, call.use_peepholes)
    return _net(
        f,
        "lstm",
        {
            **call.ins,
            "Weight": f.weight(call.param_attr, [width, 4 * width], call.dtype),
            "Bias": f.bias_parameter(call.bias_attr, [1, bias], call.dtype),
        },
        ["Hidden", "Cell", "BatchGate", "BatchCellPreAct"],
        **call.attrs,
    )


@_nets.signature("""
    dynamic_lstmp(input, size: int, proj_size: int, param_attr, bias_attr, use_peepholes,
        is_reverse, gate_activation, cell_activation, candidate_activation, proj_activation,
        dtype: DTypeLike = "float32", name, h_0, c_0, cell_clip: float | None,
        proj_clip: float | None) -> lstmp
""")
def dynamic_lstmp(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable]:
    """A long short-term memory whose state is projected before it is fed back, over sequences of
    several lengths.

    Sak, Senior and Beaufays, Long short-term memory recurrent neural network architectures for
    large scale acoustic modeling, Interspeech 2014.

    Args:
        input: sequences of rows, [n, 4 k], as of ``dynamic_lstm``.
        size: 4 k.
        proj_size: the size p of the projection.
        param_attr: of the weights, [p, 4 k], and of the projection, [k, p].
        bias_attr: of the bias: [1, 4 k], with peepholes [1, 7 k].
        proj_activation: of the projection; likewise.
        h_0: the projected state before the first row, [number of sequences, p]; zero when None.
        c_0: the cell there, [number of sequences, k]; given where ``h_0`` is.
        cell_clip: a bound of the cells; none when None.
        proj_clip: a bound of the projections; none when None.

    Returns:
        The projections [n, p] and the cells [n, k], sequences of the lengths of ``input``.

    Raises:
        ArgumentError: ``size`` is no multiple of 4, or ``bias_attr`` is False.
        ShapeError: ``input`` or a state has another size.

    >>> x = fluid.data("x", [None, 12], lod_level=1)
    >>> fluid.layers.dynamic_lstmp(x, 12, proj_size=2)[0].shape
    (-1, 2)
    """
    width, bias = _sizes(call.size, call.bias_attr, call.use_peepholes)
    return _net(
        f,
        "lstmp",
        {
            **call.ins,
            "Weight": f.weight(call.param_attr, [call.proj_size, 4 * width], call.dtype),
            "ProjWeight": f.weight(call.param_attr, [width, call.proj_size], call.dtype),
            "Bias": f.bias_parameter(call.bias_attr, [1, bias], call.dtype),
        },
        ["Projection", "Cell", "", "BatchHidden", "BatchGate", "BatchCellPreAct"],
        **call.attrs,
        cell_clip=call.cell_clip or 0.0,
        proj_clip=call.proj_clip or 0.0,
    )


@_nets.signature("""
    dynamic_gru(input, size: int, param_attr, bias_attr, is_reverse, gate_activation,
        candidate_activation: activation, h_0, origin_mode) -> gru
""")
def dynamic_gru(f: LayerBuilder, call: LayerCall) -> Variable:
    """A gated recurrent unit over sequences of several lengths.

    Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.

    Args:
        input: sequences of rows, [n, 3 k]: what the input adds to both gates and the candidate.
        size: k.
        param_attr: of the weights: [k, 3 k].
        bias_attr: of the bias: [1, 3 k]; False for none.
        h_0: the state before the first row, [number of sequences, k]; zero when None.
        origin_mode: whether the update gate says how much is kept, as in the article, rather than
            how much is new.

    Returns:
        The states, sequences of the lengths of ``input``, [n, k].

    Raises:
        ShapeError: ``input`` or ``h_0`` has another size.

    >>> x = fluid.data("x", [None, 6], lod_level=1)
    >>> fluid.layers.dynamic_gru(x, 2, is_reverse=True).shape
    (-1, 2)
    """
    state, _ = _net(
        f,
        "gru",
        {
            **call.ins,
            "Weight": f.weight(call.param_attr, [call.size, 3 * call.size], call.input.dtype),
            "Bias": f.bias_parameter(call.bias_attr, [1, 3 * call.size], call.input.dtype),
        },
        ["Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden"],
        **call.attrs,
    )
    return state


def _net(
    f: LayerBuilder, type: str, ins: Mapping[str, Any], slots: Sequence[str], **attrs: Any
) -> tuple[Variable, Variable]:
    """The first two results of a network.

    Args:
        f: the interpreter.
        type, ins, attrs: of the operator.
        slots: of its outputs, in the order of their names; empty for a name that fluid leaves out.
    """
    made = [(slot, f.new_variable()) for slot in slots]
    outs = {slot: variable for slot, variable in made if slot}
    f.into(type, {slot: value for slot, value in ins.items() if value is not None}, outs, **attrs)
    return made[0][1], made[1][1]


def _sizes(size: Any, bias_attr: Any, use_peepholes: bool) -> tuple[int, int]:
    """The size of a cell, and that of the bias."""
    if isinstance(size, bool) or whole_number(size) <= 0 or size % 4:
        raise ArgumentError(f"expected size to be 4 times that of the cell, got {size!r}")
    if bias_attr is False:
        raise ArgumentError("expected a bias, which a long short-term memory needs, got False")
    width = int(size) // 4
    return width, (7 if use_peepholes else 4) * width
