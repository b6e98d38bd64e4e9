"""Sums of products by index notation."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Specs, Value, Values
from ..opdef.attribute import REQUIRED
from ..opdef.conjugation import HOLOMORPHIC, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import Spec, known

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class einsum(Op):
    """Out = the sum of products that an equation says: "ij,jk->ik" is the product of matrices.

    Indices that the result does not have are summed over.  Operands are taken two by two from the
    left; what two of them share is one product of matrices.

    Operands: tensors.
    InnerCache: the operands, for the gradient operator of paddle 2; only where it has variables.
    XShape: not computed.
    equation: the indices of each operand, with commas between, "->", and those of the result;
        without an arrow, those that occur once, in alphabetical order.  "..." stands for the
        dimensions in front that are not named.
    """

    signature = "Operands* -> Out, InnerCache*?!~, XShape*?!~"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    lod: ClassVar[str | None] = None
    sees_outputs: ClassVar[bool] = True
    equation: str = REQUIRED

    def width(self, Operands: list[Any]) -> int:
        return 0

    def infer(self, Operands: list[Spec]) -> Specs:
        names, result = self.read(Operands)
        sizes: dict[str, int] = {}
        for indices, operand in zip(names, Operands):
            for name, size in zip(indices, operand.shape):
                sizes[name] = self.common(name, sizes.get(name, 1), size)
        operands = Operands if "InnerCache" in self.output_widths else None
        return Operands[0].with_shape([sizes[name] for name in result]), operands, None

    def common(self, name: str, a: int, b: int) -> int:
        """The size of an index, from two operands; sizes of 1 stretch."""
        if 1 in (a, b):
            return a if b == 1 else b
        if -1 not in (a, b) and a != b:
            raise ShapeError(f"einsum: {name!r} has sizes {a} and {b}")
        return known(a, b)

    def read(self, operands: list[Any]) -> tuple[list[str], str]:
        """The indices of the operands and of the result; letters in place of dots."""
        equation = self.equation
        if equation.count("->") > 1:
            raise AttributeValueError(f"expected an equation such as 'ij,jk->ik', got {equation!r}")
        left, arrow, right = equation.replace(" ", "").partition("->")
        terms = left.split(",")
        if len(terms) != len(operands):
            raise ShapeError(
                f"einsum: {equation!r} is for {len(terms)} operands, got {len(operands)}"
            )
        letters = [c for c in _LETTERS if c not in equation]
        names, free = [], 0
        for term, operand in zip(terms, operands):
            named = term.replace("...", "")
            if not (named == "" or (named.isascii() and named.isalpha())) or term.count("...") > 1:
                raise AttributeValueError(
                    f"expected letters and '...', got {term!r} in {equation!r}"
                )
            rest = len(operand.shape) - len(named)
            if rest < 0 or (rest and "..." not in term):
                raise ShapeError(
                    f"einsum: {term!r} in {equation!r} names {len(named)} dimensions of an operand "
                    f"of shape {list(operand.shape)}"
                )
            free = max(free, rest)
            names.append(term.replace("...", "".join(letters[:rest][::-1])))
        dots = "".join(letters[:free][::-1])
        if arrow:
            result = right.replace("...", dots)
        else:
            every = "".join(names)
            once = sorted(n for n in {*every} - {*dots} if every.count(n) == 1)
            result = dots + "".join(once)
        if len({*result}) != len(result) or not {*result} <= {*"".join(names)}:
            raise AttributeValueError(
                f"expected indices of the operands, each once, in the result of {equation!r}"
            )
        return names, result

    def expand(self, f: Any, Operands: list[Value]) -> Values:
        names, result = self.read(Operands)
        current, tensor = _diagonal(f, names[0], Operands[0])
        for number in range(1, len(Operands)):
            later = {*"".join(names[number + 1 :])} | {*result}
            other, factor = _diagonal(f, names[number], Operands[number])
            current, tensor = _product(f, current, tensor, other, factor, later)
        current, tensor = _summed(f, current, tensor, [n for n in current if n not in result])
        order = [current.index(n) for n in result]
        ordered = order == sorted(order)
        out = f.assign(tensor) if ordered else f.transpose(tensor, axis=order)
        kept = "InnerCache" in self.output_widths
        return out, [f.assign(operand) for operand in Operands] if kept else None, None


def _summed(f: Any, names: str, x: Value, gone: list[str]) -> tuple[str, Value]:
    """A tensor summed over some of its indices."""
    if not gone:
        return names, x
    total = f.reduce_sum(x, dim=[names.index(n) for n in gone], zero_d=True)
    return "".join(n for n in names if n not in gone), total


def _diagonal(f: Any, names: str, tensor: Value) -> tuple[str, Value]:
    """A tensor whose indices are different: of those that repeat, the diagonal is taken."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            size, other = tensor.shape[i], tensor.shape[j]
            if size != other:
                raise ShapeError(f"einsum: {name!r} has sizes {size} and {other}")
            tensor = f.take_diagonal(tensor, dim1=i, dim2=j)
            names = "".join(n for d, n in enumerate(names) if d not in (i, j)) + name
    return names, tensor


def _product(f: Any, a: str, x: Value, b: str, y: Value, later: set[str]) -> tuple[str, Value]:
    """The product of two tensors, summed over what nobody asks for later."""
    sizes, others = dict(zip(a, x.shape)), dict(zip(b, y.shape))
    if any(sizes[n] != others[n] for n in a if n in b):
        return _spread(f, a, x, b, y, later)
    sizes.update(others)
    a, x = _summed(f, a, x, [n for n in a if n not in b and n not in later])
    b, y = _summed(f, b, y, [n for n in b if n not in a and n not in later])
    batch = [n for n in a if n in b and n in later]
    inner = [n for n in a if n in b and n not in later]
    rows, columns = [n for n in a if n not in b], [n for n in b if n not in a]
    if not inner:
        return _spread(f, a, x, b, y, later)
    lead = [sizes[n] for n in batch]
    left = f.transpose(x, axis=[a.index(n) for n in (*batch, *rows, *inner)])
    right = f.transpose(y, axis=[b.index(n) for n in (*batch, *inner, *columns)])
    m, k, n = (prod(sizes[name] for name in names) for names in (rows, inner, columns))
    out = f.matmul(f.reshape(left, shape=[*lead, m, k]), f.reshape(right, shape=[*lead, k, n]))
    names = [*batch, *rows, *columns]
    return "".join(names), f.reshape(out, shape=[sizes[name] for name in names])


def _spread(f: Any, a: str, x: Value, b: str, y: Value, later: set[str]) -> tuple[str, Value]:
    """The product of two tensors by broadcasting."""
    names = a + "".join(n for n in b if n not in a)
    order = [b.index(n) for n in names if n in b]
    right = f.transpose(y, axis=order) if order else y
    sizes = iter(right.shape)
    wide = f.reshape(right, shape=[next(sizes) if n in b else 1 for n in names])
    left = f.reshape(x, shape=[*x.shape, *[1] * (len(names) - len(a))])
    out = f.elementwise_mul(*f.broadcast_tensors([left, wide]))
    return _summed(f, names, out, [n for n in names if n not in later])
