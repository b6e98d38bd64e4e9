"""Gradients of operators of any order, from one rule each.

``derive_grad(T)`` makes the operator ``T_grad``: a composite whose inputs are the parameters of T's
rule and whose expansion calls the rule.  It has no rule of its own; its gradient, ``T_grad_grad``,
is found by running the expansion under a :class:`Tape` and pulling cotangents back through it, and
so on for every order.  Pulling back applies gradient operators through the tape's parent, so that a
tape over a tape records them.

This is reverse-mode automatic differentiation with one vector-Jacobian product an operator
(Griewank and Walther, Evaluating Derivatives, 2nd edition, SIAM 2008, chapter 3).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from operator import itemgetter
from typing import Any, ClassVar

from ..errors import NoGradientError
from ..ground.dtypes import Kind
from ..ground.values import bare
from .arithmetic import InterpretedValue
from .conjugation import OfComplex
from .definition import Op, derives_gradients, lookup
from .fluid_form import FluidForm
from .interpreter import ArrayBackend, Eval, Interpreter
from .reverse_sweep import CotangentSweep, NodeOutput
from .rule import RuleArgument, completed, gather, parameter_names, unique_slot
from .signature import Signature, Slot

#: what stands behind a variable's name in that of its gradient
GRAD = "@GRAD"


class DerivedGrad(Op, abstract=True):
    """The base of derived gradient operators."""

    reads: ClassVar[tuple[RuleArgument, ...]] = ()  #: where its inputs come from
    grad_slots: ClassVar[dict[str, str]] = {}  #: forward input slot -> output slot
    #: the same in the order of the output slots, in which fluid counts and sums gradients
    counting: ClassVar[tuple[tuple[str, str], ...]] = ()
    carried_slots: ClassVar[dict[str, str]] = {}  #: forward slot -> input slot that nothing reads
    counted_slots: ClassVar[dict[str, str]] = {}  #: forward slot -> output slot of what is counted
    #: input slots that hold hidden outputs of the forward operator
    byproducts: ClassVar[frozenset[str]] = frozenset()
    derived_from: ClassVar[type[Op]]

    def outputs_for(
        self, f: Any, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        # long programs have many of these: nothing is gathered twice
        parts = self.expand(f, **ins)
        return {slot: part() for slot, part in parts.items() if want is None or slot in want}

    def expand(self, f: Interpreter, **ins: Any) -> dict[str, Callable[[], Any]]:
        """The rule of the forward operator, or what follows from its composition."""
        forward = self.derived_from
        op = self.like(forward)
        arguments = {read.parameter: ins.get(read.slot) for read in self.reads}
        rule = op.grad(f, **arguments) if has_rule(forward) else differentiated(f, op, arguments)
        thunks = {self.grad_slots[slot]: thunk for slot, thunk in rule.items()}
        if self.counted_slots:
            counts = op.counts(f, **arguments)
            thunks |= {self.counted_slots[slot]: thunk for slot, thunk in counts.items()}
        return thunks

    def infer(self, *specs: Any) -> dict[str, Any]:
        """Each gradient is like the input that it is of."""
        pairs = list(zip(self.reads, specs, strict=True))
        by_slot = {read.of: spec for read, spec in pairs if read.source == "in"}
        if self.derived_from.has_sparse_gradients:
            for slot in self.like(self.derived_from).sparse_gradients():
                by_slot[slot] = by_slot[slot]._replace(kind=Kind.SELECTED_ROWS)
        if self.derived_from.by_element:  # the gradient is like what flows to the only output
            flowing = [spec for read, spec in pairs if read.source == "cotangent"]
            by_slot.setdefault(self.derived_from.inputs[0].name, flowing[0])
        return {name: by_slot.get(slot) for slot, name in self.grad_slots.items()}


def _run_grad_numpy(self: DerivedGrad, xp: Any, *values: Any) -> dict[str, Any]:
    """The forward operator's own kernel of its gradient."""
    forward = self.derived_from
    given = {read.parameter: value for read, value in zip(self.reads, values, strict=True)}
    found = forward.grad_numpy(self.like(forward), xp, **given)
    return {self.grad_slots[slot]: value for slot, value in found.items()}


def has_rule(definition: type[Op]) -> bool:
    """Whether the definition states a rule."""
    return callable(definition.grad)


def is_constant(definition: type[Op]) -> bool:
    """Whether no gradient flows through the operator, as its definition says."""
    return definition.grad is None


