"""The fast kernels of chains of labels: forward and backward sums of all chains at once.

Sums of exponentials are kept of sum 1 in each row; the logarithms of what they were divided by are
added.  That loses nothing while no exponent can leave the range of the element type, which is known
before; elsewhere the sums are those of logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.annotations import Array, Arrays
from .time_order import state_before


class ChainSteps:
    """Sums over all chains of labels.

    Args:
        chains: which rows belong to which.
        emission: [rows, tags].
        transition: [tags + 2, tags].
    """

    def __init__(self, chains: Any, emission: Array, transition: Array):
        self.chains = chains
        self.order: Any = chains.order
        self.emission = emission
        self.transition = transition
        self.top: Array = emission.max(axis=1, keepdims=True, initial=-np.inf)
        self.shifted: Any = emission - self.top
        room = 0.9 * np.log(np.finfo(emission.dtype).max)
        reach = -self.shifted.min(initial=0.0)
        self.is_scaled: bool = bool(
            reach + np.ptp(transition) < room
        )  # never where it is not a number
        self.exps: Any = np.exp(self.shifted)
        self.most: Array | float = transition.max() if transition.size else 0.0
        self.weights: Any = np.exp(transition - self.most)
        self.alpha: Any = None

    def forward(self) -> None:
        """Forward sums, by steps in ``alpha``, and their logarithms' parts in ``logs``."""
        order, rows = self.order, self.chains.by_steps
        if not self.is_scaled:
            self._forward_of_logarithms()
            return
        alpha = self.alpha = np.take(self.exps, rows, axis=0)
        whole = np.empty((len(rows), 1), alpha.dtype)
        weights, product = self.weights[2:], np.empty((order.first, alpha.shape[1]), alpha.dtype)
        before = None
        for a, b in order.steps:
            now, part = alpha[a:b], product[: b - a]
            if before is None:
                now *= self.weights[0]
            else:
                np.matmul(before[: b - a], weights, out=part)
                now *= part
            np.add.reduce(now, axis=1, keepdims=True, out=whole[a:b])
            now /= whole[a:b]
            before = now
        self.logs = np.log(whole[:, 0]) + self.most

    def _forward_of_logarithms(self):
        x = self.shifted[self.chains.by_steps].astype(np.float64)
        w = self.transition.astype(np.float64)
        log_alpha, logs = np.empty_like(x), np.empty(len(x))
        before = None
        for a, b in self.order.steps:
            now = x[a:b] + (w[0] if before is None else _product(before[: b - a], w[2:]))
            logs[a:b] = _log_sum(now)
            before = log_alpha[a:b] = now - logs[a:b, None]
        self.log_alpha = log_alpha
        self.logs = logs
        self.alpha = np.exp(log_alpha).astype(self.emission.dtype)

    def log_sum(self):
        """The logarithm of the sum over all labels, for each chain; 0 for an empty one."""
        chains, order = self.chains, self.order
        offsets = np.asarray(chains.offsets)
        parts = np.take(self.logs, order.back).astype(np.float64)
        parts += self.top[chains.numbers, 0]
        log_sums = np.zeros(chains.count)
        filled = np.flatnonzero(np.diff(offsets))
        if len(filled):
            log_sums[filled] = np.add.reduceat(parts, offsets[filled])
            last = order.back[offsets[filled + 1] - 1]
            if self.is_scaled:
                log_sums[filled] += np.log(self.alpha[last] @ self.weights[1]) + self.most
            else:
                log_sums[filled] += _log_sum(self.log_alpha[last] + self.transition[1])
        return log_sums

    def score(self, labels: Array) -> Array:
        """What speaks for the given labels, for each chain."""
        chains = self.chains
        offsets = np.asarray(chains.offsets)
        scores = np.zeros(chains.count)
        filled = np.flatnonzero(np.diff(offsets))
        if len(filled):
            parts = self.emission[chains.numbers, labels].astype(np.float64)
            parts += self.transition[self._before(labels), labels]
            scores[filled] = np.add.reduceat(parts, offsets[filled])
            scores[filled] += self.transition[1, labels[offsets[filled + 1] - 1]]
        return scores

    def _before(self, labels):
        """Of each row, the row of Transition that leads to it."""
        before = np.concatenate([labels[:1], labels[:-1]]) + 2
        offsets = np.asarray(self.chains.offsets[:-1])
        before[offsets[offsets < len(labels)]] = 0
        return before

    def backward(self, labels: Array, flows: Array) -> Arrays:
        """The gradients of Emission and Transition.

        Args:
            labels: of the rows of the chains.
            flows: what flows to the cost of each chain.
        """
        chains, order = self.chains, self.order
        offsets = np.asarray(chains.offsets)
        number = np.repeat(np.arange(chains.count), np.diff(offsets))
        flow = flows[number][order.rows].astype(self.emission.dtype)[:, None]
        last = np.zeros(len(order.rows), bool)
        last[order.back[offsets[1:][np.diff(offsets) > 0] - 1]] = True
        sums = self._scaled_sums if self.is_scaled else self._sums_of_logarithms
        node, between = sums(last, flow)
        transition = np.empty_like(self.transition)
        transition[0] = node[: order.first].sum(axis=0)
        transition[1] = node[last].sum(axis=0)
        transition[2:] = between
        rows = flow[order.back, 0]
        np.subtract.at(transition, (self._before(labels), labels), rows)
        ends = offsets[1:][np.diff(offsets) > 0] - 1
        np.subtract.at(transition, (np.ones(len(ends), np.int64), labels[ends]), rows[ends])
        emission = np.zeros_like(self.emission)
        emission[chains.by_steps] = node
        emission[chains.numbers, labels] -= rows
        return emission, transition

    def _scaled_sums(self, last, flow):
        """How often each label occurs at each row, and each pair of labels, times ``flow``."""
        order, weights, alpha = self.order, self.weights, self.alpha
        beta = np.empty_like(alpha)
        behind = np.take(self.exps, self.chains.by_steps, axis=0)  # times beta: what a label leads
        part = np.empty((order.first, 1), alpha.dtype)
        after = 0
        for a, b in reversed(order.steps):
            now = beta[a:b]
            now[after:] = weights[1]
            if after:
                np.matmul(behind[b : b + after], weights[2:].T, out=now[:after])
            np.add.reduce(now, axis=1, keepdims=True, out=part[: b - a])
            now /= part[: b - a]
            behind[a:b] *= now
            after = b - a
        node = alpha * beta
        node *= flow / np.add.reduce(node, axis=1, keepdims=True)
        before = state_before(order, alpha, None)[order.first :]
        behind = behind[order.first :]
        whole = np.einsum("ij,ij->i", before @ weights[2:], behind)
        behind *= flow[order.first :] / whole[:, None]
        return node, (before.T @ behind) * weights[2:]

    def _sums_of_logarithms(self, last, flow):
        order, w = self.order, self.transition.astype(np.float64)
        x = self.shifted[self.chains.by_steps].astype(np.float64)
        alpha, beta, between = self.log_alpha, np.empty_like(x), np.zeros_like(w[2:])
        after, width = 0, flow.astype(np.float64)
        for a, b in reversed(order.steps):
            now = beta[a:b]
            now[after:] = w[1]
            if after:
                behind = x[b : b + after] + beta[b : b + after]
                now[:after] = _product(behind, w[2:].T)
                pairs = alpha[a : a + after, :, None] + w[2:] + behind[:, None]
                pairs -= _log_sum(pairs.reshape(after, -1))[:, None, None]
                between += np.einsum("nij,n->ij", np.exp(pairs), width[b : b + after, 0])
            now -= _log_sum(now)[:, None]
            after = b - a
        node = alpha + beta
        node = np.exp(node - _log_sum(node)[:, None]) * width
        return node.astype(self.emission.dtype), between


