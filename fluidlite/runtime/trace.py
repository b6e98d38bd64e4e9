"""From steps on names to a list of primitive kernels on numbered values, for given shapes.

Nothing is computed here but what depends on constants alone.  Operators that are compositions, the
derived gradient operators among them, are expanded until only kernels remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..dtypes import Kind, as_dtype
from ..ir.analysis import writes_of
from ..ir.operator import EMPTY, OpRole
from ..opdef.arithmetic import WITH_NUMBER, Arithmetic
from ..opdef.definition import Op
from ..opdef.interpreter import Eval, Interpreter
from ..opdef.prepared import Prepared
from ..opdef.spec import Shape, Spec
from .driver import Driver
from .plan import BlockPlan
from .seen import Seen, Way
from .step import Step

FOLDED_SIZE = 1 << 16  #: constants of more elements than this are computed in every run
_TENSOR = Kind.LOD_TENSOR
_BACKWARD = int(OpRole.BACKWARD)
UNROLLED = 5000  #: operators that the passes through blocks may run in all


class Unsupported(Exception):
    """The steps cannot be specialised; they are interpreted."""


class Value(Arithmetic):
    """A value that a kernel will compute, that comes from outside, or that is known already."""

    __slots__ = ("constant", "dtype", "kind", "number", "shape", "spec", "trace")
    __array_ufunc__ = None  # so that array + value asks the value

    def __init__(self, trace: Trace, spec: Spec, constant: Any = None) -> None:
        self.trace = trace
        self.spec = spec  #: shape and element type
        self.shape: Shape = spec.shape
        self.dtype = spec.dtype.dtype
        self.kind = spec.kind
        self.constant = constant
        self.number = trace.count
        trace.count += 1

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return prod(self.shape) * self.dtype.itemsize

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        f = self.trace
        if isinstance(other, Arithmetic) and not isinstance(other, Value):
            return NotImplemented  # a value that remembers how it was made knows what to do
        if isinstance(other, (int, float)):
            as_scale = WITH_NUMBER[method](other) if method in WITH_NUMBER else None
            if as_scale is not None and all(self._is_exact(n) for n in as_scale.values()):
                return f.scale(self, **as_scale)
            if method == "__pow__" and self._is_exact(other):
                return f.pow(self, factor=other)
            other = f.known(np.full([1] * len(self.shape), other, self.dtype))
        call = getattr(f, operator)
        return call(other, self) if reflected else call(self, other)

    def __getattr__(self, name: str) -> Any:
        """What an array has and a value only has when it is known."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self.constant is None:
            raise Unsupported(f"{name} of a value that is not known before the program runs")
        return getattr(self.constant, name)

    def __int__(self) -> int:
        return int(self.__getattr__("item")())

    def __bool__(self) -> bool:
        return bool(self.__getattr__("item")())

    def __getitem__(self, item: Any) -> Any:
        if self.constant is not None or type(item) is not int:
            return self.__getattr__("__array__")()[item]
        f = self.trace
        part = f.slice(self, axes=[0], starts=[item], ends=[item + 1])
        return f.reshape(part, shape=self.shape[1:]) if self.ndim > 1 else part

    def __iter__(self) -> Any:
        return iter(self.__getattr__("tolist")())

    def _is_exact(self, number: float) -> bool:
        """Whether an attribute, which is rounded to single precision, says a number exactly enough
        for the value's element type.
        """
        return bool(self.dtype != np.float64 or float(np.float32(number)) == number)

    def __neg__(self) -> Any:
        return self.trace.scale(self, scale=-1.0)

    def __repr__(self) -> str:
        return f"v{self.number}: {self.spec}"


