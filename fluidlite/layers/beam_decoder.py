"""Beam search: decoding that follows several paths at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..ground.protected import answers_protected
from ..ir.variable import Variable
from .activation import softmax
from .alignment import gather_tree
from .compare import equal, logical_not, logical_or
from .creation import assign, fill_constant, fill_constant_batch_size_like, range, zeros_like
from .decoding import Decoder
from .elementwise import elementwise_add, elementwise_floordiv, elementwise_mod, elementwise_mul
from .indexing import gather_nd
from .joining import stack
from .layer import is_variable
from .math import cast
from .reshaping import expand, reshape, shape, transpose, unsqueeze
from .search import topk
from .structure import Structure, leaves, mapped_leaves
from .unary import log

_NEVER = -1e9  #: the logarithm of the probability of what does not happen


class BeamSearchOutput(NamedTuple):
    """What a step of a beam search gives, [batch, beam] each."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


BeamSearchOutput._fields_defaults = {}  # type: ignore[attr-defined]  # of Python 3.7


class BeamSearchState(NamedTuple):
    """What a step of a beam search hands to the next one."""

    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


BeamSearchState._fields_defaults = {}  # type: ignore[attr-defined]  # of Python 3.7


@answers_protected
class BeamSearchDecoder(Decoder):
    """A beam search: at each step the ``beam_size`` paths with the largest probability go on.

    A path that came to ``end_token`` keeps its probability and goes on with that token.

    Args:
        cell: an RNNCell, or a function of inputs and states that gives an output and next states.
        start_token: the token that paths begin with.
        end_token: the token that finishes a path.
        beam_size: how many paths are followed for each of the batch.
        embedding_fn: makes inputs of tokens, [batch, beam]; tokens are the inputs when None.
        output_fn: makes scores of tokens of the cell's outputs, [batch, beam, ...]; these are the
            scores when None.

    Raises:
        ArgumentError: ``beam_size`` is not positive, a token is none, or something is no function.

    >>> state = fluid.layers.fill_constant([2, 5], "float32", 0.0)
    >>> words = lambda ids: fluid.embedding(ids, [9, 4], param_attr="words")
    >>> scores = lambda x: fluid.layers.fc(x, 9, 2, param_attr="scores", bias_attr="bias")
    >>> cell = fluid.layers.GRUCell(5)
    >>> decoder = fluid.layers.BeamSearchDecoder(cell, 0, 1, 3, words, scores)
    >>> ids, last = fluid.layers.dynamic_decode(decoder, state, max_step_num=6)
    >>> ids.shape, last.log_probs.shape
    ((2, -1, 3), (2, 3))
    """

    OutputWrapper = BeamSearchOutput
    StateWrapper = BeamSearchState

    def __init__(
        self,
        cell: Callable[..., tuple[Any, Any]],
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Any], Any] | None = None,
        output_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        for what, argument in dict(
            cell=cell, embedding_fn=embedding_fn, output_fn=output_fn
        ).items():
            if not callable(argument) and not (argument is None and what != "cell"):
                raise ArgumentError(f"expected {what} to be a function, got {argument!r:.60}")
        for what, token in dict(start_token=start_token, end_token=end_token).items():
            if isinstance(token, bool) or not isinstance(token, int) or token < 0:
                raise ArgumentError(f"expected {what} to be a token from 0, got {token!r:.60}")
        if isinstance(beam_size, bool) or not isinstance(beam_size, int) or beam_size < 1:
            raise ArgumentError(f"expected beam_size of at least 1, got {beam_size!r:.60}")
        self.cell = cell
        self.embedding_fn: Callable[[Any], Any] | None = embedding_fn
        self.output_fn: Callable[[Any], Any] | None = output_fn
        self.start_token = start_token
        self.end_token = end_token
        self.beam_size = beam_size
        self._batch: Any = None
        self._first: Any = None
        self._end: Any = None

    @staticmethod
    def tile_beam_merge_with_batch(x: Variable, beam_size: int) -> Variable:
        """Each of a batch as often as there are paths: for what cells read besides their inputs.

        Args:
            x: [batch, ...].
            beam_size: how many paths there are.

        Returns:
            [batch * beam_size, ...].

        >>> x = fluid.data("x", [2, 4])
        >>> fluid.layers.BeamSearchDecoder.tile_beam_merge_with_batch(x, 3).shape
        (6, 4)
        """
        rest = list(np.arange(2, x.ndim + 1))
        tiled = expand(unsqueeze(x, [1]), [1, beam_size, *[1] * (x.ndim - 1)])
        tiled = transpose(tiled, [*map(int, rest), 0, 1])
        tiled = reshape(tiled, [*[0] * len(rest), -1])
        return transpose(tiled, [len(rest), *map(int, np.arange(len(rest)))])

    def initialize(self, initial_cell_states: Structure) -> tuple[Any, Any, Any]:
        """The start token for each path, the states of which the first path has probability one.

        Args:
            initial_cell_states: [batch, ...] each.

        Raises:
            ArgumentError: these are no variables.
        """
        states = leaves(initial_cell_states)
        for each in states:
            if not is_variable(each):
                raise ArgumentError(
                    f"expected the first states of a beam search to be variables, got {each!r:.60}"
                )
        self._first = states[0]
        if isinstance(self._first, Variable):
            self._batch = shape(self._first)[0]
            self._batch.stop_gradient = True
        else:
            self._batch = len(self._first.array)
        start, self._end = self._token(self.start_token), self._token(self.end_token)
        cells = mapped_leaves(self._tiled, initial_cell_states)
        tokens = self._tiled(expand(start, [self._batch]))
        first = [[0.0] + [_NEVER] * (self.beam_size - 1)]
        log_probs = expand(self._constant(first, states[0].dtype), [self._batch, 1])
        finished = fill_constant_batch_size_like(
            states[0], [-1, self.beam_size], "bool", False, force_cpu=True
        )
        lengths = zeros_like(tokens)
        inputs = tokens if self.embedding_fn is None else self.embedding_fn(tokens)
        return inputs, self.StateWrapper(cells, log_probs, finished, lengths), finished

    def step(
        self, time: Variable, inputs: Structure, states: BeamSearchState, **kwargs: Any
    ) -> tuple[Any, Any, Any, Any]:
        """One step of all paths.

        Args:
            time: accepted, as of every decoder.
            inputs, states: of the step.
            kwargs: of the cell.

        Raises:
            ShapeError: the number of tokens is not known, smaller than the beam needs, or without
                the tokens of start and end.
        """
        inputs = mapped_leaves(_merged, inputs)
        cells = mapped_leaves(_merged, states.cell_states)
        outputs, cells = self.cell(inputs, cells, **kwargs)
        outputs = mapped_leaves(self._split, outputs)
        cells = mapped_leaves(self._split, cells)
        if self.output_fn is not None:
            outputs = self.output_fn(outputs)
        output, state = self._chosen(outputs, cells, states)
        tokens = output.predicted_ids
        tokens.stop_gradient = True
        inputs = tokens if self.embedding_fn is None else self.embedding_fn(tokens)
        return output, state, inputs, state.finished

    def _chosen(self, scores: Any, cells: Any, states: Any) -> tuple[Any, Any]:
        """The paths that go on, and their states."""
        beam, many = self.beam_size, self._checked_tokens(scores)
        count = self._token(many)
        only_end = [_NEVER] * many
        only_end[self.end_token] = 0.0
        ending = self._constant(only_end, scores.dtype)
        steps = self._masked(log(softmax(scores)), states.finished, ending)
        total = elementwise_add(steps, states.log_probs, axis=0)
        best, where = topk(reshape(total, [-1, beam * many]), k=beam)
        parents, tokens = elementwise_floordiv(where, count), elementwise_mod(where, count)
        log_probs = self._gathered(reshape(total, [-1, beam * many]), where)
        cells = mapped_leaves(lambda x: self._gathered(x, parents), cells)
        finished = self._gathered(states.finished, parents)
        lengths = self._gathered(states.lengths, parents)
        lengths = lengths + cast(logical_not(finished), lengths.dtype)
        finished = logical_or(finished, equal(tokens, self._end))
        state = self.StateWrapper(cells, log_probs, finished, lengths)
        return self.OutputWrapper(best, tokens, parents), state

    def _checked_tokens(self, scores: Any) -> int:
        """How many tokens there are."""
        if not is_variable(scores) or scores.ndim != 3 or scores.shape[2] < 1:
            found = f"shape {list(scores.shape)}" if is_variable(scores) else f"{scores!r:.60}"
            raise ShapeError(
                f"expected scores of shape [batch, {self.beam_size}, tokens] with a known number "
                f"of tokens, from output_fn or the cell, got {found}"
            )
        many: int = scores.shape[2]
        if max(self.start_token, self.end_token) >= many:
            raise ShapeError(
                f"expected scores of more than {max(self.start_token, self.end_token)} tokens, "
                f"since start_token is {self.start_token} and end_token {self.end_token}, got "
                f"{many}"
            )
        return many

    def _masked(self, log_probs: Any, finished: Any, ending: Any) -> Any:
        """Logarithms of probabilities; of paths that are finished, only that of the end is left."""
        many = log_probs.shape[-1]
        done: Any = cast(finished, log_probs.dtype)
        mask = expand(unsqueeze(done, [2]), [1, 1, many])
        ends: Any = elementwise_mul(mask, ending, axis=-1)
        return ends - elementwise_mul(log_probs, done - 1, axis=0)

    def _gathered(self, x: Any, index: Any) -> Any:
        """For each of the batch the elements of its row of ``x`` at ``index``."""
        rows = unsqueeze(self._rows(index.dtype), [1])
        places = stack([expand(rows, [1, self.beam_size]), index], axis=2)
        places.stop_gradient = True
        return gather_nd(x, places)

    def _token(self, number: int) -> Any:
        if isinstance(self._first, Variable):
            return fill_constant([1], "int64", number)
        return self._first.results(np.array([number]))

    def _rows(self, dtype: DType) -> Any:
        """The numbers of the rows of the batch."""
        if isinstance(self._first, Variable):
            return range(0, self._batch, 1, dtype)
        return self._first.results(np.arange(self._batch, dtype=dtype.dtype))

    def _constant(self, numbers: Any, dtype: DType) -> Any:
        """Numbers in the element type of a model's floats; in programs they are written as single
        ones.
        """
        if not isinstance(self._first, Variable):
            return self._first.results(np.array(numbers, dtype.dtype))
        constant = assign(np.array(numbers, "float32"))
        return constant if dtype is DType.FP32 or not dtype.is_float else cast(constant, dtype)

    def _tiled(self, x: Any) -> Any:
        """[batch, ...] as [batch, beam, ...]."""
        return expand(unsqueeze(x, [1]), [1, self.beam_size, *[1] * (x.ndim - 1)])

    def _split(self, x: Any) -> Any:
        """[batch * beam, ...] as [batch, beam, ...]."""
        return reshape(x, [-1, self.beam_size, *x.shape[1:]])

    def finalize(
        self,
        outputs: BeamSearchOutput,
        final_states: BeamSearchState,
        sequence_lengths: Variable | None,
    ) -> tuple[Variable, BeamSearchState]:
        """The tokens of whole paths, [steps, batch, beam], the most probable first.

        Args:
            outputs, final_states: of all steps.
            sequence_lengths: accepted, as of every decoder.
        """
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states


def _merged(x: Any) -> Any:
    """[batch, beam, ...] as [batch * beam, ...]."""
    return reshape(x, [-1, *x.shape[2:]])
