"""Expansions: few elements are copied, of many there is a view."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import as_dtype
from fluidlite.kernels import registered  # noqa: F401
from fluidlite.kernels.simple import COPIED
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import Spec


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "bool"])
@pytest.mark.parametrize("times", [3, COPIED])
def test_an_expansion_holds_the_elements_of_its_input(dtype, times):
    x = np.array([[-0.0], [1.0], [5.0]]).astype(dtype, casting="unsafe")
    op = lookup("expand")({"expand_times": [1, times]})
    out = op.prepared([Spec(x.shape, as_dtype(x.dtype)), None, None]).function(x, None, None)
    assert (out.shape, out.dtype) == ((3, times), x.dtype)
    assert np.shares_memory(out, x) == (times == COPIED)
    np.testing.assert_array_equal(out, np.repeat(x, times, 1))
