"""Parts of arrays that processes had, put together and cut in another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .....errors import ArgumentError
from .....ground.public_names import list_public_names
from .....ground.reprs import Described
from .....ground.tracebacks import api_boundaries
from ...groups import get_rank

__all__ = ["Converter"]

#: ``process_shape``, ``process_group`` and ``dims_mapping`` of an array
Plan = Mapping[str, Sequence[int]]


class Converter(Described):
    """Cuts arrays in another way.

    Args:
        tensors_dict: the parts of each array, by its name, in the order of the processes.
        pre_strategy: how it was cut, by name: ``process_shape``, the sizes of the mesh;
            ``process_group``, its processes; ``dims_mapping``, for each dimension the axis of the
            mesh, -1 for none.
        cur_strategy: how it is cut now.

    Raises:
        ArgumentError: an argument is no dictionary, or empty.

    >>> from fluidlite.paddle.distributed.auto_parallel.static import converter
    >>> before = {"process_shape": [2], "process_group": [0, 1], "dims_mapping": [0, -1]}
    >>> whole = {**before, "dims_mapping": [-1, -1]}
    >>> parts = np.split(np.arange(4).reshape(2, 2), 2)
    >>> converter.Converter({"w": parts}, {"w": before}, {"w": whole}).convert()["w"].tolist()
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        tensors_dict: Mapping[str, Sequence[Any]],
        pre_strategy: Mapping[str, Plan],
        cur_strategy: Mapping[str, Plan],
    ) -> None:
        for name, mapping in (
            ("tensors_dict", tensors_dict),
            ("pre_strategy", pre_strategy),
            ("cur_strategy", cur_strategy),
        ):
            if not isinstance(mapping, Mapping) or not mapping:
                raise ArgumentError(f"expected {name} to be a dictionary, got {mapping!r:.60}")
        self._tensors_dict = tensors_dict
        self._pre_strategy, self._cur_strategy = pre_strategy, cur_strategy

    def convert(self, strict: bool = True) -> dict[str, Any]:
        """This process's parts of all arrays.

        Args:
            strict: whether each array has to be said before and now.

        Raises:
            ArgumentError: one is not.
        """
        names = [name for name in self._cur_strategy if name in self._tensors_dict]
        apart = {*self._tensors_dict} ^ {*self._cur_strategy}
        if strict and apart:
            raise ArgumentError(f"{sorted(apart)[0]} is not said both before and now")
        return {
            name: self.slice_with_dist_attr(
                self.merge_with_dist_attr(self._tensors_dict[name], self._pre_strategy[name]),
                self._cur_strategy[name],
            )
            for name in names
        }

    @staticmethod
    def merge_with_dist_attr(tensor_list: Sequence[Any], dist_attr: Plan) -> Any:
        """An array of its parts.

        Args:
            tensor_list: the parts, in the order of the processes.
            dist_attr: how it was cut.
        """
        counts = _counts(dist_attr, len(np.shape(tensor_list[0])))
        sizes = [size * n for size, n in zip(np.shape(tensor_list[0]), counts)]
        whole = np.empty(sizes, np.asarray(tensor_list[0]).dtype)
        for part, process in zip(tensor_list, dist_attr["process_group"]):
            whole[_place(dist_attr, sizes, process)] = part
        return whole

    @staticmethod
    def slice_with_dist_attr(tensor: Any, dist_attr: Plan) -> Any:
        """This process's part of an array; that of the first one where it has none.

        Args:
            tensor: the array.
            dist_attr: how it is cut.
        """
        group = dist_attr["process_group"]
        process = get_rank() if get_rank() in group else group[0]
        return np.asarray(tensor)[_place(dist_attr, np.shape(tensor), process)]

    @staticmethod
    def split(
        complete_tensor: Any, partition_index_list: Sequence[Sequence[int]], length: int
    ) -> list[Any]:
        """All parts of an array.

        Args:
            complete_tensor: the array.
            partition_index_list: for each dimension, where it is cut.
            length: how many processes there are.
        """
        parts = [np.asarray(complete_tensor)]
        for axis, ends in enumerate(partition_index_list):
            if ends:
                parts = [piece for part in parts for piece in np.split(part, list(ends), axis)]
        return parts[:length]


def _counts(plan: Plan, rank: int) -> list[int]:
    """Into how many parts each dimension is cut."""
    sizes, axes = plan["process_shape"], plan["dims_mapping"]
    if len(axes) != rank:
        raise ArgumentError(f"expected dims_mapping of {rank} dimensions, got {list(axes)}")
    return [1 if axis < 0 else sizes[axis] for axis in axes]


def _place(plan: Plan, sizes: Sequence[int], process: int) -> tuple[slice, ...]:
    """Which part of an array a process has."""
    at = np.unravel_index(list(plan["process_group"]).index(process), plan["process_shape"])
    place = []
    for size, axis, count in zip(sizes, plan["dims_mapping"], _counts(plan, len(sizes))):
        step = size // count
        number = 0 if axis < 0 else int(at[axis])
        place.append(slice(number * step, (number + 1) * step))
    return tuple(place)


list_public_names(globals())
api_boundaries(globals())
