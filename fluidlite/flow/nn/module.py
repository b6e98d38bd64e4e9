"""Modules: functions that own their parameters, in OneFlow's spelling."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from ...eager.engine import located
from ...eager.hooks import HookHandle
from ...eager.tensor_core import TensorCore
from ...errors import ArgumentError, ShapeError, StateDictError, suggestion
from ...ground.fields import begin, from_fields
from ...ground.tracebacks import cut, is_boundary
from ...modules.calling import FunctionCaller
from ...modules.module import Module as CommonModule
from ...modules.owning import Kept, remembers
from ...symbolic import appending, in_program
from ..devices import DeviceLike, need_cpu
from ..placements import SbpLike, check_placed, placement
from ..tensor import Tensor
from . import functional as F

if TYPE_CHECKING:
    from typing_extensions import Self


T = TypeVar("T")


class Parameter(Tensor, results=False):
    """A tensor that a module finds again when it is assigned to an attribute.

    Args:
        data: a tensor; its elements are shared.
        requires_grad: whether it wants a gradient.

    >>> fluid.flow.nn.Parameter(fluid.flow.ones(2)).requires_grad
    True
    """

    persistable = True

    def __init__(self, data: TensorCore, requires_grad: bool = True) -> None:
        TensorCore.__init__(self, data.array)
        self.requires_grad = requires_grad


class LoadedKeys(NamedTuple):
    """What did not fit when a state was loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        said = f"missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys}"
        return f"_IncompatibleKeys({said})" if any(self) else "<All keys matched successfully>"


