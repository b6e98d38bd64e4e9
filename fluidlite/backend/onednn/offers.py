"""What oneDNN offers for the instructions of one graph.

Modules beside this one register functions that make offers, and say what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ...ground.brain_float import is_bfloat16
from ...ground.dtypes import DType
from ...kernels import threads
from ...kernels.tuning import ThreadTuner
from ...opdef.prepared import Epilogues, KernelLibrary, Offer, Prepared
from .. import SMALLEST_OF_ONEDNN
from .library import Library, NotDone
from .memory import ContextFactory, ExecutionContext, Form, Layout, Primitive, new, plain, reorder

#: operations of a product for which several threads of the library are worth while, and elements of
#: a parameter for whose step by Adam they are
LARGE, LARGE_STEP = 1 << 22, 1 << 15
#: operations from which on products go to the library where it works on the plan anyhow, or the
#: BLAS takes older kernels; that takes one thread for smaller ones
SMALLEST_OF_MANY = 1 << 18

#: costs as multiples of NumPy's: of what pays, and of what does not
LOW, HIGH = 0.5, 2.0
#: operators whose kernels here take NaN for a small number, or mask it
HIDING = ("relu", "relu_grad", "pool2d", "pool3d")

#: whose results are never below zero, and those that keep what is so
NOT_NEGATIVE = ("relu", "relu6", "sigmoid", "softmax", "square", "abs", "exp")
KEEPING_SIGN = ("pool2d", "pool3d", "transpose2", "transpose", "reshape2", "reshape", "concat")

#: by number of a value, the layouts that it exists in, the best first
Layouts = Mapping[int, list[Any]]
Make = Callable[["OneDnnKernels", Any, Layouts, Epilogues], "Offer | None"]
Cost = Callable[["OneDnnKernels", Any, Layouts], float]
_served: dict[str, tuple[Make, Cost]] = {}
#: the same of what works in whole numbers, and in bfloat16
_served_in_integers: dict[str, Make] = {}
_served_in_bfloat16: dict[str, Make] = {}
_worth_loading: set[str] = set()


def _low(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    return LOW


def serves(*types: str, alone: bool = True, cost: Cost = _low) -> Callable[[Make], Make]:
    """A decorator for functions that make offers for instructions.

    Args:
        types: of the operators.
        alone: whether the library is worth loading for them alone.
        cost: what a kernel costs.
    """

    def register(make: Make) -> Make:
        _served.update(dict.fromkeys(types, (make, cost)))
        _worth_loading.update(types if alone else ())
        return make

    return register


def served() -> list[str]:
    """The types of the operators that the library may have something for."""
    return sorted(_served)


def is_worth_loading(instruction: Any, everywhere: bool) -> bool:
    """Whether the library may have something for an instruction: it works on float32."""
    values = (*instruction.inputs, *instruction.results)
    return instruction.op.type in _worth_loading and any(
        v.dtype == DType.FP32.dtype and (everywhere or v.size >= SMALLEST_OF_ONEDNN) for v in values
    )


def serves_integers(*types: str) -> Callable[[Make], Make]:
    """A decorator for functions that make offers for instructions on rounded operands."""

    def register(make: Make) -> Make:
        _served_in_integers.update(dict.fromkeys(types, make))
        return make

    return register


def serves_bfloat16(*types: str) -> Callable[[Make], Make]:
    """A decorator for functions that make offers for instructions on operands in bfloat16."""

    def register(make: Make) -> Make:
        _served_in_bfloat16.update(dict.fromkeys(types, make))
        return make

    return register


class OneDnnKernels(KernelLibrary):
    """What the library offers for one graph.

    Args:
        library: oneDNN.
        graph: the instructions.
        everywhere: whether it asks for what does not pay, too.
    """

    name = "oneDNN"

    def __init__(self, library: Library, graph: Iterable[Any], everywhere: bool) -> None:
        self.library = library
        self._everywhere = everywhere
        self._instructions = list(graph)
        most = 1 if self._leaves_products else threads.count()
        self.contexts: ContextFactory = ContextFactory(library, most)
        self.tuner: Any = ThreadTuner(self.contexts, most, threads.is_fixed(), self.contexts.asleep)
        #: what offers remember for later ones
        self.known: dict[Any, Any] = {}
        #: values without an element below zero, noted before kernels compute several operators
        self.not_negative: set[int] = set()
        #: values of float32 that are made of numbers of bfloat16
        self.from_bfloat16: set[int] = set()
        self._is_noted = False

    @cached_property
    def team(self) -> int | None:
        """The function of OpenMP that starts the library's threads; None where it has none here."""
        return self.library.parallel if self.contexts.has_threads else None

    def cost(self, instruction: Any, layouts: Layouts) -> float | None:
        """What a kernel costs as a multiple of NumPy's; None where the library has none."""
        if not self._is_noted:
            self._is_noted = True
            self._note_signs(instruction.graph)
            self._note_bfloat16(instruction.graph)
        served, narrows = _served.get(instruction.op.type), _is_narrow(instruction)
        if served is None and not narrows:
            return None
        values = (*instruction.inputs, *instruction.results)
        if any(not v.is_static or not v.size for v in values):
            return None
        if narrows and self._narrow(instruction) is not None:
            return LOW
        single = DType.FP32.dtype
        if served is None or any(v.dtype != single for v in values):
            return None
        return LOW if self._everywhere else served[1](self, instruction, _single(layouts))

    def offer(self, instruction: Any, layouts: Layouts, epilogues: Epilogues) -> Offer | None:
        """A kernel for an instruction; None if there is none after all."""
        narrow = self._narrow(instruction)
        if narrow is not None:
            with suppress(NotDone):
                return narrow(self, instruction, layouts, epilogues)
        with suppress(NotDone):
            if instruction.op.type in _served:
                make = _served[instruction.op.type][0]
                return make(self, instruction, _single(layouts), epilogues)
        return None

    def _note_signs(self, graph: Iterable[Any]) -> None:
        """Note which values have no element below zero, where products in whole numbers ask."""
        if not any(asks_for_integers(v) for maker in graph for v in maker.results):
            return
        for maker in graph:
            inputs = {value.number for value in maker.inputs}
            keeps = maker.op.type in KEEPING_SIGN and inputs <= self.not_negative
            if maker.op.type in NOT_NEGATIVE or keeps:
                self.not_negative.add(maker.results[0].number)

    def _note_bfloat16(self, graph: Iterable[Any]) -> None:
        """Note which values are made of numbers of bfloat16, if the processor has those."""
        if self.library.has_bfloat16:
            self.from_bfloat16.update(
                each.results[0].number
                for each in graph
                if each.op.type == "cast"
                and is_bfloat16(each.operands[0].dtype)
                and each.results[0].dtype == DType.FP32.dtype
            )

    def bfloat16_readers(self, value: Any) -> list[Any]:
        """The products that may read a value of float32 as the numbers that it is made of."""
        return [
            each
            for each in value.users
            if each.op.type != "cast" and each.operands[0] is value and self._in_bfloat16(each)
        ]

    def _in_bfloat16(self, instruction: Any) -> bool:
        """Whether the program asks for an instruction in bfloat16: a product of a value and a
        weight, or a rounding for one.
        """
        if instruction.op.type not in _served_in_bfloat16:
            return False
        if instruction.op.type != "cast":
            return {v.number for v in instruction.operands[:2]} <= self.from_bfloat16
        first, value = instruction.operands[0].producer, instruction.results[0]
        if value.number not in self.from_bfloat16 or first is None or first.op.type != "cast":
            return False
        is_single = first.operands[0].dtype == DType.FP32.dtype
        return is_single and bool(self.bfloat16_readers(value))

    def _narrow(self, instruction: Any) -> Make | None:
        """What makes an offer of fewer bits, where the program asks for that."""
        if self._in_integers(instruction):
            return _served_in_integers[instruction.op.type]
        if self._in_bfloat16(instruction):
            return _served_in_bfloat16[instruction.op.type]
        return None

    def _in_integers(self, instruction: Any) -> bool:
        """Whether the program asks for an instruction in whole numbers of 8 bits."""
        if instruction.op.type not in _served_in_integers or not self.library.has_vnni:
            return False
        values = (*instruction.operands[:2], instruction.results[0])
        if any(value is None or value.dtype != DType.FP32.dtype for value in values):
            return False
        if instruction.op.type == "quantize_linear":
            return any(map(self._in_integers, integer_readers(instruction)))
        return all(asks_for_integers(each) for each in instruction.operands[:2])

    @cached_property
    def hides(self) -> bool:
        """Whether the plan has operators whose kernels here hide what is not finite."""
        return any(each.op.type in HIDING for each in self._instructions)

    @cached_property
    def works_anyhow(self) -> bool:
        """Whether the plan has a convolution, a large product, or a large step of Adam."""
        return any(
            each.op.type.startswith("conv")
            or (each.op.type == "adam" and each.operands[0].size >= LARGE_STEP)
            for each in self._instructions
        ) or self._has_products(LARGE)

    @property
    def _leaves_products(self) -> bool:
        """Whether products stay with several threads of NumPy's BLAS: those of two libraries get
        into each other's way.
        """
        if self._everywhere or not self._has_products(SMALLEST_OF_MANY):
            return False
        return not (self.works_anyhow or self.library.is_newer_than_blas)

    def _has_products(self, operations: int) -> bool:
        """Whether there are products of more than so many operations."""
        for each in self._instructions:
            if not each.op.multiplies():
                continue
            (x, y), (made,) = each.operands[:2], each.results
            sized = x.size and y.size and made.size
            if sized and operations_of(x, y, made)[0] > operations:
                return True
        return False

    def reorder(
        self, source: Layout | None, target: Layout | None, shape: tuple[int, ...]
    ) -> Prepared:
        """A kernel that copies a value from one layout to another."""
        given = [layout for layout in (source, target) if layout is not None]
        first, last = given[0].form, given[-1].form
        if first != last:  # seen in two ways: by way of the plain array
            begin, end = self._copy(source, Layout(self.library, first)), target
            assert end is not None
            second = self._copy(Layout(self.library, last), end)

            def both(array: Any, context: ExecutionContext, out: Any = None) -> Any:
                between, made = new(shape), new(end.shape) if out is None else out
                begin.at(context)(array, between)
                second.at(context)(between, made)
                return made

            return Prepared(both, out=True, scratch=self.contexts)
        if target is None and source is not None and source.order is not None:
            return _view(shape, source.order)
        copy = self._copy(source or Layout(self.library, first), target)
        made_shape = shape if target is None else target.shape
        order = None if target is None else target.order

        def run(array: Any, context: ExecutionContext, out: Any = None) -> Any:
            target = None if out is None else whole(out, made_shape)
            if order is not None and source is None:
                lying = array.transpose(order)
                if lying.flags.c_contiguous:  # nothing is to be moved
                    return lying.reshape(-1) if target is None else _copied(lying, target)
            target = new(made_shape) if target is None else target
            copy.at(context)(plain(array), target)
            return target

        return Prepared(run, out=True, scratch=self.contexts)

    def _copy(self, source: Layout | None, target: Layout | None) -> Primitive:
        form = (source or target).form  # type: ignore[union-attr]
        return reorder(
            self.contexts,
            source or Layout(self.library, form),
            target or Layout(self.library, form),
        )


