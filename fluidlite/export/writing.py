"""Writing operators down as statements of Python: the interpreter that does it.

An operator's form is looked up in this order: the function that stands in ``forms``; the
composition that defines it; its kernel, run on arrays that write down what is done to them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import FluidError, UnsupportedError
from ..ground.quoting import python_string
from ..ground.values import bare
from ..ir.block import Block
from ..onnx.blocks import BlockWriter
from ..onnx.tracing import TracedArray
from ..onnx.writing import kernel_outputs
from ..opdef.definition import Op
from ..opdef.interpreter import takes_rng
from ..opdef.sequences import lod_of
from . import library
from .definitions import Definitions
from .kernels import KernelClass
from .literals import Part, call, identifier, joined, parts_of
from .namespace import DrawnNumbers, namespace
from .statements import SourceGraph

#: type of an operator -> the function that writes it down
SOURCE_FORMS: dict[str, Callable[..., Any]] = {}
#: type of an operator that drives a block -> the function that writes it down
DRIVERS: dict[str, Callable[..., Any]] = {}


def forms(*types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function writes operators of these types down.

    It takes the graph, the operator and the values of the input slots that are its parameters;
    gives the outputs, as kernels do; ``NotImplemented`` where the attributes have no form of their
    own, so that composition or kernel are written out.
    """

    def register(form: Callable[..., Any]) -> Callable[..., Any]:
        SOURCE_FORMS.update(dict.fromkeys(types, form))
        return form

    return register


