"""Tensors and parameters that follow fluid 1.8's rules."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from .. import unique_name
from ..eager import engine
from ..eager.layering import EagerLayer
from ..eager.parameter import Parameter, parameter_of
from ..eager.recording import TensorRecord
from ..eager.sweep import described, node_of
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..functions.mixing import WHOLE_NUMBERS, Promotion
from ..functions.shaping import reshape
from ..ground.callsite import warn
from ..ground.dtypes import Kind, as_dtype
from ..ground.protected import answers_protected
from ..ground.public_names import list_public_names
from ..ground.values import LoDTensor, as_fetched
from ..initializer import Constant
from ..ir.block import Block
from ..ir.program import default_main_program
from ..opdef.reverse_sweep import NodeOutput
from ..param_attr import as_eager_attr
from ..scope import ScopeVariable
from .quotients import FUNCTIONS

if TYPE_CHECKING:
    from ..eager.nodes import GradNode
    from ..functions.arguments import DTypeLike


class _Thread(threading.local):
    """Whether ``backward`` of fluid 1.8's spelling is under way, which keeps all gradients."""

    keeping = False


_thread = _Thread()


@dataclass
class BackwardStrategy:
    """How ``backward`` adds gradients up; accepted for old scripts.

    Args:
        sort_sum_gradient: without meaning here: gradients are added up in one order always.

    >>> strategy = fluid.dygraph.BackwardStrategy()
    >>> strategy.sort_sum_gradient = True
    """

    sort_sum_gradient: bool = False


class DygraphLayer(EagerLayer):
    """The interpreter of layers within ``dygraph.guard()``."""

    @property
    def random_seed(self) -> int:
        """The seed of the default main program, as scripts of fluid 1.8 set it."""
        return default_main_program().random_seed

    def fixed(self, array: Any) -> VarBase:
        """A tensor that holds an array and stays as it is."""
        return VarBase(array)

    def own_parameter(
        self, attr: Any, shape: Any, dtype: DTypeLike, suffix: str, default: Any
    ) -> Any:
        """A parameter that belongs to no layer.

        Args:
            attr: what the user said about it.
            shape: sizes.
            dtype: element type.
            suffix: the last part of a name that is made up.
            default: initializer where the user gave none.
        """
        eager_attr = as_eager_attr(attr)
        if eager_attr is None:
            return None
        owner = unique_name.generate(self.layer_type)
        name = eager_attr.name or unique_name.generate(f"{owner}.{suffix}")
        return new_parameter(shape, dtype, default, eager_attr, name)

    def persistable(self, *arguments: Any) -> NoReturn:
        """A variable that stays between runs: in Python, a tensor does that."""
        self.refuse(
            "keeps a variable between the runs of a program; keep a tensor in an attribute: "
            "fluid.dygraph.to_variable(...)"
        )

    def global_variable(
        self, name: str, shape: Any, dtype: DTypeLike, start: Constant, persistable: bool
    ) -> Any:
        """A tensor of one number in place of a variable that a startup program sets to it.

        Args:
            name: its name.
            shape, dtype: as of any tensor.
            start: the number.
            persistable: what the tensor says of itself.
        """
        made = self.fill_constant(shape=list(shape), dtype=as_dtype(dtype), value=start.value)
        made.name, made.persistable = name, persistable
        return made


