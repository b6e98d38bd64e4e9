"""Decoding: sequences made step by step, each step from what the one before gave."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.reprs import Described
from ..ir.program import default_main_program
from ..ir.variable import Variable
from .array import array_read, array_write, tensor_array_to_tensor
from .compare import less_equal, logical_and, logical_not, logical_or
from .creation import assign, fill_constant, zeros_like
from .elementwise import elementwise_add, elementwise_mul
from .joining import stack
from .layer import is_variable
from .loop import While
from .math import cast
from .recurrence import check_states, flipped
from .reduce import reduce_all
from .structure import leaves, mapped_leaves
from .variables import increment


class Decoder(Described):
    """What ``layers.dynamic_decode`` drives: written by subclasses.

    >>> class Countdown(fluid.layers.Decoder):
    ...     def initialize(self, inits):
    ...         return inits, inits, inits < 0
    ...
    ...     def step(self, time, inputs, states):
    ...         left = states - 1
    ...         return left, left, left, left < 1
    >>> start = fluid.layers.assign(np.array([[3], [1]]))
    >>> steps, last = fluid.layers.dynamic_decode(Countdown(), start, impute_finished=True)
    >>> fluid.Executor().run(fetch_list=[last])
    [array([[0],
           [0]])]
    """

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """The first inputs, the first states, and which sequences are finished.

        Args:
            inits: what ``dynamic_decode`` was given.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method initialize(self, inits)")

    def step(
        self, time: Variable, inputs: Any, states: Any, **kwargs: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The outputs, the next states, the next inputs, and which sequences are finished.

        Args:
            time: the number of the step, int64 of shape [1].
            inputs, states: of this step.
            kwargs: what ``dynamic_decode`` was given beyond its own arguments.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self, ...)")

    def finalize(
        self, outputs: Any, final_states: Any, sequence_lengths: Variable
    ) -> tuple[Any, Any]:
        """What ``dynamic_decode`` returns, from the outputs of all steps and the last states.

        Args:
            outputs: [steps, ...] each.
            final_states: the last states.
            sequence_lengths: how long each sequence became.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method finalize(self, ...)")


def dynamic_decode(
    decoder: Decoder,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """What a decoder makes, step by step, until all sequences are finished.

    A position of the batch (and of the beam) counts as finished from the first step on that says
    so, also where a beam search puts another path there.

    Args:
        decoder: makes the steps.
        inits: what it begins with: states, mostly.
        max_step_num: the number of the last step, counted from 0; no limit when None.
        output_time_major: whether outputs are [steps, batch, ...] rather than [batch, steps, ...].
        impute_finished: whether states of finished sequences stay as they are.
        is_test: whether no gradients will be needed, so that nothing of past steps is kept.
        return_length: whether lengths are returned, too.
        kwargs: are handed to the decoder's steps.

    Returns:
        The outputs of all steps, the last states, and with ``return_length`` how long each sequence
        became, int64.

    Raises:
        ArgumentError: ``decoder`` is no decoder, ``max_step_num`` is negative, or the decoder gives
            states or inputs that do not fit those before.

    >>> start = fluid.layers.fill_constant([2], "int64", 0)
    >>> state = fluid.layers.fill_constant([2, 5], "float32", 0.0)
    >>> words = lambda ids: fluid.embedding(ids, [9, 4], param_attr="words")
    >>> helper = fluid.layers.GreedyEmbeddingHelper(words, start, end_token=1)
    >>> scores = lambda x: fluid.layers.fc(x, 9, param_attr="scores", bias_attr="bias")
    >>> decoder = fluid.layers.BasicDecoder(fluid.layers.GRUCell(5), helper, scores)
    >>> out, last = fluid.layers.dynamic_decode(decoder, state, max_step_num=3)
    >>> out.sample_ids.shape
    (2, -1)
    """
    if not callable(getattr(decoder, "step", None)):
        raise ArgumentError(f"expected decoder to be a Decoder, got {decoder!r:.60}")
    if max_step_num is not None and (
        isinstance(max_step_num, bool) or not isinstance(max_step_num, int) or max_step_num < 0
    ):
        raise ArgumentError(
            f"expected max_step_num to be a whole number from 0, or None, got {max_step_num!r:.60}"
        )
    inputs, states, finished = decoder.initialize(inits)
    begins = leaves((inputs, states, finished))
    if not any(isinstance(leaf, Variable) for leaf in begins) and all(map(is_variable, begins)):
        options = (max_step_num, output_time_major, impute_finished, return_length)
        return _decoded_at_once(decoder, (inputs, states, finished), *options, **kwargs)
    for leaf in begins:
        if not isinstance(leaf, Variable):
            raise ArgumentError(f"expected a decoder to begin with variables, got {leaf!r:.60}")
    finished.stop_gradient = True
    if is_test and any(each is finished for each in leaves(states)):
        finished = assign(finished)  # states are written in place, and tell paths that moved apart
        finished.stop_gradient = True
    step = fill_constant([1], "int64", 0)
    going_on = logical_not(reduce_all(finished))
    limit = None if max_step_num is None else fill_constant([1], "int64", max_step_num)
    loop = While(going_on, is_test=is_test)
    lengths = cast(zeros_like(finished), "int64")
    lengths.stop_gradient = True
    carried = _Carried(inputs, states, step, is_test)
    arrays: Any = None
    with loop.block():
        inputs, states = carried.now()
        outputs, next_states, next_inputs, next_finished = decoder.step(
            step, inputs, states, **kwargs
        )
        check_states(states, next_states)
        told = (states, next_states, finished, next_finished, lengths)
        next_states, next_finished, next_lengths = _went_on(decoder, *told, impute_finished)
        arrays = mapped_leaves(_outer_array, outputs)
        mapped_leaves(lambda x, array: array_write(x, step, array), outputs, arrays)
        increment(step, value=1, in_place=True)
        carried.follow(next_inputs, next_states)
        assign(next_finished, finished)
        assign(next_lengths, lengths)
        _ask_again(finished, step, limit, going_on)
    outputs = mapped_leaves(
        lambda array: tensor_array_to_tensor(array, axis=0, use_stack=True)[0], arrays
    )
    found = (outputs, carried.last_states(), lengths)
    return _finished(decoder, *found, output_time_major, return_length)


def _went_on(
    decoder: Any,
    states: Any,
    next_states: Any,
    finished: Any,
    next_finished: Any,
    lengths: Any,
    impute_finished: bool,
) -> tuple[Any, Any, Any]:
    """The states after a step, which sequences are finished, and how long they are.

    A decoder that ``tracks_own_finished`` says the last two itself.
    """
    if getattr(decoder, "tracks_own_finished", False):
        return next_states, next_finished, getattr(next_states, "lengths", lengths)
    more = cast(logical_not(finished), lengths.dtype)
    if impute_finished:
        next_states = mapped_leaves(lambda a, b: _imputed(a, b, finished), states, next_states)
    return next_states, logical_or(next_finished, finished), elementwise_add(lengths, more)


def _finished(
    decoder: Any, outputs: Any, states: Any, lengths: Any, time_major: bool, with_lengths: bool
) -> tuple[Any, ...]:
    """What is returned, of the outputs of all steps."""
    try:
        outputs, states = decoder.finalize(outputs, states, lengths)
    except NotImplementedError:
        pass
    if not time_major:
        outputs = mapped_leaves(flipped, outputs)
    return (outputs, states, lengths) if with_lengths else (outputs, states)


def _decoded_at_once(
    decoder: Any,
    begin: tuple[Any, Any, Any],
    max_step_num: int | None,
    time_major: bool,
    impute_finished: bool,
    with_lengths: bool,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The same of tensors, step by step."""
    inputs, states, finished = begin
    lengths: Any = cast(zeros_like(finished), "int64")
    steps: list[Any] = []
    while not finished.array.all() and (max_step_num is None or len(steps) <= max_step_num):
        time = finished.results(np.array([len(steps)]))
        output, next_states, inputs, next_finished = decoder.step(time, inputs, states, **kwargs)
        told = (states, next_states, finished, next_finished, lengths)
        states, finished, lengths = _went_on(decoder, *told, impute_finished)
        steps.append(output)
    outputs = mapped_leaves(lambda *each: stack(list(each), 0), *steps)
    return _finished(decoder, outputs, states, lengths, time_major, with_lengths)


