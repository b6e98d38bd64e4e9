"""Operators on the bits of integers."""

import numpy as np
import pytest

from fluidlite.backend import numpy_
from fluidlite.errors import DTypeError
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval
from fluidlite.opdef.spec import spec

f = Eval(numpy_)


@pytest.mark.parametrize("type, expected", [("and", [8, 0]), ("or", [14, 255]), ("xor", [6, 255])])
def test_bits_are_combined(type, expected):
    x, y = np.array([12, 170], "uint8"), np.array([10, 85], "uint8")
    assert getattr(f, f"bitwise_{type}")(x, y).tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_what_has_no_bits_to_combine_is_refused(dtype):
    with pytest.raises(DTypeError, match="integers"):
        lookup("bitwise_and")({}).infer(X=spec([2], dtype), Y=spec([2], dtype))
