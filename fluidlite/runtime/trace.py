"""From steps on names to a list of primitive kernels on numbered values, for given shapes.

Nothing is computed here but what depends on constants alone.  Operators that are compositions, the
derived gradient operators among them, are expanded until only kernels remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import Kind, as_dtype
from ..ir.analysis import writes_of
from ..ir.operator import EMPTY
from ..opdef.arithmetic import WITH_NUMBER, Arithmetic
from ..opdef.definition import Op
from ..opdef.interpreter import Eval, Interpreter, kernel_of
from ..opdef.prepared import Prepared, preparation_of
from ..opdef.spec import Shape, Spec, size_of
from .driver import Driver
from .plan import BlockPlan, Step

FOLDED_SIZE = 1 << 16  #: constants of more elements than this are computed in every run
UNROLLED = 5000  #: operators that the passes through blocks may run in all


class Unsupported(Exception):
    """The steps cannot be specialised; they are interpreted."""


class Value(Arithmetic):
    """A value that a kernel will compute, that comes from outside, or that is known already."""

    __slots__ = ("constant", "dtype", "kind", "number", "shape", "trace")
    __array_ufunc__ = None  # so that array + value asks the value

    def __init__(self, trace: Trace, spec: Spec, constant: Any = None) -> None:
        self.trace = trace
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
        return size_of(self.shape)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return self.size * self.dtype.itemsize

    @property
    def spec(self) -> Spec:
        """Shape and element type."""
        return Spec(self.shape, as_dtype(self.dtype), self.kind)

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
        "function",
        "ins",
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
        prepared: Prepared | None = None,
        reads: tuple[str, ...] = (),
    ) -> None:
        self.op = op
        self.ins = ins
        self.outs = outs
        self.step = step
        self.function, self.reads, self.takes_rng = kernel_of(op, "numpy")
        if self.function is None:  # a composition as a whole
            self.reads = reads
        else:
            prepared = op.prepared([_spec_of(value) for value in self.arguments])
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
    def arguments(self) -> list[Any]:
        """What the kernel's function takes: values, lists of them, and None."""
        return [self.ins.get(slot) for slot in self.reads]

    @property
    def inputs(self) -> list[Value]:
        """The values read."""
        return flat(self.arguments)

    @property
    def outputs(self) -> list[Value]:
        """The values made."""
        return flat(self.outs.values())

    @property
    def output(self) -> Value | None:
        """The value made, where there is just one output slot with one value."""
        if len(self.op.outputs) != 1:
            return None
        found = self.outs.get(self.op.outputs[0].name)
        return found if isinstance(found, Value) else None


def held_by(value: Any, held: Mapping[int, Any]) -> Any:
    """The array, or the list of arrays, that a value stands for."""
    if value is None or isinstance(value, list):
        return None if value is None else [held_by(each, held) for each in value]
    return held[value.number] if value.constant is None else value.constant


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

    def known(self, array: Any) -> Value:
        """A value that is known already."""
        return Value(self, Spec(array.shape, as_dtype(array.dtype)), array)

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        function, reads, takes_rng = kernel_of(op, "numpy")
        if function is None and op.is_composite:
            whole = self._as_one(op, ins, want)
            return op.outputs_for(self, ins, want) if whole is None else whole
        if function is None or any(slot.ragged for slot in op.inputs) or op.updates:
            raise Unsupported(op.type)
        ins = {slot: self._whole(value, slot in op.rows) for slot, value in ins.items()}
        given = [ins.get(slot) for slot in reads]
        if not takes_rng and op.folds and all(_is_known(v, op) for v in given):
            return self._folded(op, ins)
        specs = {slot: _spec_of(value) for slot, value in ins.items()}
        outs: dict[str, Any] = {}
        for slot, spec in op.infer_outputs(specs).items():
            if spec is None or (
                want is not None and slot not in want and op.output_slots[slot].optional
            ):
                continue
            outs[slot] = (
                [self.value(each) for each in spec] if isinstance(spec, list) else self.value(spec)
            )
        assert self._step is not None
        self.kernels.append(Kernel(op, dict(ins), outs, self._step))
        return outs

    def _as_one(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of a composition that a prepared kernel computes as a whole; None where there
        is none.
        """
        if preparation_of(op.type) is None or any(slot.many for slot in op.outputs):
            return None
        ins = {name: self._whole(value, False) for name, value in ins.items()}
        reads = op.run_reads["expand"]
        specs = [_spec_of(ins.get(name)) for name in reads]
        prepared = op.prepared(specs)
        if prepared is None or (want is not None and not set(want) & set(op.output_slots)):
            return None
        found = op.infer_outputs({n: _spec_of(v) for n, v in ins.items()})
        outs = {}
        for slot in op.outputs:
            spec = found.get(slot.name)
            if spec is None and prepared.like is not None:
                spec = specs[prepared.like]
            if not isinstance(spec, Spec):
                return None
            outs[slot.name] = self.value(spec)
        assert self._step is not None
        self.kernels.append(Kernel(op, ins, outs, self._step, prepared, reads))
        return outs

    def value(self, spec: Spec) -> Value:
        """A new value.

        Raises:
            Unsupported: its shape depends on values.
        """
        if -1 in spec.shape or spec.kind not in (Kind.LOD_TENSOR, Kind.SELECTED_ROWS):
            raise Unsupported("a shape that depends on values")
        return Value(self, spec)

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
        for slot, names, many in step.inputs:
            values = [None if n == EMPTY else _written(n, env) for n in names]
            ins[slot] = values if many else values[0]
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


def _written(name: str, env: Mapping[str, Value]) -> Value:
    """The value of a name."""
    try:
        return env[name]
    except KeyError:
        raise Unsupported(f"{name!r} may not be written") from None


def _is_known(value: Any, op: Op) -> bool:
    """Whether all that an operator takes of a value is known."""
    if value is None:
        return True
    if isinstance(value, list):
        return all(_is_known(each, op) for each in value)
    if op.reads_shapes:
        return value.size <= FOLDED_SIZE and value.kind is Kind.LOD_TENSOR
    return value.constant is not None and value.size <= FOLDED_SIZE


def _array_of(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return None if value is None else [_array_of(each) for each in value]
    if value.constant is not None:
        return value.constant
    return np.broadcast_to(np.zeros((), value.dtype), value.shape)


def _spec_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec_of(each) for each in value]
    return None if value is None else value.spec
