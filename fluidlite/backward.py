"""Gradients of programs: one sweep over the operators in reverse.

The sweep collects, for every variable, the contributions to its gradient as place-holders without
names.  When it reaches the operator that writes the variable their number is known: one becomes
``v@GRAD``, several become ``v@GRAD@RENAME@block<b>@<k>`` and a ``sum``.  Nothing is renamed
afterwards.  Operators are appended when the sweep is done, so that an error leaves the program as
it was.

This is reverse accumulation on straight-line programs (Griewank and Walther, Evaluating
Derivatives, 2nd edition, SIAM 2008, chapter 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .dtypes import DType
from .errors import ArgumentError, NoGradientError, ShapeError
from .ir.analysis import Versions
from .ir.block import Block
from .ir.builder import op_width
from .ir.callsite import CallSite, caller
from .ir.operator import EMPTY, Operator, OpRole
from .ir.variable import Variable
from .opdef.definition import Op, lookup
from .opdef.gradient import is_constant, is_differentiable
from .opdef.interpreter import Interpreter
from .opdef.spec import Shape, size_of

GRAD = "@GRAD"
Key = tuple[str, int]  # a name, and which of its values: how often it had been written


class Ref:
    """A value that an operator to come will compute; it gets its name when all are known."""

    __slots__ = ("dtype", "like", "name", "shape")

    def __init__(self, like: Variable, name: str = "") -> None:
        self.like = like
        self.shape: Shape = like.shape
        self.dtype: DType = like.dtype
        self.name = name


class Record(NamedTuple):
    """An operator to come."""

    op: Op
    ins: dict[str, list[Any]]  #: names or Refs by slot
    outs: dict[str, list[Ref | None]]  #: None where nobody wants the output
    site: CallSite | None
    derived: bool = False  #: whether it is a derived gradient operator


class Group(NamedTuple):
    """The contributions to one gradient, and the Ref of their sum where there are several."""

    key: Key
    parts: list[Ref]
    total: Ref | None


class Recorder(Interpreter):
    """The interpreter for rules that are written into the program: notes what they compose."""

    def __init__(self, like: Variable, site: CallSite | None) -> None:
        self.records: list[Record] = []
        self._like = like
        self._site = site

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        outs: dict[str, list[Ref | None]] = {}
        for slot in op.outputs:
            if not slot.optional:
                outs[slot.name] = [
                    Ref(self._like) for _ in range(op_width(op, ins) if slot.many else 1)
                ]
        taken = {
            slot: [_operand(v) for v in _listed(value)]
            for slot, value in ins.items()
            if value is not None
        }
        self.records.append(Record(op, taken, outs, self._site))
        return {
            slot: refs if op.output_slots[slot].many else refs[0] for slot, refs in outs.items()
        }


class Sweep:
    """One walk over operators in reverse.

    Args:
        block: whose operators are walked.
        no_grad: names at which gradients stop.
    """

    def __init__(self, block: Block, no_grad: set[str]) -> None:
        self.block = block
        self.no_grad = no_grad
        self.versions = Versions(block)
        self.records: list[Record] = []
        self.groups: list[Group] = []
        self.contributions: dict[Key, list[Ref]] = {}
        self.settled: dict[Key, Ref] = {}
        #: values that are overwritten later and that a gradient operator reads -> the name of their
        #: copy
        self.saved: dict[Key, str] = {}

    def contribute(self, key: Key, ref: Ref) -> None:
        """Note a part of a value's gradient."""
        self.contributions.setdefault(key, []).append(ref)

    def run(self, path: Sequence[tuple[int, Operator]]) -> None:
        """Walk the operators (with their positions in the block) from the last to the first.

        Raises:
            NoGradientError: something flows to an operator that nobody wrote a rule for.
        """
        for position, op in reversed(path):
            self._visit(position, op)
        for key in list(self.contributions):
            self._settle(key)

    def _visit(self, position: int, op: Operator) -> None:
        after = {n: self.versions.before(n, position + 1) for n in op.output_arg_names}
        flows = [self._settle((n, v)) for n, v in after.items() if (n, v) in self.contributions]
        if not flows:
            return
        definition = op.definition
        if definition is None:
            raise NoGradientError(
                f"operator {op.type!r} is not defined, so it has no gradient\n  {op}{_made(op)}"
            )
        wanted = self._wanted_inputs(op, definition)
        if is_constant(definition) or not wanted:
            return
        if not is_differentiable(definition):
            raise NoGradientError(
                f"operator {op.type!r} has no gradient rule, and a gradient flows to it; stop the "
                f"gradient before it "
                f"(stop_gradient or no_grad_set), or write a rule\n  {op}{_made(op)}"
            )
        step = self._written_rule if definition.direct else self._gradient_operator
        step(position, op, wanted, after)

    def _wanted_inputs(
        self, op: Operator, definition: type[Op]
    ) -> dict[str, list[Variable | None]]:
        """By slot the inputs that need a gradient; None at positions that do not."""
        wanted = {}
        for slot, names in op.inputs.items():
            if not definition.input_slots[slot].constant:
                variables = [self._active(n) for n in names]
                if any(v is not None for v in variables):
                    wanted[slot] = variables
        return wanted

    def _active(self, name: str) -> Variable | None:
        if name == EMPTY or name in self.no_grad:
            return None
        variable = self.block.find_var_recursive(name)
        return variable if variable is not None and variable.dtype.is_float else None

    def _settle(self, key: Key) -> Ref:
        """The gradient of a value, once all contributions to it are there."""
        parts = self.contributions.pop(key)
        total = None
        if len(parts) > 1:
            total = Ref(self.block.var_recursive(key[0]))
            self.records.append(Record(lookup("sum")(), {"X": list(parts)}, {"Out": [total]}, None))
        self.groups.append(Group(key, parts, total))
        self.settled[key] = total or parts[0]
        return self.settled[key]

    def _cotangents(
        self, op: Operator, slot: str, after: dict[str, int], optional: bool
    ) -> list[Ref | None]:
        """What flows to the variables of an output slot; zeros where nothing does and the rule
        needs something.
        """
        keys = [(n, after[n]) for n in op.outputs.get(slot, ())]
        if optional and not any(key in self.settled for key in keys):
            return []
        for key in keys:
            if key not in self.settled and key[0] != EMPTY:
                zeros = Ref(self.block.var_recursive(key[0]))
                self.records.append(
                    Record(
                        lookup("fill_zeros_like")(), {"X": [key[0]]}, {"Out": [zeros]}, op.callsite
                    )
                )
                self.groups.append(Group(key, [zeros], None))
                self.settled[key] = zeros
        return [self.settled.get(key) for key in keys]

    def _gradient_operator(
        self,
        position: int,
        op: Operator,
        wanted: dict[str, list[Variable | None]],
        after: dict[str, int],
    ) -> None:
        """Note the derived gradient operator of ``op``."""
        gradient: Any = lookup(op.instance().grad_type)
        ins: dict[str, list[Any]] = {}
        for read in gradient.reads:
            found: list[Any]
            if read.source == "cotangent":
                found = self._cotangents(op, read.of, after, read.optional)
            elif read.source == "in":
                found = [
                    self._value(n, self.versions.before(n, position))
                    for n in op.inputs.get(read.of, ())
                ]
            else:
                found = [self._value(n, after[n]) for n in op.outputs.get(read.of, ())]
            if found:
                ins[read.slot] = found
        outs: dict[str, list[Ref | None]] = {}
        for slot, name in gradient.grad_slots.items():
            if slot in wanted:
                outs[name] = [None if v is None else Ref(v) for v in wanted[slot]]
                self._contribute_all(wanted[slot], outs[name], position)
        self.records.append(Record(gradient(op.attrs), ins, outs, op.callsite, derived=True))

    def _written_rule(
        self,
        position: int,
        op: Operator,
        wanted: dict[str, list[Variable | None]],
        after: dict[str, int],
    ) -> None:
        """Note what the rule of ``op`` composes, in place of a gradient operator."""
        instance = op.instance()
        given: dict[str, Any] = {}
        for read in lookup(instance.grad_type).reads:  # type: ignore[attr-defined]
            slots = instance.input_slots if read.source == "in" else instance.output_slots
            if read.source == "cotangent":
                found: list[Any] = self._cotangents(op, read.of, after, read.optional)
            else:
                names = (op.inputs if read.source == "in" else op.outputs).get(read.of, ())
                found = [self.block.var_recursive(n) for n in names]
            given[read.parameter] = found if slots[read.of].many else (found[0] if found else None)
        like = next(v for variables in wanted.values() for v in variables if v is not None)
        recorder = Recorder(like, op.callsite)
        kept: set[int] = set()
        for slot, thunk in instance.grad(recorder, **given).items():
            if slot in wanted:
                refs = _own(_listed(thunk()), recorder)
                for ref, variable in zip(refs, wanted[slot], strict=True):
                    if variable is not None:
                        ref.like = variable
                        kept.add(id(ref))
                self._contribute_all(wanted[slot], refs, position)
        self.records += [
            r
            for r in recorder.records
            if any(id(o) in kept for outs in r.outs.values() for o in outs)
        ]

    def _contribute_all(
        self, wanted: Sequence[Variable | None], refs: Sequence[Ref | None], position: int
    ) -> None:
        for variable, ref in zip(wanted, refs, strict=True):
            if variable is not None and ref is not None:
                self.contribute((variable.name, self.versions.before(variable.name, position)), ref)

    def _value(self, name: str, version: int) -> str:
        """The name under which a value can be read behind the block's last operator: its own, or
        that of a copy.
        """
        if name == EMPTY or version == self.versions.last(name):
            return name
        return self.saved.setdefault((name, version), f"{name}@SAVED_{version}")


