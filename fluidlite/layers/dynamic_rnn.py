"""Recurrent networks over sequences of several lengths, and the steps that they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.block import Block
from ..ir.program import default_main_program
from ..ir.variable import Variable
from .array import array_read, array_write
from .creation import fill_constant
from .layer import LayerBuilder, layer
from .loop import While

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


def lod_rank_table(x: Variable, level: int = 0) -> Variable:
    """The sequences of a variable, the longest first.

    Args:
        x: with sequences.
        level: of the sequences that are ranked; 0 for the outermost.

    Returns:
        a rank table, which other layers take.

    >>> x = fluid.data("x", [None, 3], lod_level=1)
    >>> table = fluid.layers.control_flow.lod_rank_table(x)
    >>> table.kind.name
    'LOD_RANK_TABLE'
    """
    return _lod_rank_table(x, level)


@layer("lod_rank_table")
def _lod_rank_table(f: LayerBuilder, x: Variable, level: int) -> Variable:
    _ = f.name  # counts in fluid, too
    table = f.block.create_var(
        name=unique_name.generate("lod_rank_table"), type=Kind.LOD_RANK_TABLE
    )
    table.stop_gradient = True
    f.block.append_op("lod_rank_table", {"X": x}, {"Out": table}, {"level": level})
    return table


@layer("max_seqence_len")
def max_sequence_len(f: LayerBuilder, rank_table: Variable) -> Variable:
    """The length of the longest sequence: [1], int64.

    Args:
        rank_table: what ``lod_rank_table`` gave.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> longest = fluid.layers.control_flow.max_sequence_len(
    ...     fluid.layers.control_flow.lod_rank_table(x)
    ... )
    >>> fed = fluid.create_lod_tensor(np.ones([5, 1], "float32"), [[2, 3]])
    >>> fluid.Executor().run(feed={"x": fed}, fetch_list=[longest])
    [array([3])]
    """
    return f.max_sequence_len(rank_table)


@layer("lod_tensor_to_array")
def lod_tensor_to_array(f: LayerBuilder, x: Variable, table: Variable) -> Variable:
    """The steps of sequences as an array of tensors: element t has row t of each sequence that has
    one, the longest sequence first.

    Args:
        x: with sequences.
        table: in which order: what ``lod_rank_table`` gave.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> table = fluid.layers.control_flow.lod_rank_table(x)
    >>> steps = fluid.layers.control_flow.lod_tensor_to_array(x, table)
    >>> fed = fluid.create_lod_tensor(np.array([[1.0], [2], [3]], "float32"), [[1, 2]])
    >>> [s.tolist() for s in fluid.Executor().run(feed={"x": fed}, fetch_list=[steps])[0]]
    [[[2.0], [1.0]], [[3.0]]]
    """
    _ = f.name  # counts in fluid, too
    array = f.block.create_var(
        name=unique_name.generate("lod_tensor_to_array"), type=Kind.LOD_TENSOR_ARRAY, dtype=x.dtype
    )
    f.into("lod_tensor_to_array", {"X": x, "RankTable": table}, {"Out": array})
    return array


@layer("array_to_lod_tensor")
def array_to_lod_tensor(f: LayerBuilder, x: Variable, table: Variable) -> Variable:
    """Sequences put together again from an array of their steps.

    Args:
        x: an array, as ``lod_tensor_to_array`` gives it.
        table: in which order the rows of each step stand.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> table = fluid.layers.control_flow.lod_rank_table(x)
    >>> steps = fluid.layers.control_flow.lod_tensor_to_array(x, table)
    >>> again = fluid.layers.control_flow.array_to_lod_tensor(steps, table)
    >>> again.lod_level
    1
    """
    return f.array_to_lod_tensor(x, table)


@layer("shrink_memory")
def shrink_memory(f: LayerBuilder, x: Variable, i: Variable, table: Variable) -> Variable:
    """The first rows of a memory, as many as there are sequences with a step at position ``i``.

    Args:
        x: rows, or sequences, in the order of ``table``.
        i: the number of the step, one integer.
        table: what ``lod_rank_table`` gave.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> memory = fluid.data("memory", [None, 4])
    >>> table = fluid.layers.control_flow.lod_rank_table(x)
    >>> i = fluid.layers.fill_constant([1], "int64", 2)
    >>> fluid.layers.control_flow.shrink_memory(memory, i, table).shape
    (-1, 4)
    """
    return f.shrink_rnn_memory(x, table, i)


@layer("reorder_lod_tensor_by_rank")
def reorder_lod_tensor_by_rank(f: LayerBuilder, x: Variable, rank_table: Variable) -> Variable:
    """Rows, or the sequences of a variable that has some, in the order of a rank table.

    Args:
        x: one row, or one sequence, for each sequence of the table.
        rank_table: what ``lod_rank_table`` gave.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> state = fluid.data("state", [None, 4])
    >>> table = fluid.layers.control_flow.lod_rank_table(x)
    >>> fluid.layers.reorder_lod_tensor_by_rank(state, table).shape
    (-1, 4)
    """
    return f.reorder_lod_tensor_by_rank(x, rank_table)


@answers_protected
class DynamicRNN(Described):
    """A network that runs once for each step of sequences of several lengths.

    What is built inside ``block()`` gets one step of each sequence that is still there
    (``step_input``), and what the step before left in memories; it hands out sequences as long as
    those it got.  Rows inside stand in the order of lengths, the longest first.

    Args:
        name: of the layer.

    >>> x = fluid.data("x", [None, 1], lod_level=1)
    >>> rnn = fluid.layers.DynamicRNN()
    >>> with rnn.block():
    ...     now = rnn.step_input(x)
    ...     before = rnn.memory(shape=[1], value=0.0)
    ...     total = before + now
    ...     rnn.update_memory(before, total)
    ...     rnn.output(total)
    >>> fed = fluid.create_lod_tensor(np.ones([5, 1], "float32"), [[2, 3]])
    >>> (sums,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[rnn()], return_numpy=False)
    >>> np.array(sums)[:, 0], sums.recursive_sequence_lengths()
    (array([1., 2., 1., 2., 3.], dtype=float32), [[2, 3]])
    """

    BEFORE_RNN, IN_RNN, AFTER_RNN = 0, 1, 2

    def __init__(self, name: str | None = None) -> None:
        self.name: str = unique_name.generate("dynamic_rnn" if name is None else name)
        self.status: int = self.BEFORE_RNN
        self.outputs: list[Variable] = []
        self._program = default_main_program()
        #: the order of the sequences, how many steps there are, and the number of the step
        self._table: Any = None
        self._longest: Any = None
        self._step: Any = None
        self._zero: Variable | None = None
        #: arrays of the sequences that go in
        self._inputs: list[Variable] = []
        #: what memories were called inside -> the array that holds them
        self._memories: dict[str, Variable] = {}
        #: pairs of what a step leaves, and the array that takes it
        self._updates: list[tuple[Variable, Variable]] = []
        self._arrays: list[Variable] = []
        self._condition = self._parent.create_var(
            name=unique_name.generate(f"{self.name}.tmp"), dtype="bool"
        )
        self._condition.stop_gradient = False
        self._loop = While(self._condition)
        self._finished: list[Variable] = []

    @property
    def _parent(self) -> Block:
        """The block that the network stands in."""
        current = self._program.current_block()
        if self.status != self.IN_RNN:
            return current
        assert current.parent is not None
        return current.parent

    def _inside(self, what: str) -> Block:
        if self.status != self.IN_RNN:
            raise ArgumentError(f"{what} of a DynamicRNN is used inside: with rnn.block(): ...")
        return self._parent

    @contextmanager
    def block(self) -> Iterator[None]:
        """What runs at each step.

        Raises:
            ArgumentError: it has been built already, or there is no ``step_input``.
        """
        if self.status != self.BEFORE_RNN:
            raise ArgumentError("the block of a DynamicRNN is built once; make another DynamicRNN")
        self._step = fill_constant([1], "int64", 0, force_cpu=True)
        self._step.stop_gradient = False
        self.status = self.IN_RNN
        try:
            with self._loop.block():
                yield
                if self._table is None:
                    raise ArgumentError("a DynamicRNN needs at least one step_input")
                self._finish_step()
        except BaseException:
            self.status = self.BEFORE_RNN
            raise
        self.status = self.AFTER_RNN
        for array in self._arrays:
            self._finished.append(array_to_lod_tensor(array, self._table))

    def _finish_step(self) -> None:
        """Count the step, keep the memories, and ask whether there is another step."""
        block = self._program.current_block()
        block.append_op("increment", {"X": self._step}, {"Out": self._step}, {"step": 1.0})
        for new, array in self._updates:
            array_write(new, self._step, array)
        block.append_op(
            "less_than",
            {"X": self._step, "Y": self._longest},
            {"Out": self._condition},
            {"force_cpu": True},
        )

    def step_input(self, x: Variable, level: int = 0) -> Variable:
        """One step of each sequence that is still there.

        Args:
            x: with sequences; those of all inputs have the same lengths.
            level: of the sequences whose steps are taken; 0 for the outermost.

        Raises:
            ArgumentError: this is outside ``block()``, or ``x`` is no variable.
        """
        parent = self._inside("step_input")
        if not isinstance(x, Variable):
            raise ArgumentError(f"expected a sequence to be a variable, got {x!r:.60}")
        if self._table is None:
            self._rank(parent, x, level)
        array = parent.create_var(
            name=unique_name.generate("dynamic_rnn_input_array"),
            type=Kind.LOD_TENSOR_ARRAY,
            dtype=x.dtype,
        )
        self._inputs.append(array)
        parent.append_op("lod_tensor_to_array", {"X": x, "RankTable": self._table}, {"Out": array})
        return array_read(array, self._step)

    def _rank(self, parent: Block, x: Variable, level: int) -> None:
        """Rank the sequences, and count their steps."""
        self._table = parent.create_var(
            name=unique_name.generate("lod_rank_table"), type=Kind.LOD_RANK_TABLE
        )
        self._table.stop_gradient = True
        parent.append_op("lod_rank_table", {"X": x}, {"Out": self._table}, {"level": level})
        self._longest = parent.create_var(
            name=unique_name.generate("dynamic_rnn_max_seq_len"), dtype="int64"
        )
        parent.append_op("max_sequence_len", {"RankTable": self._table}, {"Out": self._longest})
        parent.append_op(
            "less_than",
            {"X": self._step, "Y": self._longest},
            {"Out": self._condition},
            {"force_cpu": True},
        )
        self._condition.stop_gradient = True

    def static_input(self, x: Variable) -> Variable:
        """What is the same at each step, of the sequences that are still there.

        Args:
            x: one row, or one sequence, for each sequence of the inputs.

        Raises:
            ArgumentError: this is outside ``block()``, or before ``step_input``.
        """
        parent = self._inside("static_input")
        self._need_table("static_input")
        reordered = parent.create_var(
            name=unique_name.generate("dynamic_rnn_static_input_reordered"), dtype=x.dtype
        )
        parent.append_op(
            "reorder_lod_tensor_by_rank", {"X": x, "RankTable": self._table}, {"Out": reordered}
        )
        return shrink_memory(reordered, self._step, self._table)

    def _need_table(self, what: str) -> None:
        if self._table is None:
            raise ArgumentError(f"call step_input before {what}: it says which sequences there are")

    def memory(
        self,
        init: Variable | None = None,
        shape: Sequence[int] | None = None,
        value: float = 0.0,
        need_reorder: bool = False,
        dtype: DTypeLike = "float32",
    ) -> Variable:
        """What the step before left.

        Args:
            init: what it holds at the first step: one row for each sequence.
            shape: of a row, where ``init`` is not given.
            value: what it holds at the first step where ``init`` is not given.
            need_reorder: whether rows of ``init`` stand in the order of the sequences, not of
                lengths.
            dtype: element type where ``init`` is not given.

        Raises:
            ArgumentError: this is outside ``block()``, before ``step_input``, or it is not said
                what it begins with.
        """
        parent = self._inside("memory")
        self._need_table("memory")
        if init is None and shape is None:
            raise ArgumentError("a memory of a DynamicRNN begins with init=, or has a shape=")
        self._begin_at_zero(parent)
        if init is None:
            init = self._filled(parent, list(shape or ()), value, dtype)
        elif not isinstance(init, Variable):
            raise ArgumentError(f"expected init to be a variable, got {init!r:.60}")
        elif need_reorder:
            reordered = parent.create_var(
                name=unique_name.generate("dynamic_rnn_mem_init_reordered"), dtype=init.dtype
            )
            parent.append_op(
                "reorder_lod_tensor_by_rank",
                {"X": init, "RankTable": self._table},
                {"Out": reordered},
            )
            init = reordered
        array = parent.create_var(
            name=unique_name.generate("dynamic_rnn_mem_array"),
            type=Kind.LOD_TENSOR_ARRAY,
            dtype=init.dtype,
        )
        parent.append_op("write_to_array", {"X": init, "I": self._zero}, {"Out": array})
        before = shrink_memory(array_read(array, self._step), self._step, self._table)
        self._memories[before.name] = array
        return before

    def _begin_at_zero(self, parent: Block) -> None:
        """The position of what memories begin with."""
        if self._zero is not None:
            return
        self._zero = parent.create_var(name=unique_name.generate("zero_idx"), dtype="int64")
        parent.append_op(
            "fill_constant",
            {},
            {"Out": self._zero},
            {"shape": [1], "dtype": DType.INT64, "value": 0.0, "force_cpu": True},
        )

    def _filled(self, parent: Block, shape: list[int], value: float, dtype: Any) -> Variable:
        """A memory of one value, with as many rows as there are sequences."""
        array = self._inputs[0]
        first = parent.create_var(name=unique_name.generate("in0"), dtype=array.dtype)
        parent.append_op("read_from_array", {"X": array, "I": self._zero}, {"Out": first})
        memory = parent.create_var(name=unique_name.generate("mem_init"), dtype=as_dtype(dtype))
        parent.append_op(
            "fill_constant_batch_size_like",
            {"Input": first},
            {"Out": memory},
            {"shape": [-1, *shape], "value": float(value), "dtype": memory.dtype},
        )
        return memory

    def update_memory(self, ex_mem: Variable, new_mem: Variable) -> None:
        """Leave something in a memory for the next step.

        Args:
            ex_mem: what ``memory`` gave.
            new_mem: what it will be at the next step.

        Raises:
            ArgumentError: this is outside ``block()``, or ``ex_mem`` is no memory of this network.
        """
        self._inside("update_memory")
        array = self._memories.get(getattr(ex_mem, "name", ""))
        if array is None:
            raise ArgumentError(f"expected a memory of this DynamicRNN, got {ex_mem!r:.60}")
        self._updates.append((new_mem, array))

    def output(self, *outputs: Variable) -> None:
        """Hand out rows of a step, to become sequences.

        Raises:
            ArgumentError: this is outside ``block()``.
        """
        parent = self._inside("output")
        for variable in outputs:
            array = parent.create_var(
                name=unique_name.generate(f"{self.name}_output_array_{variable.name}"),
                type=Kind.LOD_TENSOR_ARRAY,
                dtype=variable.dtype,
            )
            array_write(variable, self._step, array)
            self._arrays.append(array)
            self.outputs.append(array)

    def __call__(self) -> Any:
        """The sequences that are handed out: a variable, or a list of several.

        Raises:
            ArgumentError: the block has not been built, or hands out nothing.
        """
        if self.status != self.AFTER_RNN or not self._finished:
            raise ArgumentError(
                "a DynamicRNN is called after its block, which hands out at least one output"
            )
        return self._finished[0] if len(self._finished) == 1 else self._finished


__all__ = [
    "DynamicRNN", "array_to_lod_tensor", "lod_rank_table", "lod_tensor_to_array",
    "max_sequence_len", "reorder_lod_tensor_by_rank", "shrink_memory",
]  # fmt: skip
