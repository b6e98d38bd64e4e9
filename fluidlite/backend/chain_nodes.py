"""What a chain of element-wise instructions applies, on pieces of some size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, NamedTuple

from ..errors import FluidError
from ..ground.dtypes import DType
from ..opdef.definition import lookup
from ..opdef.interpreter import kernel_of
from ..opdef.spec import Spec
from . import numpy_


class PieceStep(NamedTuple):
    """An instruction on pieces of a size."""

    run: Callable[..., Any]
    writes: bool  #: whether it takes ``out``
    over: tuple[int, ...]  #: the operands that this may be
    between: int  #: bytes that it makes beside the result


@dataclass(eq=False)
class ElementwiseChain:
    """What some instructions compute together, in order."""

    members: list[Any]
    inputs: list[Any]
    outputs: list[Any]

    @property
    def excess(self) -> int:
        """How many more values wait to be read than where it is not one, at most."""
        inside, size = set(self.members), self.outputs[0].size
        large = [v for v in self.inputs if v.size == size and not v.is_output]
        return len(self.outputs) - 1 - sum(inside.issuperset(value.users) for value in large)

    @property
    def source(self) -> ElementwiseChain:
        """What the kernel is made of: the chain."""
        return self

    @property
    def work(self) -> float:
        """How much an instruction that is alone would gain."""
        return 0.0


class ChainNode(NamedTuple):
    """An operator that a chain applies; what it reads and makes have numbers."""

    op: Any
    specs: list[Any]  #: of the operands: specs, lists of them, and None
    operands: list[Any]  #: numbers in the same form
    result: Any

    @property
    def key(self) -> Any:
        """What is equal where the same is computed."""
        return self.op.type, self.op.frozen_attrs(), repr(self.operands)

    @property
    def read(self) -> list[Any]:
        """The numbers of all operands."""
        return list(flat(self.operands))

    @property
    def is_even(self) -> bool:
        """Whether operands that are rows, or parts of them, meet the ends of those of another."""
        shapes = [spec.shape for spec in flat(self.specs) if prod(spec.shape) > 1]
        if len(set(shapes)) < 2:
            return True
        if len(shapes) != 2 or not isinstance(getattr(self.op, "axis", None), int):
            return False
        lead = abs(len(shapes[0]) - len(shapes[1]))
        return lead == 0 or self.op.axis in (-1, lead)

    def step(self, size: int) -> PieceStep | None:
        """It on so many elements; None where it has no kernel that gives as many."""
        specs = [_cut(spec, size) for spec in self.specs]
        function, slots, _ = kernel_of(self.op, "numpy")
        try:
            (result,) = self.op.infer_outputs(dict(zip(slots, specs, strict=True))).values()
            kernel = self.op.prepared(specs)
        except (FluidError, ValueError):
            return None
        if result is None or result.shape != (size,) or result.dtype != _first(specs).dtype:
            return None
        if kernel is None:
            return function and PieceStep(partial(function, self.op, numpy_.xp), False, (), 0)
        if kernel.scratch is not None:
            return None
        return PieceStep(kernel.function, kernel.out, kernel.over, kernel.between)


def _cut(spec: Any, size: int) -> Any:
    """What is known of a piece of an operand."""
    if isinstance(spec, list):
        return [_cut(each, size) for each in spec]
    if spec is None:
        return None
    return spec.with_shape((size,) if prod(spec.shape) > 1 else (1,) * min(1, spec.ndim))


def _first(specs: list[Any]) -> Spec:
    first: Spec = specs[0][0] if isinstance(specs[0], list) else specs[0]
    return first


def node_of(instruction: Any) -> ChainNode:
    def mapped(operand: Any, what: str) -> Any:
        if isinstance(operand, list):
            return [mapped(each, what) for each in operand]
        return None if operand is None else getattr(operand, what)

    operands = instruction.operands
    specs, numbers = ([mapped(o, what) for o in operands] for what in ("spec", "number"))
    return ChainNode(instruction.op, specs, numbers, instruction.result.number)


def nodes_of(chain: ElementwiseChain) -> list[ChainNode]:
    """What a chain applies: what several members compute alike is computed once."""
    nodes: dict[Any, ChainNode] = {}
    same: dict[Any, Any] = {}
    outputs = {value.number for value in chain.outputs}

    def known(operand: Any) -> Any:
        return (
            list(map(known, operand)) if isinstance(operand, list) else same.get(operand, operand)
        )

    for member in chain.members:
        whole = node_of(member)
        for part in _PARTS.get(whole.op.type, _whole)(whole):
            node = part._replace(operands=known(part.operands))
            if node.key in nodes and node.result not in outputs:
                same[node.result] = nodes[node.key].result
            else:
                nodes[(node.key, node.result) if node.key in nodes else node.key] = node
    return list(nodes.values())


def _whole(node: ChainNode) -> Iterator[ChainNode]:
    yield node


#: the probability that a normal variable lies below a number, as the gradient of gelu has it
_DISTRIBUTION: tuple[tuple[str, dict[str, float]], ...] = (
    ("scale", {"scale": math.sqrt(0.5)}),
    ("erf", {}),
    ("scale", {"bias": 1.0}),
    ("scale", {"scale": 0.5}),
)


def _gelu_parts(node: ChainNode) -> Iterator[ChainNode]:
    """The error function by itself, as the gradient reads it, too."""
    if node.op.approximate or node.specs[0].dtype is not DType.FP32:
        yield node  # numbers of operators are rounded to single precision
        return
    (x,), (spec,) = node.operands, node.specs
    last: Any = x
    for type, attrs in _DISTRIBUTION:
        more = [None] if type == "scale" else []
        part = ChainNode(lookup(type)(attrs), [spec, *more], [last, *more], (last, type))
        yield part
        last = part.result
    yield ChainNode(lookup("elementwise_mul")(), [spec, spec], [last, x], node.result)


_PARTS: dict[str, Callable[[ChainNode], Iterator[ChainNode]]] = {"gelu": _gelu_parts}


def row_of(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape without the dimensions of 1 before its others."""
    begin = next((k for k, n in enumerate(shape) if n > 1), len(shape))
    return tuple(shape[begin:])


def flat(operands: Sequence[Any]) -> Iterator[Any]:
    for operand in operands:
        if isinstance(operand, list):
            yield from operand
        elif operand is not None:
            yield operand
