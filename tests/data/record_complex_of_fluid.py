"""Writes ``complex_of_fluid.json``: what ``paddle.complex`` of 1.8.5 makes of complex variables.

Run it where paddlepaddle 1.8.5 is installed.  An expression has its element type, its numbers as
pairs, and the gradients of the parts of what it reads; "refused" stands for an error.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("complex_of_fluid.json")
#: what expressions read: complex ones in both precisions, real ones, a row, a stack of matrices
VALUES = {
    "x": np.array([[1 + 2j, 3 - 1j, 0.25j], [0.5j, 2, -1 - 0.5j]]),
    "y": np.array([[2 - 1j, 0.5 + 4j, 1], [1 + 1j, -3j, 0.75 + 2j]]),
    "s": np.array([[1 + 1j, 2], [3j, 4 - 0.5j]], "complex64"),
    "t": np.array([[0.5, 1j], [-2 + 1j, 0.25]], "complex64"),
    "k": (np.arange(24.0).reshape(2, 3, 4) - 7) * (1 + 0.5j) + 0.125j,
    "c": np.array([1 + 1j, 2 - 1j, 0.5j]),
    "r": np.array([[1.5, -2, 0.5], [3, 4, 1]]),
    "q": np.array([[1.5, 2], [-1, 0.5]], "float32"),
    "v": np.array([2.0, -1, 4]),
}
_PAIRS = ("x, y", "y, x", "x, r", "r, x", "s, t", "s, q", "q, s", "r, r", "x, c", "x, v", "v, c")
_CALLS = {
    **{f"elementwise_{name}": (*_PAIRS, "k, c, axis=1", "k, v, 1", "x, 2.0", "c, x", "x, k")
       for name in ("add", "sub", "mul", "div")},
    "kron": (*_PAIRS[:9], "k, x", "c, k"),
    "matmul": (
        *_PAIRS, "x, y, transpose_y=True", "x, r, True", "r, x, False, True", "s, t, alpha=2.0",
        "q, s, alpha=0.5", "k, k, transpose_y=True", "c, c", "r, c", "s, t, alpha=1j",
    ),
    "trace": ("s", "x", "x, 1", "x, offset=-1", "k, 0, 1, 2", "k, 1, 0, 2", "r", "k, 0, 1, 1"),
    "sum": ("s", "x, 0", "x, dim=-1", "x, 1, True", "k, [0, 2]", "k, dim=[0, -1], keep_dim=True",
            "r", "x, 5"),
    "reshape": ("x, [3, 2]", "x, (6,)", "k, [0, -1]", "k, [4, -1, 2]", "x, [7]", "x, [-1, -1]",
                "r, [6]", "x, 6"),
    "transpose": ("x, [1, 0]", "k, [2, 0, 1]", "k, (1, 0, 2)", "s, [1, 0]", "k, [1, 0]", "r, [1, 0]",
                  "x, [0, 0]"),
}  # fmt: skip
EXPRESSIONS = [
    *(f"{name}({arguments})" for name, all_of in _CALLS.items() for arguments in all_of),
    "elementwise_div(matmul(x, y, transpose_y=True), trace(s))",
    "elementwise_mul(sum(k, 2), transpose(reshape(x, [3, 2]), [1, 0]))",
    "ComplexVariable(r, v)",
    "ComplexVariable(r, q)",
    "ComplexVariable(r, r)",
    "to_variable(x)",
    "to_variable([1j])",
    "to_variable(1j)",
]


def pairs(numbers):
    """The real and the imaginary parts of an array, in lists."""
    return np.stack([numbers.real, numbers.imag], -1).tolist()


def found(dygraph, names, expression):
    """Element type, numbers and gradients; the loss weighs the parts differently."""
    with dygraph.guard():
        given = {name: dygraph.to_variable(value) for name, value in VALUES.items()}
        parts = {}
        for name, value in given.items():
            for part in ("real", "imag") if name in "xystkc" else ("",):
                parts[f"{name}.{part}"] = getattr(value, part) if part else value
                parts[f"{name}.{part}"].stop_gradient = False
        try:
            made = eval(expression, {**names, **given})
            loss = names["loss"](made)
            loss.backward()
        except Exception:
            return "refused"
        gradients = {name: part.gradient() for name, part in parts.items()}
        return [
            made.dtype,
            pairs(made.numpy()),
            {name: each.tolist() for name, each in gradients.items() if each is not None},
        ]


def names_of(fluid, functions):
    """What expressions call."""

    def loss(made):
        real, imag = (fluid.layers.reshape(each, [-1]) for each in (made.real, made.imag))
        return fluid.layers.reduce_sum(real * real * 0.5 + imag * 3.0)

    return {
        **{name: getattr(functions, name) for name in _CALLS},
        "ComplexVariable": fluid.ComplexVariable,
        "to_variable": fluid.dygraph.to_variable,
        "loss": loss,
    }


if __name__ == "__main__":
    import paddle
    import paddle.fluid as fluid

    names = names_of(fluid, paddle.complex)
    lines = [
        f"{json.dumps(each)}: {json.dumps(found(fluid.dygraph, names, each))}" for each in EXPRESSIONS
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
