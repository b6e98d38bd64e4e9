"""``fluid.contrib.decoder``: decoders whose step is a function of a cell.

``fluid.layers.BeamSearchDecoder`` came later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from ... import layers, unique_name
from ...errors import ArgumentError
from ...ground.dtypes import Kind
from ...ground.tracebacks import api_boundaries
from ...ir.block import Block
from ...ir.program import default_main_program
from ...ir.variable import Variable
from ...layers import (
    DynamicRNN,
    Switch,
    While,
    array_read,
    array_write,
    fill_constant,
    increment,
    less_than,
    sequence_expand,
)


class InitState:
    """What a state is before the first step.

    Args:
        init: its value.
        shape: without ``init``, the shape of a value that is one number everywhere.
        value: that number.
        init_boot: a variable whose batch such a value has.
        need_reorder: whether its rows stand in the order of the batch, not of the lengths.
        dtype: element type of such a value.

    Raises:
        ArgumentError: neither ``init`` nor ``init_boot`` is given.
    """

    def __init__(
        self,
        init: Variable | None = None,
        shape: Any = None,
        value: float = 0.0,
        init_boot: Variable | None = None,
        need_reorder: bool = False,
        dtype: Any = "float32",
    ) -> None:
        if init is None:
            if init_boot is None:
                raise ArgumentError("InitState: expected init or init_boot, got neither")
            init = layers.fill_constant_batch_size_like(init_boot, shape, dtype, value)
        self.value: Any = init
        self.need_reorder: bool = need_reorder


class _Kept(Protocol):
    """A state from one step to the next."""

    value: Any  #: at this step

    def update(self, new: Variable) -> None:
        """Say what it is at the next step."""


class _Memory:
    """A state that is a memory of a DynamicRNN."""

    def __init__(self, rnn: DynamicRNN, init: InitState) -> None:
        self._rnn = rnn
        self.value: Any = rnn.memory(init=init.value, need_reorder=init.need_reorder)

    def update(self, new: Variable) -> None:
        self._rnn.update_memory(self.value, new)


class _InArray:
    """A state whose values of all steps are in an array."""

    def __init__(self, parent: Block, init: InitState) -> None:
        self._counter = _zero(parent, "array_state_counter")
        self._array = _array(parent, "array_state_array", init.value, self._counter)
        self.value: Any = array_read(self._array, self._counter)

    def update(self, new: Variable) -> None:
        increment(self._counter)
        array_write(new, self._counter, self._array)


def _zero(block: Block, stem: str) -> Variable:
    """A position that a block sets to 0."""
    position = block.create_var(name=unique_name.generate(stem), shape=[1], dtype="int64")
    position.stop_gradient = True
    attrs = {"shape": [1], "dtype": position.dtype, "value": 0.0, "force_cpu": True}
    block.append_op("fill_constant", {}, {"Out": position}, attrs)
    return position


def _array(block: Block, stem: str, first: Variable, position: Variable) -> Variable:
    """An array to which a block writes a first value."""
    name = unique_name.generate(stem)
    array = block.create_var(
        name=name, type=Kind.LOD_TENSOR_ARRAY, dtype=first.dtype, lod_level=first.lod_level
    )
    block.append_op("write_to_array", {"X": first, "I": position}, {"Out": array})
    return array


class StateCell:
    """The step of a decoder: how its states follow from its inputs and from the states before.

    Args:
        inputs: the names of what comes in, and None or what it is.
        states: the names of the states, and an InitState for each.
        out_state: the name of the state that scores are made of.
        name: accepted for old scripts.

    Raises:
        ArgumentError: a state has no InitState, or ``out_state`` is none of them.
    """

    def __init__(
        self,
        inputs: Mapping[str, Any],
        states: Mapping[str, InitState],
        out_state: str,
        name: str | None = None,
    ) -> None:
        for state, init in states.items():
            if not isinstance(init, InitState):
                raise ArgumentError(
                    f"StateCell: expected an InitState for {state!r}, got {init!r:.60}"
                )
        if out_state not in states:
            raise ArgumentError(
                f"StateCell: expected out_state to be one of {[*states]}, got {out_state!r:.60}"
            )
        self._inputs: dict[str, Any] = dict(inputs)
        self._states = dict(states)
        self._out_state = out_state
        self._decoder: TrainingDecoder | BeamSearchDecoder | None = None
        self._kept: dict[str, _Kept] = {}
        self._current: dict[str, Any] = {}
        self._updater: Callable[[StateCell], Any] | None = None

    def _enter_decoder(self, decoder: TrainingDecoder | BeamSearchDecoder) -> None:
        if self._decoder is not None:
            raise ArgumentError("StateCell: it is in another decoder, whose block has not ended")
        self._decoder, self._kept, self._current = decoder, {}, {}

    def _leave_decoder(self, decoder: _Decoder) -> None:
        if self._decoder is decoder:
            self._decoder = None

    def _switch_decoder(self) -> None:
        """Make the states of the decoder, where that has not been done."""
        if self._decoder is not None and not self._kept:
            self._kept = {name: self._decoder.keep(s) for name, s in self._states.items()}
            self._current = {name: kept.value for name, kept in self._kept.items()}

    def get_state(self, state_name: str) -> Any:
        """A state: of the step before, or what ``set_state`` gave it since.

        Raises:
            ArgumentError: there is none of the name, or no decoder's block is being built.
        """
        self._switch_decoder()
        if state_name not in self._current:
            raise ArgumentError(
                f"StateCell: expected one of the states {[*self._states]} in the block of a "
                f"decoder, got {state_name!r:.60}"
            )
        return self._current[state_name]

    def get_input(self, input_name: str) -> Any:
        """What comes in under a name at this step.

        Raises:
            ArgumentError: nothing does.
        """
        incoming = self._inputs.get(input_name)
        if incoming is None:
            raise ArgumentError(
                f"StateCell: {input_name!r:.60} has no value; give it one in compute_state"
            )
        return incoming

    def set_state(self, state_name: str, state_value: Variable) -> None:
        """Say what a state becomes in this step."""
        self._current[state_name] = state_value

    def state_updater(self, updater: Callable[[StateCell], Any]) -> Callable[[StateCell], Any]:
        """Take a function of the cell as its step."""
        self._updater = updater
        return updater

    def compute_state(self, inputs: Mapping[str, Any]) -> None:
        """Do the step.

        Args:
            inputs: what comes in, by name.

        Raises:
            ArgumentError: the cell has no input of a name, or no step.
        """
        self._switch_decoder()
        for name, value in inputs.items():
            if name not in self._inputs:
                raise ArgumentError(
                    f"StateCell: expected one of the inputs {[*self._inputs]}, got {name!r}"
                )
            self._inputs[name] = value
        if self._updater is None:
            raise ArgumentError("StateCell: it has no step; decorate a function with state_updater")
        self._updater(self)

    def update_states(self) -> None:
        """Leave the states for the next step."""
        self._switch_decoder()
        for name, kept in self._kept.items():
            kept.update(self._current[name])

    def out_state(self) -> Any:
        """The state that scores are made of."""
        return self.get_state(self._out_state)


class _Decoder:
    """What both decoders have."""

    _BEFORE, _IN, _AFTER = range(3)

    def __init__(self, state_cell: StateCell) -> None:
        self._cell = state_cell
        self._status = self._BEFORE

    @property
    def state_cell(self) -> StateCell:
        """The cell, within the block.

        Raises:
            ArgumentError: this is outside.
        """
        self._assert_in_decoder_block("state_cell")
        return self._cell

    def _assert_in_decoder_block(self, what: str) -> None:
        if self._status != self._IN:
            raise ArgumentError(f"{what} of a {type(self).__name__} is used within its block()")

    def _ended(self) -> None:
        if self._status != self._AFTER:
            raise ArgumentError(f"a {type(self).__name__} is called after its block()")

    @contextmanager
    def _building(self) -> Iterator[None]:
        if self._status != self._BEFORE:
            raise ArgumentError(f"the block of a {type(self).__name__} is built once")
        self._status = self._IN
        try:
            yield
        finally:
            self._status = self._AFTER
            self._cell._leave_decoder(self)


class TrainingDecoder(_Decoder):
    """A decoder that is fed the right words: a DynamicRNN of a cell's steps.

    Args:
        state_cell: the cell.
        name: of the network.
    """

    BEFORE_DECODER, IN_DECODER, AFTER_DECODER = range(3)
    type: int = 1

    def __init__(self, state_cell: StateCell, name: str | None = None) -> None:
        super().__init__(state_cell)
        self.dynamic_rnn: DynamicRNN = DynamicRNN()
        state_cell._enter_decoder(self)

    @contextmanager
    def block(self) -> Iterator[None]:
        """What runs at each step."""
        with self._building(), self.dynamic_rnn.block():
            yield

    def keep(self, init: InitState) -> _Kept:
        """A state from one step to the next."""
        return _Memory(self.dynamic_rnn, init)

    def step_input(self, x: Variable) -> Any:
        """One row of each sequence that is still there."""
        self._assert_in_decoder_block("step_input")
        return self.dynamic_rnn.step_input(x)

    def static_input(self, x: Variable) -> Any:
        """What is the same at each step."""
        self._assert_in_decoder_block("static_input")
        return self.dynamic_rnn.static_input(x)

    def output(self, *outputs: Variable) -> None:
        """Hand out rows of a step."""
        self._assert_in_decoder_block("output")
        self.dynamic_rnn.output(*outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The sequences that are handed out."""
        self._ended()
        return self.dynamic_rnn(*args, **kwargs)