@answers_protected
class VarBase(Tensor):
    """An array that remembers how it was made, under the rules of fluid 1.8.

    A second ``backward`` replaces the gradients of the first.  Those of all tensors on the way are
    kept, not of leaves alone.  There are no shapes without dimensions: one element of a tensor has
    shape [1].  Make one with :func:`~fluidlite.dygraph.to_variable`.

    Args:
        array: the value; not copied, and not to be written to any more.
        origin: where it came from; None for a leaf or a constant.
        stop: whether no gradient flows through it.

    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.array([1.0, 2.0], "float32"))
    ...     x.stop_gradient = False
    ...     y = x * x
    ...     fluid.layers.reduce_sum(y).backward()
    ...     x.gradient(), y.gradient()
    (array([2., 4.], dtype=float32), array([1., 1.], dtype=float32))
    """

    sees: ClassVar[bool] = False
    name_stem: ClassVar[str] = "generated_var"
    accumulates: ClassVar[bool] = False
    accumulates_kept: ClassVar[bool] = False
    gradient_stops: bool = True
    frees_all: ClassVar[bool] = True
    layer: ClassVar[type[EagerLayer]] = DygraphLayer
    promotion: ClassVar[Promotion] = WHOLE_NUMBERS
    operator_functions: ClassVar[Mapping[str, Any]] = FUNCTIONS
    keeps_gradients: ClassVar[bool] = True

    #: whether a tensor that has no gradient was told not to stop it
    asks_in_vain: bool = False

    def __init__(
        self,
        array: np.ndarray[Any, Any],
        origin: NodeOutput | GradNode | None = None,
        stop: bool = True,
    ) -> None:
        TensorRecord.__init__(self, array, origin, stop)
        if origin is not None:
            _keep_gradient(self, origin)

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows through the tensor.

        Of integers and truth values it may be said that they want one; they get none.
        """
        return self.stop and not self.asks_in_vain

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        said = isinstance(value, (bool, np.bool_)) and not value
        vain = said and self.array.dtype.kind not in "fc"
        Tensor.stop_gradient.fset(self, vain or value)  # type: ignore[attr-defined]
        if vain or self.asks_in_vain:
            self.asks_in_vain = vain

    def detach(self) -> VarBase:
        """A tensor of the same elements that stops gradients; writing in one leaves the other.

        >>> with fluid.dygraph.guard():
        ...     x = fluid.dygraph.to_variable(np.array([1.0, 2.0], "float32"))
        ...     before = x.detach()
        ...     x.set_value(np.zeros(2, "float32"))
        ...     before.numpy()
        array([1., 2.], dtype=float32)
        """
        return VarBase(self.array)

    def backward(  # type: ignore[override]
        self, backward_strategy: BackwardStrategy | None = None, retain_graph: bool | None = False
    ) -> None:
        """Store the gradients of this tensor in the tensors that it was made of, in place of
        those of an earlier call.

        The cotangent of this tensor is 1 in every element.  Nothing happens when the tensor stops
        gradients.

        Args:
            backward_strategy: accepted for old scripts.
            retain_graph: keep the graph, so that this can be done again; without it a second call
                warns and does nothing.

        Raises:
            ArgumentError: an argument is of another kind.
            ReleasedError: a part of the graph was released by ``backward`` of another tensor.
            OverwrittenError: a value that is needed was written over in place.
        """
        if backward_strategy is not None and not isinstance(backward_strategy, BackwardStrategy):
            raise engine.located(
                ArgumentError,
                f"expected backward_strategy to be None or a BackwardStrategy, got "
                f"{backward_strategy!r:.60}",
            )
        engine.check_bools(retain_graph=retain_graph)
        node = node_of(self.origin)
        if node is not None and node.edges is None:
            warn(
                f"backward of {described(self)} does nothing: its graph was released by an "
                f"earlier call; keep it with retain_graph=True there",
                None,
            )
            return
        before, _thread.keeping = _thread.keeping, True
        try:
            engine.sweep_back([self], [None], retain_graph=retain_graph)
        finally:
            _thread.keeping = before

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the elements, as an array; of one element, it is a number, too."""
        array = super().numpy()
        return as_fetched(array)

    def _copy_to(self, place: Any = None, blocking: bool = True) -> VarBase:
        return VarBase(self.array.copy(), None, self.stop)

    def _grad_name(self) -> str:
        return f"{self.name}@GRAD"

    def value(self) -> ScopeVariable:
        """The tensor as a variable of a scope: ``value().get_tensor()`` reads and writes it.

        >>> with fluid.dygraph.guard():
        ...     x = fluid.dygraph.to_variable(np.ones([2], "float32"))
        ...     x.value().get_tensor().set(np.zeros([2], "float32"), fluid.CPUPlace())
        >>> x.numpy()
        array([0., 0.], dtype=float32)
        """
        return _HeldByTensor(self)

    @property
    def type(self) -> Kind:
        """What kind of value it is, as of a variable of a program."""
        return Kind.LOD_TENSOR

    @property
    def block(self) -> Block:
        """The first block of the default main program, as in fluid 1.8; it holds no tensors."""
        return default_main_program().global_block()

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The tensor as text.

        Args:
            throw_on_error, with_details: accepted, as variables do; they change nothing.
        """
        return repr(self)

    def astype(self, dtype: DTypeLike) -> Tensor:
        """The tensor in another element type."""
        return self.cast(dtype)

    def __getitem__(self, item: Any) -> Any:
        found = super().__getitem__(item)
        return found if found.array.shape else reshape(found, [1])


class _HeldByTensor(ScopeVariable):
    """What a scope has a name for, as held by a tensor.

    Args:
        tensor: the tensor.
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: VarBase) -> None:
        self._tensor = tensor
        self.name = tensor.name

    @property
    def value(self) -> Any:
        """The elements."""
        return self._tensor.array

    @value.setter
    def value(self, found: Any) -> None:
        self._tensor.set_value(found.data if isinstance(found, LoDTensor) else found)


