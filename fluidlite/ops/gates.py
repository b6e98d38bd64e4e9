"""The activations of recurrent operators that name them, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.annotations import Array
from ..opdef.attribute import need_choice

ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")


def need_activations(op: Any, *names: str) -> None:
    """Check attributes that name activations."""
    for name in names:
        need_choice(op, name, *ACTIVATIONS)


def activated(f: Any, name: str, x: Any) -> Any:
    """The activation of a value."""
    return x if name == "identity" else getattr(f, name)(x)


def sigmoid_of_half(x: Array) -> None:
    """Write the sigmoid of twice an array over it."""
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


def activate(name: str, x: Array, out: Array = None) -> Array:
    """The activation of an array, written to ``out``, or over the array itself."""
    out = x if out is None else out
    if name == "tanh":
        np.tanh(x, out=out)
    elif name == "sigmoid":  # by tanh, which neither overflows nor loses digits
        sigmoid_of_half(np.multiply(x, 0.5, out=out))
    elif name == "relu":
        np.maximum(x, 0, out=out)
    elif out is not x:
        out[...] = x
    return out


def slope(name: str, y: Array, out: Array) -> Array:
    """The derivative of an activation, from its value ``y``."""
    if name == "sigmoid":
        np.multiply(y, y, out=out)
        np.subtract(y, out, out=out)
    elif name == "tanh":
        np.multiply(y, y, out=out)
        np.subtract(1, out, out=out)
    elif name == "relu":
        np.greater(y, 0, out=out, casting="unsafe")
    else:
        out[...] = 1
    return out
