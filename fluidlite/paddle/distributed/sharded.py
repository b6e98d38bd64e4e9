"""Tensors of which a mesh of processes says where they are: each process has them whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...eager.parameter import Parameter
from ...eager.recording import TensorRecord
from ...eager.tensor import Tensor
from ...errors import ArgumentError, FileFormatError, ParameterListError, UnsupportedError
from ...ground.files import Path
from ...ground.process_group import groups
from ...ground.public_names import list_public_names
from ...ground.refusing import refusing
from ...ground.spellings import parameters_of
from ...ground.tracebacks import api_boundaries
from ...nn.layer import Layer
from .. import creation, files
from .meshes import Placement, ProcessMesh, Replicate, mesh_text

__all__ = [
    "dtensor_from_fn", "load_state_dict", "reshard", "save_state_dict", "shard_layer",
    "shard_optimizer", "shard_tensor", "to_static",
]  # fmt: skip

_DATA, _METADATA = "0_0.distcp", "0.metadata"


class _OnMesh:
    """What tensors on a mesh answer beside what others do."""

    process_mesh: ProcessMesh
    placements: list[Placement]

    def is_dist(self) -> bool:
        """True: a mesh says where it is."""
        return True

    def __repr__(self) -> str:
        before, _, values = super().__repr__().partition("\n")
        return (
            f"{before} process_mesh={mesh_text(self.process_mesh)}, "
            f"placements={self.placements}, GlobalDenseTensor=\n{values}"
        )


class MeshTensor(_OnMesh, Tensor, results=False):
    """A tensor of which a mesh says where it is."""


class MeshParameter(_OnMesh, Parameter, results=False):
    """A parameter of which a mesh says where it is."""


def _checked(mesh: Any, placements: Any) -> list[Placement]:
    if not isinstance(mesh, ProcessMesh):
        raise ArgumentError(f"expected mesh to be a ProcessMesh, got {mesh!r:.60}")
    listed = list(placements)
    if not all(isinstance(placement, Placement) for placement in listed):
        raise ArgumentError(f"expected placements such as Replicate(), got {listed!r:.60}")
    parts = [placement for placement in listed if not placement.is_replicated()]
    if parts and groups.get().size > 1:
        raise UnsupportedError(
            f"{parts[0]} is not available in several processes, each of which has whole tensors; "
            "use Replicate()"
        )
    return listed


def shard_tensor(
    data: Any,
    mesh: ProcessMesh,
    placements: Sequence[Placement],
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A tensor of which a mesh says where its parts are; this process has it whole.

    Args:
        data: a tensor, or what ``to_tensor`` takes.
        mesh: the processes.
        placements: for each axis of the mesh, what a process has.
        dtype: the element type; that of ``data`` when None.
        place: accepted; there is one place.
        stop_gradient: accepted: it is that of ``data``, and True where that is no tensor.

    Raises:
        ArgumentError: an argument is of another kind.
        UnsupportedError: there are several processes, and each is to have a part.

    >>> from fluidlite.paddle import distributed
    >>> mesh = distributed.ProcessMesh([0], dim_names=["x"])
    >>> tensor = distributed.shard_tensor([1.0, 2.0], mesh, [distributed.Replicate()])
    >>> tensor.tolist(), tensor.is_dist(), tensor.placements
    ([1.0, 2.0], True, [Replicate()])
    """
    listed = _checked(mesh, placements)
    source: Any = data if isinstance(data, TensorRecord) else creation.to_tensor(data, dtype)
    if dtype is not None and isinstance(data, TensorRecord):
        source = source.astype(dtype)
    tensor: Any
    if isinstance(data, Parameter):
        tensor = MeshParameter(source.array, data.name, not data.stop)
        tensor.optimize_attr, tensor.regularizer = data.optimize_attr, data.regularizer
    else:
        tensor = MeshTensor(source.array, source.origin, source.stop)
    tensor.process_mesh, tensor.placements = mesh, listed
    return tensor