def _operand(value: Any) -> Any:
    return value.name if isinstance(value, Variable) else value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _own(refs: list[Any], recorder: Recorder) -> list[Ref]:
    """Refs that the recorder's operators compute; a cotangent that is passed on is assigned."""
    made = {id(out) for record in recorder.records for outs in record.outs.values() for out in outs}
    return [ref if id(ref) in made else recorder.assign(ref) for ref in refs]


def _made(op: Operator) -> str:
    return f"\n  built at {op.callsite}" if op.callsite is not None else ""


class Emission:
    """Names what a sweep recorded and appends it to the block.

    Args:
        sweep: what to append.
        seeds: the Refs that begin gradients, which get names of their own.
        callbacks: called after each appended gradient operator.
    """

    def __init__(
        self, sweep: Sweep, seeds: Iterable[Ref], callbacks: Sequence[Callable[..., Any]]
    ) -> None:
        self.sweep = sweep
        self.block = sweep.block
        self.callbacks = callbacks
        self._seeds = {id(ref) for ref in seeds}
        self.context: dict[str, Any] = {}
        #: name of a gradient -> the operator that completes it
        self.completed_by: dict[str, Operator] = {}

    def emit(self, first: Sequence[Record], role: int) -> None:
        """Append the records ``first`` with a role, then those of the sweep."""
        self._name_all()
        self._save_values()
        for record in first:
            self._append(record).role = role
        for record in self.sweep.records:
            op = self._append(record)
            self.context["__current_op_desc__"] = op.desc
            for callback in self.callbacks:
                callback(block=self.block, context=self.context)
        self.context.pop("__current_op_desc__", None)
        self.block.program.touch()

    def _name_all(self) -> None:
        lowest: dict[str, int] = {}
        for (name, version), *_ in self.sweep.groups:
            lowest[name] = min(version, lowest.get(name, version))
        taken: set[str] = set()
        for (name, version), parts, total in self.sweep.groups:
            stem = name + GRAD if version == lowest[name] else f"{name}{GRAD}@VERSION_{version}"
            final = total or parts[0]
            if not final.name:
                named = self._seed_name if id(final) in self._seeds else self._prefixed
                final.name = named(stem, taken)
                taken.add(final.name)
            self.context[final.name] = name
            if total is not None:
                for k, part in enumerate(parts):
                    part.name = part.name or f"{final.name}@RENAME@block{self.block.idx}@{k}"
                    self.context[part.name] = name

    def _seed_name(self, stem: str, taken: set[str]) -> str:
        name, k = stem, 0
        while self.block.has_var(name) or name in taken:
            name, k = f"{stem}_{k}", k + 1
        return name

    def _prefixed(self, stem: str, taken: set[str]) -> str:
        """The name of a gradient: one that an earlier call has taken gets fluid's prefix, once more
        for every call.
        """
        name, k = stem, 2
        while self.block.has_var(name) or name in taken:
            name, k = "grad/" * k + stem, k + 1
        return name

    def _save_values(self) -> None:
        """Copy the values that are overwritten before a gradient operator reads them."""
        inserts = []
        for (name, version), copy in self.sweep.saved.items():
            if not self.block.has_var(copy):
                like = self.block.var_recursive(name)
                self.block.create_var(
                    copy, shape=like.shape, dtype=like.dtype, lod_level=like.lod_level
                )
                op = Operator(
                    self.block, "assign", {"X": (name,)}, {"Out": (copy,)}, {}, callsite=caller()
                )
                inserts.append((self.sweep.versions.made_at(name, version), op))
        if inserts:
            at: dict[int, list[Operator]] = {}
            for position, op in inserts:
                at.setdefault(position, []).append(op)
            ops = []
            for position, op in enumerate(self.block.ops):
                ops += [*at.get(position, ()), op]
            self.block.ops = [*ops, *at.get(len(self.block.ops), ())]

    def _append(self, record: Record) -> Operator:
        for refs in record.outs.values():
            for ref in refs:
                if ref is not None:
                    self._declare(ref)
        outputs = {slot: _names(refs) for slot, refs in record.outs.items()}
        op = Operator(
            self.block,
            record.op.type,
            {slot: _names(values) for slot, values in record.ins.items()},
            {slot: names for slot, names in outputs.items() if any(n != EMPTY for n in names)},
            record.op.attr_values() if record.derived else record.op.given_attrs(),
            role=OpRole.BACKWARD,
            callsite=record.site,
            lists_given_attrs=not record.derived,
        )
        for names in outputs.values():
            for name in names:
                self.completed_by[name] = op
        self.block.ops.append(op)
        return op

    def _declare(self, ref: Ref) -> None:
        if not self.block.has_var(ref.name):
            self.block.vars[ref.name] = Variable(
                self.block,
                ref.name,
                shape=ref.shape or ref.like.shape,
                dtype=ref.like.dtype,
                lod_level=ref.like.lod_level,
            )


