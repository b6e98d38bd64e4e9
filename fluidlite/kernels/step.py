"""Steps of optimizers: blocks that stay in the cache, results into arrays that are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..opdef.fusion import MultiTensor, register_multi_tensor
from ..opdef.prepared import Prepared, Scratch, prepares
from ..opdef.spec import Spec, size_of
from . import threads
from .rows import sgd_on_rows

#: elements that are worked on at a time, at most; threads that work on smaller blocks wait for each
#: other, since only one at a time may call NumPy
BLOCK = 1 << 17
#: operations on elements from which on blocks are worked on by several threads; behind a product,
#: the threads of OpenBLAS are still busy with waiting for the next one
CUT_FROM = 1 << 22
SMALL = 1 << 12  #: elements up to which nothing is cut
LINE = 16  #: elements that blocks are made of, as many as a line of the cache holds


def _dense(*specs: Spec) -> bool:
    return all(s.kind is Kind.LOD_TENSOR and s.dtype.is_float and s.shape for s in specs)


def _cut(Param: Spec, calls: int) -> tuple[int, int]:
    """How many threads work on a parameter, and on how many elements at a time.

    Args:
        Param: what is updated.
        calls: how many operations are done on each element.
    """
    size = size_of(Param.shape)
    workers = threads.count() if size * calls >= CUT_FROM else 1
    rounds = -(-size // (BLOCK * workers))
    return workers, -(-size // (workers * rounds * LINE)) * LINE


def _each_block(
    cut: tuple[int, int], update: Callable[..., None], vectors: Sequence[Any], *more: Any
) -> None:
    """Call a function for each block.

    Args:
        cut: see :func:`_cut`.
        update: takes a block of each vector, and ``more``.
        vectors: of one length.
        more: what all blocks share.
    """
    workers, block = cut
    size = vectors[0].size
    if size <= block:
        update(*vectors, *more)
        return

    def part(k: int, _: int) -> None:
        where = slice(k * block, min(k * block + block, size))
        update(*[vector[where] for vector in vectors], *more)

    threads.each(part, -(-size // block), workers=workers)


def _rows(out: Any, count: int, like: Any) -> list[Any]:
    """Arrays to write to: those given, or new ones."""
    given = (out,) if count == 1 else out
    given = given if isinstance(given, tuple) else (None,) * count
    return [np.empty(like.shape, like.dtype) if each is None else each for each in given]


def _flat(*arrays: Any) -> list[Any] | None:
    """Arrays as vectors, without a copy; None where one lies otherwise."""
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    return None


@prepares("sgd")
def sgd(op: Any, Param: Spec, LearningRate: Spec, Grad: Spec) -> Prepared | None:
    """ParamOut = Param - LearningRate * Grad."""
    if not _dense(Param, Grad):
        return sgd_on_rows(Param, Grad)
    cut, is_small = _cut(Param, 2), size_of(Param.shape) <= SMALL

    def step(param: Any, rate: Any, grad: Any, out: Any = None) -> Any:
        rate = rate.reshape(())
        if is_small:
            out = np.multiply(grad, rate, out=out)
            return np.subtract(param, out, out=out)
        (new,) = _rows(out, 1, param)
        vectors = _flat(param, grad, new)
        if vectors is None:
            return np.subtract(param, rate * grad, out=new)
        _each_block(cut, _sgd_update, vectors, rate)
        return new

    return Prepared(step, out=True)


def _sgd_update(p: Any, g: Any, n: Any, rate: Any) -> None:
    np.multiply(g, rate, out=n)
    np.subtract(p, n, out=n)


@prepares("momentum")
def momentum(
    op: Any, Param: Spec, Grad: Spec, Velocity: Spec, LearningRate: Spec
) -> Prepared | None:
    """VelocityOut = mu * Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut."""
    if not _dense(Param, Grad, Velocity) or op.regularization_method:
        return None
    mu, nesterov = np.asarray(op.mu, Param.dtype.dtype), op.use_nesterov
    cut = _cut(Param, 5)

    def update(p: Any, g: Any, v: Any, n: Any, f: Any, rate: Any) -> None:
        np.multiply(v, mu, out=f)
        np.add(f, g, out=f)
        if nesterov:
            np.multiply(f, mu, out=n)
            np.add(g, n, out=n)
            np.multiply(n, rate, out=n)
        else:
            np.multiply(f, rate, out=n)
        np.subtract(p, n, out=n)

    def step(param: Any, grad: Any, velocity: Any, rate: Any, out: Any = None) -> Any:
        new, fast = _rows(out, 2, param)
        vectors = _flat(param, grad, velocity, new, fast)
        if vectors is None:
            vectors = [a.ravel() for a in (param, grad, velocity)]
            new, fast = np.empty(param.shape, param.dtype), np.empty(param.shape, param.dtype)
            vectors += [new.reshape(-1), fast.reshape(-1)]
        _each_block(cut, update, vectors, rate.reshape(()))
        return new, fast

    return Prepared(step, out=True)


def _adam_update(op: Any, dtype: Any) -> Callable[..., None]:
    """Adam's step on arrays of one shape: from parameters, gradients and both moments to new
    parameters and moments, with the corrections for the first steps in the rate.
    """
    beta1, beta2, usual = (np.asarray(n, dtype) for n in (op.beta1, op.beta2, op.epsilon))
    rest1, rest2 = 1 - beta1, 1 - beta2

    def update(
        p: Any, g: Any, a: Any, b: Any, n: Any, c: Any, d: Any, pace: Any, epsilon: Any = usual
    ) -> None:
        np.multiply(a, beta1, out=c)
        np.multiply(g, rest1, out=n)  # what the parameters become is room until then
        np.add(c, n, out=c)
        np.multiply(b, beta2, out=d)
        if op.corrects_first:
            np.multiply(g, g, out=n)
            np.multiply(n, rest2, out=n)
        else:
            np.multiply(g, rest2, out=n)  # first: the square alone may be infinite
            np.multiply(n, g, out=n)
        np.add(d, n, out=d)
        np.sqrt(d, out=n)
        np.add(n, epsilon, out=n)
        np.divide(c, n, out=n)
        np.multiply(n, pace, out=n)
        np.subtract(p, n, out=n)

    return update


@prepares("adam", "adam_v2")
def adam(op: Any, *specs: Any) -> Prepared | None:
    """Adam's step; see the operator."""
    Param, Grad, LearningRate, Moment1, Moment2, _, _, *more = specs
    if any(spec is not None for spec in more) or getattr(op, "use_global_beta_pow", False):
        return None
    if not _dense(Param, Grad, Moment1, Moment2) or Param.dtype != LearningRate.dtype:
        return None
    dtype = Param.dtype.dtype
    beta1, beta2 = np.asarray(op.beta1, dtype), np.asarray(op.beta2, dtype)
    update = _adam_update(op, dtype)
    cut, is_small = _cut(Param, 12), size_of(Param.shape) <= SMALL

    def step(param: Any, grad: Any, rate: Any, *state: Any, out: Any = None) -> Any:
        moment1, moment2, power1, power2, *_ = state
        given = out if isinstance(out, tuple) else (None,) * 5
        new, first, second = _rows(given[:3], 3, param)
        correction = np.sqrt(1 - power2)
        rates = [(rate * correction / (1 - power1)).reshape(())]
        if op.corrects_first:
            rates.append((op.epsilon * correction).reshape(()))
        if is_small:
            update(param, grad, moment1, moment2, new, first, second, *rates)
            return new, first, second, power1 * beta1, power2 * beta2
        vectors = _flat(param, grad, moment1, moment2, new, first, second)
        if vectors is None:
            vectors = [a.ravel() for a in (param, grad, moment1, moment2)]
            new, first, second = (np.empty(param.shape, param.dtype) for _ in range(3))
            vectors += [a.reshape(-1) for a in (new, first, second)]
        _each_block(cut, update, vectors, *rates)
        return new, first, second, power1 * beta1, power2 * beta2

    return Prepared(step, out=True)