class _Carried:
    """Inputs and states that a step hands to the next one: in arrays, which gradients need, or in
    variables that are written anew.
    """

    def __init__(self, inputs: Any, states: Any, step: Any, in_place: bool) -> None:
        self._step, self._in_place = step, in_place
        begin = (lambda x: x) if in_place else (lambda x: array_write(x, step))
        self._inputs, self._states = (mapped_leaves(begin, each) for each in (inputs, states))

    def _read(self, where: Any) -> Any:
        if self._in_place:
            return where
        return mapped_leaves(lambda array: array_read(array, self._step), where)

    def now(self) -> tuple[Any, Any]:
        """The inputs and states of a step."""
        return self._read(self._inputs), self._read(self._states)

    def follow(self, inputs: Any, states: Any) -> None:
        """Hand those of the next step on; the number of the step is the next one's already."""
        for values, where, what in ((inputs, self._inputs, "inputs"), (states, self._states, "")):
            if what and len(leaves(values)) != len(leaves(where)):
                raise ArgumentError(
                    f"expected the decoder to give {len(leaves(where))} next {what}, as it began "
                    f"with, got {len(leaves(values))}"
                )
            if self._in_place:
                mapped_leaves(assign, values, where)
            else:
                mapped_leaves(lambda x, array: array_write(x, self._step, array), values, where)

    def last_states(self) -> Any:
        """The states after the last step."""
        return self._read(self._states)


def _outer_array(x: Any) -> Variable:
    """An array in the block around the one that is built."""
    if not is_variable(x):
        raise ArgumentError(f"expected the decoder to give variables as outputs, got {x!r:.60}")
    block = default_main_program().current_block().parent
    assert block is not None
    name = f"{unique_name.generate('array')}.out"
    return block.create_var(name=name, type=Kind.LOD_TENSOR_ARRAY, dtype=as_dtype(x.dtype))


def _ask_again(finished: Variable, step: Variable, limit: Variable | None, cond: Variable) -> None:
    """Compute the loop's condition anew."""
    if limit is None:
        logical_not(reduce_all(finished), cond)
    else:
        logical_and(logical_not(reduce_all(finished)), less_equal(step, limit), cond)


def _imputed(before: Any, after: Any, finished: Any) -> Any:
    """``after``, but ``before`` where a sequence was finished."""
    dtype = before.dtype
    if dtype is DType.BOOL:
        before, after = cast(before, "float32"), cast(after, "float32")
    mask: Any = cast(finished, before.dtype)
    mask.stop_gradient = True
    old: Any = elementwise_mul(before, mask, axis=0)
    found = old - elementwise_mul(after, mask - 1, axis=0)
    return cast(found, "bool") if dtype is DType.BOOL else found
