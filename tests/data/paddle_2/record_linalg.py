"""Writes ``linalg.json``: what Paddle 2.6.2 makes of expressions of linear algebra.

Run it where paddlepaddle 2.6.2 is installed.  The expressions are the keys of the file; ``a`` makes
a float64 tensor of sines in a shape, ``s`` symmetric positive definite matrices, ``c`` and ``h`` the
same of complex numbers, ``t`` a tensor.  A complex number is a list of two there.
"""

import json
from pathlib import Path

import numpy as np
import paddle

FILE = Path(__file__).with_name("linalg.json")


def sines(*shape):
    """Numbers that look random."""
    return np.sin(np.arange(1, 1 + int(np.prod(shape))) ** 2 * 1.0).reshape(shape)


def waves(*shape):
    """Complex numbers that look random."""
    return sines(*shape) + 1j * np.cos(sines(*shape) * 9)


def definite(x):
    """Positive definite matrices."""
    return x @ np.swapaxes(x, -1, -2).conj() + np.eye(x.shape[-1])


def names(paddle):
    """What expressions know."""
    t = lambda value, *dtype: paddle.to_tensor(value, *dtype)
    return {
        "paddle": paddle,
        "L": paddle.linalg,
        "inf": float("inf"),
        "a": lambda *shape: t(sines(*shape)),
        "s": lambda *shape: t(definite(sines(*shape))),
        "c": lambda *shape: t(waves(*shape)),
        "h": lambda *shape: t(definite(waves(*shape))),
        "t": t,
    }


def recorded(paddle, expression):
    """Shapes, element types and numbers, or the class of the error."""
    try:
        found = eval(expression, names(paddle))
    except Exception as error:
        return "ValueError" if isinstance(error, ValueError) else "error"
    parts = found if isinstance(found, (tuple, list)) else [found]
    return [[list(v.shape), str(v.numpy().dtype), numbers(v.numpy())] for v in parts]


def numbers(array):
    """Lists of numbers."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    return array.tolist()


if __name__ == "__main__":
    made = {each: recorded(paddle, each) for each in json.loads(FILE.read_text())}
    lines = [f"{json.dumps(each)}: {json.dumps(made[each])}" for each in made]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
