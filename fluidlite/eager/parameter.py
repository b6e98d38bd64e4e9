"""Parameters: leaves that want a gradient, and that optimizers update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..errors import ArgumentError, UsageError
from ..functions.sizes import TensorShape
from ..ground import state
from ..ground.dtypes import DType, as_dtype
from .prepared import kernels
from .recording import TensorRecord
from .tensor import Tensor
from .tensor_core import need_differentiable


class Parameter(Tensor, results=False):
    """A leaf that is trained.  What operators make of it are tensors of the usual class.

    Args:
        array: the first value; not copied.
        name: made up at its first use, if None.
        trainable: whether it wants a gradient.

    >>> w = fluid.create_parameter([2, 3], "float32")
    >>> w.stop_gradient, w.trainable, w.persistable, (w * 2.0).persistable
    (False, True, True, False)
    """

    name_stem = "create_parameter"
    persistable = True
    optimize_attr: dict[str, Any] = {"learning_rate": 1.0}  # noqa: RUF012 (replaced, never changed)
    regularizer: Any = None
    gradient_clip_attr: Any = None
    do_model_average: Any = None
    need_clip = True
    is_distributed = False

    def __init__(
        self, array: np.ndarray[Any, Any], name: str | None = None, trainable: bool = True
    ) -> None:
        TensorRecord.__init__(self, array, None, not trainable)
        if trainable:
            need_differentiable(self)
        if name is not None:
            self.given_name: str | None = name

    #: what a parameter that was made under ``LazyGuard`` draws its first value with
    _draws: Callable[[], np.ndarray[Any, Any]] | None = None

    def initialize(self) -> None:
        """Draw the first value, of a parameter that was made under ``LazyGuard``.

        Raises:
            UsageError: it has been drawn.
        """
        draws = self._draws
        if draws is None:
            raise UsageError(f"{self.name}: initialize() is for parameters of LazyGuard, and once")
        self._draws = None
        self.set_value(draws())

    @property
    def trainable(self) -> bool:
        """Whether the parameter wants a gradient: the inverse of ``stop_gradient``."""
        return not self.stop

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Undrawn(Parameter, results=False):
    """A parameter of a layer that builds a program, until somebody reads its value: the startup
    program draws the one that is trained.

    Args:
        initializer: says the operator that draws it.
        shape: sizes.
        kind: the element type.
        name: as of :class:`Parameter`.
        trainable: the same.
    """

    def __init__(
        self,
        initializer: Any,
        shape: tuple[int, ...],
        kind: DType,
        name: str | None = None,
        trainable: bool = True,
    ) -> None:
        self.initializer = initializer
        self.blank = Blank(shape, kind)
        #: gives the value to who reads it
        self.read: Callable[[], Any] = partial(initial_value, initializer, shape, kind)
        self.origin, self.stop, self.version = None, not trainable, 0
        if name is not None:
            self.given_name = name

    @property
    def shape(self) -> TensorShape:
        """The sizes."""
        return TensorShape(self.blank.shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.blank.dtype

    @property
    def array(self) -> Any:
        """The value, with which the parameter becomes a usual one."""
        self.array = value = self.read()
        return value

    @array.setter
    def array(self, value: Any) -> None:
        self.__class__ = Parameter  # type: ignore[assignment]
        self.array = value


_lazy: state.StateSlot[bool] = state.slot("parameters without values", lambda: False)


class LazyGuard:
    """A guard under which parameters take no memory for values until ``initialize()`` draws them.

    >>> from fluidlite import paddle
    >>> with paddle.LazyGuard():
    ...     layer = paddle.nn.Linear(2, 3)
    >>> for parameter in layer.parameters():
    ...     parameter.initialize()
    """

    def __enter__(self) -> None:
        """Begin."""
        self._before = _lazy.switch(True)

    def __exit__(self, *error: object) -> None:
        """End."""
        _lazy.switch(self._before)


class Initializes(Protocol):
    """What gives a parameter its first value: says an operator and its attributes, or is called
    with a parameter of zeros, where ``is_called`` is true of it.
    """

    def operator(self, var: Any, block: Any, dtype: DType) -> tuple[str, dict[str, Any]]:
        """Type and attributes of the operator that makes the value."""
        ...

    def __call__(self, var: Any, block: Any = None) -> Any:
        """Give a variable its first value."""
        ...


@dataclass(frozen=True)
class _Unseeded:
    random_seed: int = 0


@dataclass(frozen=True)
class Blank:
    """A parameter before it has a value, as initializers see it: its shape, and its block."""

    shape: tuple[int, ...]
    dtype: DType
    name: str = ""
    program: Any = field(default_factory=_Unseeded)


def initial_value(
    initializer: Initializes, shape: Any, dtype: Any, program: Any = None
) -> np.ndarray[Any, Any]:
    """The array that an initializer makes.

    Args:
        initializer: says which operator makes it.
        shape: sizes.
        dtype: the element type.
        program: whose ``random_seed`` counts where the initializer has none; None for no seed.
    """
    if not getattr(initializer, "is_called", False):
        return _drawn_value(initializer, shape, dtype, program)
    parameter = Parameter(np.zeros(shape, as_dtype(dtype).dtype))
    initializer(parameter, None)
    return np.asarray(parameter.array)


def _drawn_value(
    initializer: Initializes, shape: Any, dtype: Any, program: Any = None
) -> np.ndarray[Any, Any]:
    """As :func:`initial_value`, of its operator."""
    kind = as_dtype(dtype)
    wide = DType.FP32 if kind is DType.FP16 else kind
    owner = _Unseeded() if program is None else program
    blank = Blank(tuple(int(n) for n in shape), wide, program=owner)
    computed = getattr(initializer, "array", None)
    if computed is not None:
        return np.asarray(computed(blank), kind.dtype)
    type, attrs = initializer.operator(blank, blank, wide)
    found = getattr(kernels, type)(**attrs)
    return np.asarray(found, kind.dtype).reshape(blank.shape)


def fill(initializer: Initializes, tensor: Any) -> None:
    """Give a tensor other elements, as an initializer makes them."""
    tensor.set_value(_drawn_value(initializer, tensor.array.shape, tensor.array.dtype))


def parameter_of(
    shape: Any,
    dtype: Any,
    initializer: Initializes,
    attr: Any = None,
    name: str | None = None,
    kind: type[Parameter] = Parameter,
    program: Any = None,
) -> Parameter:
    """A parameter with its first value.

    Args:
        shape: sizes.
        dtype: the element type.
        initializer: gives the value where ``attr`` names no initializer.
        attr: what the user said about it: its name, initializer, learning rate, ...
        name: where ``attr`` gives none.
        kind: the class of the parameter.
        program: as of :func:`initial_value`.

    Raises:
        ArgumentError: a size is unknown.
    """
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in shape):
        raise ArgumentError(f"expected a shape of known sizes, got {shape!r:.60}")
    own = getattr(attr, "initializer", None)
    begins = initializer if own is None else own
    draws = partial(initial_value, begins, shape, dtype, program)
    lazy = _lazy.get()
    given = getattr(attr, "name", None)
    said = (name if given is None else given, getattr(attr, "trainable", True))
    if not lazy and kind is Parameter and _is_for_startup(begins, shape, dtype):
        parameter: Parameter = Undrawn(begins, tuple(int(n) for n in shape), DType.FP32, *said)
    else:
        parameter = kind(np.zeros(shape, as_dtype(dtype).dtype) if lazy else draws(), *said)
    if lazy:
        parameter._draws = draws
    if attr is not None:
        arguments = attr.parameter_arguments()
        del arguments["trainable"]
        parameter.__dict__.update(arguments)
    return parameter


def _is_for_startup(initializer: Any, shape: Any, dtype: Any) -> bool:
    """Whether a startup program can draw a value, for a program that the user builds now."""
    is_usual = as_dtype(dtype) is DType.FP32 and len(shape) > 0 and 0 not in shape
    drawn = getattr(initializer, "array", None) is None
    drawn = drawn and not getattr(initializer, "is_called", False)
    return state.builds.get() and is_usual and drawn
