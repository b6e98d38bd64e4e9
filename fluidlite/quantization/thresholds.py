"""Which number the largest whole number stands for, by what a variable held in some runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..opdef.whole_numbers import largest

_BINS = 2048
_LEAST = 0.5  #: the share of bins below a threshold of paddle 2.6


def _histogram(values: Any) -> tuple[Any, float]:
    """Counts of numbers in bins between the least and the largest one, and the bins' width."""
    most = float(values.max(initial=0))
    counts, edges = np.histogram(values, _BINS, (float(values.min(initial=most)), most))
    return counts, float(edges[1] - edges[0])


def likely_scale(values: Any, steps: int = 255, least: float = 0.7) -> float:
    """A largest number for which rounded numbers are distributed as these are, by the divergence of
    Kullback and Leibler.

    Args:
        values: numbers that are not negative.
        steps: how many whole numbers there are.
        least: the share of bins of a histogram that lie below it at least.
    """
    return likely_threshold(*_histogram(values), steps, least)


def likely_threshold(counts: Any, width: float, steps: int, least: float) -> float:
    """The same of a histogram.

    Args:
        counts: of numbers in bins.
        width: of a bin.
        steps: how many whole numbers there are.
        least: the share of bins that lie below the threshold at least.
    """
    bins = len(counts)
    best, cut = np.inf, bins - 1
    for size in range(int((bins - 1) * least), bins):
        if counts[size - 1] == 0:
            continue
        kept = counts[:size].astype(np.float64)
        kept[-1] += counts[size:].sum()
        divergence = _divergence(kept, _coarse(counts[:size], kept, steps))
        if divergence < best:
            best, cut = divergence, size
    return (cut + 0.5) * width


def cal_kl_threshold(hist: Any, bin_width: float, bits: int) -> float:
    """A largest number for which rounded numbers are distributed as those of a histogram are, by
    the divergence of Kullback and Leibler.

    Args:
        hist: counts of absolute values in bins.
        bin_width: of a bin.
        bits: of whole numbers.

    >>> from fluidlite.paddle.static.quantization.cal_kl_threshold import cal_kl_threshold
    >>> cal_kl_threshold(np.exp(-np.arange(2048) / 300), 0.01, 8) < 20.48
    True
    """
    return likely_threshold(np.asarray(hist), bin_width, largest(bits), _LEAST)


def _coarse(counts: Any, kept: Any, steps: int) -> Any:
    """Counts, spread over the bins of few steps that are not empty."""
    starts = np.arange(steps) * (counts.size // steps)
    sums = np.add.reduceat(counts, starts)
    filled = np.add.reduceat(kept > 0, starts)
    means = sums / np.maximum(filled, 1)
    return np.repeat(means, np.diff(np.append(starts, counts.size))) * (kept > 0)


def _divergence(kept: Any, coarse: Any) -> float:
    """Of a distribution from another one."""
    there = kept > 0
    p, q = kept[there], coarse[there]
    if (q == 0).any():
        return float(np.inf)
    total = p.sum()
    return float((p * (np.log(q.sum() * p) - np.log(total * q))).sum() / total)


def counted_scale(values: Any, share: float) -> float:
    """The middle of the bin of a histogram up to which a share of numbers lies.

    Args:
        values: numbers that are not negative.
        share: of the numbers.
    """
    counts, width = _histogram(values)
    at = int(np.searchsorted(np.cumsum(counts) / max(values.size, 1), share))
    return (at + 0.5) * width


def _square_error(exact: Any, rounded: Any) -> float:
    return float(((exact - rounded) ** 2).mean())


def _moments_error(exact: Any, rounded: Any) -> float:
    """The difference of means, and that of spreads."""
    mean, spread = exact.mean() - rounded.mean(), exact.std() - rounded.std()
    return float(abs(mean) + abs(spread))


def best_scale(
    batches: Iterable[Any], error: Callable[[Any, Any], float], bits: int, is_signed: bool
) -> float:
    """The scale, of 30 to 98 hundredths of a batch's largest number, with the least error in its
    batch.

    Args:
        batches: what the variable held in each run.
        error: of rounded numbers.
        bits: of whole numbers.
        is_signed: whether numbers below 0 are rounded, too; if not, they become 0.
    """
    most = largest(bits)
    least, best = np.inf, 0.0
    for batch in batches:
        top = float(np.abs(batch).max(initial=0)) or 1e-8
        for part in np.arange(0.3, 0.99, 0.02):
            scale = float(part) * top
            if is_signed:
                whole = np.clip(np.round(batch / scale * most), -most - 1, most)
            else:
                whole = np.round(np.clip(batch, 0, scale) / scale * most)
            loss = error(batch, whole / most * scale)
            if loss <= least:
                least, best = loss, scale
    return best


def mean_scale(batches: Iterable[Any]) -> float:
    """The mean, over batches, of the mean of the largest numbers of their examples."""
    tops = [np.abs(b).reshape(len(b), -1).max(axis=1, initial=0).mean() for b in batches]
    return float(np.mean(tops))


def found_scale(
    algorithm: str, batches: Sequence[Any], share: float, bits: int, is_signed: bool
) -> float:
    """A scale by one of the algorithms of ``paddle.static.quantization``.

    Args:
        algorithm: one of ``ALGORITHMS``.
        batches: what the variable held in each run.
        share: of numbers that ``hist`` counts.
        bits, is_signed: of whole numbers that ``mse`` and ``emd`` try.
    """
    if algorithm in ("mse", "emd"):
        error = _square_error if algorithm == "mse" else _moments_error
        return best_scale(batches, error, bits, is_signed)
    if algorithm == "avg":
        return mean_scale(batches)
    values = np.abs(np.concatenate([np.ravel(batch) for batch in batches]))
    if algorithm == "KL":
        return likely_scale(values, largest(bits), _LEAST)
    return counted_scale(values, share) if algorithm == "hist" else float(values.max(initial=0))


ALGORITHMS = ["KL", "hist", "avg", "mse", "emd", "abs_max", "min_max"]
