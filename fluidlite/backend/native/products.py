"""Products of small matrices, whose sizes are constants of their kernels: calling NumPy takes
longer than computing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...opdef.structure import MatrixProduct
from .loops import C_TYPES
from .source import KernelSource, entries, named

#: multiplications times the bytes of an element, up to which it is faster than NumPy's BLAS
MOST = 1 << 20
MOST_TURNED = 1 << 17  #: bytes of a copy of Y
FASTER = 8  #: as a multiplication is than the work that kernels are compared by
ROWS = 4  #: of the result that are computed at once, so that what is read of Y serves all of them
WIDTHS = (64, 32, 16)  #: bytes of the columns that are computed at once


@lru_cache(maxsize=1024)
def product_source(
    product: MatrixProduct, x: tuple[int, ...], y: tuple[int, ...], dtype: Any
) -> KernelSource | None:
    """The kernel of a product of matrices; None where it is too large, or of other elements.

    Args:
        product: which of them are transposed.
        x, y: their shapes, as they lie.
        dtype: of their elements.
    """
    rows, depth = (x[1], x[0]) if product.transpose_x else (x[0], x[1])
    columns = y[0] if product.transpose_y else y[1]
    if dtype.char not in "fd" or min(rows, columns) < 2 or depth < 1:
        return None
    if rows * columns * depth * dtype.itemsize > MOST:
        return None
    if product.transpose_y and (rows < ROWS or columns * depth * dtype.itemsize > MOST_TURNED):
        return None
    made = _Product(product, (rows, depth, columns), dtype)
    lines = [*made.written(), *entries(3, 2, 1)]
    return named(lines, 2, 0, 1, rows * columns * depth / FASTER)


class _Product:
    def __init__(self, product: MatrixProduct, sizes: tuple[int, int, int], dtype: Any) -> None:
        self._product = product
        self._rows, self._depth, self._columns = sizes
        self._type, self._item = C_TYPES[dtype], dtype.itemsize

    def written(self) -> Iterator[str]:
        """The lines of the functions for the only block and behind it."""
        kind = self._type
        yield "CONTRACTED int NAME_part(PyObject *args, i64 block) {"
        yield "  CONTRACT"
        yield f"  const {kind} *restrict x = (const {kind} *)DATA(args, 0);"
        yield f"  const {kind} *restrict y = (const {kind} *)DATA(args, 1);"
        yield f"  {kind} *restrict out = ({kind} *)DATA(args, 2);"
        for width in self._widths():
            yield f"  typedef {kind} vector{width}"
            yield f"    __attribute__((vector_size({width * self._item}), aligned({self._item})));"
        if self._product.transpose_y:
            yield f"  {kind} turned[{self._depth * self._columns}];"
            yield f"  for (i64 k = 0; k < {self._depth}; k++)"
            yield f"    for (i64 j = 0; j < {self._columns}; j++)"
            yield f"      turned[k * {self._columns} + j] = y[j * {self._depth} + k];"
            yield "  y = turned;"
        whole = self._rows - self._rows % ROWS
        if whole:
            yield f"  for (i64 i = 0; i < {whole}; i += {ROWS}) {{"
            yield from self._strip(ROWS)
            yield "  }"
        if whole < self._rows:
            yield f"  const i64 i = {whole};"
            yield from self._strip(self._rows - whole)
        yield "  return 0;"
        yield "}"
        yield "int NAME_end(PyObject *args) { return 0; }"

    def _widths(self) -> list[int]:
        return [width // self._item for width in WIDTHS]

    def _strip(self, rows: int) -> Iterator[str]:
        """So many rows of the result, from row i on."""
        begin = 0
        for width in (*self._widths(), 1):
            end = begin + (self._columns - begin) // width * width
            if begin < end:
                yield f"    for (i64 j = {begin}; j < {end}; j += {width}) {{"
                yield from self._tile(rows, width)
                yield "    }"
            begin = end

    def _tile(self, rows: int, width: int) -> Iterator[str]:
        """Rows of so many columns, from column j on."""
        kind = f"vector{width}" if width > 1 else self._type
        sums = ", ".join(f"s{r} = {{0}}" for r in range(rows))
        turned = self._product.transpose_x
        yield f"      {kind} {sums};"
        yield f"      for (i64 k = 0; k < {self._depth}; k++) {{"
        yield f"        const {kind} b = *(const {kind} *)(y + k * {self._columns} + j);"
        for r in range(rows):
            at = f"k * {self._rows} + i + {r}" if turned else f"(i + {r}) * {self._depth} + k"
            yield f"        s{r} += x[{at}] * b;"
        yield "      }"
        for r in range(rows):
            yield f"      *({kind} *)(out + (i + {r}) * {self._columns} + j) = s{r};"
