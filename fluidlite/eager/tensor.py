"""Eager tensors, with the methods of paddle 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import unique_name
from ..functions.mixing import LEFT_FIRST, Promotion
from ..ground.tracebacks import quick_api_boundary
from . import engine, finite
from .methods import Methods
from .printing import tensor_text
from .storage import Storage
from .tensor_core import TensorCore

if TYPE_CHECKING:
    from typing_extensions import Self


@quick_api_boundary
class Tensor(Methods, Storage, TensorCore):
    """An array that remembers how it was made, so that it can be differentiated.

    Make one with ``to_tensor``.  Operators on tensors give tensors.

    Args:
        array: the value; not copied, and not to be written to any more.
        origin: where it came from; None for a leaf or a constant.
        stop: whether no gradient flows through it.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> fluid.sum(x * x).backward()
    >>> x.grad
    Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=False,
           [2., 4.])
    """

    sees: ClassVar[bool] = True
    promotion: ClassVar[Promotion] = LEFT_FIRST
    results: ClassVar[type[Tensor]]

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.array.size)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = super().__deepcopy__(memo)
        copied.given_name = f"{self.name}{unique_name.generate('_deepcopy')}"
        return copied

    def __repr__(self) -> str:
        return tensor_text(self.array, self.stop)

    def _grad_ivar(self) -> Tensor | None:
        """The gradient, as ``grad``: the name that fluid has for it."""
        return self.grad

    def backward(
        self, grad_tensor: Tensor | None = None, retain_graph: bool | None = False
    ) -> None:
        """Add the gradients of this tensor to ``.grad`` of the leaves that it depends on.

        Does nothing when the tensor stops gradients.

        Args:
            grad_tensor: the cotangent to begin with, of this tensor's shape; None for ones.
            retain_graph: keep the graph, so that this can be done again.

        Raises:
            ArgumentError: an argument is of another kind.
            GradientShapeError: the cotangent is of another shape.
            ReleasedError: the graph was released by an earlier call.
            OverwrittenError: a value that is needed was written over in place.

        >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).backward(fluid.to_tensor([1.0, 10.0]))
        >>> x.grad.tolist()
        [2.0, 40.0]
        """
        seeds = engine.seeds_in("grad_tensor", grad_tensor, 1)
        engine.check_bools(retain_graph=retain_graph)
        engine.sweep_back([self], seeds, retain_graph=retain_graph)


finite.follow_flags()
