"""The training steps as programs, for anything that has the interface of fluid 1.8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from problems import Problem, convolutions, inputs


def build(
    fluid: Any, problem: Problem, begin: Callable[[dict[str, Any]], None] | None = None
) -> tuple[Any, Any, Any]:
    """Main program, startup program, and the loss.

    Args:
        fluid: the module, ``fluidlite`` or ``paddle.fluid``.
        problem: what to build; its parameters keep their names.
        begin: called with the variables that are fed, before there is anything else.
    """
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        fed = {
            key: fluid.data(key, list(shape), "int64" if high else problem.dtype)
            for key, (shape, high) in inputs(problem.name, problem.sizes).items()
        }
        if begin is not None:
            begin(fed)
        loss = globals()[f"_{problem.name}"](fluid, problem, fed)
        _optimizer(fluid, problem).minimize(loss)
    return main, startup, loss


def has_kernels(exe: Any, main: Any, loss: Any) -> bool:
    """Whether fluidlite's plan of a step has generated kernels by now."""
    return ", native" in exe.plan(main, [loss]).source


def _optimizer(fluid: Any, problem: Problem) -> Any:
    if problem.name in ("fit_a_line", "word2vec"):
        return fluid.optimizer.SGD(problem.rate)
    if problem.name in ("resnet", "mobilenet_block"):
        return fluid.optimizer.Momentum(problem.rate, momentum=0.9)
    return fluid.optimizer.Adam(problem.rate)


def _fc(fluid: Any, x: Any, size: int, weight: Any, bias: str, act: str | None = None) -> Any:
    return fluid.layers.fc(x, size, param_attr=weight, bias_attr=bias, act=act)


