"""Programs as Python files that need NumPy alone."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..ground.advice import SHAPES
from ..ground.files import Path, Transaction
from ..ground.quoting import escaping, python_docstring, python_string
from ..ground.values import bare
from ..io.arrays import member_name, write_members
from ..ir.program import Program
from ..onnx.exporting import EXPORTS, changed_by, ends_given, fed_like, part_of, source_of
from ..onnx.tracing import Cell, TracedArray
from ..opdef.sequences import lengths_text
from ..opdef.spec import Spec
from . import control, control_gradients, forms, recurrence  # noqa: F401  they register what they write
from .definitions import Definitions, blocks
from .library import SequenceRows, expect, expect_rows
from .literals import Namer
from .rendering import WIDTH, Renderer, wrapped, wrapped_text
from .sizes import PROBES, FreeSize, Unlike, merged
from .statements import SourceGraph
from .writing import SourceWriter


@dataclass
class NumpySource:
    """The module that :func:`numpy_source` wrote.

    >>> y = fluid.layers.relu(fluid.data("x", [None, 2], "float32"), name="y")
    >>> written = fluid.export.numpy_source(fluid.default_main_program(), "m.py", fetches=[y])
    >>> written.function, written.inputs
    ('predict', ['x'])
    """

    path: str
    arrays: str  #: the path of the file of arrays
    function: str  #: ``predict``, or ``train_step`` where it changes parameters
    inputs: list[str]  #: what is fed, in the order of the function's parameters
    outputs: list[str]
    state: list[str] = field(default_factory=list)  #: what a step changes
    free: list[str] = field(default_factory=list)  #: the sizes for which the file holds whatever
    ways: dict[str, str] = field(default_factory=dict)
    """By type of operator: "form", "composition", "kernel", or "source" for that of its kernel."""
    notes: list[str] = field(default_factory=list)

    @escaping
    def __str__(self) -> str:
        given = ", ".join(["params", *self.inputs])
        lines = [f"{self.path}: {self.function}({given}) -> {', '.join(self.outputs)}"]
        return "\n".join([*lines, *self.notes])


@EXPORTS
def numpy_source(
    source: Program | Path,
    path: Path,
    scope: Any = None,
    feeds: Mapping[str, Any] | Sequence[str] | None = None,
    fetches: Sequence[Any] | None = None,
    updates: bool | None = None,
) -> NumpySource:
    """Write a program, or a saved inference model, as a Python file that needs NumPy alone.

    The file has a function, ``predict`` or ``train_step``, and what that calls; the parameters are
    in an ``.npz`` file beside it.

    Args:
        path: of the file, which ends in ``.py``.
        updates: write a whole step, which gives the parameters as it leaves them, too; when None,
            where the program has an optimizer.  Else what is fetched is computed as in a test.

    Raises:
        UnsupportedError: operators have no such form: all of them, with the line and the reason; or
            the text holds for given sizes only, and these are not given.
        ArgumentError: there is nothing to fetch, or the path does not end in ``.py``.
        UnknownVariableError: the program has no variable of that name.
        FileError: a file cannot be written.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.relu(x, name="y")
    >>> print(fluid.export.numpy_source(fluid.default_main_program(), "m.py", fetches=[y]))
    m.py: predict(params, x) -> y.tmp_0
    """
    path = os.fspath(path)
    if not path.endswith(".py"):
        raise ArgumentError(f"expected the path of a Python file, which ends in .py, got {path!r}")
    program, values, where = source_of(source, scope)
    whole, names, fetches = ends_given(feeds, fetches)
    if updates is None:
        updates = any(op.definition is not None and op.definition.is_update for op in _ops(program))
    program, fed, fetched = part_of(program, names, fetches, where, updates)
    changed = changed_by(program) if updates else []
    jobs = (_Job(program, values, fed, fetched, changed, whole, where, way) for way in _WAYS)
    text, arrays, exported = _first_that_fits(jobs, path)
    with Transaction() as files:
        files.write(path, text.encode())
        with files.open(exported.arrays) as file:
            write_members(file, arrays)
    return exported


#: names of sizes that are not known, by input and dimension: those of batches are the same; those
#: of a dimension are; all are
_WAYS: tuple[Callable[[str, int], str], ...] = (
    lambda name, axis: f"{name}_{axis}" if axis else "n",
    lambda name, axis: f"n_{axis}" if axis else "n",
    lambda name, axis: "n",
)


def _first_that_fits(jobs: Any, path: str) -> Any:
    """What is written by the first job that can be; the first one's error where none can."""
    failed: dict[int, UnsupportedError] = {}  # by the number of sizes that are not known
    for job in jobs:
        if len(job.free) not in failed:
            try:
                return job.written(path)
            except UnsupportedError as error:
                failed[len(job.free)] = error
    raise next(iter(failed.values()))


