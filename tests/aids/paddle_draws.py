"""What is drawn behind ``paddle.seed(7)``: functions of the module paddle that give tensors.

python tests/aids/paddle_draws.py    records tests/data/paddle_2/draws.json with paddlepaddle 2.6.2
"""

import json
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "draws.json"


def initial(paddle):
    """First values of a parameter by each initializer, one behind the other."""
    names = "TruncatedNormal XavierNormal XavierUniform KaimingNormal KaimingUniform Normal Uniform"
    for name in [*names.split(), "Orthogonal"]:
        first = getattr(paddle.nn.initializer, name)()
        yield paddle.create_parameter([4, 3], "float32", default_initializer=first)


def layers(paddle):
    """Parameters of layers, one behind the other."""
    nn = paddle.nn
    made = [nn.Linear(3, 2), nn.Conv2D(2, 3, 2), nn.Embedding(3, 2), nn.LSTM(2, 2), nn.GRU(2, 2)]
    made += [nn.Conv2DTranspose(2, 3, 2), nn.Bilinear(2, 2, 2), nn.SpectralNorm([2, 3])]
    for layer in (*made, nn.Transformer(4, 2, 1, 1, 8)):
        yield from layer.parameters()


def in_place(paddle):
    """The same tensor, drawn anew three times."""
    x = paddle.zeros([5])
    for name in ("uniform_", "normal_", "exponential_"):
        yield getattr(x, name)().clone()


def functions(paddle):
    """Functions, one behind the other."""
    yield paddle.rand([3], "float64")
    yield paddle.randn([5], "float64")
    yield paddle.uniform([3], min=-2, max=5)
    yield paddle.normal(1.0, 2.0, [3])
    yield paddle.standard_normal([2, 2])
    yield paddle.randint(5, 50, [4])
    yield paddle.randint_like(paddle.zeros([3]), 0, 9)
    yield paddle.bernoulli(paddle.to_tensor([0.1, 0.5, 0.9, 0.3]))
    yield paddle.uniform([3], seed=5)
    yield from (paddle.randperm(n) for n in (1, 2, 7, 10))


def dropping(paddle):
    """Ways to drop elements, one behind the other."""
    F, ones = paddle.nn.functional, paddle.ones
    yield F.dropout(ones([7]))
    yield F.dropout(ones([2, 3]), 0.3, axis=0)
    yield F.dropout2d(ones([1, 4, 1, 1]))
    yield F.alpha_dropout(ones([4]))
    yield F.rrelu(-ones([3]), 0.1, 0.3)


def long(paddle):
    """What stands behind a thousand numbers of each kind."""
    for draw in (paddle.rand, paddle.randn):
        draw([1001])
        yield draw([2])


CASES = (initial, layers, in_place, functions, dropping, long)


def drawn(paddle, case):
    """The numbers of a case, as lists."""
    paddle.seed(7)
    return [tensor.numpy().astype("float64").reshape(-1).tolist() for tensor in case(paddle)]


if __name__ == "__main__":
    import paddle

    found = {case.__name__: drawn(paddle, case) for case in CASES}
    RECORDED.write_text(json.dumps(found), encoding="utf-8")