def _fit_a_line(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    guess = _fc(fluid, fed["x"], 1, "w", "b")
    return fluid.layers.mean(fluid.layers.square_error_cost(guess, fed["y"]))


def _mnist_mlp(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    sizes = problem.sizes
    hidden = _fc(fluid, fed["x"], sizes["hidden"], "w1", "b1", "relu")
    hidden = _fc(fluid, hidden, sizes["hidden"], "w2", "b2", "relu")
    scores = _fc(fluid, hidden, sizes["classes"], "w3", "b3")
    return _cost_of_scores(fluid, scores, fed["y"])


def _cost_of_scores(fluid: Any, scores: Any, label: Any) -> Any:
    return fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(scores, label))


def _cost_of_guess(fluid: Any, guess: Any, label: Any) -> Any:
    return fluid.layers.mean(fluid.layers.cross_entropy(guess, label))


def _lenet(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    sizes, hidden = problem.sizes, fed["x"]
    for number, filters in enumerate((sizes["first"], sizes["second"]), 1):
        hidden = fluid.nets.simple_img_conv_pool(
            hidden,
            filters,
            sizes["filter"],
            pool_size=2,
            pool_stride=2,
            act="relu",
            param_attr=f"c{number}",
            bias_attr=f"cb{number}",
        )
    guess = _fc(fluid, hidden, sizes["classes"], "w1", "b1", "softmax")
    return _cost_of_guess(fluid, guess, fed["y"])


def _word2vec(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    sizes = problem.sizes
    found = [
        fluid.layers.embedding(
            fed[f"word{k}"],
            [sizes["vocabulary"], sizes["width"]],
            is_sparse=True,
            param_attr="table",
            dtype=problem.dtype,
        )
        for k in range(sizes["words"])
    ]
    hidden = fluid.layers.concat(found, axis=1)
    hidden = _fc(fluid, hidden, sizes["hidden"], "w1", "b1", "sigmoid")
    guess = _fc(fluid, hidden, sizes["vocabulary"], "w2", "b2", "softmax")
    return _cost_of_guess(fluid, guess, fed["y"])


def _lstm(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    layers, sizes = fluid.layers, problem.sizes
    if fluid.__name__ == "paddle.fluid":  # where recurrent insists on gradients of its inputs
        fed["x"].stop_gradient = False
    steps, hidden = sizes["steps"], sizes["hidden"]
    zeros = layers.fill_constant([sizes["batch"], hidden], problem.dtype, 0.0)
    rnn = layers.StaticRNN()
    with rnn.step():
        now = rnn.step_input(fed["x"])
        before, cell = rnn.memory(init=zeros), rnn.memory(init=zeros)
        gates = _fc(fluid, [now, before], 4 * hidden, ["wx", "wh"], "gb")
        take, keep, new, show = layers.split(gates, 4, dim=1)
        kept = layers.elementwise_mul(layers.sigmoid(keep), cell)
        after = kept + layers.elementwise_mul(layers.sigmoid(take), layers.tanh(new))
        shown = layers.elementwise_mul(layers.sigmoid(show), layers.tanh(after))
        rnn.update_memory(cell, after)
        rnn.update_memory(before, shown)
        rnn.step_output(shown)
    last = layers.slice(rnn(), axes=[0], starts=[steps - 1], ends=[steps])
    last = layers.reshape(last, [sizes["batch"], hidden])
    return _cost_of_scores(fluid, _fc(fluid, last, sizes["classes"], "w1", "b1"), fed["y"])


def _resnet(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    layers, table = fluid.layers, convolutions(problem.sizes)

    def normed(x: Any, key: str, act: str | None = None) -> Any:
        filters, _, size, stride = table[key]
        x = layers.conv2d(
            x, filters, size, stride, padding=size // 2, param_attr=key, bias_attr=False
        )
        return layers.batch_norm(x, act=act, param_attr=f"{key}_scale", bias_attr=f"{key}_shift")

    hidden = normed(fed["x"], "stem", "relu")
    for block in ("one", "two", "three"):
        inner = normed(normed(hidden, f"{block}_a", "relu"), f"{block}_b")
        short = normed(hidden, f"{block}_short") if f"{block}_short" in table else hidden
        hidden = layers.elementwise_add(inner, short, act="relu")
    hidden = layers.pool2d(hidden, pool_type="avg", global_pooling=True)
    scores = _fc(fluid, hidden, problem.sizes["classes"], "w1", "b1")
    return _cost_of_scores(fluid, scores, fed["y"])


def _attention(fluid: Any, x: Any, sizes: Any) -> Any:
    """Attention of a sequence to itself, in heads."""
    layers, heads = fluid.layers, sizes["heads"]
    width = sizes["width"] // heads

    def projected(x: Any, key: str) -> Any:
        bias = False if key == "k" else f"b{key}"
        return layers.fc(
            x, sizes["width"], num_flatten_dims=2, param_attr=f"w{key}", bias_attr=bias
        )

    def in_heads(x: Any) -> Any:
        return layers.transpose(layers.reshape(x, [0, 0, heads, width]), [0, 2, 1, 3])

    q, k, v = (in_heads(projected(x, key)) for key in "qkv")
    weights = layers.softmax(layers.matmul(q, k, transpose_y=True, alpha=width**-0.5))
    found = layers.transpose(layers.matmul(weights, v), [0, 2, 1, 3])
    return projected(layers.reshape(found, [0, 0, sizes["width"]]), "o")


def _encoder(fluid: Any, problem: Problem, fed: dict[str, Any], act: str, first: bool) -> Any:
    """A layer of attention and one of two products; normalised before each of them, or behind."""
    layers, sizes, x = fluid.layers, problem.sizes, fed["x"]

    def normed(x: Any, key: str) -> Any:
        names = dict(param_attr=f"{key}_scale", bias_attr=f"{key}_shift")
        return layers.layer_norm(x, begin_norm_axis=2, **names)

    def mlp(x: Any) -> Any:
        names = [dict(param_attr=f"w{k}", bias_attr=f"b{k}") for k in (1, 2)]
        hidden = layers.fc(x, sizes["hidden"], num_flatten_dims=2, **names[0])
        hidden = getattr(layers, act)(hidden)
        return layers.fc(hidden, sizes["width"], num_flatten_dims=2, **names[1])

    if first:
        x = x + _attention(fluid, normed(x, "n1"), sizes)
        x = x + mlp(normed(x, "n2"))
    else:
        x = normed(x + _attention(fluid, x, sizes), "n1")
        x = normed(x + mlp(x), "n2")
    scores = _fc(fluid, layers.reduce_mean(x, dim=1), sizes["classes"], "w3", "b3")
    return _cost_of_scores(fluid, scores, fed["y"])


def _transformer(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    return _encoder(fluid, problem, fed, "relu", first=False)


def _gpt_block(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    return _encoder(fluid, problem, fed, "gelu", first=True)


def _mobilenet_block(fluid: Any, problem: Problem, fed: dict[str, Any]) -> Any:
    layers, sizes, x = fluid.layers, problem.sizes, fed["x"]

    def normed(x: Any, count: int, size: int, key: str, groups: int = 1) -> Any:
        x = layers.conv2d(
            x, count, size, padding=size // 2, groups=groups, param_attr=key, bias_attr=False
        )
        return layers.batch_norm(x, param_attr=f"{key}_scale", bias_attr=f"{key}_shift")

    for block in ("one", "two"):
        hidden = layers.relu6(normed(x, sizes["hidden"], 1, f"{block}_up"))
        hidden = normed(hidden, sizes["hidden"], 3, f"{block}_deep", groups=sizes["hidden"])
        x = x + normed(layers.relu6(hidden), sizes["width"], 1, f"{block}_down")
    pooled = layers.pool2d(x, pool_type="avg", global_pooling=True)
    return _cost_of_scores(fluid, _fc(fluid, pooled, sizes["classes"], "w1", "b1"), fed["y"])
