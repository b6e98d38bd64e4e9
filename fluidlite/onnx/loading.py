"""Models of ONNX as programs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, UnsupportedError, suggestion
from ..ground import state
from ..ground.advice import SHAPES
from ..ground.dtypes import as_dtype
from ..ir.foreign import mark_all
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..scope import Scope, global_scope
from .building import Appending
from .graphs import GraphReader, Unread
from .reading import Tensors, read_model
from .size_names import name_sizes
from .types import numpy_type
from .widened import HELD, Widened, bare


@dataclass
class Imported:
    """A loaded model; it unpacks like the result of ``load_inference_model``.

    >>> import onnx
    >>> y = fluid.layers.relu(fluid.data("x", [None, 2], "float32"), name="y")
    >>> written = fluid.onnx.export(fluid.default_main_program(), "m.onnx", fetches=[y])
    >>> model = fluid.onnx.load("m.onnx")
    >>> program, feeds, fetches = model
    >>> feeds, [variable.name for variable in fetches]
    (['x'], ['y.tmp_0'])
    """

    program: Program
    startup: Program  #: empty: the parameters have their values; for what is built upon the model
    scope: Scope  #: holds the parameters
    feeds: list[str]  #: names of what is fed
    fetches: list[Variable]
    opset: int
    metadata: dict[str, str]  #: what the file says of itself
    wider: dict[str, str] = field(default_factory=dict)
    """By name of what is fed or fetched the model's element type, where variables have a wider
    one."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.program, self.feeds, self.fetches))

    def __repr__(self) -> str:
        ends = ", ".join(self.feeds), ", ".join(v.name for v in self.fetches)
        return f"Imported({' -> '.join(ends)}, {len(self.program.global_block().ops)} operators)"


def load(
    path: Any,
    feeds: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
    trainable: Callable[[str], bool] | Collection[str] | None = None,
    scope: Scope | None = None,
) -> Imported:
    """Read a model of ONNX as a program, with its parameters in a scope.

    Args:
        path: of the file; what it keeps in files of their own lies in its folder.  Or the message,
            a ``ModelProto``.
        feeds: by name of an input its shape, where the model leaves sizes open and an operator
            asks for them; -1 for a size that stays unknown.
        constants: values of inputs that will never change; they are inputs no more.
        trainable: which initializers are parameters that optimizers update: their names, or a
            function of a name; when None, those of floating-point type that have a dimension
            and that operators do not take as settings or statistics.
        scope: takes the parameters; the global scope when None.

    Returns:
        the program, what to feed and to fetch; ``program, feeds, fetches = load(path)`` works, too.

    Raises:
        FileError: a file cannot be read; says why.
        FileFormatError: it is no such model, or damaged; says where.
        UnsupportedError: nodes have no form here: all of them, with the name and the reason; or the
            package ``onnx`` is not installed.
        ArgumentError: the model has no such input, or no such initializer.

    >>> import onnx
    >>> y = fluid.layers.relu(fluid.data("x", [None, 2], "float32"))
    >>> written = fluid.onnx.export(fluid.default_main_program(), "m.onnx", fetches=[y])
    >>> model = fluid.onnx.load("m.onnx")
    >>> x = np.array([[-1.0, 2.0]], "float32")
    >>> fluid.Executor().run(model.program, {"x": x}, model.fetches)[0].tolist()
    [[0.0, 2.0]]
    """
    held = scope or global_scope()
    with _built(path, feeds or {}, constants or {}, trainable) as built:
        reader, f, env = built.reader, built.f, built.env
        graph = built.message.graph
        names = (*(each.name for each in graph.input), *(each.name for each in graph.output))
        wider = {
            reader.named(n): v.name
            for n in names
            if isinstance(v := env.get(n), Widened) and n not in built.known
        }
        outputs = [bare(value) for value in built.ends]
        reader.raise_failures()
        fetches = [
            _output(f, value, reader.named(each.name)) for each, value in zip(graph.output, outputs)
        ]
    program = f.program
    name_sizes(program, built.message.graph, reader.named)
    mark_all(program)
    _drop_unread(program, fetches)
    _take_names(program)
    held.commit({n: a for n, a in f.held.items() if n in program.global_block().vars})
    metadata = _metadata(built.message)
    ends = built.fed, fetches, built.opsets[""]
    return Imported(program, built.startup, held, *ends, metadata, wider)