def is_differentiable(definition: type[Op]) -> bool:
    """Whether a gradient operator can be derived."""
    return has_rule(definition) or (
        definition.grad is NotImplemented and definition.expand is not None
    )


@derives_gradients
def derive_grad(forward: type[Op]) -> type[Op]:
    """Define the gradient operator of ``forward``.

    Raises:
        NoGradientError: there is no rule, and no composition to find one from.
    """
    if not is_differentiable(forward):
        constant = is_constant(forward)
        why = "no gradient flows through it" if constant else "nobody wrote a rule for it"
        raise NoGradientError(f"operator {forward.type!r} has no gradient operator: {why}")
    reads, form = forward.rule_arguments, forward.fluid
    taken = {read.slot for read in reads}
    grad_slots = {
        slot.name: unique_slot(slot.name + GRAD, taken)
        for slot in forward.inputs
        if not slot.constant
    }
    counted = {slot: unique_slot(slot + GRAD, taken) for slot in form.counted}
    carried = {slot: unique_slot(slot, taken) for slot in form.carried}
    own_kernel = {"run_numpy": _run_grad_numpy, "whole": forward.whole}
    body = {
        "__doc__": f"The gradient of ``{forward.type}``, derived from its rule.",
        "__module__": forward.__module__,
        "signature": Signature(
            (*_rule_inputs(forward), *_carried_inputs(forward, carried)),
            (*_gradients(forward, grad_slots), *_absent(counted, form.unmade)),
        ),
        "reads": reads,
        "takes": tuple(read.slot for read in reads),
        "grad_slots": grad_slots,
        "counting": tuple(sorted(grad_slots.items(), key=itemgetter(1))),
        "carried_slots": carried,
        "counted_slots": counted,
        "byproducts": frozenset(
            r.slot for r in reads if r.source == "out" and forward.output_slots[r.of].hidden
        ),
        "fluid": FluidForm(
            unread=tuple(carried.values()),
            idle=(*counted, *form.unmade),
            newer=_newer_slots(forward, grad_slots, carried),
        ),
        "derived_from": forward,
        "of_bfloat16": forward.of_bfloat16,
        "of_complex": None if forward.of_complex is None else OfComplex.AS_WRITTEN,
        "sees_outputs": forward.sees_outputs,
        "host": forward.host,
        **(own_kernel if forward.grad_numpy is not None else {}),
        "attributes": dict(forward.attributes),
        **{a.field: a.default for a in forward.attributes.values()},
    }
    return type(forward.grad_type, (DerivedGrad,), body)


def _rule_inputs(forward: type[Op]) -> Iterator[Slot]:
    """The slots of what the rule takes."""
    for read in forward.rule_arguments:
        slots = forward.input_slots if read.source == "in" else forward.output_slots
        slot, flows = slots[read.of], read.source == "cotangent"
        yield Slot(
            read.slot,
            optional=read.optional,
            many=slot.many,
            constant=not flows and slot.constant,
            ragged=forward.ragged_cotangents if flows else slot.ragged,
        )


def _newer_slots(
    forward: type[Op], grad_slots: Mapping[str, str], carried: Mapping[str, str]
) -> tuple[str, ...]:
    """The slots that fluid's gradient operator does not have, and that the rule may read."""
    form, slots = forward.fluid, {**forward.output_slots, **forward.input_slots}
    newer = {*form.newer, *form.only_here}
    inputs = [
        read.slot
        for read in forward.rule_arguments
        if read.source != "cotangent"
        and (read.of in newer or (read.optional and not slots[read.of].optional))
    ]
    inputs += [name for slot, name in carried.items() if not slots[slot].optional]
    return *inputs, *(grad_slots[slot] for slot in grad_slots if slot in newer)


def _carried_inputs(forward: type[Op], carried: Mapping[str, str]) -> Iterator[Slot]:
    """The slots that nothing reads."""
    slots = {**forward.output_slots, **forward.input_slots}
    for slot, name in carried.items():
        yield slots[slot]._replace(name=name, optional=True, hidden=False)


def _gradients(forward: type[Op], grad_slots: Mapping[str, str]) -> Iterator[Slot]:
    """The slots of the gradients of the inputs."""
    for slot, name in grad_slots.items():
        yield Slot(name, optional=True, many=forward.input_slots[slot].many)


def _absent(counted: Mapping[str, str], unmade: Iterable[str]) -> Iterator[Slot]:
    """The slots that only fluid's text has, or that are counted anew."""
    for name in (*(name for pair in counted.items() for name in pair), *unmade):
        yield Slot(name, optional=True)


