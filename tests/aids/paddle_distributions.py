"""What distributions and transforms of the module paddle give: expressions and their results.

python tests/aids/paddle_distributions.py    records tests/data/paddle_2/distributions.json with
paddlepaddle 2.6.2
"""

import json
import multiprocessing
import warnings
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "distributions.json"
#: a distribution -> what its densities are asked for
DISTRIBUTIONS = {
    "D.Normal(0.5, 2.0)": "v",
    "D.Normal(a, b)": "v",
    "D.Normal(a, T(2.0))": "v",
    "D.Uniform(0.25, 2.0)": "v",
    "D.Uniform(-a, b)": "v",
    "D.Laplace(a, b)": "v",
    "D.Laplace(a, T(2.0))": "v",
    "D.Bernoulli(0.3)": "v",
    "D.Bernoulli(p)": "T([[0.0, 1.0], [1.0, 2.0], [-1.0, 0.5]])",
    "D.Beta(0.5, 1.5)": "v",
    "D.Beta(a, b)": "v",
    "D.Beta(T([0.1, 30.0]), T([0.2, 60.0]))": "v",
    "D.Dirichlet(c)": "s",
    "D.Dirichlet(T([[0.3, 0.4, 2.0], [10.0, 4.0, 5.0]]))": "s",
    "D.Categorical(c)": "T([0, 2, 1])",
    "D.Categorical(T([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]))": "T([[0, 1], [2, 1]])",
    "D.Categorical(np.array([0.2, 0.8]))": "T([1])",
    "D.Cauchy(0.5, 2.0)": "v",
    "D.Cauchy(T(0.1), a)": "v",
    "D.Multinomial(5, c)": "T([[1.0, 3.0, 1.0], [0.0, 0.0, 5.0]])",
    "D.Multinomial(12, T([[0.2, 0.3, 0.5], [1.0, 0.0, 2.0]]))": "T([1.0, 0.0, 11.0])",
    "D.LogNormal(a, b)": "v",
    "D.Gumbel(a, b)": "v",
    "D.Geometric(0.3)": "T([0.0, 2.0])",
    "D.Geometric(p)": "T([0.0, 2.0])",
    "D.Independent(D.Normal(a, b), 1)": "v",
    "D.Independent(D.Beta(T([[0.5, 2.0]]), T([[0.5, 1.0]])), 2)": "v",
    "D.TransformedDistribution(D.Normal(a, b), [D.ExpTransform()])": "v",
    "D.TransformedDistribution(D.Normal(a, b), [D.AffineTransform(T(1.0), T(-2.0))])": "v",
    "D.TransformedDistribution(D.Uniform(-a, b), [D.TanhTransform(), D.SigmoidTransform()])": (
        "T([0.45, 0.6])"
    ),
    "D.TransformedDistribution(D.Normal(T(0.0), T(1.0)), [D.AffineTransform(a, b)])": "v",
}
#: what a distribution is asked; answers in paddle 2.6.2 that there is none are not recorded
ASKED = (
    *("batch_shape", "event_shape", "mean", "variance", "stddev", "entropy()"),
    *("sample([3])", "sample([2, 2])", "rsample([2, 2])"),
    *("prob({})", "log_prob({})", "probs({})", "cdf({})", "icdf({})", "pmf({})", "log_pmf({})"),
)
#: two distributions whose divergence is asked
PAIRS = [
    ("D.Normal(a, b)", "D.Normal(0.0, 1.0)"),
    ("D.Bernoulli(p)", "D.Bernoulli(0.3)"),
    ("D.Beta(a, b)", "D.Beta(0.5, 0.7)"),
    ("D.Dirichlet(c)", "D.Dirichlet(T([[1.0, 1.0, 2.0], [0.2, 3.0, 1.0]]))"),
    ("D.Categorical(c)", "D.Categorical(T([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]))"),
    ("D.Cauchy(a, b)", "D.Cauchy(0.1, 1.2)"),
    ("D.Laplace(a, b)", "D.Laplace(0.1, 1.2)"),
    ("D.LogNormal(a, b)", "D.LogNormal(T(0.1), T(1.2))"),
    ("D.Geometric(p)", "D.Geometric(0.3)"),
]
TRANSFORMS = {
    "D.AbsTransform()": "v",
    "D.AffineTransform(a, b)": "v",
    "D.AffineTransform(T(1.0), T([[2.0], [3.0]]))": "v",
    "D.ExpTransform()": "v",
    "D.PowerTransform(T([2.0, 3.0]))": "v",
    "D.SigmoidTransform()": "v",
    "D.TanhTransform()": "v",
    "D.SoftmaxTransform()": "v",
    "D.StickBreakingTransform()": "v",
    "D.ReshapeTransform((2,), (1, 2))": "v",
    "D.ReshapeTransform((1, 2), (2,))": "v",
    "D.IndependentTransform(D.ExpTransform(), 1)": "v",
    "D.StackTransform([D.ExpTransform(), D.PowerTransform(T(2.0))], 0)": "v",
    "D.StackTransform([D.ExpTransform(), D.PowerTransform(T(2.0))], -1)": "v",
    "D.ChainTransform([D.AffineTransform(T(1.0), T(2.0)), D.ExpTransform()])": "v",
    "D.ChainTransform([D.ExpTransform(), D.StickBreakingTransform()])": "v",
    "D.ChainTransform([D.ReshapeTransform((2,), (1, 2)), D.ExpTransform()])": "v",
    "D.ExpTransform()(D.TanhTransform())": "v",
    "D.Transform()": "v",
}
ASKED_OF_TRANSFORMS = (
    *("forward({})", "inverse({})", "inverse(T([[0.3, 0.7]]))", "forward(T(0.4))"),
    *("forward_log_det_jacobian({})", "inverse_log_det_jacobian(T([[0.3, 0.7]]))"),
    *("forward_shape((3, 2))", "forward_shape((1, 2))", "inverse_shape((3, 2))"),
    *("forward_shape(())", "inverse_shape(())", "forward(1.0)", "inverse([1.0])"),
    *("_domain.event_rank", "_codomain.event_rank", "_is_injective()"),
)
OTHERS = (
    *("D.Distribution((2,), (3,)).batch_shape", "D.Distribution(2)", "D.Distribution().mean"),
    *("D.Distribution().sample()", "D.Distribution().entropy()", "D.Distribution().prob(v)"),
    *("D.Normal('x', 1.0)", "D.Bernoulli(1.5)", "D.Geometric(0.0)", "D.Geometric(T([0.2, 1.5]))"),
    *("D.Dirichlet(T(1.0))", "D.Multinomial(0, c)", "D.Multinomial(2.0, c)"),
    *("D.Multinomial(2, T(0.5))", "D.Cauchy(0.0, 1.0).mean", "D.Cauchy(0.0, 1.0).variance"),
    *("D.Independent(1, 1)", "D.Independent(D.Normal(a, b), 2)"),
    *("D.Independent(D.Normal(a, b), 0)",),
    *("D.TransformedDistribution(1, [])", "D.TransformedDistribution(D.Normal(a, b), [1])"),
    *("D.TransformedDistribution(D.Normal(a, b), D.ExpTransform())",),
    *("D.TransformedDistribution(D.Normal(0.0, 1.0), [D.StickBreakingTransform()])",),
    *("D.AffineTransform(1.0, a)", "D.AffineTransform(a, 1.0)", "D.PowerTransform(2.0)"),
    *("D.ChainTransform([1])", "D.ChainTransform(D.ExpTransform())", "D.StackTransform([])"),
    *("D.StackTransform([D.ExpTransform()], 'x')", "D.IndependentTransform(1, 1)"),
    *("D.IndependentTransform(D.ExpTransform(), 0)", "D.ReshapeTransform(2, (2,))"),
    *("D.ReshapeTransform((2, 3), (4,))", "D.kl_divergence(D.Normal(a, b), D.Beta(a, b))"),
    *("D.register_kl(int, str)", "D.Normal(a, b).sample(2)", "D.Laplace(a, b).sample(2)"),
    *("D.Bernoulli(p).rsample([2], 0.25)", "D.Normal(a, b).sample([2], 5)"),
    *("D.Uniform(a, b).sample([2], 5)", "D.ExpTransform()._codomain.is_discrete"),
    *("D.constraint.real(T([1.0, float('nan')]))", "D.constraint.positive(T([0.0, -1.0]))"),
    *("D.variable.real.constraint(v)", "D.variable.Real(2).event_rank"),
    *("D.variable.Stack([D.variable.Real(1), D.variable.positive], -3).event_rank",),
    *("D.variable.Independent(D.variable.Positive(1), 2).event_rank",),
)  # fmt: skip
#: where paddle 2.6.2 is wrong: docs/paddle-2/distribution.md
WRONG = (
    "D.Bernoulli(p).entropy()",  # no gradient
    "D.Geometric(p).variance",  # no gradient
    "D.Geometric(p).stddev",
    "D.kl_divergence(D.Geometric(p), D.Geometric(0.3))",  # times p
    "D.kl_divergence(D.Geometric(0.3), D.Geometric(p))",
    "D.Multinomial(12, T([[0.2, 0.3, 0.5], [1.0, 0.0, 2.0]])).entropy()",  # NaN
)
LEAVES = ("a", "b", "p", "c")


