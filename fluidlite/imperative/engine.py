"""Pulling cotangents back through what was recorded: ``backward`` and ``grad``.

The youngest node comes first, so that all that flows into a node has arrived when it is reached.
Nothing here recurses.  Without ``create_graph`` gradient rules run on bare arrays; with it they run
on eager tensors, and are recorded like any other operators: every order of derivative follows.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import (
    ArgumentError,
    FluidError,
    GradientShapeError,
    NonFiniteError,
    OverwrittenError,
    ReleasedError,
    UnreachableError,
    with_context,
)
from .kernels import kernels
from .mode import enable_grad, thread
from .recording import Handle, Node, Overwritten, Port, call_site, eager
from .reverse import Form, Reverse

_lock = threading.Lock()  #: held while the gradients of leaves change
_ndarray = np.ndarray


def node_of(edge: Any) -> Node | None:
    """The node that an edge leads to; None for leaves."""
    return edge if type(edge) is Node else edge.node if type(edge) is Port else None


def described(tensor: Any) -> str:
    """A tensor in words: its name where it has one, its type and shape."""
    name = getattr(tensor, "given_name", None)
    form = f"{tensor.array.dtype}{list(tensor.array.shape)}"
    return f"tensor {name!r} ({form})" if name else f"a tensor of type {form}"


def located(error: FluidError) -> FluidError:
    """An error with the line of the user's that it belongs to."""
    return with_context(error, f"  called at {call_site()}")