@dataclass
class Survey:
    """What there is to say of a model that cannot be loaded."""

    program: Program  #: of the nodes that could be built
    opset: int
    unread: list[Unread]  #: all that has no form here


def survey(path: Any) -> Survey:
    """Read a model of ONNX as far as that can be done.

    Args:
        path: as of :func:`load`.

    Raises:
        FileError: a file cannot be read; says why.
        FileFormatError: it is no such model, or damaged; says where.
        UnsupportedError: the package ``onnx`` is not installed.
    """
    with _built(path, {}, {}, None) as built:
        mark_all(built.f.program)
        return Survey(built.f.program, built.opsets[""], built.reader.unread)


@dataclass
class _Built:
    """A model whose graph was read, and what of it could not be."""

    message: Any
    opsets: dict[str, int]
    startup: Program
    f: Appending
    reader: GraphReader
    known: dict[str, Any]  #: inputs that are constants
    env: dict[str, Any]  #: values by name
    fed: list[str]
    ends: list[Any]  #: values of the outputs


@contextlib.contextmanager
def _built(
    path: Any, feeds: Mapping[str, Any], constants: Mapping[str, Any], trainable: Any
) -> Iterator[_Built]:
    """A model, with the programs that it is built in as the current ones."""
    is_path = isinstance(path, (str, os.PathLike))
    message = read_model(path) if is_path else path
    opsets = _opsets(message)
    program, startup = Program(), Program()
    with unique_name.guard(), program_guard(program, startup), state.eager.guard(None):
        f = Appending(program)
        tensors = Tensors(os.fspath(path) if is_path else "the model")
        reader = GraphReader(f, tensors, opsets, message)
        graph = message.graph
        env = reader.constants_of(graph)
        known = _constants(graph, constants, env)
        choose = _choice(trainable, env, _metadata(message))
        for key, array in list(env.items()):
            if not choose(key, bare(array)):
                continue
            made = _parameter(f, reader.named(key), bare(array))
            env[key] = Widened(made, array.number) if isinstance(array, Widened) else made
        env.update(known)
        fed = _inputs(f, graph, env, feeds, reader)
        ends = reader.run(graph, env)
        for each, value in zip(graph.output, map(bare, ends)):
            if not isinstance(value, (Variable, np.ndarray)) and value is not reader.missing:
                reader.fail(f"output {each.name!r}", "it is no tensor")
        reader.note_unknown(graph)
        yield _Built(message, opsets, startup, f, reader, known, env, fed, ends)


def _metadata(message: Any) -> dict[str, str]:
    """What a model says of itself."""
    return {each.key: each.value for each in message.metadata_props}


def _opsets(message: Any) -> dict[str, int]:
    """The versions of operators by domain."""
    found = {_domain(each.domain): each.version for each in message.opset_import}
    found.setdefault("", 1)  # operators of other domains only
    return found


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _constants(graph: Any, given: Mapping[str, Any], env: dict[str, Any]) -> dict[str, Any]:
    """What is said of inputs that never change."""
    names = {each.name: each for each in graph.input}
    constants = {}
    for name, value in given.items():
        if name not in names:
            raise ArgumentError(f"the model has no input {name!r}{suggestion(name, names)}")
        array = np.asarray(value)
        number = names[name].type.tensor_type.elem_type
        dtype = held_type(number)
        if array.dtype != dtype:
            raise ArgumentError(f"expected {name!r} to be {dtype}, got {array.dtype} in constants")
        env.pop(name, None)
        constants[name] = Widened(array, number) if number in HELD else array
    return constants


def held_type(number: int) -> np.dtype[Any]:
    """The element type of variables that hold values of one of ONNX's.

    Raises:
        UnsupportedError: there is none.
    """
    return HELD[number][0] if number in HELD else numpy_type(number)


