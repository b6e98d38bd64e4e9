"""The interpreters that functions of ONNX's operators are given.

:class:`Appending` appends operators to a program.  :class:`ConstantFolding` computes at once what
only depends on constants.  Both answer what a function may ask of a value: its sizes, its element
type, and its elements where they are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import FluidError, UnsupportedError
from ..ground.advice import SHAPES
from ..ground.dtypes import as_dtype
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..opdef.definition import Op
from ..opdef.interpreter import Eval, Interpreter
from ..opdef.spec import Spec, broadcast

#: bytes that a result may have in any case, and how many times those of its operands
SMALL, TIMES = 1 << 24, 4


#: bytes that all results together may have, and how many times those of the model's tensors
ROOM, TIMES_HELD = 1 << 28, 8
MOST_DIMENSIONS = 32
LARGEST_TABLE = 1 << 24  #: elements of what is written out as a constant


def need_room(*sizes: int, most: int = LARGEST_TABLE) -> None:
    """Refuse sizes by which more would be written out than is sensible: files are not trusted.

    Raises:
        UnsupportedError: their product is too large.
    """
    if math.prod(sizes) > most:
        raise UnsupportedError(
            f"its sizes {list(sizes)} make {math.prod(sizes)} elements, and at most {most} are "
            "written out"
        )


class TooLarge(FluidError):
    """A result that is better computed when the program runs."""


class Asking(Interpreter):
    """What functions ask of values."""

    def sizes(self, x: Any) -> tuple[int, ...]:
        """The sizes of a value; -1 where they are unknown.

        Raises:
            UnsupportedError: how many dimensions it has is not known.
        """
        if not getattr(x, "has_shape", True):
            raise UnsupportedError(
                "how many dimensions its input has must be known when the model is loaded; if an "
                "input of the model says so, give it: constants={name: array}"
            )
        return tuple(int(n) for n in x.shape)

    def ndim(self, x: Any) -> int:
        """The number of dimensions."""
        return len(self.sizes(x))

    def type_of(self, x: Any) -> np.dtype[Any]:
        """The element type."""
        dtype = x.dtype
        return dtype if isinstance(dtype, np.dtype) else as_dtype(dtype).dtype

    def elements(self, x: Any) -> Any:
        """The elements of a value as an array; None where they are not known before a run."""
        return x if isinstance(x, np.ndarray) else None

    def constant(self, x: Any) -> Any:
        """A value as an array where it is known, so that no gradient reaches it; else itself."""
        found = None if x is None else self.elements(x)
        return x if found is None else found

    def settled(self, x: Any) -> Any:
        """A value that is no parameter that optimizers update, whatever it looks like."""
        if isinstance(x, Parameter):
            x.trainable, x.stop_gradient = False, True
        return x

    def needed(self, x: Any, what: str) -> Any:
        """The elements of a value.

        Raises:
            UnsupportedError: they are not known before a run.
        """
        elements = self.elements(x)
        if elements is None:
            raise UnsupportedError(
                f"{what} must be known when the model is loaded; if it is an input of the model, "
                "give it: constants={name: array}"
            )
        return elements

    def numbers(self, x: Any, what: str) -> list[int]:
        """The elements of a value as integers."""
        return [int(n) for n in np.asarray(self.needed(x, what)).reshape(-1)]

    def number(self, x: Any, what: str) -> Any:
        """The one element of a value.

        Raises:
            UnsupportedError: it has another number of elements, or is not known before a run.
        """
        found = np.asarray(self.needed(x, what))
        if found.size != 1:
            raise UnsupportedError(f"expected one element as {what}, got {found.size}")
        return found.reshape(-1)[0].item()

    def partial(self, x: Any) -> list[int] | None:
        """The elements of a vector of sizes, -1 where one is not known before a run; None where
        nothing is known.
        """
        found = self.elements(x)
        return None if found is None else [int(n) for n in found.reshape(-1)]

    def length(self, x: Any) -> int:
        """How many elements a vector has that says something of dimensions.

        Raises:
            UnsupportedError: they are not known, or more than an array has dimensions.
        """
        (found,) = self.known_sizes(x, [0])
        need_room(found, most=32)
        return found

    def known_sizes(self, x: Any, axes: Iterable[int] | None = None) -> tuple[int, ...]:
        """The sizes of a value, or of some dimensions.

        Raises:
            UnsupportedError: one is not known before a run.
        """
        sizes = self.sizes(x)
        sizes = sizes if axes is None else tuple(sizes[axis] for axis in axes)
        if -1 in sizes:
            raise UnsupportedError(
                f"it asks for sizes that are not known, {list(self.sizes(x))}; give the shapes of "
                f"what is fed: {SHAPES}"
            )
        return sizes

    def to(self, x: Any, dtype: Any) -> Any:
        """A value in another element type; itself where it has that."""
        old, new = self.type_of(x), np.dtype(dtype)
        if old == new:
            return x
        if isinstance(x, np.ndarray):
            with np.errstate(invalid="ignore", over="ignore"):
                return x.astype(new)
        return self.cast(x, in_dtype=as_dtype(old), out_dtype=as_dtype(new))

    def like(self, number: Any, x: Any) -> Any:
        """A number, or an array, in the element type of a value."""
        return np.asarray(number, self.type_of(x))

    def reshaped(self, x: Any, shape: Iterable[int]) -> Any:
        """A value in another shape; -1 for the one size that follows from the others."""
        shape = [int(n) for n in shape]
        if 0 in shape:
            known = self.known_sizes(x)
            if 0 not in known:
                raise UnsupportedError(f"{list(known)} cannot take the shape {shape}")
            return np.zeros(shape, self.type_of(x))
        return (
            x if shape == list(self.sizes(x)) and -1 not in shape else self.reshape2(x, shape=shape)
        )

    def transposed(self, x: Any, order: Iterable[int]) -> Any:
        """A value with its dimensions in another order."""
        order = [int(axis) for axis in order]
        return x if order == sorted(order) else self.transpose2(x, axis=order)

    def cut(self, x: Any, axis: int, begin: int, end: int) -> Any:
        """The elements from one place to another along a dimension."""
        return self.slice(x, axes=[axis], starts=[begin], ends=[end])

    def added(self, x: Any, *axes: int) -> Any:
        """A value with further dimensions of size 1, at places of the result."""
        if self.ndim(x) + len(axes) > MOST_DIMENSIONS:
            raise UnsupportedError(
                f"expected at most {MOST_DIMENSIONS} dimensions, got {self.ndim(x) + len(axes)}"
            )
        out = x
        for axis in sorted(axes):
            out = self.unsqueeze2(out, axes=[axis])
        return out

    def dropped(self, x: Any, *axes: int) -> Any:
        """A value without dimensions of size 1."""
        if not axes:
            return x
        gone = {axis % self.ndim(x) for axis in axes}
        kept = [n for i, n in enumerate(self.sizes(x)) if i not in gone]
        return self.reshaped(x, kept) if kept.count(-1) < 2 else self.squeeze2(x, axes=list(axes))

    def spread(self, x: Any, *others: Any) -> Any:
        """A value in the shape that it and others have together."""
        shape: tuple[int, ...] = self.sizes(x)
        for other in others:
            shape = broadcast(shape, self.sizes(other))
        if shape == self.sizes(x):
            return x
        wide = self.added(x, *range(len(shape) - self.ndim(x)))
        pairs = list(zip(shape, self.sizes(wide)))
        if all(m == n or (n == 1 and m != -1) for m, n in pairs):
            return self.expand(wide, expand_times=[m if n == 1 else 1 for m, n in pairs])
        kind = self.type_of(x)
        sums = self.to(wide, "int32") if kind.kind == "b" else wide
        for other in others:
            if other is not x and self.sizes(sums) != shape and set(self.sizes(other)) != {1}:
                zero = self.fill_zeros_like(self.to(other, self.type_of(sums)))
                sums = self.elementwise_add(sums, zero)
        return self.to(sums, kind)

    def size_of(self, x: Any, axis: int) -> Any:
        """A size as a vector of one element: an array where it is known."""
        axis %= self.ndim(x)
        if self.sizes(x)[axis] != -1:
            return np.array([self.sizes(x)[axis]], np.int64)
        return self.to(self.cut(self.shape(x), 0, axis, axis + 1), np.int64)

    def counted(self, x: Any, axis: int, rank: int, at: int) -> Any:
        """The numbers 0, 1, 2 and so on of the elements of ``x`` along a dimension.

        Args:
            rank, at: how many dimensions they shall have, and which of them they span.
        """
        shape = [-1 if i == at else 1 for i in range(rank)]
        if self.sizes(x)[axis] != -1:
            need_room(self.sizes(x)[axis])
            return np.arange(self.sizes(x)[axis], dtype=np.int64).reshape(shape)
        zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
        return self.reshaped(self.range(zero, self.size_of(x, axis), one), shape)

    def summed(self, x: Any, axes: Iterable[int], keep: bool = True, kind: str = "sum") -> Any:
        """What is left of a value along some dimensions: "sum", "mean", "max", "min", "prod"."""
        dims = [axis % max(self.ndim(x), 1) for axis in axes]
        if not dims:
            return x
        call = getattr(self, {"max": "amax", "min": "amin"}.get(kind, f"reduce_{kind}"))
        whole = len(set(dims)) == self.ndim(x) and not keep
        return call(x, dim=dims, keep_dim=keep, reduce_all=False, zero_d=whole)


class ConstantFolding(Asking, Eval):
    """Runs operators on constants, as long as results are small, each and all together."""

    def __init__(self) -> None:
        Eval.__init__(self, numpy_)
        self._room = ROOM

    def add_room(self, held: Iterable[Any]) -> None:
        """Allow more results, for arrays that a model holds."""
        self._room += TIMES_HELD * sum(array.nbytes for array in held)

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        if op.random or op.execute is not None:
            raise TooLarge(f"{op.type} is no constant")
        specs, input_bytes = {}, 0
        for slot, value in ins.items():
            listed = value if isinstance(value, list) else [value]
            known = [None if v is None else Spec(v.shape, as_dtype(v.dtype)) for v in listed]
            input_bytes += sum(v.nbytes for v in listed if v is not None)
            specs[slot] = known if isinstance(value, list) else known[0]
        for found in op.infer_outputs(specs).values():
            for spec in found if isinstance(found, list) else [found]:
                if spec is None or -1 in spec.shape:
                    continue
                size = math.prod(spec.shape) * spec.dtype.dtype.itemsize
                if size > min(max(SMALL, TIMES * input_bytes), self._room):
                    raise TooLarge(f"{op.type} makes {spec}")
                self._room -= size
        with np.errstate(all="ignore"):
            return Eval.apply(self, op, ins, want)


class Appending(Asking, Builder):
    """Appends operators to the current block of a program.

    Constants that operators read become persistable variables of it.

    Args:
        program: takes the operators.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.stem = "value"
        #: values of persistable variables by name
        self.held: dict[str, Any] = {}
        self._partials: dict[str, list[int]] = {}
        self._constants: dict[Any, Variable] = {}

    @property
    def block(self) -> Block:  # type: ignore[override]
        """The block that takes the operators."""
        return self.program.current_block()

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        variables: dict[str, Any] = {}
        for slot, value in ins.items():
            if isinstance(value, (list, tuple)):
                variables[slot] = [self.variable(v) for v in value]
            else:
                variables[slot] = None if value is None else self.variable(value)
        return super().apply(op, variables, want)

    def elements(self, x: Any) -> Any:
        if isinstance(x, Variable):
            return self.held.get(x.name)
        return x

    def partial(self, x: Any) -> list[int] | None:
        found = super().partial(x)
        if found is None and isinstance(x, Variable):
            found = self._partials.get(x.name)
        return found

    def note_partial(self, x: Any, sizes: list[int]) -> None:
        """Say which elements of a vector of sizes are known."""
        if isinstance(x, Variable):
            self._partials[x.name] = sizes

    def renamed(self, x: Variable, old: str) -> None:
        """Go on with what is known of a variable that has another name now."""
        if old in self._partials:
            self._partials[x.name] = self._partials.pop(old)

    def variable(self, value: Any, name: str = "") -> Variable:
        """A value as a variable.

        Args:
            value: a variable, or an array that becomes a persistable one.
            name: of a new variable.
        """
        if isinstance(value, Variable):
            return value
        if not isinstance(value, (np.ndarray, np.generic, int, float)):
            raise UnsupportedError("a sequence of tensors stands where one tensor is expected")
        array = np.asarray(value)
        key = (array.dtype.str, array.shape, array.tobytes()) if array.nbytes <= 1024 else None
        found = None if name or key is None else self._constants.get(key)
        if found is not None:
            return found
        block = self.program.global_block()
        name = name or self._free(f"constant_{len(self.held)}")
        variable = block.declare_var(
            name=name, shape=array.shape, dtype=array.dtype, persistable=True, stop_gradient=True
        )
        self.held[variable.name] = array
        if key is not None:
            self._constants[key] = variable
        return variable

    def _free(self, name: str) -> str:
        while self.program.global_block().has_var(name):
            name += "_"
        return name