def dtensor_from_fn(
    fn: Callable[..., Any],
    mesh: ProcessMesh,
    placements: Sequence[Placement],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """What a function makes, on a mesh.

    Args:
        fn: makes a tensor.
        mesh: the processes.
        placements: for each axis of the mesh, what a process has.
        args, kwargs: what ``fn`` is called with.
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def reshard(dist_tensor: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """The same tensor on another mesh, or in other parts.

    Args:
        dist_tensor: a tensor on a mesh.
        mesh: the processes.
        placements: for each axis of the mesh, what a process has.

    Raises:
        ArgumentError: it is on no mesh.
    """
    if not isinstance(dist_tensor, _OnMesh):
        raise ArgumentError("reshard: expected a tensor that shard_tensor gave")
    return shard_tensor(dist_tensor, mesh, placements)


def shard_layer(
    layer: Layer,
    process_mesh: ProcessMesh,
    shard_fn: Callable[..., Any] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Layer:
    """Put the parameters of a layer on a mesh.

    Args:
        layer: the layer.
        process_mesh: the processes.
        shard_fn: called with the name of each layer within, the layer and the mesh; puts its
            parameters there.  All processes have them whole when None.
        input_fn: called with what the layer is given and the mesh; gives it changed.
        output_fn: called with what the layer gives and the mesh; gives it changed.

    Raises:
        ArgumentError: an argument is of another kind.
    """
    if not isinstance(layer, Layer):
        raise ParameterListError(f"shard_layer: expected a layer, got {layer!r:.60}")
    if not isinstance(process_mesh, ProcessMesh):
        raise ArgumentError(f"shard_layer: expected a ProcessMesh, got {process_mesh!r:.60}")
    for name, part in [("", layer), *layer.named_sublayers()]:
        (shard_fn or _replicate)(name, part, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, given: input_fn(given, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, given, out: output_fn(out, process_mesh))
    return layer


def _replicate(name: str, layer: Layer, mesh: ProcessMesh) -> None:
    for own, parameter in list(layer.named_parameters(include_sublayers=False)):
        if not isinstance(parameter, _OnMesh):
            setattr(layer, own, shard_tensor(parameter, mesh, [Replicate()] * mesh.ndim))


def shard_optimizer(optimizer: Any, shard_fn: Callable[..., Any] | None = None) -> Any:
    """The optimizer itself: each process keeps what it keeps of all parameters whole.

    Args:
        optimizer: an optimizer.
        shard_fn: accepted.

    Raises:
        ArgumentError: it is none.
    """
    if not hasattr(optimizer, "minimize"):
        raise ArgumentError(f"shard_optimizer: expected an optimizer, got {optimizer!r:.60}")
    return optimizer


to_static: Final = refusing(
    "to_static(layer: Layer, loader: Any = None, loss: Any = None, optimizer: Any = None, "
    "strategy: Any = None)",
    "Nothing, with an error: no program is divided by the placements of its tensors.",
    "distributed.to_static: no program is divided by the placements of its tensors; use "
    "paddle.jit.to_static, and paddle.DataParallel to share batches",
)


def _flat(state: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The tensors of nested dictionaries, by names with dots."""
    flat = {}
    for name, value in state.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{before}{name}."))
        elif isinstance(value, TensorRecord):
            flat[before + name] = value
        else:
            raise ArgumentError(f"{before}{name}: expected a tensor, got {value!r:.60}")
    return flat


def save_state_dict(
    state_dict: Mapping[str, Any], path: Path, process_group: Any = None, coordinator_rank: int = 0
) -> None:
    """Write tensors to a folder; process 0 does, all have them whole.

    Args:
        state_dict: tensors by name, or dictionaries of them.
        path: the folder; it is created if it does not exist.
        process_group, coordinator_rank: accepted.

    Raises:
        ArgumentError: it is no dictionary of tensors.
    """
    if not isinstance(state_dict, Mapping):
        raise ArgumentError(f"expected a dictionary of tensors, got {state_dict!r:.60}")
    arrays = {name: np.asarray(tensor.array) for name, tensor in _flat(state_dict).items()}
    if groups.get().rank != 0:
        return
    os.makedirs(path, exist_ok=True)
    files.save(arrays, os.path.join(path, _DATA))
    sizes = {name: list(array.shape) for name, array in arrays.items()}
    files.save({"shapes": sizes}, os.path.join(path, _METADATA))


@parameters_of(save_state_dict)
def load_state_dict(*given: Any) -> None:
    """Give tensors the values that ``save_state_dict`` wrote.

    Args:
        state_dict: tensors by name, or dictionaries of them; they take the values.

    Raises:
        ArgumentError: a tensor is not in the folder, or of another shape there; then none is
            changed.
    """
    state_dict, path = given[:2]
    written: Any = files.load(os.path.join(path, _DATA), return_numpy=True)
    if not isinstance(written, dict):
        raise FileFormatError(f"{path} has no state")
    tensors = _flat(state_dict)
    for name, tensor in tensors.items():
        shape = None if name not in written else list(np.shape(written[name]))
        if shape != list(tensor.array.shape):
            raise ArgumentError(
                f"expected {name} of shape {list(tensor.array.shape)} in {path}, got "
                f"{'none' if shape is None else shape}"
            )
    for name, tensor in tensors.items():
        tensor.set_value(np.asarray(written[name]).astype(tensor.array.dtype))


list_public_names(globals())
api_boundaries(globals())