def _choice(trainable: Any, env: Mapping[str, Any], metadata: Mapping[str, str]) -> Any:
    """A function that says whether an initializer is a parameter."""
    own = metadata.get("made_by") == "fluidlite"

    def by_name(name: str) -> bool:
        return not (own and name.startswith("constant_"))

    if trainable is None or callable(trainable):
        wanted: Any = trainable or by_name
    else:
        names = {trainable} if isinstance(trainable, str) else set(trainable)
        for name in sorted(names - set(env)):
            raise ArgumentError(f"the model has no initializer {name!r}{suggestion(name, env)}")
        wanted = names.__contains__
    return lambda name, array: (
        isinstance(array, np.ndarray)
        and array.dtype.kind == "f"
        and array.ndim > 0
        and array.size > 0
        and wanted(name)
    )


def _parameter(f: Appending, name: str, array: Any) -> Variable:
    made = f.program.global_block().create_parameter(array.shape, array.dtype, name)
    f.held[name] = array
    return made


def _inputs(
    f: Appending, graph: Any, env: dict[str, Any], feeds: Mapping[str, Any], reader: GraphReader
) -> list[str]:
    """Declare what is fed."""
    names = [each.name for each in graph.input]
    for name in feeds:
        if name not in names:
            raise ArgumentError(f"the model has no input {name!r}{suggestion(name, names)}")
    fed = []
    for value_info in graph.input:
        if value_info.name in env:
            continue
        try:
            shape, dtype = input_type(value_info, feeds.get(value_info.name))
        except UnsupportedError as error:
            reader.fail(f"input {value_info.name!r}", str(error))
            env[value_info.name] = reader.missing
            continue
        variable = f.program.global_block().declare_var(
            name=reader.named(value_info.name),
            shape=shape,
            dtype=as_dtype(dtype),
            is_data=True,
            need_check_feed=True,
            stop_gradient=True,
        )
        number = value_info.type.tensor_type.elem_type
        env[value_info.name] = Widened(variable, number) if number in HELD else variable
        fed.append(variable.name)
    return fed


def input_type(info: Any, given: Any = None) -> tuple[tuple[int, ...], Any]:
    """The shape of an input, -1 where a size is unknown, and its element type.

    Raises:
        UnsupportedError: it is no tensor, or how many dimensions it has is not known.
        ArgumentError: what is said of its shape contradicts the model.
    """
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise UnsupportedError(f"it is no tensor, but of {kind or 'no type'}")
    tensor = info.type.tensor_type
    dtype = held_type(tensor.elem_type)
    sizes = None
    if tensor.HasField("shape"):
        sizes = tuple(
            d.dim_value if d.WhichOneof("value") == "dim_value" and d.dim_value >= 0 else -1
            for d in tensor.shape.dim
        )
    if given is None:
        if sizes is None:
            raise UnsupportedError(f"the model does not tell its shape; give it: {SHAPES}")
        return sizes, dtype
    wanted = tuple(-1 if n is None else int(n) for n in getattr(given, "shape", given))
    if sizes is not None and (
        len(sizes) != len(wanted) or any(-1 != m != n for m, n in zip(sizes, wanted))
    ):
        raise ArgumentError(
            f"expected {info.name!r} like {list(sizes)}, as the model has it, got {list(wanted)} "
            "in feeds"
        )
    return wanted, dtype


def _output(f: Appending, value: Any, name: str) -> Variable:
    """A value as the variable of an output."""
    variable = f.variable(value)
    if variable.name == name and variable.block is f.program.global_block():
        return variable
    block = f.program.global_block()
    made = block.declare_var(name=name if not block.has_var(name) else f"{name}.out")
    block.append_op("assign", {"X": variable}, {"Out": made})
    return made


def _take_names(program: Program) -> None:
    """Let what is generated for layers to come differ from the names of a model: it may have been
    exported from layers.
    """
    counts = unique_name.current().counts
    for name in {v.name for v in program.list_vars()}:
        for number in _NUMBERED.finditer(name):
            stem = name[: number.start()]
            counts[stem] = max(counts.get(stem, 0), int(number[1]) + 1)


_NUMBERED = re.compile(r"_([0-9]{1,9})(?=\.|$)")


def _drop_unread(program: Program, fetches: list[Variable]) -> None:
    """Take out the initializers that no operator reads."""
    read = {n for block in program.blocks for op in block.ops for n in op.input_arg_names}
    read.update(v.name for v in fetches)
    block = program.global_block()
    block.set_vars([v for v in block.vars.values() if v.name in read or not v.persistable])
