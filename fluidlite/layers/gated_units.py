"""The units that recurrent networks are made of: their options, parameters, and the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..errors import ArgumentError, ShapeError
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ground.fields import from_fields
from ..opdef.spec import agree
from ..param_attr import ParamAttr, as_param_attr
from .activation import sigmoid, tanh
from .creation import fill_constant
from .elementwise import elementwise_add, elementwise_mul
from .joining import concat, split
from .layer import is_variable
from .math import matmul

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from ..param_attr import Attr

Activation = Callable[[Any], Any]

UNITS = Family(
    {
        "name_scope": "the stem of the parameters' names.",
        "hidden_size": "the size of the state, and of the cell if there is one.",
        "bias_attr": "of the biases, likewise; False for none.",
        "gate_activation": "a layer for the gates; sigmoid when None.",
        "activation": "a layer for the candidate, and for the cell if there is one; tanh when "
        "None.",
        "forget_bias": "what is added to f.",
        "dtype": "element type of the parameters.",
        "name": "the stem of their names.",
    },
    raises="ArgumentError: ``hidden_size`` is none.",
)
LSTM_UNITS = UNITS.extended(
    {"param_attr": "of the weight, [input + hidden_size, 4 * hidden_size]: of i, g, f and o."}
)
GRU_UNITS = UNITS.extended(
    {
        "param_attr": "of the weights, [input + hidden_size, 2 * hidden_size] of the gates r and "
        "u, and [input + hidden_size, hidden_size] of the candidate; a name gets the endings "
        "``_gate`` and ``_candidate``."
    }
)


class UnitParameter(NamedTuple):
    """A parameter of a unit."""

    name: str  #: as an attribute of units of ``contrib``
    ending: str  #: of the name that a user gave
    times: int  #: elements for each one of the state
    is_bias: bool = False


@from_fields
class GatedUnit:
    """What cells of programs have in common with the units of ``contrib``, which own parameters."""

    hidden_size: int
    param_attr: Attr = None
    bias_attr: Attr = None
    gate_activation: Activation | None = None
    activation: Activation | None = None

    parts: ClassVar[tuple[UnitParameter, ...]]
    #: the states behind a step, of the parameters, the input and the states before
    step: ClassVar[Callable[..., tuple[Any, ...]]]

    def take(self, given: dict[str, Any]) -> None:
        """Keep the arguments of the constructor.

        Args:
            given: the arguments by name.
        """
        self.hidden_size = checked_size(given["hidden_size"])
        self._param_attr, self._bias_attr = given["param_attr"], given["bias_attr"]
        self._gate_activation = given["gate_activation"] or sigmoid
        self._activation = given["activation"] or tanh

    def wanted(self, width: int) -> Iterator[tuple[Any, list[int], bool]]:
        """Of each part: what the user said, the shape for inputs of a width, whether it is a
        bias.
        """
        for part in self.parts:
            size = part.times * self.hidden_size
            attr = self._bias_attr if part.is_bias else self._param_attr
            shape = [size] if part.is_bias else [width + self.hidden_size, size]
            yield (named(attr, part.ending) if part.ending else attr), shape, part.is_bias


@from_fields
class LSTMGates(GatedUnit):
    """A long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``."""

    forget_bias: float = 1.0

    parts: ClassVar[tuple[UnitParameter, ...]] = (
        UnitParameter("_weight", "", 4),
        UnitParameter("_bias", "", 4, True),
    )

    def take(self, given: dict[str, Any]) -> None:
        super().take(given)
        self._forget_bias = fill_constant(
            [1], as_dtype(given["dtype"]), float(given["forget_bias"])
        )
        self._forget_bias.stop_gradient = False

    def step(self, parameters: Sequence[Any], input: Any, state: Any, cell: Any) -> tuple[Any, Any]:
        i, g, f, o = split(_linear(input, state, *parameters), 4, dim=-1)
        gate, activation = self._gate_activation, self._activation
        kept = elementwise_mul(cell, gate(elementwise_add(f, self._forget_bias)))
        after = elementwise_add(kept, elementwise_mul(gate(i), activation(g)))
        return activation(after) * gate(o), after


class GRUGates(GatedUnit):
    """A gated recurrent unit: ``u * h + (1 - u) * candidate``."""

    parts: ClassVar[tuple[UnitParameter, ...]] = (
        UnitParameter("_gate_weight", "gate", 2),
        UnitParameter("_candidate_weight", "candidate", 1),
        UnitParameter("_gate_bias", "gate", 2, True),
        UnitParameter("_candidate_bias", "candidate", 1, True),
    )

    def step(self, parameters: Sequence[Any], input: Any, state: Any) -> tuple[Any]:
        weight, candidate_weight, bias, candidate_bias = parameters
        gates = self._gate_activation(_linear(input, state, weight, bias))
        r, u = split(gates, 2, dim=1)
        candidate = self._activation(_linear(input, r * state, candidate_weight, candidate_bias))
        return (u * state + (1 - u) * candidate,)


@from_fields
class WithType:
    """What has an element type."""

    dtype: DTypeLike = "float32"


def checked_size(size: Any, what: str = "hidden_size") -> int:
    """The size of a state that a user gave.

    Raises:
        ArgumentError: it is no positive whole number.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(f"expected {what} to be a positive whole number, got {size!r:.60}")
    return size


def check_rows(what: str, x: Any, width: int | None = None) -> None:
    """Refuse what is no matrix of that width.

    Raises:
        ArgumentError: it is no variable.
        ShapeError: it has another shape.
    """
    if not is_variable(x):
        raise ArgumentError(f"expected {what} to be a variable, got {x!r:.60}")
    if x.ndim != 2 or (width is not None and not agree(x.shape[1], width)):
        wanted = "width" if width is None else width
        raise ShapeError(
            f"expected {what} of shape [batch, {wanted}], got {x.name!r} of shape {list(x.shape)}"
        )


def named(attr: Any, part: str) -> Any:
    """What a user gave for several parameters, for one of them: their names get an ending.

    Args:
        attr: what ``as_param_attr`` takes.
        part: the ending.
    """
    shared = attr if attr is False else as_param_attr(attr)
    if not isinstance(shared, ParamAttr) or shared.name is None:
        return attr
    own = copy(shared)
    own.name = f"{shared.name}_{part}"
    return own


def _linear(input: Any, state: Any, weight: Any, bias: Any) -> Any:
    """Input and state side by side, times a weight, plus a bias; None for none."""
    product = matmul(concat([input, state], 1), weight)
    return product if bias is None else elementwise_add(product, bias)