class _Keeper:
    """A hook that stores the gradient in a tensor as long as that lives.

    Args:
        tensor: the tensor.
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: VarBase) -> None:
        self._tensor = weakref.ref(tensor)

    def __call__(self, gradient: Any) -> None:
        if _thread.keeping:
            alive = self._tensor()
            if alive is not None:
                alive.accumulate(gradient if gradient.origin is not None else gradient.array, False)

    def keep_zeros(self) -> None:
        """Store zeros: nothing came, but to other parts that the tensor was made with."""
        if _thread.keeping:
            alive = self._tensor()
            if alive is not None:
                alive.accumulate(np.zeros_like(alive.array), False)


def _keep_gradient(tensor: VarBase, origin: Any) -> None:
    """Let ``backward`` store the gradient of a result."""
    if type(origin) is NodeOutput:
        node, index = origin.node, origin.index
    else:
        node, index = origin, 0
    if node.hooks is None:
        node.hooks = {}
    # below the numbers of users' hooks, so that it is called with what arrives
    node.hooks[-1 - len(node.hooks)] = (index, VarBase, _Keeper(tensor))


class ParamBase(VarBase, Parameter, results=False):
    """A parameter of a :class:`~fluidlite.dygraph.Layer`.

    Args:
        array: the first value; not copied.
        name: made up at its first use, if None.
        trainable: whether it wants a gradient.

    >>> with fluid.dygraph.guard():
    ...     weight = fluid.dygraph.Linear(2, 3).weight
    >>> weight.name, weight.trainable, weight.persistable
    ('linear_0.w_0', True, True)
    """

    def __init__(
        self, array: np.ndarray[Any, Any], name: str | None = None, trainable: bool = True
    ) -> None:
        Parameter.__init__(self, array, name, trainable)


def new_parameter(shape: Any, dtype: DTypeLike, default: Any, attr: Any, name: str) -> ParamBase:
    """A parameter with its first value.

    Args:
        shape: sizes.
        dtype: element type.
        default: initializer where ``attr`` has none.
        attr: a ParamAttr.
        name: its name.

    Raises:
        ArgumentError: a size is unknown.
    """
    program = default_main_program()
    made = parameter_of(shape, dtype, default, attr, name, kind=ParamBase, program=program)
    return made  # type: ignore[return-value]


list_public_names(globals())