class Sweep:
    """One sweep of cotangents through a graph.

    Args:
        recording: run the gradient rules on eager tensors, so that they are recorded.
        release: let go of the graph on the way.
        follow: the nodes through which cotangents may flow; all when None.
        wanted: edges whose cotangents are to be found.
        results: the class of tensors that are made.
    """

    def __init__(
        self,
        recording: bool,
        release: bool,
        follow: set[Node] | None = None,
        wanted: frozenset[Any] = frozenset(),
        blocked: frozenset[Any] = frozenset(),
        results: type[Handle] = Handle,
    ) -> None:
        self.recording = recording
        self.release = release
        self.follow = follow
        self.wanted = wanted
        self.blocked = blocked
        self.results = results
        self.pending: dict[Node, Any] = {}
        self.leaves: dict[Handle, Any] = {}
        self.found: dict[Any, Any] = {}
        self.heap: list[tuple[int, Node]] = []

    def deliver(self, edge: Any, cotangent: Any) -> None:
        """Add a cotangent to those of an edge."""
        kind = type(edge)
        pending = self.pending
        if kind is Node:
            old = pending.get(edge)
            if old is None:
                pending[edge] = cotangent
                heapq.heappush(self.heap, (-edge.count, edge))
            else:
                pending[edge] = self.sum(old, cotangent)
        elif kind is Port:
            node, index = edge.node, edge.index
            several = pending.get(node)
            if several is None:
                several = pending[node] = {}
                heapq.heappush(self.heap, (-node.count, node))
            old = several.get(index)
            several[index] = cotangent if old is None else self.sum(old, cotangent)
        else:
            old = self.leaves.get(edge)
            self.leaves[edge] = cotangent if old is None else self.sum(old, cotangent)

    def sum(self, a: Any, b: Any) -> Any:
        """The sum of two cotangents."""
        if self.recording:
            return eager.elementwise_add(a, b)
        return numpy_.asarray(a + b)

    def run(self) -> None:
        """Let everything that was delivered flow as far as it goes."""
        heap, pending, release = self.heap, self.pending, self.release
        anomaly = thread.anomaly
        selective = self.follow is not None or self.blocked
        while heap:
            node = heapq.heappop(heap)[1]
            cotangent = pending.pop(node)
            if node.hooks is not None:
                cotangent = self.hooked(node, cotangent)
            if self.wanted:
                self.note(node, cotangent)
            edges = node.edges
            if edges is None:
                if self.follow is not None and node not in self.follow:
                    continue
                raise _released(node)
            take = None
            if selective:
                take = tuple([self.takes(edge) for edge in edges])
                if True not in take:
                    continue
            pairs = self.pull(node, cotangent, take)
            if release:
                node.release()
            for place, flow in pairs:
                edge = edges[place]
                if type(edge) is tuple:
                    for each, part in zip(edge, flow):
                        if part is not None and self.takes(each):
                            self.deliver(each, self.settled(part))
                    continue
                if type(flow) is not _ndarray:
                    flow = self.settled(flow)
                if anomaly:
                    _check_finite(node, flow)
                if type(edge) is Node and edge not in pending:
                    pending[edge] = flow
                    heapq.heappush(heap, (-edge.count, edge))
                else:
                    self.deliver(edge, flow)

    def settled(self, flow: Any) -> Any:
        """What a rule gave, as an array, or a tensor where the sweep is recorded."""
        if not self.recording:
            return flow.array if isinstance(flow, Handle) else numpy_.asarray(flow)
        return flow if isinstance(flow, Handle) else self.results(numpy_.asarray(flow))

    def takes(self, edge: Any) -> bool:
        """Whether a cotangent flows along an edge, or along one of those of a list."""
        if edge is None:
            return False
        if type(edge) is tuple:
            return any([self.takes(each) for each in edge])
        if edge in self.blocked:
            return False
        return self.follow is None or edge in self.wanted or node_of(edge) in self.follow

    def pull(self, node: Node, cotangent: Any, take: tuple[bool, ...] | None) -> Any:
        """Pairs of an input's place and its cotangent."""
        how = node.how
        if type(how) is not Reverse:
            return how.pull(self, node, cotangent, take)
        try:
            values = self.values(node)
            out = node.out
            if not how.single:
                cotangent = how.by_slot(cotangent)
                if out is not None and any(type(v) is Overwritten for v in out.values()):
                    raise _overwritten_output(node)
            elif type(out) is Overwritten:
                raise _overwritten_output(node)
            if self.recording:
                return how.gradients(eager, values, self.outputs(node), cotangent, take)
            return how.gradients(kernels, values, out, cotangent, take)
        except FluidError as error:
            where = f"  in the gradient of {node.type}, which was called at {node.site}"
            if where in str(error):
                raise
            raise with_context(error, where) from error.__cause__

    def values(self, node: Node) -> list[Any]:
        """The inputs that a rule reads."""
        values: list[Any] = []
        versions = node.versions
        for i, kept in enumerate(node.saved):
            if isinstance(kept, Handle):
                if kept.version != (0 if versions is None else versions[i]):
                    raise _overwritten(node, kept, kept.version)
                place = node.how.keeps[i][0]
                values.append(self.restored(kept, node.edges[place]))
            elif isinstance(kept, (list, tuple)) and not isinstance(kept, Form):
                place = node.how.keeps[i][0]
                edges = node.edges[place] or (None,) * len(kept)
                many = []
                for k, (t, edge) in enumerate(zip(kept, edges)):
                    if isinstance(t, Handle):
                        if t.version != (0 if versions is None else versions[i][k]):
                            raise _overwritten(node, t, t.version)
                        many.append(self.restored(t, edge))
                    else:
                        many.append(t)
                values.append(many)
            else:
                values.append(kept)
        return values

    def restored(self, tensor: Handle, edge: Any) -> Any:
        """A kept input as the rule gets it."""
        if not self.recording or edge is None:
            return tensor.array
        return tensor if edge is tensor else tensor.results(tensor.array, edge, False)

    def outputs(self, node: Node) -> Any:
        """The kept outputs of a node as tensors that gradients flow through."""
        how, out = node.how, node.out
        if out is None:
            return None
        if how.single:
            return self.results(out, node, False)
        made: dict[str, Any] = dict(out)
        for index, (slot, k) in enumerate(how.places):
            if slot in made and k is None and made[slot] is not None:
                made[slot] = self.results(made[slot], Port(node, index), False)
            elif slot in made and k is not None:
                made[slot] = list(made[slot])
                made[slot][k] = self.results(made[slot][k], Port(node, index), False)
        return made

    def hooked(self, node: Node, cotangent: Any) -> Any:
        """A cotangent after the hooks of its node."""
        for index, tensor_type, hook in list(node.hooks.values()):
            if isinstance(cotangent, dict):
                if cotangent.get(index) is not None:
                    cotangent[index] = self.called(hook, tensor_type, cotangent[index])
            else:
                cotangent = self.called(hook, tensor_type, cotangent)
        return cotangent

    def called(self, hook: Any, tensor_type: Any, cotangent: Any) -> Any:
        """A cotangent after one hook."""
        given = cotangent if self.recording else tensor_type(cotangent)
        answer = hook(given)
        if answer is None:
            return cotangent
        if not isinstance(answer, Handle):
            raise ArgumentError(
                f"expected a hook to return a tensor or None, got {answer!r:.60} of type "
                f"{type(answer).__name__}"
            )
        if answer.array.shape != given.array.shape:
            raise GradientShapeError(
                f"expected a hook to return a gradient of shape {list(given.array.shape)}, got "
                f"{list(answer.array.shape)}"
            )
        return answer if self.recording else answer.array

    def note(self, node: Node, cotangent: Any) -> None:
        """Remember the cotangents of wanted edges."""
        if isinstance(cotangent, dict):
            for edge in self.wanted:
                if type(edge) is Port and edge.node is node:
                    self.found[edge] = cotangent.get(edge.index)
        elif node in self.wanted:
            self.found[node] = cotangent


