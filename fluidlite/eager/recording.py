"""Operators on eager tensors: run at once, and remembered where gradients may flow.

What is remembered is a node for each operator.  It is held by its outputs, and holds where its
inputs came from (its edges) and the values that the gradient rule reads; what nobody can
differentiate any more is thus freed at once.  An edge leads to the node of an operator with one
output, to a :class:`NodeOutput` of one with several, or to a leaf: the tensor itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from ..backend import numpy_
from ..errors import ArgumentError, FluidError, OpError, OutOfRangeError, with_context
from ..ground import state
from ..ground.allocator import keep_freed_pieces
from ..ground.values import LoDTensorArray, SelectedRows
from ..opdef.definition import Op, lookup
from ..opdef.gradient import has_rule
from ..opdef.interpreter import Interpreter
from ..opdef.operand import Operand, appends
from ..opdef.reverse_sweep import NodeOutput
from .mode import thread
from .nodes import GradNode
from .prepared import (
    BoundOperator,
    PreparedCall,
    array_of,
    forgets_redefined,
    kernels,
    shaped_kernel,
)
from .pullback import Pullback
from .source import call_site, caller
from .specialization import Specialization
from .straight_line import ShapeDtype, settled, shape_dtype_of, spec_of

MOST_PLANS = 512  #: of a variant of an operator that are kept, one for each combination of shapes
_ndarray = np.ndarray
_asarray = numpy_.asarray


class TensorRecord(Operand):
    """What the engine knows of an eager tensor.

    Args:
        array: the value, never written to: tensors that share it rely on that.
        origin: where it came from: a node, an output of one, or None for leaves and constants.
        stop: whether no gradient flows through it.
    """

    __slots__ = ("__weakref__", "array", "origin", "stop", "version")

    #: the class of what operators make of such tensors
    results: ClassVar[type[TensorRecord]]
    #: whether derivatives that are zero almost everywhere are zeros that one can go on with
    flat_zeros: ClassVar[bool] = False
    #: whether a sweep lets go of operators whose rules need no values, too
    frees_all: ClassVar[bool] = False
    #: methods of variables of programs where those of such tensors do not serve
    of_variables: ClassVar[dict[str, Any]] = {}
    #: whether variables in their place are iterated over, by rows
    iterates: ClassVar[bool] = False
    #: whether bytes that index a tensor are truth values
    byte_masks: ClassVar[bool] = False

    def __init_subclass__(cls, results: bool = True, **more: Any) -> None:
        super().__init_subclass__(**more)
        if results:
            cls.results = cls

    def __init__(self, array: Any, origin: Any = None, stop: bool = True) -> None:
        self.array: Any = array
        self.origin: Any = origin
        self.stop: bool = stop
        self.version: int = 0  #: counts writes in place

    @property
    def edge(self) -> Any:
        """Where a cotangent of this tensor goes; None where it stops."""
        return None if self.stop else self if self.origin is None else self.origin


#: what is given the type of an operator and its kernel, and gives a kernel that measures it
Measuring = Callable[[str, Any], Any]
Names = Collection[str] | None  #: of slots
#: who listens to operators: while there is somebody, none are run together
listened: list[Any] = []
_measuring: state.StateSlot[Measuring | None] = state.slot("eager calls measured", lambda: None)


def observed() -> bool:
    """Whether each operator is to be seen by itself."""
    return bool(listened) or _measuring.get() is not None


class EagerCall(PreparedCall):
    """An operator type on eager tensors.

    Bare arrays among the inputs are constants.  Where all are, so are the outputs.

    Args:
        definition: the type.
        parts: runs the parts of compositions that need not be remembered.
        checks: whether inputs are checked when their shapes are seen for the first time.
    """

    __slots__ = ("_checks", "_lists", "_shown", "_single", "_sole", "_unruled", "_varies")

    def __init__(self, definition: type[Op], parts: Interpreter, checks: bool) -> None:
        super().__init__(definition, parts)
        self._checks = checks
        self._lists = [i for i, slot in enumerate(definition.inputs) if slot.many]
        self._single = len(definition.outputs) == 1 and not definition.outputs[0].many
        self._shown = [slot.name for slot in definition.outputs if not slot.hidden]
        #: its gradient is that of the parts
        self._unruled = definition.expand is not None and not has_rule(definition)
        is_whole = not self._unruled and definition.composition is None
        #: whether shapes of outputs depend on values, so that plans are known by these, too
        self._varies = definition.host and not self._single
        self._sole = self._single and self.size == 1 and not self._lists and is_whole

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The visible outputs: one, or a tuple of them."""
        if self._sole and not named and len(inputs) == 1:
            return self.sole(inputs[0])
        prepared, ins = self.found(inputs, named)
        if self._single and not (self._lists and any(ins[i] for i in self._lists)):
            return self.one(prepared, ins)
        outs = self.every(prepared, ins, None, self._shown)
        shown = [outs.get(name) for name in self._shown]
        return shown[0] if len(shown) == 1 else tuple(shown)

    def all(self, *inputs: Any, **named: Any) -> dict[str, Any]:
        """All outputs by slot."""
        prepared, ins = self.found(inputs, named)
        return self.every(prepared, ins)

    def asked(self, want: Names, *inputs: Any, shown: Names = None, **named: Any) -> dict[str, Any]:
        """All outputs by slot; in a program, those that may be absent only as far as wanted.

        Args:
            want: slots of such outputs; all when None.
            inputs, named: as of a call.
            shown: slots of outputs that are tensors, others may be bare arrays; all when None.
        """
        prepared, ins = self.found(inputs, named)
        return self.every(prepared, ins, want, shown)

    def sole(self, x: Any) -> Any:
        """The output for the only input, without attributes: what ``one`` does, spelled out.

        ``benchmarks/eager_forms.py`` measures what this form, ``pair`` and ``one`` save.
        """
        prepared = self.plain
        if not isinstance(x, TensorRecord):
            return self.one(prepared, (x,))
        a = x.array
        plan = prepared.plans.get((a.shape, a.dtype))
        if plan is None:
            return self.one(prepared, (x,))
        try:
            out = thread.run(plan.kernel, a)
        except Exception as error:
            out = self._again(error, prepared, (a,))
        if type(out) is not _ndarray:
            out = _asarray(out)
        if x.stop or not thread.recording or not plan.flows:
            return x.results(out)
        pullback = plan.pullbacks.get(1) or plan.pullback(1)
        edges = (x if x.origin is None else x.origin,)
        return self._remembered(pullback, (x,), edges, out, x)

    def pair(self, x: Any, y: Any) -> Any:
        """The output for two inputs, at least one of them a tensor, without attributes.

        What ``one`` does, spelled out for Python's arithmetic.
        """
        prepared = self.plain
        edge = other = None
        first = x
        if isinstance(x, TensorRecord):
            a = x.array
            if not x.stop:
                edge = x if x.origin is None else x.origin
        else:
            a, first = x, y
        if isinstance(y, TensorRecord):
            b = y.array
            if not y.stop:
                other = y if y.origin is None else y.origin
        else:
            b = y
        plan = prepared.plans.get((a.shape, a.dtype, b.shape, b.dtype))
        if plan is None:
            return self.one(prepared, (x, y))
        try:
            out = thread.run(plan.kernel, a, b)
        except Exception as error:
            out = self._again(error, prepared, (a, b))
        if type(out) is not _ndarray:
            out = _asarray(out)
        if (edge is None and other is None) or not thread.recording or not plan.flows:
            return first.results(out)
        mask = (edge is not None) | (other is not None) << 1
        pullback = plan.pullbacks.get(mask) or plan.pullback(mask)
        return self._remembered(pullback, (x, y), (edge, other), out, first)

    def one(self, prepared: BoundOperator, ins: Sequence[Any]) -> Any:
        """The output of an operator that has one, no list among its inputs."""
        arrays: list[Any] = []
        key: list[Any] = []
        edges: list[Any] = []
        first: Any = None
        mask, bit = 0, 1
        for t in ins:
            edge = None
            if isinstance(t, Operand):
                a = t.array
                if first is None:
                    first = t
                if not t.stop:
                    edge = t if t.origin is None else t.origin
                    mask |= bit
            else:
                a = t
            bit <<= 1
            arrays.append(a)
            edges.append(edge)
            if a is None:
                key.append(None)
            else:
                try:
                    key += (a.shape, a.dtype)
                except AttributeError:
                    raise self._no_tensor(a) from None
        plan = prepared.plans.get(tuple(key))  # there is none for those of variables
        if plan is None and (append := appends(ins)) is not None:
            return append(prepared.op, dict(zip(self.slots, ins)))[self.definition.outputs[0].name]
        if plan is None:
            self._check(prepared, arrays, tuple(key))
        if self._unruled and mask and thread.recording:
            outs = prepared.op.outputs_for(rules, dict(zip(self.slots, ins)))
            return outs[self.definition.outputs[0].name]
        if plan is not None and plan.takes_composition and mask and thread.recording:
            with suppress(FluidError):  # else the kernel says what is wrong
                return prepared.op.composition(rules, *ins)
        try:
            out = thread.run(self._measured(prepared.one) if plan is None else plan.kernel, *arrays)
        except Exception as error:
            out = self._again(error, prepared, arrays)
        if type(out) is not _ndarray:
            out = array_of(out)
        if plan is None:
            plan = self._plan(prepared, key, arrays, {self.definition.outputs[0].name: out})
        if first is None:
            return out
        if not mask or not thread.recording or not plan.flows:
            return first.results(out)
        pullback = plan.pullbacks.get(mask) or plan.pullback(mask)
        return self._remembered(pullback, ins, tuple(edges), out, first)

    def _remembered(
        self, pullback: Pullback, ins: Sequence[Any], edges: Any, out: Any, first: TensorRecord
    ) -> Any:
        """The tensor of an operator's only output, with a node behind it."""
        versions: Any = None
        saved: Any = pullback.forms
        if saved is None:
            saved = []
            for place, form in pullback.keeps:
                if form is None:
                    t = ins[place]
                    saved.append(t)
                    if isinstance(t, TensorRecord) and t.version:
                        versions = True
                else:
                    saved.append(form)
            if versions:
                versions = _versions(saved)
        code, at = caller()
        node = GradNode(
            pullback, edges, saved, versions, out if pullback.keeps_out else None, code, at
        )
        if thread.packing is not None:
            thread.packing(node, first.results)
        return first.results(out, node, False)

    def every(
        self, prepared: BoundOperator, ins: Sequence[Any], want: Names = None, shown: Names = None
    ) -> dict[str, Any]:
        """All outputs by slot; see :meth:`asked`."""
        if not (self._lists or prepared.has_one) and not observed():
            known = self._known(prepared, ins, shown)
            if known is not None:
                return known
        arrays = [_stripped(value) for value in ins]
        handles = [t for t in _flat(ins) if isinstance(t, Operand)]
        tracked = thread.recording and any(not t.stop for t in handles)
        if (append := appends(handles)) is not None:
            asked = () if want is None else (want,)
            return append(prepared.op, dict(zip(self.slots, ins)), *asked)
        key = [_key(value) for value in arrays]
        for a in _flat(arrays):
            if a is not None and not isinstance(a, _VALUES):
                raise self._no_tensor(a)
        plan = prepared.plans.get(tuple(key))
        if plan is None:
            self._check(prepared, arrays, tuple(key))
        if self._unruled and tracked:
            return prepared.op.outputs_for(rules, dict(zip(self.slots, ins)))
        try:
            kernel = self._measured(self._first(prepared, arrays))
            outs: dict[str, Any] = thread.run(kernel, *arrays)
        except Exception as error:
            again = self._again(error, prepared, arrays)
            outs = {self.definition.outputs[0].name: again} if self._single else again
        if plan is None:
            if self._varies:
                key += map(_key, outs.values())
                plan = prepared.plans.get(tuple(key))
            plan = plan or self._plan(prepared, key, arrays, outs)
        if not handles:
            return outs
        cls = handles[0].results
        if not tracked or not plan.flows:
            return {slot: _wrapped(cls, value) for slot, value in outs.items()}
        edges = tuple([_edges(value) for value in ins])
        mask = sum([1 << i for i, edge in enumerate(edges) if _any_edge(edge)])
        pullback = plan.pullback(mask)
        saved = [ins[place] if form is None else form for place, form in pullback.keeps]
        versions = _versions(saved)
        kept: Any = {slot: outs[slot] for slot in pullback.keeps_out}
        if pullback.single:
            kept = kept.get(prepared.op.outputs[0].name)
        node = GradNode(pullback, edges, saved, versions, kept, *caller(3))
        if thread.packing is not None:
            thread.packing(node, cls)
        if pullback.single:
            (slot,) = outs
            return {slot: cls(outs[slot], node, False)}
        outputs = {
            slot: list(value) if isinstance(value, list) else value for slot, value in outs.items()
        }
        for index, (slot, k) in enumerate(plan.places):
            if k is None:
                outputs[slot] = cls(outputs[slot], NodeOutput(node, index), False)
            else:
                outputs[slot][k] = cls(outputs[slot][k], NodeOutput(node, index), False)
        return {slot: _wrapped(cls, value) for slot, value in outputs.items()}

    def _first(self, prepared: BoundOperator, arrays: Sequence[Any]) -> Callable[..., Any]:
        """What gives all outputs by slot: bit by bit what those to come will be."""
        if self._lists or prepared.has_one:
            return prepared.every
        kernel = prepared.for_shapes(arrays)
        if kernel is prepared.one:
            return prepared.every
        names = [slot.name for slot in prepared.op.outputs]
        return lambda *ins: dict(zip(names, settled(prepared.op, kernel(*ins))))

    def _known(
        self, prepared: BoundOperator, ins: Sequence[Any], shown: Names
    ) -> dict[str, Any] | None:
        """The same for inputs of forms that were seen before; None for others."""
        arrays: list[Any] = []
        key: list[Any] = []
        edges: list[Any] = []
        first, is_versioned = None, False
        mask, bit = 0, 1
        for t in ins:
            edge, a = None, t
            if isinstance(t, TensorRecord):
                a = t.array
                if first is None:
                    first = t
                if not t.stop:
                    edge = t if t.origin is None else t.origin
                    mask |= bit
                if t.version:
                    is_versioned = True
            elif isinstance(t, Operand):
                return None
            bit <<= 1
            arrays.append(a)
            edges.append(edge)
            key.append((a.shape, a.dtype) if type(a) is _ndarray else _key(a))
        plan = prepared.plans.get(tuple(key))
        if plan is None or plan.places_of is None or first is None:
            return None
        flowing = thread.recording and mask and plan.flows
        if flowing and self._unruled:
            return None
        try:
            values = settled(prepared.op, thread.run(plan.kernel, *arrays))
        except Exception:  # the other way says what is wrong
            return None
        cls, outs = first.results, dict(zip(plan.places_of, values))
        tensors = [slot for slot in shown or outs if outs[slot] is not None]
        if not flowing:
            for slot in tensors:
                outs[slot] = cls(outs[slot])
            return outs
        pullback = plan.pullbacks.get(mask) or plan.pullback(mask)
        saved = [ins[place] if form is None else form for place, form in pullback.keeps]
        kept = {slot: outs[slot] for slot in pullback.keeps_out}
        versions = _versions(saved) if is_versioned else None
        node = GradNode(pullback, tuple(edges), saved, versions, kept, *caller(3))
        if thread.packing is not None:
            thread.packing(node, cls)
        for slot in tensors:
            index = plan.places_of[slot]
            origin = None if index is None else NodeOutput(node, index)
            outs[slot] = cls(outs[slot], origin, index is None)
        return outs

    def _measured(self, kernel: Any) -> Any:
        """The kernel, or while calls are measured what measures it."""
        measuring = _measuring.get()
        return kernel if measuring is None else measuring(self.definition.type, kernel)

    def _forget_plans(self) -> None:
        """Look at the next calls as if they were the first of their shapes."""
        for prepared in (self._made, *self.variants.values()):
            if prepared is not None:
                prepared.plans.clear()

    def _check(self, prepared: BoundOperator, arrays: Sequence[Any], key: object = None) -> None:
        """Refuse inputs that do not fit; those of a form that did are not looked at again."""
        if not self._checks or key in prepared.fitting:
            return
        specs = {slot: _spec(value) for slot, value in zip(self.slots, arrays)}
        try:
            prepared.op.infer_outputs(specs)
        except FluidError as error:
            site = call_site()
            raise with_context(error, f"  in {self.definition.type}, called at {site}") from None
        if key is not None and len(prepared.fitting) < MOST_PLANS:
            prepared.fitting.add(key)

    def _plan(
        self,
        prepared: BoundOperator,
        key: list[Any],
        arrays: Sequence[Any],
        outs: Mapping[str, Any],
    ) -> Specialization:
        keep_freed_pieces()
        kernel = None
        if prepared.has_one or not self._lists:
            kernel = shaped_kernel(prepared.op, arrays)
        forms = [shape_dtype_of(a) for a in arrays]
        kernel = self._measured(kernel or prepared.one)
        plan = Specialization(prepared.op, forms, outs, kernel)
        if not prepared.has_one and not self._lists:
            plan.number_outputs()
        if len(prepared.plans) >= MOST_PLANS:
            prepared.plans.clear()
        prepared.plans[tuple(key)] = plan
        return plan

    def _again(self, error: Exception, prepared: BoundOperator, arrays: Sequence[Any]) -> Any:
        """What the operator gives on whole tensors in place of rows, or the error."""
        whole = self.whole(arrays)
        if whole is not arrays:
            try:
                outs: Any = prepared.one(*whole) if self._single else prepared.every(*whole)
                return outs
            except Exception as another:
                error = another
        self._check(prepared, arrays)
        where = f"  in {self.definition.type}, called at {call_site()}"
        if isinstance(error, FluidError):
            raise with_context(error, where) from error.__cause__
        if isinstance(error, IndexError):
            raise OutOfRangeError(f"{error}\n{where}") from error
        if isinstance(error, (TypeError, ValueError, ArithmeticError, MemoryError)):
            inputs = ", ".join(f"{s} {_described(a)}" for s, a in zip(self.slots, arrays))
            raise OpError(f"{error}\n{where}, with {inputs}") from error
        raise error

    def _no_tensor(self, value: Any) -> ArgumentError:
        return ArgumentError(
            f"{self.definition.type} takes tensors, got {value!r:.60} of type "
            f"{type(value).__name__}; make it one first: fluidlite.to_tensor(...)\n"
            f"  in {self.definition.type}, called at {call_site()}"
        )


