"""Operators on bare arrays, prepared once for their attributes: a call costs little more than its
kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import (
    numpy_,
    prepared_rows,  # noqa: F401 (as those of kernels, below)
)
from ..errors import SlotError, suggestion
from ..ground import state
from ..ground.dtypes import as_dtype
from ..ground.mersenne import PaddleNumbers
from ..ground.values import SelectedRows, bare
from ..kernels import registered  # noqa: F401 (kernels for known shapes register there)
from ..opdef.definition import Op, lookup
from ..opdef.interpreter import Eval, Interpreter, kernel_of
from ..opdef.prepared import preparation_of
from ..opdef.redefinition import redefinitions
from ..opdef.spec import Spec
from .mode import thread

if TYPE_CHECKING:
    from ..opdef.signature import Slot

MOST_VARIANTS = 1024  #: of an operator that are kept; attributes may differ from call to call
SMALL_ROOM = 1 << 20  #: bytes to work in that are made anew for each call, as are more
MOST_SHAPES = 512  #: of the inputs of a variant for which kernels are kept


class Generator:
    """The stream of random numbers of eager operators.

    Args:
        seed: where it starts.
    """

    def __init__(self, seed: int = 0) -> None:
        self.restart(seed)

    def restart(self, seed: int, as_paddle: bool = False) -> None:
        """Begin anew.

        Args:
            seed: where the stream starts.
            as_paddle: with Paddle 2's numbers.
        """
        self.initial: int = seed
        self.numpy: np.random.Generator = (
            PaddleNumbers(seed) if as_paddle else numpy_.generators(seed)(0)
        )

    def __call__(self, own: int = 0) -> np.random.Generator:
        """A source of random numbers: the stream itself, or the one that an operator's own seed
        starts.
        """
        if not own:
            return self.numpy
        return PaddleNumbers(own, direct=True) if self._is_paddles else numpy_.generators(0)(own)

    @property
    def _is_paddles(self) -> bool:
        return type(self.numpy) is PaddleNumbers

    def fractions(self, shape: Any, dtype: Any, own: int = 0) -> Any:
        """Numbers equally likely in [0, 1): Paddle draws them in their element type."""
        return self(own).random(shape, dtype) if self._is_paddles else self(own).random(shape)

    def normal(self, shape: Any, dtype: Any) -> Any:
        """Normally distributed numbers, likewise."""
        return self.numpy.standard_normal(shape, dtype if self._is_paddles else "float64")

    def exponential(self, shape: Any, dtype: Any) -> Any:
        """Exponentially distributed numbers, likewise."""
        return self.numpy.standard_exponential(shape, dtype if self._is_paddles else "float64")

    @property
    def standing(self) -> tuple[bool, int, Any]:
        """Where the stream stands; to be set, too."""
        return self._is_paddles, self.initial, deepcopy(self.numpy.bit_generator.state)

    @standing.setter
    def standing(self, value: tuple[bool, int, Any]) -> None:
        as_paddle, seed, state = value
        if as_paddle != self._is_paddles:
            self.restart(seed, as_paddle)
        self.initial = seed
        self.numpy.bit_generator.state = deepcopy(state)

    def word(self) -> int:
        """The next 64 bits, as a number."""
        if isinstance(self.numpy, PaddleNumbers):
            return self.numpy.word()
        return int(self.numpy.bit_generator.random_raw())

    @property
    def number(self) -> int:
        """What an operator's own seed of 0 stands for, so that the same draw can be had again."""
        return int(self.numpy.integers(1, 2**31))


def _unforeseen() -> Generator:
    return Generator(int(np.random.SeedSequence().generate_state(1)[0]))


generator: state.StateSlot[Generator] = state.slot("eager_random", _unforeseen)


@contextmanager
def stream_guard(stream: Generator) -> Iterator[None]:
    """A guard within which functions and operators draw from a stream.

    Args:
        stream: which.
    """
    before = thread.run(generator.covering)  # kernels run in a context of their own
    with generator.guard(stream):
        try:  # an interrupt may come anywhere
            thread.run(generator.cover, stream)
            yield
        finally:
            thread.run(generator.cover, before)


