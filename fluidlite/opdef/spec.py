"""What is known about a value before it is computed, and the arithmetic of shapes.

A size of -1 is unknown.  Functions here take and give such sizes; they raise ShapeError with the
sizes at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from ..errors import AxisError, DTypeError, ShapeError
from ..ground.dtypes import DType, Kind, as_dtype

Shape = tuple[int, ...]
#: a name for each size of a shape, None for those without one; empty where none has one
SizeNames = tuple[str | None, ...]


class Spec(NamedTuple):
    """Shape, element type and kind of a value."""

    shape: Shape
    dtype: DType
    kind: Kind = Kind.LOD_TENSOR
    lod_level: int = 0

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def with_shape(self, shape: Iterable[int]) -> Spec:
        """The same with another shape."""
        return Spec(tuple(shape), self.dtype, self.kind, self.lod_level)

    def with_dim(self, axis: int, size: int) -> Spec:
        """The same with another size along ``axis``."""
        shape = list(self.shape)
        shape[axis] = size
        return self._replace(shape=tuple(shape))

    def with_dtype(self, dtype: Any) -> Spec:
        """The same with another element type."""
        return self._replace(dtype=as_dtype(dtype))

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


#: what is known of every rank table
RANK_TABLE = Spec((), DType.INT64, Kind.LOD_RANK_TABLE)


def spec(shape: Iterable[int], dtype: Any) -> Spec:
    """A dense tensor's spec; ``dtype`` in any form that ``as_dtype`` takes."""
    return Spec(tuple(shape), as_dtype(dtype))


def same_dtype(**specs: Spec | None) -> None:
    """Check that all given specs have one element type.

    Raises:
        DTypeError: they have several; fluid never promotes them.
    """
    given = {name: s for name, s in specs.items() if s is not None}
    if len({s.dtype for s in given.values()}) > 1:
        listed = ", ".join(f"{name} {s.dtype}" for name, s in given.items())
        raise DTypeError(f"expected one element type, got {listed}; cast one of them")


def need_float(**specs: Spec | None) -> None:
    """Check that all given specs have a floating-point element type, or a complex one, where the
    operator takes those at all.
    """
    for name, s in specs.items():
        if s is not None and not s.dtype.is_continuous:
            raise DTypeError(f"expected {name} to be float16, float32 or float64, got {s.dtype}")


def same_float(**specs: Spec | None) -> None:
    """Check that all given specs have the element type of the first one, a floating-point one."""
    first = next(iter(specs))
    need_float(**{first: specs[first]})
    same_dtype(**specs)


def need_integer(**specs: Spec | None) -> None:
    """Check that all given specs have an integer element type."""
    for name, s in specs.items():
        if s is not None and (s.dtype.is_continuous or s.dtype is DType.BOOL):
            raise DTypeError(f"expected {name} to hold integers (int64 or int32), got {s.dtype}")


def need_numbers(name: str, s: Any) -> None:
    """Check that a spec, or each of a list, is of numbers and not of truth values."""
    for each in s if type(s) is list else (s,):
        if each is not None and each.dtype is DType.BOOL:
            raise DTypeError(f"expected {name} to hold numbers, got {each.dtype}; cast it first")


def need_ndim(allowed: int | Sequence[int], **specs: Spec) -> None:
    """Check that all given specs have so many dimensions."""
    allowed = (allowed,) if isinstance(allowed, int) else allowed
    for name, s in specs.items():
        if s.ndim not in allowed:
            wanted = " or ".join(map(str, allowed))
            shape = list(s.shape)
            raise ShapeError(f"expected {name} to have {wanted} dimensions, got shape {shape}")


def need_rank(name: str, s: Spec, least: int) -> None:
    """Check that there are so many dimensions, or more."""
    if s.ndim < least:
        raise ShapeError(
            f"expected {name} to have at least {least} dimension{'s' * (least > 1)}, got shape "
            f"{list(s.shape)}"
        )


def need_shape(
    name: str, s: Spec | None, shape: Sequence[int], why: str = "", of: Spec | None = None
) -> None:
    """Check that a spec, where it is there, may have a shape.

    Args:
        name: of the slot.
        s: the spec.
        shape: sizes, of which -1 may be any.
        why: what they follow from.
        of: a spec that ``why`` speaks of last.
    """
    if s is not None and (s.ndim != len(shape) or not all(map(agree, s.shape, shape))):
        wanted = str(list(shape)).replace("-1", "n")
        raise ShapeError(
            f"expected {name} of shape {wanted}{_reason(why, of)}, got {list(s.shape)}"
        )


