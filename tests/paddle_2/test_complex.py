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


def test_complex_numbers_are_not_written_into_real_tensors():
    x = paddle.ones([2])
    with pytest.raises(TypeError, match="expected real numbers to write into a tensor of float32"):
        x[0] = 1j
    assert x.tolist() == [1.0, 1.0]
    z = paddle.to_tensor([1j, 2.0])
    z[0] = 3.0
    assert z.tolist() == [3, 2]


def test_truth_values_and_integers_beside_complex_numbers_become_complex():
    found = [paddle.to_tensor(each) * 1j for each in ([True, False], [1, 2], [0.5, 1.0])]
    assert [each.tolist() for each in found] == [[1j, 0], [1j, 2j], [0.5j, 1j]]
    assert all(each.dtype == paddle.complex64 for each in found)


def test_layers_with_transforms_train_and_are_saved(tmp_path):
    class Filter(paddle.nn.Layer):
        """A convolution around a circle, as a product of transforms."""

        def __init__(self):
            super().__init__()
            self.weight = self.create_parameter([8])

        def forward(self, x):
            return paddle.fft.irfft(paddle.fft.rfft(x) * paddle.fft.rfft(self.weight), n=8)

    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=[4, 8]).astype("float32"), rng.normal(size=[8])
    right = np.fft.irfft(np.fft.rfft(values) * np.fft.rfft(weight), 8).astype("float32")
    net, x, y = Filter(), paddle.to_tensor(values), paddle.to_tensor(right)
    optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for _ in range(150):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    np.testing.assert_allclose(net.weight.numpy(), weight, atol=0.02)
    path = str(tmp_path / "filter")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 8], "float32")])
    np.testing.assert_allclose(paddle.jit.load(path)(x).numpy(), net(x).numpy(), atol=1e-5)


def test_complex_tensors_print_all_digits_of_their_parts():
    x = paddle.to_tensor(np.array([-1.1 + 2.5j, 3.0 - 0.25j, 1j], "complex64"))
    assert str(x) == (
        "Tensor(shape=[3], dtype=complex64, place=Place(cpu), stop_gradient=True,\n"
        "       [(-1.100000023841858+2.5j),  (3-0.25j)               ,\n"
        "         1j                      ])"
    )
