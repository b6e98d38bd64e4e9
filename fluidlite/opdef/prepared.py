"""Prepared kernels, for values of known shapes, and what kernel libraries offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .structure import Epilogue

ALIGNMENT = 64  #: bytes; of memory to work in


class KernelDeclined(Exception):
    """A kernel of a library does not compute what the operator means for the values that came;
    the steps are to be interpreted this time.
    """


class Prepared(NamedTuple):
    """A NumPy kernel for values of known shapes.

    ``function`` takes the values that ``run`` takes and gives one array, or a tuple of them.
    """

    function: Callable[..., Any]
    #: whether it takes ``out=``: an array to write its result to, or None; a tuple of them where it
    #: gives several
    out: bool = False
    #: positions of arguments that ``out`` may be
    over: tuple[int, ...] = ()
    #: position of an argument that the result is like, where the shape rule cannot know it
    like: int | None = None
    #: makes an array to work in, which is passed behind the other arguments; kernels whose makers
    #: are equal get the same one.  Where it says that it needs some of the memory ``common`` to all
    #: kernels, it is given that; nothing that is there is kept from kernel to kernel
    scratch: Callable[..., Any] | None = None
    #: bytes of the arrays that it makes beside the result, and lets go of before it ends, at the
    #: moment when they are most
    between: int = 0
    #: positions of arguments of which only the shape matters
    unread: tuple[int, ...] = ()
    #: of an asynchronous kernel: begins it and gives a handle, which ``wait`` takes and gives the
    #: results
    start: Callable[..., Any] | None = None
    wait: Callable[..., Any] | None = None
    #: what it is in a command buffer (``backend.commands.NativeCommand``), from the arguments and
    #: behind them the results; None where they do not lie as that needs it
    command: Callable[..., Any] | None = None
    #: whether NumPy says nothing of infinities while it runs
    quiet: bool = False


@dataclass(frozen=True)
class Scratch:
    """Makes an array to work in."""

    shape: tuple[int, ...]
    dtype: Any
    nbytes = 0  #: what it needs of its own

    @property
    def common(self) -> int:
        """What it needs of the memory that all kernels of a plan work in, one after the other."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def __call__(self, memory: Any = None) -> Any:
        """The array, within some memory where that is given."""
        if memory is None:
            return np.empty(self.shape, self.dtype)
        return memory[: self.common].view(self.dtype).reshape(self.shape)


def carved(memory: Any, *wanted: tuple[tuple[int, ...], Any]) -> list[Any]:
    """Arrays one after the other in some memory.

    Args:
        memory: bytes, as many as :func:`size_of_carved` says; None for new arrays.
        wanted: pairs of a shape and an element type.
    """
    if memory is None:
        return [np.empty(shape, dtype) for shape, dtype in wanted]
    arrays, begin = [], 0
    for shape, dtype in wanted:
        size = prod(shape) * np.dtype(dtype).itemsize
        arrays.append(memory[begin : begin + size].view(dtype).reshape(shape))
        begin += -(-size // ALIGNMENT) * ALIGNMENT
    return arrays


def size_of_carved(*wanted: tuple[tuple[int, ...], Any]) -> int:
    """The bytes that :func:`carved` needs."""
    sizes = [prod(shape) * np.dtype(dtype).itemsize for shape, dtype in wanted]
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)


class Offer(NamedTuple):
    """A kernel that a library offers for an instruction."""

    kernel: Prepared | None  #: of arrays as they are laid out; None for the operator's own
    #: the layout of each operand, or of all in a list; None where it is that of plain arrays.  None
    #: in place of the tuple: all are plain
    takes: tuple[Any, ...] | None = None
    gives: tuple[Any, ...] | None = None  #: the same of each result
    #: keys of workspaces that it reads behind the operands, made by kernels before it
    reads: tuple[Any, ...] = ()
    #: keys and shapes of workspaces, arrays of bytes, that it makes behind the results
    makes: tuple[tuple[Any, tuple[int, ...]], ...] = ()
    #: values that it takes in place of the instruction's operands
    operands: tuple[Any, ...] | None = None
    fused: int = 0  #: how many of the epilogues it computes, too
    masks: bool = False  #: whether its gradient computes that of the epilogue, too


