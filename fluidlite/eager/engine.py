"""Differentiating what was recorded: ``backward`` and ``grad``."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import (
    ArgumentError,
    FluidError,
    GradientShapeError,
    RepeatedTensorError,
    UnreachableError,
    with_context,
)
from ..ground.docstrings import Family
from ..opdef.operand import Operand, Operands, appends
from .held_values import held, holding
from .mode import enable_grad
from .recorded_graphs import recorded_gradients
from .recorded_rules import RecordedPass
from .recording import TensorRecord, call_site, eager
from .sweep import BackwardPass, described, leading, node_of

#: gradients of operands, None for ones
Cotangents = Operand | Sequence[Operand | None] | None
_lock = threading.Lock()  #: held while the gradients of leaves change


def located(kind: type[FluidError], message: str) -> FluidError:
    """An error that says the line of the user's."""
    return with_context(kind(message), f"  called at {call_site()}")


def check_gradient_of(tensor: Any, value: Any) -> None:
    """Check what is to be the gradient of a tensor.

    Raises:
        ArgumentError: it is no tensor.
        GradientShapeError: it has another shape.
    """
    if not isinstance(value, TensorRecord):
        raise located(ArgumentError, f"expected a tensor or None as a gradient, got {value!r:.60}")
    if value.array.shape != tensor.array.shape:
        raise located(
            GradientShapeError,
            f"expected a gradient of shape {list(tensor.array.shape)} for {described(tensor)}, "
            f"got {list(value.array.shape)}",
        )


def seed_of(tensor: Any, given: Any, recording: bool) -> Any:
    """The cotangent that a sweep starts with at a tensor.

    Args:
        tensor: what is differentiated.
        given: its cotangent; None for ones.
        recording: whether to return it as a tensor.

    Raises:
        GradientShapeError: its shape is another.
    """
    if given is None:
        ones = np.ones(tensor.array.shape, tensor.array.dtype)
        return tensor.results(ones) if recording else ones
    if given.array.shape != tensor.array.shape:
        raise located(
            GradientShapeError,
            f"expected a gradient of shape {list(tensor.array.shape)} for "
            f"{described(tensor)}, got one of shape {list(given.array.shape)}",
        )
    dtype = tensor.array.dtype
    if recording:
        if given.array.dtype == dtype:
            return given
        return eager.cast(given, in_dtype=given.array.dtype, out_dtype=dtype)
    return numpy_.asarray(given.array).astype(dtype, copy=False)


def sweep_back(
    tensors: Sequence[Any],
    seeds: Sequence[Any],
    *,
    retain_graph: bool | None,
    create_graph: bool = False,
    inputs: Sequence[Any] | None = None,
) -> None:
    """Add the gradients of tensors to ``.grad`` of the leaves that they depend on.

    Args:
        tensors: what is differentiated; those that stop gradients are passed over.
        seeds: their cotangents, None for ones.
        retain_graph: keep the graph, so that this can be done again.
        create_graph: record the gradients, so that they can be differentiated.
        inputs: the tensors that get a gradient, and no others; all leaves when None.
    """
    starts = [(t.edge, seed_of(t, s, create_graph)) for t, s in zip(tensors, seeds) if not t.stop]
    if not starts:
        return
    wanted = frozenset(t.edge for t in inputs or () if t.edge is not None)
    follow = None if inputs is None else leading([e for e, _ in starts], wanted, frozenset())
    sweep = _backward_pass(create_graph, retain_graph, follow, wanted, results=tensors[0].results)
    _sweep(sweep, starts)
    if inputs is None:
        for leaf, gradient in sweep.leaves.items():
            leaf.receive(gradient, sweep, _lock)
        return
    for t in inputs:
        gradient = sweep.leaves.get(t) if t.origin is None else sweep.found.get(t.edge)
        if gradient is not None:
            t.receive(gradient, sweep, _lock)


def _backward_pass(create_graph: bool, retain_graph: bool | None, *ways: Any, **more: Any) -> Any:
    """A sweep that records what it does, or not."""
    release = not retain_graph and not create_graph  # a recorded gradient leads on into the graph
    return (RecordedPass if create_graph else BackwardPass)(create_graph, release, *ways, **more)


def _sweep(sweep: BackwardPass, starts: Sequence[tuple[Any, Any]]) -> None:
    if sweep.recording:
        with enable_grad():
            for edge, seed in starts:
                sweep.deliver(edge, seed)
            sweep.run()
        return
    with np.errstate(all="ignore"):
        for edge, seed in starts:
            sweep.deliver(edge, seed)
        sweep.run()


