"""Units of recurrent nets: one step from the previous state to the next one."""

from __future__ import annotations

from typing import Any

from .. import unique_name
from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import Kind
from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.spec import agree
from .joining import concat
from .layer import LayerBuilder
from .nn import fc
from .operator_layers import LayerCall, operator_layer

#: the operator's numbers of activations
_ACTIVATIONS = {"identity": 0, "sigmoid": 1, "tanh": 2, "relu": 3}


def numbers_of(**activations: str) -> dict[str, int]:
    """What the operator calls activations that a user gave.

    Raises:
        ArgumentError: one is none.
    """
    for what, name in activations.items():
        if not isinstance(name, str) or name not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise ArgumentError(f"expected {what} to be one of {known}, got {name!r:.60}")
    return {what: _ACTIVATIONS[name] for what, name in activations.items()}


@operator_layer.signature("""
    gru_unit(input, hidden: HiddenPrev, size: int, param_attr, bias_attr, activation: str = "tanh",
        gate_activation: str = "sigmoid", origin_mode)
""")
def gru_unit(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable, Variable]:
    """One step of a gated recurrent unit: the next state from the input and the previous state.

    Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.

    Args:
        input: [n, 3 k]: what the input adds to both gates and the candidate.
        hidden: [n, k], the previous state.
        size: 3 k.
        param_attr: of the weights: [k, 3 k].
        bias_attr: of the bias: [1, 3 k]; False for none.
        activation: of the candidate: "tanh", "sigmoid", "relu" or "identity".
        gate_activation: of the gates; likewise.
        origin_mode: whether the update gate says how much is kept, as in the article, rather than
            how much is new.

    Returns:
        The next state [n, k], the previous one times the reset gate [n, k], and gates and candidate
        [n, 3 k].

    Raises:
        ArgumentError: ``size`` is no multiple of 3, or an activation is none of these.
        ShapeError: ``input`` or ``hidden`` has another size.

    >>> x, before = fluid.data("x", [None, 6]), fluid.data("before", [None, 2])
    >>> fluid.layers.gru_unit(x, before, 6)[0].shape
    (-1, 2)
    """
    size, dtype = call.size, call.input.dtype
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0 or size % 3:
        raise ArgumentError(f"expected size to be 3 times that of the state, got {size!r}")
    numbers = numbers_of(activation=call.activation, gate_activation=call.gate_activation)
    weight = f.weight(call.param_attr, [size // 3, size], dtype)
    bias = f.bias_parameter(call.bias_attr, [1, size], dtype)
    outs = f.gru_unit.all(call.input, call.hidden, weight, bias, **numbers, **call.attrs)
    return outs["Hidden"], outs["ResetHiddenPrev"], outs["Gate"]


@operator_layer.signature("""
    lstm_unit(x_t: Variable, hidden_t_prev: Variable, cell_t_prev: C_prev, forget_bias,
        param_attr, bias_attr, name)
""")
def lstm_unit(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable]:
    """One step of a long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``.

    The gates i, f and o are sigmoids, and the candidate g a tanh, of what a layer ``fc`` makes of
    the input and the state (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation
    9(8), 1997).

    Args:
        x_t: the input, [n, width].
        hidden_t_prev, cell_t_prev: the state and the cell before, [n, k] each.
        forget_bias: what is added to f.
        param_attr: of the weight, [width + k, 4 k]: of i, f, o and g.
        bias_attr: of the bias, [4 k]; False for none.

    Returns:
        The next state and the next cell, [n, k] each.

    Raises:
        ShapeError: an input is no matrix, or state and cell differ in shape.

    >>> x, h, c = (fluid.data(name, [None, 5]) for name in "xhc")
    >>> fluid.layers.lstm_unit(x, h, c)[0].shape
    (-1, 5)
    """
    x, hidden, cell = call.x_t, call.hidden_t_prev, call.cell_t_prev
    for what, each in dict(x_t=x, hidden_t_prev=hidden, cell_t_prev=cell).items():
        if each.ndim != 2:
            raise ShapeError(f"expected {what} of shape [n, width], got {list(each.shape)}")
    if not all(map(agree, hidden.shape, cell.shape)):
        raise ShapeError(
            f"expected hidden_t_prev and cell_t_prev of one shape, got "
            f"{list(hidden.shape)} and {list(cell.shape)}"
        )
    both = concat([x, hidden], axis=1)
    gates = fc(both, 4 * cell.shape[1], param_attr=call.param_attr, bias_attr=call.bias_attr)
    cell, state = f.new_variable(), f.new_variable()
    outs = {"C": cell, "H": state}
    f.into("lstm_unit", {"X": gates, **call.ins}, outs, **call.attrs)
    return state, cell


@operator_layer.signature("""
    lstm(input, init_h, init_c, max_len=..., hidden_size=..., num_layers=...,
        dropout_prob: float = 0.0, is_bidirec, is_test, name,
        default_initializer: Initializer | None = None, seed) -> cudnn_lstm
""")
def lstm(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable, Variable]:
    """Several layers of long short-term memories over sequences of one length.

    All weights are one parameter, in the order of NVIDIA's cuDNN (Hochreiter and Schmidhuber, Long
    short-term memory, Neural Computation 9(8), 1997).

    Args:
        input: [steps, batch, width].
        init_h, init_c: the first states and cells, [layers * directions, batch, hidden_size].
        max_len: the largest number of steps.
        hidden_size: the size of a state.
        num_layers: how many layers there are; each reads what the one below hands out.
        dropout_prob: how probable it is that an element between two layers becomes 0.
        is_bidirec: whether each layer goes forth and back, and hands out both states.
        is_test: whether nothing is dropped.
        default_initializer: gives the first values of the parameter; small numbers when None.
        seed: where it is above 0 it fixes what is dropped.

    Returns:
        The states of the last layer, [steps, batch, hidden_size * directions]; the last states and
        the last cells of all layers, of the shape of ``init_h``.

    Raises:
        ShapeError: shapes do not fit.
        AttributeValueError: a size or a probability is none.

    >>> x, h, c = (fluid.data(name, [n, 2, 4]) for name, n in (("x", 7), ("h", 3), ("c", 3)))
    >>> out, last_h, last_c = fluid.layers.lstm(x, h, c, 7, 4, num_layers=3)
    >>> out.shape, last_h.shape
    ((7, 2, 4), (3, 2, 4))
    """
    if call.input.ndim != 3 or call.input.shape[2] < 1:
        raise ShapeError(
            f"expected input of shape [steps, batch, width] with a known width, got "
            f"{list(call.input.shape)}"
        )
    width = call.input.shape[2]
    attrs = dict(dropout_prob=float(call.dropout_prob), input_size=width, **call.attrs)
    op: Any = lookup("cudnn_lstm")(attrs)
    op.check_layout()
    weights = f.weight(None, [op.parts(width)[1]], call.input.dtype, call.default_initializer)
    cache = f.block.create_var(
        name=unique_name.generate("_generated_var"), persistable=True, type=Kind.RAW
    )
    cache.stop_gradient = True
    ins: dict[str, Any] = {**call.ins, "W": weights}
    # the block cannot infer from a cache, which has no shape
    inferred = op.infer_outputs({slot: x.spec for slot, x in ins.items()})
    outs = {
        slot: f.block.declare_var(
            name=unique_name.generate(f.stem), shape=spec.shape, dtype=spec.dtype
        )
        for slot, spec in inferred.items()
        if spec is not None
    }
    if op.drops:
        outs["Kept"].stop_gradient = True
    f.into("cudnn_lstm", {**ins, "Cache": cache}, outs, **attrs)
    return outs["Out"], outs["last_h"], outs["last_c"]
