"""Layers that are made programs of."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..compiler import BuildStrategy, ExecutionStrategy
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, OutOfRangeError
from ..ground import state
from ..ground.protected import answers, answers_protected
from ..ground.reprs import Described
from ..io.inference import save_inference_model
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..layers.io import fed_variable
from ..layers.structure import leaves
from ..runtime.executor import Executor
from ..scope import Scope, scope_guard
from .capture import Capture, captured_by, value
from .layer import Layer


class SavesProgram:
    """What has a program that can be written to a folder."""

    def _traced(self) -> TracedLayer:
        raise NotImplementedError

    def save_inference_model(
        self,
        dirname: str | os.PathLike[str],
        feed: Sequence[int] | None = None,
        fetch: Sequence[int] | None = None,
    ) -> None:
        """Write the program (a translator's last used one) and its parameters to a folder.

        Args:
            dirname: the folder.
            feed: numbers of the inputs to keep; all when None.
            fetch: numbers of the outputs to keep; all when None.

        Raises:
            ArgumentError: a number is none, or there is no program yet.
            OutOfRangeError: there is no such input or output.
        """
        traced = self._traced()
        write = partial(save_inference_model, dirname, main_program=traced.program)
        traced.write_by(write, feed, fetch)


@answers_protected
@answers(
    _feed_names=lambda self: list(self._feeds),
    _fetch_names=lambda self: [variable.name for variable in self.outputs],
    _exe=lambda self: self._executor,
    _place=lambda self: self._executor.place,
)
class TracedLayer(SavesProgram, Described):
    """The program that a layer amounts to: made by ``trace``, run by a call.

    The layer's ``forward`` is called with variables in place of its inputs and parameters; what
    is Python in it, as a loop or a branch, is as it was then.

    Args:
        program: the program.
        scope: has the values of its parameters.
        feeds: names of its inputs.
        outputs: variables.

    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.ones((2, 3), "float32"))
    ...     _, traced = fluid.dygraph.TracedLayer.trace(fluid.dygraph.Linear(3, 1), [x])
    ...     traced([x])[0].shape
    (2, 1)
    """

    _shown = "program=_program"

    def __init__(
        self, program: Program, scope: Scope, feeds: list[str], outputs: list[Variable]
    ) -> None:
        self._program = program
        self._scope = scope
        self._feeds = feeds
        self.outputs = outputs
        self._executor = Executor()

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @classmethod
    def trace(cls, layer: Layer, inputs: Sequence[Any]) -> tuple[Any, TracedLayer]:
        """Call a layer, and make a program of it.

        Args:
            layer: the layer.
            inputs: tensors that it is called with.

        Returns:
            what the layer gives, and the program.

        Raises:
            ArgumentError: an argument is of another kind, or the layer does something that only
                tensors can.

        >>> with fluid.dygraph.guard():
        ...     x = fluid.dygraph.to_variable(np.ones([2, 3], "float32"))
        ...     y, traced = fluid.dygraph.TracedLayer.trace(fluid.dygraph.Linear(3, 4), [x])
        ...     (again,) = traced([x])
        >>> bool((again == y.numpy()).all()), [op.type for op in traced.program.global_block().ops]
        (True, ['matmul', 'elementwise_add'])
        """
        if not isinstance(layer, Layer):
            raise ArgumentError(f"expected a layer to trace, got {layer!r:.60}")
        tensors = _tensors(inputs)
        outputs = layer(*tensors)
        program = Program()
        capture = Capture(program)
        with program_guard(program, Program()), state.eager.guard(False):
            fed = [
                fed_variable(f"feed_{i}", [-1, *t.shape[1:]] if t.shape else [], t.dtype, 0)
                for i, t in enumerate(tensors)
            ]
            with captured_by(capture):
                fetches = [value(each) for each in leaves(layer(*fed))]
        for each in fetches:
            if not isinstance(each, Variable):
                raise ArgumentError(f"expected the layer to give tensors, got {each!r:.60}")
        return outputs, cls(program, capture.scope(), [v.name for v in fed], fetches)

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Run the program.

        Args:
            inputs: tensors, or arrays, as many as the layer was traced with.

        Returns:
            a list of arrays.
        """
        if not isinstance(inputs, (list, tuple)):
            raise ArgumentError(f"expected a list of inputs, got {inputs!r:.60}")
        listed = list(inputs)
        if len(listed) != len(self._feeds):
            raise ArgumentError(f"expected {len(self._feeds)} inputs, got {len(listed)}")
        feed = {
            name: each.array if isinstance(each, TensorRecord) else each
            for name, each in zip(self._feeds, listed)
        }
        found: list[Any] = self._executor.run(
            self.program, feed=feed, fetch_list=self.outputs, scope=self._scope
        )
        return found

    def set_strategy(
        self,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
    ) -> None:
        """Accepted for old scripts: programs are prepared as well as can be always.

        Args:
            build_strategy, exec_strategy: without meaning here.
        """

    def _traced(self) -> TracedLayer:
        return self

    def write_by(
        self, write: Callable[..., Any], feed: Sequence[int] | None, fetch: Sequence[int] | None
    ) -> None:
        """Have a function write the program, where its parameters are those of the layer.

        Args:
            write: takes the names of inputs, the outputs, and an executor.
            feed, fetch: as of ``save_inference_model``.
        """
        feeds = _chosen(self._feeds, feed, "feed")
        fetches = _chosen(self.outputs, fetch, "fetch")
        with scope_guard(self._scope):
            write(feeds, fetches, self._executor)


def _tensors(inputs: Any) -> list[Any]:
    listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    for each in listed:
        if not isinstance(each, TensorRecord):
            raise ArgumentError(f"expected a list of tensors as inputs, got {each!r:.60} in it")
    return listed


def _chosen(known: list[Any], numbers: Sequence[int] | None, what: str) -> list[Any]:
    if numbers is None:
        return list(known)
    for number in numbers:
        said = f"expected {what} to be numbers below {len(known)}, got {number!r}"
        if not isinstance(number, int):
            raise ArgumentError(said)
        if not 0 <= number < len(known):
            raise OutOfRangeError(said)
    return [known[number] for number in numbers]
