"""Operators of the user's own: a forward and a backward function."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..backend import numpy_
from ..errors import ArgumentError, GradientShapeError, OverwrittenError
from ..ground.brain_float import kind_of
from ..ground.reprs import Described
from ..opdef.operand import Operand
from ..opdef.reverse_sweep import NodeOutput
from .engine import located
from .mode import RecordingGuard, thread
from .nodes import GradNode, StepOfFunction
from .recording import TensorRecord, caller
from .saving import Packed, packed
from .sweep import BackwardPass, described
from .writing import need_no_leaf


class _Saved(NamedTuple):
    """A tensor that was saved, and its version then."""

    tensor: Any
    version: int


class _Output(NamedTuple):
    """A result that was saved: holding the tensor would be a cycle."""

    array: Any
    place: int
    type: Any


class PyLayerContext(Described):
    """What the forward function of a :class:`PyLayer` hands to the backward function.

    Any attribute may be set on it, besides what its methods keep.

    >>> class Double(fluid.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return 2 * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensor()
    ...         return 2 * gradient
    >>> Double.apply(fluid.to_tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] | None = None
        self._apart: set[int] = set()
        self._materialize = True
        self._constant: set[int] = set()
        self._node: Any = None
        #: for each argument of the forward function, whether it is a tensor that wants a gradient
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors for the backward function, in place of those kept before.

        Under ``saved_tensors_hooks`` they are packed.

        Args:
            tensors: inputs, results, or any others; what is no tensor is kept as it is.
        """
        self._saved = tuple(
            _Saved(packed(each), each.version) if isinstance(each, TensorRecord) else each
            for each in tensors
        )

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """The tensors that were kept, as a tuple; None where nothing was.

        Raises:
            OverwrittenError: one was written in place since.
        """
        kept = self._saved
        return None if kept is None else tuple(self._restored(each) for each in kept)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        return self.saved_tensor() or ()

    def _restored(self, kept: Any) -> Any:
        if isinstance(kept, _Output):
            node = None if self._node is None else self._node()
            origin = None if node is None else NodeOutput(node, kept.place)
            return kept.type(kept.array, origin, origin is None)
        if not isinstance(kept, _Saved):
            return kept
        if isinstance(kept.tensor, Packed):
            return kept.tensor.tensor()
        if kept.tensor.version != kept.version:
            raise OverwrittenError(
                f"{described(kept.tensor)} was saved for backward at version {kept.version} and "
                f"written in place since (it is at version {kept.tensor.version}); save a clone()"
            )
        return kept.tensor

    def mark_not_inplace(self, *tensors: Operand) -> None:
        """Say that tensors that ``forward`` takes and gives back were not written in place.

        Args:
            tensors: what is given back for them are tensors of their own.
        """
        self._apart |= {id(each) for each in tensors}

    def mark_non_differentiable(self, *tensors: Operand) -> None:
        """Say that no gradient flows through some results.

        Args:
            tensors: results of the forward function.
        """
        self._constant |= {id(each) for each in tensors}

    def set_materialize_grads(self, value: bool) -> None:
        """Say what the backward function gets for a result that nothing came back to.

        Args:
            value: True: zeros; False: None.
        """
        self._materialize = bool(value)

    def writes(self, result: Operand, given: Sequence[Operand]) -> bool:
        """Whether a result is an argument that the forward function wrote in place."""
        return id(result) not in self._apart and any(result is each for each in given)

    def finish(self, results: Sequence[Any], made: Sequence[Any], node: GradNode) -> None:
        """Connect results that were saved with what the user gets for them."""
        places = {id(each): i for i, each in enumerate(results)}
        self._saved = self._saved and tuple(
            _Output(each.tensor.array, places[id(each.tensor)], type(made[0]).results)
            if isinstance(each, _Saved) and id(each.tensor) in places
            else each
            for each in self._saved
        )
        self._node = weakref.ref(node)

    def is_constant(self, result: Operand) -> bool:
        """Whether a result was marked as not differentiable."""
        return id(result) in self._constant

    def cotangents(
        self, sweep: BackwardPass, given: dict[int, Any], forms: Sequence[Any]
    ) -> list[Any]:
        """What the backward function gets: a tensor or None for each result."""
        cotangents: list[Any] = []
        for index, (array_form, kind, constant) in enumerate(forms):
            value = given.get(index)
            if constant:
                value = None
            if value is None and self._materialize:
                value = np.zeros(*array_form)
            if value is not None and not isinstance(value, TensorRecord):
                value = kind(value, None, kind.gradient_stops)
            cotangents.append(value)
        return cotangents


class _Called(StepOfFunction):
    """How cotangents pass a user's function."""

    __slots__ = ("backward", "forms")

    def __init__(self, name: str, backward: Callable[..., Any], forms: Sequence[Any]) -> None:
        super().__init__(name)
        self.backward = backward
        self.forms = forms

    def pull(
        self, sweep: BackwardPass, node: GradNode, cotangent: dict[int, Any], take: Any
    ) -> list[tuple[int, Any]]:
        """Pairs of an input's place and its cotangent.

        Raises:
            ArgumentError: the backward function gives another number of gradients, or something
                else.
            GradientShapeError: one has another shape than its input.
        """
        context = node.out
        given = context.cotangents(sweep, cotangent, self.forms)
        with RecordingGuard(sweep.recording):
            answer = self.backward(context, *given)
        listed = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        shapes = node.saved
        wanting = [place + 1 for place, edge in enumerate(node.edges or ()) if edge is not None]
        if not max(wanting, default=0) <= len(listed) <= len(shapes):
            raise ArgumentError(
                f"expected {self.op.type}.backward to give {len(shapes)} gradients, one for each "
                f"tensor that forward takes, got {len(listed)}; it was applied at {node.site}"
            )
        pairs = []
        for place, (gradient, shape) in enumerate(zip(listed, shapes)):
            if gradient is None or (take is not None and not take[place]):
                continue
            if not isinstance(gradient, TensorRecord):
                raise ArgumentError(
                    f"expected {self.op.type}.backward to give tensors or None, got "
                    f"{gradient!r:.60}; it was applied at {node.site}"
                )
            if node.edges is not None and node.edges[place] is None:
                continue
            if gradient.array.shape != shape:
                raise GradientShapeError(
                    f"expected {self.op.type}.backward to give a gradient of shape {list(shape)} "
                    f"for tensor {place}, got {list(gradient.array.shape)}; it was applied at "
                    f"{node.site}"
                )
            value = gradient
            if not sweep.recording:
                value = numpy_.asarray(gradient.array)
                leaf: Any = node.edges[place] if node.edges is not None else None
                if leaf is not None and getattr(leaf, "raw_gradient", leaf) is None:
                    leaf.gradient_stops = True  # it is what the user's function gave
            pairs.append((place, value))
        return pairs


class PyLayer(Described):
    """An operator with a forward and a backward function of the user's.

    A subclass defines both as static methods; ``apply`` calls the first, unrecorded, and sees to it
    that gradients go through the second.  What that computes can be differentiated itself.

    >>> class Cube(fluid.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensor()
    ...         return gradient * 3.0 * x * x
    >>> x = fluid.to_tensor(2.0, stop_gradient=False)
    >>> (slope,) = fluid.grad(Cube.apply(x), x, create_graph=True)
    >>> float(slope), float(fluid.grad(slope, x)[0])
    (12.0, 12.0)
    """

    #: whether an argument that ``forward`` gives back is the result itself
    writes_arguments: ClassVar[bool] = True
    #: whether ``backward`` gives something in place of arguments without tensors, too
    answers_all: ClassVar[bool] = False

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Compute the results: a tensor, or a tuple of them.

        Args:
            ctx: keeps what ``backward`` needs.
            args, kwargs: what ``apply`` was called with.
        """
        raise NotImplementedError("a PyLayer needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """Compute the gradients of the tensors that ``forward`` takes, None if there is none.

        Args:
            ctx: what ``forward`` got.
            args: the gradients of its results.
        """
        raise NotImplementedError("a PyLayer needs a static method backward(ctx, *gradients)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the forward function on tensors and other arguments.

        Returns:
            what it returns, as tensors that gradients flow through.

        Raises:
            ArgumentError: it returns no tensors.
        """
        context, arguments = PyLayerContext(), (*args, *kwargs.values())
        context.needs_input_grad = tuple(
            isinstance(each, TensorRecord) and not each.stop for each in arguments
        )
        with RecordingGuard(False):
            outputs = cls.forward(context, *args, **kwargs)
        backward = cls.of_tensors(arguments)
        return recorded(cls.__name__, backward, context, arguments, outputs, cls.writes_arguments)

    @classmethod
    def of_tensors(cls, given: Sequence[Any]) -> Callable[..., Any]:
        """What gives the gradients of the tensors among the arguments, and in lists of them.

        Args:
            given: the arguments; for a list among them ``backward`` gives a list.
        """
        sizes = [_count(each) for each in given if cls.answers_all or _tensors_in(each)]
        return cls.backward if set(sizes) <= {None} else partial(_spread, cls.backward, sizes)


def _tensors_in(argument: Any) -> list[Any]:
    listed = argument if isinstance(argument, (list, tuple)) else [argument]
    return [each for each in listed if isinstance(each, TensorRecord)]


def _count(argument: Any) -> int | None:
    """How many tensors a list holds; None for a tensor."""
    return None if isinstance(argument, TensorRecord) else len(_tensors_in(argument))


def _spread(
    backward: Callable[..., Any], sizes: Sequence[int | None], context: Any, *gradients: Any
) -> list[Any]:
    """The gradients of tensors, one by one, of a function that gives one answer an argument."""
    answer = backward(context, *gradients)
    several = isinstance(answer, tuple) or (isinstance(answer, list) and len(sizes) > 1)
    listed = list(answer) if several else [answer]
    if len(listed) != len(sizes):
        return listed
    spread: list[Any] = []
    for size, gradient in zip(sizes, listed):
        if size is None or gradient is None:
            spread += [gradient] * (1 if size is None else size)
        elif isinstance(gradient, (list, tuple)) and len(gradient) == size:
            spread += gradient
        elif size:
            raise ArgumentError(f"expected a list of {size} gradients for a list of tensors")
    return spread


def recorded(
    name: str,
    backward: Callable[..., Any],
    context: PyLayerContext,
    given: Sequence[Any],
    outputs: Any,
    writes_arguments: bool = False,
) -> Any:
    """What a user's function returned, connected with the tensors that it was given.

    Args:
        name: what messages call the function.
        backward: gives the gradients of the tensors that it was given.
        context: what both share.
        given: its arguments.
        outputs: what it returned.
        writes_arguments: whether an argument among the outputs was written in place, and is given
            back itself.

    Raises:
        ArgumentError: there is no tensor among the outputs.
        InplaceError: a leaf that wants a gradient was written.
    """
    listed = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    tensors = [each for argument in given for each in _tensors_in(argument)]
    results = [each for each in listed if isinstance(each, TensorRecord)]
    if not results:
        raise located(
            ArgumentError,
            f"expected {name}.forward to return a tensor or a tuple of them, got {outputs!r:.60}",
        )
    cls = (tensors[0] if tensors else results[0]).results
    flows = [kind_of(r.array.dtype) in "fc" and not context.is_constant(r) for r in results]
    if not thread.recording or all(t.stop for t in tensors) or not any(flows):
        wrapped = [cls(r.array) for r in results]
    else:
        forms = [((r.array.shape, r.array.dtype), cls, not flow) for r, flow in zip(results, flows)]
        node = GradNode(
            _Called(name, backward, forms),
            tuple([t.edge for t in tensors]),
            [t.array.shape for t in tensors],
            None,
            context,
            *caller(),
        )
        wrapped = []
        for i, (result, flow) in enumerate(zip(results, flows)):
            origin, stop = (NodeOutput(node, i), False) if flow else (None, True)
            if writes_arguments and context.writes(result, tensors):
                need_no_leaf(result)
                result.origin, result.stop = origin, stop
                wrapped.append(result)
            else:
                wrapped.append(cls(result.array, origin, stop))
        context.finish(results, wrapped, node)
    rest = iter(wrapped)
    shown = [next(rest) if isinstance(each, TensorRecord) else each for each in listed]
    if isinstance(outputs, (list, tuple)):
        return type(outputs)(shown) if type(outputs) in (list, tuple) else tuple(shown)
    return shown[0]
