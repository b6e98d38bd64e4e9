"""Records element_types.json: what paddle 2.6.2 makes of expressions of narrow element types.

Run by a Python with that package, in this folder.
"""

import json

import numpy as np
import paddle

NARROW = ("uint8", "int8", "int16", "int32", "int64")
EXPRESSIONS = [
    *(f"paddle.sum({x})" for x in ("x", "x, axis=0", "x, axis=-1, keepdim=True")),
    *("-x", "paddle.scale(x, -2.0, bias=1.0)", "x + -3", "x - -3", "x * -3", "-3 - x", "x / -3"),
    *("x // 2", "x + 300", "300 - x", "paddle.nansum(x)", "paddle.bincount(x.flatten())"),
    "paddle.bincount(x[:0].flatten())",
]


def recorded(expression, dtype):
    """The element type and the elements, as a list; None where it ends in an error."""
    x = paddle.to_tensor(np.array([[3, 1], [2, 5]], dtype))
    try:
        found = eval(expression, {"paddle": paddle, "x": x})
    except Exception:
        return None
    return [str(found.dtype).partition(".")[2], found.numpy().tolist()]


if __name__ == "__main__":
    cases = {dtype: {each: recorded(each, dtype) for each in EXPRESSIONS} for dtype in NARROW}
    with open("element_types.json", "w") as file:
        json.dump(cases, file, indent=0)
        file.write("\n")