class Module(CommonModule):
    """The base of all modules: a subclass makes parameters and other modules in ``__init__``, after
    ``super().__init__()``, and says in ``forward`` what it computes.

    >>> class Net(fluid.flow.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = fluid.flow.nn.Linear(4, 8)
    ...         self.out = fluid.flow.nn.Linear(8, 1)
    ...
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    >>> net = Net()
    >>> net(fluid.flow.ones(2, 4)).shape, [name for name, _ in net.named_parameters()]
    (oneflow.Size([2, 1]), ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias'])
    """

    own_parameters: dict[str, Any]
    own_buffers: dict[str, Any]
    own_modules: dict[str, Any]
    #: counts that states may lack, since older ones do
    _optional_buffers: ClassVar[tuple[str, ...]] = ()

    #: what OneFlow calls them, which some subclasses read
    _parameters = property(lambda self: self.own_parameters)
    _buffers = property(lambda self: self.own_buffers)
    _modules = property(lambda self: self.own_modules)

    def __init__(self) -> None:
        super().__init__()
        self._fleeting: set[str] = set()  # buffers that are no part of the state

    # -- computing ---------------------------------------------------------------------------------

    @is_boundary
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """``forward``, between the hooks."""
        try:
            if not (self._pre_hooks or self._post_hooks or kwargs):
                for each in inputs:
                    if each.__class__ is not Tensor:
                        break
                else:
                    return self.forward(*inputs)
            with appending(Tensor, *inputs, kwargs):
                inputs = self._before(inputs)
                return self._behind(inputs, self.forward(*inputs, **kwargs))
        except Exception as error:
            cut(error)
            raise

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call a function with the module, its inputs and outputs after ``forward``; what it
        returns takes the place of the outputs, unless it is None.
        """
        return self._call_behind(hook)

    # -- attributes --------------------------------------------------------------------------------

    _within = "own_modules"

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep a parameter under a name; None keeps the place free."""
        self._keep("own_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is no parameter under a name.

        Args:
            name: the attribute that it is found in.
            tensor: the tensor; None keeps the place free.
            persistent: whether it is a part of ``state_dict()``.
        """
        self._keep("own_buffers", name, tensor)
        if not persistent:
            self._fleeting.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Keep a module under a name; None keeps the place free."""
        self._keep("own_modules", name, module)

    # -- what there is -----------------------------------------------------------------------------

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Pairs of where a module is found, and the module, this one first; each once."""
        start = f"{prefix}." if prefix else ""
        return ((place[:-1], module) for place, module in self._walk(start, True, set()))

    def modules(self) -> Iterator[Module]:
        """This module and those within, each once."""
        return (module for _, module in self.named_modules())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of where a parameter is found, and the parameter; each once.

        Args:
            prefix: what names begin with.
            recurse: also those of modules within.
        """
        return self._named("own_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (value for _, value in self.named_parameters("", recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Pairs of where a buffer is found, and the buffer; each once."""
        return self._named("own_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return (value for _, value in self.named_buffers("", recurse))

    def get_submodule(self, target: str) -> Module:
        """The module that is found at a place, as "layers.0"; this one at "".

        Raises:
            ArgumentError: there is none.
        """
        return self._at("module", target, dict(self.named_modules()))

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that is found at a place, as "layers.0.weight".

        Raises:
            ArgumentError: there is none.
        """
        return self._at("parameter", target, dict(self.named_parameters()))

    def _at(self, what: str, target: str, known: dict[str, T]) -> T:
        if target not in known:
            said = f"{type(self).__name__} has no {what} {target!r}{suggestion(target, known)}"
            raise located(ArgumentError, said)
        return known[target]

    def _get_name(self) -> str:
        return type(self).__name__

    # -- states ------------------------------------------------------------------------------------

    def state_dict(
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The parameters and persistent buffers by where they are found.

        Args:
            destination: what they are put into; an ordered dictionary when None.
            prefix: what names begin with.
            keep_vars: accepted; what is given are the parameters themselves.
        """
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        for name, value in {**self.own_parameters, **self.own_buffers}.items():
            if value is not None and name not in self._fleeting:
                state[prefix + name] = value
        for name, module in self.own_modules.items():
            if module is not None:
                module.state_dict(state, f"{prefix}{name}.", keep_vars)
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> LoadedKeys:
        """Take over a state: all of it or, where something does not fit, nothing.

        Args:
            state_dict: tensors, or arrays, by name, as :meth:`state_dict` gives them.
            strict: refuse a state that lacks a name, or has another one.

        Returns:
            the names that are missing, and those that are unknown.

        Raises:
            StateDictError: a name is missing, or unknown.
            ShapeError: a tensor has another shape.
        """
        own = self.state_dict()
        optional = self._optional_names()
        missing = [name for name in own if name not in state_dict and name not in optional]
        unknown = [name for name in state_dict if name not in own]
        if strict and (missing or unknown):
            lacks = [f"the state lacks {sorted(missing)}"] if missing else []
            extra = [f"the module has no place for {sorted(unknown)}"] if unknown else []
            raise located(
                StateDictError,
                f"{' and '.join([*lacks, *extra])}; with strict=False that does not matter",
            )
        fitting = [(name, own[name], state_dict[name]) for name in own if name in state_dict]
        for name, tensor, value in fitting:
            shape = getattr(value, "array", value).shape
            if tensor.array.shape != shape:
                raise located(
                    ShapeError,
                    f"expected shape {list(tensor.array.shape)} for {name!r}, got {list(shape)}",
                )
        for name in optional.difference(state_dict):
            own[name].zero_()
        for _, tensor, value in fitting:
            tensor.set_value(value if isinstance(value, TensorCore) else Tensor.results(value))
        return LoadedKeys(missing, unknown)

    def _optional_names(self) -> set[str]:
        """The names of counts that states may lack; they begin anew then."""
        return {
            f"{path}.{name}" if path else name
            for path, module in self.named_modules()
            for name in type(module)._optional_buffers
            if module.own_buffers.get(name) is not None
        }

    # -- all of it at once -------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Let this module and those within train, or be tested.  Returns the module."""
        self._train(bool(mode))
        return self

    def eval(self) -> Self:
        """Let this module and those within be tested.  Returns the module."""
        return self.train(False)

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Drop the gradients of all parameters, or make them zero."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach() * 0.0

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say of all parameters whether they want gradients.  Returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Cast parameters and buffers of fractions; arguments as of ``Tensor.to``.  Returns the
        module.
        """
        for module in self.modules():
            for kept in (module.own_parameters, module.own_buffers):
                for tensor in kept.values():
                    if tensor is not None and tensor.array.dtype.kind == "f":
                        tensor.array = tensor.detach().to(*args, **kwargs).array
        return self

    def float(self) -> Self:
        """Cast parameters and buffers to float32.  Returns the module."""
        return self.to("float32")

    def double(self) -> Self:
        """Cast parameters and buffers to float64.  Returns the module."""
        return self.to("float64")

    def half(self) -> Self:
        """Cast parameters and buffers to float16.  Returns the module."""
        return self.to("float16")

    def cpu(self) -> Self:
        """The module itself, which is there already."""
        return self

    def cuda(self, device: DeviceLike = None) -> Self:
        """An error: there are no tensors on other devices.

        Raises:
            DeviceError: always.
        """
        need_cpu("cuda" if device is None else device)
        return self

    def to_global(self, placement: placement | None = None, sbp: SbpLike = None) -> Self:
        """Let parameters and buffers lie with all processes: the only one.  Returns the module.

        Args:
            placement: the processes.
            sbp: how the parts of all tensors lie.
        """
        placed = check_placed(placement, sbp)
        for tensor in (*self.parameters(), *self.buffers()):
            tensor._place_at(placed)
        return self

    def to_local(self) -> Self:
        """Let parameters and buffers lie with this process.  Returns the module."""
        return self.to_global()


remembers(
    Module,
    {
        "own_parameters": Kept(Parameter, "a parameter"),
        "own_buffers": Kept(Tensor, "a buffer", assigned=False),
        "own_modules": Kept(Module, "a module"),
    },
    in_program,
)


class FunctionModule(FunctionCaller, Module):
    """A module without parameters: a function, and options for it.

    A subclass says in ``function`` which, or takes the options of one as its constructor.
    """

    _functions = F.__name__

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        has_fields = {*cls.__annotations__} - {"function"}
        if cls.__init__ is FunctionModule.__init__ and not has_fields:
            from_fields(cls)  # none, under the name of the class

    def __init__(self) -> None:
        begin(self, {})

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the options, and whether results are written to the input.

        Args:
            given: options by name.
        """
        Module.__init__(self)
        self._inplace = bool(given.pop("inplace", False))
        self._options = given

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the function gives; ``inplace`` is for those alone that take it."""
        function, options = type(self).function, self._options
        if self._inplace and "inplace" in inspect.signature(function).parameters:
            options = {**options, "inplace": True}
        return function(*inputs, **named, **options)

    #: the options that ``repr`` shows; None for all
    shows: ClassVar[tuple[str, ...] | None] = None

    def extra_repr(self) -> str:
        names = self._options if self.shows is None else self.shows
        shown = [f"{name}={self._options[name]!r}" for name in names]
        return ", ".join([*shown, *["inplace=True"] * self._inplace])
