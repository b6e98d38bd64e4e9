"""How cotangents flow back through what eager tensors recorded.

Gradient rules run on bare arrays; or, where the gradient is to be differentiated again, on eager
tensors, and are recorded like any other operators: every order of derivative follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush
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
    with_context,
)
from ..opdef.reverse_sweep import CotangentSweep, NodeOutput
from . import flat
from .mode import thread
from .nodes import GradNode, Overwritten
from .prepared import kernels
from .pullback import Pullback
from .recording import TensorRecord, rules
from .saving import Packed, opened
from .straight_line import ShapeDtype

_ndarray = np.ndarray
_PLAIN = frozenset((np.ndarray, type(None)))
_ELSEWHERE = (Packed, list, tuple)  #: what is no array, nor its form


def node_of(edge: Any) -> GradNode | None:
    """The node that an edge leads to; None for leaves."""
    return edge if type(edge) is GradNode else edge.node if type(edge) is NodeOutput else None


def described(tensor: Any) -> str:
    """A tensor in words: its name where it has one, its type and shape."""
    name = getattr(tensor, "given_name", None)
    form = f"{tensor.array.dtype}{list(tensor.array.shape)}"
    return f"tensor {name!r} ({form})" if name else f"a tensor of type {form}"


class BackwardPass(CotangentSweep):
    """One sweep of cotangents through a graph.

    Args:
        recording: run the gradient rules on eager tensors, so that they are recorded.
        release: let go of the graph on the way.
        follow: the nodes through which cotangents may flow; all when None.
        wanted: edges whose cotangents are to be found.
        results: the class of tensors that are made.
    """

    nodes = GradNode

    def __init__(
        self,
        recording: bool,
        release: bool,
        follow: set[GradNode] | None = None,
        wanted: frozenset[Any] = frozenset(),
        blocked: frozenset[Any] = frozenset(),
        results: type[TensorRecord] = TensorRecord,
    ) -> None:
        super().__init__(wanted)
        self.recording = recording
        self.plain: bool = not recording  #: whether rules run on bare arrays
        self.release = release
        self.follow = follow
        self.blocked = blocked
        self.results = results

    def sum(self, a: Any, b: Any) -> Any:
        """The sum of two cotangents."""
        if self.recording:
            return rules.elementwise_add(a, b)
        return numpy_.asarray(a + b)

    def run(self) -> None:
        """Let everything that was delivered flow as far as it goes."""
        heap, pending, release = self.heap, self.pending, self.release
        anomaly = thread.anomaly
        selective = self.follow is not None or self.blocked
        roots = {node for _, node in heap}  # which are not gone back from a second time
        #: what another sweep may go through, where it gets on from there
        passable: list[GradNode] = []
        for node, cotangent in self:
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
                if self.results.frees_all or node in roots or _holds_values(node):
                    node.release()
                else:
                    passable.append(node)
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
                if type(edge) is GradNode and edge not in pending:
                    pending[edge] = flow  # what ``deliver`` does, spelled out
                    heappush(heap, (-edge.count, edge))
                else:
                    self.deliver(edge, flow)
        for node in reversed(passable):
            sources = [node_of(edge) for edge in edges_of(node)]
            if all(source is not None and source.edges is None for source in sources):
                node.release()

    def settled(self, flow: Any) -> Any:
        """What a rule gave, as an array, or a tensor where the sweep is recorded."""
        if not self.recording:
            return flow.array if isinstance(flow, TensorRecord) else numpy_.asarray(flow)
        return flow if isinstance(flow, TensorRecord) else self.results(numpy_.asarray(flow))

    def takes(self, edge: Any) -> bool:
        """Whether a cotangent flows along an edge, or along one of those of a list."""
        if edge is None:
            return False
        if type(edge) is tuple:
            return any(self.takes(each) for each in edge)
        if edge in self.blocked:
            return False
        return self.follow is None or edge in self.wanted or node_of(edge) in self.follow

    def pull(self, node: GradNode, cotangent: Any, take: tuple[bool, ...] | None) -> Any:
        """Pairs of an input's place and its cotangent."""
        how = node.how
        if type(how) is not Pullback:
            return how.pull(self, node, cotangent, take)
        try:
            if self.plain:
                pairs = self._by_line(node, how, cotangent, take)
                if pairs is not None:
                    return pairs
            values = self.values(node)
            out = node.out
            if type(out) is Packed or type(out) is dict:
                out = opened(out)
            if not how.single:
                cotangent = how.by_slot(cotangent)
                if out is not None and any(type(v) is Overwritten for v in out.values()):
                    raise _overwritten_output(node)
            elif type(out) is Overwritten:
                if how.reads_out:
                    raise _overwritten_output(node)
                out = None
            if self.recording:
                outs = self.outputs(node, out)
                if self.results.flat_zeros:
                    return flat.gradients(self, node, values, outs, cotangent, take)
                return self.recorded(how, values, outs, cotangent, take)
            return how.gradients(kernels, values, out, cotangent, take)
        except FluidError as error:
            where = f"  in the gradient of {node.type}, which was called at {node.site}"
            if where in str(error):
                raise
            raise with_context(error, where) from error.__cause__

    def recorded(
        self, how: Pullback, values: list[Any], outs: Any, cotangent: Any, take: Any
    ) -> list[tuple[int, Any]]:
        """Pairs of an input's place and its recorded cotangent."""
        return how.gradients(rules, values, outs, cotangent, take)

    def _by_line(self, node: GradNode, how: Pullback, cotangent: Any, take: Any) -> Any:
        """The same by a rule that was written out; None where it is not for these values."""
        if take is not None and not all(take[place] for place, _ in how.wanted):
            return None
        arrays: list[Any] = []
        versions = node.versions
        for i, saved in enumerate(node.saved):
            if isinstance(saved, TensorRecord):
                if saved.version != (0 if versions is None else versions[i]):
                    return None
                saved = saved.array
                if type(saved) is not _ndarray:
                    return None
            elif type(saved) in _ELSEWHERE:
                return None
            arrays.append(saved)
        out = node.out
        if type(out) is dict:
            if not _PLAIN.issuperset(map(type, out.values())):
                return None
        elif type(out) not in _PLAIN:
            return None
        flows = how.by_line(arrays, out, cotangent)
        if flows is None:
            return None
        return [(at[0], flow) for at, flow in zip(how.wanted, flows) if flow is not None]

    def values(self, node: GradNode) -> list[Any]:
        """The inputs that a rule reads."""
        values: list[Any] = []
        versions = node.versions
        for i, saved in enumerate(node.saved):
            if isinstance(saved, TensorRecord):
                if saved.version != (0 if versions is None else versions[i]):
                    raise overwritten(node, saved, saved.version)
                place = node.how.keeps[i][0]
                values.append(self.restored(saved, node.edges[place]))
            elif isinstance(saved, (list, tuple)) and not isinstance(saved, ShapeDtype):
                place = node.how.keeps[i][0]
                edges = node.edges[place] or (None,) * len(saved)
                many = []
                for k, (t, edge) in enumerate(zip(saved, edges)):
                    if isinstance(t, TensorRecord):
                        if t.version != (0 if versions is None else versions[i][k]):
                            raise overwritten(node, t, t.version)
                        many.append(self.restored(t, edge))
                    else:
                        many.append(self.restored(t.tensor(), edge) if type(t) is Packed else t)
                values.append(many)
            elif type(saved) is Packed:
                values.append(self.restored(saved.tensor(), node.edges[node.how.keeps[i][0]]))
            else:
                values.append(saved)
        return values

    def restored(self, tensor: TensorRecord, edge: Any) -> Any:
        """A kept input as the rule gets it."""
        if not self.recording or edge is None:
            return tensor.array
        return tensor if edge is tensor else tensor.results(tensor.array, edge, False)

    def outputs(self, node: GradNode, out: Any) -> Any:
        """The kept outputs of a node as tensors that gradients flow through."""
        how = node.how
        if out is None:
            return None
        if how.single:
            return self.results(out, node, False)
        outputs: dict[str, Any] = dict(out)
        for index, (slot, k) in enumerate(how.places):
            if slot in outputs and k is None and outputs[slot] is not None:
                outputs[slot] = self.results(outputs[slot], NodeOutput(node, index), False)
            elif slot in outputs and k is not None:
                outputs[slot] = list(outputs[slot])
                outputs[slot][k] = self.results(outputs[slot][k], NodeOutput(node, index), False)
        return outputs

    def hooked(self, node: GradNode, cotangent: Any) -> Any:
        """A cotangent after the hooks of its node."""
        for index, tensor_type, hook in list(node.hooks.values()):
            if isinstance(cotangent, dict):
                if cotangent.get(index) is not None:
                    cotangent[index] = self.called(hook, tensor_type, cotangent[index])
                elif (keep_zeros := getattr(hook, "keep_zeros", None)) and _in_list(node, index):
                    keep_zeros()
            else:
                cotangent = self.called(hook, tensor_type, cotangent)
        return cotangent

    def called(self, hook: Any, tensor_type: Any, cotangent: Any) -> Any:
        """A cotangent after one hook."""
        gradient = cotangent
        if not self.recording:
            gradient = tensor_type(cotangent, None, tensor_type.gradient_stops)
        answer = hook(gradient)
        if answer is None:
            return cotangent
        if not isinstance(answer, TensorRecord):
            raise ArgumentError(
                f"expected a hook to return a tensor or None, got {answer!r:.60} of type "
                f"{type(answer).__name__}"
            )
        if answer.array.shape != gradient.array.shape:
            raise GradientShapeError(
                f"expected a hook to return a gradient of shape {list(gradient.array.shape)}, got "
                f"{list(answer.array.shape)}"
            )
        return answer if self.recording else answer.array


