"""Writes ``complex.json`` and ``fourier.json``: what Paddle 2.6.2 makes of complex numbers, and which
transforms it has.

Run it where paddlepaddle 2.6.2 is installed.  The expressions are the keys of the files.
"""

import json
from pathlib import Path

FILES = [Path(__file__).with_name(f"{name}.json") for name in ("complex", "fourier")]
#: what expressions are of, which may ask for gradients by ``c`` and ``f``
VALUES = {
    "c": "paddle.to_tensor([1 + 2j, 3 - 1j], stop_gradient=False)",
    "f": "paddle.to_tensor([1.5, 2.0], stop_gradient=False)",
    "d": "paddle.to_tensor([1.5, -2.0], dtype='float64')",
    "i": "paddle.to_tensor([1, 2])",
    "m": "paddle.to_tensor([[1 + 2j, 3 - 1j, 0], [2j, 1, -1 - 1j]], stop_gradient=False)",
    "x": "paddle.to_tensor([0.5, 2, -1, 3, 0, 1, -2, 4.5], stop_gradient=False)",
    "z": "paddle.to_tensor([1 + 2j, 3 - 1j]).astype('complex128')",
}


def listed(value: object) -> object:
    """Parts of complex numbers, in lists; numbers and truth values as they are."""
    if isinstance(value, list):
        return [listed(each) for each in value]
    return [value.real, value.imag] if isinstance(value, complex) else value


def found(paddle: object, expression: str) -> object:
    """Element type, elements, and gradients of the sum of their moduli; "refused" for an error."""
    names = {"paddle": paddle}
    names.update({name: eval(text, names) for name, text in VALUES.items()})
    try:
        made = eval(expression, names)
        gradients = {}
        if not made.stop_gradient:
            (made.abs() if made.is_complex() else made).sum().backward()
            for name in "cfmx":
                if names[name].grad is not None:
                    gradients[name] = listed(names[name].grad.tolist())
        return [str(made.dtype).rpartition(".")[2], listed(made.tolist()), gradients]
    except Exception:
        return "refused"


if __name__ == "__main__":
    import paddle

    for file in FILES:
        recorded = {each: found(paddle, each) for each in json.loads(file.read_text())}
        lines = [f"{json.dumps(each)}: {json.dumps(value)}" for each, value in recorded.items()]
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