def _released(node: Node) -> ReleasedError:
    return ReleasedError(
        f"the graph through operator {node.type}, which was called at {node.site}, has been "
        f"released by an earlier backward or grad; keep it with retain_graph=True there"
    )


def _overwritten(node: Node, tensor: Handle, version: int) -> OverwrittenError:
    return OverwrittenError(
        f"the gradient of operator {node.type} needs {described(tensor)}, which has been written "
        f"in place since (it is at version {version}); work on a clone() of it instead"
    )


def _overwritten_output(node: Node) -> OverwrittenError:
    out = node.out
    marks = out.values() if isinstance(out, dict) else [out]
    site = next(mark.site for mark in marks if type(mark) is Overwritten)
    return OverwrittenError(
        f"the gradient of operator {node.type} needs its result, which has been written in place "
        f"at {site}; work on a clone() of it instead"
    )


def _check_finite(node: Node, flow: Any) -> None:
    values = flow.array if isinstance(flow, Handle) else flow
    if isinstance(values, _ndarray) and values.dtype.kind == "f" and np.isnan(values).any():
        raise NonFiniteError(
            f"the gradient of operator {node.type}, which was called at {node.site}, has values "
            f"that are no numbers"
        )


def leading(starts: Iterable[Any], wanted: frozenset[Any], blocked: frozenset[Any]) -> set[Node]:
    """The nodes from which a wanted edge is reached, not through blocked ones.

    Raises:
        ReleasedError: a part that may lead there has been released.
    """
    seen: set[Node] = set()
    stack = [node for edge in starts if (node := node_of(edge)) is not None]
    nodes: list[Node] = []
    leaves = any(node_of(edge) is None for edge in wanted)
    oldest = min((n.count for e in wanted if (n := node_of(e)) is not None), default=0)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        nodes.append(node)
        if node.edges is None:
            if leaves or node.count > oldest:
                raise _released(node)
            continue
        for edge in _edges(node):
            if edge not in blocked and (source := node_of(edge)) is not None:
                stack.append(source)
    nodes.sort(key=lambda node: node.count)
    found: set[Node] = set()
    for node in nodes:
        if node.edges is not None and any(
            edge not in blocked and (edge in wanted or node_of(edge) in found)
            for edge in _edges(node)
        ):
            found.add(node)
    return found


def _edges(node: Node) -> Iterable[Any]:
    for edge in node.edges:
        if type(edge) is tuple:
            yield from (each for each in edge if each is not None)
        elif edge is not None:
            yield edge


# -- seeds -------------------------------------------------------------------------------------------


