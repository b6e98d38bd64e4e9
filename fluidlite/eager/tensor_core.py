"""What eager tensors have in common, however their functions are spelled."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, AxisError, GradientStateError, GradientTypeError, ShapeError
from ..functions import arithmetic, composed, elementary, shaping
from ..functions.items import encode, set_item
from ..functions.mixing import WIDER, Promotion
from ..functions.sizes import TensorShape
from ..ground.callsite import warn_once
from ..ground.dtypes import DType, as_dtype
from ..ground.place import TensorPlace
from ..ground.tracebacks import quick_api_boundary
from ..ground.values import SelectedRows
from ..opdef.arithmetic import Arithmetic
from ..opdef.reverse_sweep import NodeOutput
from . import engine
from .hooks import HookHandle, Hooks, called, keep_gradient
from .kinds import Kinds
from .methods import SharedMethods
from .nodes import GradNode
from .printing import tensor_markup
from .recording import TensorRecord, eager
from .sweep import BackwardPass, described, node_of
from .views import each_part, see, taken
from .writing import Writing

if TYPE_CHECKING:
    from typing_extensions import Self

    from .tensor import Tensor
    from .tensor_operators import TensorOperators
else:
    TensorOperators = Arithmetic

_NUMBERS = (bool, int, float, complex, np.generic)
_PLAIN_NUMBERS = frozenset({int, float})
#: methods that are one operator on floats of one type
_DIRECT = frozenset(
    {
        *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"),
        *("__truediv__", "__rtruediv__"),
        *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
    }
)
OPERATOR_FUNCTIONS: dict[str, Any] = {
    "__add__": arithmetic.add,
    "__sub__": arithmetic.subtract,
    "__mul__": arithmetic.multiply,
    "__truediv__": arithmetic.true_divide,
    "__floordiv__": arithmetic.floor_divide,
    "__mod__": arithmetic.remainder,
    "__pow__": arithmetic.pow,
    "__matmul__": arithmetic.matmul,
    "__lt__": arithmetic.less_than,
    "__le__": arithmetic.less_equal,
    "__gt__": arithmetic.greater_than,
    "__ge__": arithmetic.greater_equal,
    "__eq__": arithmetic.equal,
    "__ne__": arithmetic.not_equal,
}


#: functions of NumPy -> those of tensors, where their names differ
_NUMPY_NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "rint": "round",
    "power": "pow",
    "arctan2": "atan2",
    "divide": "true_divide",
    "mod": "remainder",
    "greater": "greater_than",
    "less": "less_than",
}


def _ufuncs() -> dict[str, Any]:
    """The functions of tensors that NumPy has as such, by its names."""
    names = (each.__name__ for each in vars(np).values() if isinstance(each, np.ufunc))
    ours = {name: _NUMPY_NAMES.get(name, name) for name in names}
    found = {
        n: getattr(elementary, o, None) or getattr(arithmetic, o, None) for n, o in ours.items()
    }
    return {name: function for name, function in found.items() if function is not None}


_UFUNCS = _ufuncs()


@quick_api_boundary
class TensorCore(SharedMethods, TensorOperators, Kinds, Writing):
    """What eager tensors of all spellings are.

    Args:
        array: the value; not copied, and not to be written to any more.
        origin: where it came from; None for a leaf or a constant.
        stop: whether no gradient flows through it.
    """

    #: whether a second backward adds to the gradients of leaves, or replaces them
    accumulates: ClassVar[bool] = True
    #: the same for gradients that ``retain_grads`` keeps
    accumulates_kept: ClassVar[bool] = False
    #: whether gradients stop gradients themselves
    gradient_stops: bool = False
    #: whether ``grad`` is set to a copy of a tensor, so that both change by themselves
    copies_gradients: ClassVar[bool] = True

    #: which element type several ones make
    promotion: ClassVar[Promotion] = WIDER
    #: methods of Python's operators -> the functions of two operands that they are
    operator_functions: ClassVar[Mapping[str, Any]] = OPERATOR_FUNCTIONS

    #: whether gradients of all tensors are kept; else the method that has those of one kept
    keeps_gradients: ClassVar[bool] = False
    retaining: ClassVar[str] = "retain_grads"
    #: what says whether gradients flow, and its value where they do
    flowing: ClassVar[tuple[str, bool]] = "stop_gradient", False

    #: the stem of names that are made up
    name_stem: ClassVar[str] = "generated_tensor"

    # what few tensors have: class attributes until they are set
    given_name: str | None = None
    persistable = False
    _gradient: Tensor | None = None
    #: of a gradient whose rows somebody has seen as an array: the rows, and that array
    _seen: tuple[SelectedRows | None, Any] = (None, None)
    _hooks: Hooks | None = None
    _retains = False

    # -- what it is --------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The sizes."""
        return TensorShape(self.array.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.array.shape)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.array.shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return as_dtype(self.array.dtype)

    @property
    def name(self) -> str:
        """The name; made up at its first use."""
        if self.given_name is None:
            self.given_name = unique_name.generate(self.name_stem)
        return self.given_name

    @name.setter
    def name(self, value: str) -> None:
        self.given_name = value

    @property
    def place(self) -> TensorPlace:
        """Where the elements are."""
        return TensorPlace()

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows through the tensor; none flows to integers in any case."""
        return self.stop

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise engine.located(ArgumentError, f"expected True or False, got {value!r:.60}")
        self.stop: bool = bool(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user, or nothing can be differentiated behind it."""
        return self.stop or self.origin is None

    @property
    def grad_fn(self) -> GradNode | NodeOutput | None:
        """The operator that gave the tensor; None for leaves."""
        return None if self.stop else self.origin

    @property
    def inplace_version(self) -> int:
        """How often the tensor was written in place."""
        return self.version

    # -- values ------------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the elements, as an array."""
        array = self.array
        return array.to_dense() if isinstance(array, SelectedRows) else np.array(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **more: Any
    ) -> Any:
        """NumPy's functions of tensors, and ``array + tensor``, give tensors that are recorded."""
        function = _UFUNCS.get(ufunc.__name__)
        if function is None or method != "__call__" or more:
            return NotImplemented
        if out and out[0] is not inputs[0]:  # array += tensor makes the name a tensor's
            return NotImplemented
        return function(*inputs)

    def item(self, *args: int) -> Any:
        """One element as a Python number.

        Args:
            args: its number, or one for each dimension; may be left out if there is one.
        """
        if not args and self.array.size != 1:
            raise engine.located(
                ShapeError, f"expected one element, got shape {list(self.array.shape)}"
            )
        try:
            return self.array.item(*args)
        except IndexError as error:
            raise engine.located(
                AxisError, f"{described(self)} has no element at {list(args)}: {error}"
            ) from None

    def tolist(self) -> Any:
        """The elements as lists of Python numbers."""
        return self.array.tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        value = self.item()
        if isinstance(value, float):
            raise TypeError(f"only tensors of integers are indices, got {described(self)}")
        return int(value)

    def __len__(self) -> int:
        if not self.array.shape:
            raise engine.located(ArgumentError, "a tensor of shape [] has no length")
        return int(self.array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.shape:
            raise engine.located(ArgumentError, "a tensor of shape [] cannot be iterated over")
        return each_part(self, shaping.unstack(self) if self.array.shape[0] else ())

    def __contains__(self, value: Any) -> bool:
        return bool(
            np.any(self.array == (value.array if isinstance(value, TensorRecord) else value))
        )

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.array.size == 1 else str(self)

    def set_value(self, value: Any) -> None:
        """Give the tensor other elements, of its shape and type.

        This is no write in place: nobody notices, and gradients see the new elements.

        Args:
            value: a tensor, or what NumPy makes an array of.

        Raises:
            ShapeError: the shape is another.
        """
        array = np.array(value.array if isinstance(value, TensorRecord) else value)
        if array.shape != self.array.shape:
            raise engine.located(
                ShapeError,
                f"expected a value of shape {list(self.array.shape)} for {described(self)}, "
                f"got {list(array.shape)}",
            )
        self.replace(array.astype(self.array.dtype, copy=False))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        notes = [f"name {self.given_name!r}"] if self.given_name else []
        notes += [] if self.stop else ["gradients flow"]
        return tensor_markup(type(self).__name__, self.numpy(), notes)

    # -- Python's operators ------------------------------------------------------------------------

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        dtype = self.array.dtype
        if isinstance(other, TensorRecord):
            if other.array.dtype is dtype and method in _DIRECT and dtype.kind in "fc":
                call = getattr(eager, operator)
                return call.pair(other, self) if reflected else call.pair(self, other)
        elif type(other) in _PLAIN_NUMBERS:
            if method in _DIRECT and dtype.kind in "fc":
                call, number = getattr(eager, operator), np.asarray(other, dtype)
                return call.pair(number, self) if reflected else call.pair(self, number)
        elif not isinstance(other, _NUMBERS) and type(other) is not np.ndarray:
            return NotImplemented
        if reflected:
            return self.operator_functions["__" + method[3:]](other, self)
        return self.operator_functions[method](self, other)

    def __neg__(self) -> Tensor:
        return elementary.neg(self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Tensor:
        return elementary.abs(self)

    def __invert__(self) -> Tensor:
        return composed.python_not(self)

    def __and__(self, other: Any) -> Tensor:
        return composed.python_and(self, other)

    def __or__(self, other: Any) -> Tensor:
        return composed.python_or(self, other)

    def __xor__(self, other: Any) -> Tensor:
        return composed.python_xor(self, other)

    def __getitem__(self, item: Any) -> Tensor:
        codes, tensors = encode(item)
        made = eager.take_item(self, tensors, item=codes)
        return see(made, self, taken, codes) if tensors is None and self.sees else made

    def __setitem__(self, item: Any, value: Any) -> None:
        self.write(lambda old: set_item(old, item, value))

    # -- gradients ---------------------------------------------------------------------------------

    @property
    def grad(self) -> Tensor | None:
        """The gradient that ``backward`` found; None before.  May be set, to a copy of a tensor.

        Raises:
            GradientShapeError: when set to a tensor of another shape.
        """
        held = self._gradient
        if held is None:
            self._warn_of_none()
        elif isinstance(held.array, SelectedRows):
            held._replace(held.array, seen=True)
        return held

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            engine.check_gradient_of(self, value)
            held = self._gradient
            if value is not held and self.copies_gradients:
                value = self.results(value.array.copy(), None, held is None or held.stop)  # type: ignore[assignment]
        self._gradient = value

    def _warn_of_none(self) -> None:
        """Say once that the gradient of a tensor on the way is not kept."""
        if not (self.keeps_gradients or self._retains or self.is_leaf):
            warn_once(
                f"{described(self)} is the result of an operator: its gradient is not kept, and is "
                f"None here; call its {self.retaining}() before backward",
                about="gradients that are not kept",
            )

    @property
    def raw_gradient(self) -> Any:
        """The gradient as it is stored: an array, or rows of one; None if there is none."""
        held = self._gradient
        if held is None:
            return None
        rows, array = held._seen
        return rows if array is held.array else held.array

    def gradient(self) -> np.ndarray[Any, Any] | tuple[np.ndarray[Any, Any], ...] | None:
        """A copy of the gradient as an array; a pair of rows and their numbers where it was kept
        in rows, as of a sparse embedding; None if there is none.
        """
        held = self.raw_gradient
        if held is None:
            self._warn_of_none()
            return None
        if isinstance(held, SelectedRows):
            return np.array(held.value), np.array(held.numbers)
        return self._gradient.numpy()  # type: ignore[union-attr]

    def receive(self, gradient: Any, sweep: BackwardPass, lock: Any) -> None:
        """Take a gradient that a sweep found.

        Args:
            gradient: an array; a tensor where the sweep is recorded.
            sweep: what found it.
            lock: held while the stored gradient changes.
        """
        if self._hooks is not None and self.origin is None:
            for hook in list(self._hooks.values()):
                gradient = called(hook, sweep, type(self).results, gradient)
        with lock:
            self.accumulate(gradient, type(self).accumulates)

    def accumulate(self, gradient: Any, adds: bool) -> None:
        """Add to the stored gradient, or replace it.

        Args:
            gradient: an array, or a tensor that was recorded.
            adds: whether to add to what is there.
        """
        held = self._gradient
        if held is None:
            if isinstance(gradient, TensorRecord):
                self._gradient = self.results(gradient.array, gradient.origin, gradient.stop)  # type: ignore[assignment]
            else:
                if gradient.dtype != self.array.dtype:
                    gradient = gradient.astype(self.array.dtype)
                self._gradient = self.results(gradient, None, self.gradient_stops)  # type: ignore[assignment]
            return
        if adds:
            if isinstance(gradient, TensorRecord):
                gradient = eager.elementwise_add(held.alias(), gradient)
            else:
                total = self.raw_gradient + gradient
                gradient = total if isinstance(total, SelectedRows) else np.asarray(total)
        if isinstance(gradient, TensorRecord):
            held.replace(gradient.array)
            held.origin, held.stop = gradient.origin, gradient.stop
        else:
            held._replace(gradient)
            held.stop = held.stop or self.gradient_stops
        held.version += 1

    def _replace(self, gradient: Any, seen: bool = False) -> None:
        """Be another gradient: an array, or rows of one, which are an array for who has seen it."""
        own: TensorRecord = self
        array, own.origin = gradient, None
        if isinstance(gradient, SelectedRows) and (seen or self._seen[0] is not None):
            array = gradient.to_dense()
            self._seen = gradient, array
        self.replace(array)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Make the gradient zero, or drop it.

        Args:
            set_to_zero: False: ``grad`` is None until the next backward.
        """
        held = self._gradient
        if not set_to_zero:
            self._gradient = None
        elif held is not None:
            held._replace(_no_gradient(self.array, self.raw_gradient))
            held.version += 1

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Make the gradient zero, or drop it; the same as ``clear_gradient``."""
        self.clear_gradient(set_to_zero)

    def retain_grads(self) -> None:
        """Keep the gradient of a tensor that is no leaf; nothing happens where gradients stop."""
        if self.stop or self.origin is None:
            return
        self._retains = True
        self._hook(keep_gradient(weakref.ref(self)))

    def register_hook(self, hook: Any) -> HookHandle:
        """Call a function with every gradient of this tensor; what it returns takes its place.

        Args:
            hook: takes the gradient, and returns another one of its shape, or None.

        Returns:
            a handle with ``remove()``.

        Raises:
            GradientStateError: the tensor stops gradients.

        >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> handle = x.register_hook(lambda gradient: gradient * 10.0)
        >>> fluid.sum(x * x).backward()
        >>> x.grad.tolist(), handle.remove()
        ([20.0, 40.0], True)
        """
        if not callable(hook):
            raise engine.located(ArgumentError, f"expected a function, got {hook!r:.60}")
        if self.stop:
            mark, flows = self.flowing
            raise engine.located(
                GradientStateError,
                f"{described(self)} stops gradients, so that a hook would never be called; "
                f"set its {mark} to {flows} first",
            )
        return self._hook(hook)

    def _hook(self, hook: Any) -> HookHandle:
        if self.origin is None:
            if self._hooks is None:
                self._hooks = {}
            return HookHandle(self._hooks, hook)
        node = node_of(self.origin)
        assert node is not None
        if node.hooks is None:
            node.hooks = {}
        index = self.origin.index if isinstance(self.origin, NodeOutput) else 0
        return HookHandle(node.hooks, (index, type(self).results, hook))

    # -- copies --------------------------------------------------------------

    def __copy__(self) -> Tensor:
        return self.alias()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if not self.is_leaf:
            raise GradientStateError(
                f"{described(self)} is the result of an operator: only leaves are copied deeply; "
                f"copy its detach(), or clone() it"
            )
        copied = type(self).__new__(type(self))
        TensorRecord.__init__(copied, np.array(self.array), None, self.stop)
        memo[id(self)] = copied
        for name, value in self.__dict__.items():
            if name not in ("_hooks", "_gradient", "_whole", "_views"):
                copied.__dict__[name] = value
        if self._gradient is not None:
            copied._gradient = self.results(self._gradient.numpy(), None, self._gradient.stop)  # type: ignore[assignment]
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        attributes = {
            name: value
            for name, value in self.__dict__.items()
            if name in ("given_name", "persistable") or not name.startswith("_")
        }
        return rebuilt, (type(self), self.numpy(), self.is_leaf and self.stop, attributes)


def rebuilt(kind: Any, array: Any, stop: bool, kept: dict[str, Any]) -> Any:
    """A tensor from what pickling it has kept."""
    made = kind.__new__(kind)
    TensorRecord.__init__(made, array, None, stop)
    made.__dict__.update(kept)
    return made


def need_differentiable(tensor: Any) -> None:
    """Refuse what has no gradient.

    Raises:
        GradientTypeError: it holds integers or truth values.
    """
    if not as_dtype(tensor.array.dtype).is_continuous:
        mark, flows = tensor.flowing
        message = (
            f"{described(tensor)} has no gradient, only floats and complex numbers have; leave its "
            f"{mark} at {not flows}, or cast it to float32"
        )
        raise engine.located(GradientTypeError, message)


def _no_gradient(array: Any, held: Any) -> Any:
    """The zero in place of an array's gradient: without rows where it has only some."""
    shape, dtype = array.shape, array.dtype
    if isinstance(held, SelectedRows):
        return SelectedRows([], shape[0], np.zeros((0, *shape[1:]), dtype))
    return np.zeros(shape, dtype)
