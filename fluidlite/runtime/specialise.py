"""Stretches of steps as one prepared function for each combination of shapes.

What is seen for the first time is interpreted; what is seen again is specialised.  Interpretation
is the meaning: where a specialised function fails, the steps are interpreted from the same values,
which raises the error that names the operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import kernels  # noqa: F401  (made ready kernels register themselves)
from ..dtypes import as_dtype
from ..opdef.spec import Spec
from .emit import Buffers, Emission, Memory
from .plan import Environment, Stretch
from .tidy import last_uses, tidied
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


def give_up(stretch: Stretch, function: Function, error: Exception) -> None:
    """Interpret from now on what a function failed to compute although the steps did not fail.

    Args:
        stretch: the steps.
        function: what failed.
        error: how.
    """
    for key, known in stretch.functions.items():
        if known is function:
            stretch.functions[key] = None
    warnings.warn(
        f"a specialised plan failed where the interpreted one did not, and is not used any more; "
        f"please report this: {type(error).__name__}: {error}",
        RuntimeWarning,
        stacklevel=2,
    )


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
        self._kernels, instead = tidied(trace.kernels, made.values())
        self._outputs = {name: instead.get(v.number, v) for name, v in made.items()}
        self._inputs = trace.inputs
        self._xp = backend.xp
        self.names = list(trace.inputs)
        self.results = list(self._outputs)
        #: arrays that were replaced, and that nobody else holds, by the name of what replaced them
        self.spares: dict[str, Any] = {}
        self._rotating: list[str] = [n for n in self.results if n in stretch.commits]
        #: what is run, once a first run has shown where values lie
        self.source = ""
        self._run: Callable[..., Any] | None = None

    def __call__(self, env: Environment, draw: Callable[[str], Any]) -> None:
        """Compute what the steps compute into an environment.

        Args:
            env: values by name.
            draw: gives the random numbers of an operator, by its key.
        """
        if self._run is None:
            self._first_run(env, draw)
            return
        buffers = self._buffers.take()
        spares = [self.spares.pop(name, None) for name in self._spared]
        found = self._run(buffers, spares, draw, *[env[name] for name in self.names])
        self._buffers.give_back(buffers)
        env.update(zip(self.results, found))

    @property
    def is_ready(self) -> bool:
        """Whether the source has been written."""
        return self._run is not None

    def take_spare(self, name: str, array: Any) -> None:
        """Keep an array that a result may be written to."""
        if self._run is not None and self._spared.get(name) == (array.shape, array.dtype):
            self.spares[name] = array

    def _first_run(self, env: Environment, draw: Callable[[str], Any]) -> None:
        """Run kernel by kernel, and write the source from what was seen."""
        memory, listed = Memory(), self._kernels
        held = {v.number: env[name] for name, v in self._inputs.items()}
        dying = last_uses(listed, self._outputs.values())
        for kernel, dead in zip(listed, dying, strict=True):
            for value, array in kernel.run(self._xp, held, draw):
                held[value.number] = array
                memory.note(value, array, [(v, held.get(v.number)) for v in kernel.inputs])
            for value in dead:
                held.pop(value.number, None)
        rotating = [self._outputs[name] for name in self._rotating]
        emission = Emission(
            listed,
            list(self._inputs.values()),
            list(self._outputs.values()),
            rotating,
            memory,
        )
        by_number = {v.number: name for name, v in self._outputs.items()}
        spared = {by_number[n]: self._outputs[by_number[n]] for n in emission.spares}
        self._spared = {name: (v.shape, v.dtype) for name, v in spared.items()}
        self._buffers = Buffers(emission.makers)
        #: results that share no memory with anything else
        self.fresh = {
            name
            for name, v in self._outputs.items()
            if v.constant is None
            and v.number not in {i.number for i in self._inputs.values()}
            and not memory.shared.get(v.number)
        }
        self.source = emission.source
        namespace = {**emission.names, "xp": self._xp}
        exec(compile(self.source, "<specialised plan>", "exec"), namespace)
        self._run = namespace["run"]
        for name, value in self._outputs.items():
            env[name] = held[value.number] if value.constant is None else value.constant
