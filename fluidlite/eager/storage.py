"""How the elements of a tensor lie in memory, and what only other kinds of tensors have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..errors import ArgumentError, ExplainedError, UnsupportedError
from ..functions import selection
from ..ground.dtypes import Kind
from ..ground.extension import ExtensionPoint
from ..ground.spellings import Spelling
from ..ground.values import HeldTensor, Lod, LoDTensor, SelectedRows
from . import engine
from .recording import TensorRecord
from .sweep import described
from .views import layout

SPARSE: ExtensionPoint[Any] = ExtensionPoint("sparse forms of tensors")
_SPARSE = "all its elements are there; to_sparse_coo() makes a sparse one of it"
#: methods that only other kinds of tensors have, and why
_OF_OTHERS = {
    **dict.fromkeys(["nnz", "cols", "crows", "indices", "values", "coalesce"], _SPARSE),
    "to_dense": _SPARSE,
    **dict.fromkeys(["get_map_tensor", "set_vocab", "set_string_list"], "there are no strings"),
    **dict.fromkeys(["create_parameter", "create_tensor"], "paddle.create_parameter makes one"),
    "cuda": "there is one place, 'cpu'",
    "pin_memory": "there is one place, 'cpu', which needs no pinned memory",
    "top_p_sampling": "paddle 2.6 has no kernel of it for the CPU, either",
}


def _of_others(name: str, reason: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise engine.located(UnsupportedError, f"{described(self)} has no {name}(): {reason}")

    method.__name__, method.__qualname__ = name, f"Storage.{name}"
    method.__doc__ = f"Refused: {reason}."
    return method


def _has_no_block(tensor: Any) -> str:
    return f"{described(tensor)} has no block: tensors belong to no program"


class _Elements(HeldTensor):
    """What reads and writes the elements of a tensor."""

    __slots__ = ()

    def _load(self) -> tuple[Any, Lod]:
        return self._holder.array, ()

    def _store(self, data: Any, lod: Lod) -> None:
        self._holder.set_value(data)


def _given(self: Any, value: bool) -> bool:
    """What is the same for all tensors."""
    return value


_ANSWER = Spelling({})


class Storage(TensorRecord, results=False):
    """Tensors that say how they lie in memory."""

    #: what only tensors have that are divided among machines
    num_shard: Any = None
    placements: Any = None
    process_mesh: Any = None
    dist_attr: Any = None

    @property
    def block(self) -> Any:
        """Refused: tensors belong to no program."""
        raise ExplainedError(_has_no_block, self, name="block")

    @property
    def strides(self) -> list[int]:
        """How many elements lie between neighbours, for each dimension."""
        lie = layout(self)
        return [step // lie.itemsize for step in lie.strides]

    def get_strides(self) -> list[int]:
        """How many elements lie between neighbours, for each dimension."""
        return self.strides

    @property
    def offset(self) -> int:
        """How many bytes lie before the first element."""
        lie = layout(self)
        return int(lie.flat[0]) * self.array.dtype.itemsize if lie.size else 0

    @property
    def layout(self) -> str:
        """The order of dimensions."""
        return "NCHW"

    @property
    def type(self) -> Kind:
        """What kind of variable it is."""
        return Kind.LOD_TENSOR

    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other, the last dimension first."""
        return bool(layout(self).flags.c_contiguous)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.__array_interface__["data"][0])

    def get_tensor(self) -> LoDTensor:
        """What holds the elements: ``np.array`` copies them, ``set`` gives others."""
        return _Elements(self)

    def value(self) -> Any:
        """The tensor itself."""
        return self

    is_tensor: ClassVar[Callable[..., bool]] = _ANSWER(
        _given, "is_tensor", "True.", fixed={"value": True}
    )
    is_dist: ClassVar[Callable[..., bool]] = _ANSWER(
        _given,
        "is_dist",
        "False: the tensor is not divided among machines.",
        fixed={"value": False},
    )
    is_sparse: ClassVar[Callable[..., bool]] = _ANSWER(
        _given, "is_sparse", "False: all elements are there.", fixed={"value": False}
    )
    is_sparse_coo = is_sparse
    is_sparse_csr = is_sparse
    _seen: tuple[SelectedRows | None, Any]

    @property
    def stored_rows(self) -> SelectedRows | None:
        """The rows that it is stored in, where it is the gradient of a sparse table."""
        rows, array = self._seen
        return rows if array is self.array else None

    def is_dense(self) -> bool:
        """Whether all elements are there, and not only rows of a gradient."""
        return self.stored_rows is None

    def is_selected_rows(self) -> bool:
        """Whether only some rows are stored, of the gradient of a sparse table."""
        return self.stored_rows is not None

    def get_selected_rows(self) -> Any:
        """The rows that are stored, of the gradient of a sparse table; None of other tensors."""
        return self.stored_rows

    def rows(self) -> list[int]:
        """The numbers of the rows that are stored, of the gradient of a sparse table.

        Raises:
            UnsupportedError: all elements are there.
        """
        stored = self.stored_rows
        if stored is None:
            raise engine.located(
                UnsupportedError, f"{described(self)} has no rows(): all its elements are there"
            )
        return [int(number) for number in stored.numbers]

    def is_same_shape(self, y: Any) -> bool:
        """Whether another tensor has the same shape."""
        return [*self.array.shape] == [*y.shape]

    def to_sparse_coo(self, sparse_dim: int) -> Any:
        """The tensor with the coordinates of what is not zero.

        Args:
            sparse_dim: how many dimensions have coordinates, from the first on.

        Raises:
            AxisError: there are fewer dimensions, or it is 0 or less.
        """
        return SPARSE.get().coo_of(self, sparse_dim)

    def to_sparse_csr(self) -> Any:
        """The tensor by rows: which columns of each are not zero.

        Raises:
            ShapeError: it has not two or three dimensions.
        """
        return SPARSE.get().csr_of(self)

    def is_integer(self) -> bool:
        """Whether the elements are integers."""
        return bool(self.array.dtype.kind in "iu")

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return bool(self.array.dtype.kind == "c")

    def ndimension(self) -> int:
        """The number of dimensions."""
        return len(self.array.shape)

    @property
    def grad_(self) -> Any:
        """The gradient; the same as ``grad``."""
        tensor: Any = self
        return tensor.grad

    def where_(self, x: Any = None, y: Any = None, name: str | None = None) -> Any:
        """What is x where this tensor holds, and y elsewhere, in place of x."""
        if x is None or y is None:
            raise engine.located(ArgumentError, "where_: expected both x and y")
        condition: Any = self
        return x.write(lambda old: selection.where(condition, old, y))

    def copy_(self, other: Any, blocking: bool = True) -> Any:
        """Take the elements of another tensor, in place.

        Args:
            other: a tensor of this one's shape.
            blocking: accepted; there is one place.
        """
        tensor: Any = self
        return tensor.set_value(other)

    def reconstruct_from_(self, other: Any) -> Any:
        """Become another tensor: its elements, its shape and its past."""
        tensor: Any = self
        tensor.array, tensor.origin, tensor.stop = other.array, other.origin, other.stop
        return None


for _name, _reason in _OF_OTHERS.items():
    setattr(Storage, _name, _of_others(_name, _reason))
