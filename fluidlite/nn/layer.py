"""Layers in the spelling of paddle 2.x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from .. import dygraph
from ..eager.parameter import parameter_of
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..functions.arguments import DTypeLike
from ..functions.arithmetic import get_default_dtype
from ..ground import state
from ..ground.dtypes import DType
from ..ground.tracebacks import cut, is_boundary
from ..ir.variable import Variable
from ..symbolic import appending, in_program

T = TypeVar("T", Tensor, Variable)

#: what begins weights, and biases, of which users say nothing; None for the layers' own ways
first_values: state.StateSlot[tuple[Any, Any]] = state.slot("first values", lambda: (None, None))


class Layer(dygraph.Layer):
    """The base of layers that run at once, on the tensors of ``fluid.to_tensor``, without a guard.

    Called with variables of a program, a layer appends to their program, which gets parameters of
    the same names, with the values that the layer's have then.

    Args:
        name_scope: the stem of the layer's name; made of the class's name when None.
        dtype: the element type of its parameters; the default one when None.

    >>> class Net(fluid.nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = fluid.nn.Linear(4, 8)
    ...         self.out = fluid.nn.Linear(8, 1)
    ...
    ...     def forward(self, x):
    ...         return self.out(fluid.nn.functional.relu(self.hidden(x)))
    >>> net = Net()
    >>> net(fluid.ones([2, 4])).shape, net(fluid.data("x", [None, 4], "float32")).shape
    ([2, 1], (-1, 1))
    """

    tensor_kind: ClassVar[Any] = Tensor

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = None) -> None:
        super().__init__(name_scope, get_default_dtype() if dtype is None else dtype)

    @is_boundary
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """``forward``, between the hooks."""
        try:
            with appending(self.tensor_kind, *inputs, kwargs):
                return super().__call__(*inputs, **kwargs)
        except Exception as error:
            cut(error)
            raise

    def __getattr__(self, name: str) -> Any:
        return in_program(super().__getattr__(name))

    def _parameter(self, attr: Any, shape: Any, dtype: DType, suffix: str, start: Any) -> Any:
        start = first_values.get()[suffix == "b"] or start
        return self._tensor(parameter_of, attr, shape, dtype, suffix, start)


class TensorLayer(Layer):
    """A layer that gives a tensor for a tensor, and a variable for a variable."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, x: T, *inputs: Any, **kwargs: Any) -> T: ...
        @overload
        def __call__(self, *inputs: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *inputs: Any, **kwargs: Any) -> Any: ...


def checked(what: str, given: Any, *allowed: Any) -> Any:
    """An argument that has to be one of some values.

    Raises:
        ArgumentError: it is another.
    """
    if given not in allowed:
        raise ArgumentError(
            f"expected {what} to be {' or '.join(map(repr, allowed))}, got {given!r}"
        )
    return given


def format_of(given: str | None, allowed: Sequence[str]) -> str:
    """A data format; the first one when None.

    Raises:
        ArgumentError: it is another.
    """
    form: str = checked("data_format", given or allowed[0], *allowed)
    return form
