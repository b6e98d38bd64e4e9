"""Units of recurrent nets, against loops over single numbers."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("origin", [False, True])
def test_a_gated_unit_takes_one_step(origin):
    n, size = 3, 2
    x, h = rng.normal(size=[n, 3 * size]), rng.normal(size=[n, size])
    w, b = rng.normal(size=[size, 3 * size]), rng.normal(size=[1, 3 * size])
    out = f.gru_unit.all(x, h, w, b, origin_mode=origin)
    memory = w.ravel()
    for row in range(n):
        pre = x[row] + b[0]
        for k in range(2 * size):
            pre[k] += sum(h[row, j] * memory[j * 2 * size + k] for j in range(size))
        u, r = logistic(pre[:size]), logistic(pre[size : 2 * size])
        reset = r * h[row]
        c = pre[2 * size :].copy()
        for k in range(size):
            behind = 2 * size * size
            c[k] += sum(reset[j] * memory[behind + j * size + k] for j in range(size))
        c = np.tanh(c)
        new = u * h[row] + (1 - u) * c if origin else (1 - u) * h[row] + u * c
        np.testing.assert_allclose(out["Hidden"][row], new)
        np.testing.assert_allclose(out["ResetHiddenPrev"][row], reset)
        np.testing.assert_allclose(out["Gate"][row], np.concatenate([u, r, c]))


def test_a_unit_needs_three_columns_for_each_number_of_its_state():
    good = dict(Input=[4, 6], HiddenPrev=[4, 2], Weight=[2, 6], Bias=[1, 6])
    for name, shape in dict(Input=[4, 5], Weight=[6, 2], Bias=[6]).items():
        given = {slot: (s, "float32") for slot, s in {**good, name: shape}.items()}
        with pytest.raises(ShapeError, match=f"expected {name} of shape"):
            infer("gru_unit", **given)


def test_an_activation_is_one_of_four():
    shapes = dict(Input=[4, 6], HiddenPrev=[4, 2], Weight=[2, 6])
    given = {slot: (shape, "float32") for slot, shape in shapes.items()}
    with pytest.raises(AttributeValueError, match="expected gate_activation 0 .* got 4"):
        infer("gru_unit", dict(gate_activation=4), **given)


def test_a_memory_takes_one_step():
    x, before = rng.normal(size=[3, 8]), rng.normal(size=[3, 2])
    C, H = f.lstm_unit(x, before, forget_bias=0.5)
    i, r, o, g = (x[:, 2 * k : 2 * k + 2] for k in range(4))
    cell = logistic(r + 0.5) * before + logistic(i) * np.tanh(g)
    np.testing.assert_allclose(C, cell)
    np.testing.assert_allclose(H, logistic(o) * np.tanh(cell))
    with pytest.raises(ShapeError, match=r"expected X of shape \[3, 8\] for C_prev"):
        infer("lstm_unit", X=([3, 7], "float32"), C_prev=([3, 2], "float32"))
