"""Models that are written have the operators of paddle 2.6, and compute what the programs do.

Where ``FLUIDLITE_PADDLE26`` names a Python with paddlepaddle 2.6.2, that computes the same, too.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import FluidWarning

F, static = paddle.nn.functional, paddle.static
TESTS = Path(__file__).parents[1]
KNOWN = json.loads(gzip.decompress((TESTS / "data/paddle_2/op_protos.json.gz").read_bytes()))
PYTHON = os.environ.get("FLUIDLITE_PADDLE26")
#: operators of the models themselves
ENDS = {"feed", "fetch"}
X = np.array([[1.5, -2.0, 0.5, 3.0], [0.0, 4.0, -1.0, 2.5], [-0.5, 1.0, 2.0, -3.0]], "float32")


def rows(*numbers):
    return paddle.to_tensor(np.array(numbers, "int64"))


def put(x, item, value):
    return static.setitem(x * 1.0, item, value)


class Sums(paddle.nn.RNNCellBase):
    state_shape = (4,)

    def forward(self, inputs, states):
        return inputs * states, inputs + states


def counted(x):
    """Sequences, [1, 2, 4], of whose length only a run knows."""
    return x[None, : paddle.full([1], 2, "int64")]


def image(x):
    return paddle.reshape(x, [1, 1, 3, 4])


FUNCTIONS = {
    "x[1:, ::2]": lambda x: x[1:, ::2],
    "x[::-1, -1]": lambda x: x[::-1, -1],
    "x[None, 1]": lambda x: x[None, 1],
    "x[..., 0]": lambda x: x[..., 0],
    "x[rows]": lambda x: x[rows(-1, 0)],
    "x[square of rows]": lambda x: x[rows([0, 2], [1, 1])],
    "x[rows, columns]": lambda x: x[rows(0, 2), rows(1, -1)],
    "x[1:, columns]": lambda x: x[1:, rows(0, 2)],
    "x[mask]": lambda x: x[x > 0],
    "x[:, mask]": lambda x: x[:, x[0] > 0],
    "image[:, :, rows, columns]": lambda x: image(x)[:, :, rows(0, 2), rows(1, 3)],
    "x[1] = ": lambda x: put(x, 1, x[0]),
    "x[1:, ::2] = ": lambda x: put(x, (slice(1, None), slice(None, None, 2)), 7.0),
    "x[:, None, 1:3] = ": lambda x: put(x, (slice(None), None, slice(1, 3)), x[:, None, :2]),
    "x[rows] = ": lambda x: put(x, rows(0, 2), 7.0),
    "x[rows, 1] = ": lambda x: put(x, (rows(0, 2), 1), 7.0),
    "x[mask] = ": lambda x: put(x, x > 0, 7.0),
    "x[1, mask] = ": lambda x: put(x, (1, x[0] > 0), 7.0),
    "x[number] = ": lambda x: put(x, paddle.full([], 1, "int64"), 7.0),
    "x[number, 1] = ": lambda x: put(x, (paddle.full([], 1, "int64"), 1), 7.0),
    "image[number, :, rows]": lambda x: image(x)[paddle.full([], 0, "int64"), :, rows(0, 2)],
    "x[rows, number]": lambda x: x[rows(0, 2), paddle.full([], 1, "int64")],
    "x[mask, mask]": lambda x: x[x[:, 0] > -9, x[0] > 2],
    "x[int16]": lambda x: x[paddle.cast(rows(-1, 0), "int16")],
    "einsum of capitals": lambda x: paddle.einsum("AB,CB->AC", x, x),
    "take_along_axis": lambda x: paddle.take_along_axis(x, rows([0], [2], [1]), 1),
    "index_sample": lambda x: paddle.index_sample(x, rows([0], [2], [1])),
    "remainder": lambda x: (x % 1.5) + (rows(-7, 7, -7, 7) % rows(3, -3, -3, 3)).astype("float32"),
    "floor_divide": lambda x: x // 1.5,
    "amax": paddle.amax,
    "amin of rows": lambda x: paddle.amin(x, 0, True),
    "maximum": lambda x: paddle.logaddexp(x, x * x),
    "nextafter": lambda x: paddle.nextafter(x, x * x),
    "topk": lambda x: paddle.topk(x, 2)[0],
    "diff": paddle.diff,
    "diagflat": lambda x: paddle.diagflat(x[0]),
    "pinv": paddle.linalg.pinv,
    "complex products": lambda x: (paddle.complex(x, x) @ paddle.complex(x, -x).t()).real(),
    "eigvalsh": lambda x: paddle.linalg.eigvalsh(x @ x.t()),
    "linspace": lambda x: x + paddle.linspace(0, 1, 4),
    "a cell along steps that a run counts": lambda x: paddle.nn.RNN(Sums())(counted(x))[0],
    "gcd": lambda x: paddle.gcd(rows(12, -18, 0, 7), rows([8], [0])),
    "lcm": lambda x: paddle.lcm(rows(12, -18, 0, 7), rows(8, 27, 0, 0)),
    "frexp": lambda x: paddle.add(*paddle.frexp(x)),
    "as_strided": lambda x: paddle.as_strided(x, [3, 2], [2, 3], 4),
    "unfold": lambda x: paddle.unfold(x, -1, 2, 1),
    "pinv of symmetric": lambda x: paddle.linalg.pinv(x @ x.t(), hermitian=True),
    "einsum": lambda x: paddle.einsum("...ij,kj,kl->...il", x, x, x),
    "nll_loss": lambda x: F.nll_loss(F.log_softmax(x), rows(1, 2, -100)),
    "pad": lambda x: F.pad(image(x), [1, 0, 2, 1], mode="replicate"),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(image(x), 2),
    "max_unpool2d": lambda x: F.max_unpool2d(*F.max_pool2d(image(x), 2, return_mask=True), 2),
    "flip and roll": lambda x: paddle.flip(paddle.roll(x, 1, 0), -1),
    "leaky_relu": lambda x: F.leaky_relu(x, -0.5),
    "split": lambda x: paddle.add(*paddle.split(x, 2, -1)),
    "segment_mean": lambda x: paddle.geometric.segment_mean(x, rows(0, 0, 1)),
    "send_u_recv": lambda x: paddle.geometric.send_u_recv(x, rows(0, 1), rows(1, 1), "mean"),
}


def saved(path, function):
    """What a program computes that is saved, and what it computes when it is read."""
    paddle.enable_static()
    with fluid.scope_guard(fluid.Scope()):
        executor, main = static.Executor(), static.Program()
        with static.program_guard(main, static.Program()):
            x = static.data("x", X.shape, "float32")
            out = function(x)
        found = executor.run(main, {"x": X}, [out])
        static.save_inference_model(str(path), [x], [out], executor, program=main)
        program, names, targets = static.load_inference_model(str(path), executor)
        return program, found[0], executor.run(program, dict.fromkeys(names, X), targets)[0]


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_the_operators_are_those_of_paddle_and_compute_the_same(tmp_path):
    unknown, differ = {}, []
    for name, function in FUNCTIONS.items():
        program, found, again = saved(tmp_path / "model", function)
        types = {op.type for block in program.blocks for op in block.ops} - ENDS
        unknown[name] = sorted(each for each in types if not KNOWN.get(each))
        if found.shape != again.shape or not np.allclose(found, again, 1e-5, 1e-6):
            differ.append(name)
    assert {name: types for name, types in unknown.items() if types} == {}
    assert differ == []


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_an_operator_that_paddle_lacks_is_named(tmp_path):
    with pytest.warns(FluidWarning, match="paddle 2.6 has no operator 'put_item'"):
        saved(tmp_path / "model", lambda x: put(x, (slice(1, None), rows(0, 1)), 7.0))


@pytest.mark.skipif(not PYTHON, reason="FLUIDLITE_PADDLE26 names no Python with paddlepaddle 2.6.2")
@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_paddle_computes_the_same(tmp_path):
    wanted = {}
    for number, function in enumerate(FUNCTIONS.values()):
        _, wanted[number], _ = saved(tmp_path / str(number), function)
        np.savez(tmp_path / f"{number}.feeds.npz", X)
    command = [PYTHON, str(TESTS / "jobs/served_by_paddle2.py"), str(tmp_path)]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, env=clean, cwd=tmp_path, check=True, stdout=sys.stderr)
    for number, name in enumerate(FUNCTIONS):
        with np.load(tmp_path / f"{number}.results.npz") as results:
            np.testing.assert_allclose(results["arr_0"], wanted[number], 1e-5, 1e-6, err_msg=name)
