"""Training layers in several processes, by the names of fluid 1.8."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np

from ..errors import ArgumentError
from ..ground.job_environment import launched
from ..ground.missing_names import answer
from ..ground.process_group import BUCKET_BYTES, ProcessGroup, groups, joined
from ..ground.protected import answers, answers_protected
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from ..ground.values import SelectedRows
from .layer import Layer

T = TypeVar("T")
M = TypeVar("M", bound=Callable[..., Any])
_NONE, _DENSE, _ROWS = range(3)  # what a process has of a gradient


@answers(
    _nranks=attrgetter("nranks"),
    _local_rank=attrgetter("local_rank"),
    _dev_id=attrgetter("dev_id"),
    _trainer_endpoints=attrgetter("trainer_endpoints"),
    _current_endpoint=attrgetter("current_endpoint"),
)
class ParallelEnv(Described):
    """What a process knows of those that were started with it.

    >>> env = fluid.dygraph.ParallelEnv()
    >>> env.nranks, env.local_rank
    (1, 0)
    """

    def __init__(self) -> None:
        launch = launched()
        self.nranks: int = launch.size  #: how many processes there are
        self.local_rank: int = launch.rank  #: the number of this one
        #: its name, as ``HOST:PORT``; empty where nobody started it with others
        self.current_endpoint: str = (
            launch.endpoint if launch.size > 1 else os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
        )
        self.trainer_endpoints: list[str] = list(launch.endpoints)  #: the names of all
        said = os.environ.get("FLAGS_selected_gpus", "")  # noqa: SIM112
        self.dev_id: int = int(said) if said.isdigit() else 0  #: the number of its device, not read


Env = ParallelEnv


@dataclass(slots=True)
class ParallelStrategy:
    """Which process this is, for :class:`DataParallel`."""

    nranks: int = 1
    local_rank: int = 0
    trainer_endpoints: list[str] = field(default_factory=list)
    current_endpoint: str = ""


def prepare_context(strategy: ParallelStrategy | None = None) -> ParallelStrategy:
    """Join the processes that were started with this one.

    Args:
        strategy: says how many there have to be, and which this is; what the environment says when
            None.

    Returns:
        the strategy.

    Raises:
        UnsupportedError: there are not as many processes, or MPI has not started them.
        ArgumentError: this is another one of them.

    >>> fluid.dygraph.prepare_context().nranks
    1
    """
    if strategy is None:
        env = ParallelEnv()
        joined()
        return ParallelStrategy(
            env.nranks, env.local_rank, env.trainer_endpoints, env.current_endpoint
        )
    joined(strategy.nranks, strategy.local_rank)
    return strategy


def _delegated(method: M) -> M:
    """A method that is that of the layer within."""
    name = method.__name__

    @functools.wraps(method)
    def delegating(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._layers, name)(*args, **kwargs)

    return cast("M", delegating)


@answers_protected
class DataParallel(Layer):
    """A layer whose gradients are the means of those of all processes, each of which has a share of
    the batch.

    All processes begin with the parameters of process 0.

    Args:
        layers: the layer.
        strategy: what :func:`prepare_context` gave.

    Raises:
        ArgumentError: ``layers`` is no layer, or another one than in the other processes.

    >>> with fluid.dygraph.guard():
    ...     net = fluid.dygraph.DataParallel(fluid.dygraph.Linear(2, 1))
    ...     loss = fluid.layers.mean(net(fluid.dygraph.to_variable(np.ones([3, 2], "float32"))))
    ...     loss = net.scale_loss(loss)
    ...     loss.backward()
    ...     net.apply_collective_grads()
    ...     net.parameters()[1].gradient()
    array([1.], dtype=float32)
    """

    def __init__(self, layers: Layer, strategy: ParallelStrategy | None = None) -> None:
        super().__init__()
        if not isinstance(layers, Layer):
            raise ArgumentError(f"expected a layer, got {layers!r:.60}")
        self._layers, self._strategy = layers, strategy
        if strategy is None:
            joined()
        else:
            joined(strategy.nranks, strategy.local_rank)
        _share_values(layers, groups.get())

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives."""
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: T) -> T:
        """The loss, divided by the number of processes: the sum of all gradients is their mean
        then.

        Args:
            loss: the mean over this process's share of a batch.
        """
        size, whole = groups.get().size, cast("Any", loss)
        return loss if size == 1 else cast("T", whole / float(size))

    def apply_collective_grads(self) -> None:
        """Sum the gradients of all processes up; call it behind ``backward``."""
        group = groups.get()
        if group.size == 1:
            return
        parameters = [each for each in self.parameters() if not each.stop_gradient]
        kinds = _kinds_of(parameters, group)
        dense = []
        for parameter, kind in zip(parameters, kinds, strict=True):
            held = parameter.raw_gradient
            if kind == _ROWS:
                if held is None:
                    held = _no_rows(parameter.array)
                parameter.accumulate(group.gather_rows(held, 0), False)
            elif kind == _DENSE:
                if isinstance(held, SelectedRows):
                    held = held.to_dense()
                dense.append((parameter, np.zeros_like(parameter.array) if held is None else held))
        begun = []
        for bucket in _buckets(dense):
            row = np.concatenate([np.reshape(array, -1) for _, array in bucket])
            named = ", ".join(parameter.name for parameter, _ in bucket[:3])
            begun.append((bucket, group.start_all_reduce(row, "sum", 0, f"gradients of {named}")))
        for bucket, handle in begun:
            row, place = group.wait(handle), 0
            for parameter, array in bucket:
                part = row[place : place + array.size].reshape(array.shape)
                parameter.accumulate(np.array(part), False)
                place += array.size

    state_dict: Callable[..., dict[str, Any]] = _delegated(Layer.state_dict)
    set_dict: Callable[..., None] = _delegated(Layer.set_dict)
    load_dict = set_dict
    set_state_dict = set_dict


