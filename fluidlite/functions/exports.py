# ruff: noqa: F401
"""The functions of tensors that stand at the top level, by the names of paddle 2.x.

``fluidlite.__getattr__`` finds them here, so that a script that only builds programs does not load
them.
"""

from importlib import import_module

from ..eager.engine import grad
from ..eager.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..eager.parameter import Parameter
from ..eager.printing import set_printoptions
from ..eager.tensor import Tensor
from ..ground.public_names import list_public_names, public_names
from ..ground.tracebacks import api_boundaries
from .arithmetic import remainder
from .creation import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

#: the modules of this package whose public functions these are
_MODULES = (
    "arithmetic", "complex_parts", "composed", "counting", "creation", "diagonals", "distances",
    "draws", "einsum", "elementary", "numeric", "quantiles", "reduction", "selection", "shaping",
    "slices", "special", "views",
)  # fmt: skip
#: those of them that are for other modules of the package
_INNER = frozenset([
    "array_of", "cast_to", "chosen", "clip", "common_type", "complex_of", "counted",
    "default_float", "dims_of", "filled", "fits", "floats", "in_run", "indices_of", "integers_of",
    "known_in_run", "mean_of_fractions", "number_type", "numbers_in", "of_number", "of_ranks",
    "one_axis", "operands", "python_and", "python_not", "python_or", "python_xor", "rows_of",
    "runs", "scalar_in", "shared_maximum", "shared_minimum", "spread_alike", "tensors_of", "trace",
    "true_divide", "truths", "up_to_each", "values_and", "variance", "whole_quotient",
])  # fmt: skip
#: further names of functions
_RENAMED = {"floor_mod": remainder, "mod": remainder}

#: public name -> the module that it comes from, and its name there
_PLACES = dict.fromkeys(_RENAMED, (".functions.arithmetic", "remainder"))
for _module in _MODULES:
    _found = vars(import_module(f".{_module}", __package__))
    _names = [name for name in public_names(_found) if name not in _INNER]
    _PLACES.update({name: (f".functions.{_module}", name) for name in _names})
    globals().update({name: _found[name] for name in _names})
globals().update(_RENAMED)

_IMPORTED = ("api_boundaries", "import_module", "list_public_names", "public_names")
__all__ = [name for name in globals() if name[0] != "_" and name not in _IMPORTED]

list_public_names(globals())
api_boundaries(globals(), quick=True, imported=True, but=("Parameter", "Tensor"))