def need_count(
    name: str, s: Spec | None, count: int, why: str = "", of: Spec | None = None
) -> None:
    """Check that a spec, where it is there, may have so many elements, in any shape.

    Args:
        name, s, why, of: as of :func:`need_shape`.
        count: how many; any number for -1.
    """
    if s is not None and not agree(size_of(s.shape), count):
        wanted = f"[{count}, 1]{_reason(why, of)}"
        raise ShapeError(f"expected {name} of shape {wanted}, got {list(s.shape)}")


def _reason(why: str, of: Spec | None) -> str:
    comma = "" if not why or why.startswith("for ") else ","
    return f"{comma} {why}{'' if of is None else f' {list(of.shape)}'}" if why else ""


def need_one(**specs: Spec | None) -> None:
    """Check that the specs that are there are of one number."""
    for name, s in specs.items():
        if s is not None and not agree(size_of(s.shape), 1):
            raise ShapeError(f"expected {name} to hold one number, got shape {list(s.shape)}")


def agree(a: int, b: int) -> bool:
    """Whether two sizes may be equal."""
    return a == b or a == -1 or b == -1


def known(a: int, b: int) -> int:
    """Of two sizes that agree, the one that is known."""
    return b if a == -1 else a


def normal_axis(axis: int, ndim: int, what: str = "axis") -> int:
    """``axis`` counted from the front.

    Raises:
        AxisError: it is outside [-ndim, ndim).
    """
    if not -ndim <= axis < ndim:
        raise AxisError(f"expected {what} in [{-ndim}, {ndim}), got {axis}")
    return axis % ndim


def as_whole(given: Any) -> Any:
    """A spec, or a list of them, as of whole tensors in place of some of their rows."""
    if isinstance(given, list):
        return [as_whole(each) for each in given]
    if given is None or given.kind is not Kind.SELECTED_ROWS:
        return given
    return given._replace(kind=Kind.LOD_TENSOR)


def sized(found: dict[str, Any]) -> dict[str, Any]:
    """What an operator infers, checked: sizes are 0 or more, or -1 where they are unknown.

    Raises:
        ShapeError: a size is none.
    """
    for slot, given in found.items():
        for inferred in given if type(given) is list else (given,):
            if inferred is not None and inferred.shape and min(inferred.shape) < -1:
                raise ShapeError(
                    f"expected sizes and attributes that give {slot} a shape, got "
                    f"{list(inferred.shape)}"
                )
    return found


def unexpected(ins: Mapping[str, Any], error: Exception) -> ShapeError:
    """What is raised where a shape rule fails at inputs that nobody expected.

    Args:
        ins: specs by input slot.
        error: how it failed.
    """
    listed = [
        f"{slot} {each}"
        for slot, given in ins.items()
        for each in (given if type(given) is list else [given])
        if each is not None
    ]
    return ShapeError(
        f"expected inputs and attributes that fit together, got {', '.join(listed) or 'no input'} "
        f"({type(error).__name__}: {error})"
    )


def size_of(shape: Iterable[int]) -> int:
    """The number of elements, -1 when a size is unknown."""
    sizes = tuple(shape)
    return -1 if -1 in sizes else prod(sizes)


def broadcast(x: Shape, y: Shape, axis: int = -1) -> Shape:
    """The shape of an element-wise operator's output: Y aligned with the dimensions of X that start
    at ``axis``.

    With ``axis`` -1 the last dimensions are aligned, and the operand of lower rank is widened.
    Sizes of 1 stretch.

    >>> broadcast((2, 3, 4), (3,), 1)
    (2, 3, 4)
    """
    if x == y:
        return x
    if len(x) < len(y):
        x, y = y, x
    lead = len(x) - len(y) if axis == -1 or len(x) == len(y) else axis
    while lead + len(y) > len(x) and y and y[-1] in (1, -1):  # fluid drops ones at the end
        y = y[:-1]
    if lead < 0 or lead + len(y) > len(x):
        raise ShapeError(f"cannot broadcast shapes {list(x)} and {list(y)} with axis={axis}")
    out = list(x)
    for i, n in enumerate(y, lead):
        if n == -1 and out[i] == 1:
            out[i] = -1
        elif n not in (1, -1):
            if out[i] not in (n, 1, -1):
                raise ShapeError(
                    f"cannot broadcast shapes {list(x)} and {list(y)} with axis={axis}"
                )
            out[i] = n
    return tuple(out)


