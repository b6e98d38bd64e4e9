"""What oneDNN offers for the kernels of one plan.

Modules beside this one register functions that make offers; each takes the planner, the kernel and
the layouts that its values exist in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ...dtypes import DType
from ...kernels import threads
from ...kernels.crew import Crew
from ...opdef.prepared import Laid, Prepared
from .library import Library, NotDone
from .memory import Form, Layout, Primitive, Workplace, Workshop, new, plain, reorder

SMALLEST = 1 << 12  #: elements of the largest value of a kernel; below it NumPy is as fast
#: operations of a product for which several threads of the library are worth while, and elements of
#: a parameter for whose step by Adam they are
LARGE, LARGE_STEP = 1 << 25, 1 << 15
#: operations from which on products go to the library where it works on the plan anyhow, or the
#: BLAS takes older kernels; that takes one thread for smaller ones
SMALLEST_OF_MANY = 1 << 18

#: by number of a value, the layouts that it exists in, the best first
Layouts = Mapping[int, list[Any]]
Offer = Callable[["Planner", Any, Layouts], "Laid | None"]
_offers: dict[str, Offer] = {}
_worth_loading: set[str] = set()


def serves(*types: str, alone: bool = True) -> Callable[[Offer], Offer]:
    """A decorator for functions that offer kernels.

    Args:
        types: of the operators.
        alone: whether the library is worth loading for them alone.
    """

    def register(offer: Offer) -> Offer:
        _offers.update(dict.fromkeys(types, offer))
        _worth_loading.update(types if alone else ())
        return offer

    return register


def served() -> list[str]:
    """The types of the operators that the library may have something for."""
    return sorted(_offers)


def is_worth_loading(kernel: Any, everywhere: bool) -> bool:
    """Whether the library may have something for a kernel: it works on float32."""
    values = (*kernel.inputs, *kernel.outputs)
    return kernel.op.type in _worth_loading and any(
        v.dtype == DType.FP32.dtype and (everywhere or v.size >= SMALLEST) for v in values
    )


class Planner:
    """What the library offers for one plan.

    Args:
        library: it.
        kernels: of the plan, in order.
        wanted: numbers of the values that are needed at the end.
        everywhere: whether it offers what does not pay, too.
    """

    name = "oneDNN"

    def __init__(
        self, library: Library, kernels: Iterable[Any], wanted: Iterable[int], everywhere: bool
    ) -> None:
        self.library, self.everywhere = library, everywhere
        self.kernels = list(kernels)
        most = 1 if self._leaves_products else threads.count()
        self.shop = Workshop(library, most)
        self.crew = Crew(self.shop, most, threads.is_fixed())
        #: what offers remember for later ones
        self.known: dict[Any, Any] = {}
        #: by number of a value, the kernels that read it
        self.readers: dict[int, list[Any]] = {}
        #: by number of a value, the place of the kernel that makes it
        self._made: dict[int, int] = {}
        for place, kernel in enumerate(self.kernels):
            for value in kernel.inputs:
                self.readers.setdefault(value.number, []).append(kernel)
            self._made.update((value.number, place) for value in kernel.outputs)
        self._wanted = set(wanted)
        #: numbers of values that another kernel gives already -> the position of the argument that
        #: they are the same as
        self.same: dict[int, int] = {}

    def offer(self, kernel: Any, layouts: Layouts) -> Laid | None:
        """A kernel in the place of NumPy's; None where there is none, or none that pays."""
        same = self.same.get(kernel.outputs[0].number) if kernel.outputs else None
        if same is not None:
            return Laid(None, (), (), same=same)
        offer = _offers.get(kernel.op.type)
        values = (*kernel.inputs, *kernel.outputs)
        if offer is None or any(v.dtype != DType.FP32.dtype or not v.size for v in values):
            return None
        try:
            return offer(self, kernel, layouts)
        except NotDone:
            return None

    @cached_property
    def works_anyhow(self) -> bool:
        """Whether the plan has a convolution, a large product, or a large step of Adam."""
        return any(
            kernel.op.type.startswith("conv")
            or (kernel.op.type == "adam" and kernel.arguments[0].size >= LARGE_STEP)
            for kernel in self.kernels
        ) or self._has_products(LARGE)

    @property
    def _leaves_products(self) -> bool:
        """Whether products stay with several threads of NumPy's BLAS: those of two libraries get
        into each other's way.
        """
        if self.everywhere or not self._has_products(SMALLEST_OF_MANY):
            return False
        return not (self.works_anyhow or self.library.is_newer_than_blas)

    def _has_products(self, operations: int) -> bool:
        """Whether there are products of more than so many operations."""
        for kernel in self.kernels:
            if kernel.op.type not in ("mul", "matmul"):
                continue
            (x, y), (made,) = kernel.arguments, kernel.outputs
            sized = x.size and y.size and made.size
            if sized and operations_of(x, y, made)[0] > operations:
                return True
        return False

    def is_wanted(self, value: Any) -> bool:
        """Whether a value is needed at the end."""
        return value.number in self._wanted

    def bias_behind(self, kernel: Any) -> Any:
        """The kernel that adds a number for each channel to what a kernel makes, where that is all
        that it is for; None where there is none.
        """
        made = kernel.outputs[0]
        readers = self.readers.get(made.number, ())
        if len(readers) != 1 or made.number in self._wanted:
            return None
        after = readers[0]
        if after.op.type != "elementwise_add" or after.arguments[0] is not made:
            return None
        bias = after.arguments[1]
        fits = after.op.axis == 1 and bias.shape == made.shape[1:2]
        known = self._made.get(bias.number, -1) < self._made[made.number]
        return after if fits and known and after.outputs[0].shape == made.shape else None

    def relu_behind(self, kernel: Any) -> Any:
        """The kernel of relu that a kernel can do at once: that is all that its first output is
        for.  None where there is none.
        """
        value = kernel.outputs[0]
        readers = self.readers.get(value.number, ())
        if len(readers) != 1 or value.number in self._wanted or readers[0].op.type != "relu":
            return None
        return readers[0]

    def masked(self, kernel: Any) -> tuple[Any, Any] | None:
        """The kernels of relu and of its gradient that a batch normalisation and its gradient can
        do at once; None where there are none.
        """
        relu = self.relu_behind(kernel)
        normal = self.readers.get(kernel.outputs[3].number, ())  # what reads the saved mean
        if relu is None or len(normal) != 1 or normal[0].op.type != "batch_norm_grad":
            return None
        after = self.readers.get(relu.outputs[0].number, ())
        backward = [r for r in after if r.op.type == "relu_grad"]
        if len(backward) != 1 or backward[0].arguments[0] is not relu.outputs[0]:
            return None
        cotangent = backward[0].outputs[0].number
        if cotangent in self._wanted or self.readers.get(cotangent) != normal:
            return None
        return relu, backward[0]

    def conversion(
        self, source: Layout | None, target: Layout | None, shape: tuple[int, ...]
    ) -> Prepared:
        """A kernel that copies a value from one layout to another."""
        given = [layout for layout in (source, target) if layout is not None]
        first, last = given[0].form, given[-1].form
        if first != last:  # seen in two ways: by way of the plain array
            begin, end = self._copy(source, Layout(self.library, first)), target
            assert end is not None
            second = self._copy(Layout(self.library, last), end)

            def both(array: Any, place: Workplace, out: Any = None) -> Any:
                between, made = new(shape), new(end.shape) if out is None else out
                begin.at(place)(array, between)
                second.at(place)(between, made)
                return made

            return Prepared(both, out=True, scratch=self.shop)
        if target is None and source is not None and source.order is not None:
            return _view(shape, source.order)
        copy = self._copy(source or Layout(self.library, first), target)
        made_shape = shape if target is None else target.shape
        order = None if target is None else target.order

        def run(array: Any, place: Workplace, out: Any = None) -> Any:
            made = None if out is None else whole(out, made_shape)
            if order is not None and source is None:
                lying = array.transpose(order)
                if lying.flags.c_contiguous:  # nothing is to be moved
                    return lying.reshape(-1) if made is None else _copied(lying, made)
            made = new(made_shape) if made is None else made
            copy.at(place)(plain(array), made)
            return made

        return Prepared(run, out=True, scratch=self.shop)

    def _copy(self, source: Layout | None, target: Layout | None) -> Primitive:
        form = (source or target).form  # type: ignore[union-attr]
        return reorder(
            self.shop, source or Layout(self.library, form), target or Layout(self.library, form)
        )


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


def held(value: Any, form: Form, layouts: Layouts) -> Layout | None:
    """The layout that a value exists in, as the library sees it here; None for plain ones."""
    return next((known for known in layouts[value.number] if known and known.form == form), None)


def whole(array: Any, shape: tuple[int, ...]) -> Any:
    """An array to write a plain result to: what is given, where it lies as it has to."""
    return array if array is not None and array.flags.c_contiguous else new(shape)
