"""Steps of optimizers: blocks that stay in the cache, results into arrays that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import Prepared, Scratch, prepares
from ..opdef.spec import Spec, size_of
from . import threads
from .rows import sgd_on_rows

#: elements that are worked on at a time, at most; threads that work on smaller blocks wait for each
#: other, since only one at a time may call NumPy
BLOCK = 1 << 17
#: operations on elements from which on blocks are worked on by several threads
CUT_FROM = 1 << 20
SMALL = 1 << 12  #: elements up to which nothing is cut
LINE = 16  #: elements that blocks are made of, as many as a line of the cache holds


def _dense(*specs: Spec) -> bool:
    return all(s.kind is Kind.LOD_TENSOR and s.dtype.is_float and s.shape for s in specs)


def _scratch(Param: Spec, calls: int) -> Scratch:
    """Makes room for a block of each thread.

    Args:
        Param: what is updated.
        calls: how many operations are done on each element.
    """
    size = size_of(Param.shape)
    workers = threads.count() if size * calls >= CUT_FROM else 1
    rounds = -(-size // (BLOCK * workers))
    block = -(-size // (workers * rounds * LINE)) * LINE
    return Scratch((workers, block), Param.dtype.dtype)


def _each_block(size: int, scratch: Any, update: Callable[[slice, Any], None]) -> None:
    """Call a function for each block: with where it is, and room of its size."""

    workers, block = scratch.shape

    def part(k: int, worker: int) -> None:
        begin, end = k * block, min(k * block + block, size)
        update(slice(begin, end), scratch[worker, : end - begin])

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
    if size_of(Param.shape) <= BLOCK:

        def at_once(param: Any, rate: Any, grad: Any, scratch: Any, out: Any = None) -> Any:
            moved = np.multiply(grad, rate.reshape(()), out=scratch)
            return np.subtract(param, moved, out=out)

        return Prepared(at_once, out=True, scratch=Scratch(Param.shape, Param.dtype.dtype))

    def step(param: Any, rate: Any, grad: Any, scratch: Any, out: Any = None) -> Any:
        (new,) = _rows(out, 1, param)
        vectors = _flat(param, grad, new)
        if vectors is None:
            return np.subtract(param, rate.reshape(()) * grad, out=new)
        rate = rate.reshape(())
        p, g, n = vectors

        def update(part: slice, moved: Any) -> None:
            np.multiply(g[part], rate, out=moved)
            np.subtract(p[part], moved, out=n[part])

        _each_block(p.size, scratch, update)
        return new

    return Prepared(step, out=True, scratch=_scratch(Param, 2))


@prepares("momentum")
def momentum(
    op: Any, Param: Spec, Grad: Spec, Velocity: Spec, LearningRate: Spec
) -> Prepared | None:
    """VelocityOut = mu * Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut."""
    if not _dense(Param, Grad, Velocity):
        return None
    mu, nesterov = np.asarray(op.mu, Param.dtype.dtype), op.use_nesterov

    def step(param: Any, grad: Any, velocity: Any, rate: Any, scratch: Any, out: Any = None) -> Any:
        new, fast = _rows(out, 2, param)
        vectors = _flat(param, grad, velocity, new, fast)
        if vectors is None:
            vectors = [a.ravel() for a in (param, grad, velocity)]
            new, fast = np.empty(param.shape, param.dtype), np.empty(param.shape, param.dtype)
            vectors += [new.reshape(-1), fast.reshape(-1)]
        rate = rate.reshape(())
        p, g, v, n, f = vectors

        def update(part: slice, moved: Any) -> None:
            np.multiply(v[part], mu, out=f[part])
            np.add(f[part], g[part], out=f[part])
            if nesterov:
                np.multiply(f[part], mu, out=moved)
                np.add(g[part], moved, out=moved)
                np.multiply(moved, rate, out=moved)
            else:
                np.multiply(f[part], rate, out=moved)
            np.subtract(p[part], moved, out=n[part])

        _each_block(p.size, scratch, update)
        return new, fast

    return Prepared(step, out=True, scratch=_scratch(Param, 5))


def _adam_update(op: Any, dtype: Any) -> Callable[..., None]:
    """Adam's step on arrays of one shape: from parameters, gradients and both moments to new
    parameters and moments, with room, and a rate with the corrections for the first steps in it.
    """
    beta1, beta2, rest1, rest2, epsilon = (
        np.asarray(n, dtype) for n in (op.beta1, op.beta2, 1 - op.beta1, 1 - op.beta2, op.epsilon)
    )

    def update(p: Any, g: Any, a: Any, b: Any, n: Any, c: Any, d: Any, t: Any, pace: Any) -> None:
        np.multiply(a, beta1, out=c)
        np.multiply(g, rest1, out=t)
        np.add(c, t, out=c)
        np.multiply(b, beta2, out=d)
        np.multiply(g, g, out=t)
        np.multiply(t, rest2, out=t)
        np.add(d, t, out=d)
        np.sqrt(d, out=t)
        np.add(t, epsilon, out=t)
        np.divide(c, t, out=t)
        np.multiply(t, pace, out=t)
        np.subtract(p, t, out=n)

    return update


@prepares("adam")
def adam(op: Any, *specs: Any) -> Prepared | None:
    """Adam's step; see the operator."""
    Param, Grad, LearningRate, Moment1, Moment2, _, _, Beta1Tensor, Beta2Tensor = specs
    if Beta1Tensor is not None or Beta2Tensor is not None:
        return None
    if not _dense(Param, Grad, Moment1, Moment2) or Param.dtype != LearningRate.dtype:
        return None
    dtype = Param.dtype.dtype
    beta1, beta2 = np.asarray(op.beta1, dtype), np.asarray(op.beta2, dtype)
    update = _adam_update(op, dtype)
    is_small = size_of(Param.shape) <= SMALL

    def step(
        param: Any,
        grad: Any,
        rate: Any,
        moment1: Any,
        moment2: Any,
        power1: Any,
        power2: Any,
        _: Any,
        __: Any,
        scratch: Any,
        out: Any = None,
    ) -> Any:
        given = out if isinstance(out, tuple) else (None,) * 5
        new, first, second = _rows(given[:3], 3, param)
        pace = (rate * np.sqrt(1 - power2) / (1 - power1)).reshape(())
        if is_small:
            update(param, grad, moment1, moment2, new, first, second, scratch, pace)
            return new, first, second, power1 * beta1, power2 * beta2
        vectors = _flat(param, grad, moment1, moment2, new, first, second)
        if vectors is None:
            vectors = [a.ravel() for a in (param, grad, moment1, moment2)]
            new, first, second = (np.empty(param.shape, param.dtype) for _ in range(3))
            vectors += [a.reshape(-1) for a in (new, first, second)]

        def part(where: slice, room: Any) -> None:
            p, g, a, b, n, c, d = [vector[where] for vector in vectors]
            update(p, g, a, b, n, c, d, room, pace)

        _each_block(vectors[0].size, scratch, part)
        return new, first, second, power1 * beta1, power2 * beta2

    if is_small:
        return Prepared(step, out=True, scratch=Scratch(Param.shape, dtype))
    return Prepared(step, out=True, scratch=_scratch(Param, 12))