def _in_list(node: GradNode, index: int) -> bool:
    """Whether an output is one of a list, which a rule takes cotangents of together."""
    return type(node.how) is Pullback and node.how.places[index][1] is not None


def _holds_values(node: GradNode) -> bool:
    """Whether a node keeps more than shapes, without which its rule cannot be called again."""
    out = node.out
    reads_out = bool(out) if isinstance(out, dict) else out is not None
    if reads_out or type(node.how) is not Pullback:
        return True
    return node.how.forms is None and any(map(_is_value, node.saved))


def _is_value(kept: Any) -> bool:
    if kept is None or type(kept) is ShapeDtype:
        return False
    return any(map(_is_value, kept)) if isinstance(kept, (list, tuple)) else True


def _released(node: GradNode) -> ReleasedError:
    return ReleasedError(
        f"the graph through operator {node.type}, which was called at {node.site}, has been "
        f"released by an earlier backward or grad; keep it with retain_graph=True there"
    )


def overwritten(node: GradNode, tensor: TensorRecord, version: int) -> OverwrittenError:
    """The error that a gradient needs a tensor that was written in place since."""
    return OverwrittenError(
        f"the gradient of operator {node.type} needs {described(tensor)}, which has been written "
        f"in place since (it is at version {version}); work on a clone() of it instead"
    )


