"""Functions that written files define where they need them.  They know NumPy alone, since their
source goes to the file as it stands here.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class SequenceRows(NamedTuple):
    """Rows, and the offsets at which sequences of them begin and end, of each level."""

    data: np.ndarray
    offsets: tuple = ()


def put(x: np.ndarray, index: Any, values: Any) -> np.ndarray:
    """A copy of ``x`` with other values at an index."""
    out = x.copy()
    out[index] = values
    return out


def put_sum(x: np.ndarray, index: Any, values: Any) -> np.ndarray:
    """A copy of ``x`` with values added at an index that names no place twice."""
    out = x.copy()
    out[index] += values
    return out


def rows_of(value: Any) -> np.ndarray:
    """The rows of sequences."""
    return value.data if isinstance(value, SequenceRows) else value


def with_item(array: list, index: int, value: np.ndarray) -> list:
    """A copy of a list with an element at an index; it grows as far as needed."""
    longer = array + [None] * (index + 1 - len(array))
    return [*longer[:index], value, *longer[index + 1 :]]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """The softmax along a dimension, no element less than e^-64 of the largest."""
    e = np.exp(np.maximum(x - x.max(axis=axis, keepdims=True), -64.0))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x), without overflow."""
    largest = {4: 88.7, 8: 709.7}[x.dtype.itemsize]
    return 1 / (1 + np.exp(np.minimum(-x, x.dtype.type(largest))))


def adam(
    param: np.ndarray,
    grad: np.ndarray,
    rate: np.ndarray,
    moments: tuple,
    powers: tuple,
    betas: tuple,
    epsilon: float,
    ahead: bool = False,
) -> tuple:
    """A step of Adam: the parameter, both moments, and the powers of both betas.

    With ``ahead`` the bias correction is that of the next step.
    """
    after = [power * beta for power, beta in zip(powers, betas)]
    one, other = moments
    one = betas[0] * one + (1 - betas[0]) * grad
    other = betas[1] * other + (1 - betas[1]) * grad * grad
    begin, end = after if ahead else powers
    rate = rate * np.sqrt(1 - end) / (1 - begin)
    step = rate.reshape((1,) * param.ndim) * (one / (np.sqrt(other) + epsilon))
    return param - step, one, other, *after


def momentum(
    param: np.ndarray,
    grad: np.ndarray,
    velocity: np.ndarray,
    rate: np.ndarray,
    mu: float,
    nesterov: bool = False,
) -> tuple:
    """A step with momentum: the parameter and the velocity."""
    velocity = mu * velocity + grad
    step = grad + mu * velocity if nesterov else velocity
    return param - rate.reshape((1,) * param.ndim) * step, velocity


def viterbi(emission: np.ndarray, transition: np.ndarray, offsets: tuple) -> np.ndarray:
    """The best chain of labels of each sequence of rows, one after the other.

    The first rows of ``transition`` are the scores of labels that begin and end a chain.
    """
    begin, end, steps = transition[0], transition[1], transition[2:]
    path = np.zeros((len(emission), 1), "int64")
    for first, last in itertools.pairwise(offsets):
        if first == last:
            continue
        score, back = begin + emission[first], []
        for row in emission[first + 1 : last]:
            each = score[:, None] + steps
            back.append(each.argmax(axis=0))
            score = each.max(axis=0) + row
        label = (score + end).argmax()
        path[last - 1] = label
        for k in range(last - 2, first - 1, -1):
            label = back[k - first][label]
            path[k] = label
    return path


def batch_norm(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    epsilon: float,
) -> np.ndarray:
    """Every channel of ``x`` [sample, channel, ...] less its mean, over its deviation, scaled."""
    along = (-1,) + (1,) * (x.ndim - 2)
    inverse = 1 / np.sqrt(variance + epsilon)
    normal = (x - mean.reshape(along)) * inverse.reshape(along)
    return normal * scale.reshape(along) + bias.reshape(along)


def expect(name: str, value: object, shape: tuple, dtype: str) -> np.ndarray:
    """What was fed, as an array.

    Raises:
        ValueError: it is not of the shape and the type that this file is written for.
    """
    array = np.asarray(value)
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, n) for n, wanted in zip(array.shape, shape)
    )
    if not fits or array.dtype != dtype:
        raise ValueError(
            f"expected {name} of shape {list(shape)} and type {dtype}, "
            f"got {list(array.shape)} and {array.dtype}"
        )
    return array


def expect_rows(name: str, value: object, lengths: list) -> object:
    """The rows of what was fed as a pair: rows, and by level the lengths of their sequences.

    Raises:
        ValueError: it is no such pair, or not of the lengths that this file is written for.
    """
    if not isinstance(value, tuple) or len(value) != 2:
        raise ValueError(
            f"expected {name} as a pair, (rows, {lengths}), got {type(value).__name__}"
        )
    rows, given = value
    levels = [np.asarray(level).tolist() for level in given]
    if levels != lengths:
        raise ValueError(
            f"expected {name} of sequences of lengths {lengths}, which this file is written for, "
            f"got {levels}"
        )
    return rows


def stream(*key: object) -> np.random.Generator:
    """Random numbers that depend on nothing but the key: those of Philox."""
    text = "/".join(map(str, key)).encode("utf-8", "surrogatepass")
    number = zlib.crc32(text, zlib.adler32(text)) & 0x7FFFFFFF or 1
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(number)))


def seeded(seed: int) -> np.random.Generator:
    """Random numbers of a seed: the same at every run."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed % 2**64)))


def patches(
    x: np.ndarray,
    kernel: tuple,
    strides: tuple,
    dilations: tuple,
) -> np.ndarray:
    """A view of the windows over images: [sample, channel, *position, *element]."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    steps = (*strides, *dilations)
    return view[(slice(None), slice(None), *(slice(None, None, s) for s in steps))]


