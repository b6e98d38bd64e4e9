"""Means of parameters over the last steps, in both modes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from .... import optimizer as library
from ....errors import ArgumentError
from ....ground.arguments import integer
from ....ground.docstrings import Family
from ....ground.tracebacks import api_boundaries
from ....ir.program import Program, program_guard
from ....ir.variable import Variable
from ....optimizer.arguments import number, programs_of
from ....optimizer.states import State
from ...optimizer import Optimizer


@Family().like(library.ModelAverage)
class ModelAverage(Optimizer):
    """
    Args:
        parameters: what is averaged; in programs all trainable parameters.

    >>> from fluidlite import paddle
    >>> layer = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    >>> average = paddle.incubate.ModelAverage(0.15, layer.parameters(), 2, 4)
    >>> layer(paddle.ones([1, 2])).sum().backward()
    >>> sgd.step()
    >>> average.step()
    >>> with average.apply():
    ...     pass  # test here
    """

    _shown = ""
    states: ClassVar[Sequence[State]] = (*library.ModelAverage.sums, *library.ModelAverage.counts)

    def __init__(
        self,
        average_window_rate: float,
        parameters: Iterable[Any] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        super().__init__(0.0, parameters, None, None, name)
        self._attrs: dict[str, Any] = {
            "average_window": number("ModelAverage", "average_window_rate", average_window_rate),
            "min_average_window": integer(self, "min_average_window", min_average_window),
            "max_average_window": integer(self, "max_average_window", max_average_window),
        }
        self._in_program: library.ModelAverage | None = None
        self._kept: list[tuple[Any, Any]] = []  #: parameters, and their arrays before

    def step(self) -> None:
        """Add the parameters that have gradients to their sums."""
        eager = self._need_eager("step")
        parameters = [p for p, _ in eager.pairs()]
        eager.states.prepare(parameters)
        for p in parameters:
            run = p.layer(p.results, "average_accumulates", None)
            ins = {state.slot: eager.states.of(state.name, p).array for state in self.states}
            outs = run.average_accumulates.all(param=p.array, **ins, **self._attrs)
            for state in self.states:
                eager.states.of(state.name, p).array = outs[str(state.out)].array

    def step_of(self, loss: Variable, startup_program: Program | None, *given: Any) -> Any:
        """Add parameters to their sums, or append what does to the program of a loss."""
        if not isinstance(loss, Variable):
            self.step()
            return [], []
        main, startup = programs_of(loss, startup_program)
        with program_guard(main, startup):
            self._in_program = library.ModelAverage(
                self._attrs["average_window"],
                self._attrs["min_average_window"],
                self._attrs["max_average_window"],
                name=self._name,
            )
        return [], []

    def apply(
        self, executor: Any = None, need_restore: bool = True
    ) -> AbstractContextManager[None]:
        """Use the means in place of the parameters inside a ``with`` block.

        Args:
            executor: of programs.
            need_restore: put the parameters back at the end; else :meth:`restore` does it.
        """
        if self._in_program is not None:
            return self._in_program.apply(executor, need_restore)
        self._need_eager("apply")
        return self._applied(need_restore)

    @contextmanager
    def _applied(self, need_restore: bool) -> Iterator[None]:
        states = self._need_eager("apply").states
        for p in self._need_eager("apply").parameters:
            if p.name not in states.by_name().get("sum_1", {}):
                continue
            sums, counts = (
                [states.of(state.name, p).array for state in some]
                for some in (library.ModelAverage.sums, library.ModelAverage.counts[:2])
            )
            self._kept.append((p, p.array))
            p.set_value((sum(sums) / int(sum(counts).reshape(-1)[0])).astype(p.array.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Put the parameters back that :meth:`apply` has kept.

        Args:
            executor: of programs.

        Raises:
            ArgumentError: nothing was averaged in the program yet.
        """
        if self._in_program is not None:
            self._in_program.restore(executor)
            return
        if self._eager is None:
            raise ArgumentError("ModelAverage: call minimize(loss) in the program first")
        for p, array in self._kept:
            p.set_value(array)
        self._kept = []


api_boundaries(globals())
