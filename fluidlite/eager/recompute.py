"""Computing a part again for its gradients, instead of keeping what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..errors import ArgumentError, OverwrittenError
from ..opdef.reverse_sweep import NodeOutput
from .engine import located, tensors_in
from .inner_sweep import pulled_through
from .mode import enable_grad, thread
from .nodes import GradNode, StepOfFunction
from .prepared import Generator, generator, stream_guard
from .recording import TensorRecord, caller
from .sweep import BackwardPass, described, node_of

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function without keeping what its gradients need: they call it again.

    Less memory for a second forward pass. The second call draws the same random numbers as the
    first one, and gives the same bits. Gradients reach arguments and other tensors that the
    function reads, parameters for example, and can be differentiated.

    Args:
        function: gives a tensor or several; what it gives must depend on nothing that changes until
            its gradients are computed.
        args, kwargs: what it is called with.

    Returns:
        what it gives.

    Raises:
        ArgumentError: it gives something else, or writes an argument in place.
        OverwrittenError: in ``backward``: a tensor that it reads was written in place since.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> y = fluid.autograd.checkpoint(lambda x: fluid.exp(x * x) * 2.0, x)
    >>> again = fluid.exp(x * x) * 2.0
    >>> fluid.grad(y, x)[0].tolist() == fluid.grad(again, x)[0].tolist()
    True
    """
    if not callable(function):
        raise located(ArgumentError, f"expected a function to call, got {function!r:.60}")
    if not thread.recording:
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs)
    before = GradNode(None, (), None, None, None, None, 0)  # what is older was there already
    versions = [t.version for t in part.given]
    result: Any = function(*args, **kwargs)
    if versions != [t.version for t in part.given]:
        raise located(
            ArgumentError,
            "the function writes an argument in place, which it would do again in backward; "
            "let it work on a clone()",
        )
    outs = tensors_in("what the function returns", result)
    edges = _sources(outs, before.count)
    if not edges:
        return result
    part.read(edges)
    name = getattr(function, "__name__", type(function).__name__)
    node = GradNode(_Again(f"checkpoint of {name}"), tuple(edges), None, None, part, *caller())
    tensors: Any = [
        out.results(out.array) if out.stop else out.results(out.array, NodeOutput(node, i), False)
        for i, out in enumerate(outs)
    ]
    if isinstance(result, (list, tuple)):
        kind: Any = type(result) if type(result) in (list, tuple) else tuple
        return kind(tensors)
    return tensors[0]


def _sources(outs: Iterable[Any], oldest: int) -> list[Any]:
    """The edges to leaves and to what is older than a count, from which tensors were made."""
    sources: dict[Any, None] = {}
    stack = [out.edge for out in outs]
    seen: set[GradNode] = set()
    while stack:
        edge = stack.pop()
        if type(edge) is tuple:
            stack += edge
        elif edge is not None:
            node = node_of(edge)
            if node is None or node.count < oldest:
                sources[edge] = None
            elif node not in seen:
                seen.add(node)
                stack += node.edges or ()
    return list(sources)


@contextmanager
def _drawing(numbers: Any) -> Iterator[None]:
    """Random operators draw what follows from a state; afterwards the stream goes on."""
    again = Generator()
    again.standing = numbers
    with stream_guard(again):
        yield


class _Read(NamedTuple):
    """A tensor that was read, and its version then."""

    tensor: Any
    version: int


class _Part:
    """A call that can be repeated.

    Args:
        function: what is called.
        args, kwargs: with what.
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self._call = function, args, kwargs
        self.given = [t for t in (*args, *kwargs.values()) if isinstance(t, TensorRecord)]
        self._numbers = generator.get().standing
        self._reads: list[_Read] = []

    def read(self, edges: Iterable[Any]) -> None:
        """Note which tensors must stay as they are: arguments and leaves."""
        leaves = [edge for edge in edges if isinstance(edge, TensorRecord)]
        tensors = {id(t): t for t in (*self.given, *leaves)}
        self._reads = [_Read(t, t.version) for t in tensors.values()]

    def again(self) -> list[Any]:
        """What the call gives, with what its gradients need.

        Raises:
            OverwrittenError: a tensor was written in place since.
        """
        for tensor, version in self._reads:
            if tensor.version != version:
                raise OverwrittenError(
                    f"{described(tensor)} is needed to compute a checkpoint again, and has been "
                    f"written in place since (it is at version {tensor.version}); work on a "
                    f"clone() of it instead"
                )
        function, args, kwargs = self._call
        with _drawing(self._numbers), enable_grad():
            return tensors_in("what the function returns", function(*args, **kwargs))


class _Again(StepOfFunction):
    """How cotangents pass a checkpoint."""

    __slots__ = ()

    def pull(
        self, sweep: BackwardPass, node: GradNode, cotangent: Mapping[int, Any], take: Any
    ) -> list[tuple[int, Any]]:
        """Pairs of a source's place and its cotangent.

        Raises:
            ArgumentError: the function gives something else than before.
        """
        return pulled_through(sweep, node, node.out.again(), cotangent, take)