def reduced(shape: Shape, dims: Sequence[int] | None, keep_dim: bool) -> Shape:
    """A shape after a reduction over ``dims`` (None: all of them)."""
    axes = (
        set(range(len(shape)))
        if dims is None
        else {normal_axis(d, len(shape), "dim") for d in dims}
    )
    if keep_dim:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def flat(shape: Shape, num_col_dims: int) -> tuple[int, int]:
    """Height and width of a tensor flattened to a matrix whose rows are its first ``num_col_dims``
    dimensions.
    """
    return size_of(shape[:num_col_dims]), size_of(shape[num_col_dims:])


def resolved(shape: Sequence[int], old: Shape, exact: bool = False) -> Shape:
    """The target of a reshape: 0 copies a size of ``old``, one -1 takes what is left.

    Args:
        shape: the target.
        old: the shape of what is reshaped.
        exact: 0 is a size of its own where there are no elements.  If not, it is where the sizes
            that are copied do not fit.

    Raises:
        ShapeError: the number of elements would change, or two sizes are -1.
    """
    if 0 in old and 0 in shape and min(shape) == 0:
        copies = tuple(n or (old[i] if i < len(old) else 0) for i, n in enumerate(shape))
        return tuple(shape) if exact or 0 not in copies else copies
    new = []
    for i, n in enumerate(shape):
        if n == 0:
            if i >= len(old):
                raise ShapeError(
                    f"shape {list(shape)} copies dimension {i}, but the input has shape {list(old)}"
                )
            n = old[i]
            new.append(n if n != -1 else -2)  # -2: unknown, and equal to the input's
        else:
            new.append(n)
    if new.count(-1) > 1:
        raise ShapeError(f"only one size of a new shape may be -1, got {list(shape)}")
    copied = sum(1 for n in new if n == -2)
    unknown = sum(1 for n in old if n == -1)
    rest = prod(n for n in new if n >= 0)
    have = prod(n for n in old if n != -1)
    if unknown == copied:  # what is unknown cancels
        if -1 in new:
            if rest == 0 or have % rest:
                raise ShapeError(
                    f"cannot reshape {list(old)} to {list(shape)}: the numbers of elements differ"
                )
            new[new.index(-1)] = have // rest
        elif rest != have:
            raise ShapeError(
                f"cannot reshape {list(old)} to {list(shape)}: the numbers of elements differ"
            )
    return tuple(-1 if n == -2 else n for n in new)


def pooled(size: int, kernel: int, before: int, after: int, stride: int, ceil: bool = False) -> int:
    """The number of positions of a window of ``kernel`` over ``size`` padded elements: 1 where it
    reaches beyond them by less than ``stride``, as in fluid.
    """
    if size == -1:
        return -1
    span = size + before + after - kernel + (stride - 1 if ceil else 0)
    if span <= -stride:
        raise ShapeError(
            f"a window of {kernel} does not fit into {size} elements padded by {before} and {after}"
        )
    return max(span, 0) // stride + 1


def covering(pad: tuple[int, int], size: int, kernel: int, stride: int) -> tuple[int, int]:
    """``pad`` (before, after), and what is missing behind it where the window has a position of
    which :func:`pooled` says that it reaches beyond.
    """
    missing = kernel - size - sum(pad)
    return (pad[0], pad[1] + missing) if size != -1 and 0 < missing < stride else pad


def window_padding(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    algorithm: str = "EXPLICIT",
    dilations: Sequence[int] | None = None,
) -> list[tuple[int, int]]:
    """Padding before and after each spatial dimension.

    Args:
        sizes: spatial sizes of the input (-1 unknown).
        kernel: sizes of the window.
        strides: steps of the window.
        paddings: one number a dimension, or two (before, after).
        algorithm: "EXPLICIT", "VALID" (no padding), or "SAME" (as many outputs as
            ceil(size / stride)).
        dilations: spread of the window; not used by pooling.
    """
    n = len(kernel)
    if algorithm == "VALID":
        return [(0, 0)] * n
    if algorithm == "SAME":
        pads = []
        for size, k, s in zip(sizes, kernel, strides, strict=True):
            if size == -1:
                pads.append((0, 0))
                continue
            total = max((-(-size // s) - 1) * s + k - size, 0)
            pads.append((total // 2, total - total // 2))
        return pads
    if algorithm != "EXPLICIT":
        raise ShapeError(f"expected padding_algorithm EXPLICIT, SAME or VALID, got {algorithm!r}")
    if len(paddings) == n:
        return [(p, p) for p in paddings]
    if len(paddings) == 2 * n:
        return [(paddings[2 * i], paddings[2 * i + 1]) for i in range(n)]
    raise ShapeError(f"expected {n} or {2 * n} paddings, got {list(paddings)}")