class Kernel:
    """A primitive operator on values."""

    __slots__ = (
        "_ins",
        "_made",
        "_read",
        "_taken",
        "function",
        "op",
        "outs",
        "prepared",
        "random_key",
        "reads",
        "step",
        "takes_rng",
    )

    def __init__(
        self,
        op: Op,
        ins: dict[str, Any],
        outs: dict[str, Any],
        step: Step,
        way: Way,
        prepared: Prepared | None,
    ) -> None:
        self.op = op
        self.ins = ins
        self.outs = outs
        self.step = step
        self.function, self.reads, self.takes_rng = way.function, way.reads, way.takes_rng
        self.prepared = prepared
        self.random_key: str | tuple[int | str, ...] = ""

    def run(
        self, xp: Any, held: Mapping[int, Any], draw: Callable[[Any], Any]
    ) -> list[tuple[Value, Any]]:
        """Pairs of the values made and their arrays.

        Args:
            xp: the array namespace.
            held: arrays of the values read, by number.
            draw: gives random numbers by key.
        """
        rng = [draw(self.random_key)] if self.takes_rng else []
        arguments = [held_by(value, held) for value in self.arguments]
        if self.prepared is not None:
            room = [] if self.prepared.scratch is None else [self.prepared.scratch()]
            made = self.prepared.function(*arguments, *room)
            arrays = made if type(made) is tuple else (made,)
            return [
                (v, np.asarray(array) if v.kind is Kind.LOD_TENSOR else array)
                for v, array in zip(self.outputs, arrays, strict=True)
            ]
        found = self.op.by_slot(self.function(self.op, xp, *rng, *arguments))
        pairs: list[tuple[Value, Any]] = []
        for slot, made in self.outs.items():
            if isinstance(made, list):
                pairs += zip(made, map(np.asarray, found[slot]), strict=True)
            elif isinstance(made, Value):
                plain = made.kind is Kind.LOD_TENSOR
                pairs.append((made, np.asarray(found[slot]) if plain else found[slot]))
        return pairs

    @property
    def title(self) -> str:
        """What the source says that it does."""
        return self.op.type

    @property
    def library(self) -> str:
        """What computes it; empty for NumPy."""
        return ""

    @property
    def computes_again(self) -> bool:
        """Whether it is part of an operator in the backward pass that is no gradient operator."""
        is_backward = int(self.step.op.role) & _BACKWARD
        return bool(is_backward) and self.step.instance.derived_from is None

    @property
    def ins(self) -> dict[str, Any]:
        """The values by input slot."""
        return self._ins

    @ins.setter
    def ins(self, ins: dict[str, Any]) -> None:
        self._ins = ins
        # what follows is asked for again and again, and there are many kernels
        self._taken: list[Any] | None = None
        self._read: list[Value] | None = None
        self._made: list[Value] | None = None

    @property
    def arguments(self) -> list[Any]:
        """What the kernel's function takes: values, lists of them, and None."""
        if self._taken is None:
            ins = self._ins
            self._taken = [ins.get(slot) for slot in self.reads]
        return self._taken

    @property
    def inputs(self) -> list[Value]:
        """The values read."""
        if self._read is None:
            given = self.arguments
            self._read = given if _are_values(given) else flat(given)
        return self._read

    @property
    def outputs(self) -> list[Value]:
        """The values made."""
        if self._made is None:
            self._made = flat(self.outs.values())
        return self._made

    @property
    def output(self) -> Value | None:
        """The value made, where there is just one output slot with one value."""
        if len(self.op.outputs) != 1:
            return None
        found = self.outs.get(self.op.outputs[0].name)
        return found if isinstance(found, Value) else None


class PreparedKernel(Kernel):
    """A kernel in the place of others, of which there is nothing but what was prepared.

    Args:
        like: the last of those.
        ins: values, lists of them and None, by what they are, in the order that the function takes.
        outs: values and lists of them, by slot.
        prepared: what computes these from those.
    """

    __slots__ = ()

    def __init__(
        self, like: Kernel, ins: dict[str, Any], outs: dict[str, Any], prepared: Prepared
    ) -> None:
        way = Way(None, tuple(ins), takes_rng=False, runs=False, is_composite=True, as_one=True)
        super().__init__(like.op, ins, outs, like.step, way, prepared)


def held_by(value: Any, held: Mapping[int, Any]) -> Any:
    """The array, or the list of arrays, that a value stands for."""
    if value is None or isinstance(value, list):
        return None if value is None else [held_by(each, held) for each in value]
    return held[value.number] if value.constant is None else value.constant


def _are_values(values: list[Any]) -> bool:
    return {Value}.issuperset(map(type, values))