def _is_narrow(instruction: Any) -> bool:
    """Whether there are offers of fewer bits for instructions of this kind."""
    kind = instruction.op.type
    return kind in _served_in_integers or kind in _served_in_bfloat16


def asks_for_integers(value: Any) -> bool:
    """Whether a value is made of whole numbers, and readers may take these."""
    op = None if value.producer is None else value.producer.op
    return op is not None and op.type == "dequantize_linear" and op.computes_in_int8


def integer_readers(rounding: Any) -> list[Any]:
    """The products that may read the whole numbers of a ``quantize_linear``."""
    numbers = rounding.results[0]
    reader = numbers.only_user
    if reader is None or reader.operands[0] is not numbers:
        return []
    values = [value for value in reader.results if asks_for_integers(value)]
    return [each for value in values[:1] for each in value.users if each.operands[0] is value]


def operations_of(x: Any, y: Any, product: Any) -> tuple[float, float]:
    """The operations of a product, and the smaller number of its rows and columns."""
    depth = float(x.size * y.size / product.size) ** 0.5
    rows, columns = x.size / depth, y.size / depth
    return 2 * rows * columns * depth, min(rows, columns)


def _view(shape: tuple[int, ...], order: tuple[int, ...]) -> Prepared:
    """A plain array of elements that lie in another order."""
    lying = tuple(shape[i] for i in order)
    back = tuple(order.index(i) for i in range(len(order)))
    return Prepared(lambda array: array.reshape(lying).transpose(back))


def _copied(lying: Any, made: Any) -> Any:
    np.copyto(made, lying.reshape(-1))
    return made


def _single(layouts: Layouts) -> Layouts:
    """Those of values in float32, which kernels read that work on elements as they lie."""
    if not any(each and each.is_narrow for known in layouts.values() for each in known):
        return layouts
    return {
        number: [each for each in known if not (each and each.is_narrow)] or [None]
        for number, known in layouts.items()
    }


def held(value: Any, form: Form, layouts: Layouts) -> Layout | None:
    """The layout that a value exists in, as the library sees it here; None for plain ones."""
    return next((known for known in layouts[value.number] if known and known.form == form), None)


def whole(array: Any, shape: tuple[int, ...]) -> Any:
    """An array to write a plain result to: what is given, where it lies as it has to."""
    return array if array is not None and array.flags.c_contiguous else new(shape)