class SourceWriter(BlockWriter):
    """Writes blocks of operators down as statements.

    Args:
        graph: takes the statements.
        held: gives the value of a persistable variable by its name.
        updated: the persistable variables that a run changes.
        seed: what random operators start from.
    """

    control: ClassVar[Mapping[str, Callable[..., Any]]] = DRIVERS
    target = "NumPy source"

    def __init__(
        self,
        graph: SourceGraph,
        held: Callable[[str], Any],
        updated: Container[str] = (),
        seed: int = 0,
    ) -> None:
        super().__init__(graph, held, updated)
        self._seed = seed
        self._key: str = ""
        self._tables: dict[str, TracedArray] = {}

    def run_op(self, op: Any, env: dict[str, Any]) -> None:
        """Write one operator down."""
        names = op.output_arg_names
        if names and op.definition is not None and op.definition.random:
            self._key = op.instance().random_key(names[0])
        super().run_op(op, env)

    def value(self, block: Block, name: str, env: dict[str, Any]) -> Any:
        """The value of a variable; parameters are read from the file of arrays."""
        known = env.get(name)
        if known is not None:
            return known
        if name not in self._tables:
            held = self.held(name)
            if held is None:
                raise UnsupportedError(f"the variable {name!r} has no value")
            table = self.graph.table(name, np.asarray(bare(held)), name not in self.updated)
            self._tables[name] = table.having(lod_of(held))
        return self._tables[name]

    def has(self, name: str, env: dict[str, Any]) -> bool:
        """Whether a variable has a value."""
        return env.get(name) is not None or self.held(name) is not None

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        given = [v for slot in op.fluid.rows for v in listed(ins.get(slot))]
        sparse = any(isinstance(v, TracedArray) and v.cell in self.graph.sparse for v in given)
        if sparse and op.type == "clip":
            raise UnsupportedError("it clips rows that are stored, which may be named twice")
        outs = super().apply(op, ins, want)
        if sparse and not op.is_update and op.type != "get_tensor_from_selected_rows":
            found = [v for value in outs.values() for v in listed(value)]
            self.graph.sparse.update(v.cell for v in found if isinstance(v, TracedArray))
        return outs

    def written(self, op: Op, ins: dict[str, Any], want: Any) -> tuple[dict[str, Any], str]:
        """The outputs of an operator by slot, written down, and the way that took."""
        form = SOURCE_FORMS.get(op.type)
        if form is not None:
            names = form.__code__.co_varnames[2 : form.__code__.co_argcount]
            given = [gathered(self.graph, _slot(ins, name)) for name in names]
            found = form(self.graph, op, *given)
            if found is not NotImplemented:
                return op.by_slot(found), "form"
        if op.is_composite:
            return op.outputs_for(self, ins, want), "composition"
        more = [self._numbers] if op.random and takes_rng(type(op).run) else []
        count = len(self.graph.statements)
        try:
            return kernel_outputs(op, namespace(self.graph), ins, *more), "kernel"
        except (FluidError, TypeError, ValueError, AttributeError, IndexError):
            self.graph.forget(count)  # it may write into an array that it makes
        try:
            return kernel_outputs(op, namespace(self.graph, True), ins, *more), "kernel"
        except (FluidError, TypeError, ValueError, AttributeError, IndexError):
            self.graph.forget(count)
            if more or type(op).run is None:
                raise
        return self._as_class(op, ins), "source"

    def _as_class(self, op: Op, ins: dict[str, Any]) -> dict[str, Any]:
        """A kernel that looks at values, as the source of a class."""
        name = "".join(part.capitalize() for part in identifier(op.type).split("_"))
        graph, kernel = self.graph, KernelClass(op, name)
        same = [k for k in graph.helpers.values() if getattr(k, "key", None) == kernel.key]
        if same:
            kernel = same[0]
        elif name in graph.helpers:
            kernel = KernelClass(op, f"{name}{len(graph.helpers)}")
        Definitions().add(kernel)  # refuses what does not go to a file
        graph.helpers[kernel.name] = kernel
        given = [self._argument(ins.get(slot)) for slot in op.run_reads["run"]]
        count = len(op.outputs)
        parts = [f"{kernel.name}().run(np, ", *joined(given), ")"]
        values = graph.expression(parts, outputs=count)
        outs: dict[str, Any] = {}
        for slot, value in zip(op.outputs, [values] if count == 1 else values, strict=True):
            if slot.many:
                raise UnsupportedError("its kernel gives lists of values that are looked at")
            if slot.ragged:
                graph.helpers["rows_of"] = library.rows_of
                value = graph.expression(call("rows_of", (value,), {}))
            outs[slot.name] = value
        return outs

    def _argument(self, value: Any) -> list[Part]:
        """What a kernel takes, with its sequences where it has some."""
        if isinstance(value, list):
            return ["[", *joined(self._argument(each) for each in value), "]"]
        offsets = lod_of(value)
        if not offsets:
            return parts_of(bare(value))
        self.graph.helpers["SequenceRows"] = library.SequenceRows
        return call("SequenceRows", (bare(value), tuple(map(tuple, offsets))), {})

    def _numbers(self, own: int = 0) -> DrawnNumbers:
        """The source of random numbers of the operator that is being written."""
        self.graph.draws = True
        if isinstance(own, TracedArray):
            raise UnsupportedError("its seed is computed")
        if own:
            self.graph.helpers["seeded"] = library.seeded
            return DrawnNumbers(self.graph, f"seeded({int(own)})")
        self.graph.helpers["stream"] = library.stream
        return DrawnNumbers(self.graph, f"stream(seed, step, {python_string(self._key)})")

    def named(self, value: Any, name: str) -> Any:
        """A value under a name of the program's."""
        if not isinstance(value, TracedArray):
            return self.graph.constant(bare(value)).having(lod_of(value))
        if not value.cell.name:
            value.cell.name = name
        return value


def _slot(ins: Mapping[str, Any], name: str) -> Any:
    """What a parameter of a form means: a slot, or after a ``d`` the gradient of one."""
    return ins[name] if name in ins else ins.get(f"{name[1:]}@GRAD")


def listed(value: Any) -> list[Any]:
    """The values of a slot."""
    return value if isinstance(value, list) else [value]


def gathered(graph: SourceGraph, value: Any) -> Any:
    """What a form takes: values of the graph, constants among them, or lists of them."""
    if isinstance(value, list):
        return [gathered(graph, each) for each in value]
    return graph.constant(value) if isinstance(value, np.ndarray) else value