def gradients_of(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    seeds: Sequence[Any],
    *,
    retain_graph: bool,
    create_graph: bool,
    blocked: Iterable[Any] = (),
) -> list[Any]:
    """The gradients of outputs with respect to inputs, None for those that take no part.

    Args:
        outputs: what is differentiated; those that stop gradients are passed over.
        inputs: with respect to what.
        seeds: the cotangents of the outputs, None for ones.
        retain_graph: keep the graph.
        create_graph: record the gradients.
        blocked: tensors through which nothing flows.
    """
    stops = frozenset(t.edge for t in blocked if t.edge is not None)
    starts = [
        (t.edge, seed_of(t, s, create_graph))
        for t, s in zip(outputs, seeds)
        if not t.stop and t.edge not in stops
    ]
    wanted = frozenset(t.edge for t in inputs if t.edge is not None) - stops
    follow = leading([edge for edge, _ in starts], wanted, stops)
    starts = [(e, s) for e, s in starts if e in wanted or node_of(e) in follow]
    results = (outputs or inputs)[0].results
    flows = None
    if create_graph and not stops:
        ends = [t.edge for t in inputs if t.edge in wanted]
        flows = recorded_gradients(starts, follow, ends, results)
    if flows is None:
        sweep = _backward_pass(
            create_graph, retain_graph, follow, wanted, blocked=stops, results=results
        )
        _sweep(sweep, starts)
        flows = {**sweep.leaves, **sweep.found}
    gradients = []
    for t in inputs:
        gradient = flows.get(t.edge) if t.edge in wanted else None
        if gradient is not None and not isinstance(gradient, TensorRecord):
            gradient = t.results(gradient)
        gradients.append(gradient)
    return gradients


# -- paddle 2.x's functions ------------------------------------------------------------------------

#: functions that differentiate
GRADIENTS = Family(
    {
        "tensors": "what is differentiated: a tensor or a list of them, none twice.",
        "grad_tensors": "their cotangents in their shapes, None for ones.",
        "outputs": "a tensor or a list of them, none twice.",
        "inputs": "a tensor or a list of them, none twice.",
        "grad_outputs": "the cotangents of the outputs in their shapes, None for ones.",
        "retain_graph": "keep the graph, so that it can be differentiated again; None: if "
        "``create_graph``.",
        "create_graph": "record the gradients, so that they can be differentiated.",
        "only_inputs": "True; other gradients are never computed.",
        "allow_unused": "give None for an input that takes no part, instead of an error.",
        "no_grad_vars": "tensors through which nothing flows, as a tensor, a list or a set.",
        "backward_strategy": "accepted for old scripts.",
    },
    raises="ArgumentError: an argument is of another kind, or a list is of another length.\n"
    "GradientShapeError: a cotangent is of another shape.\n"
    "UnreachableError: an input takes no part.\n"
    "ReleasedError: the graph was released by an earlier call.",
)


@GRADIENTS
def backward(
    tensors: Operands,
    grad_tensors: Cotangents = None,
    retain_graph: bool | None = False,
    inputs: Operands | None = None,
) -> None:
    """Add the gradients of tensors to ``.grad`` of the leaves that they depend on.

    Args:
        retain_graph: keep the graph, so that this can be done again.
        inputs: the tensors that get a gradient, and no others; all leaves when None.

    Raises:
        ArgumentError: an argument is of another kind, or a list is of another length.
        GradientShapeError: a cotangent is of another shape.
        ReleasedError: the graph was released by an earlier call.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> fluid.autograd.backward([x * x, x * 3.0], [None, fluid.to_tensor([1.0, 10.0])])
    >>> x.grad.numpy()
    array([ 5., 34.], dtype=float32)
    """
    listed = tensors_in("tensors", tensors)
    distinct("tensors", listed)
    seeds = seeds_in("grad_tensors", grad_tensors, len(listed))
    check_bools(retain_graph=retain_graph)
    wanted = None if inputs is None else tensors_in("inputs", inputs)
    sweep_back(listed, seeds, retain_graph=retain_graph, inputs=wanted)