_VALUES = (np.ndarray, np.generic, SelectedRows, LoDTensorArray)


def _flat(values: Iterable[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            flat += value
        else:
            flat.append(value)
    return flat


def _stripped(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [t.array if isinstance(t, Operand) else t for t in value]
    return value.array if isinstance(value, Operand) else value


def _key(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([(getattr(a, "shape", None), getattr(a, "dtype", None)) for a in value])
    return None if value is None else (getattr(value, "shape", None), getattr(value, "dtype", None))


def _spec(value: Any) -> Any:
    return spec_of(shape_dtype_of(value))


def _described(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_described, value)) + "]"
    return "None" if value is None else f"{value.dtype}{list(value.shape)}"


def _edges(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple([t.edge if isinstance(t, TensorRecord) else None for t in value])
    return value.edge if isinstance(value, TensorRecord) else None


def _any_edge(edge: Any) -> bool:
    return any(e is not None for e in edge) if type(edge) is tuple else edge is not None


def _wrapped(cls: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_wrapped(cls, v) for v in value]
    return value if value is None or isinstance(value, TensorRecord) else cls(value)


def _versions(saved: Sequence[Any]) -> Any:
    """The versions of kept tensors, None where all are 0."""
    versions = [
        [getattr(t, "version", 0) for t in value]
        if isinstance(value, (list, tuple)) and not isinstance(value, ShapeDtype)
        else getattr(value, "version", 0)
        for value in saved
    ]
    return versions if any(v if isinstance(v, int) else any(v) for v in versions) else None


class Eager(Interpreter):
    """Runs operators on eager tensors, and remembers them.

    Args:
        checks: whether inputs are checked when their shapes are seen for the first time.
    """

    def __init__(self, checks: bool) -> None:
        self.checks = checks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        call = self.__dict__[name] = EagerCall(lookup(name), kernels, self.checks)
        return call

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        call: EagerCall = getattr(self, op.type)
        return call.every(call.of(op), [ins.get(slot) for slot in call.slots])


eager: Eager = Eager(checks=True)


def measure(measuring: Measuring | None) -> None:
    """Have the kernels of eager calls measured from here on.

    Args:
        measuring: is given the type of an operator and its kernel; None for no more.
    """
    _measuring.switch(measuring)
    for call in list(vars(eager).values()):
        if isinstance(call, EagerCall):
            call._forget_plans()


rules: Eager = Eager(checks=False)  #: for gradient rules, which may go beyond what users may
forgets_redefined(eager)
forgets_redefined(rules)
