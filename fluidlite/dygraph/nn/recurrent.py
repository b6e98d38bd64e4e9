"""One step of recurrent nets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.arguments import DTypeLike
from ...ground.fields import from_fields
from ...ir.variable import Variable
from ...layers.layer import LayerBuilder, layer
from ...layers.recurrent_unit import numbers_of
from ..layer import Layer

if TYPE_CHECKING:
    from ...param_attr import Attr


@layer("gru_unit")
def _gru_unit(
    f: LayerBuilder,
    input: Variable,
    hidden: Variable,
    weight: Variable,
    bias: Variable | None,
    attrs: dict[str, Any],
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    outs = f.gru_unit.all(input, hidden, weight, bias, **attrs)
    return outs["Hidden"], outs["ResetHiddenPrev"], outs["Gate"]


@from_fields
class GRUUnit(Layer):
    """One step of a gated recurrent unit: ``(1 - u) * hidden + u * candidate``.

    Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.

    Args:
        size: three times the size of the hidden state.
        param_attr: of the weight, [size / 3, size].
        bias_attr: of the bias, [1, size]; False for none.
        activation: of the candidate: "tanh", "sigmoid", "relu" or "identity".
        gate_activation: of the gates.
        origin_mode: whether the result is ``u * hidden + (1 - u) * candidate``, as in the article.
        dtype: element type of the parameters.

    Raises:
        ArgumentError: ``size`` is no multiple of 3, or there is no such activation.

    >>> with fluid.dygraph.guard():
    ...     unit = fluid.dygraph.GRUUnit(9)
    ...     x = fluid.dygraph.to_variable(np.ones([2, 9], "float32"))
    ...     h = fluid.dygraph.to_variable(np.zeros([2, 3], "float32"))
    ...     hidden, reset, gate = unit(x, h)
    >>> hidden.shape, gate.shape
    ([2, 3], [2, 9])
    """

    size: int
    param_attr: Attr = None
    bias_attr: Attr = None
    activation: str = "tanh"
    gate_activation: str = "sigmoid"
    origin_mode: bool = False
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        own = numbers_of(**{name: given.pop(name) for name in ("activation", "gate_activation")})
        self.begin_with(given)
        self.__dict__.update(own)  # which fluid 1.8 keeps without an underscore
        size = self._size
        if not isinstance(size, int) or size < 3 or size % 3:
            raise ArgumentError(
                f"expected size, three times that of the hidden state, to be a multiple of 3, got "
                f"{size!r:.60}"
            )
        self._bias_size = [1, size]
        self.weight: Any = self.create_parameter([size // 3, size], self._param_attr)
        self.bias: Any = self.create_parameter(self._bias_size, self._bias_attr, is_bias=True)

    def forward(self, input: Variable, hidden: Variable) -> tuple[Variable, Variable, Variable]:
        """The new state, the old state after the reset gate, and the gates with the candidate.

        Args:
            input: [N, size], projected already.
            hidden: the old state, [N, size / 3].
        """
        attrs = {
            "activation": self.activation,
            "gate_activation": self.gate_activation,
            "origin_mode": self._origin_mode,
        }
        return _gru_unit(input, hidden, self.weight, self.bias, attrs, self._full_name)
