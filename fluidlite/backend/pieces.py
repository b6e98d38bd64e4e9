"""Element-wise chains on NumPy, worked on in pieces that stay in the cache.

By themselves the instructions of a chain read and write whole arrays, which wait for memory.  Here
all of them work on one piece, then on the next one; what they pass on lies in a few rooms of the
size of a piece.  Each instruction has the kernel that it has by itself, for the shape of a piece,
so results keep every bit.  A row that is added to all rows of a matrix, such as a bias, is repeated
as often as a piece has rows, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm, prod
from typing import Any

from ..ground.dtypes import Kind
from ..kernels import threads
from ..opdef.prepared import KernelLibrary, Prepared, Scratch
from .chain_nodes import ElementwiseChain, node_of, nodes_of, row_of
from .chain_run import ChainRooms, ChainRun

LEAST = 1 << 18  #: bytes of a value from which on it is cut
REPEATED = 1 << 19  #: from which on rows are repeated for it, which takes a piece by itself
ROOM = 1 << 20  #: bytes of all pieces that are worked on at a time, about
SMALLEST, LARGEST = 1 << 14, 1 << 17  #: bytes of a piece
MOST_ARRAYS = 16
#: values beside those of a chain that a part of it may make: the rest may be what reads them
SPARE = 2
#: operators of which each element of the result depends on the elements at its place alone
TYPES = frozenset(
    [
        *("abs", "clip", "cos", "erf", "exp", "gelu", "leaky_relu", "leaky_relu_grad", "log"),
        *("pow", "reciprocal", "relu", "relu6", "relu6_grad", "relu_grad", "rsqrt", "scale"),
        *("sigmoid", "sigmoid_grad", "sign", "sin", "sqrt", "sqrt_grad", "square", "square_grad"),
        *("swish", "swish_grad", "tanh", "tanh_grad", "sum", "elementwise_add", "elementwise_sub"),
        *("elementwise_mul", "elementwise_div", "elementwise_max", "elementwise_min"),
        "elementwise_pow",
    ]
)


class PieceKernels(KernelLibrary):
    """Kernels for chains."""

    name = "numpy"
    most_arrays = MOST_ARRAYS

    def __init__(self) -> None:
        self._known: dict[Any, bool] = {}

    def trace(self, instruction: Any) -> Any:
        """The instruction; None where it is not element-wise, or small."""
        if instruction.fused is not None or len(instruction.results) != 1:
            return None
        result = instruction.result
        dtype = result.dtype
        if dtype.char not in "fd" or result.size * dtype.itemsize < LEAST:
            return None
        if result.layout is not None or instruction.op.type not in TYPES:
            return None
        if not all(_fits(value, result) for value in instruction.inputs):
            return None
        key = instruction.typed
        if key not in self._known:
            node = node_of(instruction)
            fits = node.is_even and node.step(SMALLEST // dtype.itemsize) is not None
            self._known[key] = fits
        return instruction if self._known[key] else None

    def group(
        self, members: Sequence[Any], outputs: Sequence[Any], before: ElementwiseChain | None = None
    ) -> ElementwiseChain | None:
        """What instructions on values of one shape compute."""
        first = members[0].result.stored
        if any(member.result.stored != first for member in members):
            return None
        made = {value for member in members for value in member.results}
        read = dict.fromkeys(value for member in members for value in member.inputs)
        inputs = [value for value in read if value not in made]
        if not outputs or len(inputs) + len(outputs) > MOST_ARRAYS:
            return None
        if _repeated(inputs, *first) is None:
            return None
        chain = ElementwiseChain(list(members), inputs, list(outputs))
        return chain if chain.excess <= SPARE else None

    def kernels(
        self, sources: Sequence[ElementwiseChain], specs: Sequence[Any], team: int | None = None
    ) -> list[Prepared | None]:
        """The kernels of chains."""
        return [self._kernel(chain) for chain in sources]

    def _kernel(self, chain: ElementwiseChain) -> Prepared | None:
        if chain.excess > 0:
            return None
        shape, dtype = chain.outputs[0].stored
        total, itemsize = prod(shape), dtype.itemsize
        nodes = nodes_of(chain)
        first = [node.step(min(total, SMALLEST // itemsize)) for node in nodes]
        rooms = ChainRooms(chain, nodes, first)
        nbytes = ROOM // (len(chain.inputs) + len(chain.outputs) + rooms.count)
        size = min(total, min(LARGEST, max(SMALLEST, nbytes)) // itemsize)
        size -= size % (_repeated(chain.inputs, shape, dtype) or 1)
        sizes = {size, total % size or size}
        steps = {n: [each for node in nodes if (each := node.step(n))] for n in sizes}
        if any(len(own) < len(nodes) for own in steps.values()):
            return None
        workers = threads.count() if total * itemsize >= threads.COSTLY else 1
        run = ChainRun(chain, rooms, steps, size, workers)
        scratch = Scratch((run.rows + workers * rooms.count, size), dtype)
        between = max(step.between for own in steps.values() for step in own)
        return Prepared(run, out=True, over=rooms.over, scratch=scratch, between=between)


def _fits(value: Any, result: Any) -> bool:
    """Whether an operand has the elements of the result, those of its rows, or one."""
    if value.kind is not Kind.LOD_TENSOR or value.dtype != result.dtype or value.layout is not None:
        return False
    if value.size == 1 or value.shape == result.shape:
        return True
    is_large = result.size * result.dtype.itemsize >= REPEATED
    return is_large and _repeated([value], *result.stored) is not None


def _repeated(values: Sequence[Any], shape: Any, dtype: Any) -> int | None:
    """How many elements a piece has, or a multiple of it, where some values are rows of one of a
    shape; None where there are others, or too many.
    """
    least = 1
    for value in values:
        if value.size > 1 and value.shape != shape:
            row = row_of(value.shape)
            if row != tuple(shape[len(shape) - len(row) :]):
                return None
            least = lcm(least, value.size)
    return least if least * dtype.itemsize <= SMALLEST else None


def open_library(graph: Any) -> PieceKernels:
    """What there is for a graph."""
    return PieceKernels()
