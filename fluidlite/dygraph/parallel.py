"""Training in several processes, by the names of fluid 1.8: there is one process here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..described import Described
from ..errors import ArgumentError
from ..namespace import listing
from .layer import Layer


class ParallelEnv(Described):
    """What a process knows of the others: it is alone.

    >>> env = fluid.dygraph.ParallelEnv()
    >>> env.nranks, env.local_rank
    (1, 0)
    """

    nranks = 1  #: how many processes there are
    local_rank = 0  #: the number of this one
    dev_id = 0  #: the number of its device
    current_endpoint = ""
    trainer_endpoints = ()


Env = ParallelEnv


def prepare_context(strategy: Any = None) -> None:
    """Nothing: one process needs no connections.

    Args:
        strategy: accepted for old scripts.
    """


class DataParallel(Layer):
    """A layer whose gradients are the means of those of all processes: of this one.

    Args:
        layers: the layer.
        strategy: accepted for old scripts.

    Raises:
        ArgumentError: ``layers`` is no layer.

    >>> with fluid.dygraph.guard():
    ...     net = fluid.dygraph.DataParallel(fluid.dygraph.Linear(2, 1))
    ...     loss = fluid.layers.mean(net(fluid.dygraph.to_variable(np.ones([3, 2], "float32"))))
    ...     net.scale_loss(loss) is loss
    True
    """

    def __init__(self, layers: Layer, strategy: Any = None) -> None:
        super().__init__()
        if not isinstance(layers, Layer):
            raise ArgumentError(f"expected a layer, got {layers!r:.60}")
        self._layers = layers

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives."""
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Any) -> Any:
        """The loss, divided by the number of processes."""
        return loss

    def apply_collective_grads(self) -> None:
        """Add the gradients of all processes up."""

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
    ) -> dict[str, Any]:
        """The layer's own; see :meth:`Layer.state_dict`."""
        found: dict[str, Any] = self._layers.state_dict(
            destination, include_sublayers, structured_name_prefix
        )
        return found

    def set_dict(
        self,
        stat_dict: Mapping[str, Any],
        include_sublayers: bool = True,
        use_structured_name: bool = True,
    ) -> None:
        """Set the layer's own; see :meth:`Layer.set_dict`."""
        self._layers.set_dict(stat_dict, include_sublayers, use_structured_name)

    load_dict = set_dict
    set_state_dict = set_dict


__dir__ = listing(globals())
