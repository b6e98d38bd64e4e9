"""The fast kernel of connectionist temporal classification: sums over all ways to write texts into
rows, of all texts at once.

The backward sums are forward sums of the reversed texts over the reversed rows, so both are made in
one go.  They are logarithms less the largest of a row now and then, so that they keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.annotations import Array

_NEVER = -1e30  #: a logarithm of nearly nothing, with which one can still compute
_EVERY = 4  #: steps between two that the largest of their row is subtracted in


class CTCSteps:
    """Sums over all ways.

    Args:
        texts: the texts and their rows; at least one.
        scores: rows of scores.
        blank: the label that stands for none.
    """

    def __init__(self, texts: Any, scores: Array, blank: int):
        self.texts = texts
        self.blank = blank
        order, lengths = texts.order, texts.lengths
        shifted = np.take(scores, texts.rows, axis=0)
        n, labels = shifted.shape
        shifted -= shifted.max(axis=1, keepdims=True)
        self.probable: Any = np.exp(shifted)
        whole = np.add.reduce(self.probable, axis=1, keepdims=True)
        self.probable /= whole
        logs = np.empty((n, labels + 1), shifted.dtype)  # the last one is that of places not real
        logs[:, labels] = _NEVER
        np.subtract(shifted, np.log(whole), out=logs[:, :labels])
        places = np.where(texts.is_real(), texts.extended, labels)
        cells = np.repeat(places, lengths, axis=0)
        cells += (np.arange(n) * (labels + 1))[:, None]
        self.own = np.take(logs.reshape(-1), cells)
        # the row of each text that is as far from its end as this one from its begin
        ends = np.cumsum(lengths)
        self.mirror = np.repeat(2 * ends - lengths - 1, lengths) - np.arange(n)
        by_steps = order.rows
        both = np.empty((n, 2, places.shape[1]), logs.dtype)
        both[:, 0] = self.own[by_steps]
        both[:, 1] = self.own[self.mirror[by_steps], ::-1]
        skips = np.full((len(lengths), *both.shape[1:]), _NEVER, logs.dtype)
        begins = skips.copy()
        for k, each in enumerate((places, places[:, ::-1])):
            skipped = (each[:, 2:] != each[:, :-2]) & (each[:, 2:] != blank)
            skips[:, k, 2:][skipped] = 0
        begins[:, 0, :2] = 0
        begins[:, 1, ::-1][np.arange(places.shape[1]) >= texts.last[:, None] - 1] = 0
        self._go(both, skips[order.order], begins[order.order])

    def _go(self, own, skips, begins):
        """Forward sums, of texts and of reversed texts: ``sums`` [rows, 2, places], and what was
        subtracted from each row of the former.

        Args:
            own: of each place at each row, the logarithm of its label.
            skips: what is added where a place is skipped: nothing, or nearly never.
            begins: the same for the places to begin in.
        """
        order, width = self.texts.order, own.shape[2]
        sums = self.sums = np.empty_like(own)
        shifts = self.shifts = np.zeros((*own.shape[:2], 1), own.dtype)
        # the sums of the step before, behind two places that never count
        state = np.full((order.first, 2, width + 2), _NEVER, own.dtype)
        three = np.empty((3, order.first, 2, width), own.dtype)
        largest = np.empty((order.first, 2, width), own.dtype)
        for number, (a, b) in enumerate(order.steps):
            m = b - a
            now, most, terms = sums[a:b], largest[:m], three[:, :m]
            if not a:
                np.add(own[a:b], begins, out=now)
            else:
                before = state[:m]
                np.add(before[:, :, :-2], skips[:m], out=terms[0])
                terms[1] = before[:, :, 1:-1]
                terms[2] = before[:, :, 2:]
                np.maximum.reduce(terms, axis=0, out=most)
                terms -= most
                np.exp(terms, out=terms)
                np.add.reduce(terms, axis=0, out=now)
                np.log(now, out=now)
                most += own[a:b]
                now += most
            if number % _EVERY == 0:
                shift = np.maximum.reduce(now, axis=2, keepdims=True, out=shifts[a:b])
                now -= shift
            state[:m, :, 2:] = now

    def costs(self) -> Array:
        """The loss of each text."""
        texts, last = self.texts, self.texts.last
        ends = self.sums[texts.ends, 0]
        every = np.arange(len(last))
        one = ends[every, last]
        other = np.where(last > 0, ends[every, np.maximum(last - 1, 0)], _NEVER)
        parts = self.shifts[texts.order.back, 0, 0].astype(np.float64)
        begins = np.cumsum(texts.lengths) - texts.lengths
        return -(np.logaddexp(one, other) + np.add.reduceat(parts, begins))

    def gradient(self) -> Array:
        """The gradient of the scores of each row."""
        texts, by_steps = self.texts, self.texts.order.back
        occupied = self.sums[by_steps[self.mirror], 1, ::-1]
        occupied -= self.own
        occupied += self.sums[by_steps, 0]
        occupied -= occupied.max(axis=1, keepdims=True)
        np.exp(occupied, out=occupied)
        occupied /= np.add.reduce(occupied, axis=1, keepdims=True)
        gradient = self.probable
        n, labels = gradient.shape
        gradient[:, self.blank] -= np.add.reduce(occupied[:, ::2], axis=1)
        cells = np.repeat(texts.extended[:, 1::2], texts.lengths, axis=0)
        cells += (np.arange(n) * labels)[:, None]
        parts = occupied[:, 1::2].reshape(-1)
        gradient -= np.bincount(cells.reshape(-1), parts, n * labels).reshape(n, labels)
        return gradient