def adam_of_many(op: Any, Params: Sequence[Spec]) -> Prepared:
    """Adam's step on several small parameters, put one behind the other: to the same bits as one by
    one, in fewer calls.

    Args:
        op: the operator; its attributes are those of all of them.
        Params: of one element type.
    """
    dtype = Params[0].dtype.dtype
    beta1, beta2 = np.asarray(op.beta1, dtype), np.asarray(op.beta2, dtype)
    update = _adam_update(op, dtype)
    ends = np.cumsum([size_of(p.shape) for p in Params]).tolist()
    parts = [(slice(b, e), p.shape) for b, e, p in zip([0, *ends], ends, Params)]
    owner = np.repeat(np.arange(len(Params)), [size_of(p.shape) for p in Params])

    def run(
        params: list[Any],
        grads: list[Any],
        rate: Any,
        moments1: list[Any],
        moments2: list[Any],
        powers1: list[Any],
        powers2: list[Any],
        room: Any,
        out: Any = None,
    ) -> tuple[Any, ...]:
        for values, row in zip((params, grads, moments1, moments2), room):
            np.concatenate([value.reshape(-1) for value in values], out=row)
        power1, power2 = np.concatenate(powers1), np.concatenate(powers2)
        pace = rate * np.sqrt(1 - power2) / (1 - power1)
        np.take(pace, owner, out=room[8], mode="clip")
        update(*room)
        made = []
        given = iter(out if isinstance(out, tuple) else ())
        for row in room[4:7]:
            for where, shape in parts:
                new = next(given, None)
                new = np.empty(shape, dtype) if new is None else new
                new[...] = row[where].reshape(shape)
                made.append(new)
        for powers, beta in ((powers1, beta1), (powers2, beta2)):
            made += [power * beta for power in powers]
        return tuple(made)

    return Prepared(run, out=True, scratch=Scratch((9, ends[-1]), dtype))
