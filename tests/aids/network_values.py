"""Data and start values of the networks that are compared with torch.

It needs NumPy alone, since the scripts that run torch read it, too.
"""

import zlib

import numpy as np

STEPS = 20


def normal(name, *shape):
    """Random numbers that follow from a name; RandomState gives the same in every version."""
    return np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape)


def integers(name, below, *shape):
    """Random whole numbers from 0 that follow from a name."""
    return np.random.RandomState(zlib.crc32(name.encode())).randint(0, below, shape)


def start(name, *shape):
    """The start values of a parameter, those of matrices as ``[in, out]``.

    Scales are about 1, biases about 0, and weights keep the size of what they are multiplied with.
    """
    values = normal(name, *shape)
    if len(shape) == 1:
        return 1.0 + 0.1 * values if name.endswith("weight") else 0.1 * values
    return values / np.sqrt(shape[0] if len(shape) == 2 else np.prod(shape[1:]))
