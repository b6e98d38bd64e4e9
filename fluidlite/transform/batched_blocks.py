"""The operators of a block, each batched where it depends on an input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import LoDError, UnsupportedError
from ..ground.dtypes import Kind
from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.shape_inference import declare_outputs
from ..ir.variable import Variable
from ..opdef.definition import Op, lookup
from ..opdef.gradient import GRAD
from ..opdef.spec import Shape
from .batched_loops import looped
from .batching import BatchedValue, Batching
from .batching_rules import rule_of


class BlockBatching:
    """The operators of a block in order, each batched where it depends on an input.

    Args:
        block: has no operators yet.
        size: the number of examples; -1 where it is not known.
        read: names that operators of the program read.
        wanted: names of outputs.
        stem: what new variables are called.
        around: what batches the block around it.
    """

    def __init__(
        self,
        block: Block,
        size: int,
        read: Iterable[str],
        wanted: Iterable[str],
        stem: str,
        around: BlockBatching | None = None,
    ) -> None:
        self.block: Block = block
        self.f: Batching = Batching(block, size, rule_of, looped, stem)
        self.wanted: frozenset[str] = frozenset(wanted)
        self.read: frozenset[str] = self.wanted.union(read)
        self._absent: set[str] = set()  #: names of outputs that are not made
        #: name -> the elements of a vector of sizes
        self._vectors: dict[str, tuple[int, ...]] = {}
        #: name -> its value, where that is batched
        self.values: dict[str, BatchedValue] = {}
        self.written: set[str] = set()  #: names that have a value by now
        #: name -> its shape in the program for one example
        self.shapes: dict[str, Shape] = {
            name: variable.shape for name, variable in block.vars.items() if variable.has_shape
        }
        if around is not None:
            self.values = {
                name: self.f.value(value.variable, value.batch_axis)
                for name, value in around.values.items()
            }
            self.written = set(around.written)
            self.shapes = {**around.shapes, **self.shapes}
            self.f.like, self.f.ways = around.f.like, around.f.ways

    def inside(self, block: Block, results: Iterable[str] = ()) -> BlockBatching:
        """What batches a block that an operator of this one drives.

        Args:
            block: of the operator.
            results: names of the block that the operator hands out.
        """
        wanted = self.wanted.union(results)
        return BlockBatching(block, self.f.size, self.read, wanted, self.f.stem, self)

    @property
    def batched_names(self) -> list[str]:
        """The names that hold batched values now, with the examples first."""
        return [name for name, value in self.values.items() if value.batch_axis == 0]

    def begin(self, name: str) -> None:
        """Take up an input, which has the examples first."""
        self.f.like = self.block.var(name)
        self.values[name] = self.f.value(self.f.like, 0)

    def finished(self, name: str) -> str:
        """The name of a variable that holds an output for each example."""
        return self.f.front(self.value(name)).name

    def depends(self, op: Operator) -> list[str]:
        """The batched values that an operator reads."""
        return [name for name in reads_of(op) if name in self.values]

    def depends_on(self, op: Operator, slot: str) -> bool:
        """Whether a slot of an operator holds a batched value."""
        return any(name in self.values for name in op.input(slot))

    def take(self, name: str) -> None:
        """Note that a name holds a value of each example now, with the examples first."""
        target = self.block.var_recursive(name)
        if name in self.shapes:
            target.declare((self.f.size, *self.shapes[name]))
        self.values[name] = self.f.value(target, 0)
        self.written.add(name)

    def keep(self, op: Operator) -> None:
        """Append an operator as it is, whose results examples share."""
        self._declare(op)
        self.block.take_op(op)
        self.written.update(writes_of(op))
        for name in writes_of(op):
            self.values.pop(name, None)
        self._refresh()

    def _declare(self, op: Operator) -> None:
        """Let what an operator writes have its shape, where its name held something else before."""
        if op.definition is None:
            return
        variables = [self.block.var_recursive(name) for name in writes_of(op)]
        before = [variable.shape for variable in variables]
        declare_outputs(op, op.instance(), self.block.var_recursive)
        for variable, shape in zip(variables, before, strict=True):
            now = variable.shape
            if len(now) == len(shape) and all(n in (-1, m) for m, n in zip(shape, now)):
                variable.redeclare(shape)  # which may say more

    def step(self, op: Operator) -> None:
        """Append what an operator does for all examples."""
        block, depends = self.block, self.depends(op)
        definition = op.definition
        is_random = definition is not None and definition.random
        if op.type == "fetch" or not (depends or is_random):
            self._settle_sizes(op)
            if op.role == OpRole.BACKWARD | OpRole.LOSS and _begins_at(op, self.values):
                op.role &= ~OpRole.LOSS  # there is one an example, which runs would refuse
            self.keep(op)
            return
        self.check(op, depends)
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
        for new in block.ops[begin:]:
            is_paired = any(new.writes(name) for name in op.role_vars)
            new.role, new.role_vars = op.role, op.role_vars if is_paired else ()
            new.device = op.device
            new.namescope, new.callsite, new.foreign = op.namescope, op.callsite, op.foreign
        self._refresh()

    def make_batched(self, name: str) -> None:
        """Let a name that examples share hold a value of each."""
        if name in self.values:
            return
        target = self.block.var_recursive(name)
        front = self.f.front(self.value(name))
        self.f.parent.append(lookup("assign")(), {"X": front}, {"Out": target})
        self.values[name] = self.f.value(target, 0)

    def _note_sizes(self, op: Operator) -> None:
        """Remember the shape of an example that the program asks for."""
        shape = self.value(op.input("Input")[0]).shape
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
                self.block.var_recursive(op.output("Out")[0]).declare(shape)
        for name in writes_of(op):
            self._vectors.pop(name, None)

    def _is_wanted(self, instance: Op, slot: str, names: Iterable[str]) -> bool:
        """Whether an output is needed; hidden ones, which may not be made, where they are read."""
        is_hidden = slot in instance.output_slots and instance.output_slots[slot].hidden
        return any(n != EMPTY and not (is_hidden and n not in self.read) for n in names)

    def _refresh(self) -> None:
        """Remember a variable that has the examples first."""
        like = self.f.like
        if like is None or like.name not in self.values:
            firsts = (v.variable for v in self.values.values() if v.batch_axis == 0)
            self.f.like = next(firsts, like)

    def _given(self, names: Iterable[str], many: bool) -> Any:
        values = [
            None if name == EMPTY or name in self._absent else self.value(name) for name in names
        ]
        return values if many else values[0]

    def value(self, name: str) -> BatchedValue:
        """The value that a name holds now."""
        known = self.values.get(name)
        return self.f.value(self.block.var_recursive(name)) if known is None else known

    def check(self, op: Operator, depends: list[str]) -> None:
        """Refuse what cannot be batched."""
        where = place_of(op)
        definition = op.definition
        if definition is None:
            raise UnsupportedError(
                f"nobody defined the operator {op.type!r}, which reads {depends[0]!r}{where}"
            )
        if definition.is_update:
            raise UnsupportedError(
                f"operator {op.type} updates {op.input('Param')[0]!r}{where}, which cannot be done "
                "for each example; take the operators of the optimizer out first, by naming the "
                "outputs that you need"
            )
        ragged = [n for slot in definition.outputs if slot.ragged for n in op.output(slot.name)]
        for names, does in ((op.input_arg_names, "reads"), (op.output_arg_names, "writes")):
            for name in names:
                variable = self.block.find_var_recursive(name)
                if name in ragged or (variable is not None and variable.lod_level):
                    raise LoDError(
                        f"operator {op.type}{where} depends on a batched input, and {does} "
                        f"{name!r}, which holds sequences; there is no batch of these, but of "
                        "padded ones (fluid.layers.sequence_pad)"
                    )

    def _bind(
        self, op: Operator, outs: Mapping[str, Any], ins: Mapping[str, Any], begin: int
    ) -> None:
        """Let the results have the names that the operator gave them."""
        instance = op.instance()
        bound: dict[str, BatchedValue] = {}
        renamed: dict[str, Variable] = {}
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
                    self._name(op, name, value, (bound, renamed), begin)
                    made = instance.output_slots.get(slot)
                    if made is not None and made.hidden and not made.constant:
                        # gradients flow through what only the gradient operator read
                        self.block.var_recursive(name).stop_gradient = False
        self.written.update(bound)
        for name, value in bound.items():
            if value.is_batched:
                self.values[name] = value
            else:
                self.values.pop(name, None)

    def _zeros(
        self, op: Operator, slot: str, index: int, ins: Mapping[str, Any]
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
        known: tuple[dict[str, BatchedValue], dict[str, Variable]],
        begin: int,
    ) -> None:
        """Let a result have a name: by renaming it where the operators that were appended allow
        that.
        """
        bound, renamed = known
        block, result = self.block, renamed.get(value.variable.name, value.variable)
        target = block.var_recursive(name)
        if value.is_batched:
            refuse_to_keep(op, target)
        emitted = block.ops[begin:]
        writer = next((i for i, each in enumerate(emitted) if each.writes(result.name)), None)
        is_free = (
            writer is not None
            and result.name in block.vars
            and result.name not in self.values
            and not any(result is other.variable for other in bound.values())
            and not any(each.reads(name) or each.writes(name) for each in emitted[writer + 1 :])
            and not any(each.writes(name) for each in emitted[: writer + 1])
            and not any(True for _ in _driven(emitted, result.name))
        )
        if target.kind is Kind.SELECTED_ROWS:
            target.kind = result.kind  # rows of a table are a whole one for each example
        if result.has_shape:
            target.declare(result.shape, result.dtype)
        elif name in self.shapes:
            shape = self.shapes[name]
            shape = (self.f.size, *shape) if value.is_batched else shape
            target.declare(shape)
            result.declare(shape)
        if is_free:
            for each in emitted[writer:]:
                each.rename({result.name: name})
            block.drop_var(result.name)
            renamed[result.name] = target
        else:
            self.f.parent.append(lookup("assign")(), {"X": result}, {"Out": target})
        bound[name] = self.f.value(target, value.batch_axis)


def refuse_to_keep(op: Operator, target: Variable) -> None:
    """Refuse a value of each example in a variable that stays between runs."""
    if target.persistable:
        raise UnsupportedError(
            f"operator {op.type}{place_of(op)} would keep a value of each example in "
            f"{target.name!r}, which stays between runs; let the program work as in tests first "
            "(program.clone(for_test=True)), or name only outputs that do not need it"
        )


def place_of(op: Operator) -> str:
    """Where the user made an operator."""
    return f" (made at {op.callsite})" if op.callsite is not None else ""


def _begins_at(op: Operator, batched: Iterable[str]) -> bool:
    """Whether an operator begins the gradient of a loss that each example has its own of."""
    return op.first_output.partition(GRAD)[0] in batched


def _driven(ops: Iterable[Operator], name: str) -> Iterable[int]:
    """The blocks of operators that know a name, which is to stay."""
    for op in ops:
        if "sub_block" in op.attrs and (op.reads(name) or op.writes(name)):
            yield op.attrs["sub_block"]