def seed_of(tensor: Any, given: Any, recording: bool) -> Any:
    """The cotangent that a sweep starts with at a tensor.

    Args:
        tensor: what is differentiated.
        given: its cotangent; None for ones.
        recording: whether it is wanted as a tensor.

    Raises:
        GradientShapeError: its shape is another.
    """
    if given is None:
        ones = np.ones(tensor.array.shape, tensor.array.dtype)
        return tensor.results(ones) if recording else ones
    if given.array.shape != tensor.array.shape:
        raise located(
            GradientShapeError(
                f"expected a gradient of shape {list(tensor.array.shape)} for "
                f"{described(tensor)}, got one of shape {list(given.array.shape)}"
            )
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
    retain_graph: bool,
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
    starts = [
        (t.edge, seed_of(t, s, create_graph)) for t, s in zip(tensors, seeds) if not t.stop
    ]
    if not starts:
        return
    wanted = frozenset(t.edge for t in inputs or () if t.edge is not None)
    follow = None if inputs is None else leading([e for e, _ in starts], wanted, frozenset())
    release = not retain_graph and not create_graph
    sweep = Sweep(create_graph, release, follow, wanted, results=tensors[0].results)
    _sweep(sweep, starts)
    if inputs is None:
        for leaf, gradient in sweep.leaves.items():
            leaf.receive(gradient, sweep, _lock)  # type: ignore[attr-defined]
        return
    for t in inputs:
        gradient = sweep.leaves.get(t) if t.port is None else _noted(sweep, t.edge)
        if gradient is not None:
            t.receive(gradient, sweep, _lock)


def _noted(sweep: Sweep, edge: Any) -> Any:
    if type(edge) is Port:
        for known, gradient in sweep.found.items():
            if type(known) is Port and known.node is edge.node and known.index == edge.index:
                return gradient
        return None
    return sweep.found.get(edge)


def _sweep(sweep: Sweep, starts: Sequence[tuple[Any, Any]]) -> None:
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
    results = (outputs or inputs)[0].results
    sweep = Sweep(create_graph, not retain_graph, follow, wanted, stops, results)
    _sweep(sweep, [(e, s) for e, s in starts if e in wanted or node_of(e) in follow])
    found = []
    for t in inputs:
        edge = t.edge
        gradient = None
        if edge in wanted:
            gradient = sweep.leaves.get(edge) if t.port is None else _noted(sweep, edge)
        if gradient is not None and not isinstance(gradient, Handle):
            gradient = t.results(gradient)
        found.append(gradient)
    return found


# -- paddle 2.x's functions ----------------------------------------------------------------------------


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradients of tensors to ``.grad`` of the leaves that they depend on.

    Args:
        tensors: what is differentiated: a tensor or a list of them, none twice.
        grad_tensors: their cotangents in their shapes, None for ones.
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


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Any]:
    """The gradients of outputs with respect to inputs; ``.grad`` of no tensor changes.

    Args:
        outputs: a tensor or a list of them, none twice.
        inputs: a tensor or a list of them, none twice.
        grad_outputs: the cotangents of the outputs in their shapes, None for ones.
        retain_graph: keep the graph, so that it can be differentiated again; None: if
            ``create_graph``.
        create_graph: record the gradients, so that they can be differentiated.
        only_inputs: True; other gradients are never computed.
        allow_unused: give None for an input that takes no part, instead of an error.
        no_grad_vars: tensors through which nothing flows, as a tensor, a list or a set.

    Returns:
        a list with a gradient for each input.

    Raises:
        ArgumentError: an argument is of another kind, or a list is of another length.
        GradientShapeError: a cotangent is of another shape.
        UnreachableError: an input takes no part.
        ReleasedError: the graph was released by an earlier call.

    >>> x = fluid.to_tensor(2.0, stop_gradient=False)
    >>> (slope,) = fluid.grad(x * x * x, x, create_graph=True)
    >>> float(slope), float(fluid.grad(slope, x)[0])
    (12.0, 12.0)
    """
    outs = tensors_in("outputs", outputs)
    distinct("outputs", outs)
    ins = tensors_in("inputs", inputs)
    distinct("inputs", ins)
    seeds = seeds_in("grad_outputs", grad_outputs, len(outs))
    check_bools(create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused)
    if retain_graph is None:
        retain_graph = create_graph
    check_bools(retain_graph=retain_graph)
    if not only_inputs:
        raise located(ArgumentError("only_inputs=False is not supported; leave it at True"))
    blocked = _blocked(no_grad_vars)
    found = gradients_of(
        outs, ins, seeds, retain_graph=retain_graph, create_graph=create_graph, blocked=blocked
    )
    if not allow_unused:
        check_used(found, ins)
    return found


def _blocked(given: Any) -> list[Any]:
    if given is None:
        return []
    listed = list(given) if isinstance(given, (set, frozenset)) else given
    return tensors_in("no_grad_vars", listed) if listed else []


def check_used(found: Sequence[Any], inputs: Sequence[Any]) -> None:
    """Refuse inputs that take no part.

    Args:
        found: the gradients, None where there is none.
        inputs: with respect to what.

    Raises:
        UnreachableError: there is one.
    """
    for i, (gradient, tensor) in enumerate(zip(found, inputs)):
        if gradient is None:
            why = "it stops gradients" if tensor.stop else "the outputs do not depend on it"
            raise located(
                UnreachableError(
                    f"inputs[{i}], {described(tensor)}, has no gradient: {why}; with "
                    f"allow_unused=True its gradient is None"
                )
            )


def tensors_in(what: str, given: Any) -> list[Any]:
    """A tensor, or a list or tuple of them, as a list.

    Raises:
        ArgumentError: something else, or nothing.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    for each in listed:
        if not isinstance(each, Handle):
            raise located(
                ArgumentError(
                    f"expected {what} to be a tensor or a list of tensors, got {each!r:.60} of "
                    f"type {type(each).__name__}"
                )
            )
    if not listed:
        raise located(ArgumentError(f"expected {what} to name at least one tensor, got none"))
    return listed


def distinct(what: str, tensors: Sequence[Any]) -> None:
    """Refuse a tensor that is listed twice."""
    if len({id(t) for t in tensors}) < len(tensors):
        raise located(ArgumentError(f"expected {what} to be different tensors, got one twice"))


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
    for each in listed:
        if each is not None and not isinstance(each, Handle):
            raise located(
                ArgumentError(
                    f"expected {what} to be tensors or None, got {each!r:.60} of type "
                    f"{type(each).__name__}; make it one first: fluidlite.to_tensor(...)"
                )
            )
    if len(listed) != count:
        raise located(
            ArgumentError(f"expected {count} {what}, one for each tensor, got {len(listed)}")
        )
    return listed


def check_bools(**flags: Any) -> None:
    """Refuse flags that are no bools."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise located(
                ArgumentError(
                    f"expected {name} to be True or False, got {value!r:.60} of type "
                    f"{type(value).__name__}"
                )
            )


