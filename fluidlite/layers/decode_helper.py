"""Decoders that sample: each step's token from the scores, and the next input from the token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..ground.reprs import Described
from ..ground.spellings import parameters_of
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from .activation import softmax
from .compare import equal, less_equal
from .creation import fill_constant, fill_constant_batch_size_like
from .decoding import Decoder
from .layer import is_variable
from .math import cast
from .recurrence import check_lengths
from .reshaping import squeeze
from .sampling import sampling_id
from .search import argmax
from .slicing import pad
from .slicing import slice as slice_
from .structure import Structure, leaves, mapped_leaves


class DecodeHelper(Described):
    """What a ``BasicDecoder`` asks for tokens and inputs: written by subclasses.

    >>> class Alternating(fluid.layers.DecodeHelper):
    ...     def initialize(self):
    ...         zero = fluid.layers.fill_constant([2, 1], "float32", 0.0)
    ...         return zero, fluid.layers.fill_constant([2], "bool", False)
    ...
    ...     def sample(self, time, outputs, states):
    ...         return fluid.layers.argmax(outputs, axis=-1)
    ...
    ...     def next_inputs(self, time, outputs, states, sample_ids):
    ...         finished = fluid.layers.fill_constant([2], "bool", False)
    ...         return finished, 1 - outputs[:, 0:1], states
    >>> first = fluid.layers.fill_constant([2, 3], "float32", 0.0)
    >>> decoder = fluid.layers.BasicDecoder(fluid.layers.GRUCell(3), Alternating())
    >>> out, last = fluid.layers.dynamic_decode(decoder, first, max_step_num=4)
    >>> out.cell_outputs.shape
    (2, -1, 3)
    """

    def initialize(self) -> tuple[Any, Any]:
        """The first inputs, and which sequences are finished before the first step."""
        raise NotImplementedError(f"{type(self).__name__} needs a method initialize(self)")

    def sample(
        self, time: Variable | None, outputs: Variable, states: Structure | None
    ) -> Variable:
        """The tokens of a step, [batch].

        Args:
            time: the number of the step.
            outputs: scores of tokens, [batch, tokens].
            states: the states of the cell.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method sample(self, ...)")

    def next_inputs(
        self,
        time: Variable,
        outputs: Variable | None,
        states: Structure | None,
        sample_ids: Variable,
    ) -> tuple[Any, Any, Any]:
        """Which sequences are finished, the next inputs, and the next states.

        Args:
            time, outputs, states: as of ``sample``; a helper may need fewer.
            sample_ids: what ``sample`` gave.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method next_inputs(self, ...)")


class _Greedy(DecodeHelper):
    """A helper that takes the token with the largest score."""

    def sample(
        self, time: Variable | None, outputs: Variable, states: Structure | None
    ) -> Variable:
        """The token with the largest score.

        Args:
            time, states: accepted, as of every helper.
            outputs: scores of tokens, [batch, tokens].
        """
        return argmax(outputs, axis=-1)


class TrainingHelper(_Greedy):
    """Inputs from sequences that are known, whatever was sampled; tokens by the largest score.

    Args:
        inputs: sequences, [batch, steps, ...], or a structure of them.
        sequence_length: how many steps of each count, [batch].
        time_major: whether sequences are [steps, batch, ...].

    Raises:
        ArgumentError: ``inputs`` or ``sequence_length`` are no variables.
        ShapeError: there is not one length for each sequence.

    >>> x, n = fluid.data("x", [None, 7, 4]), fluid.data("n", [None], "int64")
    >>> decoder = fluid.layers.BasicDecoder(
    ...     fluid.layers.GRUCell(5), fluid.layers.TrainingHelper(x, n)
    ... )
    >>> out, last = fluid.layers.dynamic_decode(decoder, fluid.data("h", [None, 5]))
    >>> out.cell_outputs.shape
    (-1, -1, 5)
    """

    def __init__(
        self, inputs: Structure, sequence_length: Variable, time_major: bool = False
    ) -> None:
        for leaf in leaves(inputs):
            if not is_variable(leaf):
                raise ArgumentError(f"expected inputs to be variables, got {leaf!r:.60}")
            if leaf.ndim < 2:
                raise ShapeError(
                    f"expected inputs of shape [batch, steps, ...], got {leaf.name!r} of shape "
                    f"{list(leaf.shape)}"
                )
        check_lengths(sequence_length, leaves(inputs)[0].shape[1 if time_major else 0])
        self.inputs = inputs
        self.sequence_length = sequence_length
        self.time_major = time_major
        # one more step, which is read behind the end of the longest sequence
        self._padded = mapped_leaves(self._with_one_more, inputs)

    @property
    def _axis(self) -> int:
        return 0 if self.time_major else 1

    def _with_one_more(self, x: Variable) -> Variable:
        paddings = [0] * (2 * x.ndim)
        paddings[2 * self._axis + 1] = 1
        return pad(x, paddings=paddings)

    def initialize(self) -> tuple[Any, Any]:
        """The first steps; sequences without any are finished."""
        zero = fill_constant([1], self.sequence_length.dtype, 0)
        finished = equal(self.sequence_length, zero)
        first = mapped_leaves(lambda x: x[0] if self.time_major else x[:, 0], self.inputs)
        return first, finished

    @parameters_of(DecodeHelper.next_inputs)
    def next_inputs(self, *given: Any) -> tuple[Any, Any, Any]:
        """The next steps; sequences end with their last one."""
        time, _, states, _ = given
        pair: tuple[Any, Any] = (time, self.sequence_length)
        now, lengths = (x if x.dtype is DType.INT32 else cast(x, "int32") for x in pair)
        after = now + 1
        finished = less_equal(lengths, after)

        def step(x: Any) -> Any:
            cut = slice_(x, axes=[self._axis], starts=[after], ends=[after + 1])
            return squeeze(cut, axes=[self._axis])

        return finished, mapped_leaves(step, self._padded), states


class GreedyEmbeddingHelper(_Greedy):
    """The token with the largest score; its embedding is the next input.

    Args:
        embedding_fn: makes inputs of tokens, [batch].
        start_tokens: the tokens that sequences begin with, int64 of shape [batch].
        end_token: the token that finishes a sequence.

    Raises:
        ArgumentError: ``embedding_fn`` is no function, or ``start_tokens`` is no variable.

    >>> start = fluid.data("start", [None], "int64")
    >>> words = lambda ids: fluid.embedding(ids, [9, 4], param_attr="words")
    >>> helper = fluid.layers.GreedyEmbeddingHelper(words, start, end_token=1)
    >>> first, finished = helper.initialize()
    >>> first.shape, finished.shape
    ((-1, 4), (-1,))
    """

    def __init__(self, embedding_fn: Callable[[Any], Any], start_tokens: Variable, end_token: int):
        if not callable(embedding_fn):
            raise ArgumentError(f"expected embedding_fn to be a function, got {embedding_fn!r:.60}")
        if not is_variable(start_tokens):
            raise ArgumentError(f"expected start_tokens to be a variable, got {start_tokens!r:.60}")
        self.embedding_fn = embedding_fn
        self.start_tokens = start_tokens
        self.end_token: Variable = fill_constant([1], "int64", whole_number(end_token))

    def initialize(self) -> tuple[Any, Any]:
        """The embeddings of the first tokens; no sequence is finished."""
        finished = fill_constant_batch_size_like(
            self.start_tokens, [-1], "bool", False, force_cpu=True
        )
        return self.embedding_fn(self.start_tokens), finished

    @parameters_of(DecodeHelper.next_inputs)
    def next_inputs(self, *given: Any) -> tuple[Any, Any, Any]:
        """The embeddings of the tokens; sequences end with the end token."""
        _, _, states, sample_ids = given
        finished = equal(sample_ids, self.end_token)
        return finished, self.embedding_fn(sample_ids), states


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A token drawn by the softmax of the scores; its embedding is the next input.

    Args:
        embedding_fn, start_tokens, end_token: as of ``GreedyEmbeddingHelper``.
        softmax_temperature: what scores are divided by first: below 1 large ones are drawn more
            often, above 1 less often; 1 when None.
        seed: fixes what is drawn; the program's own stream when None.

    Raises:
        ArgumentError: ``softmax_temperature`` is not positive.

    >>> start = fluid.data("start", [None], "int64")
    >>> words = lambda ids: fluid.embedding(ids, [9, 4], param_attr="words")
    >>> helper = fluid.layers.SampleEmbeddingHelper(words, start, 1, softmax_temperature=0.5)
    >>> helper.sample(None, fluid.data("scores", [None, 9]), None).shape
    (-1,)
    """

    def __init__(
        self,
        embedding_fn: Callable[[Any], Any],
        start_tokens: Variable,
        end_token: int,
        softmax_temperature: float | None = None,
        seed: int | None = None,
    ):
        super().__init__(embedding_fn, start_tokens, end_token)
        if softmax_temperature is not None and not softmax_temperature > 0:
            raise ArgumentError(
                f"expected softmax_temperature above 0, got {softmax_temperature!r:.60}"
            )
        self.softmax_temperature: Variable | None = (
            None
            if softmax_temperature is None
            else fill_constant([1], "float32", softmax_temperature)
        )
        self.seed = seed

    @parameters_of(_Greedy.sample)
    def sample(self, time: object, outputs: Any, states: object) -> Variable:
        """A token, drawn.

        Args:
            time, states: accepted.
        """
        if self.softmax_temperature is not None:
            outputs = outputs / self.softmax_temperature
        shares = softmax(outputs)
        shares.stop_gradient = True
        return sampling_id(shares, seed=self.seed or 0, dtype="int64")


