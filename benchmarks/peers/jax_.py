"""The training steps on JAX: one compiled function for each, which may overwrite its state."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from problems import Array, Problem

Values = Mapping[str, Any]


class Step:
    """A function of parameters, states and a batch, compiled by ``jax.jit``."""

    def __init__(self, problem: Problem) -> None:
        if problem.dtype == "float64":
            jax.config.update("jax_enable_x64", True)
        loss = globals()[f"_{problem.name}"]
        if "heads" in problem.sizes:
            loss = partial(loss, heads=problem.sizes["heads"])
        rate = problem.rate

        def gradient_step(v: Values, s: Values, fed: Values) -> Any:
            value, d = jax.value_and_grad(loss)(v, fed)
            return {k: v[k] - rate * d[k] for k in v}, s, value

        def adam_step(v: Values, s: Values, fed: Values) -> Any:
            value, d = jax.value_and_grad(loss)(v, fed)
            first, second, count = s["first"], s["second"], s["count"] + 1
            first = {k: 0.9 * first[k] + 0.1 * d[k] for k in v}
            second = {k: 0.999 * second[k] + 0.001 * d[k] * d[k] for k in v}
            factor = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
            v = {k: v[k] - factor * first[k] / (jnp.sqrt(second[k]) + 1e-8) for k in v}
            return v, {"first": first, "second": second, "count": count}, value

        def momentum_step(v: Values, s: Values, fed: Values) -> Any:
            (value, seen), d = jax.value_and_grad(loss, has_aux=True)(v, fed)
            velocity = {k: 0.9 * s["velocity"][k] + d[k] for k in v}
            running = {k: 0.9 * s["running"][k] + 0.1 * seen[k] for k in seen}
            v = {k: v[k] - rate * velocity[k] for k in v}
            return v, {"velocity": velocity, "running": running}, value

        simple = problem.name in ("fit_a_line", "word2vec")
        step = gradient_step if simple else adam_step
        step = momentum_step if problem.name in ("resnet", "mobilenet_block") else step
        self._simple, self._problem = simple, problem
        self._step = jax.jit(step, donate_argnums=(0, 1))
        self._values: Any = {}
        self._states: Any = {}

    def load(self, start: Mapping[str, Array]) -> None:
        def zeros(names: Any) -> dict[str, Any]:
            return {name: jnp.zeros_like(self._values[name]) for name in names}

        self._values = {name: jnp.array(value) for name, value in start.items()}
        if self._simple:
            self._states = {}
        elif self._problem.name in ("resnet", "mobilenet_block"):
            scales = [name for name in start if name.endswith("_scale")]
            running = {
                key.replace("scale", which): value
                for which in ("mean", "variance")
                for key, value in zeros(scales).items()
            }
            self._states = {"velocity": zeros(start), "running": running}
        else:
            count = jnp.zeros((), self._problem.dtype)
            self._states = {"first": zeros(start), "second": zeros(start), "count": count}

    def step(self, feed: Mapping[str, Array]) -> float:
        self._values, self._states, loss = self._step(self._values, self._states, dict(feed))
        return float(loss)

    def parameters(self) -> dict[str, Array]:
        found: dict[str, Array] = jax.device_get(self._values)
        return found


def _fit_a_line(v: Values, fed: Values) -> Any:
    return jnp.mean((fed["x"] @ v["w"] + v["b"] - fed["y"]) ** 2)


def _cost(scores: Any, label: Any) -> Any:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), label, axis=1))


def _mnist_mlp(v: Values, fed: Values) -> Any:
    hidden = jax.nn.relu(fed["x"] @ v["w1"] + v["b1"])
    hidden = jax.nn.relu(hidden @ v["w2"] + v["b2"])
    return _cost(hidden @ v["w3"] + v["b3"], fed["y"])


def _convolved(x: Any, weight: Any, stride: int, pad: int) -> Any:
    layout = ("NCHW", "OIHW", "NCHW")
    padding = [(pad, pad)] * 2
    return lax.conv_general_dilated(x, weight, (stride,) * 2, padding, dimension_numbers=layout)


def _lenet(v: Values, fed: Values) -> Any:
    hidden = fed["x"]
    for number in (1, 2):
        hidden = _convolved(hidden, v[f"c{number}"], 1, 0) + v[f"cb{number}"][:, None, None]
        window = (1, 1, 2, 2)
        hidden = lax.reduce_window(jax.nn.relu(hidden), -jnp.inf, lax.max, window, window, "VALID")
    return _cost(hidden.reshape(len(hidden), -1) @ v["w1"] + v["b1"], fed["y"])


def _word2vec(v: Values, fed: Values) -> Any:
    words = jnp.concatenate([fed[f"word{k}"] for k in range(len(fed) - 1)], axis=1)
    found = v["table"][words].reshape(len(words), -1)
    hidden = jax.nn.sigmoid(found @ v["w1"] + v["b1"])
    return _cost(hidden @ v["w2"] + v["b2"], fed["y"])


def _lstm(v: Values, fed: Values) -> Any:
    def cell(state: Any, projected: Any) -> Any:
        before, c = state
        take, keep, new, show = jnp.split(projected + before @ v["wh"], 4, axis=1)
        c = jax.nn.sigmoid(keep) * c + jax.nn.sigmoid(take) * jnp.tanh(new)
        return (jax.nn.sigmoid(show) * jnp.tanh(c), c), None

    x = fed["x"]
    projected = x @ v["wx"] + v["gb"]
    zeros = jnp.zeros((x.shape[1], v["wh"].shape[0]), x.dtype)
    (last, _), _ = lax.scan(cell, (zeros, zeros), projected)
    return _cost(last @ v["w1"] + v["b1"], fed["y"])


def _resnet(v: Values, fed: Values) -> Any:
    seen = {}

    def normed(x: Any, key: str) -> Any:
        weight = v[key]
        stride = 2 if key in ("two_a", "three_a") or key.endswith("short") else 1
        x = _convolved(x, weight, stride, weight.shape[2] // 2)
        mean, variance = jnp.mean(x, (0, 2, 3)), jnp.var(x, (0, 2, 3))
        seen[f"{key}_mean"], seen[f"{key}_variance"] = mean, variance
        factor = v[f"{key}_scale"] / jnp.sqrt(variance + 1e-5)
        return (x - mean[:, None, None]) * factor[:, None, None] + v[f"{key}_shift"][:, None, None]

    hidden = jax.nn.relu(normed(fed["x"], "stem"))
    for block in ("one", "two", "three"):
        inner = normed(jax.nn.relu(normed(hidden, f"{block}_a")), f"{block}_b")
        short = normed(hidden, f"{block}_short") if f"{block}_short" in v else hidden
        hidden = jax.nn.relu(inner + short)
    return _cost(jnp.mean(hidden, (2, 3)) @ v["w1"] + v["b1"], fed["y"]), seen


def _encoder(v: Values, fed: Values, heads: int, act: Any, first: bool) -> Any:
    def normed(x: Any, key: str) -> Any:
        mean = jnp.mean(x, 2, keepdims=True)
        x = (x - mean) / jnp.sqrt(jnp.var(x, 2, keepdims=True) + 1e-5)
        return x * v[f"{key}_scale"] + v[f"{key}_shift"]

    def attention(x: Any) -> Any:
        n, t, w = x.shape
        q, k, u = (
            (x @ v[f"w{key}"] + v.get(f"b{key}", 0.0)).reshape(n, t, heads, -1).swapaxes(1, 2)
            for key in "qkv"
        )
        weights = jax.nn.softmax(q @ k.swapaxes(2, 3) * (w // heads) ** -0.5)
        return (weights @ u).swapaxes(1, 2).reshape(n, t, w) @ v["wo"] + v["bo"]

    def mlp(x: Any) -> Any:
        return act(x @ v["w1"] + v["b1"]) @ v["w2"] + v["b2"]

    x = fed["x"]
    if first:
        x = x + attention(normed(x, "n1"))
        x = x + mlp(normed(x, "n2"))
    else:
        x = normed(x + attention(x), "n1")
        x = normed(x + mlp(x), "n2")
    return _cost(jnp.mean(x, 1) @ v["w3"] + v["b3"], fed["y"])


def _transformer(v: Values, fed: Values, heads: int) -> Any:
    return _encoder(v, fed, heads, jax.nn.relu, False)


def _gpt_block(v: Values, fed: Values, heads: int) -> Any:
    return _encoder(v, fed, heads, lambda x: jax.nn.gelu(x, approximate=False), True)


def _mobilenet_block(v: Values, fed: Values) -> Any:
    seen = {}

    def normed(x: Any, key: str) -> Any:
        weight = v[key]
        size, groups = weight.shape[2], x.shape[1] // weight.shape[1]
        layout = ("NCHW", "OIHW", "NCHW")
        x = lax.conv_general_dilated(
            *(x, weight, (1, 1), [(size // 2, size // 2)] * 2),
            dimension_numbers=layout,
            feature_group_count=groups,
        )
        mean, variance = jnp.mean(x, (0, 2, 3)), jnp.var(x, (0, 2, 3))
        seen[f"{key}_mean"], seen[f"{key}_variance"] = mean, variance
        factor = v[f"{key}_scale"] / jnp.sqrt(variance + 1e-5)
        return (x - mean[:, None, None]) * factor[:, None, None] + v[f"{key}_shift"][:, None, None]

    x = fed["x"]
    for block in ("one", "two"):
        hidden = jax.nn.relu6(normed(x, f"{block}_up"))
        x = x + normed(jax.nn.relu6(normed(hidden, f"{block}_deep")), f"{block}_down")
    return _cost(jnp.mean(x, (2, 3)) @ v["w1"] + v["b1"], fed["y"]), seen


def describe() -> dict[str, Any]:
    """Version, threads and libraries."""
    # XLA has a pool of as many threads as there are processors, and does not tell
    threads = int(os.environ.get("NPROC") or len(os.sched_getaffinity(0)))
    return {"version": jax.__version__, "threads": threads, "kernels": "XLA, Eigen"}