def expressions():
    """All that is asked."""
    for kind, value in DISTRIBUTIONS.items():
        yield from (f"{kind}.{each.format(value)}" for each in ASKED)
    for one, other in PAIRS:
        yield from (f"D.kl_divergence({p}, {q})" for p, q in ((one, other), (other, one)))
    for kind, value in TRANSFORMS.items():
        yield from (f"{kind}.{each.format(value)}" for each in ASKED_OF_TRANSFORMS)
    yield from OTHERS


def result(paddle, expression, sloped=True):
    """What an expression gives: element type, shape and elements of a tensor, and its gradients by
    the leaves that it has (None unless ``sloped``); the class of an error.
    """
    leaves = {"a": [0.5, 1.5], "b": [2.0, 0.75], "p": [0.3, 0.8], "c": [1.0, 2.0, 3.0]}
    names = {name: paddle.to_tensor(value, stop_gradient=False) for name, value in leaves.items()}
    given = {
        "v": paddle.to_tensor([[0.3, 0.7], [0.2, 0.6], [0.9, 0.4]]),
        "s": paddle.to_tensor([0.2, 0.3, 0.5]),
        "D": paddle.distribution,
        "T": paddle.to_tensor,
        "np": np,
    }
    paddle.seed(7)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = eval(expression, {**names, **given})
    except Exception as error:
        return type(error).__name__
    if not isinstance(out, paddle.Tensor):
        return [described(paddle, each) for each in out] if isinstance(out, (list, tuple)) else out
    told = {"value": described(paddle, out)}
    if not out.stop_gradient and not sloped:
        told["gradients"] = None
    elif not out.stop_gradient:
        (out * out).sum().backward()
        told["gradients"] = {
            name: described(paddle, names[name].grad)
            for name in LEAVES
            if names[name].grad is not None
        }
    return told


def described(paddle, value):
    """A tensor as its element type, shape and elements; other values as they are."""
    if not isinstance(value, paddle.Tensor):
        return value
    array = value.numpy()
    return [str(array.dtype), list(array.shape), [float(f"{x:.8g}") for x in array.ravel()]]


def recorded(paddle, expression, sloped=True):
    """The result in a process of its own, which some gradients and expressions end; None then."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def tell():
        sender.send(json.dumps(result(paddle, expression, sloped), default=str))

    process = multiprocessing.get_context("fork").Process(target=tell)
    process.start()
    process.join()
    if receiver.poll():
        return json.loads(receiver.recv())
    return recorded(paddle, expression, False) if sloped else None


if __name__ == "__main__":
    import paddle

    told = {each: recorded(paddle, each) for each in expressions()}
    absent = (None, "AttributeError", "NotImplementedError")
    lines = (
        f"{json.dumps(key)}: {json.dumps(value)}"
        for key, value in told.items()
        if (key in OTHERS or value not in absent)
        and key not in WRONG
        and "object at" not in str(value)
    )
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
