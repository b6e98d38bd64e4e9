"""Kernels of a library in the place of NumPy's, and values in the layouts that it chooses.

A value may exist in several layouts.  A kernel says which layouts it takes and gives; where a value
does not exist in what is taken, a kernel that converts it goes before.  What exists is never
converted to again, so there are no conversions that cancel each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ..dtypes import DType
from ..opdef.prepared import Laid, Prepared
from ..opdef.spec import Spec
from .trace import Kernel, Trace, Value


class Planner(Protocol):
    """What a library offers for one plan."""

    name: str
    #: has a method ``run`` that calls a function with the threads that the kernels take
    crew: Any

    def offer(self, kernel: Any, layouts: Mapping[int, list[Any]]) -> Laid | None:
        """A kernel in the place of NumPy's; None where there is none, or none that pays.

        Args:
            kernel: on values.
            layouts: by number of a value, the layouts that it exists in, the first one first; None
                stands for a plain array.
        """
        ...

    def conversion(self, source: Any, target: Any, shape: tuple[int, ...]) -> Prepared:
        """A kernel that copies a value from one layout to another.

        Args:
            source, target: layouts; None for a plain array.
            shape: of the plain array.
        """
        ...


class Step(Kernel):
    """A kernel of a library, or a conversion.

    Args:
        kernel: in whose place it is.
        arguments: values, lists of them and None.
        outputs: values.
        prepared: what computes them.
        title: what the source says that it does.
        library: what computes it.
    """

    __slots__ = ("_arguments", "_library", "_outputs", "_title")

    prepared: Prepared

    def __init__(
        self,
        kernel: Kernel,
        arguments: list[Any],
        outputs: list[Value],
        prepared: Prepared,
        title: str,
        library: str,
    ) -> None:
        self.op, self.step = kernel.op, kernel.step
        self.ins, self.outs = {}, {}
        self.function, self.reads, self.takes_rng, self.random_key = None, (), False, ""
        self.prepared = prepared
        self._arguments, self._outputs = arguments, outputs
        self._title, self._library = title, library

    @property
    def title(self) -> str:
        return self._title

    @property
    def library(self) -> str:
        return self._library

    @property
    def arguments(self) -> list[Any]:
        return self._arguments

    @property
    def outputs(self) -> list[Value]:
        return self._outputs


def arranged(
    kernels: Iterable[Kernel], wanted: Iterable[Value], trace: Trace, planner: Planner
) -> tuple[list[Kernel], dict[int, Value], Callable[[Value, Mapping[int, Any]], Any]]:
    """Kernels with those of a library in the place of some of NumPy's.

    Args:
        kernels: in order.
        wanted: values that are needed at the end, as plain arrays.
        trace: makes values.
        planner: the library's.

    Returns:
        the kernels, by number of a wanted value the one to use in its place, and a function of a
        value and what kernels made, by number, that gives the value as a plain array; None where
        none is made.
    """
    making = _Arrangement(trace, planner)
    for kernel in kernels:
        making.add(kernel)
    last = making.listed[-1] if making.listed else None
    instead = {}
    for value in wanted:
        if value.number in making.versions and last is not None:
            instead[value.number] = making.version(value, None, last)
    return making.listed, instead, making.as_plain


class _Arrangement:
    def __init__(self, trace: Trace, planner: Planner) -> None:
        self._trace, self._planner = trace, planner
        self.listed: list[Kernel] = []
        #: by number of a value, what it is in each layout; nothing where it is only plain
        self.versions: dict[int, dict[Any, Value]] = {}
        self._extra: dict[Any, Value] = {}
        #: what the kernel of another value makes in the place of that, and what no kernel makes
        self._within: dict[int, int] = {}
        self._unmade: set[int] = set()

    def add(self, kernel: Kernel) -> None:
        """Note a kernel, or one that the library has in its place."""
        layouts = {v.number: list(self.versions.get(v.number, (None,))) for v in kernel.inputs}
        laid = self._planner.offer(kernel, layouts)
        if laid is None:
            kernel.ins = {
                slot: self._taken(value, None, kernel) for slot, value in kernel.ins.items()
            }
            self.listed.append(kernel)
            return
        if laid.prepared is None:
            given, (made,) = kernel.arguments[laid.same], kernel.outputs
            self.versions[made.number] = self.versions.setdefault(given.number, {None: given})
            if kernel.op.derived_from is None:  # the kernel before does this one's work, too
                self._within[made.number] = given.number
                self._unmade.add(given.number)
            else:  # the one behind does
                self._unmade.add(made.number)
            return
        taken = kernel.arguments if laid.arguments is None else laid.arguments
        arguments = [
            self._taken(value, layout, kernel)
            for value, layout in zip(taken, laid.takes, strict=True)
        ]
        arguments += [self._extra[key] for key in laid.reads]
        outputs = []
        for value, layout in zip(kernel.outputs, laid.gives, strict=True):
            if layout is not None:
                stored = self._stored(layout)
                stored.number = value.number  # what looks at the value finds it
                self.versions[value.number] = {layout: stored}
                value = stored
            outputs.append(value)
        for key, shape in laid.makes:
            self._extra[key] = self._trace.value(Spec(shape, DType.UINT8))
            outputs.append(self._extra[key])
        title, name = kernel.op.type, self._planner.name
        self.listed.append(Step(kernel, arguments, outputs, laid.prepared, title, name))

    def version(self, value: Value, layout: Any, reader: Kernel) -> Value:
        """A value in a layout, for a kernel that reads it."""
        known = self.versions.get(value.number)
        if known is None:
            if layout is None:
                return value
            known = self.versions[value.number] = {None: value}
        if layout not in known:
            source, held = next(iter(known.items()))
            made = self._stored(layout) if layout is not None else self._trace.value(value.spec)
            prepared = self._planner.conversion(source, layout, value.shape)
            title = f"{'plain' if layout is None else 'another'} layout for {reader.op.type}"
            name = self._planner.name
            self.listed.append(Step(reader, [held], [made], prepared, title, name))
            known[layout] = made
        return known[layout]

    def as_plain(self, value: Value, made: Mapping[int, Any]) -> Any:
        """A value as a plain array; None where kernels did not make it.

        Args:
            value: it.
            made: what kernels made, by number.
        """
        number = value.number
        while number in self._within:
            number = self._within[number]
        array = made.get(number)
        if array is None or value.number in self._unmade:
            return None
        layout = next(iter(self.versions.get(value.number, {None: value})))
        if layout is None:
            return array
        conversion = self._planner.conversion(layout, None, value.shape)
        room = [] if conversion.scratch is None else [conversion.scratch()]
        return conversion.function(array, *room)

    def _taken(self, value: Any, layout: Any, reader: Kernel) -> Any:
        if isinstance(value, list):
            return [self._taken(each, layout, reader) for each in value]
        return self.version(value, layout, reader) if isinstance(value, Value) else value

    def _stored(self, layout: Any) -> Value:
        return self._trace.value(Spec(layout.shape, DType.FP32))
