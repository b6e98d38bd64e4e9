"""The functions of a segment, by the shapes of what it reads.

The first run of a segment is interpreted, the second with the same shapes is compiled
(``compile.py``, which is read then).  Interpretation is the meaning: where a compiled segment
fails, its steps are interpreted from the same values, which raises the error that names the
operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backend import kernel_libraries
from ..dtypes import as_dtype
from ..errors import FluidError
from ..opdef.spec import Spec
from .segment import Segment
from .step import Environment
from .value import Unsupported

if TYPE_CHECKING:
    from .compile import CompiledSegment
    from .passes.form import Pass

# what compiles is read when something is compiled: a program that is only built does without
_COMPILING, _PIPELINE = f"{__package__}.compile", f"{__package__}.pipeline"

FUNCTIONS_KEPT = 8  #: of one segment, for different shapes


def passes_for(wish: str | None) -> tuple[Pass, ...]:
    """The passes that run; see ``pipeline.selected``."""
    found: tuple[Pass, ...] = import_module(_PIPELINE).selected(wish)
    return found


def function_for(
    segment: Segment, env: Environment, backend: Any, passes: tuple[Pass, ...] | None = None
) -> CompiledSegment | None:
    """The compiled segment for the values of an environment; None where the steps are to be
    interpreted: the first time that shapes are seen, and where they cannot be compiled.
    """
    key = _key_of(env, segment.reads)
    if key is None:
        return None
    functions = segment.functions
    known = functions.get(key, _UNSEEN)
    if known is _UNSEEN:
        functions[key] = _SEEN
        while len(functions) > FUNCTIONS_KEPT:
            functions.popitem(last=False)
        return None
    if known is _SEEN:
        specs = {n: Spec(env[n].shape, as_dtype(env[n].dtype)) for n in segment.reads}
        libraries = kernel_libraries()
        compiling = import_module(_COMPILING)
        try:
            lower = partial(compiling.lowered, segment.steps, specs, segment.writes, backend)
            known = compiling.CompiledSegment(
                lower, backend, libraries, passes, segment.commits, segment.gradients
            )
        except (Unsupported, FluidError):  # the steps one by one say what is wrong
            known = None
        except Exception as error:
            known = None
            _report("a plan could not be compiled, and is interpreted", error)
        functions[key] = known
    elif known is not None and known.improvement is not None and known.improvement.is_ready():
        known.improvement = None
        known = functions[key] = known.improved()
    found: CompiledSegment | None = known
    return found


def give_up(segment: Segment, function: CompiledSegment, error: Exception) -> None:
    """Interpret from now on what a compiled segment failed to compute although its steps did not
    fail.
    """
    for key, known in segment.functions.items():
        if known is function:
            segment.functions[key] = None
    _report("a compiled plan failed where the interpreted one did not, and is dropped", error)


def _report(what: str, error: Exception) -> None:
    """Warn of a mistake of fluidlite's own."""
    message = f"{what}; please report this: {type(error).__name__}: {error}"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


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


class Watch(NamedTuple):
    """What looks at a compiled segment while it runs.

    One that is watched has a source of its own, with a further line behind its instructions, so
    that one that is not watched pays nothing.
    """

    #: "times": behind each instruction; "values": also its values; "gradients": the values of those
    #: that make gradients of parameters
    kind: str
    #: called with the number of an instruction, and with the values
    hook: Callable[..., None]