def flat(values: Iterable[Any]) -> list[Value]:
    """The values among values, lists of them and None."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Value):
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, Value)]
    return found


class Trace(Interpreter):
    """The interpreter that notes which kernels run.

    Args:
        backend: evaluates what depends on constants alone.
    """

    def __init__(self, backend: Any) -> None:
        self.count = 0
        self.kernels: list[Kernel] = []
        self.inputs: dict[str, Value] = {}
        #: what the steps write: the step, the name and the value
        self.named: list[tuple[Step, str, Value]] = []
        self._eval = Eval(backend)
        self._step: Step | None = None
        #: which passes through blocks the step is part of
        self._turns: tuple[int, ...] = ()
        self._unrolled = 0
        self._seen = Seen()

    def known(self, array: Any) -> Value:
        """A value that is known already."""
        if not array.flags.c_contiguous and array.size <= FOLDED_SIZE:
            array = array.copy()  # kernels are several times slower on one that is stretched
        return Value(self, Spec(array.shape, as_dtype(array.dtype)), array)

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        way = self._seen.way(op)
        if way.function is None and way.is_composite:
            whole = self._as_one(op, ins, way, want) if way.as_one else None
            return op.outputs_for(self, ins, want) if whole is None else whole
        if not way.runs:
            raise Unsupported(op.type)
        ins = self._wholes(ins, op.rows)
        if not way.takes_rng and op.folds and _is_known([ins.get(n) for n in way.reads], op):
            return self._folded(op, ins)
        prepared, made = self._seen.primitive(op, ins, way)
        outs: dict[str, Any] = {}
        for slot, spec, optional in made:
            if not optional or want is None or slot in want:
                outs[slot] = (
                    [self.value(each) for each in spec] if type(spec) is list else self.value(spec)
                )
        assert self._step is not None
        self.kernels.append(Kernel(op, ins, outs, self._step, way, prepared))
        return outs

    def _as_one(
        self, op: Op, ins: Mapping[str, Any], way: Way, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of a composition that a prepared kernel computes as a whole; None where there
        is none.
        """
        ins = self._wholes(ins, ())
        if want is not None and not set(want) & set(op.output_slots):
            return None
        prepared, made = self._seen.whole(op, ins, way)
        if prepared is None:
            return None
        outs: dict[str, Any] = {slot: self.value(spec) for slot, spec, _ in made}
        assert self._step is not None
        self.kernels.append(Kernel(op, ins, outs, self._step, way, prepared))
        return outs

    def build(self, step: Step, make: Callable[[Trace], Value]) -> tuple[Value, list[Kernel]]:
        """A value of operators that are no part of the steps, and the kernels that make it.

        Args:
            step: what they belong to.
            make: makes the value of this trace.
        """
        before, self._step, first = self._step, step, len(self.kernels)
        value = make(self)
        made, self.kernels[first:], self._step = self.kernels[first:], [], before
        return value, made

    def value(self, spec: Spec) -> Value:
        """A new value.

        Raises:
            Unsupported: its shape depends on values.
        """
        if -1 in spec.shape or spec.kind not in (Kind.LOD_TENSOR, Kind.SELECTED_ROWS):
            raise Unsupported("a shape that depends on values")
        return Value(self, spec._replace(lod_level=0) if spec.lod_level else spec)

    def _wholes(self, ins: Mapping[str, Any], rows: Sequence[str]) -> dict[str, Any]:
        """Values with tensors in the place of SelectedRows, but for the slots that may take them.

        Args:
            ins: by slot.
            rows: those slots.
        """
        for value in ins.values():
            if value is not None and (type(value) is not Value or value.kind is not _TENSOR):
                return {slot: self._whole(value, slot in rows) for slot, value in ins.items()}
        return ins if type(ins) is dict else dict(ins)

    def _whole(self, value: Any, takes_rows: bool) -> Any:
        """A value with a tensor in the place of SelectedRows, where an operator takes none."""
        if isinstance(value, list):
            return [self._whole(each, takes_rows) for each in value]
        if takes_rows or not isinstance(value, Value) or value.kind is Kind.LOD_TENSOR:
            return value
        return self.get_tensor_from_selected_rows(value)

    def _folded(self, op: Op, ins: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of an operator on known values."""
        found = self._eval.apply(op, {slot: _array_of(value) for slot, value in ins.items()})
        return {
            slot: None
            if value is None
            else [self.known(v) for v in value]
            if isinstance(value, list)
            else self.known(value)
            for slot, value in found.items()
        }

    # -- steps of a block --------------------------------------------------------------------------

    def run(
        self, steps: Sequence[Step], given: Mapping[str, Spec], wanted: Iterable[str]
    ) -> dict[str, Value]:
        """Note the kernels of steps.

        Args:
            steps: in order.
            given: what is known about the values that come from outside, by name.
            wanted: the names whose values are needed at the end.

        Returns:
            the wanted values that the steps write, by name.

        Raises:
            Unsupported: an operator drives a block, works on sequences, or gives shapes that depend
                on values.
        """
        env: dict[str, Value] = {}
        for name, spec in given.items():
            env[name] = self.inputs[name] = self.value(spec)
        for step in steps:
            self._run_step(step, env)
        found = {name: env[name] for name in wanted if name in env}
        if not all(isinstance(value, Value) for value in found.values()):
            raise Unsupported("what is wanted of a block is no tensor")
        return found

    def _run_step(self, step: Step, env: dict[str, Value]) -> None:
        self._step = step
        op = step.instance
        if step.loss is not None and step.loss in env and env[step.loss].size != 1:
            raise Unsupported("a loss of several elements")
        if op.is_control:
            self._unroll(step, env)
            return
        ins: dict[str, Any] = {}
        try:
            for slot, names, many in step.inputs:
                if many:
                    ins[slot] = [None if n == EMPTY else env[n] for n in names]
                else:
                    ins[slot] = None if names[0] == EMPTY else env[names[0]]
        except KeyError as error:
            raise Unsupported(f"{error.args[0]!r} may not be written") from None
        first = len(self.kernels)
        outs = self.apply(op, ins, step.want)
        for kernel in self.kernels[first:]:
            if kernel.takes_rng:
                key = op.random_key(step.op.output_arg_names[0])
                kernel.random_key = (*self._turns, key) if self._turns else key
        for slot, names, many in step.outputs:
            found = outs.get(slot)
            for i, name in enumerate(names):
                if name == EMPTY:
                    continue
                value = (found[i] if found is not None else None) if many else found
                if value is None:
                    if op.output_slots[slot].hidden:
                        env.pop(name, None)
                        continue
                    value = self._zeros(step, slot, i, ins)
                env[name] = value
                self.named.append((step, name, value))

    def _unroll(self, step: Step, env: dict[str, Value]) -> None:
        """Note the kernels of all passes through the block of a step."""
        if not step.instance.unrolls:
            raise Unsupported(step.instance.type)
        step.instance.execute(Driver(_Passes(self), step, env))
        self.named += [
            (step, name, env[name])
            for name in writes_of(step.op)
            if isinstance(env.get(name), Value)
        ]

    def run_pass(self, body: BlockPlan, env: dict[str, Value], turn: int) -> None:
        """Note the kernels of a pass through a block.

        Args:
            body: the block.
            env: values by name.
            turn: the number of the pass.

        Raises:
            Unsupported: as of :meth:`run`, or there are too many passes.
        """
        around = self._step
        self._turns = (*self._turns, turn)
        self._unrolled += len(body.steps)
        if self._unrolled > UNROLLED:
            raise Unsupported("more passes than a plan is to hold")
        for step in body.steps:
            self._run_step(step, env)
        self._turns = self._turns[:-1]
        self._step = around

    def _zeros(self, step: Step, slot: str, index: int, ins: dict[str, Any]) -> Value:
        """What a gradient operator leaves out because nothing flows there."""
        like = step.zeros_like(slot, index, ins)
        if like is None:
            raise Unsupported(f"{step.op.type} without its output {slot}")
        made: Value = self.fill_zeros_like(like)
        return made


class _Passes:
    """What runs the blocks of control operators in a trace.

    Args:
        trace: it.
    """

    def __init__(self, trace: Trace) -> None:
        self.f = trace

    def run(self, plan: BlockPlan, env: Any, turn: int | None = None) -> None:
        self.f.run_pass(plan, env, turn or 0)


def _is_known(value: Any, op: Op) -> bool:
    """Whether all that an operator takes of a value is known."""
    if value is None:
        return True
    if isinstance(value, list):
        for each in value:  # noqa: SIM110  (asked for every operator: a generator takes longer)
            if not _is_known(each, op):
                return False
        return True
    if op.reads_shapes:
        return value.size <= FOLDED_SIZE and value.kind is Kind.LOD_TENSOR
    return value.constant is not None and value.size <= FOLDED_SIZE


def _array_of(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return None if value is None else [_array_of(each) for each in value]
    if value.constant is not None:
        return value.constant
    return np.broadcast_to(np.zeros((), value.dtype), value.shape)
