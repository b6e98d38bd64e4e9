"""How the results of kernels are laid out in memory."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import DType
from fluidlite.kernels import simple
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import Spec


@pytest.mark.parametrize("channels", [1, -1])
def test_relu_leaves_images_in_their_layout(channels):
    stored = np.ones([2, 3, 4, 5], "float32")
    image = np.moveaxis(stored, channels, 1)
    relu = simple.relu(lookup("relu")(), Spec(image.shape, DType.FP32))
    assert relu.function(image).strides == image.strides
