"""Programs for batches, compared with runs for one example after the other."""

import warnings

import numpy as np

import fluidlite as fluid
from fluidlite.transform import vmap

SIZE = 3  #: the number of examples


class BatchedCase:
    """A program of an operator and its gradient, and the one for a batch of examples.

    Args:
        case: the operator with its inputs.
        batched: the names of the inputs that are batched.
        size: as of ``vmap``.
    """

    def __init__(self, case, batched, size=None):
        self.one = case.program()
        self.fetched = self.one.all_outputs
        if case.differentiated and case.targets:
            cotangents = case.cotangents
            found = self.one.gradients(case.targets, case.variable, cotangents)
            self.fetched = [*self.fetched, *(g for g in found if g is not None)]
        self.batched = batched
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.made = vmap(self.one.program, batched, self.fetched, size)

    def feeds(self):
        """What each of several examples is fed."""
        for k in range(SIZE):
            feed = dict(self.one.feed)
            for name in self.batched:
                value = np.asarray(feed[name])
                feed[name] = value * (1 + 0.003 * k) if value.dtype.kind == "f" else value
            yield feed

    def difference(self):
        """The largest relative difference to runs for one example after the other, and where."""
        exe, feeds, scope = fluid.Executor(), list(self.feeds()), self.one.scope
        ones = [exe.run(self.one.program, feed, self.fetched, scope=scope) for feed in feeds]
        whole = {
            name: np.stack([feed[name] for feed in feeds]) if name in self.batched else value
            for name, value in feeds[0].items()
        }
        found = exe.run(self.made.program, whole, list(self.made.outputs), scope=scope)
        worst = 0.0, ""
        for k, (variable, got) in enumerate(zip(self.made.outputs, found, strict=True)):
            expected = np.stack([one[k] for one in ones])
            name = self.fetched[k].name
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype), name
            assert fits(variable.shape, got.shape), f"{name}: {variable.shape}, is {got.shape}"
            worst = max(worst, (distance(got, expected), name))
        return worst


def fits(declared, shape):
    """Whether a shape is one that was declared."""
    return len(declared) == len(shape) and all(m in (-1, n) for m, n in zip(declared, shape))


def distance(got, expected):
    """The largest relative difference of elements that are not the same; infinite for NaN."""
    wide = "complex128" if got.dtype.kind == "c" else "float64"
    got, expected = got.astype(wide), expected.astype(wide)
    differ = ~((got == expected) | (np.isnan(got) & np.isnan(expected)))
    if not differ.any():
        return 0.0
    with np.errstate(invalid="ignore"):
        error = np.abs(got - expected)[differ] / (1 + np.abs(expected[differ]))
    return float(np.nan_to_num(error, nan=np.inf).max())