def _overwritten_output(node: GradNode) -> OverwrittenError:
    out = node.out
    marks = out.values() if isinstance(out, dict) else [out]
    site = next(mark.site for mark in marks if type(mark) is Overwritten)
    return OverwrittenError(
        f"the gradient of operator {node.type} needs its result, which has been written in place "
        f"at {site}; work on a clone() of it instead"
    )


def _check_finite(node: GradNode, flow: Any) -> None:
    values = flow.array if isinstance(flow, TensorRecord) else flow
    if isinstance(values, _ndarray) and values.dtype.kind in "fc" and np.isnan(values).any():
        raise NonFiniteError(
            f"the gradient of operator {node.type}, which was called at {node.site}, has values "
            f"that are no numbers"
        )


def leading(
    starts: Iterable[Any], wanted: frozenset[Any], blocked: frozenset[Any]
) -> set[GradNode]:
    """The nodes from which a wanted edge is reached, not through blocked ones.

    Raises:
        ReleasedError: a part that may lead there has been released.
    """
    seen: set[GradNode] = set()
    stack = [node for edge in starts if (node := node_of(edge)) is not None]
    nodes: list[tuple[GradNode, list[tuple[Any, GradNode | None]]]] = []
    leaves = any(node_of(edge) is None for edge in wanted)
    oldest = min((n.count for e in wanted if (n := node_of(e)) is not None), default=0)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.edges is None:
            if leaves or node.count > oldest:
                raise _released(node)
            continue
        if node.count < oldest and not leaves:  # edges lead to older ones
            continue
        sources = []
        for edge in edges_of(node):
            if edge not in blocked:
                source = edge if type(edge) is GradNode else node_of(edge)
                sources.append((edge, source))
                if source is not None and (leaves or source.count > oldest):
                    stack.append(source)
        nodes.append((node, sources))
    nodes.sort(key=lambda pair: pair[0].count)
    on_path: set[GradNode] = set()
    for node, sources in nodes:
        for edge, source in sources:
            if edge in wanted or source in on_path:
                on_path.add(node)
                break
    return on_path


def edges_of(node: GradNode) -> list[Any]:
    """The edges of a node that was not released, to nodes, their outputs and leaves."""
    if tuple not in map(type, node.edges):
        return [edge for edge in node.edges if edge is not None]
    edges: list[Any] = []
    for edge in node.edges:
        if type(edge) is tuple:
            edges += [each for each in edge if each is not None]
        elif edge is not None:
            edges.append(edge)
    return edges