class BasicOutput(NamedTuple):
    """What a step of a ``BasicDecoder`` gives: outputs, and tokens [batch]."""

    cell_outputs: Any
    sample_ids: Any


BasicOutput._fields_defaults = {}  # type: ignore[attr-defined]  # of Python 3.7


class BasicDecoder(Decoder):
    """A decoder of a cell, and a helper that gives its inputs.

    Args:
        cell: an RNNCell, or a function of inputs and states that gives an output and next states.
        helper: chooses tokens, and gives inputs.
        output_fn: makes scores of tokens of the cell's outputs; these are the scores when None.

    Raises:
        ArgumentError: ``cell`` or ``output_fn`` is no function, or ``helper`` no helper.

    >>> x, n = fluid.data("x", [None, 7, 4]), fluid.data("n", [None], "int64")
    >>> helper = fluid.layers.TrainingHelper(x, n)
    >>> decoder = fluid.layers.BasicDecoder(fluid.layers.GRUCell(5), helper)
    >>> decoder.initialize(fluid.data("h", [None, 5]))[0].shape
    (-1, 4)
    """

    OutputWrapper = BasicOutput

    def __init__(
        self,
        cell: Callable[..., tuple[Any, Any]],
        helper: DecodeHelper,
        output_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        for what, given in dict(cell=cell, output_fn=output_fn).items():
            if not callable(given) and not (given is None and what == "output_fn"):
                raise ArgumentError(f"expected {what} to be a function, got {given!r:.60}")
        if not isinstance(helper, DecodeHelper):
            raise ArgumentError(f"expected helper to be a DecodeHelper, got {helper!r:.60}")
        self.cell = cell
        self.helper = helper
        self.output_fn = output_fn

    def initialize(self, initial_cell_states: Structure) -> tuple[Any, Any, Any]:
        """What the helper begins with, and the given states.

        Args:
            initial_cell_states: the first states of the cell.
        """
        inputs, finished = self.helper.initialize()
        return inputs, initial_cell_states, finished

    def step(
        self, time: Variable, inputs: Structure, states: Structure, **kwargs: Any
    ) -> tuple[Any, Any, Any, Any]:
        """One step of the cell, and what the helper makes of it."""
        outputs, states = self.cell(inputs, states, **kwargs)
        if self.output_fn is not None:
            outputs = self.output_fn(outputs)
        tokens = self.helper.sample(time=time, outputs=outputs, states=states)
        tokens.stop_gradient = True
        finished, inputs, states = self.helper.next_inputs(
            time=time, outputs=outputs, states=states, sample_ids=tokens
        )
        return self.OutputWrapper(outputs, tokens), states, inputs, finished