class BeamSearchDecoder(_Decoder):
    """A decoder that searches for the likeliest sequences: a loop of a cell's steps.

    Args:
        state_cell: the cell.
        init_ids, init_scores: the words to begin with and their scores, sequences of two levels.
        target_dict_dim: how many words there are.
        word_dim: how many numbers a word becomes.
        input_var_dict: the cell's other inputs, which are the same at each step.
        topk_size: how many words are tried in each beam.
        sparse_emb: whether the table of words has sparse gradients.
        max_len: how many steps there are at most.
        beam_size: how many sequences are kept.
        end_id: the word that ends a sequence.
        name: accepted for old scripts.
    """

    BEFORE_BEAM_SEARCH_DECODER, IN_BEAM_SEARCH_DECODER, AFTER_BEAM_SEARCH_DECODER = range(3)
    type: int = 2

    def __init__(
        self,
        state_cell: StateCell,
        init_ids: Variable,
        init_scores: Variable,
        target_dict_dim: int,
        word_dim: int,
        input_var_dict: Mapping[str, Variable] | None = None,
        topk_size: int = 50,
        sparse_emb: bool = True,
        max_len: int = 100,
        beam_size: int = 1,
        end_id: int = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(state_cell)
        self._init_ids, self._init_scores = init_ids, init_scores
        self._sizes = [target_dict_dim, word_dim]
        self._others = dict(input_var_dict or {})
        self._topk_size, self._sparse = topk_size, sparse_emb
        self._beam_size, self._end_id = beam_size, end_id
        self._counter: Any = fill_constant([1], "int64", 0)
        self._counter.stop_gradient = True
        self._max_len: Any = fill_constant([1], "int64", max_len)
        self._going_on: Any = less_than(self._counter, fill_constant([1], "int64", max_len))
        self._first: Any = fill_constant([1], "int64", 0, force_cpu=True)
        self._loop = While(self._going_on)
        #: what ``read_array`` gave -> its array; arrays -> what the next step has
        self._read: dict[str, Variable] = {}
        self._updates: list[tuple[Any, Variable]] = []
        self._found: dict[str, Variable] = {}
        state_cell._enter_decoder(self)

    @contextmanager
    def block(self) -> Iterator[None]:
        """What runs at each step; behind it the arrays take the values of the next step."""
        with self._building(), self._loop.block():
            yield
            with Switch() as switch, switch.case(self._going_on):
                increment(self._counter)
                for value, array in self._updates:
                    array_write(value, self._counter, array)
                less_than(self._counter, self._max_len, cond=self._going_on)

    def _parent_block(self) -> Block:
        parent = default_main_program().current_block().parent
        assert parent is not None
        return parent

    def keep(self, init: InitState) -> _Kept:
        """A state from one step to the next."""
        return _InArray(self._parent_block(), init)

    def early_stop(self) -> None:
        """End the loop after this step."""
        self._assert_in_decoder_block("early_stop")
        fill_constant([1], "bool", 0, force_cpu=True, out=self._going_on)

    def read_array(self, init: Variable, is_ids: bool = False, is_scores: bool = False) -> Any:
        """A value of this step, from an array that begins with ``init``.

        Args:
            init: the first value.
            is_ids, is_scores: whether the words, or their scores, that are found are in the array.
        """
        self._assert_in_decoder_block("read_array")
        if is_ids and is_scores:
            raise ArgumentError("read_array: an array has words or scores, not both")
        if not isinstance(init, Variable):
            raise ArgumentError(f"read_array: expected a variable to begin with, got {init!r:.60}")
        array = _array(self._parent_block(), "beam_search_decoder_array", init, self._first)
        if is_ids or is_scores:
            self._found["ids" if is_ids else "scores"] = array
        value: Any = array_read(array, self._counter)
        self._read[value.name] = array
        return value

    def update_array(self, array: Variable, value: Variable) -> None:
        """Leave a value for the next step.

        Args:
            array: what ``read_array`` gave.
            value: what it will give at the next step.
        """
        self._assert_in_decoder_block("update_array")
        held = self._read.get(getattr(array, "name", ""))
        if held is None:
            raise ArgumentError(f"update_array: expected what read_array gave, got {array!r:.60}")
        self._updates.append((value, held))

    def decode(self) -> None:
        """Build the block of a plain search."""
        with self.block():
            ids = self.read_array(self._init_ids, is_ids=True)
            scores = self.read_array(self._init_scores, is_scores=True)
            words = layers.embedding(ids, self._sizes, is_sparse=self._sparse)
            fed, others = self._fed(words, scores)
            cell = self._cell
            for name in cell._states:
                cell.set_state(name, sequence_expand(cell.get_state(name), scores))
            cell.compute_state(fed)
            chances = layers.fc(
                layers.lod_reset(cell.out_state(), scores), self._sizes[0], act="softmax"
            )
            best, places = layers.topk(chances, k=self._topk_size)
            total = layers.elementwise_add(layers.log(best), layers.reshape(scores, [-1]), axis=0)
            chosen, sums = layers.beam_search(
                ids, scores, places, total, self._beam_size, end_id=self._end_id, level=0
            )
            with Switch() as switch:
                with switch.case(layers.is_empty(chosen)):
                    self.early_stop()
                with switch.default():
                    cell.update_states()
                    self.update_array(ids, chosen)
                    self.update_array(scores, sums)
                    for name, read in others.items():
                        self.update_array(read, fed[name])

    def _fed(self, words: Any, scores: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The cell's inputs at a step: the words, but for those that are the same at each."""
        inputs = self._cell._inputs
        unknown = [name for name in self._others if name not in inputs]
        if unknown:
            raise ArgumentError(f"decode: the cell has inputs {[*inputs]}, got {unknown}")
        others = {name: self.read_array(init) for name, init in self._others.items()}
        fed = {name: sequence_expand(read, scores) for name, read in others.items()}
        return {**{name: words for name in inputs if name not in fed}, **fed}, others

    def __call__(self) -> Any:
        """The sequences that were found, and their scores: see ``layers.beam_search_decode``."""
        self._ended()
        ids, scores = self._found["ids"], self._found["scores"]
        return layers.beam_search_decode(ids, scores, self._beam_size, self._end_id)


api_boundaries(globals())
