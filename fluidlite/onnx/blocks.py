"""Writing the operators of a block down, one after the other, and gathering what cannot be."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import FluidError, UnsupportedError
from ..ground.advice import SHAPES
from ..ground.values import bare
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad
from ..opdef.sequences import lod_of
from ..runtime.shared_lod import shared_lod
from .tracing import SizesNeeded, TracedArray
from .writing import Form, Writer

#: type of an operator that drives a block -> the function that writes it down
CONTROL: dict[str, Form] = {}
_ENDS = ("feed", "fetch")


class BlockWriter(Writer):
    """Writes blocks of operators down.

    Args:
        graph: takes the nodes.
        held: gives the value of a persistable variable by its name.
        updated: the persistable variables that are inputs, since a run changes them.
    """

    control: ClassVar[Mapping[str, Form]] = CONTROL
    target = "ONNX"  #: what it writes

    def __init__(
        self, graph: Any, held: Callable[[str], Any], updated: Container[str] = ()
    ) -> None:
        super().__init__(graph)
        self.held = held
        self.updated = updated
        #: the names that are read by operators, or fetched; None where nobody knows
        self.read: Container[str] | None = None
        self._failures: list[str] = []
        self._unwritten: set[str] = set()  #: names that operators without a form would write

    def run_block(self, block: Block, env: dict[str, Any]) -> None:
        """Write the operators of a block down.

        Args:
            block: the block.
            env: values by name; takes the results.
        """
        for op in block.ops:
            if op.type in _ENDS:
                continue
            place = "" if op.callsite is None else f" at {op.callsite}"
            self.graph.innermost.origin = f"{op.type}{place}"
            try:
                self.run_op(op, env)
            except SizesNeeded as error:
                self._fail(op, f"{error}; give the shapes of what is fed: {SHAPES}")
            except (FluidError, TypeError, ValueError, AttributeError, IndexError) as error:
                self._fail(op, str(error))

    def value(self, block: Block, name: str, env: dict[str, Any]) -> Any:
        """The value of a variable; parameters become initializers.

        Raises:
            UnsupportedError: there is none.
        """
        if name in env:
            return env[name]
        held = self.held(name)
        if held is None:
            raise UnsupportedError(f"the variable {name!r} has no value")
        value = self.graph.constant(bare(held))
        value.cell.name = name
        if name in self.updated:
            value.cell.default, value.cell.constant = value.cell.constant, None
            self.graph.inputs.append(value.cell)
        env[name] = value.having(lod_of(held))
        return env[name]

    def run_op(self, op: Operator, env: dict[str, Any]) -> None:
        """Write one operator down."""
        if op.type in self.control:
            self.control[op.type](self, op, env)
            return
        instance = op.instance()
        ins: dict[str, Any] = {}
        for slot, names in op.inputs.items():
            declared = instance.input_slots.get(slot)
            if declared is None or slot in instance.fluid.unread or slot in instance.fluid.outside:
                continue
            read = [None if n == EMPTY else self.value(op.block, n, env) for n in names]
            ins[slot] = read if declared.many else read[0]
        lods = {
            slot: [lod_of(v) for v in (value if isinstance(value, list) else [value])]
            for slot, value in ins.items()
        }
        lods = {slot: found for slot, found in lods.items() if any(found)}
        want = None
        if self.read is not None:
            named = self.read
            want = {slot for slot, names in op.outputs.items() if any(n in named for n in names)}
        outs = self.apply(instance, ins, want)
        output_lods = instance.lods(ins)
        for slot, names in op.outputs.items():
            declared = instance.output_slots.get(slot)
            found = outs.get(slot)
            for i, name in enumerate(names):
                value = found[i] if isinstance(found, list) else found
                if value is None and name != EMPTY:
                    value = self._zeros(instance, slot, i, ins)
                if name == EMPTY or value is None or declared is None:
                    continue
                if output_lods is not None:
                    lod = output_lods.get(slot, ())
                else:
                    lod = shared_lod(instance, slot, i, ins, lods) if lods else ()
                env[name] = self.named(value, name).having(_fitting(value, lod))

    def _zeros(self, op: Op, slot: str, index: int, ins: dict[str, Any]) -> Any:
        """What a gradient operator leaves out because nothing flows there."""
        if not isinstance(op, DerivedGrad):
            return None
        forward = next((s for s, out in op.grad_slots.items() if out == slot), "")
        like = next((r.slot for r in op.reads if r.source == "in" and r.of == forward), "")
        value = ins.get(like)
        value = value[index] if isinstance(value, list) else value
        return None if value is None else self.fill_zeros_like(value)

    def named(self, value: Any, name: str) -> Any:
        """A value under a name of the program's."""
        if not isinstance(value, TracedArray):
            offsets = lod_of(value)
            made = self.graph.constant(bare(value))
            return made.having(offsets) if offsets else made
        cell = value.cell
        if cell.constant is not None and not cell.name:  # what is computed with it stays known
            return value
        if cell.constant is not None or (cell.name and cell.name != name):
            spec, offsets = value.spec, value.offsets
            value = self.graph.innermost.Identity(value)
            value.spec, value.offsets = spec, offsets
        value.cell.name, value.cell.spec = name, value.spec
        return value

    # -- what cannot be written --------------------------------------------------------------------

    def _fail(self, op: Operator, reason: str) -> None:
        """Note an operator; what depends on it is not looked at."""
        if any(n in self._unwritten for n in op.input_arg_names):
            self._unwritten.update(op.output_arg_names)
            return
        place = "" if op.callsite is None else f" at {op.callsite}"
        self._failures.append(f"  {op.type}{place} has no form in {self.target}: {reason}")
        self._unwritten.update(op.output_arg_names)

    def raise_failures(self) -> None:
        """Raise one error of all operators that could not be written.

        Raises:
            UnsupportedError: there are any.
        """
        if self._failures:
            listed = "\n".join(dict.fromkeys(self._failures))
            raise UnsupportedError(f"the program cannot be exported to {self.target}:\n{listed}")


def _fitting(value: Any, lod: Any) -> Any:
    """The sequences of a value; none where they do not fit its rows."""
    shape = value.sizes if isinstance(value, TracedArray) else np.shape(bare(value))
    return lod if lod and shape and shape[0] in (lod[-1][-1], -1) else lod_of(value)
