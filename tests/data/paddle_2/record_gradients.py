"""Writes tests/data/paddle_2/gradients.json: programs with gradient operators whose slots are those
of Paddle 2, and what they give there.

    python tests/data/paddle_2/record_gradients.py        where Paddle 2.6 is installed
"""

import base64
import json
import pathlib

import numpy as np
import paddle

X = np.array([[-0.1, 0.5, 0.9], [0.3, -0.7, 0.2]], "float32")
FUNCTIONS = {
    "leaky_relu": lambda x: paddle.nn.functional.leaky_relu(x, 0.1),
    "tan": paddle.tan,
    "dot": lambda x: paddle.dot(x, x),
    "meshgrid": lambda x: paddle.meshgrid(x[0], x[1])[0],
    "fmax": lambda x: paddle.fmax(x, 0.3 - x),
    "index_add": lambda x: paddle.index_add(x, paddle.full([1], 1, "int64"), 0, x[:1] * 2.0),
    "leaky_relu falling": lambda x: paddle.nn.functional.leaky_relu(x - x[:1], -0.1),
    "einsum": lambda x: paddle.einsum("ij,kj->ik", x, x),
    "cumsum of all": paddle.cumsum,
    "eigvalsh": lambda x: paddle.linalg.eigvalsh(x @ x.t()),
    "irfft": lambda x: paddle.fft.irfft(paddle.complex(x, x)),
    "pixel_unshuffle": lambda x: paddle.nn.functional.pixel_unshuffle(square(x), 2) * 2.0,
    "channel_shuffle": lambda x: paddle.nn.functional.channel_shuffle(square(x), 1),
    "softmax_mask": lambda x: paddle.incubate.softmax_mask_fuse(square(x), square(x)),
    "instance_norm": lambda x: paddle.nn.functional.instance_norm(square(x)),
    "nanmean": paddle.nanmean,
    "nextafter": lambda x: paddle.nextafter(x, x) + x,
    "elu and chunk": lambda x: paddle.nn.functional.elu(paddle.chunk(x, 2, 0)[0]),
    "reversed": lambda x: paddle.strided_slice(x, [1], [2], [-1], [-1])[:1],
    "select_scatter": lambda x: paddle.diagonal_scatter(x, x[0][:2]),
    "while": lambda x: iterated(x, 5),
    "one while behind another": lambda x: iterated(iterated(x, 2), 2),
}


def iterated(x, times):
    """A formula that is put into its own variable, so many times."""
    return paddle.static.nn.while_loop(
        lambda count, y: count < times,
        lambda count, y: [count + 1, y * y * 0.5 + x],
        [paddle.zeros([1], "int64"), x * 1.0],
    )[1]


def square(x):
    """An image of 2 by 2 numbers."""
    return paddle.reshape(x[:, :2], [1, 1, 2, 2])


def recorded(function):
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [2, 3], "float32")
        x.stop_gradient = False
        y = function(x)
        paddle.static.gradients([paddle.sum(y * y)], [x])
    for op in program.global_block().ops:
        for name in ("op_callstack", "op_device", "op_namescope", "op_role_var", "with_quant_attr"):
            if name in op.attr_names:
                op._remove_attr(name)
    data = program.desc.serialize_to_string()
    (found,) = paddle.static.Executor().run(program, {"x": X}, ["x@GRAD"])
    data = data[: data.index(b"*\xd0\n")]  # without the versions of operators
    return {"program": base64.b64encode(data).decode(), "gradient": found.tolist()}


if __name__ == "__main__":
    paddle.enable_static()
    given = {name: recorded(function) for name, function in FUNCTIONS.items()}
    text = json.dumps({"x": X.tolist(), "given": given}, indent=0) + "\n"
    pathlib.Path(__file__).with_name("gradients.json").write_text(text)
