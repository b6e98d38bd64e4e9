"""Start values of parameters, written in place, in OneFlow's spelling."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ..filling import (
    calc_fan,
    calculate_gain,
    constant_,
    eye_,
    get_data_format,
    kaiming_normal_,
    kaiming_uniform_,
    normal_,
    ones_,
    orthogonal_,
    trunc_normal_,
    uniform_,
    xavier_normal_,
    xavier_uniform_,
    zeros_,
)  # fmt: skip

__all__ = [
    "calc_fan", "calculate_gain", "constant_", "eye_", "get_data_format", "kaiming_normal_",
    "kaiming_uniform_", "normal_", "ones_", "orthogonal_", "trunc_normal_", "uniform_",
    "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals(), imported=True)