def adam_of_many(op: Any, Params: Sequence[Spec]) -> Prepared:
    """Adam's step on several small parameters, put one after the other: to the same bits as one by
    one, in fewer calls.

    Args:
        op: the operator; its attributes are those of all of them.
        Params: of one element type.
    """
    dtype = Params[0].dtype.dtype
    stays = getattr(op, "use_global_beta_pow", False)
    factors = [np.asarray(1 if stays else beta, dtype) for beta in (op.beta1, op.beta2)]
    update = _adam_update(op, dtype)
    ends = np.cumsum([size_of(p.shape) for p in Params]).tolist()
    parts = [(slice(b, e), p.shape) for b, e, p in zip([0, *ends], ends, Params)]
    owner = np.repeat(np.arange(len(Params)), [size_of(p.shape) for p in Params])

    def run(
        params: list[Any],
        grads: list[Any],
        moments1: list[Any],
        moments2: list[Any],
        powers1: list[Any],
        powers2: list[Any],
        rate: Any,
        room: Any,
        out: Any = None,
    ) -> tuple[Any, ...]:
        read, news, paces = room[:4], room[4:7], room[7:]
        for values, row in zip((params, grads, moments1, moments2), read):
            np.concatenate([value.reshape(-1) for value in values], out=row)
        power1, power2 = np.concatenate(powers1), np.concatenate(powers2)
        correction = np.sqrt(1 - power2)
        of_each = rate * correction / (1 - power1), op.epsilon * correction
        for row, numbers in zip(paces, of_each):
            np.take(numbers, owner, out=row, mode="clip")
        update(*read, *news, *paces)
        results = []
        given = iter(out if isinstance(out, tuple) else ())
        for row in news:
            for where, shape in parts:
                new = next(given, None)
                new = np.empty(shape, dtype) if new is None else new
                new[...] = row[where].reshape(shape)
                results.append(new)
        for powers, factor in zip((powers1, powers2), factors):
            results += [power * factor for power in powers]
        return tuple(results)

    rows = 9 if op.corrects_first else 8
    return Prepared(run, out=True, scratch=Scratch((rows, ends[-1]), dtype))


_OF_EACH = ("Param", "Grad", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")


def _fits_adam_of_many(specs: Mapping[str, Spec]) -> bool:
    """Whether a step is one on a small parameter, with nothing unusual about it."""
    if set(specs) != {*_OF_EACH, "LearningRate"} or len({s.dtype for s in specs.values()}) > 1:
        return False
    shape = specs["Param"].shape
    return (
        _dense(*specs.values())
        and all(specs[slot].shape == shape for slot in _OF_EACH[:4])
        and all(specs[slot].shape == (1,) for slot in (*_OF_EACH[4:], "LearningRate"))
        and size_of(shape) <= SMALL
    )


for _type in ("adam", "adam_v2"):
    register_multi_tensor(
        _type,
        MultiTensor(
            _OF_EACH,
            ("LearningRate",),
            ("ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut"),
            _fits_adam_of_many,
            adam_of_many,
        ),
    )
