"""Checking the gradients of functions of eager tensors against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..eager.engine import gradients_of, tensors_in
from ..eager.mode import enable_grad
from ..eager.prepared import Generator, stream_guard
from ..eager.tensor_core import TensorCore
from ..errors import ArgumentError
from .comparing import Comparing
from .differences import Array, Limits, weighed, weight_like
from .float64 import dense, is_continuous, widened
from .report import Checked, Report


def takes_tensors(inputs: Any) -> bool:
    """Whether there are eager tensors among the inputs of a check."""
    if isinstance(inputs, Mapping):
        inputs = list(inputs.values())
    listed = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return any(isinstance(each, TensorCore) for each in listed)


class EagerCheck:
    """One check of a function of eager tensors.

    Args:
        function: takes tensors, gives a tensor or several.
        inputs: its arguments by name, or a list of them, or the only one; what is no tensor is made
            one.
        limits: what is allowed.
        elements: how many elements of an array are checked one by one.
        seed: of what is drawn.
    """

    def __init__(
        self, function: Callable[..., Any], inputs: Any, limits: Limits, elements: int, seed: int
    ) -> None:
        if isinstance(inputs, TensorCore):
            inputs = [inputs]
        if not isinstance(inputs, Mapping):
            inputs = {f"input_{k}": value for k, value in enumerate(inputs)}
        self._function = function
        self._kind = next(each.results for each in inputs.values() if isinstance(each, TensorCore))
        self._values: dict[str, Array] = {}
        for name, value in inputs.items():
            array = dense(value.array) if isinstance(value, TensorCore) else np.asarray(value)
            self._values[name] = widened(array)
        self._sources = [name for name, value in self._values.items() if is_continuous(value)]
        if not self._sources:
            raise ArgumentError(
                "expected floats among the inputs, got none; only floats have gradients"
            )
        self._seed = seed
        self._rng = np.random.default_rng([seed, 0x6772_6164])  # not what a user's seed gives
        self._comparing = Comparing(limits, elements, self._rng)
        self._weights: list[list[Array]] = []  #: of what is differentiated at each order

    def run(self, order: int) -> Report:
        """Check up to an order; stops at the first one that disagrees."""
        checked: list[Checked] = []
        for k in range(1, order + 1):
            _, outs = self._outputs(self._values)
            if not outs:
                break  # nothing is left that could depend on anything
            self._weights.append(self._drawn(outs, k))
            found = self._gradients(self._values)
            here = [
                self._comparing.compare(name, self._values[name], gradient, self._total(name, k), k)
                for name, gradient in zip(self._sources, found)
            ]
            checked += here
            if not all(each.ok for each in here):
                return Report(False, k - 1, tuple(checked))
        return Report(True, order, tuple(checked))

    def _drawn(self, outs: Sequence[Any], order: int) -> list[Array]:
        return [
            weight_like(self._rng, dense(out.array), order > 1 or out.array.size > 1)
            for out in outs
        ]

    def _outputs(
        self, values: Mapping[str, Array], weights: Sequence[Sequence[Array]] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """The tensors of the sources, and what is differentiated at the next order.

        Args:
            values: of all inputs.
            weights: those of the orders before; all that there are when None.
        """
        weights = self._weights if weights is None else weights
        tensors = {name: self._kind(value) for name, value in values.items()}
        sources = [tensors[name] for name in self._sources]
        for each in sources:
            each.stop = False
        with stream_guard(Generator(self._seed)), enable_grad():
            outs = tensors_in("what the function returns", self._function(*tensors.values()))
            for out in outs:
                if not is_continuous(dense(out.array)):
                    raise ArgumentError(
                        f"expected the function to return floats, got {out.array.dtype}; only "
                        f"floats have gradients"
                    )
            for level in weights:
                seeds = [self._kind(w.astype(t.array.dtype)) for w, t in zip(level, outs)]
                found = gradients_of(outs, sources, seeds, retain_graph=True, create_graph=True)
                outs = [gradient for gradient in found if gradient is not None]
        return sources, outs

    def _gradients(self, values: Mapping[str, Array]) -> list[Any]:
        """The gradients at the order whose weights were drawn last."""
        sources, outs = self._outputs(values, self._weights[:-1])
        seeds = [self._kind(w.astype(t.array.dtype)) for w, t in zip(self._weights[-1], outs)]
        found = gradients_of(outs, sources, seeds, retain_graph=False, create_graph=False)
        return [None if gradient is None else gradient.array for gradient in found]

    def _total(self, name: str, order: int) -> Callable[[Array], tuple[float, float]]:
        """What is differentiated at an order as a function of one of the sources."""

        def total(data: Array) -> tuple[float, float]:
            _, outs = self._outputs({**self._values, name: data}, self._weights[: order - 1])
            return weighed(self._weights[order - 1], [dense(each.array) for each in outs])

        return total
