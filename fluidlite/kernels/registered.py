"""All kernels: importing this module registers them."""

from . import (  # noqa: F401
    activation,
    batch,
    convolution,
    labels,
    normalize,
    pooling,
    product,
    reduction,
    rescale,
    rows,
    sample_norm,
    simple,
    step,
)