def differentiated_as(kernel: Callable[..., Any]) -> Callable[..., dict[str, Callable[[], Any]]]:
    """The rule of a composite with a kernel for its first gradient, and with its parameters.

    Args:
        kernel: the operator's ``grad_numpy``.
    """
    names = parameter_names(kernel)

    @wraps(kernel)
    def grad(self: Op, f: Interpreter, *values: Any, **named: Any) -> dict[str, Any]:
        return differentiated(f, self, dict(zip(names, values)) | named)

    grad.kernel = kernel  # type: ignore[attr-defined]
    return grad


def kernel_of_rule(definition: type[Op]) -> Callable[..., dict[str, Any]] | None:
    """The kernel of the first gradient where it has the rule's parameters; None elsewhere."""
    kernel = definition.grad_numpy
    if kernel is None or not has_rule(definition):
        return None
    names = tuple([read.parameter for read in definition.rule_arguments])
    return kernel if parameter_names(kernel) == names else None


def replaces_rule(definition: type[Op]) -> bool:
    """Whether the rule is that of the composition, which recomputes what the kernel reads."""
    return getattr(definition.grad, "kernel", None) is not None


def differentiated(
    f: Interpreter, op: Op, given: Mapping[str, Any]
) -> dict[str, Callable[[], Any]]:
    """The rule of a composite: run it under a tape and pull the cotangents back.

    Args:
        f: the interpreter.
        op: the operator.
        given: values by the parameters of a rule: input slots, and cotangents after a ``d``.
    """
    tape = Tape(f)
    ins: dict[str, Any] = {}
    watched: dict[str, Any] = {}
    for slot in op.inputs:
        value = given.get(slot.name)
        if value is None or slot.constant:
            ins[slot.name] = value
        else:
            ins[slot.name] = watched[slot.name] = (
                [tape.watch(v) for v in value] if slot.many else tape.watch(value)
            )
    cotangents = {
        s.name: given["d" + s.name]
        for s in op.outputs
        if not s.constant and given.get("d" + s.name) is not None
    }
    done: dict[str, Any] = {}

    def pull() -> dict[str, Any]:
        if not done:
            outs = op.outputs_for(tape, ins, want=set(cotangents))
            seeds = []
            for name, cotangent in cotangents.items():
                pairs = (
                    zip(outs[name], cotangent, strict=True)
                    if op.output_slots[name].many
                    else [(outs[name], cotangent)]
                )
                seeds += [(out, c) for out, c in pairs if c is not None]
            sources = [
                b
                for boxes in watched.values()
                for b in (boxes if isinstance(boxes, list) else [boxes])
            ]
            pulled = iter(tape.pull(seeds, sources))
            for name, boxes in watched.items():
                done[name] = (
                    [next(pulled) for _ in boxes] if isinstance(boxes, list) else next(pulled)
                )
        return done

    return {name: partial(lambda name: pull()[name], name) for name in watched}


