"""Layers: functions that append operators to the current block, by the names of fluid 1.8."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ..ground.missing_names import absent, answer
from ..ground.public_names import list_public_names, public_names
from ..ground.tracebacks import api_boundaries
from . import control_flow
from . import learning_rate as learning_rate_scheduler  # where fluid 1.8's scripts look for it
from .interpolate import image_resize as interpolate  # fluid's second name for it
from .layer import completed

#: the modules whose public names are layers; docs/stubs.py writes the names down for type checkers
_MODULES = (
    "activation", "alignment", "anchor_targets", "anchors", "array", "beam_decoder",
    "beam_search", "boxes", "branch", "clicks", "compare", "conv", "creation",
    "debug", "decode_helper", "decoding", "detections", "distance", "distributions",
    "dynamic_rnn", "elementwise", "features", "indexing", "interpolate", "io", "joining",
    "labeling", "learning_rate", "lengths", "loop", "loss", "math", "matrix", "metric",
    "multi_box", "nn", "norm", "points", "probability_loss", "proposals", "ranking_loss",
    "readers", "rearrange", "recurrence", "recurrent_net", "recurrent_unit", "reduce",
    "regression_loss", "rescale", "reshaping", "rnn_cell", "roi", "rows", "sampled_loss",
    "sampling", "scan", "search", "sequence", "sequence_marks", "sequence_rows", "slicing",
    "soft_labels", "static_rnn", "suppression", "tagging", "unary", "variables",
)  # fmt: skip
#: those that are for other modules of the package, or that fluid 1.8 has in these modules alone
_INNER = frozenset([
    "BeamSearchOutput", "BeamSearchState", "merge_lod_tensor", "split_lod_tensor", "shape_of",
    "BasicOutput", "Distribution", "array_to_lod_tensor", "lod_rank_table",
    "lod_tensor_to_array", "max_sequence_len", "shrink_memory", "as_sizes", "fed_variable",
    "sizes_or_names",
    "depth_of", "new_table", "padding_row", "need_parameters", "check_lengths", "check_states",
    "flipped", "kept", "need_where_asked", "numbers_of", "running_attrs", "steps_mask",
    "with_index",
])  # fmt: skip

#: public name -> the module that it comes from
_PLACES: dict[str, str] = {}
for _module in _MODULES:
    _found = vars(import_module(f".{_module}", __name__))
    _names = [name for name in public_names(_found) if name not in _INNER]
    _PLACES.update(dict.fromkeys(_names, _module))
    globals().update({n: _found[n] for n in _names if not hasattr(_found[n], "__deferred__")})

__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """A layer that is made of an operator's definition: made at its first use."""
    if name not in _PLACES:
        raise absent(__name__, name)
    made = globals()[name] = completed(getattr(import_module(f".{_PLACES[name]}", __name__), name))
    return made


def _of_another_module(name: str) -> Any:
    """A layer that 1.8 had in one of its modules and that stands in another one here."""
    if name not in _PLACES:
        raise AttributeError(f"module has no attribute {name!r}", name=name)
    return getattr(sys.modules[__name__], name)


for _module in ("io", "loss", "nn"):
    _found = vars(import_module(f".{_module}", __name__))
    _found["__getattr__"] = _of_another_module
    answer(_found)

list_public_names(globals())
api_boundaries(globals())
answer(globals())
