"""The training steps as graphs of TensorFlow 1, run by a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
            self._loss = globals()[f"_{problem.name}"](self._values, laid)
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
    if problem.name == "resnet":
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


def _resnet(v: Values, fed: Values) -> Any:
    def normed(x: Any, key: str) -> Any:
        weight = v[key]
        stride = 2 if key in ("two_a", "three_a") or key.endswith("short") else 1
        size = weight.shape[0]
        if stride > 1:  # SAME would pad on the other side
            pad = int(size) // 2
            x = tf.pad(x, [[0, 0], [pad, pad], [pad, pad], [0, 0]]) if pad else x
        x = tf.nn.conv2d(x, weight, strides=stride, padding="VALID" if stride > 1 else "SAME")
        x, mean, variance = tf.nn.fused_batch_norm(
            x, v[f"{key}_scale"], v[f"{key}_shift"], epsilon=1e-5, is_training=True
        )
        for now, begin in ((mean, 0.0), (variance, 1.0)):
            running = tf.Variable(tf.fill(now.shape, tf.cast(begin, now.dtype)), trainable=False)
            update = tf.assign(running, 0.9 * running + 0.1 * now)
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        return x

    hidden = tf.nn.relu(normed(fed["x"], "stem"))
    for block in ("one", "two", "three"):
        inner = normed(tf.nn.relu(normed(hidden, f"{block}_a")), f"{block}_b")
        short = normed(hidden, f"{block}_short") if f"{block}_short" in v else hidden
        hidden = tf.nn.relu(inner + short)
    return _cost(_dense(tf.reduce_mean(hidden, [1, 2]), v, 1), fed["y"])


def describe() -> dict[str, Any]:
    """Version, threads and libraries."""
    limit = os.environ.get("TF_NUM_INTRAOP_THREADS")
    threads = int(limit or len(os.sched_getaffinity(0)))  # of each of its pools
    return {"version": tensorflow.__version__, "threads": threads, "kernels": "oneDNN, Eigen"}
