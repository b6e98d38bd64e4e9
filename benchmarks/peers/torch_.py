"""The training steps on PyTorch, eagerly or through ``torch.compile``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from problems import Array, Problem, convolutions
from torch import Tensor
from torch.nn import functional


class Step:
    """Eager operators, gradients by ``backward``, and the fused optimizers of ``torch.optim``.

    Args:
        problem: what to train.
        compiled: the loss is a function that ``torch.compile`` gave.
    """

    def __init__(self, problem: Problem, compiled: bool = False) -> None:
        self._problem = problem
        self._loss: Any = globals()[f"_{problem.name}"]
        if compiled:  # which fails on the LSTM that torch has
            loss = _unrolled_lstm if problem.name == "lstm" else self._loss
            self._loss = torch.compile(loss)
        self._values: dict[str, Tensor] = {}
        self._more: dict[str, Any] = {}
        self._optimizer: Any = None

    def load(self, start: Mapping[str, Array]) -> None:
        problem = self._problem
        if not self._values:
            self._values = {
                name: torch.nn.Parameter(_laid_out(torch.tensor(value)))
                for name, value in start.items()
            }
        with torch.no_grad():
            for name, value in start.items():
                self._values[name].copy_(torch.from_numpy(value))
        self._more = _statistics(problem)
        found = list(self._values.values())
        if problem.name in ("fit_a_line", "word2vec"):
            self._optimizer = torch.optim.SGD(found, problem.rate, fused=True)
        elif problem.name in ("resnet", "mobilenet_block"):
            self._optimizer = torch.optim.SGD(found, problem.rate, momentum=0.9, fused=True)
        else:
            # here epsilon stands beside the corrected mean; this is its size in the first step
            epsilon = 1e-8 / (1 - 0.999) ** 0.5
            self._optimizer = torch.optim.Adam(found, problem.rate, eps=epsilon, fused=True)

    def step(self, feed: Mapping[str, Array]) -> float:
        fed = {name: _laid_out(torch.from_numpy(value)) for name, value in feed.items()}
        loss = self._loss(self._values, fed, self._more)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float(loss.detach())

    def parameters(self) -> dict[str, Array]:
        return {name: value.detach().numpy().copy() for name, value in self._values.items()}


def _laid_out(value: Tensor) -> Tensor:
    """Images and filters with their channels last, for which the steps are faster."""
    return value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value


def _statistics(problem: Problem) -> dict[str, Any]:
    """What is no parameter: running statistics, first states, and the second bias of an LSTM."""
    dtype = getattr(torch, problem.dtype)
    if problem.name == "lstm":
        n, h = problem.sizes["batch"], problem.sizes["hidden"]
        return {"zero": torch.zeros(1, n, h, dtype=dtype), "bias": torch.zeros(4 * h, dtype=dtype)}
    if "heads" in problem.sizes:
        return {"heads": problem.sizes["heads"]}
    found, normed = {}, {}
    if problem.name == "resnet":
        normed = {key: filters for key, (filters, *_) in convolutions(problem.sizes).items()}
    elif problem.name == "mobilenet_block":
        scales = (key for key in problem.start if key.endswith("_scale"))
        normed = {key.removesuffix("_scale"): len(problem.start[key]) for key in scales}
    for key, filters in normed.items():
        found[f"{key}_mean"] = torch.zeros(filters, dtype=dtype)
        found[f"{key}_variance"] = torch.ones(filters, dtype=dtype)
    return found


Values = Mapping[str, Tensor]


def _fit_a_line(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    return functional.mse_loss(torch.addmm(v["b"], fed["x"], v["w"]), fed["y"])


def _cost(scores: Tensor, label: Tensor) -> Tensor:
    return functional.cross_entropy(scores, label.reshape(-1))


def _mnist_mlp(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    hidden = torch.relu(torch.addmm(v["b1"], fed["x"], v["w1"]))
    hidden = torch.relu(torch.addmm(v["b2"], hidden, v["w2"]))
    return _cost(torch.addmm(v["b3"], hidden, v["w3"]), fed["y"])


def _lenet(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    hidden = functional.max_pool2d(functional.conv2d(fed["x"], v["c1"], v["cb1"]).relu(), 2)
    hidden = functional.max_pool2d(functional.conv2d(hidden, v["c2"], v["cb2"]).relu(), 2)
    return _cost(torch.addmm(v["b1"], hidden.flatten(1), v["w1"]), fed["y"])


def _word2vec(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    words = [fed[f"word{k}"] for k in range(len(fed) - 1)]
    found = functional.embedding(torch.cat(words, 1), v["table"]).flatten(1)
    hidden = torch.sigmoid(torch.addmm(v["b1"], found, v["w1"]))
    return _cost(torch.addmm(v["b2"], hidden, v["w2"]), fed["y"])


def _lstm(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    weights = [v["wx"].t(), v["wh"].t(), v["gb"], more["bias"]]
    state = (more["zero"], more["zero"])
    last = torch._VF.lstm(  # type: ignore[attr-defined]
        fed["x"], state, weights, True, 1, 0.0, True, False, False
    )[1][0]
    return _cost(torch.addmm(v["b1"], last, v["w1"]), fed["y"])


def _unrolled_lstm(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    before = cell = more["zero"][0]
    for projected in fed["x"] @ v["wx"] + v["gb"]:
        take, keep, new, show = torch.chunk(torch.addmm(projected, before, v["wh"]), 4, dim=1)
        cell = torch.sigmoid(keep) * cell + torch.sigmoid(take) * torch.tanh(new)
        before = torch.sigmoid(show) * torch.tanh(cell)
    return _cost(torch.addmm(v["b1"], before, v["w1"]), fed["y"])


def _resnet(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    def normed(x: Tensor, key: str) -> Tensor:
        weight = v[key]
        stride = 2 if key in ("two_a", "three_a") or key.endswith("short") else 1
        x = functional.conv2d(x, weight, stride=stride, padding=weight.shape[2] // 2)
        mean, variance = more[f"{key}_mean"], more[f"{key}_variance"]
        return functional.batch_norm(
            x, mean, variance, v[f"{key}_scale"], v[f"{key}_shift"], True, 0.1, 1e-5
        )

    hidden = normed(fed["x"], "stem").relu()
    for block in ("one", "two", "three"):
        inner = normed(normed(hidden, f"{block}_a").relu(), f"{block}_b")
        short = normed(hidden, f"{block}_short") if f"{block}_short" in v else hidden
        hidden = (inner + short).relu()
    return _cost(torch.addmm(v["b1"], hidden.mean((2, 3)), v["w1"]), fed["y"])


def _encoder(v: Values, fed: Values, heads: int, act: Any, first: bool) -> Tensor:
    def normed(x: Tensor, key: str) -> Tensor:
        return functional.layer_norm(x, x.shape[2:], v[f"{key}_scale"], v[f"{key}_shift"])

    def attention(x: Tensor) -> Tensor:
        n, t, w = x.shape
        q, k, u = (
            (x @ v[f"w{key}"] + v.get(f"b{key}", 0.0)).view(n, t, heads, -1).transpose(1, 2)
            for key in "qkv"
        )
        found = functional.scaled_dot_product_attention(q, k, u)
        return found.transpose(1, 2).reshape(n, t, w) @ v["wo"] + v["bo"]

    def mlp(x: Tensor) -> Tensor:
        return act(x @ v["w1"] + v["b1"]) @ v["w2"] + v["b2"]

    x = fed["x"]
    if first:
        x = x + attention(normed(x, "n1"))
        x = x + mlp(normed(x, "n2"))
    else:
        x = normed(x + attention(x), "n1")
        x = normed(x + mlp(x), "n2")
    return _cost(torch.addmm(v["b3"], x.mean(1), v["w3"]), fed["y"])


def _transformer(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    return _encoder(v, fed, more["heads"], torch.relu, False)


def _gpt_block(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    return _encoder(v, fed, more["heads"], functional.gelu, True)


def _mobilenet_block(v: Values, fed: Values, more: Mapping[str, Any]) -> Tensor:
    def normed(x: Tensor, key: str, groups: int = 1) -> Tensor:
        x = functional.conv2d(x, v[key], padding=v[key].shape[2] // 2, groups=groups)
        mean, variance = more[f"{key}_mean"], more[f"{key}_variance"]
        return functional.batch_norm(
            x, mean, variance, v[f"{key}_scale"], v[f"{key}_shift"], True, 0.1, 1e-5
        )

    x = fed["x"]
    for block in ("one", "two"):
        hidden = functional.relu6(normed(x, f"{block}_up"))
        hidden = functional.relu6(normed(hidden, f"{block}_deep", hidden.shape[1]))
        x = x + normed(hidden, f"{block}_down")
    return _cost(torch.addmm(v["b1"], x.mean((2, 3)), v["w1"]), fed["y"])


def describe() -> dict[str, Any]:
    """Version, threads and libraries."""
    return {
        "version": torch.__version__,
        "threads": torch.get_num_threads(),
        "kernels": "oneDNN, MKL" if torch.backends.mkl.is_available() else "oneDNN",
    }
