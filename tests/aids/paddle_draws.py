"""What is drawn behind ``paddle.seed(7)``: functions of the module paddle that give tensors.

python tests/aids/paddle_draws.py    records tests/data/paddle_2/draws.json with paddlepaddle 2.6.2
"""

import contextlib
import io
import json
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "draws.json"


def initial(paddle):
    """First values of a parameter by each initializer, one after the other."""
    names = "TruncatedNormal XavierNormal XavierUniform KaimingNormal KaimingUniform Normal Uniform"
    for name in [*names.split(), "Orthogonal"]:
        first = getattr(paddle.nn.initializer, name)()
        yield paddle.create_parameter([4, 3], "float32", default_initializer=first)


def layers(paddle):
    """Parameters of layers, one after the other."""
    nn = paddle.nn
    made = [nn.Linear(3, 2), nn.Conv2D(2, 3, 2), nn.Embedding(3, 2), nn.LSTM(2, 2), nn.GRU(2, 2)]
    made += [nn.Conv2DTranspose(2, 3, 2), nn.Bilinear(2, 2, 2), nn.SpectralNorm([2, 3])]
    for layer in (*made, nn.Transformer(4, 2, 1, 1, 8)):
        yield from layer.parameters()


def made_of_others(paddle):
    """What weights are made of that are normalised, and what is drawn behind it."""
    for norm in (paddle.nn.utils.weight_norm, paddle.nn.utils.spectral_norm):
        state = norm(paddle.nn.Linear(3, 2)).state_dict()
        yield from (state[name] for name in sorted(state))
        yield paddle.rand([2])


def in_tables(paddle):
    """What is drawn behind tables of a network, whose inputs are drawn."""
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.Dropout(0.5))
    for tell, shape in ((paddle.summary, (2, 3)), (paddle.flops, [2, 3])):
        with contextlib.redirect_stdout(io.StringIO()):
            tell(net, shape)
        yield paddle.rand([2])


def in_place(paddle):
    """The same tensor, drawn anew three times."""
    x = paddle.zeros([5])
    for name in ("uniform_", "normal_", "exponential_"):
        yield getattr(x, name)().clone()


def functions(paddle):
    """Functions, one after the other."""
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
    """Ways to drop elements, one after the other."""
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


def counting(paddle):
    """Whole numbers that weights and averages say."""
    weights = paddle.to_tensor([[0.9, 0.1, 0.4, 0.2, 0.7], [0.3, 0.0, 0.5, 0.5, 0.6]])
    yield paddle.multinomial(weights, 4)
    yield paddle.multinomial(weights[0], 6, replacement=True)
    yield paddle.poisson(paddle.to_tensor([0.5, 3.0, 11.9, 12.0, 50.0, 1000.0] * 5))
    yield paddle.nn.functional.rrelu(paddle.to_tensor([-1.0, 2.0, -3.0, 0.0, -1.0]), 0.1, 0.3)
    yield paddle.nn.HSigmoidLoss(3, 6).weight


def programs(paddle):
    """Programs go on where they stopped, and where tensors did."""
    paddle.rand([3])
    paddle.enable_static()
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        x = paddle.ones([2, 4])
        made = [paddle.static.nn.fc(paddle.static.nn.fc(x, 5), 3), paddle.nn.functional.dropout(x)]
        made += [paddle.rand([2]), paddle.randn([3]), paddle.randint(0, 9, [4])]
        made += [paddle.bernoulli(x * 0.5), paddle.normal(1.0, 2.0, [3]), paddle.randperm(5)]
        made += [paddle.multinomial(x, 2), paddle.poisson(x * 20), paddle.uniform([2], seed=5)]
    executor = paddle.static.Executor()
    executor.run(start)
    found = [each for _ in range(2) for each in executor.run(main, fetch_list=made)]
    paddle.disable_static()
    yield from map(paddle.to_tensor, found)
    yield paddle.rand([2])


CASES = (
    initial,
    layers,
    made_of_others,
    in_tables,
    in_place,
    functions,
    dropping,
    long,
    counting,
    programs,
)


def drawn(paddle, case):
    """The numbers of a case, as lists."""
    paddle.seed(7)
    return [tensor.numpy().astype("float64").reshape(-1).tolist() for tensor in case(paddle)]


if __name__ == "__main__":
    import paddle

    found = {case.__name__: drawn(paddle, case) for case in CASES}
    RECORDED.write_text(json.dumps(found), encoding="utf-8")
