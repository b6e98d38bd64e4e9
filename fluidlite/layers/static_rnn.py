"""Recurrent networks over sequences of one length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import unique_name
from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import Kind
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.block import Block
from ..ir.program import default_main_program
from ..ir.variable import Variable
from ..opdef.spec import agree
from .driving import new_block, outer_reads


@answers_protected
class StaticRNN(Described):
    """A network that runs once for each step of sequences.

    What is built inside ``step()`` gets one step of each sequence (``step_input``), and what the
    step before left in memories; it hands out what is stacked over the steps.

    Args:
        name: of the layer.

    >>> x = fluid.layers.fill_constant([3, 2, 1], "float32", 1.0)
    >>> zero = fluid.layers.fill_constant([2, 1], "float32", 0.0)
    >>> rnn = fluid.layers.StaticRNN()
    >>> with rnn.step():
    ...     now = rnn.step_input(x)
    ...     before = rnn.memory(init=zero)
    ...     total = before + now
    ...     rnn.update_memory(before, total)
    ...     rnn.step_output(total)
    >>> fluid.Executor().run(fetch_list=[rnn()])[0][:, 0, 0]
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(self, name: str | None = None) -> None:
        self.name: str = unique_name.generate("static_rnn") if name is None else name
        self._parent: Block | None = None
        self._block: Block | None = None
        self._sequences: list[Variable] = []
        self._length: int | None = None
        #: by name of a memory: what it begins with, and what it holds after a step
        self._memories: dict[str, tuple[Variable, Variable | None]] = {}
        self._outputs: list[Variable] = []
        self._results: list[Variable] = []

    @contextmanager
    def step(self) -> Iterator[None]:
        """What runs at each step.

        Raises:
            ArgumentError: a memory is not updated, or there is no sequence.
        """
        program = default_main_program()
        self._parent = program.current_block()
        with new_block("recurrent", program) as block:
            self._block = block
            try:
                yield
                states = self._states()
            finally:
                self._block = None
        self._append(self._parent, block, states)

    def _inside(self, what: str) -> tuple[Block, Block]:
        if self._block is None or self._parent is None:
            raise ArgumentError(f"{what} of a StaticRNN is used inside: with rnn.step(): ...")
        return self._block, self._parent

    def step_input(self, x: Variable) -> Variable:
        """One step of a sequence.

        Args:
            x: [steps, ...]; all sequences have as many steps.

        Raises:
            ArgumentError: this is outside ``step()``, or ``x`` is no variable.
            ShapeError: the number of steps differs, or ``x`` has no dimension of steps.
        """
        block, _ = self._inside("step_input")
        if not isinstance(x, Variable):
            raise ArgumentError(f"expected a sequence to be a variable, got {x!r:.60}")
        if not x.ndim:
            raise ShapeError(f"expected {x.name!r} to have a dimension of steps, got shape []")
        if self._length is not None and not agree(self._length, x.shape[0]):
            raise ShapeError(
                f"expected {self._length} steps, as the other sequences have, {x.name!r} has "
                f"shape {list(x.shape)}"
            )
        self._length = x.shape[0] if self._length in (None, -1) else self._length
        inner = block.create_var(name=x.name, dtype=x.dtype, shape=x.shape[1:])
        self._sequences.append(x)
        return inner

    def memory(
        self,
        init: Variable | None = None,
        shape: Sequence[int] | None = None,
        batch_ref: Variable | None = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Variable:
        """What the step before left.

        Args:
            init: what it holds at the first step.
            shape: its shape where ``init`` is not given; -1 for the batch.
            batch_ref: a sequence, or a step of one, that says how large the batch is.
            init_value: what it holds at the first step where ``init`` is not given.
            init_batch_dim_idx: the dimension of ``shape`` that is the batch.
            ref_batch_dim_idx: that of the sequence, counted with the dimension of steps.

        Raises:
            ArgumentError: this is outside ``step()``, or it is not said what it begins with.
        """
        block, parent = self._inside("memory")
        if init is None:
            if shape is None or batch_ref is None:
                raise ArgumentError(
                    "a memory of a StaticRNN begins with init=, or with zeros of shape= and "
                    "batch_ref="
                )
            init = parent.create_var(
                name=unique_name.generate(f"{self.name}@memory_boot"), dtype=batch_ref.dtype
            )
            parent.append_op(
                "fill_constant_batch_size_like",
                inputs={"Input": batch_ref.name},
                outputs={"Out": init},
                attrs={
                    "value": init_value,
                    "shape": list(shape),
                    "dtype": init.dtype,
                    "input_dim_idx": ref_batch_dim_idx,
                    "output_dim_idx": init_batch_dim_idx,
                },
            )
        elif not isinstance(init, Variable):
            raise ArgumentError(f"expected init to be a variable, got {init!r:.60}")
        before = block.create_var(
            name=unique_name.generate(f"{self.name}@mem"), dtype=init.dtype, shape=init.shape
        )
        self._memories[before.name] = (init, None)
        return before

    def update_memory(self, mem: Variable, var: Variable) -> None:
        """Leave something in a memory for the next step.

        Args:
            mem: what ``memory`` gave.
            var: what it will be at the next step.

        Raises:
            ArgumentError: ``mem`` is no memory of this network, or ``var`` is no variable.
        """
        self._inside("update_memory")
        if not isinstance(mem, Variable) or mem.name not in self._memories:
            raise ArgumentError(f"expected a memory of this StaticRNN, got {mem!r:.60}")
        if not isinstance(var, Variable):
            raise ArgumentError(f"expected a variable to leave in a memory, got {var!r:.60}")
        self._memories[mem.name] = (self._memories[mem.name][0], var)

    def step_output(self, o: Variable) -> None:
        """Hand something out, to be stacked over the steps.

        Raises:
            ArgumentError: this is outside ``step()``, or ``o`` is no variable.
        """
        block, _ = self._inside("step_output")
        if not isinstance(o, Variable):
            raise ArgumentError(f"expected a variable to hand out, got {o!r:.60}")
        self._outputs.append(self._helped(block, o))

    def output(self, *outputs: Variable) -> None:
        """Hand out several."""
        for each in outputs:
            self.step_output(each)

    def _helped(self, block: Block, x: Variable) -> Variable:
        made = block.create_var(name=unique_name.generate(f"{self.name}.tmp"), dtype=x.dtype)
        block.append_op("rnn_memory_helper", {"X": x}, {"Out": made}, {"dtype": int(x.dtype)})
        return made

    def _states(self) -> list[Variable]:
        """What the memories hold after a step."""
        block, _ = self._inside("step")
        if not self._sequences:
            raise ArgumentError("a StaticRNN needs at least one step_input")
        states = []
        for name, (_, after) in self._memories.items():
            if after is None:
                raise ArgumentError(f"memory {name!r} is not updated: call update_memory")
            states.append(self._helped(block, after))
        return states

    def _append(self, parent: Block, block: Block, states: list[Variable]) -> None:
        sequence_names = [x.name for x in self._sequences]
        initial = [init for init, _ in self._memories.values()]
        bound = {*sequence_names, *self._memories}
        parameters = [n for n in outer_reads(block) if n not in bound]
        steps = -1 if self._length is None else self._length
        self._results = [
            parent.create_var(name=o.name, dtype=o.dtype, shape=[steps, *o.shape])
            for o in self._outputs
        ]
        scopes = parent.create_var(type=Kind.STEP_SCOPES)
        parent.append_op(
            "recurrent",
            inputs={"inputs": sequence_names, "initial_states": initial, "parameters": parameters},
            outputs={"outputs": self._results, "step_scopes": scopes},
            attrs={
                "has_states": bool(states),
                "ex_states": list(self._memories),
                "states": [state.name for state in states],
                "sub_block": block,
            },
        )

    def __call__(self) -> Any:
        """What is handed out, stacked over the steps: a variable, or a list of several.

        Raises:
            ArgumentError: nothing is handed out.
        """
        if not self._results:
            raise ArgumentError("a StaticRNN hands out at least one step_output, inside step()")
        return self._results[0] if len(self._results) == 1 else self._results
