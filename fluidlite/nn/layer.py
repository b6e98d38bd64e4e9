"""Layers in the spelling of paddle 2.x."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np

from .. import unique_name
from ..dygraph.capture import value as taken_up
from ..eager.parameter import parameter_of
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..functions.arguments import DTypeLike
from ..functions.arithmetic import get_default_dtype
from ..ground import state
from ..ground.dtypes import DType, as_dtype
from ..ground.tracebacks import cut, is_boundary
from ..ir.variable import Variable
from ..layer_helper import ObjectHelper
from ..modules.owning import Kept, keep
from ..symbolic import appending, calls_append, in_program
from .casting import CastLayer

T = TypeVar("T", Tensor, Variable)
_NOTHING: Mapping[str, Any] = {}

#: what begins weights, and biases, of which users say nothing; None for the layers' own ways
first_values: state.StateSlot[tuple[Any, Any]] = state.slot("first values", lambda: (None, None))


class Layer(CastLayer):
    """The base of layers that run at once, on the tensors of ``fluid.to_tensor``, without a guard.

    Called with variables of a program, a layer appends to their program, which gets parameters of
    the same names, with the values that the layer's have then. Where paddle 2 builds programs, the
    startup program draws values that nobody has read.

    Args:
        name_scope: the stem of the layer's name; made of the class's name when None.
        dtype: the element type of :meth:`create_tensor`; that of parameters is the default one.

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
    _continues: ClassVar[bool] = True

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        super().__init__(name_scope, dtype)

    def _keep(self, place: str, name: str, value: Any) -> None:
        """Remember it; a tensor stands in place of a buffer only, and is saved as that was."""
        if place == "own_buffers" and value is not None:
            for other in self._keeps:
                if name in self.__dict__.get(other, ()) and other != place:
                    raise self._unfit(other, name, value)
            if name in self.__dict__.get(place, ()):
                before = self.__dict__[place][name]
                promised = name in self.__dict__.get("_promised", ())
                value.persistable = promised if before is None else before.persistable
        super()._keep(place, name, value)

    @property
    def _helper(self) -> ObjectHelper:
        """What old scripts append operators with in ``forward``."""
        return ObjectHelper(self._full_name, None, None if calls_append() else self.tensor_kind)

    @is_boundary
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """``forward``, between the hooks."""
        try:
            if self._is_plain(inputs) and not kwargs:
                return self.forward(*inputs)
            with appending(self.tensor_kind, *inputs, kwargs):
                return super().__call__(*inputs, **kwargs)
        except Exception as error:
            cut(error)
            raise

    def _is_plain(self, inputs: Sequence[Any]) -> bool:
        """Whether a call is ``forward`` alone."""
        own, kind = self.__dict__, self.tensor_kind
        if not own.get("_built") or own["_pre_hooks"] or own["_post_hooks"]:
            return False
        for each in inputs:
            if each.__class__ is not kind:
                return False
        return state.training.get() is self.training

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("own_parameters", _NOTHING).get(name)
        if found is not None:  # what the other way finds first, spelled out
            return in_program(taken_up(found))
        return in_program(super().__getattr__(name))

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """The layers within this one, and within those, each once.

        Args:
            include_self: begin with this layer.
        """
        return [layer for _, layer in self.named_sublayers("", include_self)]

    def named_sublayers(  # type: ignore[override]
        self, prefix: str = "", include_self: bool = False, layers_set: set[Any] | None = None
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of where a layer is found, and the layer; each once.

        Args:
            prefix: what names begin with.
            include_self: begin with this layer, called ``prefix``.
            layers_set: layers to leave out.
        """
        return super().named_sublayers(prefix, True, include_self, layers_set)

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Pairs of where a layer directly within this one is found, and the layer; each once."""
        return super().named_sublayers("", False)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike = None
    ) -> Tensor:
        """A tensor of the layer that is given a value later.

        Args:
            name: the last part of its name; made up when None.
            persistable: whether it belongs to what is saved, once it is a buffer.
            dtype: element type; the layer's when None.

        >>> fluid.nn.Layer("net").create_tensor("count", dtype="int64").name
        'net_0.count'
        """
        kind = self._element_type if dtype is None else as_dtype(dtype)
        made = Tensor(np.zeros((), kind.dtype))
        made.name = f"{self._full_name}.{name or unique_name.generate('_generated_var')}"
        made.persistable = bool(persistable)
        return made

    create_variable = create_tensor  # type: ignore[assignment]

    def _parameter_type(self) -> DType:
        """The element type of parameters of which nothing is said."""
        return as_dtype(get_default_dtype())

    def _parameter(self, attr: Any, shape: Any, dtype: DType, suffix: str, start: Any) -> Any:
        start = first_values.get()[suffix == "b"] or start
        return self._tensor(parameter_of, attr, shape, dtype, suffix, start)


class TensorLayer(Layer):
    """A layer that gives a tensor for a tensor, and a variable for a variable.

    Args:
        name: what the user calls it.
        dtype: the element type of its parameters; the default one when None.
    """

    _said_name: str | None

    def __init__(self, name: str | None = None, dtype: DTypeLike = None) -> None:
        super().__init__(dtype=get_default_dtype() if dtype is None else dtype)
        self.__dict__["_said_name"] = name

    def _parameter_type(self) -> DType:
        return self._element_type

    def _called(self) -> str:
        """The end of ``repr``: the user's name, if there is one."""
        return "" if self._said_name is None else f", name={self._said_name}"

    if TYPE_CHECKING:

        @overload
        def __call__(self, x: T, *inputs: Any, **kwargs: Any) -> T: ...
        @overload
        def __call__(self, *inputs: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *inputs: Any, **kwargs: Any) -> Any: ...


keep(Layer, {**Layer._keeps, "own_buffers": Kept(Tensor, "a tensor")})


class Option:
    """An attribute that is an option of a layer's calls; programs set it between them.

    Args:
        name: of the option.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layer: Any, owner: type) -> Any:
        return self if layer is None else layer._options[self._name]

    def __set__(self, layer: Any, value: Any) -> None:
        layer._options = {**layer._options, self._name: value}


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
