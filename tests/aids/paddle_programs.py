"""Small programs, whose text paddle 2 prints.

python tests/aids/paddle_programs.py    records tests/data/paddle_2/programs.json with 2.6.2
"""

import json
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "programs.json"


def cases(paddle):
    """Name -> what appends to the default program."""
    F, nn = paddle.nn.functional, paddle.static.nn

    def data(name="x", shape=(2, 3), dtype="float32"):
        return paddle.static.data(name, list(shape), dtype)

    return {
        "sum": lambda: data() + data("y"),
        "scaled": lambda: -(data() * 2 + 1),
        "elementwise": lambda: paddle.multiply(paddle.add(data(), data("y")), data("z")),
        "product": lambda: paddle.matmul(data(), data("y", (3, 2))),
        "units": lambda: F.gelu(F.leaky_relu(F.relu(F.softmax(data())))),
        "reductions": lambda: [paddle.mean(data()), paddle.max(data("y")), paddle.sum(data("z"))],
        "forms": lambda: paddle.transpose(paddle.reshape(data(), [3, 2]), [1, 0]),
        "joined": lambda: paddle.stack(paddle.split(paddle.concat([data(), data("y")]), 2)),
        "filled": lambda: [paddle.full([2], 1.5), paddle.zeros([2]), paddle.ones([2], "int64")],
        "dropped": lambda: F.dropout(data()),
        "items": lambda: data()[0:1] + data("y")[0],
        "compared": lambda: paddle.less_than(paddle.abs(data()), paddle.cast(data("y"), "float32")),
        "dense": lambda: nn.fc(nn.fc(data(), 4, activation="relu"), 2),
        "words": lambda: nn.embedding(data("x", (2,), "int64"), [4, 3]),
        "pictures": lambda: nn.conv2d(data("x", (1, 3, 8, 8)), 2, 3),
        "squared": lambda: F.mse_loss(data(), data("y")),
    }


def printed(paddle):
    """Name -> the program's text, and that of its startup program."""
    texts = {}
    for name, build in cases(paddle).items():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
            build()
        texts[name] = [str(main), str(startup)]
    return texts


if __name__ == "__main__":
    import paddle

    paddle.enable_static()
    RECORDED.write_text(json.dumps(printed(paddle), indent=0), encoding="utf-8")
