"""Operators in a row, written out as one function of arrays.

A gradient rule, or a function of tensors, is run once on values that have a shape and a type and no
elements.  What it applies is noted, and written down as Python::

    def line(a0, a1):
        v2 = k0(a0, a1)
        v3 = k1(v2)
        return v3

where ``k0`` and ``k1`` are the kernels for these shapes.  The rule itself, attributes and checks
need not be gone through again.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..backend import numpy_
from ..ground.dtypes import as_dtype
from ..ground.shaped import Shaped
from ..opdef.arithmetic import REFLECTED, Arithmetic
from ..opdef.definition import Op, lookup
from ..opdef.interpreter import Interpreter, kernel_of
from ..opdef.prepared import Prepared
from ..opdef.spec import Spec, size_of
from .prepared import array_of, in_room

_xp = numpy_.xp


class ShapeDtype(NamedTuple):
    """Stands for a value of which only shape and element type matter."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)


def shape_dtype_of(value: Any) -> Any:
    """The form of an array; lists of them for lists."""
    if value is None or type(value) is ShapeDtype:
        return value
    if isinstance(value, (list, tuple)):
        return [shape_dtype_of(each) for each in value]
    return ShapeDtype(value.shape, value.dtype)


def spec_of(form: Any) -> Any:
    """The spec of a form; lists of them for lists."""
    if form is None:
        return None
    if isinstance(form, list):
        return [spec_of(each) for each in form]
    return Spec(tuple(form.shape), as_dtype(form.dtype))


class NotStraight(Exception):
    """What was run cannot be written out: it wants elements, draws, or is of several kinds."""


class AbstractValue(Shaped, Arithmetic):
    """A value without elements.

    Args:
        line: what notes what is done with it.
        spec: its shape and type.
        name: in what is written out.
        origin: the slot that it stands for, or None.
    """

    __slots__ = ("line", "name", "origin", "spec")
    __array_ufunc__ = None

    def __init__(self, line: StraightLine, spec: Spec, name: str, origin: str | None) -> None:
        self.line: StraightLine = line
        self.spec: Spec = spec
        self.name: str = name
        self.origin: str | None = origin

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.spec.dtype

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        return self.line.combine(REFLECTED.get(method, method), operator, self, other, reflected)

    def __neg__(self) -> Any:
        return self.line.combine("__neg__", None, self, None, False)


class _Line(NamedTuple):
    """An assignment."""

    targets: tuple[str, ...]
    call: str
    reads: set[str]