def _ops(program: Program) -> Any:
    return (op for block in program.blocks for op in block.ops)


@dataclass
class _Input:
    """What is fed: its name, and the specs that it has in each of the texts."""

    variable: Any
    shape: list[Any]  #: numbers, and free sizes
    dtype: Any
    offsets: Any = ()

    def spec(self, k: int) -> Spec:
        """Shape and element type in a text."""
        sizes = [n.probes[k] if isinstance(n, FreeSize) else n for n in self.shape]
        return Spec(tuple(sizes), self.dtype)


@dataclass
class _Body:
    """The text of a function, and what belongs to it."""

    text: str
    arrays: dict[str, Any]
    graph: SourceGraph
    writer: SourceWriter
    parameters: list[str]  #: what the function calls its inputs


class _Job:
    """One program that is written."""

    def __init__(
        self,
        program: Program,
        values: Any,
        fed: list[str],
        fetched: list[str],
        changed: list[str],
        like: Mapping[str, Any],
        where: str,
        named: Callable[[str, int], str],
    ) -> None:
        self._named = named  #: names a size that is not known; those of one name are the same
        self.program, self.values, self.where = program, values, where
        self.fetched, self.changed = fetched, changed
        self.free: list[FreeSize] = []
        self._shared: dict[str, FreeSize] = {}
        block = program.global_block()
        self.inputs = [self._input(block.var(name), like.get(name)) for name in fed]

    def _input(self, variable: Any, like: Any) -> _Input:
        shape, dtype, offsets = fed_like(variable, like)
        sizes: list[Any] = []
        for axis, n in enumerate(shape):
            sizes.append(self._free(self._named(variable.name, axis), n))
        return _Input(variable, sizes, dtype, offsets)

    def _free(self, like: str, size: int) -> Any:
        if size != -1:
            return size
        if like in self._shared:
            return self._shared[like]
        if len(self.free) == len(PROBES):
            raise UnsupportedError(
                f"more than {len(PROBES)} sizes are not known; give shapes: {SHAPES}"
            )
        name = "n" if like == "n" else Namer(f.name for f in self.free).name(like)
        free = self._shared[like] = FreeSize(name, PROBES[len(self.free)])
        self.free.append(free)
        return free

    # -- one text ----------------------------------------------------------------------------------

    def body(self, k: int) -> _Body:
        """The text for the k-th numbers of the free sizes."""
        graph = SourceGraph()
        writer = SourceWriter(graph, self.values, self.changed, self.program.random_seed)
        env: dict[str, Any] = {}
        for fed in self.inputs:
            value = graph.value(fed.spec(k), fed.variable.name)
            graph.inputs.append(value.cell)
            env[fed.variable.name] = value.having(fed.offsets)
        writer.run_block(self.program.global_block(), env)
        self._raise_failures(writer)
        namer = Namer(["predict", "train_step", "load", "KEYS", *(f.name for f in self.free)])
        namer.take(graph.helpers)
        namer.take(each.__name__ for each in (expect, expect_rows, SequenceRows))
        keys = _keys(graph)
        renderer = Renderer(namer, keys)
        inputs = [renderer.name(cell) for cell in graph.inputs]
        fetched = [self._end(graph, env, name) for name in self.fetched]
        changed = [self._end(graph, env, name) for name in self.changed]
        cells = [v.cell for v in (*fetched, *changed) if v.constant is None]
        lines = renderer.render(graph.statements, cells)
        lines += self._returned(renderer, fetched, changed, keys)
        read = {cell: key for cell, key in keys.items() if renderer.reads(cell)}
        arrays = {key: graph.tables[cell] for cell, key in read.items()}
        arrays |= {keys.get(v.cell, ""): graph.tables[v.cell] for v in fetched if v.cell in keys}
        arrays |= renderer.arrays
        for name in self.changed:
            held = self.values(name)
            if held is not None:
                arrays.setdefault(member_name(name), np.asarray(bare(held)))
        return _Body("\n".join(lines), arrays, graph, writer, inputs)

    def _raise_failures(self, writer: SourceWriter) -> None:
        try:
            writer.raise_failures()
        except UnsupportedError as error:
            if not self.free:
                raise
            raise UnsupportedError(f"{error};\n{self._advice()}") from None

    def _advice(self) -> str:
        sizes = ", ".join(f"{each.variable.name}: {self._declared(each)}" for each in self.inputs)
        return (
            f"sizes are not known ({sizes}); where that is the reason, give shapes, for which the "
            f"file then holds: {SHAPES}"
        )

    def _end(self, graph: SourceGraph, env: Mapping[str, Any], name: str) -> TracedArray:
        array = env.get(name)
        if isinstance(array, np.ndarray):
            return graph.constant(array)
        if not isinstance(array, TracedArray):
            raise UnsupportedError(f"what is fetched, {name!r}, is no tensor")
        return array

    def _returned(
        self, renderer: Renderer, fetched: Any, changed: Any, keys: Mapping[Cell, str]
    ) -> list[str]:
        """The lines that give results back."""
        pairs = [
            f"{python_string(name)}: {renderer.read(value)}"
            for name, value in zip(self.fetched, fetched)
        ]
        if not self.changed:
            return [f"    return {{{', '.join(pairs)}}}"]
        lines = [f"    outputs = {{{', '.join(pairs)}}}"]
        lines += ["    return outputs, {", "        **params,"]
        for name, value in zip(self.changed, changed):
            lines.append(f"        {python_string(member_name(name))}: {renderer.read(value)},")
        return [*lines, "    }"]

    # -- the file ----------------------------------------------------------------------------------

    def written(self, path: str) -> tuple[str, dict[str, Any], NumpySource]:
        """The text of the file, the arrays beside it, and what is said of them."""
        count = 3 if self.free else 1
        bodies = [self.body(k) for k in range(count)]
        first = bodies[0]
        try:
            text = first.text if count == 1 else merged([b.text for b in bodies], self.free)
            self._same_arrays(bodies)
        except Unlike as error:
            raise UnsupportedError(
                f"what is written depends on sizes: {self._advice()}. It differs in {error}"
            ) from None
        arrays = f"{path[: -len('.py')]}.npz"
        function = "train_step" if self.changed else "predict"
        exported = NumpySource(
            path,
            arrays,
            function,
            [each.variable.name for each in self.inputs],
            self.fetched,
            self.changed,
            [size.name for size in self.free],
            first.writer.ways,
            sorted(set(first.graph.checks)),
        )
        return self._file(first, wrapped_text(text), exported), first.arrays, exported

    def _declared(self, each: _Input) -> str:
        sizes = [n.name if isinstance(n, FreeSize) else str(n) for n in each.shape]
        return f"[{', '.join(sizes)}]"

    def _same_arrays(self, bodies: list[_Body]) -> None:
        for other in bodies[1:]:
            for key, array in bodies[0].arrays.items():
                found = other.arrays.get(key)
                if found is None or found.shape != array.shape:
                    raise Unlike(f"the array {key}")
                if found is not array and not np.array_equal(found, array):
                    raise Unlike(f"the array {key}")

    def _file(self, body: _Body, text: str, found: NumpySource) -> str:
        definitions = Definitions()
        ragged = [expect_rows] if any(each.offsets for each in self.inputs) else []
        for function in (expect, *ragged, *body.graph.helpers.values()):
            definitions.add(function)
        imports = sorted({*definitions.imports, "from pathlib import Path"})
        plain = [line for line in imports if line.startswith("import ") and "numpy" not in line]
        plain += [line for line in imports if line.startswith("from ")]
        head = [
            *self._docstring(found),
            "",
            "from __future__ import annotations",
            "",
            *plain,
            "",
            "import numpy as np",
            "",
            "",
        ]
        parts = [*blocks(definitions.sources), self._function(body, text, found), _load(found)]
        if parts[0].startswith(("def ", "class ", "@")):  # a constant stands one line below imports
            head.append("")
        return "\n".join(head) + "\n\n\n".join(parts) + "\n"

    def _docstring(self, found: NumpySource) -> list[str]:
        lines = [
            f'"""{_plain(os.path.basename(self.where) or "A program")} as NumPy, '
            "written by fluidlite.",
            "",
            f"{found.function}(load(), ...) computes it; load() reads the parameters.",
            '"""',
        ]
        return lines

    def _function(self, body: _Body, text: str, found: NumpySource) -> str:
        more = ["step=0", f"seed={self.program.random_seed}"] if body.graph.draws else []
        given = ", ".join(["params", *body.parameters, *more])
        lines = [*wrapped(f"def {found.function}({given}):"), *self._said(body, found)]
        seen: set[str] = set()
        shapes = [n.name for each in self.inputs for n in each.shape if isinstance(n, FreeSize)]
        used = {name for name in shapes if shapes.count(name) > 1}
        used |= set(re.findall(r"\w+", text))
        for name, fed in zip(body.parameters, self.inputs):
            sizes = [
                (n.name if n.name in seen else "None") if isinstance(n, FreeSize) else str(n)
                for n in fed.shape
            ]
            shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
            dtype = python_string(fed.dtype.dtype.name)
            if fed.offsets:
                levels = [np.diff(level).tolist() for level in fed.offsets]
                call = f"expect_rows({python_string(fed.variable.name)}, {name}, {levels})"
                lines += wrapped(f"    {name} = {call}")
            call = f"expect({python_string(fed.variable.name)}, {name}, {shape}, {dtype})"
            lines += wrapped(f"    {name} = {call}")
            repeated = False
            for axis, n in enumerate(fed.shape):
                if isinstance(n, FreeSize) and n.name not in seen and n.name in used:
                    seen.add(n.name)
                    lines.append(f"    {n.name} = {name}.shape[{axis}]")
                    repeated |= fed.shape.count(n) > 1
            if repeated:
                declared = f"({', '.join(str(getattr(n, 'name', n)) for n in fed.shape)})"
                call = f"expect({python_string(fed.variable.name)}, {name}, {declared}, {dtype})"
                lines += wrapped(f"    {name} = {call}")
        return "\n".join([*lines, text] if text else lines)

    def _said(self, body: _Body, found: NumpySource) -> list[str]:
        what = "One step of training." if self.changed else "What the model computes."
        lines = [f'    """{what}', "", "    Args:"]
        lines.append("        params: the parameters by name, as load() gives them.")
        for name, each in zip(body.parameters, self.inputs):
            line = f"{name}: {each.dtype.dtype.name}{self._declared(each)}"
            if each.offsets:
                line += f", in a pair with the lengths of sequences, {lengths_text(each.offsets)}"
            lines.append(f"        {_plain(line)}.")
        if body.graph.draws:
            lines.append("        step, seed: what random numbers follow from.")
        lines += ["", "    Returns:"]
        if self.changed:
            lines.append("        what is fetched by name, and the parameters after the step.")
        else:
            lines.append("        what is fetched, by name.")
        return [*lines, '    """']


def _plain(text: str) -> str:
    """Text of a program for a line of a docstring."""
    return python_docstring(text, WIDTH - 6)


def _load(found: NumpySource) -> str:
    default = python_string(os.path.basename(found.arrays))
    return "\n".join(
        [
            "def load(path=None):",
            '    """The parameters by name; from the file beside this one without a path."""',
            f"    path = Path(__file__).with_name({default}) if path is None else path",
            "    with np.load(path, allow_pickle=False) as arrays:",
            "        return dict(arrays)",
        ]
    )


def _keys(graph: SourceGraph) -> dict[Cell, str]:
    """What the file of arrays calls parameters and constants."""
    taken: set[str] = set()
    keys = {}
    for cell in graph.tables:
        stem = member_name(cell.name) or "constant"
        names = itertools.chain([stem], (f"{stem}.{k}" for k in itertools.count(2)))
        keys[cell] = next(name for name in names if name not in taken)
        taken.add(keys[cell])
    return keys
