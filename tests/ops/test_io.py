"""The operators at the ends of saved programs."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import DType, Kind
from fluidlite.opdef.spec import Spec

from gradcheck import evaluator
from infer import infer


@pytest.mark.parametrize("type", ["feed", "fetch"])
def test_values_pass_through(type):
    x = np.ones([2, 3])
    assert getattr(evaluator(), type)(x, col=0) is x
    assert infer(type, {"col": 0}, X=([2, 3], "int64"))["Out"].shape == (2, 3)


def test_nothing_is_known_of_a_value_out_of_a_list():
    everything = Spec((), DType.FP32, Kind.FEED_MINIBATCH)
    assert infer("feed", {"col": 0}, X=everything)["Out"] is None