class StraightLine(Interpreter):
    """Notes operators in place of running them."""

    #: whether what is noted is differentiated: kernels of gradients have no gradients of their own
    is_differentiated: ClassVar[bool] = False

    def __init__(self) -> None:
        self.touched: set[str] = set()  #: the origins of the values that operators read
        self._held: dict[str, Any] = {}  #: kernels and constants by name
        self._lines: list[_Line] = []
        self._taken: list[str] = []
        self._count = 0
        self._why: str | None = None  #: what cannot be written out

    # -- values ------------------------------------------------------------------------------------

    def value(self, spec: Any, origin: str | None = None) -> Any:
        """A value that the function takes; lists of them for lists."""
        if spec is None:
            return None
        if isinstance(spec, list):
            return [self.value(each, origin) for each in spec]
        return AbstractValue(self, spec, self._new("a"), origin)

    def _new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count - 1}"

    def _result(self, spec: Any) -> Any:
        if spec is None:
            return None
        if isinstance(spec, list):
            return [self._result(each) for each in spec]
        if -1 in spec.shape:
            raise NotStraight(f"{spec} is not known")
        return AbstractValue(self, spec, self._new("v"), None)

    def _touch(self, value: Any) -> Any:
        """The spec of a value that is read."""
        if isinstance(value, (list, tuple)):
            return [self._touch(each) for each in value]
        if isinstance(value, AbstractValue):
            if value.origin is not None:
                self.touched.add(value.origin)
            return value.spec
        return spec_of(value)

    def _text(self, value: Any) -> str:
        """A value in what is written out."""
        if isinstance(value, AbstractValue):
            return value.name
        if isinstance(value, list):
            return f"[{', '.join(map(self._text, value))}]"
        return "None" if value is None else self._hold(value)

    def _names(self, value: Any) -> set[str]:
        """The names of values, of those in lists and tuples too."""
        if isinstance(value, (list, tuple)):
            return {name for each in value for name in self._names(each)}
        return {value.name} if isinstance(value, AbstractValue) else set()

    def _hold(self, thing: Any) -> str:
        name = self._new("k")
        self._held[name] = thing
        return name

    # -- what is noted -----------------------------------------------------------------------------

    def combine(
        self, method: str, kind: str | None, x: AbstractValue, other: Any, reflected: bool
    ) -> AbstractValue:
        """What one of Python's operators makes of a value and another one, or a number.

        Raises:
            NotStraight: NumPy would choose another type.
        """
        function = self._hold(getattr(operator, method.strip("_")))
        dtype = x.spec.dtype
        if kind is None:
            self._touch(x)
            result = self._result(x.spec)
            self._lines.append(_Line((result.name,), f"{function}({x.name})", {x.name}))
            return result
        if isinstance(other, AbstractValue):
            other_spec = other.spec
            if other_spec.dtype != dtype:
                self._why = "mixed types"
        elif isinstance(other, (int, float)):
            other_spec = Spec((), dtype)
            if not dtype.is_float:
                self._why = "a number beside integers"
        else:
            raise NotStraight(f"{other!r:.60}")
        self._touch(x)
        self._touch(other) if isinstance(other, AbstractValue) else None
        x_and_y = (other_spec, x.spec) if reflected else (x.spec, other_spec)
        specs = lookup(kind)().infer_outputs(dict(zip("XY", x_and_y)))
        result = self._result(specs["Out"])
        texts = [x.name, self._text(other)]
        call = f"{function}({', '.join(texts[:: -1 if reflected else 1])})"
        self._lines.append(_Line((result.name,), call, {*texts}))
        return result

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        specs = op.infer_outputs({slot: self._touch(value) for slot, value in ins.items()})
        outs = {slot: self._result(spec) for slot, spec in specs.items()}
        if self._why is None:
            self._write(op, ins, outs)
        return outs

    def prepared(
        self, op: Op, ins: Mapping[str, Any], specs: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The outputs of an operator that has a kernel for these shapes; else None.

        Args:
            op: the operator.
            ins: its inputs by slot.
            specs: those of its outputs.
        """
        values = [ins.get(slot) for slot in _reads(op)]
        kernel = _kernel_for(op, values)
        if kernel is None:
            return None
        for place, value in enumerate(values):
            if place not in kernel.unread:
                self._touch(value)
        outs = {slot: self._result(spec) for slot, spec in specs.items()}
        self._write(op, ins, outs)
        return outs

    def _write(self, op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any]) -> None:
        kernel, _, draws = kernel_of(op, "numpy")
        values = [ins.get(slot) for slot in _reads(op)]
        prepared = _kernel_for(op, values)
        if (kernel is None and prepared is None) or draws or op.host or op.fluid.updates:
            self._why = op.type
            return
        arguments = list(map(self._text, values))
        if prepared is None:
            call = f"{self._hold(kernel)}({', '.join([self._hold(op), 'xp', *arguments])})"
        else:
            function, room = prepared.function, prepared.scratch
            function = function if room is None else in_room(function, room)
            call = f"{self._hold(function)}({', '.join(arguments)})"
        slots = [slot.name for slot in op.outputs]
        if len(slots) > 1 or op.outputs[0].many:
            names = []
            for slot in slots:
                value = outs.get(slot)
                if isinstance(value, list):
                    self._why = op.type
                    return
                names.append(self._new("_") if value is None else value.name)
            call = f"outs({self._hold(op)}, {call})"
            self._lines.append(_Line((*names, ""), call, self._names(values)))
            return
        out = outs[slots[0]]
        if not out.shape or prepared is None:
            call = f"array({call})"
        self._lines.append(_Line((out.name,), call, self._names(values)))

    # -- the function ------------------------------------------------------------------------------

    def function(self, takes: Sequence[Any], gives: Any) -> Callable[..., Any] | None:
        """The function of arrays; None if there is none.

        Args:
            takes: values, in the order of the arguments.
            gives: what it returns: values, in tuples and lists.
        """
        if self._why is not None:
            return None
        parameters = ", ".join(
            each.name if isinstance(each, AbstractValue) else self._new("_") for each in takes
        )
        wanted, lines = self._names(gives), []
        for line in reversed(self._lines):
            if not wanted.isdisjoint(line.targets):
                wanted |= line.reads
                lines.append(f"        {', '.join(line.targets).rstrip()} = {line.call}\n")
        body = "".join(reversed(lines))
        names = ", ".join(self._held)
        text = (
            f"def make(xp, array, outs, held):\n"
            f"    ({names},) = held\n"
            f"    def line({parameters}):\n{body}        return {self._given(gives)}\n"
            f"    return line\n"
        )
        if not names:
            text = text.replace("    (,) = held\n", "")
        scope: dict[str, Any] = {}
        exec(_compiled(text), {}, scope)
        return scope["make"](_xp, _array, settled, self._held.values())

    def _given(self, gives: Any) -> str:
        if isinstance(gives, tuple):
            return f"({''.join(self._given(each) + ', ' for each in gives)})"
        return self._text(gives)


def _reads(op: Op) -> Sequence[str]:
    """The slots that a kernel takes, in its order."""
    return kernel_of(op, "numpy")[1] if op.takes is None else op.takes


def _kernel_for(op: Op, values: Sequence[Any]) -> Prepared | None:
    """The kernel for the shapes of some values; None if there is none."""
    if any(isinstance(value, (list, tuple)) for value in values):
        return None
    return op.prepared([v.spec if isinstance(v, AbstractValue) else spec_of(v) for v in values])


@functools.lru_cache(4096)
def _compiled(text: str) -> CodeType:
    return compile(text, __file__ + " (written out)", "exec", dont_inherit=True)


def settled(op: Op, found: Any) -> Sequence[Any]:
    """What a kernel gave for several outputs, as arrays in the order of the slots."""
    if type(found) is np.ndarray:
        found = (found,)  # others are absent
    if type(found) is tuple and len(found) <= len(op.outputs):
        values: Sequence[Any] = found + (None,) * (len(op.outputs) - len(found))
    else:
        by_slot = op.by_slot(found)
        values = [by_slot.get(slot.name) for slot in op.outputs]
    return [v if v is None or type(v) is np.ndarray else array_of(v) for v in values]


def _array(value: Any) -> Any:
    """What a kernel gave for one output, as an array."""
    return value if type(value) is np.ndarray else array_of(value)