def viterbi(chains: Any, emission: Array, transition: Array) -> Array:
    """The best label of each row of the chains.

    Args:
        chains: which rows belong to which.
        emission: [rows, tags].
        transition: [tags + 2, tags].
    """
    order = chains.order
    score = emission[chains.by_steps]
    came = np.empty(score.shape, np.int64)
    to = np.ascontiguousarray(transition[2:].T)  # [to, from], to look along rows
    before = None
    for a, b in order.steps:
        now = score[a:b]
        if before is None:
            now += transition[0]
        else:
            ways = before[: b - a, None] + to
            ways.argmax(axis=2, out=came[a:b])
            now += ways.max(axis=2)
        before = now
    path = np.empty(len(score), np.int64)
    after = 0
    for a, b in reversed(order.steps):
        path[a + after : b] = (score[a + after : b] + transition[1]).argmax(axis=1)
        if after:
            path[a : a + after] = came[np.arange(b, b + after), path[b : b + after]]
        after = b - a
    return path[order.back]


def _product(rows, weights):
    """The matrix product of which these are logarithms."""
    ways = rows[:, :, None] + weights
    most = ways.max(axis=1)
    most[~np.isfinite(most)] = 0
    with np.errstate(divide="ignore"):
        return np.log(np.exp(ways - most[:, None]).sum(axis=1)) + most


def _log_sum(rows):
    """The logarithm of the sum of exp(x) of each row."""
    most = rows.max(axis=1, initial=-np.inf)
    most[~np.isfinite(most)] = 0
    with np.errstate(divide="ignore"):
        return np.log(np.exp(rows - most[:, None]).sum(axis=1)) + most