def _share_values(layer: Layer, group: ProcessGroup) -> None:
    """Give the parameters and buffers of a layer the values of process 0."""
    if group.size == 1:
        return
    state = layer.state_dict()
    text = "; ".join(f"{n} {t.array.dtype}{list(t.array.shape)}" for n, t in state.items())
    own = np.frombuffer(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), np.uint8
    )
    every = group.all_gather(own[None], 0)
    others = [rank for rank in range(group.size) if (every[rank] != every[0]).any()]
    if others:
        raise ArgumentError(
            f"expected the same layer in all {group.size} processes, got another one on ranks "
            f"{others[:8]} than on rank 0; here it has {text[:300]}"
        )
    for tensor in state.values():
        tensor.replace(group.broadcast(tensor.array, 0, 0))


def _kinds_of(parameters: list[Any], group: ProcessGroup) -> list[int]:
    """What has to be summed of each gradient: nothing where no process has one, rows where none has
    more.
    """

    def kind(gradient: Any) -> int:
        if gradient is None:
            return _NONE
        return _ROWS if isinstance(gradient, SelectedRows) else _DENSE

    own = np.array([[kind(each.raw_gradient) for each in parameters]], "uint8")
    every = group.all_gather(own, 0)
    has_dense, has_rows = (every == _DENSE).any(axis=0), (every == _ROWS).any(axis=0)
    return [int(k) for k in np.where(has_dense, _DENSE, np.where(has_rows, _ROWS, _NONE))]


def _no_rows(array: Any) -> SelectedRows:
    return SelectedRows(np.zeros(0, "int64"), len(array), np.zeros_like(array[:0]))


def _buckets(gradients: list[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    """Gradients of one element type that are summed together, in the order of backward."""
    by_type: dict[Any, list[tuple[Any, Any]]] = {}
    for pair in reversed(gradients):
        by_type.setdefault(pair[1].dtype, []).append(pair)
    for pairs in by_type.values():
        bucket: list[tuple[Any, Any]] = []
        size = 0
        for pair in pairs:
            if bucket and size + pair[1].nbytes > BUCKET_BYTES:
                yield bucket
                bucket, size = [], 0
            bucket.append(pair)
            size += pair[1].nbytes
        yield bucket


list_public_names(globals())
api_boundaries(globals())
answer(globals())