def pulled_through(op: Op, xp: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`differentiated` says, on arrays, for fast kernels of gradients that leave rare
    cotangents to the composition.

    Args:
        op: the operator.
        xp: NumPy, as kernels get it.
        given: as of :func:`differentiated`.
    """
    found = differentiated(Eval(ArrayBackend("numpy", xp)), op, given)
    return {slot: thunk() for slot, thunk in found.items()}


class TapeEntry:
    """An operator that a tape applied.  It is held by its outputs, and holds its inputs."""

    __slots__ = ("count", "ins", "op", "outs")

    def __init__(self, count: int, op: Op, ins: dict[str, Any], outs: dict[str, Any]) -> None:
        self.count: int = count
        self.op: Op = op
        self.ins: dict[str, Any] = ins
        self.outs: dict[str, Any] = outs

    def by_slot(self, cotangents: Mapping[tuple[str, int], Any]) -> dict[str, Any]:
        """Cotangents of the outputs by slot, None where nothing flowed; lists for list slots.

        Args:
            cotangents: by slot and number in it.
        """
        return {
            name: [cotangents.get((name, i)) for i in range(len(value))]
            if isinstance(value, list)
            else cotangents.get((name, 0))
            for name, value in self.outs.items()
        }


class Box(InterpretedValue):
    """A value that remembers how it was made."""

    __slots__ = ("origin", "tape", "value")

    def __init__(self, tape: Tape, value: Any, origin: NodeOutput | None = None) -> None:
        self.tape: Tape = tape
        self.value: Any = value
        self.origin: NodeOutput | None = origin

    @property
    def interpreter(self) -> Tape:
        """The tape."""
        return self.tape

    @property
    def edge(self) -> Box | NodeOutput:
        """Where a cotangent of the value goes."""
        return self if self.origin is None else self.origin

    @property
    def shape(self) -> Any:
        """The shape of the value."""
        return bare(self.value).shape

    @property
    def dtype(self) -> Any:
        """The element type of the value."""
        return bare(self.value).dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions of the value."""
        return len(bare(self.value).shape)

    @property
    def offsets(self) -> Any:
        """How the rows of the value form sequences."""
        return self.value.offsets


class Tape(Interpreter):
    """Applies operators through its parent and remembers them.

    Args:
        parent: the interpreter that does the work; may be a tape itself.
    """

    def __init__(self, parent: Interpreter) -> None:
        self.parent = parent
        self._counter = itertools.count()

    def watch(self, value: Any) -> Box:
        """A box around ``value`` to pull cotangents back to."""
        return Box(self, value)

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        tracked = any(self._mine(v) for v in _flatten(ins.values()))
        if not tracked:
            return self.parent.apply(op, ins, want)
        outs = self.parent.apply(op, {name: self._strip(v) for name, v in ins.items()}, want)
        if is_constant(type(op)):
            return outs
        node = TapeEntry(next(self._counter), op, dict(ins), outs)
        boxed: dict[str, Any] = {}
        for name, value in outs.items():
            if value is None or op.output_slots[name].constant:
                boxed[name] = value
            elif isinstance(value, list):
                boxed[name] = [
                    None if v is None else Box(self, v, NodeOutput(node, (name, i)))
                    for i, v in enumerate(value)
                ]
            else:
                boxed[name] = Box(self, value, NodeOutput(node, (name, 0)))
        return boxed

    def pull(self, seeds: Iterable[tuple[Any, Any]], sources: list[Box]) -> list[Any]:
        """The cotangents of ``sources``, None where nothing flows.

        Args:
            seeds: pairs of a box and its cotangent.
            sources: boxes to pull back to.
        """
        sweep = _TapeSweep(
            self.parent, frozenset(b.origin for b in sources if b.origin is not None)
        )
        for box, cotangent in seeds:
            if self._mine(box):
                sweep.deliver(box.edge, cotangent)
        for node, cotangents in sweep:
            sweep.note(node, cotangents)
            for box, cotangent in self._pull_node(node, node.by_slot(cotangents)):
                sweep.deliver(box.edge, cotangent)
        return [
            sweep.leaves.get(box) if box.origin is None else sweep.found.get(box.origin)
            for box in sources
        ]

    def _pull_node(self, node: TapeEntry, cotangents: dict[str, Any]) -> list[tuple[Box, Any]]:
        """Pairs of an input's box and what flows to it."""
        gradient: Any = lookup(node.op.grad_type)
        values = gather(
            gradient.reads,
            lambda slot: self._strip(node.ins.get(slot)),
            node.outs.get,
            lambda slot, optional: completed(
                cotangents.get(slot), node.outs.get(slot), optional, self.parent.fill_zeros_like
            ),
        )
        ins = {read.slot: value for read, value in zip(gradient.reads, values)}
        want = {
            name
            for slot, name in gradient.grad_slots.items()
            if any(self._mine(v) for v in _flatten([node.ins.get(slot)]))
        }
        outs = self.parent.apply(gradient(node.op.attr_values()), ins, want)
        pairs = []
        for slot, name in gradient.grad_slots.items():
            if name in want and outs.get(name) is not None:
                inputs, grads = _flatten([node.ins[slot]]), _flatten([outs[name]])
                pairs += [
                    (b, g)
                    for b, g in zip(inputs, grads, strict=True)
                    if g is not None and self._mine(b)
                ]
        return pairs

    def _mine(self, value: Any) -> bool:
        return type(value) is Box and value.tape is self

    def _strip(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._strip(v) for v in value]
        return value.value if type(value) is Box and value.tape is self else value


class _TapeSweep(CotangentSweep):
    """A sweep through the entries of a tape."""

    nodes = TapeEntry

    def __init__(self, f: Interpreter, wanted: frozenset[NodeOutput]) -> None:
        super().__init__(wanted)
        self._f = f

    def sum(self, a: Any, b: Any) -> Any:
        """The sum of two cotangents."""
        return self._f.sum([a, b])


def _flatten(values: Iterable[Any]) -> list[Any]:
    flat = []
    for value in values:
        if isinstance(value, list):
            flat += value
        else:
            flat.append(value)
    return flat
