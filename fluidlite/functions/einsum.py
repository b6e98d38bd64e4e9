"""Sums of products by index notation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..eager.recording import eager
from ..errors import ArgumentError
from .arithmetic import matmul, multiply
from .reduction import sum as total
from .shaping import reshape, transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from ..opdef.operand import Operand

_ELLIPSIS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(equation: str, *operands: Operand | Sequence[Operand]) -> Tensor:
    """The sum of products that an equation says: ``"ij,jk->ik"`` is the product of matrices.

    Indices that the result does not have are summed over.  Operands are taken two by two from the
    left; what two of them share is one product of matrices.

    Args:
        equation: the indices of each operand, with commas between, ``->``, and those of the result;
            without an arrow, those that occur once, in alphabetical order.  ``...`` stands for the
            dimensions in front that are not named.
        operands: tensors.

    Raises:
        ArgumentError: the equation is none, or does not fit the operands.

    >>> x, y = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]]), fluid.to_tensor([1.0, 10.0])
    >>> fluid.einsum("ij,j->i", x, y).tolist(), float(fluid.einsum("ii", x))
    ([21.0, 43.0], 5.0)
    """
    inputs = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], list) else operands
    names, result = _read(equation, inputs)
    current, tensor = _diagonal(names[0], inputs[0])
    for number in range(1, len(inputs)):
        later = set("".join(names[number + 1 :])) | set(result)
        other, factor = _diagonal(names[number], inputs[number])
        current, tensor = _product(current, tensor, other, factor, later)
    gone = [i for i, n in enumerate(current) if n not in result]
    if gone:
        tensor = total(tensor, gone)
        current = "".join(n for n in current if n in result)
    order = [current.index(n) for n in result]
    return tensor if order == sorted(order) else transpose(tensor, order)


def _read(equation: str, operands: Any) -> tuple[list[str], str]:
    """The indices of the operands and of the result; letters in the place of dots."""
    if not isinstance(equation, str) or equation.count("->") > 1:
        raise ArgumentError(f"einsum: expected an equation such as 'ij,jk->ik', got {equation!r}")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ArgumentError(
            f"einsum: {equation!r} is for {len(terms)} operands, got {len(operands)}"
        )
    names, free = [], 0
    for term, operand in zip(terms, operands):
        named = term.replace("...", "")
        if not (named == "" or (named.isascii() and named.isalpha())) or term.count("...") > 1:
            raise ArgumentError(f"einsum: expected letters and '...', got {term!r} in {equation!r}")
        rest = operand.array.ndim - len(named)
        if rest < 0 or (rest and "..." not in term):
            raise ArgumentError(
                f"einsum: {term!r} in {equation!r} names {len(named)} dimensions of an operand of "
                f"shape {list(operand.array.shape)}"
            )
        unused = [c for c in _ELLIPSIS if c not in equation]
        dots = "".join(unused[:rest][::-1])
        free = max(free, rest)
        names.append(term.replace("...", dots))
    dots = "".join([c for c in _ELLIPSIS if c not in equation][:free][::-1])
    if arrow:
        result = right.replace("...", dots)
    else:
        every = "".join(names)
        once = sorted(n for n in set(every) - set(dots) if every.count(n) == 1)
        result = dots + "".join(once)
    if len(set(result)) != len(result) or not set(result) <= set("".join(names)):
        raise ArgumentError(f"einsum: the result of {equation!r} has unknown or repeated indices")
    return names, result


def _diagonal(names: str, tensor: Any) -> tuple[str, Any]:
    """A tensor whose indices are different: of those that repeat, the diagonal is taken."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            rest = [d for d in range(len(names)) if d not in (i, j)]
            size, other = tensor.array.shape[i], tensor.array.shape[j]
            if size != other and -1 not in (size, other):
                raise ArgumentError(f"einsum: {name!r} has sizes {size} and {other}")
            tensor = eager.take_diagonal(tensor, dim1=i, dim2=j)
            names = "".join(names[d] for d in rest) + name
    return names, tensor


def _product(a: str, x: Any, b: str, y: Any, later: set[str]) -> tuple[str, Any]:
    """The product of two tensors, summed over what nobody asks for later."""
    sizes = dict(zip(a, x.array.shape))
    for name, size in zip(b, y.array.shape):
        known = sizes.get(name, -1)
        if -1 not in (known, size) and known != size:
            if 1 in (known, size):
                return _spread(a, x, b, y, later)
            raise ArgumentError(f"einsum: {name!r} has sizes {known} and {size}")
        sizes[name] = size if known == -1 else known
    only = {
        n: [k for k in s if k not in t and k not in later] for n, s, t in (("x", a, b), ("y", b, a))
    }
    if only["x"]:
        x, a = (
            total(x, [a.index(n) for n in only["x"]]),
            "".join(n for n in a if n not in only["x"]),
        )
    if only["y"]:
        y, b = (
            total(y, [b.index(n) for n in only["y"]]),
            "".join(n for n in b if n not in only["y"]),
        )
    batch = [n for n in a if n in b and n in later]
    inner = [n for n in a if n in b and n not in later]
    rows, columns = [n for n in a if n not in b], [n for n in b if n not in a]
    if not inner:
        return _spread(a, x, b, y, later)
    lead = [sizes[n] for n in batch]
    left = transpose(x, [a.index(n) for n in (*batch, *rows, *inner)])
    right = transpose(y, [b.index(n) for n in (*batch, *inner, *columns)])
    m, k, n = (_joined([sizes[name] for name in names]) for names in (rows, inner, columns))
    out = matmul(_shaped(left, [*lead, m, k]), _shaped(right, [*lead, k, n]))
    names = [*batch, *rows, *columns]
    return "".join(names), _shaped(out, [sizes[name] for name in names])


def _shaped(x: Any, shape: list[int]) -> Any:
    """An operand in a shape; as it is where only sizes are unknown that stay what they are."""
    return x if x.array.shape == tuple(shape) else reshape(x, shape)


def _joined(sizes: list[int]) -> int:
    """The size of dimensions that are made one."""
    return sizes[0] if len(sizes) == 1 else prod(sizes)


def _spread(a: str, x: Any, b: str, y: Any, later: set[str]) -> tuple[str, Any]:
    """The product of two tensors by broadcasting."""
    names = a + "".join(n for n in b if n not in a)
    right = transpose(y, [b.index(n) for n in names if n in b])
    shape = iter(right.array.shape)
    wide = reshape(right, [next(shape) if n in b else 1 for n in names])
    out = multiply(reshape(x, [*x.array.shape, *[1] * (len(names) - len(a))]), wide)
    gone = [i for i, n in enumerate(names) if n not in later]
    kept = "".join(n for n in names if n in later)
    return (kept, total(out, gone)) if gone else (kept, out)