def _names(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(EMPTY if v is None else v if isinstance(v, str) else v.name for v in values)


# -- the public functions --------------------------------------------------------------------------


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    checkpoints: Sequence[Variable] | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the operators that compute the gradients of a loss to the loss's block.

    Args:
        loss: a variable of one element.
        parameter_list: parameters, or their names, whose gradients are returned; all trainable ones
        when None.
        no_grad_set: variables, or their names, at which gradients stop.
        callbacks: called as ``callback(block=..., context=...)`` after each appended gradient
            operator; ``context`` maps names of gradients to those of their variables.
        checkpoints: must be None or empty: recomputing is not there yet.

    Returns:
        pairs of a parameter and its gradient, in the order of ``parameter_list``, or of the
        parameters' creation.

    Raises:
        ArgumentError: an argument is of the wrong type, or no operator computes the loss.
        ShapeError: the loss is known to have several elements.
        NoGradientError: an operator on the way has no gradient rule.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> [(p.name, g.name) for p, g in fluid.backward.append_backward(loss)]
    [('fc_0.w_0', 'fc_0.w_0@GRAD'), ('fc_0.b_0', 'fc_0.b_0@GRAD')]
    """
    if not isinstance(loss, Variable):
        raise ArgumentError(
            f"expected the loss to be a variable, got {loss!r:.60} of type {type(loss).__name__}"
        )
    listed = None if parameter_list is None else _names_of(parameter_list, "parameter_list")
    stopped = _no_grad(loss.block, no_grad_set)
    hooks = _callbacks(callbacks)
    if checkpoints:
        raise ArgumentError("checkpoints: recomputing forward values is not there yet")
    block = loss.block
    maker = loss.op
    if maker is None:
        raise ArgumentError(
            f"no operator computes the loss {loss.name!r}, so nothing can be differentiated"
        )
    if loss.has_shape and size_of(loss.shape) > 1:
        raise ShapeError(
            f"expected a loss of one element, {loss.name!r} has shape {list(loss.shape)}; "
            "reduce it first: layers.mean or layers.reduce_sum"
        )
    maker.role |= OpRole.LOSS
    block.program.touch()
    if loss.name in stopped or not loss.dtype.is_float:
        return []
    sweep = Sweep(block, stopped)
    seed = Ref(loss)
    seed.shape = (1,)
    fill = lookup("fill_constant")(
        {"shape": [1], "value": 1.0, "dtype": loss.dtype, "force_cpu": False}
    )
    sweep.contribute((loss.name, sweep.versions.last(loss.name)), seed)
    sweep.run(_path(block, [loss.name], None))
    emission = Emission(sweep, [seed], hooks)
    emission.emit(
        [Record(fill, {}, {"Out": [seed]}, maker.callsite)], OpRole.BACKWARD | OpRole.LOSS
    )
    return _parameter_gradients(sweep, emission, listed)


def _parameter_gradients(
    sweep: Sweep, emission: Emission, listed: list[str] | None
) -> list[tuple[Variable, Variable]]:
    block = sweep.block
    if listed is None:
        listed = [p.name for p in block.program.all_parameters() if p.trainable]
    found = {}
    for (name, _), ref in sweep.settled.items():
        found[name] = ref.name  # the earliest value is settled last
    pairs = []
    for name in listed:
        if name in found:
            variable, gradient = block.var_recursive(name), block.var_recursive(found[name])
            pairs.append((variable, gradient))
            emission.completed_by[gradient.name].role_vars = (name, gradient.name)
    return pairs


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
) -> list[Variable | None]:
    """Append the operators that compute the gradients of targets with respect to inputs.

    Args:
        targets: one or several variables of one block; their gradients add up.
        inputs: one or several variables.
        target_gradients: what each target is weighted with, of its shape; None means ones.
        no_grad_set: variables, or their names, at which gradients stop.

    Returns:
        the gradient of each input, in their order; None where the targets do not depend on it.

    Raises:
        ArgumentError: an argument is of the wrong type, or numbers of targets and their gradients
        differ.
        ShapeError: a target and its gradient have different shapes.
        NoGradientError: an operator on the way has no gradient rule.

    >>> x = fluid.data("x", [2], "float32")
    >>> x.stop_gradient = False
    >>> [g.name for g in fluid.gradients(fluid.layers.square(x), x)]
    ['x@GRAD']
    """
    goals = _variables(targets, "targets")
    sources = _variables(inputs, "inputs")
    weights = _target_gradients(goals, target_gradients)
    if not goals:
        raise ArgumentError("gradients needs at least one target")
    block = goals[0].block
    for source in sources:
        if source.block.program is not block.program:
            raise ArgumentError(
                f"input {source.name!r} and target {goals[0].name!r} are of different programs"
            )
    sweep = Sweep(block, _no_grad(block, no_grad_set))
    first: list[Record] = []
    seeds = []
    for goal, weight in dict(zip(goals, weights, strict=True)).items():
        if goal.name in sweep.no_grad or not goal.dtype.is_float:
            continue
        seed = Ref(goal, weight.name if weight is not None else "")
        if weight is None:
            first += _ones_like(goal, seed)
        seeds.append(seed)
        sweep.contribute((goal.name, sweep.versions.last(goal.name)), seed)
    sweep.run(_path(block, [g.name for g in goals], [s.name for s in sources]))
    Emission(sweep, seeds, ()).emit(first, OpRole.BACKWARD)
    found: dict[str, Variable] = {}
    for (name, _), ref in sweep.settled.items():
        found[name] = block.var_recursive(ref.name)
    return [None if s.name in sweep.no_grad else found.get(s.name) for s in sources]


calc_gradient = gradients


def _ones_like(goal: Variable, seed: Ref) -> list[Record]:
    """The operators that fill a gradient of a target's shape with ones."""
    shape = Ref(goal, f"{goal.name}_shape")
    shape.like = Variable(goal.block, shape.name, shape=[len(goal.shape)], dtype=DType.INT32)
    shape.shape = shape.like.shape
    fill = lookup("fill_constant")({"shape": goal.shape, "value": 1.0, "dtype": goal.dtype})
    site = caller()
    return [
        Record(lookup("shape")(), {"Input": [goal.name]}, {"Out": [shape]}, site),
        Record(fill, {"ShapeTensor": [shape]}, {"Out": [seed]}, site),
    ]


def _path(
    block: Block, goals: Sequence[str], sources: Sequence[str] | None
) -> list[tuple[int, Operator]]:
    """The operators between sources (None: anything) and goals, with their positions."""
    reached = None if sources is None else set(sources)
    forward = []
    for position, op in enumerate(block.ops):
        if reached is None:
            forward.append((position, op))
        elif not reached.isdisjoint(op.input_arg_names):
            reached.update(op.output_arg_names)
            forward.append((position, op))
    needed = set(goals)
    path = []
    for position, op in reversed(forward):
        if not needed.isdisjoint(op.output_arg_names):
            needed.update(op.input_arg_names)
            path.append((position, op))
    return path[::-1]


def _no_grad(block: Block, given: Iterable[Variable | str] | None) -> set[str]:
    """The names at which gradients stop."""
    if given is not None and not isinstance(given, (set, frozenset, list, tuple)):
        raise ArgumentError(
            f"expected no_grad_set to be a set, list or tuple, got {type(given).__name__}"
        )
    names = set(_names_of(given or (), "no_grad_set"))
    names.update(v.name for v in block.program.list_vars() if v.stop_gradient)
    return names


def _names_of(given: Iterable[Variable | str], what: str) -> list[str]:
    if not isinstance(given, (set, frozenset, list, tuple)):
        raise ArgumentError(
            f"expected {what} to be a list of variables or names, got {type(given).__name__}"
        )
    names = []
    for item in given:
        if not isinstance(item, (Variable, str)):
            raise ArgumentError(
                f"expected variables or names in {what}, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )
        names.append(item if isinstance(item, str) else item.name)
    return names


def _variables(given: Any, what: str) -> list[Variable]:
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    for item in listed:
        if not isinstance(item, Variable):
            raise ArgumentError(
                f"expected {what} to be variables, got {item!r:.60} of type {type(item).__name__}"
            )
    return listed


def _target_gradients(goals: list[Variable], given: Any) -> list[Variable | None]:
    if given is None:
        return [None] * len(goals)
    weights: list[Variable | None] = list(given) if isinstance(given, (list, tuple)) else [given]
    if not weights:
        return [None] * len(goals)
    if len(weights) != len(goals):
        raise ArgumentError(
            f"expected as many target_gradients as targets, got {len(weights)} for {len(goals)}"
        )
    for goal, weight in zip(goals, weights, strict=True):
        if weight is None:
            continue
        if not isinstance(weight, Variable):
            raise ArgumentError(
                f"expected target_gradients to be variables, got {type(weight).__name__}"
            )
        if weight.shape != goal.shape:
            raise ShapeError(
                f"target {goal.name!r} has shape {list(goal.shape)}, its gradient {weight.name!r} "
                f"{list(weight.shape)}"
            )
    return weights


def _callbacks(given: Any) -> Sequence[Callable[..., Any]]:
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise ArgumentError(f"expected callbacks to be a list, got {type(given).__name__}")
    for callback in given:
        if not callable(callback):
            raise ArgumentError(f"expected callbacks to be functions, got {callback!r:.60}")
    return list(given)


__all__ = ["append_backward", "calc_gradient", "gradients"]
