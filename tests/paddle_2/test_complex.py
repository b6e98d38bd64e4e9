"""What functions make of complex numbers, and transforms of signals, is what paddle 2.6.2 makes."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

from fluidlite import paddle

FOLDER = pathlib.Path(__file__).parents[1] / "data/paddle_2"
#: 2.6.2 drops the imaginary part of Python's numbers, lets gradients through steps, makes NaN of
#: that at 0, and has gradients of products and of softsign that are not those of differences
DEVIATIONS = {
    *("f + 1j", 'c.astype("bool")', 'c.astype("int32")', "paddle.sgn(m)", "paddle.cumprod(c, 0)"),
    "paddle.nn.functional.softsign(c)",
}


def recorder():
    spec = importlib.util.spec_from_file_location("record_complex", FOLDER / "record_complex.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alike(found, recorded):
    if found == "refused" or found[0] != recorded[0] or set(found[2]) != set(recorded[2]):
        return False
    pairs = [(found[1], recorded[1]), *((found[2][k], recorded[2][k]) for k in recorded[2])]
    return all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
        for a, b in pairs
    )


@pytest.mark.parametrize("name", ["complex", "fourier"])
def test_expressions_give_what_they_give_in_paddle(name):
    found = recorder().found
    differ = {
        expression: (made, recorded)
        for expression, recorded in json.loads((FOLDER / f"{name}.json").read_text()).items()
        if recorded != "refused"
        and expression not in DEVIATIONS
        and not alike(made := found(paddle, expression), recorded)
    }
    assert not differ, "\n".join(f"{e}: {a}\n   paddle: {b}" for e, (a, b) in differ.items())


def test_complex_numbers_of_python_keep_their_imaginary_parts():
    assert (paddle.ones([2]) + 1j).tolist() == [1 + 1j, 1 + 1j]


def test_transforms_refuse_what_paddle_refuses():
    found = recorder().found
    recorded = json.loads((FOLDER / "fourier.json").read_text())
    taken = {e for e, made in recorded.items() if made == "refused" and found(paddle, e) != made}
    odd = "paddle.signal.istft(m.detach(), 3, 2,"  # their transforms have an even size there
    assert {e for e in taken if not e.startswith(odd)} == set()
