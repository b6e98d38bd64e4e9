"""Units of recurrent nets: one step from the previous state to the next one."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer

#: the operator's numbers of activations
_ACTIVATIONS = {"identity": 0, "sigmoid": 1, "tanh": 2, "relu": 3}


def _number(name: Any, what: str) -> int:
    if not isinstance(name, str) or name not in _ACTIVATIONS:
        raise ArgumentError(f"expected {what} to be one of {sorted(_ACTIVATIONS)}, got {name!r}")
    return _ACTIVATIONS[name]


@layer
def gru_unit(
    f: LayerBuilder,
    input: Variable,
    hidden: Variable,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
) -> tuple[Variable, Variable, Variable]:
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
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0 or size % 3:
        raise ArgumentError(f"expected size to be 3 times that of the state, got {size!r}")
    numbers = dict(
        activation=_number(activation, "activation"),
        gate_activation=_number(gate_activation, "gate_activation"),
    )
    width = size // 3
    ins: dict[str, Any] = {"Input": input, "HiddenPrev": hidden}
    ins["Weight"] = f.weight(param_attr, [width, size], input.dtype)
    bias = f.bias_parameter(bias_attr, [1, size], input.dtype)
    if bias is not None:
        ins["Bias"] = bias
    gate, reset, out = f.new_variable(), f.new_variable(), f.new_variable()
    outs = {"Gate": gate, "ResetHiddenPrev": reset, "Hidden": out}
    f.into("gru_unit", ins, outs, **numbers, origin_mode=origin_mode)
    return out, reset, gate