def under(first: Sequence, counts: Sequence, strides: Sequence) -> tuple:
    """The index of images at some positions along the last dimensions."""
    each = zip(first, counts, strides)
    return (..., *(slice(k, k + (n - 1) * s + 1, s) for k, n, s in each))


def conv(
    x: np.ndarray,
    filters: np.ndarray,
    strides: tuple,
    pads: tuple,
    dilations: tuple,
    groups: int = 1,
) -> np.ndarray:
    """The convolution of images [n, c, *size] with filters [f, c / groups, *size]."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    view = patches(x, filters.shape[2:], strides, dilations)
    rank = len(strides)
    axes = [1, *range(rank + 2, 2 * rank + 2)], list(range(1, rank + 2))
    parts = [
        np.tensordot(part, weights, axes)
        for part, weights in zip(np.split(view, groups, 1), np.split(filters, groups))
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def conv_images(
    g: np.ndarray,
    filters: np.ndarray,
    size: tuple,
    strides: tuple,
    pads: tuple,
    dilations: tuple,
    groups: int = 1,
) -> np.ndarray:
    """What the outputs of a convolution send back to images of this size."""
    padded = [n + sum(pad) for n, pad in zip(size[2:], pads)]
    out = np.zeros((*size[:2], *padded), g.dtype)
    parts = [
        np.tensordot(part, weights, ([1], [0]))
        for part, weights in zip(np.split(g, groups, 1), np.split(filters, groups))
    ]
    rank, positions = len(strides), g.shape[2:]
    sent = np.moveaxis(np.concatenate(parts, rank + 1), rank + 1, 1)
    for element in np.ndindex(*filters.shape[2:]):
        first = [k * d for k, d in zip(element, dilations)]
        out[under(first, positions, strides)] += sent[(..., *element)]
    return out[under([before for before, _ in pads], size[2:], (1,) * len(pads))]


def conv_filters(
    x: np.ndarray,
    g: np.ndarray,
    kernel: tuple,
    strides: tuple,
    pads: tuple,
    dilations: tuple,
    groups: int = 1,
) -> np.ndarray:
    """What the outputs of a convolution send back to filters of this size."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    view = patches(x, kernel, strides, dilations)
    view = view[(slice(None), slice(None), *(slice(n) for n in g.shape[2:]))]
    axes = [0, *range(2, len(strides) + 2)]
    parts = [
        np.tensordot(sent, part, (axes, axes))
        for part, sent in zip(np.split(view, groups, 1), np.split(g, groups, 1))
    ]
    return np.concatenate(parts)


def max_pool(x: np.ndarray, kernel: tuple, strides: tuple, pads: tuple) -> np.ndarray:
    """The largest element under each window over images."""
    x = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=-np.inf)
    view = patches(x, kernel, strides, (1,) * len(kernel))
    return view.max(axis=tuple(range(x.ndim, view.ndim)))


def max_pool_grad(
    x: np.ndarray,
    g: np.ndarray,
    kernel: tuple,
    strides: tuple,
    pads: tuple,
) -> np.ndarray:
    """What maxima under windows send back: each to the first that is as large."""
    padded = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=-np.inf)
    view = patches(padded, kernel, strides, (1,) * len(kernel))
    chosen = view.reshape(*view.shape[: x.ndim], -1).argmax(axis=-1)
    places = np.indices(chosen.shape)
    inner = np.unravel_index(chosen, kernel)
    for k, (along, stride) in enumerate(zip(inner, strides)):
        places[k + 2] = places[k + 2] * stride + along
    out = np.zeros_like(padded)
    np.add.at(out, tuple(places), g)
    return out[under([before for before, _ in pads], x.shape[2:], (1,) * len(pads))]


def pool_counts(size: tuple, kernel: tuple, strides: tuple, pads: tuple) -> np.ndarray:
    """How many elements of an image lie under each window."""
    ones = np.pad(np.ones((1, 1, *size), "float32"), ((0, 0), (0, 0), *pads))
    view = patches(ones, kernel, strides, (1,) * len(kernel))
    return view.sum(axis=tuple(range(ones.ndim, view.ndim)))


def average_pool(
    x: np.ndarray,
    kernel: tuple,
    strides: tuple,
    pads: tuple,
    exclusive: bool,
) -> np.ndarray:
    """The average under each window; an exclusive one counts no padding."""
    padded = np.pad(x, ((0, 0), (0, 0), *pads))
    view = patches(padded, kernel, strides, (1,) * len(kernel))
    total = view.sum(axis=tuple(range(x.ndim, view.ndim)))
    if exclusive:
        return total / pool_counts(x.shape[2:], kernel, strides, pads).astype(x.dtype)
    return total / x.dtype.type(np.prod(kernel))


def average_pool_grad(
    g: np.ndarray,
    size: tuple,
    kernel: tuple,
    strides: tuple,
    pads: tuple,
    exclusive: bool,
) -> np.ndarray:
    """What averages under windows send back to images of this size."""
    if exclusive:
        g = g / pool_counts(size[2:], kernel, strides, pads).astype(g.dtype)
    else:
        g = g / g.dtype.type(np.prod(kernel))
    padded = [n + sum(pad) for n, pad in zip(size[2:], pads)]
    out = np.zeros((*size[:2], *padded), g.dtype)
    for element in np.ndindex(*kernel):
        out[under(element, g.shape[2:], strides)] += g
    return out[under([before for before, _ in pads], size[2:], (1,) * len(pads))]
