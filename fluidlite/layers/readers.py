"""Readers that are part of a program: it pulls batches itself, and is fed nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import Kind, as_dtype
from ..ground.place import Place
from ..ir.program import default_main_program, default_startup_program
from ..ir.variable import Variable
from ..opdef.sources import FEEDER, is_taken
from ..opdef.spec import Spec
from .io import as_sizes
from .layer import LayerBuilder, layer


def py_reader(
    capacity: int,
    shapes: Sequence[Sequence[int | None]],
    dtypes: Sequence[Any],
    lod_levels: Sequence[int] | None = None,
    name: str | None = None,
    use_double_buffer: bool = True,
) -> Variable:
    """A reader that Python fills, for :func:`read_file`.

    It has ``decorate_paddle_reader`` (a reader of lists of samples), ``decorate_tensor_provider``
    (a reader of batches), ``start`` and ``reset``.  Runs of the program raise
    ``fluid.core.EOFException`` when there are no more batches.

    Args:
        capacity: how many batches are read ahead at most.
        shapes: of each variable of a batch; None or -1 where unknown.
        dtypes: element type of each.
        lod_levels: number of levels of sequences of each; none when None.
        name: the stem of the names in the program; generated when None.
        use_double_buffer: put the operator of a double buffer into the program; batches are read
            ahead in any case.

    Returns:
        The reader.

    Raises:
        ArgumentError: the lists have different lengths, or the capacity is not positive.

    >>> reader = fluid.layers.py_reader(4, [[-1, 3], [-1, 1]], ["float32", "int64"])
    >>> x, label = fluid.layers.read_file(reader)
    >>> total = fluid.layers.reduce_sum(x)
    >>> reader.decorate_paddle_reader(lambda: iter([[([1, 2, 3], [0])]]))
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> reader.start()
    >>> exe.run(fetch_list=[total])
    [array([6.], dtype=float32)]
    """
    levels = [0] * len(dtypes) if lod_levels is None else list(lod_levels)
    if not len(shapes) == len(dtypes) == len(levels):
        raise ArgumentError(
            f"py_reader: expected a shape, an element type and a level for each variable, got "
            f"{len(shapes)} shapes, {len(dtypes)} types, {len(levels)} levels"
        )
    what = name or "py_reader"
    specs = [
        Spec(tuple(as_sizes(what, shape)), as_dtype(dtype), Kind.LOD_TENSOR, level)
        for shape, dtype, level in zip(shapes, dtypes, levels)
    ]
    return _started_by_startup(capacity, specs, [False] * len(specs), name, use_double_buffer)


def create_py_reader_by_data(
    capacity: int,
    feed_list: Sequence[Variable],
    name: str | None = None,
    use_double_buffer: bool = True,
) -> Variable:
    """A reader as of :func:`py_reader`, of variables like those of a list.

    Args:
        capacity: how many batches are read ahead at most.
        feed_list: variables that are fed; their shapes and element types are taken.
        name: the stem of the names in the program; generated when None.
        use_double_buffer: put the operator of a double buffer into the program.

    Returns:
        The reader.

    Raises:
        ArgumentError: the list holds something else, or the capacity is not positive.

    >>> x = fluid.data("x", [None, 3])
    >>> reader = fluid.layers.create_py_reader_by_data(4, [x])
    >>> fluid.layers.read_file(reader).shape
    (-1, 3)
    """
    if not feed_list or not all(isinstance(v, Variable) for v in feed_list):
        raise ArgumentError(
            f"create_py_reader_by_data: expected a list of variables, got {feed_list!r:.60}"
        )
    specs = [Spec(v.shape, v.dtype, Kind.LOD_TENSOR, v.lod_level) for v in feed_list]
    checks = [v.need_check_feed for v in feed_list]
    return _started_by_startup(capacity, specs, checks, name, use_double_buffer)


def _started_by_startup(
    capacity: int, specs: Sequence[Spec], checks: Sequence[bool], name: str | None, twice: bool
) -> Variable:
    """A reader that the startup program makes."""
    queue = fresh("lod_tensor_blocking_queue") if name is None else f"{name}_queue"
    title = unique_name.generate("create_py_reader") if name is None else f"{name}_reader"
    feeder = FEEDER.get()(queue, title, capacity, specs)
    startup = default_startup_program().current_block()
    made = reader_variable(startup, title, specs, stop_gradient=False)
    append_reader(startup, queue, made, specs, checks)
    reader = reader_variable(default_main_program().current_block(), title, specs)
    if twice:
        reader = double_buffer(reader, name=f"{name}_double_buffer" if name else None)
    feeder.attach(reader)
    return reader


def fresh(stem: str) -> str:
    """A generated name of a queue that no reader fills."""
    name = unique_name.generate(stem)
    while is_taken(name):
        name = unique_name.generate(stem)
    return name


def reader_variable(
    block: Any, name: str, specs: Sequence[Spec], stop_gradient: bool = True
) -> Variable:
    """A variable of a block that holds a reader.

    Args:
        block: where it is declared.
        name: its name.
        specs: of the variables that it gives.
        stop_gradient: as of any variable.
    """
    reader: Variable = block.declare_var(
        name, type=Kind.READER, persistable=True, stop_gradient=stop_gradient
    )
    reader.elements = tuple(specs)
    return reader


def append_reader(
    block: Any, queue: str, reader: Variable, specs: Sequence[Spec], checks: Sequence[bool]
) -> None:
    """Append the operator that makes a reader of a queue.

    Args:
        block: where it is put.
        queue: the queue's name.
        reader: the variable that holds the reader.
        specs: of the variables that it gives.
        checks: whether what is read must have the declared shape and element type.
    """
    block.append_op(
        "create_py_reader",
        {"blocking_queue": [queue]},
        {"Out": [reader]},
        {
            "shape_concat": [n for spec in specs for n in spec.shape],
            "lod_levels": [spec.lod_level for spec in specs],
            "dtypes": [int(spec.dtype) for spec in specs],
            "need_check_feed": [int(check) for check in checks],
            "ranks": [spec.ndim for spec in specs],
        },
    )


def double_buffer(
    reader: Variable, place: Place | None = None, name: str | None = None
) -> Variable:
    """A reader of the same batches.  Readers read ahead in any case; this is the operator that says
    so in fluid 1.8's programs.

    Args:
        reader: a reader.
        place: accepted for old scripts; there is one place.
        name: of the reader that is made; generated when None.

    Returns:
        The reader.

    Raises:
        ArgumentError: it is no reader.

    >>> reader = fluid.layers.py_reader(4, [[-1, 3]], ["float32"], use_double_buffer=False)
    >>> fluid.layers.double_buffer(reader, name="twice").type
    VarType.READER
    """
    _need_reader("double_buffer", reader)
    title = unique_name.generate("double_buffer") if name is None else name
    block = default_main_program().current_block()
    buffered = reader_variable(block, title, reader.elements)
    block.append_op(
        "create_double_buffer_reader",
        {"UnderlyingReader": [reader]},
        {"Out": [buffered]},
        {"place": "AUTO"},
    )
    return buffered


@layer
def read_file(f: LayerBuilder, reader: Variable) -> Variable | list[Variable]:
    """The variables of the next batch of a reader.

    Args:
        reader: what :func:`py_reader` gave.

    Returns:
        A list of variables; the variable itself if there is one.

    Raises:
        ArgumentError: it is no reader.

    >>> reader = fluid.layers.py_reader(4, [[-1, 3], [-1, 1]], ["float32", "int64"])
    >>> [v.name for v in fluid.layers.read_file(reader)]
    ['read_file_0.tmp_0', 'read_file_0.tmp_1']
    """
    _need_reader("read_file", reader)
    found = [_read_variable(f, spec) for spec in reader.elements]
    f.block.append_op("read", {"Reader": [reader]}, {"Out": found})
    return found[0] if len(found) == 1 else found


def _read_variable(f: LayerBuilder, spec: Spec) -> Variable:
    made = f.new_variable(spec.dtype)
    made.take_spec(spec)
    made.stop_gradient = True
    return made


def _need_reader(what: str, reader: Any) -> None:
    if not isinstance(reader, Variable) or reader.kind is not Kind.READER:
        raise ArgumentError(
            f"{what}: expected a reader, as layers.py_reader gives it, got {reader!r:.60}"
        )


__all__ = [
    "create_py_reader_by_data", "double_buffer", "py_reader", "read_file",
]  # fmt: skip
