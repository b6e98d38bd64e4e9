"""One function on tensors and on variables of a program: results, and gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import fluidlite as fluid
from fluidlite import flow
from fluidlite.opdef.operand import Operand
from operands.calls import ARRAYS

#: by element type: how far results, and gradients, may lie apart
CLOSE = {"float32": (1e-5, 1e-4), "float64": (1e-12, 1e-9)}


def array(name, dtype):
    """The array of an operand in a text; fractions in an element type."""
    found = ARRAYS[name]
    return found.astype(dtype) if found.dtype.kind == "f" else found


def tensor(value):
    """A tensor of fluid's that wants a gradient where it can have one."""
    return fluid.to_tensor(value, stop_gradient=value.dtype.kind != "f")


def strict_tensor(value):
    """The same of OneFlow's spelling."""
    return flow.tensor(value, requires_grad=value.dtype.kind == "f")


class Names(dict):
    """The names in a text: operands are made of their arrays when they are first read.

    Args:
        make: makes an operand of a name and an array.
        dtype: the element type of fractions.
        more: what other names mean.
    """

    def __init__(self, make, dtype, **more):
        super().__init__(np=np, fluid=fluid, flow=flow, nn=fluid.nn, **more)
        self.make, self.dtype = make, dtype

    def __missing__(self, name):
        if name not in ARRAYS:
            raise KeyError(name)
        made = self[name] = self.make(name, array(name, self.dtype))
        return made

    def floats(self):
        """The names of operands that have gradients."""
        return sorted(k for k in self if k in ARRAYS and ARRAYS[k].dtype.kind == "f")


def leaves(value):
    """What is in lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def weighted(results, likes):
    """A number that depends on every element of results: what is differentiated.

    Args:
        results: operands.
        likes: tensors of their shapes.
    """
    total = None
    for k, (result, like) in enumerate(zip(results, likes)):
        if like.array.dtype.kind == "c":
            result, like = fluid.as_real(result), fluid.as_real(like)
        factors = np.cos(np.arange(like.array.size) + k).reshape(like.array.shape)
        part = fluid.sum(fluid.multiply(result, np.atleast_1d(factors.astype(like.array.dtype))))
        part = fluid.cast(part, "float64")
        total = part if total is None else fluid.add(total, part)
    return total


@dataclass
class AtOnce:
    """What a call gives on tensors, and the gradients of what it reads."""

    results: list[Any]
    gradients: dict[str, Any]

    @property
    def differentiable(self):
        """The numbers of the results that gradients flow through."""
        return [k for k, each in enumerate(self.results) if flows(each)]


def flows(value):
    """Whether gradients flow through a result."""
    return isinstance(value, Operand) and not value.stop and value.array.dtype.kind == "f"


def at_once(function, text, make, dtype):
    """Call a function on tensors.

    Args:
        function: takes what the text says.
        text: arguments.
        make: makes a tensor of an array.
        dtype: the element type of fractions.
    """
    names = Names(lambda _, value: make(value), dtype, f=function)
    results = leaves(eval(f"f({text})", names))
    found = AtOnce(results, {})
    chosen = [results[k] for k in found.differentiable]
    if chosen:
        weighted(chosen, chosen).backward()
    for name in names.floats():
        gradient = names[name].grad
        found.gradients[name] = None if gradient is None else gradient.numpy()
    return found


def variable_of(feed, unknown=0):
    """What makes a variable of a name and an array, which goes into a feed.

    Args:
        feed: name -> array.
        unknown: how many sizes, from the first on, are not declared; all when None.
    """

    def make(name, value):
        feed[name] = value
        shape = [None] * len(value.shape[:unknown]) + [*value.shape][len(value.shape[:unknown]) :]
        made = fluid.data(name, shape, str(value.dtype))
        made.stop_gradient = value.dtype.kind != "f"
        return made

    return make


def compare(function, text, make, dtype, unknown=0):
    """Check that a function gives the same on variables as on tensors, and its gradients do.

    Args:
        function, text, make, dtype: as of :func:`at_once`.
        unknown: as of :func:`variable_of`.
    """
    compare_with(at_once(function, text, make, dtype), function, text, dtype, unknown)


def compare_with(wanted, function, text, dtype, unknown=0):
    """The same, where it is known what the function gives on tensors.

    Args:
        wanted: that.
        function, text, dtype, unknown: as of :func:`compare`.
    """
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        feed = {}
        names = Names(variable_of(feed, unknown), dtype, f=function)
        outs = leaves(eval(f"f({text})", names))
        check_program(wanted, outs, names, feed, dtype)


def check_program(wanted, outs, names, feed, dtype):
    """Check what a program computes, and its gradients, against what was computed at once."""
    assert len(outs) == len(wanted.results)
    fetched = [k for k, each in enumerate(outs) if isinstance(each, fluid.Variable)]
    for k, (out, result) in enumerate(zip(outs, wanted.results)):
        assert isinstance(result, (Operand, type(out))) or k in fetched
        if k not in fetched:
            assert out == result
    reads = [k for k in wanted.gradients if k in names]
    chosen = wanted.differentiable
    gradients = []
    if chosen:
        total = weighted([outs[k] for k in chosen], [wanted.results[k] for k in chosen])
        gradients = fluid.gradients(total, [names[k] for k in reads])
    known = [g for g in gradients if g is not None]
    found = run([*[outs[k] for k in fetched], *known], feed)
    for k, value in zip(fetched, found):
        result = wanted.results[k]
        array = result.numpy() if isinstance(result, Operand) else np.asarray(result)
        same(value, array, CLOSE[dtype][0])
        assert all(m in (-1, n) for m, n in zip(outs[k].shape, value.shape, strict=True))
    rest = iter(found[len(fetched) :])
    for name, gradient in zip(reads, gradients):
        want = wanted.gradients[name]
        got = None if gradient is None else next(rest)
        if got is not None:
            same(got, np.zeros_like(got) if want is None else want, CLOSE[dtype][1])
        else:
            assert want is None or not np.any(want), f"there is no gradient of {name}"


def run(fetched, feed):
    """Run the current program."""
    if not fetched:
        return []
    return fluid.Executor().run(fluid.default_main_program(), feed=feed, fetch_list=fetched)


def same(found, wanted, close):
    """Check a value of a program against that of a tensor; few have empty shapes in programs."""
    assert found.shape in (wanted.shape, wanted.shape or (1,))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=close, atol=close / 10)


@dataclass(frozen=True)
class Spelling:
    """A table of functions.

    Args:
        functions: by name.
        calls: sample arguments by name, as texts.
        make: makes a tensor of an array.
        left_out: names that have no such test -> why.
    """

    functions: dict[str, Callable[..., Any]]
    calls: dict[str, Any]
    make: Callable[..., Any]
    left_out: dict[str, str]
