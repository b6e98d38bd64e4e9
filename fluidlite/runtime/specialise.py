"""Stretches of steps as one prepared function for each combination of shapes.

What is seen for the first time is interpreted; what is seen again is specialised.  Interpretation
is the meaning: where a specialised function fails, the steps are interpreted from the same values,
which raises the error that names the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..opdef.spec import Spec
from .emit import Buffers, Emission
from .plan import Environment, Stretch
from .tidy import tidied
from .trace import Trace, Unsupported

FUNCTIONS_KEPT = 8  #: of one stretch, for different shapes


def function_for(stretch: Stretch, env: Environment, backend: Any) -> Function | None:
    """The function for the values of an environment; None where the steps are to be interpreted:
    the first time that shapes are seen, and where they cannot be specialised.
    """
    key = _key_of(env, stretch.reads)
    if key is None:
        return None
    functions = stretch.functions
    known = functions.get(key, _UNSEEN)
    if known is _UNSEEN:
        functions[key] = _SEEN
        while len(functions) > FUNCTIONS_KEPT:
            functions.popitem(last=False)
        return None
    if known is _SEEN:
        specs = {n: Spec(env[n].shape, as_dtype(env[n].dtype)) for n in stretch.reads}
        try:
            known = Function(stretch, specs, backend)
        except Unsupported:
            known = None
        functions[key] = known
    found: Function | None = known
    return found


_UNSEEN: Any = object()
_SEEN: Any = object()


def _key_of(env: Environment, names: Sequence[str]) -> Any:
    """Shapes and element types of values; None where one is no plain array."""
    key = []
    for name in names:
        value = env.get(name)
        if type(value) is not np.ndarray:
            return None
        key.append(value.shape)
        key.append(value.dtype)
    return tuple(key)


class Function:
    """A stretch of steps for values of given shapes.

    Args:
        stretch: the steps.
        specs: shapes and element types by name.
        backend: whose kernels run.

    Raises:
        Unsupported: it has to be interpreted.
    """

    def __init__(self, stretch: Stretch, specs: dict[str, Spec], backend: Any) -> None:
        trace = Trace(backend)
        made = trace.run(stretch.steps, specs, stretch.writes)
        kernels, instead = tidied(trace.kernels, made.values())
        outputs = {name: instead.get(v.number, v) for name, v in made.items()}
        inputs = list(trace.inputs.values())
        emission = Emission(kernels, inputs, list(outputs.values()))
        self.names = list(trace.inputs)
        self.results = list(outputs)
        self.source = emission.source
        self._buffers = Buffers(emission.makers)
        namespace = {**emission.names, "xp": backend.xp}
        exec(compile(self.source, "<specialised plan>", "exec"), namespace)
        self._run: Callable[..., Any] = namespace["run"]

    def __call__(self, env: Environment, draw: Callable[[str], Any]) -> None:
        """Compute what the steps compute into an environment.

        Args:
            env: values by name.
            draw: gives the random numbers of an operator, by its key.
        """
        buffers = self._buffers.take()
        found = self._run(buffers, draw, *[env[name] for name in self.names])
        self._buffers.give_back(buffers)
        for name, value in zip(self.results, found):
            env[name] = value