class Epilogues(NamedTuple):
    """What a kernel may compute at once behind an instruction."""

    #: in order: what it is, and the instruction
    chain: tuple[tuple[Epilogue, Any], ...] = ()
    #: the gradient of the first of the chain, where the gradient of the instruction alone reads it
    mask: Any = None

    def begins_with(self, function: str) -> bool:
        """Whether the first of the chain is a function (see ``Epilogue``)."""
        return bool(self.chain) and self.chain[0][0].function == function

    def order_behind(self, count: int) -> tuple[int, ...]:
        """The order that dimensions get behind so many of the chain; empty where they stay."""
        return self.chain[count][0].order if count < len(self.chain) else ()


class KernelLibrary:
    """Kernels for the instructions of one graph: the base of libraries, which offers nothing.

    A library has kernels for single instructions (:meth:`cost` and what follows it), or makes some
    for groups of instructions (``most_arrays``, and the last three methods), or both.
    """

    name: ClassVar[str] = ""
    #: the most arrays that a kernel of a group reads and makes; 0 where it makes none for groups
    most_arrays: ClassVar[int] = 0
    #: chooses how many threads its kernels get (``kernels.tuning.ThreadTuner``)
    tuner: Any = None
    #: records command buffers (``backend.commands.CommandFunctions``)
    command_functions: Any = None

    @property
    def team(self) -> int | None:
        """The address of what starts its threads, for other libraries; None where it has none."""
        return None

    def improvement(self) -> Any:
        """Kernels that will be there later: whether they are, says ``is_ready()``; None where
        nothing is missing.
        """
        return None

    def cost(self, instruction: Any, layouts: Mapping[int, list[Any]]) -> float | None:
        """What the library's kernel takes, as a multiple of NumPy's; None where it has none.

        Args:
            instruction: one of a plan.
            layouts: by number of a value, the layouts that it exists in, the first one first; None
                stands for a plain array.
        """
        return None

    def offer(
        self, instruction: Any, layouts: Mapping[int, list[Any]], epilogues: Epilogues
    ) -> Offer | None:
        """A kernel for an instruction; None if there is none after all."""
        return None

    def reorder(self, source: Any, target: Any, shape: tuple[int, ...]) -> Prepared:
        """A kernel that copies a value from one layout to another; of a library that lays values
        out as it likes.

        Args:
            source, target: layouts; None for a plain array.
            shape: of the plain array.
        """
        raise NotImplementedError(f"{self.name} has no layouts of its own")

    def trace(self, instruction: Any) -> Any:
        """What an instruction computes for each element; None where it can be in no group."""
        return None

    def group(self, members: Sequence[Any], outputs: Sequence[Any], before: Any = None) -> Any:
        """What some instructions compute together, as an object with its ``source``; None where
        that is not one kernel.

        Args:
            members: the instructions, in order.
            outputs: the values that are read elsewhere.
            before: what the first of them compute, where that is known.
        """
        return None

    @property
    def remembers(self) -> bool:
        """Whether it keeps which groups were found, for processes to come."""
        return False

    def recalled(self, key: str) -> str:
        """A text that was kept by a key; empty if there is none."""
        return ""

    def remember(self, key: str, text: str) -> None:
        """Keep a text by a key."""

    def as_kept(self, source: Any) -> Any:
        """What a later process finds the kernel of a source by, as JSON has it; None where there is
        no kernel yet.
        """
        return None

    def kept(self, description: Any) -> Any:
        """The source that was described so, for :meth:`kernels`; None if there is none that can
        be had.
        """
        return None

    def kernels(
        self, sources: Sequence[Any], specs: Sequence[Sequence[Any]], team: int | None = None
    ) -> list[Prepared | None]:
        """The kernels of groups; None for missing ones, which are requested.

        Args:
            sources: of the groups.
            specs: of each its results: pairs of a shape and an element type.
            team: of another library, where one has one.
        """
        return [None for _ in sources]


#: makes a prepared kernel of an operator and the specs of what ``run`` takes; None where it cannot
Preparation = Callable[..., "Prepared | None"]
_preparations: dict[str, Preparation] = {}


def prepares(*types: str) -> Callable[[Preparation], Preparation]:
    """A decorator for functions that prepare NumPy kernels.

    The function takes the operator (of a derived gradient operator the forward operator), and the
    specs of what its ``run``, or its rule, takes.

    Args:
        types: of the operators.
    """

    def register(preparation: Preparation) -> Preparation:
        _preparations.update(dict.fromkeys(types, preparation))
        return preparation

    return register


def preparation_of(type: str) -> Preparation | None:
    """The function that prepares kernels of an operator; None if there is none."""
    return _preparations.get(type)
