"""Layers: functions that own their parameters."""

from __future__ import annotations

import functools
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from .. import unique_name
from ..eager.hooks import HookHandle
from ..eager.layering import blank
from ..eager.recording import TensorRecord
from ..eager.tensor import Tensor
from ..errors import ArgumentError, ShapeError, StateDictError, UnsupportedError, suggestion
from ..functions.arguments import DTypeLike
from ..ground import state
from ..ground.aliases import Alias
from ..ground.docstrings import Family
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.missing_names import answer
from ..ground.place import Place
from ..ground.public_names import list_public_names
from ..ground.tracebacks import cut, is_boundary
from ..initializer import Constant, Initializer, Xavier
from ..ir.program import default_main_program
from ..ir.variable import Variable
from ..layer_helper import ObjectHelper
from ..layers.layer import LayerBuilder
from ..param_attr import Attr, ParamAttr, as_eager_attr
from .registry import Registry
from .tensor import VarBase, new_parameter

#: layers with parameters of their own
PARAMETERS = Family(
    {
        "act": "the activation.",
        "bias_attr": "of the bias; False for none.",
        "dtype": "element type of the parameters.",
    }
)


#: what a ``forward`` has that runs the hooks of its layer by itself
RUNS_HOOKS = "_runs_hooks"


class Layer(Registry):
    """The base of all layers: a subclass makes its parameters and sublayers in ``__init__``, after
    ``super().__init__()``, and says in ``forward`` what it computes with them.

    Parameters, layers and buffers that are assigned to attributes are found again by
    ``parameters()``, ``sublayers()``, ``state_dict()`` and optimizers.  A layer that is made
    outside of ``dygraph.guard()`` has parameters of the default programs, and appends to them when
    it is called with variables.

    Args:
        name_scope: the stem of the layer's name; made of the class's name when None.
        dtype: the element type of its parameters.

    >>> class Net(fluid.dygraph.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = fluid.dygraph.Linear(4, 8, act="relu")
    ...         self.out = fluid.dygraph.Linear(8, 1)
    ...
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x))
    >>> with fluid.dygraph.guard():
    ...     net = Net()
    ...     y = net(fluid.dygraph.to_variable(np.ones([2, 4], "float32")))
    >>> y.shape, [name for name, _ in net.named_parameters()]
    ([2, 1], ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias'])
    """

    #: the class of its tensors where that is one, with a guard or without; None for those of guards
    tensor_kind: ClassVar[Any] = None
    _full_name: str
    _element_type: DType
    _dtype: DTypeLike  # as given, as in fluid 1.8
    _built: bool

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        super().__init__()
        stem = _snake_case(type(self).__name__) if name_scope is None else name_scope
        self.__dict__.update(
            _full_name=unique_name.generate(stem),
            _element_type=as_dtype(dtype),
            _dtype=dtype,
            _built=False,
        )

    def begin_with(self, given: Mapping[str, Any], name_scope: str | None = None) -> None:
        """Begin as a layer that has its arguments as attributes: by the names of fluid 1.8, which
        have an underscore in front.  ``forward`` reads them there, since scripts change them.

        Args:
            given: the arguments by name.
            name_scope: as of the constructor.
        """
        Layer.__init__(self, name_scope, given.get("dtype", "float32"))
        self.__dict__.update({f"_{name}": value for name, value in given.items()})

    @property
    def _helper(self) -> ObjectHelper:
        """What old scripts append operators with in ``forward``."""
        return ObjectHelper(self._full_name)

    # -- computing -------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes: written by subclasses."""
        raise UnsupportedError(f"{type(self).__name__} needs a method forward(self, ...)")

    @is_boundary
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """``forward``, between the hooks."""
        try:
            return self.call_with(self.forward, *inputs, **kwargs)
        except Exception as error:
            cut(error)
            raise

    @is_boundary
    def call_with(self, forward: Callable[..., Any], /, *inputs: Any, **kwargs: Any) -> Any:
        """Call the layer with another function in place of ``forward``.

        Args:
            forward: the function.
            inputs, kwargs: what the layer is called with.
        """
        if self._pre_hooks and not hasattr(forward, RUNS_HOOKS):
            inputs = self._before(inputs)
        if not self._built:
            self._build_once(*inputs, **kwargs)
            self._built = True
        with self._calling():
            outputs = forward(*inputs, **kwargs)
        if self._post_hooks and not hasattr(forward, RUNS_HOOKS):
            return self._behind(inputs, outputs)
        return outputs

    def _calling(self) -> AbstractContextManager[Any]:
        if state.training.get() is self.training:
            return nullcontext()
        return state.training.guard(self.training)

    def _build_once(self, *inputs: Any, **kwargs: Any) -> None:
        """Called before the first ``forward``: old scripts make parameters there."""

    def backward(self, *inputs: object) -> None:
        """Not for layers: their operators know their gradients.

        Raises:
            ArgumentError: always.
        """
        raise ArgumentError(f"{self._full_name} has no backward(); call it on the loss")

    def register_forward_post_hook(
        self, hook: Callable[[Layer, tuple[Any, ...], Any], Any]
    ) -> HookHandle:
        """Call a function after ``forward``.

        Args:
            hook: takes the layer, the tuple of its inputs, and its outputs; what it returns takes
                the place of the outputs, unless it is None.

        Returns:
            a handle with ``remove()``.

        >>> with fluid.dygraph.guard():
        ...     layer = fluid.dygraph.Linear(2, 2)
        ...     handle = layer.register_forward_post_hook(lambda layer, inputs, out: out * 0 + 1)
        ...     layer(fluid.dygraph.to_variable(np.ones([1, 2], "float32"))).numpy()
        array([[1., 1.]], dtype=float32)
        """
        return self._call_behind(hook)

    # -- training and testing --------------------------------------------------------------------

    def train(self) -> None:
        """Let this layer and its sublayers train: dropout drops, normalisations use the batch."""
        self._train(True)

    def eval(self) -> None:
        """Let this layer and its sublayers be tested."""
        self._train(False)

    def to(
        self,
        device: str | Place | None = None,
        dtype: DTypeLike = None,
        blocking: bool | None = None,
    ) -> Layer:
        """Cast the parameters and buffers of fractions; there is one place.

        Args:
            device: "cpu", or None.
            dtype: an element type of fractions; None leaves them as they are.
            blocking: accepted; nothing is copied behind one's back.

        Returns:
            this layer.

        Raises:
            ArgumentError: the device is another, the element type is none of fractions, or the
                parameters are those of a program.

        >>> fluid.nn.Linear(2, 3).to(dtype="float64").weight.dtype
        VarType.FP64
        """
        if device is not None and "cpu" not in str(device).lower():
            raise ArgumentError(f"expected device to be 'cpu' or None, got {device!r:.60}")
        if dtype is None:
            return self
        kind = as_dtype(dtype)
        if not kind.is_float:
            raise ArgumentError(f"expected an element type of fractions, got {kind}")
        found = [*self.parameters(), *self.buffers()]
        for tensor in found:
            self._need_tensor(tensor, "an element type to change")
        for tensor in found:
            if tensor.array.dtype.kind == "f":
                tensor.array = tensor.array.astype(kind.dtype)
                tensor.clear_gradient(False)
        for _, layer in self._walk():
            layer._dtype = layer._element_type = kind
        return self

    def clear_gradients(self) -> None:
        """Make the gradients of all parameters zero.

        Raises:
            ArgumentError: they are parameters of a program.
        """
        for parameter in self.parameters():
            self._need_tensor(parameter, "a gradient to clear")
            if parameter.trainable:
                parameter.clear_gradient()

    # -- parameters ------------------------------------------------------------------------------

    @property
    def _parameters(self) -> dict[str, Any]:
        held: dict[str, Any] = self.own_parameters
        return held

    @property
    def _sub_layers(self) -> dict[str, Any]:
        held: dict[str, Any] = self.own_sublayers
        return held

    @property
    def _buffers(self) -> dict[str, Any]:
        held: dict[str, Any] = self.own_buffers
        return held

    @property
    def _non_persistable_buffer_names_set(self) -> set[str]:
        held = self.own_buffers.items()
        return {name for name, each in held if each is not None and not each.persistable}

    _forward_pre_hooks: Alias[Any] = Alias("_pre_hooks")
    _forward_post_hooks: Alias[Any] = Alias("_post_hooks")

    @property
    def _loaddict_holder(self) -> dict[str, Any]:
        return {}

    def full_name(self) -> str:
        """The layer's name, as ``linear_0``, which its parameters' names begin with."""
        return self._full_name

    def create_parameter(
        self,
        shape: Sequence[int],
        attr: Attr = None,
        dtype: DTypeLike = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Any:
        """A parameter called ``<layer>.w_<n>``, or ``<layer>.b_<n>``; None when ``attr`` is False.

        Assign it to an attribute of the layer.

        Args:
            shape: sizes.
            attr: what the user said about it: a ParamAttr, a name, an initializer, False for no
                parameter.
            dtype: element type; the layer's, or in paddle 2 the default one, when None.
            is_bias: name it and start it as a bias.
            default_initializer: gives the value where ``attr`` does not; Xavier's, or 0 for a bias,
                when None.

        Raises:
            ArgumentError: a size is unknown, or ``attr`` is something else.
        """
        start = default_initializer or (Constant(0.0) if is_bias else Xavier())
        kind = self._parameter_type() if dtype is None else as_dtype(dtype)
        suffix = "b" if is_bias else "w"
        if not state.in_dygraph_mode():
            return self._parameter(attr, shape, kind, suffix, start)
        return self._tensor(new_parameter, attr, shape, kind, suffix, start)

    def _parameter_type(self) -> DType:
        """The element type of parameters of which nothing is said."""
        return self._element_type

    def _parameter(self, attr: Any, shape: Any, dtype: DType, suffix: str, start: Any) -> Any:
        """A parameter that is made without a guard."""
        program = LayerBuilder(self._full_name, self._full_name)
        return program.parameter(attr, shape, dtype, suffix, start)

    def _tensor(
        self, made: Callable[..., Any], attr: Any, shape: Any, dtype: DType, suffix: str, start: Any
    ) -> Any:
        """A parameter that runs at once; None when ``attr`` is False."""
        eager_attr = _NOTHING_SAID if attr is None else as_eager_attr(attr)
        if eager_attr is None:
            return None
        name = eager_attr.name or unique_name.generate(f"{self._full_name}.{suffix}")
        return made(shape, dtype, start, eager_attr, name)

    def create_variable(
        self,
        name: str | None = None,
        persistable: bool = False,
        dtype: DTypeLike = None,
        type: Kind = Kind.LOD_TENSOR,
    ) -> Any:
        """A blank tensor, or a variable of the program, to be given a value by some layer.

        Args:
            name: the last part of its name; made up when None.
            persistable: whether it belongs to what is saved, once it is a buffer.
            dtype: element type; the layer's when None.
            type: the kind of variable, in a program.

        Raises:
            ArgumentError: a tensor is to be of another kind than a tensor.
        """
        kind = self._element_type if dtype is None else as_dtype(dtype)
        whole = f"{self._full_name}.{name or unique_name.generate('_generated_var')}"
        if not state.in_dygraph_mode():
            block = default_main_program().current_block()
            return block.create_var(
                name=whole, dtype=kind, persistable=bool(persistable), type=type
            )
        if type != Kind.LOD_TENSOR:
            raise ArgumentError(f"expected type to be a tensor within dygraph.guard(), got {type}")
        made: VarBase = blank(VarBase, kind)
        made.name = whole
        made.persistable = bool(persistable)
        return made

    # -- states ----------------------------------------------------------------------------------

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
    ) -> dict[str, Tensor]:
        """The parameters and persistable buffers, by where they are found.

        The tensors are the layer's own; ``save_dygraph`` writes them to a file.

        Args:
            destination: where to put them; a new dictionary when None.
            include_sublayers: take those of sublayers, too.
            structured_name_prefix: what names begin with.

        >>> with fluid.dygraph.guard():
        ...     list(fluid.dygraph.Sequential(fluid.dygraph.Linear(2, 3)).state_dict())
        ['0.weight', '0.bias']
        """
        tensors = OrderedDict() if destination is None else destination
        for prefix, layer in self._walk(structured_name_prefix, include_sublayers):
            for name, parameter in layer.own_parameters.items():
                if parameter is not None:
                    tensors[prefix + name] = parameter
            for name, buffer in layer.own_buffers.items():
                if buffer is not None and buffer.persistable:
                    tensors[prefix + name] = buffer
        return tensors

    def set_dict(
        self,
        stat_dict: Mapping[str, Any],
        include_sublayers: bool = True,
        use_structured_name: bool = True,
    ) -> None:
        """Give the parameters the values of a state; all or, where one does not fit, none.

        Args:
            stat_dict: arrays or tensors by name, as ``state_dict`` or ``load_dygraph`` gives them;
                others than the layer's are passed over.
            include_sublayers: also set those of sublayers.
            use_structured_name: names say where parameters are found; False: they are the
                parameters' own.

        Raises:
            StateDictError: there is no value for a parameter.
            ShapeError: a value has another shape than its parameter.
            ArgumentError: ``stat_dict`` is no dictionary, or the parameters are those of a program.

        >>> with fluid.dygraph.guard():
        ...     first, second = fluid.dygraph.Linear(2, 3), fluid.dygraph.Linear(2, 3)
        ...     second.set_dict(first.state_dict())
        >>> bool((first.weight.numpy() == second.weight.numpy()).all())
        True
        """
        if not isinstance(stat_dict, Mapping):
            raise ArgumentError(
                f"expected a dictionary of arrays by name, got {stat_dict!r:.60} of type "
                f"{type(stat_dict).__name__}"
            )
        fitting = []
        for place, tensor in self.state_dict(include_sublayers=include_sublayers).items():
            self._need_tensor(tensor, "a value to set")
            key = place if use_structured_name else tensor.name
            if key not in stat_dict:
                raise StateDictError(
                    f"the state has no value for {key!r}{suggestion(key, stat_dict)}; it has "
                    f"{len(stat_dict)}: {', '.join(map(repr, list(stat_dict)[:5]))}"
                )
            given = stat_dict[key]
            value = given.numpy() if isinstance(given, TensorRecord) else np.asarray(given)  # type: ignore[attr-defined]
            if value.shape != tensor.array.shape:
                raise ShapeError(
                    f"expected a value of shape {list(tensor.array.shape)} for {key!r} of "
                    f"{self._full_name}, got one of shape {list(value.shape)}"
                )
            fitting.append((tensor, value))
        for tensor, value in fitting:
            tensor.set_value(value)

    load_dict = set_dict
    set_state_dict = set_dict

    def _need_tensor(self, parameter: Any, what: str) -> None:
        if isinstance(parameter, Variable):
            raise ArgumentError(
                f"expected a tensor with {what} in {self._full_name}, got parameter "
                f"{parameter.name!r} of a program, whose value is in the scope; make the layer "
                f"within dygraph.guard(), or use fluid.io.load_params and the like"
            )


#: what is said about most parameters
_NOTHING_SAID = ParamAttr()


@functools.lru_cache
def _snake_case(name: str) -> str:
    """``BatchNorm`` as ``batch_norm``, ``Conv2D`` as ``conv2d``, ``GRUUnit`` as ``gru_unit``."""
    spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()


list_public_names(globals())
answer(globals())
