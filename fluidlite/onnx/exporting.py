"""Programs as ONNX models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnknownVariableError, UnsupportedError, suggestion
from ..ground.docstrings import Family
from ..ground.dtypes import Kind, as_dtype
from ..ground.files import Path
from ..ground.quoting import escaping
from ..ground.values import LoDTensor, bare
from ..io.contents import read
from ..io.inference import ends_of, inference_program
from ..io.variables import is_persistable
from ..ir.analysis import writes_of
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.sequences import lengths_text
from ..opdef.spec import Spec
from ..scope import Scope, global_scope
from .blocks import BlockWriter
from .graph import OnnxGraph
from .model import OLDEST_OPSET, OPSET, model_of, write_model
from .tracing import TracedArray

NEEDS = 'pip install "fluidlite[onnx]"'


@dataclass
class Export:
    """The file that :func:`export` wrote, and what ONNX does otherwise.

    >>> import onnx
    >>> y = fluid.layers.relu(fluid.data("x", [None, 2], "float32"), name="y")
    >>> written = fluid.onnx.export(fluid.default_main_program(), "m.onnx", fetches=[y])
    >>> written.inputs, written.outputs, written.ways["relu"]
    (['x'], ['y.tmp_0'], 'map')
    """

    path: str
    inputs: list[str]
    outputs: list[str]
    ways: dict[str, str] = field(default_factory=dict)
    """By type of operator: "map" (a form of its own), "composition", or "kernel"."""
    notes: list[str] = field(default_factory=list)  #: what ONNX does otherwise

    @escaping
    def __str__(self) -> str:
        lines = [f"{self.path}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}"]
        return "\n".join([*lines, *self.notes])


#: the functions that write programs in other forms
EXPORTS = Family(
    {
        "source": "the program, its parameters in ``scope``; or the path of what ``fluid.io.read`` "
        "knows as a model.",
        "feeds": "the inputs: names, or by name their shapes (-1 for a size that stays unknown), "
        "arrays or LoDTensors that are like what will be fed; what the program feeds when None.",
        "fetches": "variables or their names; what the program fetches when None.",
        "scope": "holds the parameters; the global scope when None.",
    },
    returns="what was written, and how.",
)


@EXPORTS
def export(
    source: Program | Path,
    path: Path,
    feeds: Mapping[str, Any] | Sequence[str] | None = None,
    fetches: Sequence[Any] | None = None,
    opset: int = OPSET,
    scope: Scope | None = None,
    updates: bool = False,
) -> Export:
    """Write a program, or a saved inference model, as an ONNX model.

    Args:
        path: of the file.
        opset: the version of ONNX's operators.
        updates: write a whole step, as it is built: persistable variables that it changes are
            inputs too, whose values here are what is taken where nothing is fed, and what they
            become is given under their name and ``@NEXT``.  Else what is fetched is computed as in
            a test, as :func:`save_inference_model` has it.

    Raises:
        UnsupportedError: operators have no form in ONNX: all of them, with the line and the reason;
            or the package ``onnx`` is not installed.
        ArgumentError: there is nothing to fetch, or the opset is too old or not known.
        UnknownVariableError: the program has no variable of that name.
        FileError: the file cannot be written.

    >>> import onnx
    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.relu(x, name="y")
    >>> print(fluid.onnx.export(fluid.default_main_program(), "m.onnx", fetches=[y]))
    m.onnx: x -> y.tmp_0
    """
    program, values, where = source_of(source, scope)
    _check_opset(opset)
    whole, names, fetches = ends_given(feeds, fetches)
    program, feeding, fetching = part_of(program, names, fetches, where, updates)
    changed = changed_by(program) if updates else []
    graph = OnnxGraph()
    writer = BlockWriter(graph, values, changed)
    writer.read = names_read(program, [*fetching, *changed])
    env: dict[str, Any] = {}
    block = program.global_block()
    for name in feeding:
        value = _input(graph, block.var(name), whole.get(name))
        value.cell.size_names = block.var(name).size_names
        graph.inputs.append(value.cell)
        env[name] = value
    writer.run_block(block, env)
    writer.raise_failures()
    for name in fetching:
        found = env.get(name)
        if not isinstance(found, (TracedArray, np.ndarray)):
            raise UnsupportedError(f"what is fetched, {name!r}, is no tensor")
        graph.outputs.append(_output(writer, found, name).cell)
        if name in block.vars:
            graph.outputs[-1].size_names = block.var(name).size_names
    for name in changed:
        graph.outputs.append(_output(writer, env[name], f"{name}@NEXT").cell)
    metadata = {"source": where, "made_by": "fluidlite"}
    for name, like in whole.items():
        if isinstance(like, LoDTensor) and like.offsets:
            metadata[f"sequence_lengths of {name}"] = lengths_text(like.offsets)
    model = model_of(graph, opset, metadata)
    write_model(model, os.fspath(path))
    inputs, outputs = ([cell.name for cell in ends] for ends in (graph.inputs, graph.outputs))
    return Export(os.fspath(path), inputs, outputs, writer.ways, sorted(set(graph.checks)))


def _output(writer: BlockWriter, value: Any, name: str) -> TracedArray:
    """A value as an output of the model under a name."""
    if not isinstance(value, TracedArray):
        value = writer.graph.constant(bare(value))
    cell, inputs = value.cell, writer.graph.inputs
    if cell.name != name or cell in inputs or cell.constant is not None:
        made = writer.graph.Identity(value)
        made.spec, value = value.spec, made
        if cell.name == name and cell not in inputs:
            cell.name = ""
    if any(each.name == name for each in inputs):  # what a run changes is given and taken
        name = f"{name}.out"
    value.cell.name, value.cell.spec = name, value.spec
    return value


def names_read(program: Program, fetched: Iterable[str]) -> set[str]:
    """The variables that operators read, or that are fetched."""
    return {*fetched, *(n for b in program.blocks for op in b.ops for n in op.input_arg_names)}


def changed_by(program: Program) -> list[str]:
    """The persistable variables that a program changes."""
    held = {v.name for v in program.list_vars() if is_persistable(v)}
    return sorted({n for op in program.global_block().ops for n in writes_of(op) if n in held})


def _check_opset(opset: int) -> None:
    try:
        import onnx
    except ImportError as error:
        raise UnsupportedError(
            f"ONNX needs the package onnx, which is not here: {NEEDS}"
        ) from error
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST_OPSET <= opset <= newest:
        raise ArgumentError(
            f"expected opset from {OLDEST_OPSET} to {newest}, which the installed onnx knows, got "
            f"{opset}: operators of older ones take other inputs"
        )


def source_of(source: Any, scope: Any) -> tuple[Program, Any, str]:
    """The program, a function that gives the value of a variable, and where it is from."""
    if isinstance(source, Program):
        held = scope or global_scope()
        return source, held.host_value, "a program"
    if not isinstance(source, (str, os.PathLike)):
        raise ArgumentError(
            f"expected a program, or the path of one, to export, got {source!r:.60} of type "
            f"{type(source).__name__}"
        )
    contents = read(source)
    if contents.program is None:
        raise ArgumentError(f"{contents.path} ({contents.kind}) holds no program to export")
    return contents.program, contents.variables.get, contents.path


def ends_given(feeds: Any, fetches: Any) -> tuple[Mapping[str, Any], list[str] | None, Any]:
    """What is said to be fed and fetched: values like those that are fed, by name; names that are
    fed, and what is fetched, None where nothing is said.
    """
    feeds = [feeds] if isinstance(feeds, str) else feeds
    fetches = [fetches] if isinstance(fetches, (str, Variable)) else fetches
    names = None if feeds is None else [str(getattr(f, "name", f)) for f in feeds]
    return feeds if isinstance(feeds, Mapping) else {}, names, fetches


def part_of(
    program: Program, feeds: Any, fetches: Any, where: str, whole: bool
) -> tuple[Program, list[str], list[str]]:
    """The part that computes the targets, with the names of its ends."""
    fed, fetched = ends_of(program, where)
    block = program.global_block()
    if fetches is None and not fetched:
        raise ArgumentError("the program fetches nothing; say what to fetch: fetches=[variable]")
    targets = []
    for each in fetched if fetches is None else fetches:
        name = str(getattr(each, "name", each))
        if name not in block.vars:
            raise UnknownVariableError(
                f"the program has no variable {name!r} to fetch{suggestion(name, block.vars)}"
            )
        targets.append(block.vars[name])
    if feeds is None:
        feeds = fed or [v.name for v in block.vars.values() if v.is_data]
    for name in feeds:
        if name not in block.vars:
            raise UnknownVariableError(
                f"the program has no variable {name!r} to feed{suggestion(name, block.vars)}"
            )
    if whole or (fetched and fetches is None):
        return program, list(feeds), [v.name for v in targets]
    try:
        part, _ = inference_program(program, list(feeds), targets)
    except UnknownVariableError as error:
        names = ", ".join(repr(v.name) for v in targets)
        raise ArgumentError(
            f"expected {names} to be computed in a test too, got what only a step of training has "
            f"({error}); write a whole step: updates=True"
        ) from error
    return part, list(feeds), [v.name for v in targets]


def _input(graph: OnnxGraph, variable: Any, like: Any) -> TracedArray:
    """An input of the model."""
    shape, dtype, offsets = fed_like(variable, like)
    return graph.value(Spec(shape, dtype), variable.name).having(offsets)


def fed_like(variable: Any, like: Any) -> tuple[tuple[int, ...], Any, Any]:
    """Shape, element type and sequences of what is fed.

    Args:
        variable: what is declared.
        like: a shape, an array or a LoDTensor that is like it; None for what is declared.

    Raises:
        UnsupportedError: it is no tensor.
        ArgumentError: it is unlike its declaration.
    """
    if variable.kind is not Kind.LOD_TENSOR:
        raise UnsupportedError(f"what is fed, {variable.name!r}, is no tensor")
    offsets: Any = ()
    shape, dtype = tuple(variable.shape), variable.dtype
    if isinstance(like, LoDTensor):
        offsets, shape, dtype = like.offsets, bare(like).shape, as_dtype(bare(like).dtype)
    elif hasattr(like, "shape"):
        shape, dtype = tuple(like.shape), as_dtype(like.dtype)
    elif like is not None:
        shape = tuple(-1 if n is None else int(n) for n in like)
    if len(shape) != len(variable.shape) or dtype != variable.dtype:
        raise ArgumentError(
            f"expected {variable.name!r} like {variable.dtype}{list(variable.shape)}, as it is "
            f"declared, got {dtype}{list(shape)} in feeds"
        )
    return shape, dtype, offsets