@GRADIENTS
def grad(
    outputs: Operands,
    inputs: Operands,
    grad_outputs: Cotangents = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Operands | Set[Operand] | None = None,
) -> list[Any]:
    """The gradients of outputs with respect to inputs; ``.grad`` of no tensor changes.

    Args:
        retain_graph: accepted: the graph can be differentiated again in any case, as in paddle 2.

    Returns:
        a list with a gradient for each input.

    >>> x = fluid.to_tensor(2.0, stop_gradient=False)
    >>> (slope,) = fluid.grad(x * x * x, x, create_graph=True)
    >>> float(slope), float(fluid.grad(slope, x)[0])
    (12.0, 12.0)
    """
    outs = tensors_in("outputs", outputs)
    distinct("outputs", outs)
    listed = listed_in(inputs)
    ins = tensors_in("inputs", listed)
    distinct("inputs", ins)
    seeds = seeds_in("grad_outputs", grad_outputs, len(outs))
    check_bools(create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused)
    if retain_graph is None:
        retain_graph = create_graph
    check_bools(retain_graph=retain_graph)
    if not only_inputs:
        raise located(ArgumentError, "only_inputs=False is not supported; leave it at True")
    blocked = _blocked(no_grad_vars)
    gradients = gradients_of(
        outs, ins, seeds, retain_graph=True, create_graph=create_graph, blocked=blocked
    )
    if not allow_unused:
        check_used(gradients, ins)
    if create_graph and None in seeds:  # the ones that it starts with do not stop gradients
        gradients = [
            each if each is None or not each.stop else _flowing(each) for each in gradients
        ]
    return [holding(*pair) for pair in zip(listed, gradients, strict=True)]


def _flowing(constant: Any) -> Any:
    """A gradient that depends on nothing, as a leaf that wants a gradient."""
    return constant.results(constant.array, None, False)


def _blocked(given: Any) -> list[Any]:
    several = isinstance(given, (set, frozenset, list, tuple))
    listed = list(given) if several else [] if given is None else [given]
    return tensors_in("no_grad_vars", listed) if listed else []


def check_used(found: Sequence[Any], inputs: Sequence[Any]) -> None:
    """Refuse inputs that take no part.

    Args:
        found: the gradients, None if there is none.
        inputs: with respect to what.

    Raises:
        UnreachableError: there is one.
    """
    for i, (gradient, tensor) in enumerate(zip(found, inputs)):
        if gradient is None:
            why = "it stops gradients"
            if not tensor.stop:
                why = "the outputs do not depend on it, or are gradients without create_graph=True"
            raise located(
                UnreachableError,
                f"inputs[{i}], {described(tensor)}, has no gradient: {why}; with "
                f"allow_unused=True its gradient is None",
            )


_OF_PROGRAMS = (
    "; in a program fluid.gradients finds gradients, and RecomputeOptimizer computes parts again"
)


def listed_in(given: Any) -> list[Any]:
    """What is given, or the elements of a list or an iterator."""
    return list(given) if isinstance(given, (list, tuple, Iterator)) else [given]


def tensors_in(what: str, given: Any) -> list[Any]:
    """A tensor, or some of them (as ``parameters()`` of a module gives), as a list.

    Raises:
        ArgumentError: something else, or nothing.
    """
    listed = [held(each) for each in listed_in(given)]
    for tensor in listed:
        if not isinstance(tensor, TensorRecord):
            advice = "" if appends([tensor]) is None else _OF_PROGRAMS
            raise located(
                ArgumentError,
                f"expected {what} to be a tensor or a list of tensors, got {tensor!r:.60} of "
                f"type {type(tensor).__name__}{advice}",
            )
    if not listed:
        raise located(ArgumentError, f"expected {what} to name at least one tensor, got none")
    return listed


def distinct(what: str, tensors: Sequence[Any]) -> None:
    """Refuse a tensor that is listed twice."""
    if len({id(t) for t in tensors}) < len(tensors):
        raise located(
            RepeatedTensorError, f"expected {what} to be different tensors, got one twice"
        )


def seeds_in(what: str, given: Any, count: int) -> list[Any]:
    """Cotangents, one for each of ``count`` tensors, None for ones.

    Raises:
        ArgumentError: there are more or less of them, or they are no tensors.
    """
    if given is None:
        return [None] * count
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    if not listed and isinstance(given, (list, tuple)):
        return [None] * count
    for cotangent in listed:
        if cotangent is not None and not isinstance(cotangent, TensorRecord):
            raise located(
                ArgumentError,
                f"expected {what} to be tensors or None, got {cotangent!r:.60} of type "
                f"{type(cotangent).__name__}; make it one first: fluidlite.to_tensor(...)",
            )
    if len(listed) != count:
        raise located(
            ArgumentError, f"expected {count} {what}, one for each tensor, got {len(listed)}"
        )
    return listed


def check_bools(**flags: Any) -> None:
    """Refuse flags that are no bools; ``retain_graph`` may be None, which means False."""
    for name, value in flags.items():
        if not isinstance(value, bool) and (value is not None or name != "retain_graph"):
            raise located(
                ArgumentError,
                f"expected {name} to be True or False, got {value!r:.60} of type "
                f"{type(value).__name__}",
            )
