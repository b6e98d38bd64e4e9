"""Operators that readers of a program are made of.

They drive nothing, but like operators that drive blocks they are given the run of the program: a
reader is no tensor, and what ``read`` gives goes to variables as it is, with its LoD.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import EOFException, FeedError
from ..ground.dtypes import as_dtype
from ..ground.values import LoDTensor
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Detached
from ..opdef.fluid_form import FluidForm
from ..opdef.sources import source_of
from ..opdef.spec import agree


class ReaderOp(Detached, abstract=True):
    """An operator about a reader."""


class create_py_reader(ReaderOp):
    """Out = a reader of the batches that Python puts into a queue.

    blocking_queue: the queue, which no program declares.
    shape_concat: the sizes of all variables that it gives, one after the other.
    ranks: how many of them belong to each variable.
    lod_levels, dtypes, need_check_feed: of each variable.
    use_data_config, device_index, device_count: not read.
    """

    signature = "blocking_queue -> Out*"
    fluid: ClassVar[FluidForm] = FluidForm(unread=("blocking_queue",), outside=("blocking_queue",))
    shape_concat: list[int] = REQUIRED
    ranks: list[int] = REQUIRED
    lod_levels: list[int] = REQUIRED
    dtypes: list[int] = REQUIRED
    need_check_feed: list[int] = REQUIRED
    use_data_config: bool = attr(True, inert=True)
    device_index: int = attr(0, inert=True)
    device_count: int = attr(1, inert=True)

    def execute(self, run: Any) -> None:
        (queue,) = run.names("inputs", "blocking_queue")
        for name in run.names("outputs", "Out"):
            run.set(name, source_of(queue))


class create_double_buffer_reader(ReaderOp):
    """Out = UnderlyingReader, which reads ahead in any case.

    place: not read: there is one.
    """

    signature = "UnderlyingReader -> Out"
    place: str = attr("AUTO", inert=True)

    def execute(self, run: Any) -> None:
        (name,) = run.names("inputs", "UnderlyingReader")
        run.set(run.names("outputs", "Out")[0], run.value(name))


class read(ReaderOp):
    """Out = the values of the next batch of Reader.

    throw_eof_exp: whether there being none is an EOFException; else each Out is empty.
    infer_out: not read: the shapes of Out are declared.
    drop_last: not read: with several devices, a round in which not each gets a batch is left out.
    """

    signature = "Reader -> Out*"
    hands_on: ClassVar[bool] = True
    calls_out: ClassVar[bool] = True
    throw_eof_exp: bool = True
    infer_out: bool = attr(True, inert=True)
    drop_last: bool = attr(True, inert=True)

    def reader(self, run: Any, name: Any) -> Any:
        """The reader that a variable holds.

        Raises:
            FeedError: it holds something else.
        """
        reader = run.value(name)
        if not hasattr(reader, "pull"):
            raise FeedError(
                f"expected variable {name!r} to hold a reader, found {type(reader).__name__}; "
                "start one: fluid.layers.py_reader"
            )
        return reader

    def execute(self, run: Any) -> None:
        (name,) = run.names("inputs", "Reader")
        names = run.names("outputs", "Out")
        try:
            values = self.reader(run, name).pull(run.reading)
        except EOFException:
            if self.throw_eof_exp:
                raise
            values = [empty(run.variable(out)) for out in names]
        if len(values) != len(names):
            raise FeedError(
                f"expected reader {name!r} to give {len(names)} variables ({', '.join(names)}), "
                f"a batch has {len(values)}"
            )
        for out, value in zip(names, values):
            check(run.variable(out), value)
            run.set(out, value)


def check(variable: Any, value: Any) -> None:
    """Refuse a value that its variable, which is checked, does not take."""
    if variable is None or not variable.need_check_feed:
        return
    data = value.data if isinstance(value, LoDTensor) else value
    what = f"variable {variable.name!r} is declared"
    if variable.has_dtype and as_dtype(data.dtype) != variable.dtype:
        raise FeedError(
            f"{what} {variable.dtype}, its reader gives {data.dtype}; convert it there: "
            f"array.astype({variable.dtype.plain!r})"
        )
    if variable.has_shape:
        shape = variable.shape
        if data.ndim != len(shape) or not all(map(agree, data.shape, shape)):
            raise FeedError(
                f"{what} with shape {list(shape)}, its reader gives shape {list(data.shape)}"
            )


def empty(variable: Any) -> Any:
    """A value of no rows."""
    return np.zeros([0, *(max(n, 0) for n in variable.shape[1:])], variable.dtype.dtype)
