"""The training steps as graphs of TensorFlow 1, run by a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import tensorflow
from problems import Array, Problem, inputs

tf = tensorflow.compat.v1
tf.disable_eager_execution()
Values = Mapping[str, Any]


class Step:
    """A graph with the optimizers of ``tf.train``.

    Images become NHWC in the graph: the only layout whose gradients it computes on processors.
    """

    def __init__(self, problem: Problem) -> None:
        graph = tf.Graph()
        if f"_{problem.name}" not in globals():
            raise NotImplementedError(f"no {problem.name} here")
        with graph.as_default():
            self._fed = {
                name: tf.placeholder("int64" if high else problem.dtype, shape)
                for name, (shape, high) in inputs(problem.name, problem.sizes).items()
            }
            self._values = {
                name: tf.Variable(_inside(value), name=name)
                for name, value in problem.start.items()
            }
            laid = {
                name: tf.transpose(value, [0, 2, 3, 1]) if len(value.shape) == 4 else value
                for name, value in self._fed.items()
            }
            loss = globals()[f"_{problem.name}"]
            if "heads" in problem.sizes:
                loss = partial(loss, heads=problem.sizes["heads"])
            self._loss = loss(self._values, laid)
            updates = graph.get_collection(tf.GraphKeys.UPDATE_OPS)
            with tf.control_dependencies(updates):
                self._train = _optimizer(problem).minimize(
                    self._loss, var_list=list(self._values.values())
                )
            self._start = tf.global_variables_initializer()
        self._session = tf.Session(graph=graph)

    def load(self, start: Mapping[str, Array]) -> None:
        self._session.run(self._start)
        for name, value in start.items():
            self._values[name].load(_inside(value), self._session)

    def step(self, feed: Mapping[str, Array]) -> float:
        fed = {self._fed[name]: value for name, value in feed.items()}
        return float(self._session.run([self._loss, self._train], fed)[0])

    def parameters(self) -> dict[str, Array]:
        found = self._session.run(self._values)
        return {
            name: value.transpose(3, 2, 0, 1) if value.ndim == 4 else value
            for name, value in found.items()
        }


def _inside(value: Array) -> Array:
    """A filter with its channels last."""
    return value.transpose(2, 3, 1, 0) if value.ndim == 4 else value


def _optimizer(problem: Problem) -> Any:
    if problem.name in ("fit_a_line", "word2vec"):
        return tf.train.GradientDescentOptimizer(problem.rate)
    if problem.name in ("resnet", "mobilenet_block"):
        return tf.train.MomentumOptimizer(problem.rate, 0.9)
    return tf.train.AdamOptimizer(problem.rate)


def _fit_a_line(v: Values, fed: Values) -> Any:
    return tf.reduce_mean(tf.square(tf.matmul(fed["x"], v["w"]) + v["b"] - fed["y"]))


def _dense(x: Any, v: Values, number: int) -> Any:
    return tf.nn.bias_add(tf.matmul(x, v[f"w{number}"]), v[f"b{number}"])


def _cost(scores: Any, label: Any) -> Any:
    label = tf.squeeze(label, 1)
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=scores)
    )


def _mnist_mlp(v: Values, fed: Values) -> Any:
    hidden = tf.nn.relu(_dense(tf.nn.relu(_dense(fed["x"], v, 1)), v, 2))
    return _cost(_dense(hidden, v, 3), fed["y"])


def _lenet(v: Values, fed: Values) -> Any:
    hidden = fed["x"]
    for number in (1, 2):
        hidden = tf.nn.conv2d(hidden, v[f"c{number}"], strides=1, padding="VALID")
        hidden = tf.nn.relu(tf.nn.bias_add(hidden, v[f"cb{number}"]))
        hidden = tf.nn.max_pool2d(hidden, 2, 2, "VALID")
    # rows of the weight go by channel first
    flat = tf.reshape(tf.transpose(hidden, [0, 3, 1, 2]), [hidden.shape[0], -1])
    return _cost(_dense(flat, v, 1), fed["y"])


def _word2vec(v: Values, fed: Values) -> Any:
    words = tf.concat([fed[f"word{k}"] for k in range(len(fed) - 1)], axis=1)
    found = tf.nn.embedding_lookup(v["table"], words)
    hidden = tf.sigmoid(_dense(tf.reshape(found, [words.shape[0], -1]), v, 1))
    return _cost(_dense(hidden, v, 2), fed["y"])


def _lstm(v: Values, fed: Values) -> Any:
    """Unrolled over the steps, as the static networks of TensorFlow 1 are."""
    x = fed["x"]
    steps, batch, width = x.shape
    projected = tf.matmul(tf.reshape(x, [steps * batch, width]), v["wx"]) + v["gb"]
    projected = tf.split(projected, int(steps))
    before = cell = tf.zeros([batch, v["wh"].shape[0]], x.dtype)
    for now in projected:
        take, keep, new, show = tf.split(now + tf.matmul(before, v["wh"]), 4, axis=1)
        cell = tf.sigmoid(keep) * cell + tf.sigmoid(take) * tf.tanh(new)
        before = tf.sigmoid(show) * tf.tanh(cell)
    return _cost(_dense(before, v, 1), fed["y"])


def _batch_normed(x: Any, v: Values, key: str) -> Any:
    """With running statistics, which the step updates."""
    x, mean, variance = tf.nn.fused_batch_norm(
        x, v[f"{key}_scale"], v[f"{key}_shift"], epsilon=1e-5, is_training=True
    )
    for now, begin in ((mean, 0.0), (variance, 1.0)):
        running = tf.Variable(tf.fill(now.shape, tf.cast(begin, now.dtype)), trainable=False)
        update = tf.assign(running, 0.9 * running + 0.1 * now)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    return x


def _resnet(v: Values, fed: Values) -> Any:
    def normed(x: Any, key: str) -> Any:
        weight = v[key]
        stride = 2 if key in ("two_a", "three_a") or key.endswith("short") else 1
        size = weight.shape[0]
        if stride > 1:  # SAME would pad on the other side
            pad = int(size) // 2
            x = tf.pad(x, [[0, 0], [pad, pad], [pad, pad], [0, 0]]) if pad else x
        x = tf.nn.conv2d(x, weight, strides=stride, padding="VALID" if stride > 1 else "SAME")
        return _batch_normed(x, v, key)

    hidden = tf.nn.relu(normed(fed["x"], "stem"))
    for block in ("one", "two", "three"):
        inner = normed(tf.nn.relu(normed(hidden, f"{block}_a")), f"{block}_b")
        short = normed(hidden, f"{block}_short") if f"{block}_short" in v else hidden
        hidden = tf.nn.relu(inner + short)
    return _cost(_dense(tf.reduce_mean(hidden, [1, 2]), v, 1), fed["y"])


def _encoder(v: Values, fed: Values, heads: int, act: Callable[[Any], Any], first: bool) -> Any:
    def normed(x: Any, key: str) -> Any:
        mean, variance = tf.nn.moments(x, [2], keepdims=True)
        return tf.nn.batch_normalization(
            x, mean, variance, v[f"{key}_shift"], v[f"{key}_scale"], 1e-5
        )

    def product(x: Any, weight: str, bias: str) -> Any:
        n, t, w = x.shape
        out = tf.matmul(tf.reshape(x, [n * t, w]), v[weight])  # of rows: one product, not n
        out = tf.nn.bias_add(out, v[bias]) if bias in v else out
        return tf.reshape(out, [n, t, -1])

    def attention(x: Any) -> Any:
        n, t, w = x.shape
        q, k, u = (
            tf.transpose(
                tf.reshape(product(x, f"w{key}", f"b{key}"), [n, t, heads, -1]), [0, 2, 1, 3]
            )
            for key in "qkv"
        )
        scores = tf.matmul(q, k, transpose_b=True) * (int(w) // heads) ** -0.5
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), u), [0, 2, 1, 3])
        return product(tf.reshape(mixed, [n, t, w]), "wo", "bo")

    def mlp(x: Any) -> Any:
        return product(act(product(x, "w1", "b1")), "w2", "b2")

    x = fed["x"]
    if first:
        x = x + attention(normed(x, "n1"))
        x = x + mlp(normed(x, "n2"))
    else:
        x = normed(x + attention(x), "n1")
        x = normed(x + mlp(x), "n2")
    return _cost(_dense(tf.reduce_mean(x, 1), v, 3), fed["y"])


def _transformer(v: Values, fed: Values, heads: int) -> Any:
    return _encoder(v, fed, heads, tf.nn.relu, False)


def _gpt_block(v: Values, fed: Values, heads: int) -> Any:
    exact = partial(tensorflow.nn.gelu, approximate=False)
    return _encoder(v, fed, heads, exact, True)


def _mobilenet_block(v: Values, fed: Values) -> Any:
    def normed(x: Any, key: str) -> Any:
        weight = v[key]
        if key.endswith("deep"):  # one filter for each channel
            weight = tf.transpose(weight, [0, 1, 3, 2])
            x = tf.nn.depthwise_conv2d(x, weight, strides=[1, 1, 1, 1], padding="SAME")
        else:
            x = tf.nn.conv2d(x, weight, strides=1, padding="SAME")
        return _batch_normed(x, v, key)

    x = fed["x"]
    for block in ("one", "two"):
        hidden = tf.nn.relu6(normed(x, f"{block}_up"))
        x = x + normed(tf.nn.relu6(normed(hidden, f"{block}_deep")), f"{block}_down")
    return _cost(_dense(tf.reduce_mean(x, [1, 2]), v, 1), fed["y"])


def describe() -> dict[str, Any]:
    """Version, threads and libraries."""
    limit = os.environ.get("TF_NUM_INTRAOP_THREADS")
    threads = int(limit or len(os.sched_getaffinity(0)))  # of each of its pools
    return {"version": tensorflow.__version__, "threads": threads, "kernels": "oneDNN, Eigen"}