class BoundOperator:
    """An operator with its attributes, and what running it needs.

    ``one(*inputs)`` is the output of an operator that has one, as the kernel returns it;
    ``every(*inputs)`` the outputs by slot, as arrays.  Inputs are arrays in the order of the slots,
    lists for list slots, None for absent ones.

    Args:
        op: the operator.
        parts: runs the parts of a composition.
    """

    __slots__ = ("_shaped", "fitting", "has_one", "one", "op", "plans", "shaped_better", "size")

    def __init__(self, op: Op, parts: Interpreter) -> None:
        self.op: Op = op
        self.size: int = len(op.inputs)
        self.plans: dict[Any, Any] = {}
        #: forms of inputs that were found to fit, and have no plan
        self.fitting: set[Any] = set()
        self.has_one: bool = len(op.outputs) == 1 and not op.outputs[0].many
        self.one: Callable[..., Any] = _kernel(op, parts)
        #: whether there may be faster kernels for inputs of known shapes
        self.shaped_better: bool = self.has_one and preparation_of(op.type) is not None
        self._shaped: dict[Any, Callable[..., Any]] = {}

    def for_shapes(self, inputs: Sequence[Any]) -> Callable[..., Any]:
        """The kernel for inputs of the shapes and types of these."""
        key = tuple(
            [
                None if a is None else (a.shape, a.dtype) if type(a) is np.ndarray else a.__class__
                for a in inputs
            ]
        )
        kernel = self._shaped.get(key)
        if kernel is None:
            if len(self._shaped) >= MOST_SHAPES:
                self._shaped.clear()
            kernel = self._shaped[key] = shaped_kernel(self.op, inputs) or self.one
        return kernel

    def every(self, *inputs: Any) -> dict[str, Any]:
        """Outputs by slot."""
        outs = self.op.by_slot(self.one(*inputs))
        slots = self.op.output_slots
        for name, value in outs.items():
            if value is not None:
                outs[name] = [array_of(v) for v in value] if slots[name].many else array_of(value)
        return outs

    def visible(self, *inputs: Any) -> Any:
        """The outputs that layers return: one, or a tuple of them."""
        if self.has_one:
            kernel = self.for_shapes(inputs) if self.shaped_better else self.one
            out = kernel(*inputs)
            if isinstance(out, dict):
                (out,) = out.values()
            return out if type(out) is np.ndarray else array_of(out)
        outs = self.every(*inputs)
        shown = [outs.get(slot.name) for slot in self.op.outputs if not slot.hidden]
        return shown[0] if len(shown) == 1 else tuple(shown)


def array_of(value: Any) -> Any:
    """What a kernel gave as an array: tensors have no sequences, functions are called."""
    return numpy_.asarray(bare(value() if callable(value) else value))


def shaped_kernel(op: Op, inputs: Sequence[Any]) -> Callable[..., Any] | None:
    """A function of all input slots in order that computes the outputs faster than ``run``, for
    arrays of the shapes and types of these; None if there is none.
    """
    kernel, reads, draws = kernel_of(op, "numpy")
    if kernel is None or draws or any(a is not None and type(a) is not np.ndarray for a in inputs):
        return None
    places = [i for name in reads for i, slot in enumerate(op.inputs) if slot.name == name]
    given = [inputs[i] for i in places]
    made = op.prepared([None if a is None else Spec(a.shape, as_dtype(a.dtype)) for a in given])
    if made is None:
        return None
    function = made.function if made.scratch is None else in_room(made.function, made.scratch)
    if places == list(range(len(op.inputs))):
        return function
    return lambda *ins: function(*[ins[i] for i in places])


