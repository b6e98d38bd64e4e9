"""A program for a batch of examples from a program for one."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping

from ..errors import (
    ArgumentError,
    AxisError,
    LoDError,
    UnknownVariableError,
    UnsupportedError,
    suggestion,
)
from ..ground.console import say
from ..ground.dtypes import Kind
from ..ground.tracebacks import api_boundary
from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import Op, lookup
from ..opdef.gradient import GRAD
from .batched_loops import looped
from .batching import BatchedValue, Batching
from .batching_rules import rule_of
from .editing import transformed
from .results import Transformed

Names = Iterable["Variable | str"]


@api_boundary
def vmap(
    program: Program,
    inputs: Names | Mapping[str, int],
    outputs: Names | None = None,
    size: int | None = None,
    explain: bool = False,
) -> Transformed:
    """A program that computes for a batch of examples what a program computes for one.

    Values that do not depend on ``inputs`` are computed once, and gradients are not added up over
    the examples.  Operators are batched by rules, by what their definitions say, or by operators
    that they are made of.  What is left runs for one example after the other, which a warning
    says.  Random operators draw for each example anew.

    Args:
        program: any; it stays as it was.
        inputs: the variables that get a new first dimension, or the place of the new dimension for
            each.  Parameters may be among them, with ``size``.
        outputs: what is wanted for each example, if it is the same for all of them, too; operators
            that it does not need are left out.  All when None.
        size: the number of examples; None where it is known when the program runs.
        explain: print how each operator was batched.

    Returns:
        the program, its batched inputs, and its outputs: those wanted, else the batched results
        that no operator reads.

    Raises:
        UnknownVariableError: there is no such variable.
        AxisError: an input has no such place for a dimension.
        LoDError: sequences depend on an input.
        UnsupportedError: an operator cannot be batched: it updates parameters, or changes a
            variable that stays between runs.

    >>> x = fluid.data("x", [3], "float32")
    >>> y = fluid.layers.reduce_sum(fluid.layers.square(x))
    >>> batched = fluid.transform.vmap(fluid.default_main_program(), [x], [y])
    >>> batched.outputs[0].shape
    (-1, 1)
    >>> rows = np.array([[1, 2, 3], [0, 0, 1]], "float32")
    >>> fluid.Executor().run(batched.program, {"x": rows}, batched.outputs)[0].ravel().tolist()
    [14.0, 1.0]
    """
    axes = _axes_of(inputs)
    wanted = None if outputs is None else [_name_of(each) for each in outputs]
    for name in (*axes, *(wanted or ())):
        _need(program, name)
    if size is not None and size < 1:
        raise ArgumentError(f"expected at least one example, got size={size}")
    base = program if wanted is None else program.pruned(list(axes), wanted)
    report = _Vmap(axes, wanted, -1 if size is None else size)
    batched = transformed(base, report.change)
    report.say(explain)
    block = batched.global_block()
    return Transformed(
        batched,
        tuple(block.var(name) for name in axes if block.has_var(name)),
        tuple(block.var(name) for name in report.results(block)),
    )


def _axes_of(inputs: Names | Mapping[str, int]) -> dict[str, int]:
    """The place of the new dimension of each input."""
    if isinstance(inputs, Mapping):
        axes = {_name_of(name): axis for name, axis in inputs.items()}
    elif isinstance(inputs, (str, Variable)):
        axes = {_name_of(inputs): 0}
    else:
        axes = {_name_of(name): 0 for name in inputs}
    if not axes:
        raise ArgumentError("expected at least one input that gets a new dimension, got none")
    return axes


def _name_of(variable: Variable | str) -> str:
    if isinstance(variable, (str, Variable)):
        return variable if isinstance(variable, str) else variable.name
    raise ArgumentError(f"expected a variable or the name of one, got {variable!r:.60}")


def _need(program: Program, name: str) -> Variable:
    known = program.global_block().vars
    if name not in known:
        raise UnknownVariableError(
            f"the program has no variable {name!r} in its first block{suggestion(name, known)}"
        )
    return known[name]


class _Vmap:
    """One transformation: what is asked, and how it was done.

    Args:
        axes: the place of the new dimension of each input.
        wanted: the outputs; None for all.
        size: the number of examples; -1 where it is not known.
    """

    def __init__(self, axes: Mapping[str, int], wanted: list[str] | None, size: int) -> None:
        self._axes = axes
        self._wanted = wanted
        self._size = size
        self._ways: list[tuple[str, str]] = []
        self._results: list[str] = []

    def change(self, program: Program) -> None:
        """Batch a copy."""
        block = program.global_block()
        written = {name for op in block.ops if op.type != "feed" for name in writes_of(op)}
        for name, axis in self._axes.items():
            _declare_input(block.var(name), axis, self._size, name in written)
        read = {name for b in program.blocks for op in b.ops for name in reads_of(op)}
        walk = _Walk(block, self._size, read.union(self._wanted or ()))
        fed = {name for op in block.ops if op.type == "feed" for name in writes_of(op)}
        ops, before = block.ops, [name for name in self._axes if name not in fed]
        block.set_ops([])
        for name in before:
            walk.begin(name, self._axes[name])
        for op in ops:
            walk.step(op)
            if op.type == "feed":
                for name in writes_of(op):
                    if name in self._axes:
                        walk.begin(name, self._axes[name])
        if self._wanted is not None:
            self._results = [walk.finished(name) for name in self._wanted]
        else:
            read = {name for op in block.ops for name in reads_of(op)}
            self._results = [
                n for n in walk.batched_names if n not in read or n in self._fetched(ops)
            ]
        self._ways = [(way.op_type, way.way) for way in walk.f.ways]

    def _fetched(self, ops: Iterable[Operator]) -> set[str]:
        return {name for op in ops if op.type == "fetch" for name in op.input_arg_names}

    def results(self, block: Block) -> list[str]:
        """The names of the outputs."""
        return [name for name in self._results if block.has_var(name) and name not in self._axes]

    def say(self, explain: bool) -> None:
        """Tell how operators were batched: all when asked, and always those that run one by one."""
        counts = Counter(self._ways)
        if explain:
            for (type, way), count in counts.items():
                say(f"{type:32} {way:10} {count:5}")
        loops = [f"{type} ({n})" for (type, way), n in counts.items() if way == "looped"]
        if loops:
            warnings.warn(
                "these operators have no rule of batching for what they are given, and run for one "
                f"example after the other: {', '.join(loops)}",
                stacklevel=4,
            )


def _declare_input(variable: Variable, axis: int, size: int, is_computed: bool) -> None:
    """Give an input its new dimension.

    Raises:
        ArgumentError: the program computes it; or it is a parameter, and there is no size.
        LoDError: it holds sequences.
        AxisError: there is no such place.
        UnsupportedError: it is no tensor.
    """
    name, ndim = variable.name, variable.ndim
    if variable.kind is not Kind.LOD_TENSOR:
        raise UnsupportedError(f"variable {name!r} is no tensor, but {variable.kind.name}")
    if variable.lod_level:
        raise LoDError(
            f"variable {name!r} holds sequences (lod_level {variable.lod_level}), which have no "
            "batch; pad them first, with fluid.layers.sequence_pad"
        )
    if is_computed:
        raise ArgumentError(
            f"variable {name!r} is computed by the program; name the outputs that are wanted, so "
            "that what computes it is left out, or vmap over what it is computed from"
        )
    if not -ndim - 1 <= axis <= ndim:
        raise AxisError(
            f"expected a place from {-ndim - 1} to {ndim} for the new dimension of {name!r}, of "
            f"shape {list(variable.shape)}; got {axis}"
        )
    if variable.persistable and size == -1:
        raise ArgumentError(f"{name!r} stays between runs, so its shape is fixed: give a size")
    at = axis % (ndim + 1)
    shape = variable.shape
    variable.declare((*shape[:at], size, *shape[at:]))


class _Walk:
    """The operators of a block in order, each batched where it depends on an input.

    Args:
        block: has no operators yet.
        size: the number of examples; -1 where it is not known.
        read: names that operators read, or that are outputs.
    """

    def __init__(self, block: Block, size: int, read: Iterable[str]) -> None:
        self._block = block
        self.f = Batching(block, size, rule_of, looped)
        self._read = frozenset(read)
        self._absent: set[str] = set()  #: names of outputs that are not made
        #: name -> the elements of a vector of sizes
        self._vectors: dict[str, tuple[int, ...]] = {}
        #: name -> its value, where that is batched
        self._values: dict[str, BatchedValue] = {}
        self._shapes = {v.name: v.shape for v in block.vars.values() if v.has_shape}

    @property
    def batched_names(self) -> list[str]:
        """The names that hold batched values now, with the examples first."""
        return [name for name, value in self._values.items() if value.batch_axis == 0]

    def begin(self, name: str, axis: int) -> None:
        """Take up an input."""
        variable = self._block.var(name)
        at = axis % variable.ndim
        value = self.f.value(variable, at)
        front = self.f.front(value)
        self.f.like = front
        self._values[name] = self.f.value(front, 0)

    def finished(self, name: str) -> str:
        """The name of a variable that holds an output for each example."""
        return self.f.front(self._value(name)).name

    def step(self, op: Operator) -> None:
        """Append what an operator does for all examples."""
        block, depends = self._block, [n for n in reads_of(op) if n in self._values]
        definition = op.definition
        is_random = definition is not None and definition.random
        if op.type == "fetch" or not (depends or is_random):
            self._settle_sizes(op)
            if op.role == OpRole.BACKWARD | OpRole.LOSS and _begins_at(op, self._values):
                op.role &= ~OpRole.LOSS  # there is one an example, which runs would refuse
            block.take_op(op)
            for name in writes_of(op):
                self._values.pop(name, None)
            self._refresh()
            return
        self._check(op, depends)
        instance = op.instance()
        instance.output_widths = {slot: len(names) for slot, names in op.outputs.items()}
        if op.type == "shape":
            self._note_sizes(op)
        ins = {
            slot: self._given(names, instance.input_slots[slot].many)
            for slot, names in op.inputs.items()
            if slot in instance.input_slots and slot not in instance.fluid.unread
        }
        want = {
            slot for slot, names in op.outputs.items() if self._is_wanted(instance, slot, names)
        }
        begin = len(block.ops)
        outs = self.f.apply(instance, ins, want)
        self._bind(op, outs, ins, begin)
        for made in block.ops[begin:]:
            made.role, made.role_vars, made.device = op.role, op.role_vars, op.device
            made.namescope, made.callsite, made.foreign = op.namescope, op.callsite, op.foreign
        self._refresh()

    def _note_sizes(self, op: Operator) -> None:
        """Remember the shape of an example that the program asks for."""
        shape = self._value(op.input("Input")[0]).shape
        if -1 not in shape:
            self._vectors[op.output("Out")[0]] = shape

    def _settle_sizes(self, op: Operator) -> None:
        """Let an operator that fills a tensor know its shape, where that is the one of an example:
        rules need known shapes.
        """
        if op.type == "fill_constant":
            shape = self._vectors.get(next(iter(op.input("ShapeTensor")), ""))
            if shape is not None:
                op.set_input("ShapeTensor")
                op.set_attr("shape", list(shape))
                self._block.var_recursive(op.output("Out")[0]).declare(shape)
        for name in writes_of(op):
            self._vectors.pop(name, None)

    def _is_wanted(self, instance: Op, slot: str, names: Iterable[str]) -> bool:
        """Whether an output is needed; hidden ones, which may not be made, where they are read."""
        is_hidden = slot in instance.output_slots and instance.output_slots[slot].hidden
        return any(n != EMPTY and not (is_hidden and n not in self._read) for n in names)

    def _refresh(self) -> None:
        """Remember a variable that has the examples first."""
        like = self.f.like
        if like is None or like.name not in self._values:
            firsts = (v.variable for v in self._values.values() if v.batch_axis == 0)
            self.f.like = next(firsts, like)

    def _given(self, names: Iterable[str], many: bool) -> object:
        values = [
            None if name == EMPTY or name in self._absent else self._value(name) for name in names
        ]
        return values if many else values[0]

    def _value(self, name: str) -> BatchedValue:
        known = self._values.get(name)
        return self.f.value(self._block.var_recursive(name)) if known is None else known

    def _check(self, op: Operator, depends: list[str]) -> None:
        """Refuse what cannot be batched."""
        where = _place(op)
        definition = op.definition
        if definition is None:
            raise UnsupportedError(
                f"nobody defined the operator {op.type!r}, which reads {depends[0]!r}{where}"
            )
        if definition.is_update:
            raise UnsupportedError(
                f"operator {op.type} updates {op.input('Param')[0]!r}{where}, which cannot be done "
                "for each example; take the operators of the optimizer out first, by naming the "
                "outputs that are wanted"
            )
        for names, does in ((op.input_arg_names, "reads"), (op.output_arg_names, "writes")):
            for name in names:
                variable = self._block.find_var_recursive(name)
                if variable is not None and variable.lod_level:
                    raise LoDError(
                        f"operator {op.type}{where} depends on a batched input, and {does} "
                        f"{name!r}, which holds sequences (lod_level {variable.lod_level}); there "
                        "is no batch of these, but of padded ones (fluid.layers.sequence_pad)"
                    )

    def _bind(
        self, op: Operator, outs: Mapping[str, object], ins: Mapping[str, object], begin: int
    ) -> None:
        """Let the results have the names that the operator gave them."""
        instance = op.instance()
        bound: dict[str, BatchedValue] = {}
        for slot, names in op.outputs.items():
            held = outs.get(slot)
            many = slot in instance.output_slots and instance.output_slots[slot].many
            for i, name in enumerate(names):
                if name == EMPTY or slot in instance.fluid.idle:
                    continue
                value = held[i] if many and held is not None else held
                if value is None and slot in instance.output_slots:
                    value = self._zeros(op, slot, i, ins)
                if value is None:
                    self._absent.add(name)
                else:
                    self._name(op, name, value, bound, begin)
        for name, value in bound.items():
            if value.is_batched:
                self._values[name] = value
            else:
                self._values.pop(name, None)

    def _zeros(
        self, op: Operator, slot: str, index: int, ins: Mapping[str, object]
    ) -> BatchedValue | None:
        """What a gradient operator leaves out where nothing flows."""
        instance = op.instance()
        of = next(
            (of for of, name in getattr(instance, "grad_slots", {}).items() if name == slot), None
        )
        read = next(
            (r for r in getattr(instance, "reads", ()) if r.source == "in" and r.of == of), None
        )
        like = ins.get(read.slot) if read is not None else None
        like = like[index] if isinstance(like, list) else like
        return None if like is None else self.f.batched(self.f.fill_zeros_like(like))

    def _name(
        self,
        op: Operator,
        name: str,
        value: BatchedValue,
        bound: dict[str, BatchedValue],
        begin: int,
    ) -> None:
        """Let a result have a name: by renaming it where the operators that were appended allow
        that.
        """
        block, result = self._block, value.variable
        target = block.var_recursive(name)
        if value.is_batched and target.persistable:
            raise UnsupportedError(
                f"operator {op.type}{_place(op)} would keep a value of each example in {name!r}, "
                "which stays between runs; let the program work as in tests first "
                "(program.clone(for_test=True)), or name only outputs that do not need it"
            )
        emitted = block.ops[begin:]
        writer = next((i for i, each in enumerate(emitted) if each.writes(result.name)), None)
        is_free = (
            writer is not None
            and result.name in block.vars
            and result.name not in self._values
            and not any(result is other.variable for other in bound.values())
            and not any(each.reads(name) or each.writes(name) for each in emitted[writer + 1 :])
            and not any(each.writes(name) for each in emitted[: writer + 1])
            and not any(True for _ in _driven(emitted, result.name))
        )
        if result.has_shape:
            target.declare(result.shape, result.dtype)
        elif name in self._shapes:
            shape = self._shapes[name]
            target.declare((self.f.size, *shape) if value.is_batched else shape)
        if is_free:
            for each in emitted[writer:]:
                each.rename({result.name: name})
            block.drop_var(result.name)
        else:
            self.f.parent.append(lookup("assign")(), {"X": result}, {"Out": target})
        bound[name] = self.f.value(target, value.batch_axis)


def _place(op: Operator) -> str:
    """Where the user made an operator."""
    return f" (made at {op.callsite})" if op.callsite is not None else ""


def _begins_at(op: Operator, batched: Iterable[str]) -> bool:
    """Whether an operator begins the gradient of a loss that each example has its own of."""
    return op.output_arg_names[0].partition(GRAD)[0] in batched


def _driven(ops: Iterable[Operator], name: str) -> Iterable[int]:
    """The blocks of operators that know a name, which is to stay."""
    for op in ops:
        if "sub_block" in op.attrs and (op.reads(name) or op.writes(name)):
            yield op.attrs["sub_block"]
