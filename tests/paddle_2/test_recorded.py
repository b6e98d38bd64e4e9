"""Functions and methods give what they give in paddle 2.6: values, element types, shapes, gradients
and classes of errors, as that recorded them.

A line of the record is a call of the operands below; one that begins with ``!`` is differentiated,
with weights that differ for each element.  Where paddle 2.6 is wrong, or refuses what is sensible,
the line is not recorded.
"""

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle

DATA = Path(__file__).parents[1] / "data" / "paddle26_calls.json.gz"
GROUPS = defaultdict(list)
for line, given in json.loads(gzip.decompress(DATA.read_bytes())).items():
    called = re.search(r"\.([a-z]\w*)", line)
    GROUPS[called[1].rstrip("_") if called else "operators"].append((line, given))
#: what Paddle refuses and means something: numbers where it wants tensors
MEANT = {
    *(f"P.{name}({given})" for name in ("fmax", "fmin") for given in ("x,2.5", "i,2", "2,x")),
    "P.heaviside(2,x)",
}
DIFFERENTIATED = ("x", "d", "q", "u", "v", "w", "s", "c", "h", "f0")


def operands():
    """The names that calls are made of."""
    rng = np.random.RandomState(0)
    arrays = {
        "x": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32"),
        "n": np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]], "float32"),
        "i": np.array([[12, 18, 0], [7, -4, 6]]),
        "i32": np.array([[12, 18, 0], [7, -4, 6]], "int32"),
        "e": np.zeros([0, 3], "float32"),
        "b": np.array([True, False]),
        "m": np.array([[True, False, True], [False, True, False]]),
        "d": np.array([[0.3, -1.2, 2.5], [0.7, 1.1, -0.4]]),
        "u": np.array([[0.3, 0.6, 0.9], [0.1, 0.45, 0.8]], "float32"),
        "v": np.array([3.0, 1.0, 2.0], "float32"),
        "w": np.array([0.5, 2.0, -1.5], "float32"),
        "q": rng.rand(2, 3, 4).astype("float32"),
        "c": rng.rand(2, 4, 3).astype("float32"),
        "s": rng.rand(3, 3).astype("float32"),
        "k": np.array([2, 0, 1]),
        "h": np.array([[1.5, -2.5, 0.5], [2.5, -0.5, 3.5]], "float32"),
    }
    made = {name: paddle.to_tensor(array) for name, array in arrays.items()}
    scalars = {"f0": paddle.to_tensor(2.5), "i0": paddle.to_tensor(3)}
    return {"P": paddle, "T": paddle.to_tensor, "np": np, **made, **scalars}


def described(result):
    """Element type, shape and elements of a tensor; other results as they are."""
    if isinstance(result, paddle.Tensor):
        array = result.numpy()
        return [str(array.dtype), list(array.shape), array.astype("float64").tolist()]
    return [*map(described, result)] if isinstance(result, (list, tuple)) else result


def differentiated(line, names):
    """The results of a line, and the gradients of its operands."""
    for name in DIFFERENTIATED:
        names[name].stop_gradient = False
    made = eval(line, names)
    total = 0.0
    for each in made if isinstance(made, (list, tuple)) else [made]:
        if each.numpy().dtype.kind == "f" and not each.stop_gradient:
            weights = np.cos(np.arange(each.size)).reshape(each.shape)
            total = total + (each * paddle.to_tensor(weights.astype(each.numpy().dtype))).sum()
    total.backward()
    gradients = [[k, described(names[k].grad)] for k in DIFFERENTIATED if names[k].grad is not None]
    return [described(made), *gradients]


def need_alike(found, wanted, line):
    """Check that results are alike, numbers to five digits."""
    if isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted), (line, found, wanted)
        for pair in zip(found, wanted, strict=True):
            need_alike(*pair, line)
    elif isinstance(wanted, float) and not isinstance(found, str):
        assert found == pytest.approx(wanted, rel=2e-5, abs=2e-5, nan_ok=True), line
    else:
        assert found == wanted, (line, found, wanted)


@pytest.mark.parametrize("name", sorted(GROUPS))
@pytest.mark.filterwarnings("ignore")
def test_a_call_gives_what_it_gives_in_paddle_2_6(name):
    for line, wanted in GROUPS[name]:
        names = operands()
        if line in MEANT:
            arrays = {name: names[name].numpy() for name in ("x", "i")}
            right = eval(line.replace("P.", "np."), {"np": np, **arrays})
            np.testing.assert_array_equal(eval(line, names).numpy(), right)
            continue
        if isinstance(wanted, str) and wanted.startswith("!! "):
            with pytest.raises(Exception) as raised:
                eval(line.lstrip("!"), names)
            assert wanted[3:] in {each.__name__ for each in type(raised.value).__mro__}, line
        elif line.startswith("!"):
            need_alike(differentiated(line[1:], names), wanted, line)
        else:
            need_alike(described(eval(line, names)), wanted, line)