def in_room(function: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is not given what it works in: each thread keeps that, where it is small.

    Args:
        function: takes it behind the other arguments.
        make: makes it.
    """
    if getattr(make, "common", SMALL_ROOM) >= SMALL_ROOM:
        return lambda *ins: function(*ins, make())
    rooms = threading.local()

    def run(*ins: Any) -> Any:
        room = rooms.__dict__.pop("room", None)  # a handler of a signal may run it, too
        if room is None:
            room = make()
        out = function(*ins, room)
        rooms.room = room
        return out

    return run


def _kernel(op: Op, parts: Interpreter) -> Callable[..., Any]:
    """A function of all input slots in order, which returns what the kernel does."""
    slots = tuple(op.input_slots)
    kernel, reads, draws = kernel_of(op, "numpy")
    if kernel is None:
        single = op.outputs[0].name if len(op.outputs) == 1 else None

        def composed(*inputs: Any) -> Any:
            outs = op.outputs_for(parts, dict(zip(slots, inputs)))
            return outs if single is None else outs[single]

        return composed
    xp = numpy_.xp
    if (
        op.ufunc is not None
        and len(slots) == getattr(op.ufunc, "nin", 0)
        and getattr(op, "axis", -1) == -1
    ):
        function: Callable[..., Any] = getattr(xp, op.ufunc.__name__)
        return function
    places = [slots.index(name) for name in reads if name in slots]
    if op.fluid.updates:  # of what its outputs held before there is nothing
        before = [slots.index(name) if name in slots else None for name in reads]
        return lambda *ins: kernel(op, xp, *[None if i is None else ins[i] for i in before])
    if draws:
        return lambda *ins: kernel(op, xp, generator.get(), *[ins[i] for i in places])
    if places == list(range(len(slots))):
        return lambda *ins: kernel(op, xp, *ins)
    return lambda *ins: kernel(op, xp, *[ins[i] for i in places])


class PreparedCall:
    """An operator type whose variants, one for each set of attributes, are kept.

    Args:
        definition: the type.
        parts: runs the parts of compositions.
    """

    __slots__ = ("_made", "_parts", "definition", "least", "size", "slots", "variants")

    def __init__(self, definition: type[Op], parts: Interpreter) -> None:
        self.definition: type[Op] = definition
        self.slots: dict[str, Slot] = definition.input_slots
        self.size: int = len(definition.inputs)
        needed = [i for i, slot in enumerate(definition.inputs) if not slot.optional]
        self.least: int = needed[-1] + 1 if needed else 0
        self.variants: dict[Any, BoundOperator] = {}
        self._parts = parts
        self._made: BoundOperator | None = None

    @property
    def plain(self) -> BoundOperator:
        """The operator with all attributes at their defaults."""
        made = self._made
        if made is None:
            made = self._made = BoundOperator(self.definition(), self._parts)
        return made

    def found(
        self, inputs: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[BoundOperator, Sequence[Any]]:
        """The prepared operator that a call means, and its inputs in the order of their slots.

        Raises:
            SlotError: an input is missing, or there are too many.
        """
        count = len(inputs)
        if self.least <= count <= self.size:
            if count < self.size:
                inputs += (None,) * (self.size - count)
            if not named:
                return self.plain, inputs
            try:  # what is kept has attributes only, so that nothing else is found
                return self.variants[tuple(named.items())], inputs
            except (KeyError, TypeError):
                inputs = inputs[:count]
        ins, attrs = self.bound(inputs, named)
        return self.variant(attrs), ins

    def variant(self, attrs: Mapping[str, Any]) -> BoundOperator:
        """The operator with some attributes."""
        if not attrs:
            return self.plain
        key = tuple([(k, tuple(v) if type(v) is list else v) for k, v in attrs.items()])
        try:
            return self.variants[key]
        except KeyError:
            pass
        except TypeError:  # something that cannot be looked up: never kept
            return BoundOperator(self.definition(attrs), self._parts)
        return self.keep(key, self.definition(attrs))

    def of(self, op: Op) -> BoundOperator:
        """The preparation of an operator that is there already."""
        if type(op) is not self.definition:
            return BoundOperator(op, self._parts)
        if not op.__dict__:
            return self.plain
        key = tuple(op.__dict__.items())
        try:
            found = self.variants.get(key)
        except TypeError:
            return BoundOperator(op, self._parts)
        return self.keep(key, op) if found is None else found

    def keep(self, key: Any, op: Op) -> BoundOperator:
        """Prepare a variant, and remember it."""
        if len(self.variants) >= MOST_VARIANTS:
            self.variants.clear()
        made = self.variants[key] = BoundOperator(op, self._parts)
        return made

    def bound(
        self, inputs: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The inputs in the order of their slots, and the attributes.

        Raises:
            SlotError: an input is missing, or there are too many.
        """
        count = len(inputs)
        if self.least <= count <= self.size and self.slots.keys().isdisjoint(named):
            return (inputs + (None,) * (self.size - count)), named
        if count > self.size:
            raise SlotError(
                f"{self.definition.type} takes {self.size} inputs ({', '.join(self.slots)}), got "
                f"{len(inputs)}"
            )
        attrs = {name: value for name, value in named.items() if name not in self.slots}
        ins = list(inputs)
        for slot in self.definition.inputs[count:]:
            ins.append(named.get(slot.name))
        for slot, value in zip(self.definition.inputs, ins):
            if value is None and not slot.optional:
                raise SlotError(
                    f"{self.definition.type} needs its input {slot.name}"
                    f"{suggestion(slot.name, attrs)}"
                )
        return ins, attrs

    def whole(self, ins: Sequence[Any]) -> Sequence[Any]:
        """Inputs with tensors in place of rows that the operator does not take as such."""
        if not any(type(value) is SelectedRows for value in ins):
            return ins
        rows = self.definition.fluid.rows
        return [
            value.to_dense() if type(value) is SelectedRows and slot not in rows else value
            for slot, value in zip(self.slots, ins)
        ]


class KernelCall(PreparedCall):
    """An operator type on arrays."""

    __slots__ = ()

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The visible outputs: one, or a tuple of them."""
        prepared, ins = self.found(inputs, named)
        if prepared.has_one:
            kernel = prepared.for_shapes(ins) if prepared.shaped_better else prepared.one
            try:
                out = kernel(*ins)
            except (AttributeError, TypeError):
                out = prepared.one(*self.whole(ins))
            return out if type(out) is np.ndarray else numpy_.asarray(out)
        return prepared.visible(*self.whole(ins))

    def all(self, *inputs: Any, **named: Any) -> dict[str, Any]:
        """All outputs by slot."""
        prepared, ins = self.found(inputs, named)
        return prepared.every(*self.whole(ins))


class Kernels(Eval):
    """Runs operators on NumPy's arrays, as :class:`Eval` does, by kernels that are kept."""

    def __init__(self) -> None:
        super().__init__(numpy_, lambda seed: generator.get()(seed))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        call = self.__dict__[name] = KernelCall(lookup(name), self)
        return call

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        if want is not None and op.is_composite and kernel_of(op, "numpy")[0] is None:
            return op.outputs_for(self, ins, want)
        call: KernelCall = getattr(self, op.type)
        values = [ins.get(name) for name in call.slots]
        return call.of(op).every(*call.whole(values))


def forgets_redefined(interpreter: Interpreter) -> None:
    """Let an interpreter forget operators that are defined anew."""

    def forget(types: Iterable[str]) -> None:
        for name in types:
            interpreter.__dict__.pop(name, None)

    redefinitions.listeners.append(forget)


kernels: Kernels = Kernels()
forgets_redefined(kernels)
