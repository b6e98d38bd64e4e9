"""Writes tests/data/saved_models/paddle2.zip: files of Paddle 2, and what is in them.

    python tests/data/record_paddle2.py        where Paddle 2.6 is installed

The programs are written again without ``op_callstack``, which holds paths of this machine.
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

os.environ["GLOG_minloglevel"] = "3"

import paddle
from paddle import static
from paddle.base.proto import framework_pb2


def image(x):
    hidden = paddle.nn.functional.relu(paddle.nn.Conv2D(1, 3, 3, padding=1)(x))
    hidden = paddle.nn.functional.max_pool2d(hidden, 2, 2)
    return paddle.nn.functional.softmax(static.nn.fc(hidden, 5, num_flatten_dims=1))


def dense(x):
    return paddle.tanh(static.nn.fc(x, 3))


def save_models(folder):
    """Two models to be served, with inputs and outputs; a training state."""
    paddle.enable_static()
    exe = static.Executor(paddle.CPUPlace())
    for name, network, shape in (("image", image, [1, 8, 8]), ("dense", dense, [4])):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = static.data("x", [None, *shape], "float32")
            y = network(x)
            exe.run(startup)
        static.save_inference_model(str(folder / name), [x], [y], exe, program=main)
        given = np.random.RandomState(0).randn(2, *shape).astype("float32")
        (found,) = exe.run(main, feed={"x": given}, fetch_list=[y])
        np.savez(folder / f"{name}.npz", x=given, y=found)
    static.save(main, str(folder / "train"))
    paddle.disable_static()


def save_states(folder):
    """States of layers and of an optimizer, under two protocols; a tensor; nested data."""
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU(), paddle.nn.Linear(3, 2))
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    net(paddle.ones([1, 4])).mean().backward()
    adam.step()
    for protocol in (2, 4):
        paddle.save(net.state_dict(), str(folder / f"net{protocol}.pdparams"), protocol=protocol)
    paddle.save(adam.state_dict(), str(folder / "net4.pdopt"))
    paddle.save(paddle.ones([2, 3]), str(folder / "tensor.pdtensor"))
    nested = {"a": [paddle.ones([2]), {"b": np.ones(3)}], "c": "text"}
    paddle.save(nested, str(folder / "nested.pdparams"))
    np.savez(folder / "net.npz", **{key: value.numpy() for key, value in net.state_dict().items()})


def without_call_stacks(data):
    """The bytes of a program without the lines that made its operators."""
    program = framework_pb2.ProgramDesc()
    program.ParseFromString(data)
    for block in program.blocks:
        for op in block.ops:
            kept = [attr for attr in op.attrs if attr.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return program.SerializeToString()


def main(target):
    paddle.seed(3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_models(folder)
        save_states(folder)
        with zipfile.ZipFile(target, "w") as packed:
            for path in sorted(folder.iterdir()):
                data = path.read_bytes()
                if path.suffix == ".pdmodel":
                    data = without_call_stacks(data)
                info = zipfile.ZipInfo(path.name)
                packed.writestr(info, data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    main(Path(__file__).with_name("saved_models") / "paddle2.zip")
